-- What sql_mode changes in parsing and in meaning
CREATE TABLE m (id INT PRIMARY KEY, a VARCHAR(10), b INT UNSIGNED);
INSERT INTO m VALUES (1, 'x', 1), (2, 'y', 2);
-- differs: no warning 1287
SELECT "a", 'a' || 'b', a || b FROM m ORDER BY id;
SET sql_mode = 'ANSI_QUOTES';
SELECT "a" FROM m ORDER BY id;
SELECT "id" AS "the id", 'id' FROM "m" WHERE "id" = 1;
SELECT "nothing" FROM m;
CREATE TABLE "quo""ted" ("a b" INT);
-- differs: another value
SHOW CREATE TABLE "quo""ted";
DROP TABLE "quo""ted";
SET sql_mode = 'PIPES_AS_CONCAT';
SELECT 'a' || 'b', a || '-' || b FROM m ORDER BY id;
SELECT 1 || NULL, 1 OR 0;
SET sql_mode = 'NO_BACKSLASH_ESCAPES';
SELECT 'a\nb', LENGTH('\\'), '\', 'it''s';
-- differs: another value
SELECT 'a\%' LIKE 'a\%', 'ab' LIKE 'a\%';
SET sql_mode = 'HIGH_NOT_PRECEDENCE';
SELECT NOT 1 BETWEEN -5 AND 5, NOT 1 = 2;
SET sql_mode = '';
SELECT NOT 1 BETWEEN -5 AND 5, NOT 1 = 2;
SET sql_mode = 'IGNORE_SPACE';
SELECT COUNT (*) FROM m;
SELECT SUBSTRING ('abc', 2);
SET sql_mode = '';
SELECT COUNT (*) FROM m;
SET sql_mode = 'REAL_AS_FLOAT';
CREATE TABLE rf (a REAL, b DOUBLE);
SHOW CREATE TABLE rf;
SET sql_mode = 'NO_UNSIGNED_SUBTRACTION';
SELECT b - 5 < 0 FROM m WHERE id = 1;
-- differs: no warning 3135
SET sql_mode = 'ERROR_FOR_DIVISION_BY_ZERO';
SELECT 1 / 0, 1 % 0, 1 DIV 0;
INSERT INTO m VALUES (3, 'z', 1 / 0);
-- differs: no warning 3135
SET sql_mode = 'ERROR_FOR_DIVISION_BY_ZERO,STRICT_ALL_TABLES';
SELECT 1 / 0;
INSERT INTO m VALUES (4, 'z', 1 / 0);
INSERT IGNORE INTO m VALUES (4, 'z', 1 / 0);
-- differs: no warning 3135
SET sql_mode = 'STRICT_ALL_TABLES';
INSERT INTO m VALUES (5, 'z', 1 / 0);
SELECT * FROM m ORDER BY id;
SET sql_mode = 'ONLY_FULL_GROUP_BY';
SELECT a, COUNT(*) FROM m;
SELECT a, b, COUNT(*) FROM m GROUP BY a;
SELECT a FROM m GROUP BY b HAVING a > 'a';
SELECT a FROM m GROUP BY a ORDER BY b;
SELECT id, a, COUNT(*) FROM m GROUP BY id ORDER BY id;
-- differs: type of a column: MySQL's is LONG
SELECT a, ANY_VALUE(b) IS NOT NULL FROM m GROUP BY a ORDER BY a;
SELECT DISTINCT a FROM m ORDER BY b;
SELECT a AS x, MAX(b) FROM m GROUP BY x ORDER BY x;
SELECT LENGTH(a), COUNT(*) FROM m GROUP BY a, LENGTH(a) ORDER BY 1, 2;
SET sql_mode = '';
SELECT COUNT(*), MAX(id) FROM m GROUP BY a ORDER BY a;
SET sql_mode = 'ANSI';
SELECT @@sql_mode;
SET sql_mode = 'TRADITIONAL';
SELECT @@sql_mode;
SET sql_mode = 'nonsense';
SET sql_mode = 'NO_AUTO_CREATE_USER';
SET sql_mode = 2;
SELECT @@sql_mode;
SET sql_mode = 'ansi_quotes, pipes_as_concat';
SET sql_mode = 'ansi_quotes,,pipes_as_concat';
SELECT @@sql_mode;
SET sql_mode = NULL;
SET sql_mode = '?';
-- differs: no warning 3135
SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES');
SELECT @@session.sql_mode;
SET sql_mode = DEFAULT;
SELECT @@sql_mode;
SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
CREATE TABLE az (id INT PRIMARY KEY AUTO_INCREMENT);
INSERT INTO az VALUES (0), (NULL), (NULL);
SELECT * FROM az;
SET sql_mode = '';
INSERT INTO az VALUES (0);
SELECT * FROM az ORDER BY id;
CREATE TABLE nd (a INT NOT NULL, b VARCHAR(5) NOT NULL, c DATE NOT NULL, d ENUM('p', 'q') NOT NULL, e TIMESTAMP NOT NULL, f INT);
INSERT INTO nd (f) VALUES (1);
INSERT INTO nd () VALUES ();
INSERT INTO nd (a, f) VALUES (NULL, 2);
INSERT INTO nd (a, f) VALUES (NULL, 3), (1, 4);
SELECT a, b, c, d, e, f FROM nd;
UPDATE nd SET a = NULL;
SELECT a FROM nd;
SET sql_mode = DEFAULT;
INSERT INTO nd (f) VALUES (1);
INSERT INTO nd VALUES (1, 'a', '2024-01-01', 'p', '2024-01-01', NULL), (NULL, 'a', '2024-01-01', 'p', '2024-01-01', NULL);
UPDATE nd SET a = NULL;
INSERT IGNORE INTO nd (f) VALUES (9);
SELECT * FROM nd WHERE f = 9;
