-- Documents where numbers are asked for: what is none is warned of, whatever asks.
CREATE TABLE t (id INT PRIMARY KEY, j JSON, f DOUBLE);
INSERT INTO t VALUES (1, '"abc"', 1), (2, '{"a": 1}', 2), (3, '"5x"', 3), (4, 'null', 1), (5, '"7"', 1), (6, '[1]', 1), (7, 'true', 1);
-- hide warnings
SELECT id, f + j, j * 2, -j FROM t;
SELECT @@warning_count;
-- hide warnings
SELECT CAST(j AS SIGNED), j | 1 FROM t;
SELECT @@warning_count;
-- hide warnings
SELECT CAST(j AS DECIMAL(10,2)), CAST(j AS DOUBLE), ROUND(j), LEFT('abcdefgh', j) FROM t;
SELECT @@warning_count;
-- hide warnings
SELECT SUM(j), AVG(j), BIT_OR(j) FROM t;
SELECT f + j, CAST(j AS SIGNED) FROM t WHERE id IN (5, 7);
-- hide warnings
SELECT id, id BETWEEN CAST('1' AS JSON) AND CAST('"5"' AS JSON), id BETWEEN CAST('null' AS JSON) AND 3, id BETWEEN j AND 5 FROM t;
