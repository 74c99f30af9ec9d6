-- Multi-valued indexes: CAST(... AS type ARRAY) as a key part.
SET SESSION explain_format = 'TRADITIONAL';
CREATE TABLE customers (
  id INT AUTO_INCREMENT PRIMARY KEY,
  modified DATETIME,
  custinfo JSON,
  KEY zips ((CAST(custinfo->'$.zipcode' AS UNSIGNED ARRAY))));
SHOW CREATE TABLE customers;
SELECT INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NULLABLE, INDEX_TYPE, IS_VISIBLE, REPLACE(EXPRESSION, 'utf8mb3', 'utf8mb4') AS e FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'customers' ORDER BY 1, 2;
SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'customers' ORDER BY 1;
INSERT INTO customers VALUES
  (NULL, '2019-06-01', '{"user":"Jack","user_id":37,"zipcode":[94582,94536]}'),
  (NULL, '2019-06-02', '{"user":"Jill","user_id":22,"zipcode":[94568,94507,94582]}'),
  (NULL, '2019-06-03', '{"user":"Bob","user_id":31,"zipcode":[94477,94507]}'),
  (NULL, '2019-06-04', '{"user":"Mary","user_id":72,"zipcode":[94536]}'),
  (NULL, '2019-06-05', '{"user":"Ted","user_id":56,"zipcode":[94507,94582]}'),
  (NULL, '2019-06-06', '{"user":"Zoe","zipcode":94507}'),
  (NULL, '2019-06-07', '{"user":"Ann","zipcode":[]}'),
  (NULL, '2019-06-08', '{"user":"Lee"}'),
  (NULL, '2019-06-09', NULL),
  (NULL, '2019-06-10', '{"user":"Dot","zipcode":[94507,94507,94507]}');
-- sort
SELECT id FROM customers WHERE 94507 MEMBER OF (custinfo->'$.zipcode');
-- sort
SELECT id FROM customers WHERE JSON_CONTAINS(custinfo->'$.zipcode', CAST('[94507,94582]' AS JSON));
-- sort
SELECT id FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', CAST('[94507,94582]' AS JSON));
-- sort
SELECT id FROM customers WHERE JSON_OVERLAPS('[94536,94477,94477]', custinfo->'$.zipcode');
-- sort
SELECT id FROM customers WHERE JSON_CONTAINS(custinfo->'$.zipcode', '94507');
-- sort
SELECT id FROM customers WHERE JSON_CONTAINS(custinfo->'$.zipcode', '[]');
-- sort
SELECT id FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', '[]');
-- sort
SELECT id FROM customers WHERE 94507 MEMBER OF (custinfo->'$.zipcode') OR 94477 MEMBER OF (custinfo->'$.zipcode');
-- sort
SELECT id FROM customers WHERE NOT 94507 MEMBER OF (custinfo->'$.zipcode');
SELECT COUNT(*) FROM customers;
SELECT COUNT(*) FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', '[94507,94582,94536]');
SELECT id FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', '[94507,94582,94536]') ORDER BY id;
SELECT id FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', '[94507,94582,94536]') ORDER BY id DESC LIMIT 2;
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers WHERE 94507 MEMBER OF (custinfo->'$.zipcode');
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers WHERE JSON_CONTAINS(custinfo->'$.zipcode', CAST('[94507,94582]' AS JSON));
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', CAST('[94507,94582]' AS JSON));
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers IGNORE INDEX (zips) WHERE 94507 MEMBER OF (custinfo->'$.zipcode');
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers WHERE '94507' MEMBER OF (custinfo->'$.zipcode');
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers WHERE 94507.0 MEMBER OF (custinfo->'$.zipcode');
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers WHERE -94507 MEMBER OF (custinfo->'$.zipcode');
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers WHERE JSON_CONTAINS(custinfo->'$.zipcode', '[1,[2]]');
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers WHERE JSON_CONTAINS(custinfo, '[1]', '$.zipcode');
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers WHERE JSON_CONTAINS('[94507]', custinfo->'$.zipcode');
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers WHERE NOT 94507 MEMBER OF (custinfo->'$.zipcode');
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM customers FORCE INDEX (zips) ORDER BY id;
-- hide rows, filtered, warnings, Extra
EXPLAIN UPDATE customers SET modified = NULL WHERE 94507 MEMBER OF (custinfo->'$.zipcode');
-- hide rows, filtered, warnings
EXPLAIN DELETE FROM customers WHERE 94507 MEMBER OF (custinfo->'$.zipcode');
UPDATE customers SET custinfo = JSON_SET(custinfo, '$.zipcode', JSON_ARRAY(1, 2, 94507)) WHERE 94477 MEMBER OF (custinfo->'$.zipcode');
-- sort
SELECT id FROM customers WHERE 2 MEMBER OF (custinfo->'$.zipcode');
-- sort
SELECT id FROM customers WHERE 94477 MEMBER OF (custinfo->'$.zipcode');
-- sort
SELECT id FROM customers WHERE 94507 MEMBER OF (custinfo->'$.zipcode');
UPDATE customers SET custinfo = JSON_ARRAY_APPEND(custinfo, '$.zipcode', 3) WHERE JSON_OVERLAPS(custinfo->'$.zipcode', '[94507,94582,3]');
-- sort
SELECT id, custinfo->'$.zipcode' FROM customers WHERE 3 MEMBER OF (custinfo->'$.zipcode');
BEGIN;
DELETE FROM customers WHERE 94582 MEMBER OF (custinfo->'$.zipcode');
SELECT id FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', '[3,94582]') ORDER BY id;
-- on other
SELECT id FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', '[3,94582]') ORDER BY id;
-- on main
UPDATE customers SET custinfo = '{"zipcode":[94582,5,6]}' WHERE id = 10;
SELECT id FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', '[5,94582]') ORDER BY id;
ROLLBACK;
SELECT id FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', '[3,94582,5]') ORDER BY id;
SELECT id FROM customers WHERE 5 MEMBER OF (custinfo->'$.zipcode');
BEGIN;
SELECT id FROM customers WHERE 94582 MEMBER OF (custinfo->'$.zipcode') ORDER BY id;
-- on other
UPDATE customers SET custinfo = '{"zipcode":[7]}' WHERE 94582 MEMBER OF (custinfo->'$.zipcode');
SELECT id FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', '[7,94582]') ORDER BY id;
-- on main
SELECT id FROM customers WHERE JSON_OVERLAPS(custinfo->'$.zipcode', '[7,94582]') ORDER BY id;
SELECT id FROM customers WHERE 7 MEMBER OF (custinfo->'$.zipcode') ORDER BY id;
SELECT id FROM customers WHERE 7 MEMBER OF (custinfo->'$.zipcode') ORDER BY id FOR UPDATE;
COMMIT;
SELECT id FROM customers WHERE 7 MEMBER OF (custinfo->'$.zipcode') ORDER BY id;
CHECK TABLE customers;
-- differs: MySQL counts the rows that it copies
ALTER TABLE customers ADD INDEX comp (id, modified, (CAST(custinfo->'$.zipcode' AS UNSIGNED ARRAY)));
SHOW CREATE TABLE customers;
CHECK TABLE customers;
ALTER TABLE customers DROP INDEX zips, ADD COLUMN extra INT, ADD INDEX names ((CAST(custinfo->'$.user' AS CHAR(20) ARRAY)));
SHOW CREATE TABLE customers;
SELECT id FROM customers WHERE 'Ann' MEMBER OF (custinfo->'$.user');
SELECT id FROM customers WHERE 'ANN' MEMBER OF (custinfo->'$.user');
-- differs: MySQL copies the table
ALTER TABLE customers RENAME INDEX names TO users, ALTER INDEX comp INVISIBLE;
SHOW CREATE TABLE customers;
CREATE TABLE copy LIKE customers;
INSERT INTO copy SELECT * FROM customers;
SELECT id FROM copy WHERE 'Ted' MEMBER OF (custinfo->'$.user');
CHECK TABLE copy;
TRUNCATE TABLE copy;
SELECT id FROM copy WHERE 'Lee' MEMBER OF (custinfo->'$.user');
DROP TABLE copy;
ALTER TABLE customers DROP COLUMN custinfo;
ALTER TABLE customers RENAME COLUMN custinfo TO c;
DROP INDEX users ON customers;
DROP INDEX comp ON customers;
SHOW CREATE TABLE customers;
DROP TABLE customers;
-- What the elements may be, and what becomes of them: a duplicate shows the array.
CREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY, j JSON, UNIQUE KEY u ((CAST(j AS UNSIGNED ARRAY))));
INSERT INTO u (j) VALUES ('[3,1,2,1]');
INSERT INTO u (j) VALUES ('[1]');
INSERT INTO u (j) VALUES ('[7,2,5]');
INSERT INTO u (j) VALUES ('2');
INSERT INTO u (j) VALUES ('[4,5]'), ('[6,5]');
SELECT id, j FROM u ORDER BY id;
INSERT INTO u (j) VALUES (NULL), (NULL), ('[]'), ('[]');
INSERT INTO u (j) VALUES ('[null]');
INSERT INTO u (j) VALUES ('null');
INSERT INTO u (j) VALUES ('[-1]');
INSERT INTO u (j) VALUES ('[1e30]');
INSERT INTO u (j) VALUES ('["abc"]');
INSERT INTO u (j) VALUES ('["12.5"]');
INSERT INTO u (j) VALUES ('[[1]]');
INSERT INTO u (j) VALUES ('[{"a":1}]');
INSERT INTO u (j) VALUES ('{"a":1}');
INSERT INTO u (j) VALUES ('true');
INSERT INTO u (j) VALUES ('["30", 31.5, true]');
SELECT COUNT(*) FROM u WHERE 30 MEMBER OF (j);
SELECT COUNT(*) FROM u IGNORE INDEX (u) WHERE 30 MEMBER OF (j);
SELECT COUNT(*) FROM u WHERE 32 MEMBER OF (j);
SELECT COUNT(*) FROM u WHERE JSON_CONTAINS(j, '[30,32]');
INSERT IGNORE INTO u (j) VALUES ('[40]'), ('[3]'), ('[41]');
-- sort
SELECT j FROM u WHERE JSON_OVERLAPS(j, '[40,41,3]');
INSERT IGNORE INTO u (j) VALUES ('["x"]');
REPLACE INTO u (j) VALUES ('[41]');
INSERT INTO u (j) VALUES ('[40]') ON DUPLICATE KEY UPDATE j = '[50]';
-- sort
SELECT j FROM u WHERE JSON_OVERLAPS(j, '[40,41,3]');
INSERT INTO u (j) VALUES ('[50]') ON DUPLICATE KEY UPDATE j = '[51, 60]';
-- sort
SELECT j FROM u WHERE JSON_OVERLAPS(j, '[40,50,51,60]');
INSERT INTO u (j) VALUES ('51') ON DUPLICATE KEY UPDATE j = '[3]';
UPDATE u SET j = '[52, 3]' WHERE 51 MEMBER OF (j);
UPDATE u SET j = '[52, 60]' WHERE 51 MEMBER OF (j);
UPDATE u SET j = JSON_ARRAY_APPEND(j, '$', 53) WHERE 52 MEMBER OF (j);
UPDATE IGNORE u SET j = '[3]' WHERE 53 MEMBER OF (j);
-- sort
SELECT j FROM u WHERE JSON_OVERLAPS(j, '[3,52,53,60]');
CHECK TABLE u;
ALTER TABLE u ADD COLUMN k JSON;
UPDATE u SET k = '[9]';
ALTER TABLE u ADD UNIQUE KEY k ((CAST(k AS UNSIGNED ARRAY)));
CHECK TABLE u;
SET sql_mode = '';
INSERT INTO u (j) VALUES ('["x"]');
INSERT INTO u (j) VALUES ('[-1]');
SET sql_mode = DEFAULT;
DROP TABLE u;
CREATE TABLE t (a INT, b VARCHAR(3), j JSON, UNIQUE KEY u (a, (CAST(j->'$[*]' AS SIGNED ARRAY)), b), KEY d ((CAST(j->'$[*]' AS DECIMAL(6,2) ARRAY))), KEY s ((CAST(j->'$[*]' AS CHAR(9) ARRAY))));
SHOW CREATE TABLE t;
INSERT INTO t VALUES (1, 'x', '[1,2,3]'), (1, 'y', '[1,2,3]'), (2, 'x', '[1,-2.75]'), (NULL, 'x', '[1]'), (NULL, 'x', '[1]'), (3, 'x', '[]'), (3, 'x', NULL), (3, 'x', NULL);
INSERT INTO t VALUES (1, 'x', '[5,3]');
INSERT INTO t VALUES (1, 'z', '[5,3]');
-- sort
SELECT a, b, j FROM t WHERE a = 1 AND 3 MEMBER OF (j->'$[*]');
-- sort
SELECT a, b, j FROM t WHERE a = 1 AND 3 MEMBER OF (j->'$[*]') AND b > 'x';
-- sort
SELECT a, b, j FROM t WHERE a IN (1, 2) AND JSON_OVERLAPS(j->'$[*]', '[1,2]') AND b = 'x';
-- sort
SELECT a, b, j FROM t FORCE INDEX (u) WHERE a = 3;
-- sort
SELECT a, b, j FROM t WHERE a = 3;
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM t FORCE INDEX (u) WHERE a = 1 AND 3 MEMBER OF (j->'$[*]');
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM t WHERE -2.75 MEMBER OF (j->'$[*]');
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM t WHERE '1' MEMBER OF (j->'$[*]');
-- sort
SELECT a, b, j FROM t WHERE -2.75 MEMBER OF (j->'$[*]');
-- sort
SELECT a, b, j FROM t WHERE '1' MEMBER OF (j->'$[*]');
SELECT COUNT(*) FROM t x WHERE EXISTS (SELECT 1 FROM t y WHERE 3 MEMBER OF (y.j->'$[*]') AND y.a = x.a);
CREATE VIEW v AS SELECT a, b, j FROM t WHERE 2 MEMBER OF (j->'$[*]');
-- sort
SELECT * FROM v;
UPDATE v SET j = '[2,7,7]' WHERE b = 'y';
-- sort
SELECT * FROM v;
DROP VIEW v;
CHECK TABLE t;
DROP TABLE t;
CREATE TABLE w (j JSON, KEY d ((CAST(j->'$.d' AS DATE ARRAY))), KEY t ((CAST(j->'$.t' AS TIME(2) ARRAY))), KEY dt ((CAST(j->'$.dt' AS DATETIME(3) ARRAY))), KEY b ((CAST(j->'$.b' AS BINARY(5) ARRAY))));
SHOW CREATE TABLE w;
INSERT INTO w VALUES ('{"d":["2020-01-02","2021-03-04"]}'), (JSON_OBJECT('d', CAST('2020-01-02' AS DATE))), (JSON_OBJECT('t', JSON_ARRAY(CAST('10:11:12' AS TIME), '01:02:03'))), (JSON_OBJECT('dt', '2020-01-02 03:04:05.678'));
INSERT INTO w VALUES ('{"d":["2020-13-02"]}');
INSERT INTO w VALUES ('{"t":["abc"]}');
INSERT INTO w VALUES ('{"dt":[true]}');
INSERT INTO w VALUES ('{"b":["toolong"]}');
INSERT INTO w VALUES ('{"b":["abc","ABC"]}');
SELECT COUNT(*) FROM w WHERE CAST('2020-01-02' AS DATE) MEMBER OF (j->'$.d');
SELECT COUNT(*) FROM w WHERE CAST('01:02:03' AS TIME) MEMBER OF (j->'$.t');
SELECT COUNT(*) FROM w WHERE CAST('2020-01-02 03:04:05.678' AS DATETIME(3)) MEMBER OF (j->'$.dt');
SELECT COUNT(*) FROM w WHERE 'abc' MEMBER OF (j->'$.b');
CHECK TABLE w;
DROP TABLE w;
-- What is refused.
SELECT CAST('[1]' AS UNSIGNED ARRAY);
CREATE TABLE r (j JSON, k JSON AS (CAST(j AS UNSIGNED ARRAY)));
CREATE TABLE r (j JSON, KEY ((CAST(j AS UNSIGNED ARRAY) + 1)));
CREATE TABLE r (j JSON, KEY ((CAST(j AS UNSIGNED ARRAY)), (CAST(j AS SIGNED ARRAY))));
CREATE TABLE r (j JSON, KEY ((CAST(j AS UNSIGNED ARRAY)) DESC));
CREATE TABLE r (j JSON, KEY ((CAST(j AS UNSIGNED ARRAY)) ASC));
CREATE TABLE r (j JSON, PRIMARY KEY ((CAST(j AS UNSIGNED ARRAY))));
CREATE TABLE r (j JSON, KEY ((CAST(j AS CHAR ARRAY))));
CREATE TABLE r (j JSON, KEY ((CAST(j AS CHAR(513) ARRAY))));
CREATE TABLE r (j JSON, KEY ((CAST(j AS BINARY ARRAY))));
CREATE TABLE r (j JSON, KEY ((CAST(j AS NCHAR(4) ARRAY))));
CREATE TABLE r (j JSON, KEY ((CAST(j AS CHAR(4) CHARACTER SET latin1 ARRAY))));
CREATE TABLE r (j JSON, KEY ((CAST(j AS JSON ARRAY))));
CREATE TABLE r (j JSON, KEY ((CAST(j AS FLOAT ARRAY))));
CREATE TABLE r (j JSON, KEY ((CAST(j AS DOUBLE ARRAY))));
CREATE TABLE r (j JSON, KEY ((CAST(j AS YEAR ARRAY))));
CREATE TABLE r (j JSON, KEY ((CAST(j AS DECIMAL(70,2) ARRAY))));
CREATE TABLE r (j INT, KEY ((CAST(j AS UNSIGNED ARRAY))));
INSERT INTO r VALUES (1);
DROP TABLE r;
CREATE TABLE r (j JSON, KEY ((CAST(rand() AS UNSIGNED ARRAY))));
