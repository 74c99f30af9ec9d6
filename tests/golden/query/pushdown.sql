-- Conditions on derived tables that are computed on their own: asked inside of them.
CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL, b INT, c VARCHAR(10) NOT NULL, KEY ka (a));
INSERT INTO t WITH RECURSIVE s AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM s WHERE i < 400)
  SELECT i, i % 40, IF(i % 7 = 0, NULL, i % 11), CONCAT('c', i % 5) FROM s;
ANALYZE TABLE t;
-- hide rows, filtered, warnings, type, Extra
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) d WHERE a = 7;
SELECT * FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) d WHERE a = 7;
SELECT * FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) d WHERE s > 55 AND a < 20 ORDER BY a;
SELECT * FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) d WHERE s > 55 OR a = 2 ORDER BY a;
SELECT * FROM (SELECT a + 1 AS k, COUNT(*) AS n FROM t GROUP BY a + 1) d WHERE k = 5;
SELECT * FROM (SELECT c, MAX(id) AS m FROM t GROUP BY c HAVING m > 397) d WHERE c <> 'c0' ORDER BY c;
SELECT * FROM (SELECT c, MAX(id) AS m FROM t GROUP BY c) d WHERE m = 400 AND c LIKE 'C%';
SELECT * FROM (SELECT SUM(b) AS s, COUNT(*) AS n FROM t) d WHERE n > 1000;
SELECT * FROM (SELECT SUM(b) AS s, COUNT(*) AS n FROM t) d WHERE n = 400;
SELECT * FROM (SELECT DISTINCT a, c FROM t) d WHERE a = 3 ORDER BY c;
SELECT * FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a LIMIT 3) d WHERE n < 0;
-- differs: the type of a key that is rolled up
SELECT * FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a WITH ROLLUP) d WHERE a IS NULL;
SELECT * FROM (SELECT a, id, ROW_NUMBER() OVER (PARTITION BY a ORDER BY id) AS r FROM t) d WHERE a = 3 AND r = 2;
SELECT * FROM (SELECT a, id, ROW_NUMBER() OVER (ORDER BY id) AS r FROM t) d WHERE id = 9;
SELECT x.a, y.n FROM t x JOIN (SELECT a, COUNT(*) AS n FROM t GROUP BY a) y ON y.a = x.a WHERE x.id = 5 AND y.n > 1;
SELECT x.id, y.n FROM t x LEFT JOIN (SELECT a, COUNT(*) AS n FROM t GROUP BY a) y ON y.a = x.id AND y.n > 1 AND y.a < 3 WHERE x.id < 5 ORDER BY 1;
SELECT x.id, y.n FROM t x LEFT JOIN (SELECT a, COUNT(*) AS n FROM t GROUP BY a) y ON y.a = x.id WHERE x.id < 45 AND y.n IS NULL ORDER BY 1;
WITH w AS (SELECT a, MIN(id) AS m FROM t GROUP BY a) SELECT p.m, q.m FROM w p JOIN w q ON q.a = p.a + 1 WHERE p.a = 3;
WITH v AS (SELECT a, b FROM t WHERE id > 100), w AS (SELECT a, COUNT(b) AS n FROM v GROUP BY a) SELECT * FROM w WHERE a IN (1, 5) ORDER BY a;
CREATE VIEW g AS SELECT a, SUM(b) AS s, COUNT(*) AS n FROM t GROUP BY a;
SELECT * FROM g WHERE a = 11;
-- hide rows, filtered, warnings, type, Extra
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM g WHERE a = 11;
SELECT * FROM g WHERE s IS NULL OR n > 10;
SELECT * FROM (SELECT a, s + n AS q FROM g WHERE a < 10) d WHERE q > 60 ORDER BY a;
-- differs: the type of a subquery's value in a temporary table
SELECT * FROM (SELECT a, (SELECT MAX(u.id) FROM t u WHERE u.a = t.a) AS m FROM t GROUP BY a) d WHERE a = 4;
SELECT * FROM (SELECT a, COUNT(*) AS n FROM t WHERE b IN (SELECT b FROM t WHERE id < 9) GROUP BY a) d WHERE a < 3 ORDER BY a;
SELECT (SELECT n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) d WHERE d.a = x.a) AS n FROM t x WHERE x.id < 4 ORDER BY x.id;
SELECT * FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) d WHERE a = 7 AND s = (SELECT SUM(b) FROM t WHERE a = 7);
SET optimizer_switch = 'derived_condition_pushdown=off';
-- differs: groups are made by hash, no index is read for their order
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) d WHERE s > 7;
SELECT * FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) d WHERE a = 7;
SET optimizer_switch = DEFAULT;
SELECT /*+ NO_DERIVED_CONDITION_PUSHDOWN(d) */ * FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) d WHERE a = 7;
PREPARE p FROM 'SELECT * FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) d WHERE a = ?';
SET @x = 7;
EXECUTE p USING @x;
SET @x = 8;
EXECUTE p USING @x;
CREATE TEMPORARY TABLE tt AS SELECT * FROM t WHERE id < 50;
SELECT * FROM (SELECT a, COUNT(*) AS n FROM tt GROUP BY a) d WHERE a = 3;
INSERT INTO t (id, a, b, c) SELECT 1000 + d.a, d.a, d.s, 'new' FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) d WHERE d.a < 3 ON DUPLICATE KEY UPDATE b = d.s + 1;
SELECT * FROM t WHERE id >= 1000 ORDER BY id;
INSERT INTO t (id, a, b, c) SELECT 1000 + d.a, d.a, d.s, 'new' FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) d WHERE d.a < 3 ON DUPLICATE KEY UPDATE b = d.s + 1;
SELECT * FROM t WHERE id >= 1000 ORDER BY id;
