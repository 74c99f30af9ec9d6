-- A hexadecimal literal beside numbers and texts in one list, digits of computed integers, blanks for CONV, 0 as a date.
CREATE TABLE t (id INT PRIMARY KEY, b BIGINT, u BIGINT UNSIGNED, j JSON);
INSERT INTO t VALUES (1, 1, 1, '[1]');
SELECT x'4142' IN ('16706', FALSE), x'4142' IN ('-3abc', FALSE), x'4142' IN (16706, 'a'), x'4142' NOT IN ('-3abc', 1.5e0);
SELECT x'4142' IN ('AB', 1), x'4142' IN (1.5, 16706), b'1' IN ('a', 1), x'4142' IN (NULL, 'AB', 5);
CREATE TABLE c AS SELECT SUM(b) a, SUM(b + 1) c, SUM(b | 1) d, SUM(~b) e, SUM(u) f, SUM(u + 1) g, SUM(CAST(b AS UNSIGNED)) h, SUM(CAST(b AS SIGNED)) i,
  AVG(CAST(u AS UNSIGNED)) k, 1.5 * (b | 1) l, 1.5 * CAST(b AS UNSIGNED) m, 1.5 * CAST(b AS SIGNED) n, 1.5 * (b << 1) o FROM t GROUP BY b;
SHOW CREATE TABLE c;
ALTER TABLE t ALTER COLUMN j SET DEFAULT NULL;
ALTER TABLE t ALTER COLUMN j DROP DEFAULT;
SELECT CONV(SPACE(5), 16, 10), CONV('', 16, 10), CONV(' 5', 10, 16);
SELECT 0 + INTERVAL 1 SECOND, DATE_ADD(0.0, INTERVAL 1 DAY), FALSE + INTERVAL (-1) SECOND;
SELECT 20240229 BETWEEN CAST('"abc"' AS JSON) AND TIME'-01:02:03.5', 5 BETWEEN CAST('"abc"' AS JSON) AND '5x';
