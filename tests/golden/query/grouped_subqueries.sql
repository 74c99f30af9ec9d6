-- GROUP BY a position or an alias of a subquery: what is selected is what is grouped by.
CREATE TABLE p (id INT PRIMARY KEY, name VARCHAR(20));
CREATE TABLE b (id INT PRIMARY KEY, pid INT, price INT);
INSERT INTO p VALUES (1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO b VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5);
SELECT x + 0, n FROM (SELECT EXISTS (SELECT 1 FROM b WHERE b.pid = p.id) AS x, COUNT(*) AS n FROM p GROUP BY 1) d ORDER BY 1, 2;
SELECT x + 0, n FROM (SELECT NOT EXISTS (SELECT 1 FROM b WHERE b.pid = p.id) AS x, COUNT(*) AS n FROM p GROUP BY x) d ORDER BY 1, 2;
SELECT (SELECT COUNT(*) FROM b WHERE b.pid = p.id) AS x, COUNT(*), MAX(name) FROM p GROUP BY 1 ORDER BY x DESC;
SELECT (SELECT COUNT(*) FROM b WHERE b.pid = p.id) + 1 AS x, COUNT(*) FROM p GROUP BY x HAVING x > 1 ORDER BY x;
SELECT x + 0, n FROM (SELECT p.id IN (SELECT b.pid FROM b WHERE b.price > 5) AS x, COUNT(*) AS n FROM p GROUP BY x) d ORDER BY 1, 2;
SELECT x + 0, n FROM (SELECT p.id > ALL (SELECT b.pid FROM b WHERE b.price > p.id) AS x, COUNT(*) AS n FROM p GROUP BY 1) d ORDER BY 1, 2;
SELECT x + 0, n, y FROM (SELECT EXISTS (SELECT 1 FROM b WHERE b.pid = p.id) AS x, (SELECT COUNT(*) FROM b WHERE b.pid = p.id) AS y, COUNT(*) AS n FROM p GROUP BY 1, 2) d ORDER BY 1, 2;
SELECT EXISTS (SELECT 1 FROM b WHERE b.pid = p.id) AS x, COUNT(*) FROM p GROUP BY x WITH ROLLUP;
SELECT EXISTS (SELECT 1 FROM b WHERE b.pid = p.id) AS x, EXISTS (SELECT 1 FROM b WHERE b.pid = p.id) AS y, COUNT(*) FROM p GROUP BY x;
SELECT COUNT(*) FROM p GROUP BY EXISTS (SELECT 1 FROM b WHERE b.pid = p.id) ORDER BY 1;
