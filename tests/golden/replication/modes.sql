-- What a change of gtid_mode waits for, what BINLOG makes of gtid_next, and what is refused while an instance is locked for a backup.
CREATE TABLE t (a INT);
SELECT WAIT_FOR_EXECUTED_GTID_SET('x', 1);
SET GLOBAL enforce_gtid_consistency = ON;
SET GLOBAL gtid_mode = OFF_PERMISSIVE;
SET GLOBAL gtid_mode = ON_PERMISSIVE;
SELECT WAIT_FOR_EXECUTED_GTID_SET('x', 1);
-- on other
SET gtid_next = 'ANONYMOUS';
SET gtid_next = 'AUTOMATIC';
-- on main
SET GLOBAL gtid_mode = ON;
SET GLOBAL gtid_mode = ON_PERMISSIVE;
-- on other
INSERT INTO t VALUES (1);
-- on main
SET GLOBAL gtid_mode = ON;
SET GLOBAL gtid_mode = ON_PERMISSIVE;
-- on other
BEGIN;
INSERT INTO t VALUES (2);
-- on main
SET GLOBAL gtid_mode = ON;
-- on other
ROLLBACK;
SET gtid_next = 'AUTOMATIC';
BEGIN;
INSERT INTO t VALUES (3);
-- on main
SET GLOBAL gtid_mode = ON;
SET GLOBAL gtid_mode = ON_PERMISSIVE;
-- on other
COMMIT;
SET gtid_next = 'AUTOMATIC:golden';
-- on main
SET GLOBAL gtid_mode = OFF_PERMISSIVE;
-- on other
SET gtid_next = 'AUTOMATIC';
-- on main
SET GLOBAL gtid_mode = OFF_PERMISSIVE;
-- on other
SET gtid_next = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaab:1';
-- on main
SET GLOBAL gtid_mode = OFF;
-- on other
CREATE TABLE u (a INT);
SELECT * FROM t FOR UPDATE;
INSERT INTO t VALUES (4);
SET gtid_next = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaab:2';
SELECT * FROM t FOR UPDATE;
COMMIT;
SET gtid_next = 'AUTOMATIC';
-- on main
SET GLOBAL gtid_mode = OFF;
-- A file's description makes the number of what follows unknown.
BEGIN;
BINLOG 'SOgWTg8BAAAAbgAAAHIAAAAAAAQANS42LjMtbTUtZGVidWctbG9nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABI6BZOEzgNAAgAEgAEBAQEEgAAVgAEGggAAAAICAgCAAAAAAVAYI8=';
ROLLBACK;
BINLOG 'SOgWTg8BAAAAbgAAAHIAAAAAAAQANS42LjMtbTUtZGVidWctbG9nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABI6BZOEzgNAAgAEgAEBAQEEgAAVgAEGggAAAAICAgCAAAAAAVAYI8=';
SELECT @@gtid_next;
INSERT INTO t VALUES (5);
SELECT @@gtid_next;
SET gtid_next = 'AUTOMATIC';
SET GLOBAL enforce_gtid_consistency = OFF;
LOCK INSTANCE FOR BACKUP;
PURGE BINARY LOGS BEFORE '2020-01-01';
-- on other
PURGE BINARY LOGS BEFORE '2020-01-01';
-- on main
UNLOCK INSTANCE;
PURGE BINARY LOGS BEFORE '2020-01-01';
TRUNCATE TABLE performance_schema.binary_log_transaction_compression_stats;
SELECT COUNT(*) > 0 FROM information_schema.processlist WHERE processlist.command LIKE '%';
SELECT COUNT(*) FROM information_schema.processlist WHERE PROCESSLIST.command LIKE '%';
SELECT @@binlog_format;
SELECT @@profiling, @@query_prealloc_size;
SELECT @@collation_database;
