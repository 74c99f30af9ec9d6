-- How rows are found: index merge, loose index scan.
CREATE TABLE n (i INT PRIMARY KEY);
INSERT INTO n WITH RECURSIVE s AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM s WHERE i < 999) SELECT i FROM s;
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT NOT NULL, d VARCHAR(10), KEY ka (a), KEY kb (b), KEY kcd (c, d), KEY kab (a, c, b));
INSERT INTO t SELECT i, IF(i % 50 = 0, NULL, i % 200), i DIV 4, i % 5, CONCAT('d', i % 7) FROM n;
CREATE TABLE g (id INT PRIMARY KEY, a INT NOT NULL, b INT, c INT NOT NULL, e ENUM('z','y','x') NOT NULL, s VARCHAR(10) NOT NULL, KEY kabc (a, b, c), KEY kac (a, c), KEY kes (e, s));
INSERT INTO g SELECT i, i % 4, IF(i % 3 = 0, NULL, i % 12), i * 7 % 1000, 1 + i % 3, CONCAT('s', i % 100) FROM n;
ANALYZE TABLE t, g;
-- Index merge.
-- hide rows, filtered, warnings, possible_keys
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE b = 7 OR id = 500;
-- sort
SELECT * FROM t WHERE b = 7 OR id = 500;
-- hide rows, filtered, warnings, possible_keys
EXPLAIN FORMAT=TRADITIONAL SELECT id, d FROM t IGNORE INDEX (kab) WHERE a = 7 OR b = 3;
-- sort
SELECT id, d FROM t IGNORE INDEX (kab) WHERE a = 7 OR b = 3;
-- sort
SELECT id, a, b FROM t WHERE a = 13 OR b = 3 OR id IN (1, 13, 14);
-- sort
SELECT id, a, b FROM t WHERE (a = 13 AND d = 'd3') OR (b BETWEEN 3 AND 4 AND c < 4) OR id = 990;
-- sort
SELECT id, a, b FROM t WHERE (a = 12 OR b = 3) AND c = 2;
-- sort
SELECT id, a, b FROM t WHERE (a IS NULL OR b = 3) AND d < 'd3';
-- differs: an open range is taken for a third of the rows, so the table is read
-- hide rows, filtered, warnings, possible_keys
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t IGNORE INDEX (kab) WHERE a < 1 OR b < 2;
-- sort
SELECT id FROM t IGNORE INDEX (kab) WHERE a < 1 OR b < 2;
-- hide rows, filtered, warnings, possible_keys
EXPLAIN FORMAT=TRADITIONAL SELECT /*+ NO_INDEX_MERGE(t) */ * FROM t WHERE b = 7 OR id = 500;
SELECT COUNT(*), SUM(id) FROM t WHERE a = 7 OR b = 3 OR c = 9;
SELECT id FROM t WHERE a = 7 OR b = 3 ORDER BY id DESC LIMIT 3;
SELECT x.id, y.id FROM t x JOIN t y ON y.id = x.b WHERE x.a = 7 OR x.b = 3 ORDER BY 1, 2;
SELECT n.i, t.id FROM n LEFT JOIN t ON (t.a = 7 OR t.b = 3) AND t.id = n.i WHERE n.i < 20 ORDER BY 1;
SELECT id FROM t WHERE a = 7 OR b = NULL ORDER BY id;
SELECT id FROM t WHERE a = '7' OR b = 3.5 OR id = 3e0 ORDER BY id;
UPDATE t SET d = 'new' WHERE a = 7 OR b = 3;
SELECT id, d FROM t WHERE a = 7 OR b = 3 ORDER BY id;
DELETE FROM t WHERE id = 7 OR b = 3;
SELECT COUNT(*) FROM t;
-- Loose index scan.
-- hide rows, filtered, warnings, possible_keys
EXPLAIN FORMAT=TRADITIONAL SELECT a, MIN(c), MAX(c) FROM g GROUP BY a;
SELECT a, MIN(c), MAX(c) FROM g GROUP BY a;
-- hide rows, filtered, warnings, possible_keys
EXPLAIN FORMAT=TRADITIONAL SELECT a, MIN(b) FROM g GROUP BY a;
SELECT a, MIN(b), MAX(b) FROM g GROUP BY a;
-- hide rows, filtered, warnings, possible_keys
EXPLAIN FORMAT=TRADITIONAL SELECT DISTINCT a FROM g;
SELECT DISTINCT a FROM g;
SELECT DISTINCT a, b FROM g ORDER BY b DESC, a LIMIT 5;
SELECT a, b, MAX(c) FROM g WHERE a = 2 GROUP BY a, b;
SELECT b, MIN(c) FROM g WHERE a = 1 GROUP BY b;
-- hide rows, filtered, warnings, possible_keys
EXPLAIN FORMAT=TRADITIONAL SELECT a, MAX(c) FROM g WHERE a > 1 GROUP BY a;
SELECT a, MAX(c) FROM g WHERE a > 1 GROUP BY a;
SELECT a, MAX(c) FROM g WHERE a IN (0, 3, 9) GROUP BY a;
SELECT a, MAX(c) FROM g WHERE a % 2 = 1 GROUP BY a;
SELECT a, MAX(c) FROM g WHERE c < 100 GROUP BY a;
SELECT a, MAX(c), COUNT(*) FROM g GROUP BY a;
SELECT COUNT(DISTINCT a) FROM g;
SELECT COUNT(DISTINCT a, b), SUM(DISTINCT a) FROM g;
SELECT COUNT(DISTINCT a), SUM(DISTINCT a), AVG(DISTINCT a) FROM g;
SELECT a, COUNT(DISTINCT b) FROM g GROUP BY a;
SELECT MIN(a), MAX(a) FROM g;
SELECT MIN(b), MAX(b) FROM g WHERE a = 1;
SELECT MIN(b), MAX(b) FROM g WHERE a = 17;
SELECT a, MIN(c) FROM g GROUP BY a HAVING MIN(c) > 0 ORDER BY a DESC;
SELECT a, MIN(c) FROM g GROUP BY a WITH ROLLUP;
SELECT e, MIN(s), MAX(s) FROM g GROUP BY e;
SELECT DISTINCT e FROM g WHERE e <> 'y';
SELECT x.a, x.m FROM (SELECT a, MAX(c) AS m FROM g GROUP BY a) x WHERE x.m > 997 ORDER BY x.a;
START TRANSACTION;
DELETE FROM g WHERE a = 3 AND c > 100;
INSERT INTO g VALUES (5000, 9, NULL, 3, 'z', 's'), (5001, 2, 77, 2000, 'z', 's');
SELECT a, MIN(c), MAX(c), MAX(b) FROM g GROUP BY a;
SELECT a, MIN(b), MAX(b) FROM g GROUP BY a;
ROLLBACK;
SELECT a, MIN(c), MAX(c) FROM g GROUP BY a;
