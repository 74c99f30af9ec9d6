-- Rows that several indexes have under one key each.
SET cte_max_recursion_depth = 20000;
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT, s VARCHAR(10), d CHAR(100), KEY ka (a), KEY kb (b), KEY kc (c), KEY ks (s));
INSERT INTO t WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 10000) SELECT i, i * 7 % 10, i * i * 3 % 11, IF(i % 6, i % 100, NULL), elt(1 + i % 3, 'x', 'Y', NULL), 'x' FROM r;
ANALYZE TABLE t;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a = 1 AND b = 3;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a = 1 AND b = 3 ORDER BY id;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT /*+ NO_INDEX_MERGE(t) */ * FROM t WHERE a = 1 AND b = 3;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT /*+ INDEX_MERGE(t ka, kb) */ * FROM t WHERE a = 1 AND b = 3;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT /*+ INDEX_MERGE(t ka, kc) */ * FROM t WHERE a = 1 AND c = 31;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a = 1 AND b > 3;
SELECT COUNT(*), SUM(id) FROM t WHERE a = 1 AND b = 3;
SELECT COUNT(*), SUM(id), MIN(d) FROM t WHERE a = 1 AND b = 3 AND id < 5000;
SELECT COUNT(*), SUM(id) FROM t WHERE a = 1 AND b = 3 AND c = 31;
SELECT /*+ INDEX_MERGE(t ka, kb, kc) */ COUNT(*), SUM(id), MIN(d) FROM t WHERE a = 1 AND b = 3 AND c = 31;
SELECT /*+ INDEX_MERGE(t) */ COUNT(*), SUM(id) FROM t WHERE c IS NULL AND b = 3;
SELECT /*+ INDEX_MERGE(t) */ COUNT(*), SUM(id) FROM t WHERE s = 'y' AND b = 3 AND a = 4;
SELECT /*+ INDEX_MERGE(t) */ COUNT(*), SUM(id) FROM t WHERE s = 1 AND b = 3;
SELECT /*+ INDEX_MERGE(t) */ COUNT(*), SUM(id) FROM t WHERE a = 1.5 AND b = 3;
SELECT id, a, b FROM t WHERE a = 1 AND b = 3 ORDER BY id LIMIT 5;
SET optimizer_switch = 'index_merge_intersection=off';
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a = 1 AND b = 3;
SELECT COUNT(*), SUM(id) FROM t WHERE a = 1 AND b = 3;
SET optimizer_switch = 'index_merge_intersection=on,index_merge=off';
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE a = 1 AND b = 3;
SET optimizer_switch = DEFAULT;
BEGIN;
UPDATE t SET a = 1 WHERE b = 3 AND id < 20;
DELETE FROM t WHERE a = 1 AND b = 3 AND id > 9900;
SELECT COUNT(*), SUM(id) FROM t WHERE a = 1 AND b = 3;
ROLLBACK;
SELECT COUNT(*), SUM(id) FROM t WHERE a = 1 AND b = 3;
DROP TABLE t;
