-- ESCAPE of a parameter, a variable or a subquery is looked at when the statement runs; numbers that are filled up; and others.
CREATE TABLE t (s VARCHAR(20), KEY (s));
INSERT INTO t VALUES ('abc'), ('x'), ('a%c'), ('a|c'), ('a\\c');
SET @s = 'a', @n = NULL, @i = 5, @l = 'ab', @e = '', @p = '|', @b = '\\';
PREPARE s FROM 'SELECT s FROM t WHERE s LIKE ''a|%c'' ESCAPE ? ORDER BY s';
EXECUTE s USING @p;
EXECUTE s USING @s;
EXECUTE s USING @n;
EXECUTE s USING @i;
EXECUTE s USING @l;
EXECUTE s USING @e;
EXECUTE s USING @b;
PREPARE s FROM 'SELECT s FROM t WHERE s LIKE ? ESCAPE ? ORDER BY s';
SET @a = 'a||c', @c = 'a\\%c', @d = 'a\\c', @t = 'a|';
EXECUTE s USING @a, @p;
EXECUTE s USING @c, @b;
EXECUTE s USING @c, @p;
EXECUTE s USING @d, @e;
EXECUTE s USING @t, @p;
EXECUTE s USING @n, @l;
SELECT 'a%' LIKE 'a|%' ESCAPE @p, 'ab' LIKE 'a|%' ESCAPE @p, 'ab' LIKE 'a|%' ESCAPE (SELECT '|');
SELECT 'a' LIKE 'b' ESCAPE @l;
SELECT 'a' LIKE 'b' ESCAPE s FROM t;
SELECT 'a' LIKE 'b' ESCAPE CONCAT('a', 'b');
SELECT 'a' LIKE 'b' ESCAPE (SELECT 'ab');
DROP PREPARE s;
DROP TABLE t;
-- Of numbers those of a column alone are filled up with zeros.
CREATE TABLE z (a INT, z INT(5) ZEROFILL, d DECIMAL(8,2) ZEROFILL, b BIGINT(12) ZEROFILL);
INSERT INTO z VALUES (1, 7, 1.5, 3), (2, 8, 2.5, 4);
SELECT z, d, b, CONCAT(z), (SELECT z FROM z LIMIT 1) s, CONCAT((SELECT d FROM z LIMIT 1)) c FROM z;
SELECT COALESCE(z), NULLIF(z, 1), ANY_VALUE(b), IFNULL(z, 1), CASE a WHEN 1 THEN b END, LEAST(z, z), GREATEST(d, d) FROM z;
SELECT FIRST_VALUE(d) OVER (), NTH_VALUE(b, 1) OVER (), CONCAT(LAG(z) OVER ()) FROM z;
SELECT z FROM z GROUP BY z WITH ROLLUP;
SELECT * FROM (SELECT COALESCE(z) c, (SELECT z FROM z LIMIT 1) s, z FROM z) q;
SET @z = (SELECT z FROM z LIMIT 1);
SELECT @z;
DROP TABLE z;
-- A difference that is nothing has no decimals in a document.
SELECT JSON_ARRAY(1.5 - 1.5), JSON_ARRAY(1.5 - 1.50), JSON_ARRAY(0.0), JSON_ARRAY(1.5 - 0.5), JSON_OBJECT('a', 1.5 - 1.5), JSON_ARRAY(2.50 - 1);
-- Beside a document a time is a text, and so is the number of what is chosen.
CREATE TABLE j (ti TIME, j JSON);
INSERT INTO j VALUES ('10:00:00', '5'), ('-10:00:00', '7');
-- hide warnings
SELECT LEAST(ti, j) + 0, GREATEST(ti, j) + 0 FROM j;
DROP TABLE j;
