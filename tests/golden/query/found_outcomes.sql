-- Found by the differential runner: what statements come to where values collide, are NULL or are not asked.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, u INT UNIQUE, f VARCHAR(20), g VARCHAR(20) COLLATE utf8mb4_general_ci, j JSON NOT NULL DEFAULT (JSON_ARRAY()));
INSERT INTO t (id, u, f, g) VALUES (1, 1, 'a', 'b'), (2, 2, '', NULL);
-- an empty pattern is refused before its subject is looked at
SELECT REGEXP_LIKE(NULL, '');
SELECT REGEXP_INSTR(NULL, f) FROM t WHERE id = 2;
SELECT REGEXP_LIKE(NULL, NULL), REGEXP_LIKE('a', NULL);
-- the escape character is one of the strings
SELECT f LIKE g FROM t;
SELECT f LIKE g ESCAPE '|' FROM t;
SELECT f LIKE 'a' ESCAPE '|' FROM t;
-- documents that are NULL
INSERT INTO t (u, j) VALUES (10, JSON_KEYS('[1]'));
INSERT INTO t (u, j) VALUES (10, '[]'), (11, JSON_KEYS('[1]'));
INSERT IGNORE INTO t (id, u, j) VALUES (20, 20, JSON_KEYS('[1]')), (21, 21, JSON_KEYS('[1]'));
SELECT id, j FROM t WHERE u IN (20, 21);
UPDATE t SET j = JSON_KEYS('[1]') WHERE id = 1;
UPDATE IGNORE t SET j = JSON_KEYS('[1]') WHERE id = 1;
-- the insert id of what was not inserted
INSERT INTO t (id, u, f) VALUES (1, 1, 'a') ON DUPLICATE KEY UPDATE f = 'a';
INSERT INTO t (id, u, f) VALUES (1, 1, 'a') ON DUPLICATE KEY UPDATE f = 'b';
INSERT INTO t (u, f) VALUES (1, 'a') ON DUPLICATE KEY UPDATE f = 'b';
INSERT INTO t (id, u, f) VALUES (32, 32, 'a'), (1, 1, 'b') ON DUPLICATE KEY UPDATE f = 'b';
INSERT INTO t (id, u, f) SELECT 40, 40, 'a' ON DUPLICATE KEY UPDATE f = 'b';
INSERT INTO t (id, u, f) SELECT 41, 41, 'a';
INSERT INTO t (u, f) VALUES (41, 'a') ON DUPLICATE KEY UPDATE f = 'a', id = LAST_INSERT_ID(id);
-- a generated value takes no row's place
DELETE FROM t;
INSERT INTO t (id, u) VALUES (2147483647, 5);
REPLACE INTO t (u) VALUES (6);
REPLACE INTO t (u) SELECT 6;
REPLACE INTO t (id, u) VALUES (2147483647, 6);
-- the view's check comes before the table's; a row like the one in its place is no duplicate
CREATE TABLE s (id INT PRIMARY KEY, a INT, b INT, CHECK (a < 10));
CREATE VIEW w AS SELECT * FROM s WHERE b < 5 WITH CHECK OPTION;
INSERT INTO w VALUES (1, 20, 20);
INSERT IGNORE INTO w VALUES (1, 20, 20), (2, 20, 1), (3, 1, 20), (4, 1, 1);
UPDATE IGNORE w SET a = 20, b = 20;
REPLACE INTO s SELECT 4, 1, 1;
REPLACE INTO s VALUES (4, 1, 1), (4, 1, 2);
-- a constant that is never NULL is counted unseen
SELECT COUNT('99:99' + 0), COUNT(CAST(' x ' AS DECIMAL(20,3))), COUNT(9223372036854775807 + 1) FROM s;
SELECT COUNT(1 / 0), COUNT(NULL), COUNT(NULL + 1) FROM s;
-- dates that are none are said to be, whatever is added
SET sql_mode = 'STRICT_TRANS_TABLES';
SELECT TIMESTAMP('0000-00-00', '00:00:00.000001'), TIMESTAMP('0000-00-00', NULL), ADDDATE('0000-00-00', NULL), TIMESTAMP('2000-00-01', '10:00:00');
SELECT '00:00:00.000001' + INTERVAL NULL HOUR, ADDDATE('2001-00-01', NULL);
SET sql_mode = DEFAULT;
-- constants of the query that fills a table
CREATE TABLE c1 SELECT s.id, CAST('1' AS JSON) BETWEEN 0 AND 2 AS b FROM s;
-- What groups cannot be of is named; a TIMESTAMP that is out of range is shown as it was given
CREATE TABLE grouped (a INT, ts TIMESTAMP NULL);
SELECT COUNT(*) FROM grouped GROUP BY 1;
SELECT COUNT(*) c FROM grouped GROUP BY c;
SELECT a, COUNT(*) + 1 FROM grouped GROUP BY 1, 2;
SELECT a FROM grouped GROUP BY COUNT(*);
INSERT INTO grouped (ts) VALUES ('1969-01-01');
INSERT INTO grouped (ts) VALUES ('2038-01-20 1:2:3');
INSERT INTO grouped (ts) VALUES (DATE'1969-01-01');
INSERT INTO grouped (ts) VALUES (19690101);
INSERT IGNORE INTO grouped (ts) VALUES ('1969-01-01');
