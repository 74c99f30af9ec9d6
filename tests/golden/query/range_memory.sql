-- range_optimizer_max_mem_size: too many values are no ranges.
SET cte_max_recursion_depth = 20000;
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(10), KEY a (a), KEY ba (b, a));
INSERT INTO t WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 4000) SELECT n, n % 100, n % 1000, CONCAT('c', n) FROM s;
ANALYZE TABLE t;
SET explain_format = TRADITIONAL;
SELECT COUNT(*), SUM(a) FROM t WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
SET range_optimizer_max_mem_size = 1000;
SELECT COUNT(*), SUM(a) FROM t WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM t WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
SELECT COUNT(*), SUM(a) FROM t WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
SELECT COUNT(*), SUM(a) FROM t WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM t WHERE id = 5;
SELECT * FROM t WHERE id = 5;
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM t WHERE a = 5;
SELECT COUNT(*), SUM(b) FROM t WHERE a = 5;
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM t WHERE id > 5 AND id < 7;
SELECT * FROM t WHERE id > 5 AND id < 7;
SELECT id FROM t WHERE c = 'c77';
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM t WHERE a = 5 OR id = 6;
SELECT COUNT(*) FROM t WHERE a = 5 OR id = 6;
UPDATE t SET c = 'x' WHERE id IN (1, 2, 3);
DELETE FROM t WHERE id IN (1, 2, 3);
SET range_optimizer_max_mem_size = 12000;
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM t WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
SELECT COUNT(*), SUM(a) FROM t WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
SELECT COUNT(*), SUM(a) FROM t WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100);
SET range_optimizer_max_mem_size = 0;
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM t WHERE id IN (1, 2, 3);
SET range_optimizer_max_mem_size = DEFAULT;
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM t WHERE id IN (1, 2, 3);
SELECT @@range_optimizer_max_mem_size, @@read_rnd_buffer_size;
SET read_rnd_buffer_size = 0;
SELECT @@read_rnd_buffer_size;
DROP TABLE t;
