-- Prepared transactions: who may do what, which locks stand, and what the binary log has.
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1), (2, 2);
SELECT @@xa_detach_on_prepare;
-- A transaction without changes.
XA START 'r';
SELECT * FROM t;
XA PREPARE 'r';
XA END 'r';
XA PREPARE 'r';
XA RECOVER;
XA COMMIT 'r';
XA RECOVER;
-- One with changes belongs to nobody.
XA START 'w', 'bq', 7;
INSERT INTO t VALUES (3, 3);
UPDATE t SET b = 22 WHERE a = 2;
SELECT * FROM t WHERE a = 1 FOR UPDATE;
XA END 'w', 'bq', 7;
XA PREPARE 'w', 'bq', 7;
XA RECOVER;
XA RECOVER CONVERT XID;
SELECT * FROM t;
BEGIN;
XA COMMIT 'w', 'bq', 7;
XA ROLLBACK 'w', 'bq', 7;
COMMIT;
-- on other
SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1;
UPDATE t SET b = 5 WHERE a = 2;
SELECT * FROM t WHERE a = 1 FOR SHARE NOWAIT;
SELECT * FROM t WHERE a = 3 FOR UPDATE SKIP LOCKED;
ALTER TABLE t ADD c INT;
DROP TABLE t;
SELECT * FROM t;
XA START 'w', 'bq', 7;
XA START 'w', 'bq', 8;
XA END 'w', 'bq', 7;
XA ROLLBACK 'w', 'bq', 8;
XA COMMIT 'w', 'bq';
XA COMMIT 'w', 'bq', 7;
SELECT * FROM t;
XA COMMIT 'w', 'bq', 7;
XA ROLLBACK 'w', 'bq', 7;
-- on main
XA START 'x';
DELETE FROM t WHERE a = 3;
UPDATE t SET b = b + 1;
XA END 'x';
XA PREPARE 'x';
XA ROLLBACK 'x';
SELECT * FROM t;
-- The session keeps it.
SET xa_detach_on_prepare = OFF;
XA START 'k';
SET xa_detach_on_prepare = ON;
DELETE FROM t WHERE a = 3;
XA END 'k';
XA PREPARE 'k';
SELECT * FROM t;
SHOW TABLES;
BEGIN;
COMMIT;
ROLLBACK;
XA START 'l';
CREATE TABLE t2 (a INT);
SAVEPOINT s;
XA END 'k';
XA PREPARE 'k';
XA COMMIT 'l';
XA COMMIT 'k' ONE PHASE;
XA RECOVER;
-- on other
XA COMMIT 'k';
XA ROLLBACK 'k';
-- on main
XA COMMIT 'k';
SELECT * FROM t;
-- Temporary tables.
CREATE TEMPORARY TABLE tt (a INT);
XA START 't';
INSERT INTO tt VALUES (1);
XA END 't';
XA PREPARE 't';
XA COMMIT 't';
SELECT * FROM tt;
SET xa_detach_on_prepare = ON;
XA START 't';
SELECT * FROM tt;
INSERT INTO tt VALUES (2);
CREATE TEMPORARY TABLE tt2 (a INT);
DROP TEMPORARY TABLE tt;
INSERT INTO t VALUES (9, 9);
XA END 't';
XA ROLLBACK 't';
SELECT * FROM tt;
-- Error paths.
XA START 'e' JOIN;
XA START 'e' RESUME;
XA START 'e';
XA END 'e' SUSPEND;
XA END 'e' SUSPEND FOR MIGRATE;
XA PREPARE 'e';
XA COMMIT 'e' ONE PHASE;
XA ROLLBACK 'e';
XA END 'e';
XA END 'e';
XA COMMIT 'e';
XA ROLLBACK 'e';
XA PREPARE 'nope';
XA COMMIT 'nope';
XA ROLLBACK 'nope';
XA START X'00ff', 0b101, 0xff;
UPDATE t SET b = 0;
XA END X'00ff', 0b101, 0xff;
XA PREPARE X'00ff', 0b101, 0xff;
XA RECOVER CONVERT XID;
XA COMMIT X'00ff', 0b101, 0xff;
-- FLUSH TABLES WITH READ LOCK keeps decisions out.
XA START 'f';
UPDATE t SET b = 1;
XA END 'f';
XA PREPARE 'f';
-- on other
FLUSH TABLES WITH READ LOCK;
-- on main
SET lock_wait_timeout = 1;
XA COMMIT 'f';
XA RECOVER;
XA START 'g';
XA END 'g';
XA PREPARE 'g';
XA RECOVER;
-- on other
UNLOCK TABLES;
-- on main
XA COMMIT 'f';
XA COMMIT 'g';
SELECT * FROM t;
CREATE USER xa_user;
-- Clean.
DROP USER xa_user;
DROP TABLE t;
