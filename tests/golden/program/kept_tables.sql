-- Functions and triggers that use tables of engines that are not transactional, and temporary ones.
SET GLOBAL log_bin_trust_function_creators = 1;
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2);
CREATE TABLE m (a INT, b VARCHAR(10)) ENGINE = MEMORY;
CREATE TABLE i (a INT PRIMARY KEY) ENGINE = MyISAM;
CREATE TEMPORARY TABLE own (a INT);
CREATE FUNCTION notes(x INT) RETURNS INT BEGIN INSERT INTO m VALUES (x, 'note'); RETURN (SELECT COUNT(*) FROM m); END;
SELECT notes(1);
SELECT notes(id) FROM t;
SELECT * FROM m ORDER BY a, b;
DO notes(4);
SET @n = notes(5);
SELECT @n;
-- hide warnings
BEGIN;
SELECT notes(6);
ROLLBACK;
SELECT COUNT(*) FROM m;
CREATE FUNCTION sum_of_m() RETURNS INT RETURN (SELECT SUM(a) FROM m);
SELECT sum_of_m();
SELECT id, sum_of_m() FROM t;
-- hide warnings
UPDATE t SET v = sum_of_m() WHERE id = 1;
SELECT * FROM t;
CREATE FUNCTION fails(x INT) RETURNS INT BEGIN INSERT INTO m VALUES (x, 'fails'); INSERT INTO i VALUES (x), (x); RETURN 1; END;
-- hide warnings
SELECT fails(7);
SELECT * FROM i;
SELECT * FROM m WHERE b = 'fails';
CREATE FUNCTION handled(x INT) RETURNS INT BEGIN DECLARE CONTINUE HANDLER FOR 1062 SET x = -x; INSERT INTO i VALUES (x + 1), (x), (x + 2); RETURN x; END;
-- hide warnings
SELECT handled(7);
SELECT * FROM i;
DELETE FROM m;
DELETE FROM i;
-- Triggers of tables of one kind that write tables of the other.
CREATE TRIGGER t_insert AFTER INSERT ON t FOR EACH ROW INSERT INTO m VALUES (NEW.id, 'after');
-- hide warnings
INSERT INTO t VALUES (10, 1);
-- hide warnings
INSERT INTO t VALUES (11, 1);
SELECT * FROM m ORDER BY a, b;
-- hide warnings
INSERT INTO t VALUES (12, 1), (1, 1);
SELECT * FROM t;
SELECT * FROM m ORDER BY a, b;
DELETE FROM m;
CREATE TRIGGER m_insert BEFORE INSERT ON m FOR EACH ROW SET NEW.b = CONCAT(NEW.b, '!');
-- hide warnings
INSERT INTO t VALUES (13, 1);
INSERT INTO m VALUES (1, 'x');
SELECT * FROM m ORDER BY a, b;
DROP TRIGGER t_insert;
DROP TRIGGER m_insert;
DELETE FROM m;
CREATE TRIGGER m_insert AFTER INSERT ON m FOR EACH ROW INSERT INTO t VALUES (NEW.a + 100, NEW.a);
-- hide warnings
INSERT INTO m VALUES (1, 'x');
-- hide warnings
INSERT INTO m VALUES (2, 'y');
-- hide warnings
INSERT INTO m VALUES (3, 'x'), (1, 'y'), (4, 'z');
SELECT * FROM m ORDER BY a, b;
SELECT * FROM t;
DROP TRIGGER m_insert;
CREATE TRIGGER i_delete BEFORE DELETE ON i FOR EACH ROW INSERT INTO m VALUES (OLD.a, 'gone');
INSERT INTO i VALUES (1), (2), (3);
DELETE FROM m;
-- hide warnings
DELETE FROM i WHERE a = 2;
SELECT * FROM m ORDER BY a, b;
SELECT * FROM i;
-- A table in use is not written.
CREATE FUNCTION again() RETURNS INT BEGIN INSERT INTO m VALUES (0, 'again'); RETURN 1; END;
SELECT again() FROM m;
INSERT INTO m SELECT again(), 'x';
-- A session's own tables.
CREATE FUNCTION owned(x INT) RETURNS INT BEGIN INSERT INTO own VALUES (x); RETURN (SELECT COUNT(*) FROM own); END;
SELECT owned(1);
SELECT owned(id) FROM t WHERE id < 3;
DO owned(9);
SET @n = owned(10);
SELECT * FROM own;
BEGIN;
SELECT owned(11);
ROLLBACK;
SELECT COUNT(*) FROM own;
CREATE TRIGGER t_insert BEFORE INSERT ON t FOR EACH ROW INSERT INTO own VALUES (NEW.id);
INSERT INTO t VALUES (20, 1), (21, 1);
INSERT INTO t VALUES (22, 1), (20, 1);
SELECT * FROM own WHERE a >= 20;
DROP TEMPORARY TABLE own;
SELECT owned(1);
INSERT INTO t VALUES (30, 1);
CREATE TABLE own (a INT);
SELECT owned(1);
CREATE TEMPORARY TABLE own (a INT);
SELECT owned(1);
SELECT owned(2);
DROP TEMPORARY TABLE own;
SELECT owned(3);
SET GLOBAL log_bin_trust_function_creators = 0;
