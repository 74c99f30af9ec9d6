-- Skip scan: a range of a later part of an index behind each value of the parts before it.
SET cte_max_recursion_depth = 20000;
CREATE TABLE t (f1 INT NOT NULL, f2 INT NOT NULL, id INT NOT NULL, f3 INT, pad CHAR(20), PRIMARY KEY (f1, f2, id));
INSERT INTO t WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 9999) SELECT n % 5, n DIV 5 % 100, n, n % 7, 'x' FROM s;
CREATE TABLE u (id INT PRIMARY KEY, a INT, b INT, c INT, d INT, s VARCHAR(5), KEY abc (a, b, c), KEY bd (b DESC, d DESC), KEY asd (a, s));
INSERT INTO u WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 10000) SELECT n, IF(n % 4, n % 4, NULL), n % 3, IF(n % 50, n * 7 % 1009, NULL), n * 3 % 500, elt(1 + n % 7, 'a', 'A', 'b', NULL, 'c', 'zz', '') FROM s;
ANALYZE TABLE t, u;
SET explain_format = TRADITIONAL;
-- hide rows, filtered, warnings
EXPLAIN SELECT f1, f2 FROM t WHERE f2 > 95;
-- hide rows, filtered, warnings
EXPLAIN SELECT f1, f2 FROM t WHERE f2 = 95;
-- hide rows, filtered, warnings
EXPLAIN SELECT f1, f2 FROM t WHERE f2 BETWEEN 95 AND 97 ORDER BY f1;
-- hide rows, filtered, warnings, possible_keys
EXPLAIN SELECT f1, f2, f3 FROM t WHERE f2 > 95;
-- hide rows, filtered, warnings, possible_keys
EXPLAIN SELECT /*+ SKIP_SCAN(t) */ f1, f2, f3 FROM t WHERE f2 > 95;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ SKIP_SCAN(t PRIMARY) */ f1, f2 FROM t WHERE f2 > 5;
-- hide rows, filtered, warnings
EXPLAIN SELECT a, b, c FROM u WHERE c < 10;
-- hide rows, filtered, warnings
EXPLAIN SELECT a, b, c FROM u WHERE a = 1 AND c < 10;
-- hide rows, filtered, warnings
EXPLAIN SELECT a, b, c FROM u WHERE a IN (1, 2) AND c < 10;
-- hide rows, filtered, warnings
EXPLAIN SELECT a, b, c FROM u WHERE a IN (1, 2) AND c = 10;
-- hide rows, filtered, warnings
EXPLAIN SELECT a, b, c FROM u WHERE c = 10;
-- hide rows, filtered, warnings, possible_keys
EXPLAIN SELECT a, b, c FROM u WHERE c < 10 AND d = 3;
-- hide rows, filtered, warnings
EXPLAIN SELECT COUNT(*) FROM u WHERE c < 10;
-- hide rows, filtered, warnings
EXPLAIN SELECT b, d FROM u WHERE d < 5;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ SKIP_SCAN(u abc) */ a, b, c FROM u WHERE c < 10;
-- hide rows, filtered, warnings, possible_keys
EXPLAIN SELECT /*+ NO_SKIP_SCAN(u) */ a, b, c FROM u WHERE c < 10;
-- hide rows, filtered, warnings, possible_keys
EXPLAIN SELECT /*+ NO_SKIP_SCAN(u abc) */ a, b, c FROM u WHERE c < 10;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ NO_SKIP_SCAN(u bd) */ a, b, c FROM u WHERE c < 10;
SET optimizer_switch = 'skip_scan=off';
-- hide rows, filtered, warnings, possible_keys
EXPLAIN SELECT a, b, c FROM u WHERE c < 10;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ SKIP_SCAN(u abc) */ a, b, c FROM u WHERE c < 10;
SET optimizer_switch = DEFAULT;
SELECT f1, f2, id FROM t WHERE f2 = 95 AND id > 8000 ORDER BY f1, f2, id LIMIT 7;
SELECT COUNT(*), SUM(f1), SUM(id) FROM t WHERE f2 > 95;
SELECT COUNT(*), SUM(f1), SUM(id) FROM t WHERE f2 <= 3;
SELECT f1, MIN(id) FROM t WHERE f2 = 3 GROUP BY f1;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE c < 10;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE c >= 1000;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE c > 10.5 AND c <= 13;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE c = 10.5;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE c = NULL;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE c IS NULL;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE c BETWEEN 20 AND 10;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE a = 2 AND c = '12';
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE a IS NULL AND c < 100;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE a IN (1, 3, NULL) AND c < 100;
SELECT b, d FROM u WHERE d > 496 ORDER BY b, d LIMIT 3;
SELECT /*+ SKIP_SCAN(u bd) */ COUNT(*), SUM(b), SUM(d) FROM u WHERE d < 5;
SELECT /*+ SKIP_SCAN(u bd) */ COUNT(*), SUM(b), SUM(d) FROM u WHERE d >= 5 AND d < 7 AND id > 5000;
SELECT /*+ SKIP_SCAN(u asd) */ COUNT(*), SUM(a) FROM u WHERE s = 'A';
SELECT /*+ SKIP_SCAN(u asd) */ COUNT(*), SUM(a) FROM u WHERE s > 'b';
SELECT DISTINCT a, b FROM u WHERE c < 3 ORDER BY a, b;
PREPARE p FROM 'SELECT COUNT(*), SUM(b) FROM u WHERE c < ?';
SET @x = 5;
EXECUTE p USING @x;
SET @x = NULL;
EXECUTE p USING @x;
SET @x = 1e3;
EXECUTE p USING @x;
BEGIN;
UPDATE u SET c = 1 WHERE id BETWEEN 5000 AND 5100;
DELETE FROM u WHERE c = 4;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE c < 10;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE c < 10 FOR UPDATE;
ROLLBACK;
SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM u WHERE c < 10;
DROP TABLE t, u;
