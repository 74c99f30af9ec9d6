-- UPDATE of several tables
CREATE TABLE a (id INT PRIMARY KEY, x INT, name VARCHAR(10));
CREATE TABLE b (id INT PRIMARY KEY, a_id INT, y INT, KEY (a_id));
INSERT INTO a VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, 'three'), (4, NULL, NULL);
INSERT INTO b VALUES (1, 1, 100), (2, 1, 101), (3, 2, 200), (4, 9, 900);
UPDATE a, b SET a.x = a.x + b.y WHERE a.id = b.a_id;
SELECT * FROM a;
UPDATE a JOIN b ON a.id = b.a_id SET a.x = 0, b.y = b.y + 1;
SELECT * FROM a;
SELECT * FROM b;
UPDATE a LEFT JOIN b ON a.id = b.a_id SET a.name = 'none', b.y = 7 WHERE b.id IS NULL;
SELECT * FROM a;
SELECT * FROM b;
UPDATE a AS t, b AS u SET t.x = u.y, u.y = t.x WHERE t.id = u.a_id AND t.id = 2;
SELECT * FROM a WHERE id = 2;
SELECT * FROM b WHERE a_id = 2;
UPDATE a, b SET x = 5, y = 6 WHERE a.id = 1 AND b.a_id = a.id;
SELECT * FROM a JOIN b ON a.id = b.a_id ORDER BY b.id;
UPDATE a, b SET x = 5, y = 6 WHERE a.id = 1 AND b.a_id = a.id;
UPDATE a, b SET a.id = b.id + 100 WHERE a.id = b.a_id AND b.id = 3;
-- sort
SELECT * FROM a;
UPDATE a, (SELECT MAX(y) m FROM b) d SET a.x = d.m;
-- sort
SELECT * FROM a;
UPDATE a, (SELECT MAX(y) m FROM b) d SET d.m = 1;
UPDATE a, b SET a.x = 1 ORDER BY a.id;
UPDATE a, b SET a.x = 1 LIMIT 1;
UPDATE a, b SET c.x = 1;
UPDATE a, b SET id = 1;
UPDATE a, b SET a.nothing = 1;
UPDATE a, nothing SET a.x = 1;
UPDATE a, a SET a.x = 1;
UPDATE a JOIN a AS a2 ON a2.id = a.id + 1 SET a.x = a2.x, a2.x = 77;
-- sort
SELECT * FROM a;
UPDATE a, b SET a.x = (SELECT COUNT(*) FROM a AS c);
UPDATE a, b SET a.id = 1 WHERE a.id = 3;
UPDATE IGNORE a, b SET a.id = 1 WHERE a.id = 3;
-- sort
SELECT * FROM a;
UPDATE a NATURAL JOIN b SET x = 0;
UPDATE a SET x = x + 1 ORDER BY id DESC LIMIT 2;
-- sort
SELECT * FROM a;
UPDATE a SET x = 'abc' WHERE id = 1;
UPDATE a, b SET x = 'abc' WHERE a.id = 1;
UPDATE IGNORE a, b SET x = 'abc' WHERE a.id = 1;
WITH m AS (SELECT a_id, SUM(y) s FROM b GROUP BY a_id) UPDATE a, m SET a.x = m.s WHERE a.id = m.a_id;
-- sort
SELECT * FROM a;
WITH m AS (SELECT a_id FROM b) UPDATE a SET x = -1 WHERE id IN (SELECT a_id FROM m);
-- sort
SELECT * FROM a;
CREATE TABLE s (id INT PRIMARY KEY, n INT, t TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP);
INSERT INTO s VALUES (1, 1, NULL), (2, 2, NULL);
UPDATE s, b SET n = 1;
SELECT id, n, t IS NULL FROM s;
UPDATE s, b SET n = DEFAULT WHERE s.id = 1;
SELECT id, n FROM s;
UPDATE s SET n = 3, n = n + 1 WHERE id = 2;
SELECT id, n FROM s;
UPDATE s, b SET s.n = 5, s.n = s.n + 1 WHERE s.id = 2;
SELECT id, n FROM s;
CREATE TABLE u (a INT, b INT, UNIQUE (a));
INSERT INTO u VALUES (1, 1), (2, 2), (3, 3);
UPDATE u JOIN b ON u.b = b.id SET u.a = u.a + 1;
UPDATE u JOIN b ON u.b = b.id SET u.a = u.a + 10;
-- sort
SELECT * FROM u;
UPDATE u SET a = a + 1;
UPDATE u SET a = a + 1 ORDER BY a DESC;
SELECT * FROM u ORDER BY a;
