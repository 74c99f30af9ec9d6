-- IN, EXISTS and their negations, joined: results with NULLs, under every hint, and plans.
CREATE TABLE t1 (a INT PRIMARY KEY, b INT, c INT, d INT, s VARCHAR(5), KEY kb (b));
CREATE TABLE t2 (a INT PRIMARY KEY, b INT, c INT NOT NULL, d INT, s VARCHAR(5), KEY kc (c));
INSERT INTO t1 VALUES (1, 1, 1, 1, 'x'), (2, NULL, 2, 2, 'X'), (3, 3, NULL, 3, NULL), (4, 4, 4, NULL, ''), (5, 1, 5, 5, 'y');
INSERT INTO t2 VALUES (1, 1, 1, 1, 'X'), (2, NULL, 2, NULL, 'x'), (3, 3, 7, 1, 'y'), (4, 4, 1, NULL, NULL), (9, 4, 9, 5, 'z');
-- sort
SELECT a FROM t1 WHERE b IN (SELECT b FROM t2);
-- sort
SELECT a FROM t1 WHERE b NOT IN (SELECT b FROM t2);
-- sort
SELECT a FROM t1 WHERE b NOT IN (SELECT c FROM t2);
-- sort
SELECT a FROM t1 WHERE a NOT IN (SELECT c FROM t2);
-- sort
SELECT a FROM t1 WHERE a NOT IN (SELECT a FROM t2 WHERE t2.d = t1.d);
-- sort
SELECT a FROM t1 WHERE s IN (SELECT s FROM t2);
-- sort
SELECT a FROM t1 WHERE (a, b) IN (SELECT a, b FROM t2);
-- sort
SELECT a FROM t1 WHERE (b, c) NOT IN (SELECT b, c FROM t2);
-- sort
SELECT a FROM t1 WHERE EXISTS (SELECT * FROM t2 WHERE t2.b = t1.b);
-- sort
SELECT a FROM t1 WHERE NOT EXISTS (SELECT * FROM t2 WHERE t2.b = t1.b);
-- sort
SELECT a FROM t1 WHERE EXISTS (SELECT * FROM t2 WHERE t2.d = t1.d AND t2.a <> t1.a);
-- sort
SELECT a FROM t1 WHERE NOT EXISTS (SELECT * FROM t2 WHERE t2.d = t1.d AND t2.a > t1.a);
-- sort
SELECT a FROM t1 WHERE NOT EXISTS (SELECT * FROM t2 WHERE t2.a > t1.b);
-- sort
SELECT t1.a, t2.a FROM t1 LEFT JOIN t2 ON t1.b = t2.b WHERE t1.a IN (SELECT x.a FROM t2 x WHERE x.c = t2.c);
-- sort
SELECT t1.a, t2.a FROM t1 LEFT JOIN t2 ON t1.b = t2.b WHERE NOT EXISTS (SELECT * FROM t2 x WHERE x.c = t2.c);
-- sort
SELECT a FROM t1 WHERE a IN (SELECT x.a FROM t2 x JOIN t1 y ON x.c = y.c WHERE y.b IN (SELECT z.b FROM t2 z WHERE z.d = x.d));
-- sort
SELECT a FROM t1 WHERE a IN (SELECT t2.a FROM t2 WHERE EXISTS (SELECT * FROM t2 z WHERE z.d = t1.d));
SELECT COUNT(*), SUM(a) FROM t1 WHERE b IN (SELECT b FROM t2 WHERE c < 5);
SELECT a FROM t1 WHERE b IN (SELECT b FROM t2) ORDER BY a DESC LIMIT 2;
SELECT d, COUNT(*) FROM t1 WHERE EXISTS (SELECT 1 FROM t2 WHERE t2.b = t1.b) GROUP BY d ORDER BY d;
SELECT a, b IN (SELECT b FROM t2) AS x FROM t1 ORDER BY a;
-- sort
SELECT a FROM t1 WHERE b IN (SELECT b FROM t2) OR a = 2;
-- sort
SELECT a FROM t1 WHERE b IN (SELECT b FROM t2 LIMIT 2);
-- sort
SELECT a FROM t1 WHERE b IN (SELECT MAX(b) FROM t2 GROUP BY c);
-- sort
SELECT a FROM t1 WHERE b IN (SELECT b FROM t2 UNION SELECT 3);
-- sort
SELECT a FROM t1 WHERE b IN (SELECT DISTINCT b FROM t2 ORDER BY b);
-- sort
SELECT x.a, y.a FROM t1 x, t2 y WHERE x.a = y.b AND x.a = y.d;
-- sort
SELECT x.a FROM t1 x WHERE x.a IN (SELECT y.b FROM t2 y WHERE y.a = x.a);
DELETE FROM t1 WHERE a IN (SELECT a FROM t2 WHERE b = 4);
UPDATE t1 SET d = 7 WHERE NOT EXISTS (SELECT * FROM t2 WHERE t2.b = t1.b);
SELECT * FROM t1 ORDER BY a;
CREATE TABLE big (a INT PRIMARY KEY, b INT, c INT, KEY (b));
CREATE TABLE few (a INT PRIMARY KEY, b INT, c INT NOT NULL);
INSERT INTO big WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 1000) SELECT i, i, i FROM r;
INSERT INTO few VALUES (1, 1, 1), (2, 2, 2), (3, 2, 3);
-- hide Msg_text
ANALYZE TABLE big, few;
-- hide rows, filtered, warnings, possible_keys
EXPLAIN FORMAT=TRADITIONAL SELECT /*+ SEMIJOIN(@q FIRSTMATCH) */ c FROM big WHERE EXISTS (SELECT /*+ QB_NAME(q) */ * FROM few WHERE big.c = few.c);
-- hide rows, filtered, warnings, possible_keys
EXPLAIN FORMAT=TRADITIONAL SELECT c FROM few WHERE EXISTS (SELECT /*+ SEMIJOIN(FIRSTMATCH) */ * FROM big WHERE big.b = few.c);
-- hide rows, filtered, warnings, possible_keys
EXPLAIN FORMAT=TRADITIONAL SELECT c FROM few WHERE NOT EXISTS (SELECT * FROM big WHERE big.b = few.c);
