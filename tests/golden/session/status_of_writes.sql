-- What statements that write leave in SHOW SESSION STATUS. Data definition is left out: MySQL keeps its dictionary in tables, and
-- counts what it does there.
CREATE TABLE t (id INT PRIMARY KEY, k INT, u INT, c VARCHAR(20), KEY k (k), UNIQUE KEY u (u));
INSERT INTO t VALUES (1, 1, 11, 'a'), (2, 1, 12, 'b'), (3, 2, 13, 'c'), (4, 2, 14, 'd'), (5, 2, 15, 'e'), (6, 3, NULL, 'f'), (7, 3, NULL, 'g'), (8, 4, 18, 'h'), (9, 5, 19, 'i'), (10, 6, 20, 'j');
CREATE TABLE s (a INT PRIMARY KEY, b INT, t_id INT, KEY t_id (t_id));
INSERT INTO s VALUES (1, 1, 1), (2, 1, 2), (3, 2, 2), (4, 2, NULL);
CREATE TABLE e (x INT PRIMARY KEY, y INT);
CREATE TABLE w (a INT, b INT);
INSERT INTO w VALUES (1, 1), (2, 2), (3, 3);
ANALYZE TABLE t, s, e, w;
CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO a (v) VALUES (1), (2);
FLUSH STATUS;
INSERT INTO w VALUES (4, 4);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
INSERT INTO w VALUES (5, 5), (6, 6);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
INSERT INTO e VALUES (1, 1);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
INSERT INTO e VALUES (1, 1);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
INSERT IGNORE INTO e VALUES (1, 1), (2, 2);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
INSERT INTO e VALUES (1, 1) ON DUPLICATE KEY UPDATE y = y + 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
REPLACE INTO e VALUES (1, 7);
-- differs: the row in the way is deleted before the new one is written
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
REPLACE INTO e VALUES (3, 7);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
REPLACE INTO t VALUES (1, 1, 12, 'x');
-- differs: the row in the way is deleted before the new one is written
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
INSERT INTO e SELECT a + 10, b FROM s;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
INSERT INTO e SELECT x + 100, y FROM e;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
INSERT INTO e SELECT a, b FROM s ON DUPLICATE KEY UPDATE y = b;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
REPLACE INTO e SELECT a, b FROM s;
-- differs: a row that stays as it is is not written
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE t SET c = 'z' WHERE id = 3;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE t SET c = 'z' WHERE id = 3;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE t SET c = 'z' WHERE id = 333;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE t SET k = k + 1 WHERE k = 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE t SET c = 'y' WHERE u = 14;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE w SET b = b + 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE w SET b = b + 1 WHERE a > 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE t SET c = 'v' WHERE id BETWEEN 3 AND 5;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE t SET id = id + 100 WHERE id = 10;
-- differs: rows are read again by their keys once all are found
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE t SET id = id + 200 WHERE id > 5;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE w SET b = 0 ORDER BY a DESC LIMIT 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE t SET c = 'q' ORDER BY id LIMIT 2;
-- differs: rows that an index has in order are written as they are read
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE w JOIN s ON s.a = w.a SET w.b = s.b + 50;
-- differs: rows are read again by their keys once all are found
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
UPDATE w, s SET w.b = 1, s.b = 9 WHERE s.a = w.a;
-- differs: rows are read again by their keys once all are found
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
DELETE FROM w WHERE a = 6;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
DELETE FROM t WHERE id = 4;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
DELETE FROM t WHERE id = 4444;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
DELETE FROM t WHERE k = 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
DELETE FROM t WHERE id BETWEEN 5 AND 250;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
DELETE FROM w ORDER BY a LIMIT 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
DELETE w FROM w JOIN s ON s.a = w.a;
-- differs: rows are read again by their keys once all are found
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
DELETE FROM e;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
DELETE FROM e;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
BEGIN;
INSERT INTO w VALUES (7, 7);
COMMIT;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
BEGIN;
INSERT INTO w VALUES (8, 8);
ROLLBACK;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
BEGIN;
SAVEPOINT a;
INSERT INTO w VALUES (8, 8);
ROLLBACK TO a;
RELEASE SAVEPOINT a;
COMMIT;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
BEGIN;
INSERT INTO w VALUES (8, 8);
SAVEPOINT a;
INSERT INTO w VALUES (9, 9);
ROLLBACK TO SAVEPOINT a;
COMMIT;
-- differs: MySQL commits SAVEPOINT as a statement of the binary log
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SET autocommit = 0;
INSERT INTO w VALUES (7, 7);
INSERT INTO w VALUES (7, 7);
COMMIT;
SET autocommit = 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
INSERT INTO a (v) VALUES (3);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
