-- Found by the differential runner: constants, and columns without a default.
CREATE TABLE t (id INT PRIMARY KEY, d DATE, dt DATETIME, ti TIME, ti2 TIME(2), s VARCHAR(20), tx TEXT, nd INT UNSIGNED, e ENUM('a','b') NOT NULL);
INSERT INTO t VALUES (1, '2021-03-14', '2021-03-14 10:00:00', '00:00:00', '00:00:00', 'a', 'x', 1, 'a'), (2, '2021-03-14', '2021-03-14 00:00:00', '10:11:12', '10:11:12.5', '10:11:12', 'x', 1, 'b');
-- dates beside a TIME column are their time of day
SELECT id FROM t WHERE ti = DATE'2021-03-14';
SELECT id FROM t WHERE ti = TIMESTAMP'2021-03-14 10:11:12';
SELECT id FROM t WHERE ti2 = TIMESTAMP'2021-03-14 10:11:12.5';
SELECT id FROM t WHERE DATE'2021-03-14' < ti;
SELECT id FROM t WHERE ti <=> CAST('2021-03-14' AS DATE);
-- what is given for ? beside a date
PREPARE p FROM 'SELECT id FROM t WHERE dt >= ?';
SET @p = -3;
-- hide warnings
EXECUTE p USING @p;
SET @p = 'x';
-- hide warnings
EXECUTE p USING @p;
SET @p = 20210314;
EXECUTE p USING @p;
SET @p = NULL;
EXECUTE p USING @p;
-- hexadecimal literals are numbers as conditions, and for CONV
SELECT id FROM t WHERE x'4142';
SELECT id FROM t WHERE b'1' AND id > 1;
SELECT x'41' AND 1, NOT x'00', x'00' OR 0, IF(x'41', 1, 2), CASE WHEN x'41' THEN 1 END, x'41' IS TRUE, x'41' XOR 1;
SELECT CONV(x'4142', 10, 16), CONV(x'41', 16, 10), CONV('AB', 16, 10), CONV(b'101', 2, 10), CONV(0x0a, 10, 2);
-- a pattern that is wrong is so before anything is looked for
SELECT REGEXP_LIKE(NULL, '\\');
SELECT id FROM t WHERE REGEXP_LIKE(NULL, '(');
SELECT REGEXP_LIKE(NULL, s) FROM t;
SELECT WEEK('2021-03-14', NULL), YEARWEEK('2021-03-14', NULL);
SELECT CONVERT_TZ('0000-00-00', '+00:00', '+05:30');
-- constants beside dates where rows change
DELETE FROM t WHERE DATE'2021-03-14' = 'abc';
DELETE IGNORE FROM t WHERE dt = 'x' AND id > 9;
UPDATE t SET nd = 5 WHERE NOW() = '';
UPDATE t SET s = 'a' WHERE ti <> '99:99' AND FALSE;
UPDATE t SET s = 'a' WHERE ti = 99999999999.99;
-- a column whose default was dropped
ALTER TABLE t ALTER COLUMN nd DROP DEFAULT;
ALTER TABLE t ALTER COLUMN tx DROP DEFAULT;
INSERT INTO t (id, e) VALUES (10, 'a');
INSERT INTO t (id, e, nd, tx) VALUES (12, 'a', DEFAULT, 'a');
INSERT INTO t (id, e, nd, tx) VALUES (11, 'a', 1, 'a');
UPDATE t SET nd = DEFAULT WHERE id = 1;
UPDATE IGNORE t SET nd = DEFAULT WHERE id = 1;
SELECT DEFAULT(nd) FROM t;
SET sql_mode = '';
UPDATE t SET nd = DEFAULT, tx = DEFAULT WHERE id = 2;
INSERT INTO t (id, e) VALUES (20, 'x');
SELECT id, nd, tx, e FROM t;
SET sql_mode = DEFAULT;
-- what is no member is copied as it is
INSERT INTO t (id, e, nd, tx) SELECT 21, e, nd, 'x' FROM t WHERE id = 20;
REPLACE INTO t (id, e, nd, tx) SELECT 22, e, 1, tx FROM t WHERE id = 21;
SELECT id, e FROM t WHERE id > 20;
-- the total of rows that cannot come has the constants that are grouped by
SELECT 'x', id, COUNT(*) FROM t WHERE FALSE GROUP BY 'x', id WITH ROLLUP;
SELECT 'x', COUNT(*) FROM t WHERE id > 99 GROUP BY 'x' WITH ROLLUP;
SELECT GREATEST(255, 2) FROM t a JOIN t b WHERE NULL GROUP BY GREATEST(255, 2) WITH ROLLUP;
-- IS NULL finds zero dates in columns that are NOT NULL
CREATE TABLE z (id INT PRIMARY KEY, d DATE NOT NULL, dt DATETIME NOT NULL, n DATE);
SET sql_mode = '';
INSERT INTO z VALUES (1, '0000-00-00', '0000-00-00', '0000-00-00'), (2, '2021-01-01', '2021-01-01', '2021-01-01'), (3, '0000-00-00', '2021-01-01', NULL);
SET sql_mode = DEFAULT;
SELECT id FROM z WHERE d IS NULL;
SELECT id FROM z WHERE n IS NULL;
SELECT id FROM z WHERE dt IS NULL OR id = 2;
SELECT id FROM z WHERE NOT (d IS NULL);
SELECT id FROM z WHERE d IS NULL AND id > 1;
SELECT id, d IS NULL FROM z;
SELECT a.id, b.id FROM z a LEFT JOIN z b ON a.id = b.id + 1 WHERE b.d IS NULL ORDER BY 1, 2;
SELECT id FROM z HAVING MIN(id) = 1 OR id IS NULL;
-- regular expressions of texts that are not UTF-8
CREATE TABLE l (l VARCHAR(10) CHARACTER SET latin1, u VARCHAR(10));
INSERT INTO l VALUES ('é', 'é');
SELECT REGEXP_LIKE(l, 'é'), REGEXP_LIKE(l, u), REGEXP_LIKE(u, l), REGEXP_LIKE('é', l), REGEXP_SUBSTR(l, '.'), REGEXP_INSTR(l, 'é'), HEX(REGEXP_SUBSTR(l, '.')), REGEXP_LIKE(l, 'É', 'i'), l REGEXP 'é' FROM l;
SELECT REGEXP_REPLACE(l, 'é', 'ü') = 'ü', REGEXP_REPLACE(l, l, u) = u FROM l;
