-- Joins, grouping and ordering of a few rows
CREATE TABLE a (id INT PRIMARY KEY, x INT, name VARCHAR(10));
CREATE TABLE b (id INT PRIMARY KEY, a_id INT, y DECIMAL(6,2), KEY (a_id));
INSERT INTO a VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, 'three'), (4, NULL, NULL);
INSERT INTO b VALUES (1, 1, 1.5), (2, 1, 2.25), (3, 2, NULL), (4, 9, 9);
SELECT a.id, name, y FROM a JOIN b ON a.id = b.a_id ORDER BY b.id;
SELECT a.id, b.id FROM a LEFT JOIN b ON a.id = b.a_id ORDER BY 1, 2;
SELECT a.id, b.id FROM a RIGHT JOIN b ON a.id = b.a_id ORDER BY 2, 1;
SELECT a_id, COUNT(*) AS n, SUM(y), MAX(y) FROM b GROUP BY a_id HAVING n > 0 ORDER BY a_id;
SELECT DISTINCT name, x FROM a ORDER BY 2;
-- sort
SELECT id FROM a UNION SELECT id + 2 FROM a;
SELECT * FROM a WHERE id IN (SELECT a_id FROM b) ORDER BY id;
SELECT * FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.a_id = a.id) ORDER BY id;
SELECT nothing FROM a;
SELECT id FROM a, b;
SELECT * FROM nowhere;
SELEKT 1;
