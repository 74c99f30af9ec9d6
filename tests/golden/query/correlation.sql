-- Queries that read tables further out than the query around them.
CREATE TABLE a (i INT, j INT);
CREATE TABLE b (i INT, j INT);
CREATE TABLE c (i INT, j INT);
INSERT INTO a VALUES (1, 1), (2, 2), (2, NULL), (3, 1), (NULL, 3);
INSERT INTO b VALUES (1, 1), (2, 1), (2, 2), (3, 3), (NULL, 1), (3, NULL);
INSERT INTO c VALUES (1, 1), (1, 2), (2, 2), (3, NULL), (2, 3), (1, 1);

-- IN in IN, EXISTS in EXISTS, and each in the other.
-- sort
SELECT * FROM a WHERE i IN (SELECT i FROM b WHERE j IN (SELECT i FROM c WHERE c.j = a.i));
-- sort
SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.i = a.i AND EXISTS (SELECT 1 FROM c WHERE c.i = b.j AND c.j = a.j));
-- sort
SELECT * FROM a WHERE i IN (SELECT i FROM b WHERE EXISTS (SELECT 1 FROM c WHERE c.i = b.j AND c.j = a.j));
-- sort
SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.j IN (SELECT i FROM c WHERE c.j = a.i) AND b.i = a.j);
-- sort
SELECT * FROM a WHERE i NOT IN (SELECT i FROM b WHERE i IS NOT NULL AND j IN (SELECT i FROM c WHERE c.j = a.i));
-- sort
SELECT * FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.i = a.i AND NOT EXISTS (SELECT 1 FROM c WHERE c.i = b.j AND c.j = a.i));

-- Division: who has all of b's.
-- sort
SELECT DISTINCT i FROM a x WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.j = 1 AND NOT EXISTS (SELECT 1 FROM a y WHERE y.i = x.i AND y.j = b.j));
-- sort
SELECT DISTINCT i FROM a x WHERE NOT EXISTS (SELECT 1 FROM b WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.i = b.i AND EXISTS (SELECT 1 FROM a y WHERE y.i = x.i AND y.j = c.j)));

-- Joins inside of which only ON reads from outside.
-- sort
SELECT x.i FROM a x WHERE EXISTS (SELECT 1 FROM b y JOIN c z ON y.i = z.i AND y.j = x.i);
-- sort
SELECT x.i FROM a x WHERE EXISTS (SELECT 1 FROM b y LEFT JOIN c z ON y.i = z.i AND y.j = x.i WHERE z.i IS NULL);
-- sort
SELECT x.i FROM a x WHERE NOT EXISTS (SELECT 1 FROM b y JOIN c z ON y.i = z.i AND y.j = x.i);
-- sort
SELECT x.i, w.j FROM a x LEFT JOIN b w ON w.i = x.i WHERE NOT EXISTS (SELECT 1 FROM b y JOIN c z ON y.i = z.i AND y.j = x.i AND z.j = w.j);
-- sort
SELECT x.i FROM a x WHERE x.i IN (SELECT y.i FROM b y LEFT JOIN c z ON z.i = x.j);

-- Quantified comparisons, scalar subqueries, derived and lateral tables between.
-- sort
SELECT * FROM a WHERE i >= ALL (SELECT i FROM b WHERE j = (SELECT MAX(i) FROM c WHERE c.j = a.i));
-- sort
SELECT * FROM a WHERE i = ANY (SELECT i FROM b WHERE j < (SELECT COUNT(*) FROM c WHERE c.j = a.j AND c.i >= b.i));
-- sort
SELECT * FROM a WHERE EXISTS (SELECT 1 FROM (SELECT i, COUNT(*) AS n FROM b WHERE b.j <= a.i GROUP BY i) d WHERE d.n = 2);
-- sort
SELECT a.i, d.n FROM a, LATERAL (SELECT COUNT(*) AS n FROM b WHERE b.i IN (SELECT i FROM c WHERE c.j = a.i)) d;
-- sort
SELECT a.i, e.m + 0 FROM a, LATERAL (SELECT (SELECT MAX(c.i) FROM c WHERE c.j = a.i AND EXISTS (SELECT 1 FROM b WHERE b.i = c.i AND b.j = a.j)) AS m) e;
-- sort
SELECT a.i FROM a LEFT JOIN (b JOIN LATERAL (SELECT MAX(c.i) AS m FROM c WHERE c.j = a.i) l ON l.m >= b.i) ON b.j = a.j;

-- A named expression with a query in it, read from inside of another query.
-- sort
SELECT i, (SELECT MAX(b.j) FROM b WHERE b.i <= a.i) AS v FROM a HAVING EXISTS (SELECT 1 FROM c WHERE c.i = v);
SELECT i, (SELECT MAX(b.j) FROM b WHERE b.i <= a.i) AS v FROM a WHERE i IS NOT NULL ORDER BY (SELECT COUNT(*) FROM c WHERE c.i = v), i, j;
SELECT SUM(i) AS s FROM a HAVING EXISTS (SELECT 1 FROM b WHERE b.i = s);
SELECT i, SUM(j) AS s FROM a GROUP BY i ORDER BY (SELECT COUNT(*) FROM b WHERE b.i = s);

-- An aggregate of one query whose arguments read a query further out.
-- sort
SELECT a.i, (SELECT (SELECT SUM(b.j + a.j)) FROM b) FROM a;
-- A window in a query whose merged table means a column from outside.
-- sort
SELECT a.i FROM a WHERE EXISTS (SELECT d.v FROM (SELECT e.x, SUM(e.x) OVER (ORDER BY e.x) AS v FROM (SELECT a.j AS x FROM b) AS e) AS d WHERE d.v > 6);
