-- What is resolved and read first: the select list and WHERE before ON, the left of INTERSECT and EXCEPT before the right, which is not read for no row.
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(9) COLLATE utf8mb4_general_ci, b VARCHAR(9) COLLATE utf8mb4_0900_ai_ci);
INSERT INTO t VALUES (1, 'x', ''), (2, 'y', 'z');
SELECT none FROM t JOIN t s ON t.a = s.b;
SELECT t.id FROM t JOIN t s ON t.a = s.b WHERE none = 1;
SELECT t.id FROM t LEFT JOIN t s ON t.a = s.b WHERE t.a BETWEEN s.b AND 'x';
SELECT t.id FROM t LEFT JOIN t s ON t.a = s.b ORDER BY none;
SELECT t.id FROM t JOIN t s ON none = 1 JOIN t r ON t.a = s.b;
SELECT t.id FROM t JOIN t s ON t.a = s.b JOIN t r ON none = 1;
SELECT t.id FROM t JOIN t s ON t.a IN (SELECT none FROM t);
SELECT none FROM t JOIN t s ON t.a IN (SELECT neither FROM t);
SELECT t.id FROM t JOIN t s ON SUM(t.id) = 1;
SELECT * FROM (SELECT none FROM t JOIN t s ON t.a = s.b) d;
UPDATE t JOIN t s ON t.a = s.b SET t.none = 1;
UPDATE t JOIN t s ON t.a = s.b SET t.a = 1;
DELETE t FROM t JOIN t s ON t.a = s.b WHERE none = 1;
DELETE t FROM t JOIN t s ON t.a = s.b;
SELECT id FROM t WHERE id > 2 INTERSECT SELECT id FROM t WHERE REGEXP_LIKE('abc', b);
SELECT id FROM t WHERE id > 2 INTERSECT ALL SELECT id FROM t WHERE b;
SELECT id FROM t WHERE id > 2 EXCEPT SELECT id FROM t WHERE b + 1;
SELECT id FROM t WHERE id < 2 INTERSECT SELECT id FROM t WHERE b;
SELECT id FROM t WHERE id < 2 EXCEPT SELECT id FROM t WHERE b;
-- sort
SELECT id FROM t INTERSECT SELECT id FROM t;
-- sort
SELECT id FROM t UNION ALL SELECT id FROM t EXCEPT ALL SELECT id FROM t WHERE id = 1;
SELECT id, (SELECT COUNT(*) FROM (SELECT s.id FROM t s WHERE s.id > t.id INTERSECT SELECT 2) d) FROM t ORDER BY id;
SELECT id, (SELECT COUNT(*) FROM (SELECT s.id FROM t s WHERE s.id >= t.id EXCEPT SELECT 1) d) FROM t ORDER BY id;
-- Times are no members of a SET.
CREATE TABLE s (t TIME(2) NOT NULL, d DATE, s SET('a','b','c'));
INSERT INTO s VALUES ('00:00:00', '2020-01-01', 'a');
ALTER TABLE s MODIFY t SET('a','b','c');
ALTER TABLE s MODIFY d SET('a','b','c');
INSERT INTO s (t, s) SELECT t, t FROM s;
INSERT INTO s (t, s) VALUES (1, TIME'00:00:00');
INSERT IGNORE INTO s (t, s) VALUES (2, TIME'00:00:00');
SELECT t, s, s + 0 FROM s ORDER BY t;
