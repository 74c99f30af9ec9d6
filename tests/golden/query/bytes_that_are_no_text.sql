-- Bytes that are no text are an error where a row is compared with them, and numbers and dates are not.
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(10), g VARCHAR(10) COLLATE utf8mb4_general_ci, dt DATETIME, i INT);
INSERT INTO t VALUES (1, 'ann', 'x', '2024-01-01', 1), (2, NULL, NULL, NULL, NULL);
SELECT x'ff' = s FROM t;
SELECT id FROM t WHERE x'ff' = s;
SELECT id FROM t WHERE id > 5 AND x'ff' = s;
SELECT id FROM t WHERE x'ff' = s AND 0;
-- hide warnings
SELECT dt BETWEEN s AND x'ff' FROM t;
SELECT s BETWEEN x'ff' AND i FROM t;
SELECT s BETWEEN 'a' AND x'ff' FROM t;
SELECT s IN ('a', x'ff') FROM t;
-- Beside a number texts of different collations are numbers.
SELECT s BETWEEN i AND g FROM t;
SELECT i BETWEEN s AND g FROM t;
SELECT i IN (s, g) FROM t;
SELECT s IN (i, g) FROM t;
