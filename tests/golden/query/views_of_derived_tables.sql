-- Views of derived tables on the inner side of outer joins, beside other derived tables.
CREATE TABLE p (id INT PRIMARY KEY, a INT, b INT);
CREATE TABLE q (id INT PRIMARY KEY, a INT, b INT);
INSERT INTO p VALUES (1, 1, 2), (2, 2, 3), (3, 3, NULL), (4, 4, 1);
INSERT INTO q VALUES (1, 1, 1), (2, 1, 2), (3, 3, 3);
CREATE VIEW v AS SELECT 3 AS x0, d2.x0 AS x1 FROM (SELECT DISTINCT d1.x0 AS x0 FROM (SELECT MIN(a) AS x0 FROM q GROUP BY b) AS d1 WHERE d1.x0 > 0) AS d2 WHERE d2.x0 = d2.x0 AND d2.x0 > 0;
SELECT MAX(t2.a), COUNT(t1.x1) FROM v t1 RIGHT JOIN p t2 ON TRUE;
SELECT p.id, v.x0, v.x1 FROM p LEFT JOIN v ON v.x1 = p.a ORDER BY p.id;
SELECT p.id, d.a FROM p JOIN LATERAL (SELECT v.x1 AS a FROM q LEFT JOIN v ON v.x1 = q.a WHERE q.id = p.id) AS d ON TRUE ORDER BY p.id, d.a;
SELECT d.x FROM (SELECT a AS x FROM (SELECT DISTINCT a FROM p) AS e WHERE a > 1) AS d LEFT JOIN v ON v.x1 = d.x WHERE d.x < 4 ORDER BY d.x;
SELECT p.id FROM p LEFT JOIN (v CROSS JOIN q) ON v.x1 = p.id AND q.id = p.id WHERE p.id IN (SELECT a FROM (SELECT a FROM q GROUP BY a) AS g WHERE a > 0) ORDER BY p.id;
