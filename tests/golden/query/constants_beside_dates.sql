-- What functions and variables make of constants is a date beside one, or error 1525.
CREATE TABLE t (id INT PRIMARY KEY, d DATE, dt DATETIME, ts TIMESTAMP NULL, tm TIME, s VARCHAR(10));
INSERT INTO t VALUES (1, '2024-01-01', '2024-01-01 10:00:00', '2024-01-01 10:00:00', '10:00:00', 'x'), (2, NULL, NULL, NULL, NULL, NULL);
SELECT id FROM t WHERE d = LCASE('ABC');
SELECT id FROM t WHERE d = SPACE(2);
SELECT id FROM t WHERE d = FORMAT(1, 2);
SELECT id FROM t WHERE d = DATE_FORMAT('2024-01-01', '%W');
SELECT id FROM t WHERE d = DATE_FORMAT('2024-01-01', '%Y-%m-%d');
SET @v = 'abc';
SELECT id FROM t WHERE d = @v;
SELECT id FROM t WHERE dt = @v;
SELECT dt = SPACE(3) FROM t;
SELECT ts = LCASE('ABC') FROM t;
SELECT CAST(NULL AS DATE) > REGEXP_REPLACE(' 5', 'x*', '');
-- Beside the column of a subquery a literal is the same.
SELECT 'x' IN (SELECT d FROM t);
SELECT 'x' NOT IN (SELECT dt FROM t);
SELECT 'x' > ANY (SELECT d FROM t);
SELECT 'x' > ALL (SELECT MAX(d) FROM t);
SELECT ('x', 1) IN (SELECT d, id FROM t);
SELECT id FROM t WHERE d IN (SELECT 'x' FROM t);
SELECT id FROM t WHERE d > ALL (SELECT 'x');
-- hide warnings
SELECT 'x' IN (SELECT tm FROM t);
SELECT '2024-01-01' IN (SELECT d FROM t);
