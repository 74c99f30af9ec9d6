-- INSERT, REPLACE, UPDATE and DELETE in their forms: counts, info, ids, warnings, what is refused
CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, a INT UNIQUE, b VARCHAR(10) DEFAULT 'dd', n INT NOT NULL DEFAULT 1, g INT AS (n * 2), KEY (b));
INSERT INTO c VALUES (1, 10, 'x', 5, DEFAULT);
INSERT INTO c VALUES (2, 20, 'y', 6, 12);
INSERT INTO c (a) VALUES (20), (30), (40);
INSERT INTO c (a, b) VALUES (50, DEFAULT), (60, NULL);
INSERT INTO c () VALUES ();
INSERT INTO c VALUES ();
INSERT INTO c SET a = 70, b = CONCAT('z', a), n = n + 1;
INSERT c (a) VALUE (80);
-- differs: another value
SELECT * FROM c ORDER BY id;
SELECT LAST_INSERT_ID(), ROW_COUNT();
INSERT INTO c (id, a) VALUES (1, 99);
INSERT INTO c (a) VALUES (10);
INSERT IGNORE INTO c (a) VALUES (10), (90), (90);
INSERT INTO c (a, n) VALUES (10, 1), (11, 2) ON DUPLICATE KEY UPDATE n = n + 10;
-- differs: what OK says
INSERT INTO c (a, n) VALUES (10, 1) ON DUPLICATE KEY UPDATE a = a;
INSERT INTO c (a, n) VALUES (10, 7) AS new ON DUPLICATE KEY UPDATE n = new.n + c.n, b = 'upd';
INSERT INTO c (a, n) VALUES (10, 7) AS new (x, y) ON DUPLICATE KEY UPDATE n = y;
INSERT INTO c (a, n) VALUES (10, 3) ON DUPLICATE KEY UPDATE n = VALUES(n) * 2, id = LAST_INSERT_ID(id);
SELECT LAST_INSERT_ID();
INSERT INTO c (a) SELECT a + 1000 FROM c WHERE a IS NOT NULL ORDER BY id LIMIT 2;
INSERT INTO c (a, n) SELECT a, n FROM c AS s WHERE a = 10 ON DUPLICATE KEY UPDATE n = s.n + 1;
INSERT INTO c (a, a) VALUES (1, 2);
INSERT INTO c (nosuch) VALUES (1);
INSERT INTO c (a, b) VALUES (1);
INSERT INTO c VALUES (1, 2);
INSERT INTO c (a) VALUES (1), (2, 3);
INSERT INTO c (n) VALUES (NULL);
INSERT INTO c (n) VALUES (NULL), (NULL);
INSERT INTO c (b) VALUES ('12345678901');
INSERT INTO c (a) VALUES ('abc');
INSERT INTO c (a) VALUES (nosuch);
INSERT INTO c (a) VALUES (b);
INSERT INTO c (g) VALUES (1);
INSERT INTO nosuch VALUES (1);
INSERT INTO c (a) SELECT 1, 2;
INSERT INTO c (id) VALUES (-5), (0), (100);
INSERT INTO c (a) VALUES (4711);
SELECT id FROM c WHERE a = 4711 OR id < 0 ORDER BY id;
REPLACE INTO c (id, a) VALUES (1, 10);
REPLACE INTO c (id, a) VALUES (1, 20);
REPLACE INTO c (a, b) VALUES (500, 'new'), (30, 'rep');
REPLACE c SET a = 500, b = 'set';
REPLACE INTO c (a) SELECT 500;
SELECT id, a, b, n, g FROM c WHERE a IN (10, 20, 30, 500) ORDER BY id;
UPDATE c SET n = 100 WHERE a = 20;
UPDATE c SET n = 100 WHERE a = 20;
UPDATE c SET n = n + 1, b = n WHERE a = 20;
SELECT n, b FROM c WHERE a = 20;
UPDATE c SET a = 30 WHERE a = 20;
UPDATE IGNORE c SET a = 30 WHERE a IN (20, 40);
UPDATE c SET n = NULL WHERE a = 20;
UPDATE c SET n = DEFAULT, b = DEFAULT(b) WHERE a = 20;
UPDATE c SET b = 'too long for it' WHERE a = 20;
UPDATE c SET nosuch = 1;
UPDATE c SET a = 1 WHERE nosuch = 1;
UPDATE nosuch SET a = 1;
UPDATE c SET g = 1;
UPDATE c SET a = a + 1 ORDER BY a DESC;
UPDATE c SET b = 'l' ORDER BY id LIMIT 2;
UPDATE c SET b = 'l' LIMIT 0;
UPDATE c AS x SET x.b = 'al' WHERE x.id = 2;
UPDATE c AS x SET c.b = 'al' WHERE x.id = 2;
UPDATE c SET n = (SELECT MAX(n) FROM c);
UPDATE c SET n = (SELECT m FROM (SELECT MAX(n) AS m FROM c) d) WHERE id = 2;
UPDATE c, (SELECT 2 AS i) d SET c.b = 'multi' WHERE c.id = d.i;
UPDATE c JOIN c AS o ON o.id = c.id + 1 SET c.b = 'join' WHERE c.id = 2;
UPDATE c, c AS o SET c.n = 1 ORDER BY c.id;
SELECT id, a, b, n, g FROM c ORDER BY id LIMIT 6;
DELETE FROM c WHERE a = 31;
DELETE FROM c WHERE nosuch = 1;
DELETE FROM nosuch;
DELETE FROM c ORDER BY id DESC LIMIT 1;
DELETE x FROM c AS x WHERE x.id = 3;
DELETE FROM x USING c AS x WHERE x.id = 4;
DELETE c FROM c JOIN (SELECT 5 AS i) d ON c.id = d.i;
DELETE FROM c WHERE id IN (SELECT id FROM c);
DELETE FROM c AS y WHERE y.id = 6;
-- differs: error 1109
DELETE IGNORE QUICK FROM c WHERE id = 7;
-- differs: another value
SELECT COUNT(*) FROM c;
-- differs: what OK says
DELETE FROM c;
INSERT INTO c (a) VALUES (1);
SELECT id > 100 FROM c;
TRUNCATE TABLE c;
INSERT INTO c (a) VALUES (1);
SELECT id FROM c;
-- differs: error 1231
SET insert_id = 50;
-- differs: what OK says
INSERT INTO c (a) VALUES (2);
-- differs: another value
SELECT id FROM c ORDER BY id;
SET auto_increment_increment = 10, auto_increment_offset = 3;
-- differs: what OK says
INSERT INTO c (a) VALUES (3), (4);
-- differs: another value
SELECT id, a FROM c ORDER BY id;
SET auto_increment_increment = DEFAULT, auto_increment_offset = DEFAULT;
-- differs: error 1231
SET sql_safe_updates = 1;
-- differs: no error 1175
UPDATE c SET n = 1;
-- differs: no error 1175
DELETE FROM c WHERE n = 1;
-- differs: what OK says
UPDATE c SET n = 1 WHERE id = 1;
-- differs: what OK says
UPDATE c SET n = 2 LIMIT 1;
SET sql_safe_updates = 0;
SET sql_select_limit = 1;
-- differs: another value
SELECT id FROM c ORDER BY id;
SET sql_select_limit = DEFAULT;
CREATE TABLE p (id INT PRIMARY KEY, v INT CHECK (v < 10));
CREATE TABLE k (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE SET NULL);
INSERT INTO p VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO k VALUES (1, 1), (2, 2), (3, NULL), (4, 2);
INSERT INTO k VALUES (5, 9);
INSERT IGNORE INTO k VALUES (5, 9), (6, 3);
INSERT INTO p VALUES (4, 10);
INSERT IGNORE INTO p VALUES (4, 10), (5, 5);
UPDATE p SET v = v + 8;
UPDATE IGNORE p SET v = v + 6;
DELETE FROM p WHERE id = 1;
UPDATE p SET id = 20 WHERE id = 2;
REPLACE INTO p VALUES (3, 4);
SELECT * FROM p ORDER BY id;
-- differs: another value
SELECT * FROM k ORDER BY id;
DROP TABLE p;
TRUNCATE p;
SET foreign_key_checks = 0;
INSERT INTO k VALUES (9, 99);
SET foreign_key_checks = 1;
DROP TABLE k, p;
