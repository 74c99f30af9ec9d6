-- Derived tables, common table expressions and views: merged into the query around them, or computed on their own.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT NOT NULL, c VARCHAR(20), KEY ka (a), KEY kb (b));
CREATE TABLE u (id INT PRIMARY KEY, t_id INT, d DECIMAL(8,2) NOT NULL, KEY kt (t_id));
INSERT INTO t VALUES (1,10,1,'one'),(2,20,1,'two'),(3,NULL,2,'three'),(4,40,2,NULL),(5,10,3,'five'),(6,NULL,3,'six');
INSERT INTO u VALUES (1,1,1.50),(2,1,2.25),(3,2,10.00),(4,NULL,7.00),(5,9,3.00);
-- sort
SELECT * FROM (SELECT id, a + 1 AS n, c FROM t WHERE b < 3) d WHERE n > 5;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM (SELECT id, a FROM t) d WHERE id = 3;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT /*+ NO_MERGE(d) */ * FROM (SELECT id, a FROM t WHERE b = 2) d;
-- sort
SELECT d.id, d.x, u.d FROM (SELECT id, b * 2 AS x FROM t) AS d JOIN u ON u.t_id = d.id;
-- sort
SELECT d.id, d.a, u.id FROM u LEFT JOIN (SELECT id, a FROM t WHERE b = 1) d ON d.id = u.t_id;
-- sort
SELECT u.id, d.id, d.one FROM u LEFT JOIN (SELECT id, 1 AS one FROM t WHERE b = 1) d ON d.id = u.t_id;
-- sort
SELECT u.id, d.k, d.d FROM u LEFT JOIN (SELECT t.id AS k, v.d FROM t JOIN u v ON v.t_id = t.id WHERE v.d > 2) d ON d.k = u.t_id;
-- sort
SELECT u.id, d.k, d.w FROM u LEFT JOIN (SELECT t.id AS k, v.id AS w FROM t LEFT JOIN u v ON v.t_id = t.id WHERE v.id IS NULL) d ON d.k = u.t_id + 1;
-- sort
SELECT d.id, u.id FROM (SELECT id, a FROM t WHERE a IS NOT NULL) d RIGHT JOIN u ON u.t_id = d.id;
-- sort
SELECT d.id, u.id FROM (SELECT id, COALESCE(a, -1) AS a FROM t) d RIGHT JOIN u ON u.t_id = d.id WHERE d.a IS NULL OR d.a > 10;
SELECT * FROM (SELECT id, a FROM t ORDER BY a DESC, id) d;
SELECT * FROM (SELECT id, a FROM t ORDER BY a DESC, id) d LIMIT 2;
SELECT * FROM (SELECT id, a FROM t ORDER BY a DESC, id) d ORDER BY id LIMIT 2;
SELECT * FROM (SELECT id, a FROM t ORDER BY b DESC, id) d WHERE a IS NOT NULL;
SELECT COUNT(*), SUM(x) FROM (SELECT b * 10 AS x FROM t WHERE a IS NOT NULL) d;
SELECT x, COUNT(*) FROM (SELECT b * 10 AS x, a FROM t) d GROUP BY x ORDER BY x;
SELECT d.x, MAX(d.a) FROM (SELECT b AS x, a FROM t) d GROUP BY d.x HAVING MAX(d.a) > 15 ORDER BY 1;
SELECT d.x, d.a FROM (SELECT b AS x, a FROM t) d GROUP BY d.x;
SELECT DISTINCT x FROM (SELECT b AS x, a FROM t ORDER BY a) d ORDER BY x;
SELECT x, ROW_NUMBER() OVER (PARTITION BY x ORDER BY id DESC) r FROM (SELECT b AS x, id FROM t) d ORDER BY x, r;
SELECT e.y + 1 AS z FROM (SELECT d.x * 2 AS y FROM (SELECT b AS x FROM t WHERE id > 1) d WHERE x < 3) e ORDER BY z;
SELECT id, (SELECT MAX(d) FROM u WHERE u.t_id = d.id) AS m FROM (SELECT id FROM t WHERE b = 1) d ORDER BY id;
SELECT id FROM (SELECT id, a FROM t) d WHERE EXISTS (SELECT 1 FROM u WHERE u.t_id = d.id) ORDER BY id;
SELECT id FROM (SELECT id, b FROM t WHERE id IN (SELECT t_id FROM u)) d WHERE b = 1 ORDER BY id;
SELECT id FROM t WHERE id IN (SELECT d.k FROM (SELECT t_id AS k, d AS v FROM u) d WHERE d.v > 2) ORDER BY id;
SELECT id FROM t WHERE EXISTS (SELECT * FROM (SELECT t_id AS k FROM u WHERE d > 2) d WHERE d.k = t.id) ORDER BY id;
WITH w AS (SELECT id, a FROM t WHERE b = 1) SELECT x.id, y.a FROM w x JOIN w y ON x.id = y.id ORDER BY 1;
WITH w (p, q) AS (SELECT id, a FROM t) SELECT q, p FROM w WHERE p > 4 ORDER BY p;
WITH w AS (SELECT id FROM t), v AS (SELECT id FROM w WHERE id > 2) SELECT COUNT(*) FROM v JOIN w USING (id);
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL WITH w AS (SELECT id, a FROM t) SELECT * FROM w WHERE id = 2;
SELECT * FROM (SELECT id, a FROM t) d NATURAL JOIN (SELECT id, c FROM t) e WHERE id < 3 ORDER BY id;
SELECT d.* FROM (SELECT id, a FROM t) d JOIN (SELECT id, t_id FROM u) e ON e.t_id = d.id WHERE e.id = 3;
SELECT t.id FROM (SELECT id FROM t WHERE id < 3) d JOIN t ON t.id = d.id ORDER BY 1;
SELECT v.id FROM (SELECT v.id FROM t v WHERE v.id < 3) d;
SELECT * FROM (SELECT id, id FROM t) d;
SELECT * FROM (SELECT id FROM t) d JOIN (SELECT id FROM u) d;
SELECT b FROM (SELECT id FROM t) d;
SELECT t.id FROM (SELECT id FROM t) d;
SELECT d.id FROM (SELECT id FROM t) d (x);
SELECT d.x FROM (SELECT id FROM t WHERE id = 2) d (x);
SELECT * FROM (SELECT id FROM t ORDER BY id DESC LIMIT 2) d WHERE id > 0 ORDER BY id;
SELECT * FROM (SELECT DISTINCT b FROM t) d ORDER BY b;
SELECT * FROM (SELECT b FROM t UNION SELECT t_id FROM u) d ORDER BY b;
SELECT * FROM (SELECT id, (SELECT COUNT(*) FROM u WHERE u.t_id = t.id) AS n FROM t) d WHERE n > 0 ORDER BY id;
SELECT id FROM t WHERE (SELECT SUM(d.v) FROM (SELECT d AS v, t_id AS k FROM u) d WHERE d.k = t.id) > 3 ORDER BY id;
SELECT l.id, x.v FROM t l, LATERAL (SELECT d.v FROM (SELECT d AS v, t_id AS k FROM u) d WHERE d.k = l.id ORDER BY v LIMIT 1) x ORDER BY l.id;
SELECT d.id, x.m FROM (SELECT id FROM t WHERE b = 1) d, LATERAL (SELECT MAX(d) AS m FROM u WHERE u.t_id = d.id) x ORDER BY d.id;
CREATE VIEW j AS SELECT t.id, t.a, u.d AS amount, t.b + 1 AS next FROM t JOIN u ON u.t_id = t.id;
SELECT * FROM j WHERE id = 1 ORDER BY amount;
-- differs: a column that is a constant is shown as itself
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT next FROM j WHERE id = 1;
SELECT id, SUM(amount) FROM j GROUP BY id ORDER BY id;
SELECT j.id, t.c FROM t LEFT JOIN j ON j.id = t.id AND j.amount > 2 ORDER BY t.id + 0, j.id;
CREATE VIEW k AS SELECT id, amount * 2 AS twice FROM j WHERE next = 2;
SELECT * FROM k ORDER BY twice;
CREATE ALGORITHM=TEMPTABLE VIEW m AS SELECT id, a FROM t WHERE b = 1;
SELECT * FROM m ORDER BY id;
SET optimizer_switch = 'derived_merge=off';
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM (SELECT id, a FROM t WHERE b = 2) d;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT /*+ MERGE(d) */ * FROM (SELECT id, a FROM t) d WHERE id = 1;
SELECT * FROM (SELECT id, a FROM t ORDER BY a DESC, id) d LIMIT 2;
SET optimizer_switch = DEFAULT;
INSERT INTO u SELECT d.id + 100, d.id, d.x FROM (SELECT id, b * 1.5 AS x FROM t WHERE b = 1) d ON DUPLICATE KEY UPDATE u.d = d.x;
SELECT * FROM u ORDER BY id;
INSERT INTO u SELECT d.id, d.id, d.x FROM (SELECT id, b * 1.5 AS x FROM t WHERE b = 1) d ON DUPLICATE KEY UPDATE u.d = d.x + 1;
SELECT * FROM u ORDER BY id;
UPDATE u JOIN (SELECT id, b FROM t WHERE b = 1) d ON d.id = u.t_id SET u.d = u.d + d.b;
SELECT * FROM u ORDER BY id;
DELETE u FROM u JOIN (SELECT id FROM t WHERE b = 1) d ON d.id = u.t_id WHERE u.id > 100;
UPDATE t SET b = b + 1 WHERE id IN (SELECT id FROM (SELECT id FROM t WHERE a = 10) d);
SELECT id, b FROM t ORDER BY id;
SELECT MAX(d.id) FROM (SELECT id, b FROM t) d;
SELECT MIN(d.x) FROM (SELECT id, b AS x FROM t) d WHERE d.x > 1;
PREPARE s FROM 'SELECT d.y FROM (SELECT id, a + ? AS y FROM t) d WHERE d.id = ?';
SET @x = 5, @i = 2;
EXECUTE s USING @x, @i;
SELECT GROUP_CONCAT(d.c ORDER BY d.id) FROM (SELECT id, UPPER(c) AS c FROM t) d;
SELECT id FROM (SELECT id, a FROM t FOR UPDATE) d WHERE id = 2;
SELECT id FROM (SELECT id, a FROM t) d WHERE id = 2 FOR UPDATE;
SELECT IFNULL(d.c, '-') AS c FROM (SELECT id, c FROM t) d WHERE d.c IS NULL OR d.c LIKE 't%' ORDER BY d.id;
SELECT r, COUNT(*) FROM (SELECT a AS r, b FROM t) d GROUP BY r WITH ROLLUP;
