-- ENUM and SET stay what they are in a recursive common table expression: they sort and count by their numbers.
CREATE TABLE t (id INT PRIMARY KEY, st SET('z', 'y', 'x'), e ENUM('z', 'y', 'x'));
INSERT INTO t VALUES (1, 3, 3), (2, 5, 2), (3, NULL, NULL), (4, 0, 1);
WITH RECURSIVE r AS (SELECT id, st y FROM t UNION ALL SELECT id + 4, y FROM r WHERE id < 4) SELECT * FROM r ORDER BY y, id;
WITH RECURSIVE r AS (SELECT 1 n, e, st FROM t UNION ALL SELECT n + 1, e, st FROM r WHERE n < 2) SELECT *, e + 0, st + 0 FROM r ORDER BY e, n;
WITH RECURSIVE r AS (SELECT 1 n, e, st, e + 0 f FROM t UNION ALL SELECT n + 1, e, st, e + 0 FROM r WHERE n < 2) SELECT * FROM r ORDER BY st, n;
WITH RECURSIVE r AS (SELECT e, st FROM t UNION SELECT e, st FROM r) SELECT * FROM r ORDER BY e;
WITH RECURSIVE r AS (SELECT 1 n, e FROM t WHERE id = 1 UNION ALL SELECT n + 1, ELT(n, 'y', 'z') FROM r WHERE n < 3) SELECT n, e, e + 0 FROM r ORDER BY e;
WITH RECURSIVE r AS (SELECT 1 n, e FROM t WHERE id = 1 UNION ALL SELECT n + 1, 'x' FROM r WHERE n < 3) SELECT MAX(e), MIN(e), COUNT(DISTINCT e), GROUP_CONCAT(e) FROM r;
CREATE TABLE c AS WITH RECURSIVE r AS (SELECT 1 n, e, st FROM t UNION ALL SELECT n + 1, e, st FROM r WHERE n < 2) SELECT e, st FROM r;
SHOW CREATE TABLE c;
SELECT e + 0, st + 0 FROM c ORDER BY 1, 2;
DROP TABLE t, c;
