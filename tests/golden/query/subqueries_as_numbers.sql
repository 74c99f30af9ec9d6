-- The text of a scalar subquery is read as a number without a warning, also where rows change.
CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(20));
INSERT INTO t VALUES (1, 'x'), (2, '2y');
SELECT (SELECT 'x' FROM t LIMIT 1) + 0, (SELECT MAX(c) FROM t) = 0, (SELECT c FROM t WHERE id = 2) > 1, (SELECT c FROM t WHERE id = 2) | 0;
SELECT (SELECT GROUP_CONCAT(c) FROM t) * 1, ABS((SELECT MIN(c) FROM t)), ROUND((SELECT MIN(c) FROM t));
SELECT id FROM t WHERE (SELECT MAX(c) FROM t) > -2.50;
SELECT id FROM t WHERE id = (SELECT c FROM t WHERE id = 2);
SELECT id FROM t o WHERE (SELECT c FROM t i WHERE i.id = o.id) = 1;
SELECT (SELECT c FROM t i WHERE i.id = o.id) + 1 FROM t o;
SELECT SUM((SELECT c FROM t i WHERE i.id = o.id)) FROM t o;
SELECT IF((SELECT MAX(c) FROM t), 1, 0), NOT (SELECT MAX(c) FROM t), (SELECT MAX(c) FROM t) AND 1;
UPDATE t SET id = id WHERE (SELECT MAX(c) FROM (SELECT * FROM t) q) > 1;
SELECT d.ag + 0 FROM (SELECT MAX(c) ag FROM t) d;
SELECT CAST((SELECT MAX(c) FROM t) AS SIGNED);
