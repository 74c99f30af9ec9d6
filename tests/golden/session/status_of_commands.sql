-- Which Com_ counters statements count in.
CREATE TABLE t (id INT PRIMARY KEY, k INT);
INSERT INTO t VALUES (1, 1), (2, 1);
FLUSH STATUS;
SELECT 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
TABLE t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
VALUES ROW(1);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DO 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
(SELECT 1) UNION (SELECT 2);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
WITH q AS (SELECT 1) SELECT * FROM q;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
INSERT INTO t VALUES (3, 3);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
INSERT INTO t SELECT id + 10, k FROM t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
INSERT INTO t TABLE t LIMIT 0;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
REPLACE INTO t VALUES (3, 4);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
REPLACE INTO t SELECT id + 20, k FROM t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
UPDATE t SET k = 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
UPDATE t, (SELECT 1 a) d SET k = 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DELETE FROM t WHERE id = 13;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DELETE t FROM t JOIN (SELECT 12 a) d ON d.a = t.id;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
INSERT INTO t VALUES (3, 3);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SELECT nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SELECT * FROM nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SELEC 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
BEGIN;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
COMMIT;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
START TRANSACTION;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
ROLLBACK;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SAVEPOINT a;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
BEGIN;
SAVEPOINT a;
ROLLBACK TO a;
RELEASE SAVEPOINT a;
ROLLBACK WORK;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
RELEASE SAVEPOINT nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SET @a = 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SET sql_mode = DEFAULT;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SET NAMES utf8mb4;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
USE golden;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SET PASSWORD FOR nosuch = 'x';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
PREPARE p FROM 'SELECT 1';
EXECUTE p;
EXECUTE p;
DEALLOCATE PREPARE p;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
PREPARE p FROM 'SET @a = 2';
EXECUTE p;
DROP PREPARE p;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
EXECUTE nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
PREPARE p FROM 'SELECT nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CREATE TABLE a (a INT);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CREATE TABLE b SELECT 1 a;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CREATE TABLE c LIKE a;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CREATE TEMPORARY TABLE tmp (a INT);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP TEMPORARY TABLE tmp;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
ALTER TABLE a ADD b INT;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CREATE INDEX i ON a (b);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP INDEX i ON a;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
RENAME TABLE a TO a2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
TRUNCATE TABLE a2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP TABLE a2, b, c;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP TABLE nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CREATE VIEW v AS SELECT 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
ALTER VIEW v AS SELECT 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CREATE OR REPLACE VIEW v AS SELECT 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP VIEW v;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CREATE DATABASE golden_2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
ALTER DATABASE golden_2 READ ONLY = 0;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP DATABASE golden_2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CREATE USER golden_u;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
ALTER USER golden_u ACCOUNT LOCK;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
GRANT SELECT ON *.* TO golden_u;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
REVOKE SELECT ON *.* FROM golden_u;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
REVOKE ALL PRIVILEGES, GRANT OPTION FROM golden_u;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CREATE ROLE golden_r;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
GRANT golden_r TO golden_u;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
REVOKE golden_r FROM golden_u;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SET ROLE NONE;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SET DEFAULT ROLE NONE TO golden_u;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
ALTER USER golden_u DEFAULT ROLE NONE;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW GRANTS FOR golden_u;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW CREATE USER golden_u;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
RENAME USER golden_u TO golden_w;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP USER golden_w;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP ROLE golden_r;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
ANALYZE TABLE t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CHECK TABLE t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
OPTIMIZE TABLE t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
REPAIR TABLE t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CHECKSUM TABLE t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
ALTER TABLE t ANALYZE PARTITION ALL;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
FLUSH TABLES;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
FLUSH STATUS;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
FLUSH TABLES t WITH READ LOCK;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
UNLOCK TABLES;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
LOCK TABLES t READ;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
UNLOCK TABLES;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
LOCK INSTANCE FOR BACKUP;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
UNLOCK INSTANCE;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DESCRIBE t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
EXPLAIN t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
EXPLAIN FOR CONNECTION 999999;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
HELP 'nosuch thing';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
KILL 99999999;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
KILL QUERY 99999999;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
HANDLER t OPEN;
HANDLER t READ FIRST;
HANDLER t CLOSE;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
XA START 'x';
XA END 'x';
XA PREPARE 'x';
XA COMMIT 'x';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
XA START 'x';
XA END 'x';
XA ROLLBACK 'x';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
XA RECOVER;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
PURGE BINARY LOGS TO 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
BINLOG '';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
RESET PERSIST;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CALL nosuch();
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP PROCEDURE IF EXISTS nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP FUNCTION IF EXISTS nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP TRIGGER IF EXISTS nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP EVENT IF EXISTS nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
UNINSTALL COMPONENT 'file://nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
UNINSTALL PLUGIN nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CREATE SERVER golden_s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h');
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
ALTER SERVER golden_s OPTIONS (HOST 'g');
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP SERVER golden_s;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
ALTER INSTANCE ROTATE INNODB MASTER KEY;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
LOAD DATA INFILE '/nosuch' INTO TABLE t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'h' FOR CHANNEL 'golden';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CHANGE REPLICATION FILTER REPLICATE_DO_DB = () FOR CHANNEL 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
START REPLICA FOR CHANNEL 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
STOP REPLICA FOR CHANNEL 'golden';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
RESET REPLICA ALL FOR CHANNEL 'golden';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SET RESOURCE GROUP nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP RESOURCE GROUP nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
IMPORT TABLE FROM 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
DROP TABLESPACE nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
CACHE INDEX t IN nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
LOAD INDEX INTO CACHE t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW TABLES;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW TABLE STATUS LIKE 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW COLUMNS FROM t LIKE 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW FIELDS FROM t LIKE 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW CREATE TABLE t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW CREATE DATABASE golden;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW CREATE VIEW nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW CREATE PROCEDURE nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW CREATE FUNCTION nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW CREATE TRIGGER nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW CREATE EVENT nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW GRANTS FOR nosuch;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW VARIABLES LIKE 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW STATUS LIKE 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW WARNINGS;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW ERRORS;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW COUNT(*) WARNINGS;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW COUNT(*) ERRORS;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW ENGINE PERFORMANCE_SCHEMA LOGS;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW CHARSET LIKE 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW COLLATION LIKE 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW REPLICAS;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW REPLICA STATUS FOR CHANNEL 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW RELAYLOG EVENTS FOR CHANNEL 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW PROFILES;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW PROFILE;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
FLUSH STATUS;
SHOW BINLOG EVENTS IN 'nosuch';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Com_|Questions)' AND Value > 0;
