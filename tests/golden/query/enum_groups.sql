-- ENUM and SET keep their numbers through grouping, and where CASE, IF or NULLIF choose one.
CREATE TABLE g (id INT PRIMARY KEY, e ENUM('b', 'a', 'c'), st SET('x', 'y'));
INSERT INTO g VALUES (1, 'a', 'x'), (2, 'b', 'x,y'), (3, 'c', ''), (4, NULL, NULL), (5, 'a', 'y');
-- sort
SELECT e + 0, st + 0, n FROM (SELECT e, st, COUNT(*) n FROM g GROUP BY e, st) q;
SELECT e, n FROM (SELECT e, COUNT(*) n FROM g GROUP BY e) q WHERE e = 2;
SELECT e, n FROM (SELECT e, COUNT(*) n FROM g GROUP BY e) q WHERE e > 1 ORDER BY e;
SELECT e, e + 0, COUNT(*) FROM g GROUP BY e WITH ROLLUP;
SELECT st, st + 0, e, COUNT(*) FROM g GROUP BY st, e WITH ROLLUP;
SELECT e, COUNT(*) FROM g GROUP BY e HAVING e = 2 OR e IS NULL ORDER BY e;
WITH c AS (SELECT e, COUNT(*) n FROM g GROUP BY e) SELECT SUM(e), SUM(e + n) FROM c;
SELECT GROUP_CONCAT(e ORDER BY e), GROUP_CONCAT(DISTINCT e ORDER BY e DESC), GROUP_CONCAT(id ORDER BY st, id) FROM g WHERE id <> 4;
SELECT IF(id, e, e) + 0, CASE WHEN id > 1 THEN e END + 0, NULLIF(e, 'c') + 0, IF(id > 2, e, '7') + 0 FROM g;
