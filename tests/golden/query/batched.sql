-- Batched key access and multi-range read.
SET cte_max_recursion_depth = 20000;
CREATE TABLE o (id INT PRIMARY KEY, a INT NOT NULL, b INT, c VARCHAR(20));
CREATE TABLE i (id INT PRIMARY KEY, a INT NOT NULL, b INT, c VARCHAR(20), d INT, KEY ka (a), KEY kb (b, c), UNIQUE KEY kd (d));
INSERT INTO o WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 40) SELECT n, n * 7 % 20, IF(n % 5, n * 3 % 11, NULL), CONCAT('o', n) FROM s;
INSERT INTO i WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 900) SELECT n * 37 % 907, n * 7 % 60, IF(n % 7, n % 50, NULL), CONCAT('i', n % 9), IF(n % 4, n * 11 % 907, NULL) FROM s;
ANALYZE TABLE o, i;
SET explain_format = TRADITIONAL;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ BKA(i) JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.a = o.a;
-- hide rows, filtered, possible_keys, warnings
EXPLAIN SELECT /*+ BKA(i) JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.a = o.a AND i.c <> o.c WHERE i.d + 1 > 3;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ BKA(i) */ o.id, i.c FROM o LEFT JOIN i ON i.a = o.a;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ BKA(i@q) SEMIJOIN(@q FIRSTMATCH) */ o.id FROM o WHERE NOT EXISTS (SELECT /*+ QB_NAME(q) */ 1 FROM i WHERE i.a = o.a AND i.c > 'i3');
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ BKA(i@q) SEMIJOIN(@q FIRSTMATCH) */ o.id FROM o WHERE EXISTS (SELECT /*+ QB_NAME(q) */ 1 FROM i WHERE i.a = o.a AND i.c > 'i3');
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ BKA(i) JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.d = o.a;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ BKA(i) JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.d = o.a LIMIT 3;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ BKA(i) JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.d = o.a FOR UPDATE;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ BKA(i) JOIN_PREFIX(o) NO_MRR(i) */ o.id, i.c FROM o JOIN i ON i.d = o.a;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ NO_BKA(i) JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.a = o.a;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.a = o.a;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ BKA(i) JOIN_PREFIX(o) */ o.id, i.id FROM o JOIN i ON i.a = o.a;
-- hide rows, filtered, possible_keys, warnings
EXPLAIN SELECT /*+ BKA(i) JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.id = o.a;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ BKA(t2) JOIN_PREFIX(t1, t2) NO_BNL() */ COUNT(*), SUM(t2.d) FROM o t1 JOIN i t2 ON t2.a = t1.a;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ MRR(i ka) */ * FROM i WHERE a BETWEEN 3 AND 6;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ MRR(i) */ * FROM i WHERE a BETWEEN 3 AND 6 AND d + 1 > 5;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ MRR(i ka) */ * FROM i FORCE INDEX FOR ORDER BY (ka) WHERE a BETWEEN 3 AND 6 ORDER BY a;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ MRR(i ka) */ * FROM i WHERE a BETWEEN 3 AND 6 ORDER BY id;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ MRR(i ka) */ * FROM i WHERE a IN (3, 6) LIMIT 2;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ MRR(i ka) */ * FROM i WHERE a = 3;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ MRR(i ka) */ * FROM i WHERE a BETWEEN 3 AND 6 FOR UPDATE;
-- hide rows, filtered, possible_keys, warnings
EXPLAIN SELECT /*+ MRR(i ka) */ id FROM i WHERE a BETWEEN 3 AND 6;
-- hide rows, filtered, warnings
EXPLAIN DELETE /*+ MRR(i ka) */ FROM i WHERE a BETWEEN 3 AND 6;
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM i WHERE a BETWEEN 3 AND 6;
SET optimizer_switch = 'mrr_cost_based=off';
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM i WHERE a BETWEEN 3 AND 6;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ NO_MRR(i) */ * FROM i WHERE a BETWEEN 3 AND 6;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ NO_MRR(i ka) */ * FROM i WHERE a BETWEEN 3 AND 6;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ NO_MRR(i kd) */ * FROM i WHERE a BETWEEN 3 AND 6;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.a = o.a;
SET optimizer_switch = 'batched_key_access=on';
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.a = o.a;
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ JOIN_PREFIX(o) NO_BKA(i) */ o.id, i.c FROM o JOIN i ON i.a = o.a;
SET optimizer_switch = 'mrr=off';
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.a = o.a;
-- hide rows, filtered, warnings
EXPLAIN SELECT * FROM i WHERE a BETWEEN 3 AND 6;
SET optimizer_switch = 'mrr=on,mrr_cost_based=on';
-- hide rows, filtered, warnings
EXPLAIN SELECT /*+ JOIN_PREFIX(o) */ o.id, i.c FROM o JOIN i ON i.a = o.a;
SET optimizer_switch = 'mrr_cost_based=off';
-- sort
SELECT o.id, i.id, i.c FROM o JOIN i ON i.a = o.a WHERE o.id < 5;
-- sort
SELECT o.id, i.id, i.c FROM o LEFT JOIN i ON i.b = o.b AND i.c = 'i3' WHERE o.id < 12;
-- sort
SELECT o.id FROM o WHERE NOT EXISTS (SELECT 1 FROM i WHERE i.b = o.b AND i.a < 3);
-- sort
SELECT /*+ SEMIJOIN(@q FIRSTMATCH) */ o.id FROM o WHERE EXISTS (SELECT /*+ QB_NAME(q) */ 1 FROM i WHERE i.b = o.b AND i.a < 3);
-- sort
SELECT t1.id, t2.id, t3.id, t3.c FROM o t1 JOIN i t2 ON t2.d = t1.id * 3 LEFT JOIN i t3 ON t3.a = t2.b AND t3.b < t1.id WHERE t1.id < 20;
SELECT COUNT(*), SUM(i.d), MIN(i.c), MAX(o.c) FROM o JOIN i ON i.a = o.a AND i.c <> o.c WHERE i.b > 3;
SELECT COUNT(*), SUM(i.d) FROM o JOIN i ON i.b <=> o.b;
SELECT COUNT(*), SUM(i.d) FROM o JOIN i ON i.d = o.c;
SELECT COUNT(*), SUM(i.d) FROM o JOIN i ON i.d = o.a + 0.5;
SELECT o.id, (SELECT SUM(i.d) FROM i JOIN o o2 ON i.a = o2.a WHERE o2.id > o.id - 2 AND o2.id <= o.id) s FROM o WHERE o.id < 6 ORDER BY 1;
SET join_buffer_size = 128, read_rnd_buffer_size = 1;
SELECT COUNT(*), SUM(i.d), MIN(i.c), MAX(o.c) FROM o JOIN i ON i.a = o.a AND i.c <> o.c WHERE i.b > 3;
SELECT COUNT(*), COUNT(i.id), SUM(i.d) FROM o LEFT JOIN i ON i.b = o.b AND i.c = 'i3';
SELECT COUNT(*), SUM(id), MIN(c) FROM i WHERE a BETWEEN 3 AND 20 AND d > 30;
SET join_buffer_size = DEFAULT, read_rnd_buffer_size = DEFAULT;
SELECT COUNT(*), SUM(id), MIN(c) FROM i WHERE a BETWEEN 3 AND 20 AND d > 30;
SELECT COUNT(*), SUM(id), MIN(d) FROM i WHERE b IN (1, 2, NULL, 49) AND c LIKE 'i%';
-- sort
SELECT * FROM i WHERE a IN (3, 6) AND d > 700;
BEGIN;
UPDATE i SET a = 3 WHERE id < 30;
DELETE FROM i WHERE a = 4 AND id > 600;
SELECT COUNT(*), SUM(id), SUM(d) FROM i WHERE a BETWEEN 3 AND 6;
SELECT COUNT(*), SUM(i.id), SUM(d) FROM o JOIN i ON i.a = o.a WHERE o.a BETWEEN 3 AND 6;
SELECT COUNT(*), SUM(i.id), SUM(d) FROM o JOIN i ON i.a = o.a WHERE o.a BETWEEN 3 AND 6 FOR UPDATE;
ROLLBACK;
SELECT COUNT(*), SUM(i.id), SUM(d) FROM o JOIN i ON i.a = o.a WHERE o.a BETWEEN 3 AND 6;
UPDATE o JOIN i ON i.a = o.a SET o.c = 'changed', i.c = CONCAT('by', o.id) WHERE o.id < 10 AND o.a > 6;
SELECT COUNT(*), SUM(o.c = 'changed') FROM o;
SELECT COUNT(*), SUM(i.c LIKE 'by%') FROM i;
DELETE i FROM o JOIN i ON i.a = o.a WHERE o.id > 30;
SELECT COUNT(*), SUM(id) FROM i;
SET optimizer_switch = DEFAULT;
DROP TABLE o, i;
