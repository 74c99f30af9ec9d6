-- Procedures and functions that a transaction uses stay as they are until it ends.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2);
CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1;
CREATE FUNCTION g() RETURNS INT DETERMINISTIC RETURN f() + 1;
CREATE FUNCTION unused() RETURNS INT DETERMINISTIC RETURN 1;
CREATE PROCEDURE p() BEGIN SELECT f(); END;
CREATE PROCEDURE q() BEGIN END;
CREATE VIEW v AS SELECT f() AS x;
CREATE TRIGGER t_insert BEFORE INSERT ON t FOR EACH ROW SET NEW.v = f();
-- on other
SET lock_wait_timeout = 1;
-- on main
BEGIN;
SELECT g();
SELECT object_type, object_name, lock_type, lock_duration, lock_status FROM performance_schema.metadata_locks
  WHERE object_schema = 'golden' AND object_type IN ('FUNCTION', 'PROCEDURE') ORDER BY 1, 2;
-- on other
DROP FUNCTION f;
ALTER FUNCTION g COMMENT 'x';
DROP FUNCTION unused;
CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 2;
-- on main
COMMIT;
-- on other
ALTER FUNCTION f COMMENT 'x';
-- on main
BEGIN;
INSERT INTO t VALUES (3, 3);
-- on other
DROP FUNCTION f;
-- on main
ROLLBACK;
BEGIN;
UPDATE t SET v = 5 WHERE id = 1;
-- on other
ALTER FUNCTION f COMMENT 'y';
-- on main
ROLLBACK;
BEGIN;
SELECT * FROM v;
-- on other
ALTER FUNCTION f COMMENT 'z';
-- on main
COMMIT;
BEGIN;
SET @x = f();
-- on other
ALTER FUNCTION f COMMENT 'z';
-- on main
COMMIT;
BEGIN;
DO f();
-- on other
ALTER FUNCTION f COMMENT 'z';
-- on main
COMMIT;
BEGIN;
CALL p();
SELECT object_type, object_name, lock_type, lock_duration, lock_status FROM performance_schema.metadata_locks
  WHERE object_schema = 'golden' AND object_type IN ('FUNCTION', 'PROCEDURE') ORDER BY 1, 2;
-- on other
DROP PROCEDURE p;
ALTER FUNCTION f COMMENT 'z';
-- on main
COMMIT;
BEGIN;
CALL q();
-- on other
ALTER PROCEDURE q COMMENT 'z';
-- on main
COMMIT;
-- on other
ALTER PROCEDURE q COMMENT 'z';
-- on main
CALL q();
SELECT f();
-- on other
ALTER PROCEDURE q COMMENT 'a';
ALTER FUNCTION f COMMENT 'a';
-- on main
PREPARE s FROM 'SELECT f()';
-- on other
ALTER FUNCTION f COMMENT 'b';
-- on main
BEGIN;
EXECUTE s;
-- on other
ALTER FUNCTION f COMMENT 'c';
-- on main
COMMIT;
DROP FUNCTION f;
EXECUTE s;
