-- Histograms: what ANALYZE TABLE says, what COLUMN_STATISTICS shows, and what EXPLAIN makes of them.
CREATE TABLE t (id INT PRIMARY KEY, a INT, u BIGINT UNSIGNED, d DECIMAL(10,2), f FLOAT, g DOUBLE, s VARCHAR(50), b VARBINARY(20), dt DATE, tm TIME(3), ts TIMESTAMP(2) NULL, dtt DATETIME, y YEAR, e ENUM('x','y'), st SET('p','q'), bt BIT(10), j JSON, tx TEXT, uq INT UNIQUE, c CHAR(5) CHARACTER SET latin1);
INSERT INTO t VALUES (1,5,18446744073709551615,1.50,1.5,0.1,'Abc','bin','2020-01-01','10:11:12.5','2020-01-01 01:02:03.25','2020-01-01 01:02:03',2020,'x','p,q',5,'{"a":1}','text',1,'lat'), (2,NULL,0,-1.5,2.25,1e100,'abc','\0\1','0001-01-01','-10:11:12.5',NULL,'9999-12-31 23:59:59',1999,'y','',0,'[1]','Text',2,'é'), (3,7,3,99999999.99,-3,-1e-5,'€uro"\\','x','2024-02-29','838:59:59',NULL,NULL,NULL,NULL,'q',1023,NULL,NULL,3,'LAT');
ANALYZE TABLE t UPDATE HISTOGRAM ON a, u, d, f, g, s, b, dt, tm, ts, dtt, y, e, st, bt, tx, c WITH 100 BUCKETS;
SELECT COLUMN_NAME, JSON_REMOVE(HISTOGRAM, '$."last-updated"') FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'golden' ORDER BY 1;
ANALYZE TABLE t UPDATE HISTOGRAM ON a, u, d, f, g, s, b, dt, tm, ts, dtt, y, e, st, bt, tx, c WITH 2 BUCKETS;
SELECT COLUMN_NAME, JSON_REMOVE(HISTOGRAM, '$."last-updated"') FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'golden' ORDER BY 1;
ANALYZE TABLE t UPDATE HISTOGRAM ON a WITH 1 BUCKETS AUTO UPDATE;
SELECT JSON_REMOVE(HISTOGRAM, '$."last-updated"'), TIMESTAMPDIFF(MINUTE, CAST(HISTOGRAM->'$."last-updated"' AS DATETIME), UTC_TIMESTAMP()) < 2 FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'golden' AND COLUMN_NAME = 'a';
SELECT JSON_TYPE(HISTOGRAM->'$."last-updated"') FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'golden' AND COLUMN_NAME = 'a';
ANALYZE TABLE t UPDATE HISTOGRAM ON j;
ANALYZE TABLE t UPDATE HISTOGRAM ON uq, id, A;
ANALYZE TABLE t UPDATE HISTOGRAM ON nope, a, a;
ANALYZE TABLE t UPDATE HISTOGRAM ON nope, a;
ANALYZE TABLE t UPDATE HISTOGRAM ON a WITH 0 BUCKETS;
ANALYZE TABLE t UPDATE HISTOGRAM ON a WITH 1025 BUCKETS;
ANALYZE TABLE t, t UPDATE HISTOGRAM ON a WITH 10 BUCKETS;
ANALYZE TABLE t, u UPDATE HISTOGRAM ON a WITH 10 BUCKETS;
ANALYZE TABLE nope UPDATE HISTOGRAM ON a WITH 10 BUCKETS;
ANALYZE TABLE nope DROP HISTOGRAM ON a;
ANALYZE TABLE t DROP HISTOGRAM ON e, nope, a, j;
ANALYZE TABLE t DROP HISTOGRAM ON e;
ANALYZE TABLE t UPDATE HISTOGRAM ON a, b USING DATA 'x';
ANALYZE TABLE t UPDATE HISTOGRAM ON a WITH 3 BUCKETS USING DATA 'x';
ANALYZE TABLE t UPDATE HISTOGRAM ON a USING DATA 'x' AUTO UPDATE;
CREATE TEMPORARY TABLE tt (a INT);
ANALYZE TABLE tt UPDATE HISTOGRAM ON a;
CREATE VIEW v AS SELECT a FROM t;
ANALYZE TABLE v UPDATE HISTOGRAM ON a;
ANALYZE TABLE mysql.user UPDATE HISTOGRAM ON user;
ANALYZE TABLE information_schema.tables UPDATE HISTOGRAM ON table_name;
CREATE TABLE em (a INT, k INT GENERATED ALWAYS AS (a + 1), KEY (k));
ANALYZE LOCAL TABLE em UPDATE HISTOGRAM ON a, k;
SELECT COLUMN_NAME, JSON_REMOVE(HISTOGRAM, '$."last-updated"') FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME = 'em' ORDER BY 1;
INSERT INTO em (a) VALUES (NULL), (NULL);
ANALYZE TABLE em UPDATE HISTOGRAM ON a;
SELECT COLUMN_NAME, JSON_REMOVE(HISTOGRAM, '$."last-updated"') FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME = 'em' ORDER BY 1;
LOCK TABLES em READ;
ANALYZE TABLE t UPDATE HISTOGRAM ON a;
UNLOCK TABLES;
DROP TABLE t, em, tt;
DROP VIEW v;
SELECT COUNT(*) FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'golden';
-- What becomes of them when tables and columns change.
CREATE TABLE t (i INT, d DECIMAL(10,2), s VARCHAR(10), f DOUBLE, dt DATE, uu BIGINT UNSIGNED, e ENUM('x','y'), tm TIME, r INT);
ANALYZE TABLE t UPDATE HISTOGRAM ON i, d, s, f, dt, uu, e, tm, r;
ALTER TABLE t RENAME COLUMN r TO rr;
ALTER TABLE t MODIFY tm TIME;
ALTER TABLE t DROP COLUMN dt, ADD x INT;
SELECT COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'golden' AND TABLE_NAME = 't' ORDER BY 1;
ALTER TABLE t ADD y INT, ALGORITHM=COPY;
ALTER TABLE t ADD UNIQUE (i, f);
ALTER TABLE t ADD UNIQUE (i);
SELECT COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'golden' AND TABLE_NAME = 't' ORDER BY 1;
ALTER TABLE t CONVERT TO CHARACTER SET latin1;
SELECT COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'golden' AND TABLE_NAME = 't' ORDER BY 1;
RENAME TABLE t TO t2;
CREATE TABLE t3 LIKE t2;
TRUNCATE TABLE t2;
SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'golden' ORDER BY 1, 2;
DROP TABLE t2, t3;
CREATE TABLE au (a INT, b INT);
INSERT INTO au VALUES (1, 1);
ANALYZE TABLE au UPDATE HISTOGRAM ON a WITH 5 BUCKETS AUTO UPDATE;
ANALYZE TABLE au UPDATE HISTOGRAM ON b WITH 5 BUCKETS MANUAL UPDATE;
INSERT INTO au VALUES (2, 2);
ANALYZE TABLE au;
SELECT COLUMN_NAME, HISTOGRAM->'$.buckets', HISTOGRAM->'$."number-of-buckets-specified"', HISTOGRAM->'$."auto-update"' FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME = 'au' ORDER BY 1;
DROP TABLE au;
-- Histograms of somebody else's making.
CREATE TABLE u (i INT, d DECIMAL(10,2), s VARCHAR(10), f DOUBLE, dt DATE, uu BIGINT UNSIGNED, e ENUM('x','y'), tm TIME);
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"buckets": [[1, 0.5], [2, 1.0]], "data-type": "int", "auto-update": false, "null-values": 0.0, "collation-id": 8, "last-updated": "2026-11-22 14:16:08.445774", "sampling-rate": 1.0, "histogram-type": "singleton", "number-of-buckets-specified": 100}';
ANALYZE TABLE u UPDATE HISTOGRAM ON d USING DATA '{"buckets": [[1, 0.5], [2.5, 1.0]], "data-type": "decimal", "auto-update": false, "null-values": 0.0, "collation-id": 8, "sampling-rate": 1.0, "histogram-type": "singleton", "number-of-buckets-specified": 100}';
ANALYZE TABLE u UPDATE HISTOGRAM ON s USING DATA '{"buckets": [["base64:type254:Ymlu", 0.5], ["base64:type254:eA==", 1.0]], "data-type": "string", "auto-update": false, "null-values": 0.0, "collation-id": 255, "sampling-rate": 1.0, "histogram-type": "singleton", "number-of-buckets-specified": 100}';
ANALYZE TABLE u UPDATE HISTOGRAM ON dt USING DATA '{"buckets": [["2020-01-01", "2020-01-05", 0.5, 2], ["2021-01-01","2022-01-01", 0.9, 10]], "data-type": "date", "auto-update": true, "null-values": 0.1, "collation-id": 8, "sampling-rate": 0.5, "histogram-type": "equi-height", "number-of-buckets-specified": 100}';
ANALYZE TABLE u UPDATE HISTOGRAM ON tm USING DATA '{"histogram-type":"singleton","data-type":"time","null-values":0.0,"buckets":[["10:00:00",1.0]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":1,"auto-update":false}';
SELECT COLUMN_NAME, JSON_REMOVE(HISTOGRAM, '$."last-updated"') FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME = 'u' ORDER BY 1;
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA 'x';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '[1]';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":1}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"x"}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"decimal"}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int"}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"foo","data-type":"int","null-values":0.2,"buckets":[],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":5,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":[],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":1}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.5,"buckets":[[1,0.5],[2,0.6]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":[[2,0.5],[1,1.0]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":[[1,0.5],[2,0.4]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":[[1,0.5,1]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":[["a",0.5]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":[[1,"a"]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":[[1,1.5]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":[[99999999999,1.0]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":[[1,0.4],[2,0.5],[3,1.0]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.2,"buckets":[],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":1.5,"buckets":[],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":[],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":0,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.1,"buckets":[],"collation-id":999,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.1,"buckets":[],"collation-id":8,"sampling-rate":1.5,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":5,"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"buckets":[5],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"singleton","data-type":"int","null-values":0.0,"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"equi-height","data-type":"int","null-values":0.0,"buckets":[[2,1,1.0,2]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"equi-height","data-type":"int","null-values":0.0,"buckets":[[1,2,0.5,2],[2,3,1.0,2]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"equi-height","data-type":"int","null-values":0.0,"buckets":[[1,2,0.5,0],[2,3,1.0,2]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"equi-height","data-type":"int","null-values":1.0,"buckets":[],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON i USING DATA '{"histogram-type":"equi-height","data-type":"int","null-values":0.0,"buckets":[[1,2,1.0]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":2,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON s USING DATA '{"histogram-type":"singleton","data-type":"string","null-values":0.0,"buckets":[["x",1.0]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":1,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON s USING DATA '{"histogram-type":"singleton","data-type":"string","null-values":0.0,"buckets":[["base64:type254:!!",1.0]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":1,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON s USING DATA '{"histogram-type":"singleton","data-type":"string","null-values":0.0,"buckets":[["base64:type254:QUJDREVGR0hJSktMTU5P",1.0]],"collation-id":255,"sampling-rate":1.0,"number-of-buckets-specified":1,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON dt USING DATA '{"histogram-type":"singleton","data-type":"date","null-values":0.0,"buckets":[["x",1.0]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":1,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON d USING DATA '{"histogram-type":"singleton","data-type":"decimal","null-values":0.0,"buckets":[[1.234,1.0]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":1,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON f USING DATA '{"histogram-type":"singleton","data-type":"double","null-values":0.0,"buckets":[[1,1.0]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":1,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON f USING DATA '{"histogram-type":"singleton","data-type":"double","null-values":0.0,"buckets":[[1.5,1]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":1,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON uu USING DATA '{"histogram-type":"singleton","data-type":"uint","null-values":0.0,"buckets":[[-1,1.0]],"collation-id":8,"sampling-rate":1.0,"number-of-buckets-specified":1,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON e USING DATA '{"histogram-type":"singleton","data-type":"enum","null-values":0.0,"buckets":[[5,1.0]],"collation-id":255,"sampling-rate":1.0,"number-of-buckets-specified":1,"auto-update":false}';
ANALYZE TABLE u UPDATE HISTOGRAM ON e USING DATA '{"histogram-type":"singleton","data-type":"enum","null-values":0.0,"buckets":[[0,1.0]],"collation-id":255,"sampling-rate":1.0,"number-of-buckets-specified":1,"auto-update":false}';
DROP TABLE u;
-- Shares of rows.
CREATE TABLE t (id INT PRIMARY KEY, a INT, d DECIMAL(10,2), g DOUBLE, s VARCHAR(50), dt DATE, tm TIME, dtt DATETIME, e ENUM('x','y','z'), n INT);
INSERT INTO t WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 1000) SELECT /*+ SET_VAR(cte_max_recursion_depth = 1001) */ i, i * i % 97, i * 7 % 500 / 100, sqrt(i), concat(char(97 + i % 26), char(97 + i * i % 26), i % 10), date_add('2020-01-01', interval i * 3 day), sec_to_time(i * 61), date_add('2020-01-01', interval i * i minute), elt(1 + (i % 7 > 2) + (i % 7 > 5), 'x', 'y', 'z'), if(i % 4, i % 5, NULL) FROM r;
ANALYZE TABLE t;
ANALYZE TABLE t UPDATE HISTOGRAM ON a, d, g, s, dt, tm, dtt, e, n WITH 8 BUCKETS;
SELECT COLUMN_NAME, JSON_REMOVE(HISTOGRAM, '$."last-updated"') FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'golden' ORDER BY 1;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a=5;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a=500;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a<5;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a<=5;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE 5<a;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a<>5;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a<=>5;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a BETWEEN 5 AND 40;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a NOT BETWEEN 5 AND 40;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a BETWEEN 40 AND 5;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a IN (5,40,1);
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a NOT IN (5,40,1);
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE n IS NULL;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE n IS NOT NULL;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE n <=> NULL;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE d=1.23;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE d>1.23;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE d>'1.23';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a>'20';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a>20.7;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a>=20.7;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a<20.7;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a='x';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE g>20.7;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE g<=20;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE s>'foo';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE s<'foo';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE s='fo1';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE s<'dj2';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE s<'ab';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE dt>'2022-06-01';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE dt<'2022-02-01';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE dt>DATE'2023-01-01';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE dt>20230101;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE dt>'2022-02-01 10:00:00';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE tm>'10:00:00';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE tm<TIME'01:00:00';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE dtt>'2021-01-01';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE dtt<'2020-05-05 05:05:05';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE e='x';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE e=1;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE e<>'x';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE e='nope';
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE e IN ('x','y');
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a>20 AND d>1.23;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a>20 OR d>1.23;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE NOT a>20;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a>20 AND a<30;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a=20 AND n=3 AND d=1.23;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a;
-- hide rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE n=3 OR n IS NULL;
-- The order of a join.
CREATE TABLE one (k INT PRIMARY KEY, v INT);
CREATE TABLE two (k INT PRIMARY KEY, v INT);
INSERT INTO one SELECT id, id <= 2 FROM t;
INSERT INTO two SELECT id, id > 2 FROM t;
ANALYZE TABLE one, two;
ANALYZE TABLE one UPDATE HISTOGRAM ON v;
ANALYZE TABLE two UPDATE HISTOGRAM ON v;
-- hide possible_keys, rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT COUNT(*) FROM one JOIN two USING (k) WHERE one.v = 1 AND two.v = 1;
-- hide possible_keys, rows, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT COUNT(*) FROM one JOIN two USING (k) WHERE one.v = 0 AND two.v = 0;
SELECT COUNT(*) FROM one JOIN two USING (k) WHERE one.v = 1 AND two.v = 1;
SELECT COUNT(*) FROM one JOIN two USING (k) WHERE one.v = 0 AND two.v = 0;
SELECT COUNT(*) FROM one JOIN two USING (k) WHERE one.v = 0 AND two.v = 1;
ANALYZE TABLE one DROP HISTOGRAM ON v;
SELECT COUNT(*) FROM one JOIN two USING (k) WHERE one.v = 0 AND two.v = 1;
DROP TABLE one, two, t;
