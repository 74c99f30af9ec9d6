-- Warnings of what is deprecated, in MySQL's order.
-- differs: one warning 1681 less
CREATE TABLE t5 (c1 INT(10), c2 FLOAT(7,4), c3 DECIMAL(5,2) UNSIGNED, c4 NCHAR(5), c5 CHAR(5) CHARACTER SET utf8, c6 CHAR(5) COLLATE utf8mb3_bin, c7 FLOAT UNSIGNED ZEROFILL, c8 DOUBLE(5,2) UNSIGNED, c9 INT ZEROFILL, c10 YEAR(4), c11 TINYINT(1), c14 CHAR(3) BINARY, c16 FLOAT(10), c17 INT(3) ZEROFILL);
ALTER TABLE t5 ADD c20 INT(4), MODIFY c4 NCHAR(6);
CREATE TABLE t6 (a INT, b INT, UNIQUE k2 (b), UNIQUE KEY k1 (a), KEY k3 (a), KEY k4 (a));
CREATE INDEX k5 ON t6 (a);
CREATE TABLE t7 (a INT) CHARACTER SET utf8mb3;
CREATE TABLE t8 (a INT) COLLATE utf8mb3_general_ci;
SELECT @a := 1, @b := 2;
SET @a := @b := 3;
SELECT BINARY 'a', 1 || 0, 1 && 1, !1;
SET NAMES utf8mb3;
SET NAMES utf8mb4;
PREPARE s FROM 'SELECT @x := 1';
EXECUTE s;
CREATE TABLE r1 (DB_ROW_ID INT);
CREATE TABLE r2 (a INT, KEY gen_clust_index (a));
CREATE TABLE d (d DATE, y YEAR, t TIMESTAMP NULL, f FLOAT(10,5));
SELECT * FROM d WHERE d <= '2013-02-32';
SELECT * FROM d WHERE d = '0000-00-00';
INSERT INTO d (t) VALUES ('1000-01-01');
INSERT INTO d (y, f) VALUES (1970, 99999.99999), (2055, 9.12345), (2000, -9.12345), (0, 0.00005);
SELECT y, f FROM d ORDER BY 1;
SELECT y FROM d WHERE y < '55' ORDER BY 1;
SELECT y FROM d WHERE y = '0' OR y = 55;
CREATE TABLE b (a BINARY(4) PRIMARY KEY);
INSERT INTO b VALUES ('a');
INSERT INTO b VALUES ('a');
DROP PROCEDURE p;
DROP FUNCTION IF EXISTS f;
DROP TRIGGER t;
DROP EVENT e;
CALL p();
CREATE DATABASE mysql;
DROP DATABASE information_schema;
SELECT abc FROM (SELECT 1 AS Abc) AS x;
-- differs: the column's type
SELECT table_comment FROM information_schema.tables WHERE table_name = 'nosuch';
-- differs: error 3151: MySQL finds names above 64 KiB only when it stores the document
SELECT json_set('{}', concat('$.', repeat('a', 70000)), 1);
-- differs: error 3151: MySQL finds names above 64 KiB only when it stores the document
SELECT cast(concat('{"', repeat('a', 70000), '": 1}') AS JSON);
SELECT -(9223372036854775809), -(18446744073709551615);
