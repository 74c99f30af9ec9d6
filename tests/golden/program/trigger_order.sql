-- UPDATE and DELETE of several tables: rows fire their triggers one by one, table by table.
CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(40));
CREATE TABLE a (id INT PRIMARY KEY, v INT);
CREATE TABLE b (id INT PRIMARY KEY, w INT NOT NULL, g INT AS (w + 1));
INSERT INTO a VALUES (1, 1), (2, 2);
INSERT INTO b (id, w) VALUES (1, 10), (2, 20);
CREATE TRIGGER a_before BEFORE UPDATE ON a FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('before a ', OLD.id, ' ', OLD.v, ' ', NEW.v));
CREATE TRIGGER a_after AFTER UPDATE ON a FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('after a ', OLD.id));
CREATE TRIGGER b_before BEFORE UPDATE ON b FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT_WS(' ', 'before b', OLD.id, OLD.g, IFNULL(NEW.w, 'NULL'), NEW.g));
CREATE TRIGGER b_after AFTER UPDATE ON b FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('after b ', OLD.id, ' ', NEW.g));
UPDATE a, b SET a.v = a.v + 1, b.w = b.w + 1 WHERE a.id = b.id;
SELECT what FROM log ORDER BY n;
DELETE FROM log;
UPDATE a, b SET b.w = a.v + 100, a.v = 5 WHERE a.id = b.id;
SELECT what FROM log ORDER BY n;
DELETE FROM log;
UPDATE a LEFT JOIN b ON a.id = b.id + 1 SET a.v = 7, b.w = 51;
SELECT what FROM log ORDER BY n;
SELECT * FROM a;
SELECT * FROM b;
DELETE FROM log;
-- What is NULL and cannot be.
UPDATE a, b SET a.v = 8, b.w = NULL WHERE a.id = b.id AND a.id = 1;
SELECT what FROM log ORDER BY n;
DELETE FROM log;
UPDATE IGNORE a, b SET a.v = 9, b.w = NULL WHERE a.id = b.id AND a.id = 1;
-- differs: what a trigger sees of a generated column is computed of what takes the place of NULL
SELECT what FROM log ORDER BY n;
SELECT * FROM b;
DELETE FROM log;
DROP TRIGGER b_before;
CREATE TRIGGER b_before BEFORE UPDATE ON b FOR EACH ROW SET NEW.w = IFNULL(NEW.w, 99) * 2;
UPDATE a, b SET a.v = 10, b.w = NULL WHERE a.id = b.id;
SELECT * FROM b;
UPDATE a, b SET a.v = 11, b.w = 4 WHERE a.id = b.id AND b.id = 2;
SELECT * FROM b;
DELETE FROM log;
-- A trigger that refuses a row.
DROP TRIGGER b_before;
CREATE TRIGGER b_before BEFORE UPDATE ON b FOR EACH ROW BEGIN IF NEW.id = 2 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF; END;
UPDATE a, b SET a.v = 12, b.w = 12 WHERE a.id = b.id;
SELECT what FROM log ORDER BY n;
SELECT a.v, b.w FROM a JOIN b USING (id);
CREATE TRIGGER a_delete BEFORE DELETE ON a FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('before a ', OLD.id));
CREATE TRIGGER a_deleted AFTER DELETE ON a FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('after a ', OLD.id));
CREATE TRIGGER b_delete BEFORE DELETE ON b FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('before b ', OLD.id));
CREATE TRIGGER b_deleted AFTER DELETE ON b FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('after b ', OLD.id));
DELETE a, b FROM a JOIN b ON a.id = b.id;
SELECT what FROM log ORDER BY n;
