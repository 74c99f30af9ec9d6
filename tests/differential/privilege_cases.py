"""What the matrix of privileges is made of: statements by kind, and levels, which are what an account was granted.

A line of STATEMENTS is `kind | statement | what root undoes when it was allowed`; `@` as undo: the session begins anew. `{sys}`, `{plain}` and
`{root}` stand for the ids of connections of these accounts."""

OBJECTS = """
SET SESSION foreign_key_checks = 0
DROP DATABASE IF EXISTS p1
DROP DATABASE IF EXISTS p2
DROP DATABASE IF EXISTS p3
DROP DATABASE IF EXISTS pq
DROP USER IF EXISTS m, plain, sys, other, other2, boss, nobody
DROP ROLE IF EXISTS r1, r2, rs, rnew
CREATE DATABASE p1
CREATE DATABASE p2
CREATE DATABASE p3
CREATE USER m
CREATE USER plain
CREATE USER sys
CREATE USER other
CREATE USER boss
GRANT ALL ON *.* TO boss WITH GRANT OPTION
GRANT SYSTEM_USER ON *.* TO sys
CREATE ROLE r1, r2, rs
GRANT SELECT ON p1.* TO r1
GRANT SYSTEM_USER ON *.* TO rs
CREATE TABLE p1.t (a INT PRIMARY KEY, b INT, c INT, KEY kb (b))
CREATE TABLE p1.u (a INT PRIMARY KEY, b INT)
CREATE TABLE p1.parent (id INT PRIMARY KEY, n INT, UNIQUE KEY (n))
CREATE TABLE p1.child (pid INT, KEY kp (pid), CONSTRAINT fkc FOREIGN KEY (pid) REFERENCES p1.parent (id))
CREATE TABLE p2.t (a INT PRIMARY KEY, b INT, c INT)
CREATE VIEW p1.v AS SELECT a, b FROM p1.t
CREATE SQL SECURITY INVOKER VIEW p1.vi AS SELECT a, b FROM p1.t
CREATE DEFINER = sys VIEW p1.vs AS SELECT a, b FROM p1.t
CREATE DEFINER = plain VIEW p1.vp AS SELECT a, b FROM p1.t
CREATE DEFINER = m VIEW p1.vm AS SELECT a, b FROM p1.t
INSERT INTO p1.t VALUES (1, 1, 1), (2, 2, 2)
INSERT INTO p1.u VALUES (1, 1)
INSERT INTO p2.t VALUES (1, 1, 1)
INSERT INTO p1.parent VALUES (1, 1)
"""

REFILL = "REPLACE INTO p1.t VALUES (1, 1, 1), (2, 2, 2); DELETE FROM p1.t WHERE a > 2"

STATEMENTS = """
select | SELECT a FROM p1.t
select | SELECT * FROM p1.t
select | SELECT b FROM p1.t WHERE a = 1
select | SELECT COUNT(*) FROM p1.t
select | SELECT 1 FROM p1.t
select | SELECT t.a FROM p1.t JOIN p1.u USING (a)
select | SELECT (SELECT b FROM p1.t LIMIT 1)
select | SELECT a FROM p1.t WHERE a IN (SELECT a FROM p2.t)
select | WITH w AS (SELECT a FROM p1.t) SELECT * FROM w
select | SELECT a FROM p1.t UNION SELECT a FROM p2.t
select | TABLE p1.t
select | SELECT a FROM p1.v
select | SELECT * FROM p1.vi
select | SELECT a FROM p1.vs
select | SELECT a FROM p1.vm
select missing | SELECT zz FROM p1.t
select missing | SELECT a FROM p1.missing
select missing | SELECT a FROM nodb.t
select missing | SELECT a FROM p1.t, p1.missing
select missing | SELECT a FROM p1.missing, p1.t
select missing | SELECT zz FROM p1.v
select lock | SELECT a FROM p1.t FOR UPDATE
select lock | SELECT a FROM p1.t FOR SHARE
select lock | SELECT a FROM p1.v FOR UPDATE
select file | SELECT 1 INTO OUTFILE '/nowhere/x'
select file | SELECT LOAD_FILE('/nowhere/x')
insert | INSERT INTO p1.t VALUES (3, 3, 3) | REFILL
insert | INSERT INTO p1.t (a) VALUES (3) | REFILL
insert | INSERT INTO p1.t (a, b) VALUES (3, 3) | REFILL
insert | INSERT INTO p1.t SET a = 3 | REFILL
insert | INSERT INTO p1.t (a) SELECT a + 10 FROM p1.u | REFILL
insert | INSERT INTO p1.t (a) VALUES (1) ON DUPLICATE KEY UPDATE b = 1
insert | INSERT INTO p1.t (a) VALUES (1) ON DUPLICATE KEY UPDATE b = b
insert | INSERT IGNORE INTO p1.t (a) VALUES (1)
insert | REPLACE INTO p1.t (a) VALUES (1) | REFILL
insert | INSERT INTO p1.v (a) VALUES (3) | REFILL
insert | INSERT INTO p1.vi (a) VALUES (3) | REFILL
insert missing | INSERT INTO p1.missing VALUES (1)
insert missing | INSERT INTO p1.t (zz) VALUES (1)
insert missing | INSERT INTO p1.t VALUES (1)
insert missing | INSERT INTO nodb.t VALUES (1)
update | UPDATE p1.t SET b = 1
update | UPDATE p1.t SET b = b WHERE a = 1
update | UPDATE p1.t SET a = 1 WHERE a = 1
update | UPDATE p1.t, p1.u SET t.b = 1 WHERE t.a = u.a
update | UPDATE p1.t, p1.u SET t.b = u.b, u.b = 1 WHERE t.a = u.a
update | UPDATE p1.v SET b = 1
update | UPDATE p1.vi SET b = 1 WHERE a = 1
update missing | UPDATE p1.missing SET a = 1
update missing | UPDATE p1.t SET zz = 1
update missing | UPDATE nodb.t SET a = 1
delete | DELETE FROM p1.t WHERE a = 77
delete | DELETE FROM p1.t LIMIT 0
delete | DELETE p1.t FROM p1.t JOIN p1.u USING (a) WHERE u.a = 77
delete | DELETE FROM p1.v WHERE a = 77
delete missing | DELETE FROM p1.missing
delete missing | DELETE FROM p1.t WHERE zz = 1
do | DO 1
do | DO (SELECT a FROM p1.t LIMIT 1)
load | LOAD DATA INFILE '/nowhere/x' INTO TABLE p1.t
explain | EXPLAIN SELECT a FROM p1.t
explain | EXPLAIN SELECT a FROM p1.v
explain | EXPLAIN SELECT a FROM p1.vi
explain | EXPLAIN SELECT a FROM p1.vs
explain | EXPLAIN INSERT INTO p1.t (a) VALUES (9)
explain | EXPLAIN UPDATE p1.t SET b = 1
explain | EXPLAIN DELETE FROM p1.t
explain | EXPLAIN UPDATE p1.v SET b = 1
explain | EXPLAIN FORMAT=JSON SELECT a FROM p1.v
explain | EXPLAIN ANALYZE SELECT a FROM p1.t
explain | EXPLAIN SELECT a FROM p1.missing
explain connection | EXPLAIN FOR CONNECTION {plain}
explain connection | EXPLAIN FOR CONNECTION {root}
explain connection | EXPLAIN FOR CONNECTION 999999
describe | DESCRIBE p1.t
describe | DESCRIBE p1.v
describe | DESCRIBE p1.missing
describe | DESCRIBE nodb.t
handler | HANDLER p1.t OPEN AS h | @
handler | HANDLER p1.missing OPEN AS h
checksum | CHECKSUM TABLE p1.t
lock tables | LOCK TABLES p1.t READ | @
lock tables | LOCK TABLES p1.t WRITE | @
lock tables | LOCK TABLES p1.v READ | @
lock tables | LOCK TABLES p1.t READ, p2.t READ | @
lock tables | LOCK TABLES p1.missing READ
create table | CREATE TABLE p1.n (a INT) | DROP TABLE p1.n
create table | CREATE TABLE p1.t (a INT)
create table | CREATE TABLE IF NOT EXISTS p1.t (a INT)
create table | CREATE TABLE nodb.n (a INT)
create table | CREATE TABLE p1.n LIKE p1.t | DROP TABLE p1.n
create table | CREATE TABLE p1.n LIKE p2.t | DROP TABLE p1.n
create table | CREATE TABLE p2.n LIKE p1.t | DROP TABLE p2.n
create table | CREATE TABLE p1.n LIKE p1.missing
create table | CREATE TABLE p1.n AS SELECT 1 x | DROP TABLE p1.n
create table | CREATE TABLE p1.n AS SELECT a FROM p1.t | DROP TABLE p1.n
create table | CREATE TABLE p2.n AS SELECT a FROM p1.t | DROP TABLE p2.n
create table | CREATE TABLE p1.n (a INT) AS SELECT a FROM p2.t | DROP TABLE p1.n
create table | CREATE TABLE p1.n AS SELECT a FROM p1.missing
create temporary | CREATE TEMPORARY TABLE p1.tmp (a INT) | @
create temporary | CREATE TEMPORARY TABLE p1.tmp LIKE p1.t | @
create temporary | CREATE TEMPORARY TABLE p1.tmp AS SELECT a FROM p1.t | @
create temporary | CREATE TEMPORARY TABLE p2.tmp AS SELECT a FROM p1.t | @
foreign key | CREATE TABLE p1.n (x INT, FOREIGN KEY (x) REFERENCES p1.parent (id)) | DROP TABLE p1.n
foreign key | CREATE TABLE p2.n (x INT, FOREIGN KEY (x) REFERENCES p1.parent (id)) | DROP TABLE p2.n
foreign key | CREATE TABLE p1.n (x INT, FOREIGN KEY (x) REFERENCES p1.missing (id))
foreign key | CREATE TABLE p1.n (x INT, FOREIGN KEY (x) REFERENCES p1.parent (zz))
foreign key | CREATE TABLE p1.n (x INT PRIMARY KEY, y INT, FOREIGN KEY (y) REFERENCES n (x)) | DROP TABLE p1.n
foreign key | ALTER TABLE p1.t ADD CONSTRAINT ff FOREIGN KEY (c) REFERENCES p1.parent (id) | ALTER TABLE p1.t DROP FOREIGN KEY ff; ALTER TABLE p1.t DROP KEY ff
foreign key | ALTER TABLE p2.t ADD CONSTRAINT ff FOREIGN KEY (c) REFERENCES p1.parent (id) | ALTER TABLE p2.t DROP FOREIGN KEY ff; ALTER TABLE p2.t DROP KEY ff
foreign key | ALTER TABLE p1.t ADD CONSTRAINT ff FOREIGN KEY (c) REFERENCES p1.missing (id)
foreign key | ALTER TABLE p1.child DROP FOREIGN KEY fkc | ALTER TABLE p1.child ADD CONSTRAINT fkc FOREIGN KEY (pid) REFERENCES p1.parent (id)
alter table | ALTER TABLE p1.t ADD COLUMN d INT | ALTER TABLE p1.t DROP COLUMN d
alter table | ALTER TABLE p1.t ALTER b SET DEFAULT 7 | ALTER TABLE p1.t ALTER b SET DEFAULT NULL
alter table | ALTER TABLE p1.t COMMENT 'x'
alter table | ALTER TABLE p1.t DROP COLUMN zz
alter table | ALTER TABLE p1.missing ADD COLUMN d INT
alter table | ALTER TABLE nodb.t ADD COLUMN d INT
alter table | ALTER TABLE p1.t ENGINE = InnoDB
alter table | ALTER TABLE p1.t ADD INDEX kk (c) | ALTER TABLE p1.t DROP KEY kk
alter table | ALTER TABLE p1.v ADD COLUMN d INT
alter table | ALTER TABLE p1.t
alter table rename | ALTER TABLE p1.t RENAME TO p1.n | RENAME TABLE p1.n TO p1.t
alter table rename | ALTER TABLE p1.t RENAME TO p2.n | RENAME TABLE p2.n TO p1.t
alter table rename | ALTER TABLE p2.t RENAME TO p1.n | RENAME TABLE p1.n TO p2.t
alter table rename | ALTER TABLE p1.t RENAME TO p1.u
alter table rename | ALTER TABLE p1.missing RENAME TO p1.n
alter table rename | ALTER TABLE p1.t ADD COLUMN d INT, RENAME TO p1.n | RENAME TABLE p1.n TO p1.t; ALTER TABLE p1.t DROP COLUMN d
rename | RENAME TABLE p1.t TO p1.n | RENAME TABLE p1.n TO p1.t
rename | RENAME TABLE p1.t TO p2.n | RENAME TABLE p2.n TO p1.t
rename | RENAME TABLE p2.t TO p1.n | RENAME TABLE p1.n TO p2.t
rename | RENAME TABLE p1.missing TO p1.n
rename | RENAME TABLE p1.v TO p1.n | RENAME TABLE p1.n TO p1.v
index | CREATE INDEX kk ON p1.t (c) | DROP INDEX kk ON p1.t
index | CREATE INDEX kk ON p1.missing (c)
index | DROP INDEX kb ON p1.t | CREATE INDEX kb ON p1.t (b)
index | DROP INDEX zz ON p1.t
drop table | DROP TABLE p1.u | CREATE TABLE p1.u (a INT PRIMARY KEY, b INT); INSERT INTO p1.u VALUES (1, 1)
drop table | DROP TABLE p1.missing
drop table | DROP TABLE IF EXISTS p1.missing
drop table | DROP TABLE p1.missing, p2.missing
drop table | DROP TABLE nodb.t
drop table | DROP TEMPORARY TABLE p1.t
truncate | TRUNCATE TABLE p1.u | INSERT INTO p1.u VALUES (1, 1)
truncate | TRUNCATE TABLE p1.missing
truncate | TRUNCATE TABLE p1.v
maintain | ANALYZE TABLE p1.t
maintain | CHECK TABLE p1.t
maintain | OPTIMIZE TABLE p1.u
maintain | REPAIR TABLE p1.t
maintain | ANALYZE TABLE p1.t UPDATE HISTOGRAM ON b | ANALYZE TABLE p1.t DROP HISTOGRAM ON b
maintain | ANALYZE TABLE p1.missing
view | CREATE VIEW p1.n AS SELECT 1 x | DROP VIEW p1.n
view | CREATE VIEW p1.n AS SELECT a FROM p1.t | DROP VIEW p1.n
view | CREATE VIEW p1.n AS SELECT * FROM p1.t | DROP VIEW p1.n
view | CREATE VIEW p2.n AS SELECT a FROM p1.t | DROP VIEW p2.n
view | CREATE VIEW p1.n AS SELECT a FROM p1.missing
view | CREATE VIEW p1.n AS SELECT a FROM p1.v | DROP VIEW p1.n
view | CREATE OR REPLACE VIEW p1.n AS SELECT 1 x | DROP VIEW p1.n
view definer | CREATE DEFINER = plain VIEW p1.n AS SELECT 1 x | DROP VIEW p1.n
view definer | CREATE DEFINER = sys VIEW p1.n AS SELECT 1 x | DROP VIEW p1.n
view definer | CREATE DEFINER = root@localhost VIEW p1.n AS SELECT 1 x | DROP VIEW p1.n
view definer | CREATE DEFINER = nobody VIEW p1.n AS SELECT 1 x | DROP VIEW p1.n
view definer | CREATE DEFINER = m VIEW p1.n AS SELECT 1 x | DROP VIEW p1.n
view replace | CREATE OR REPLACE VIEW p1.v AS SELECT 1 a, 2 b | CREATE OR REPLACE VIEW p1.v AS SELECT a, b FROM p1.t
view replace | CREATE OR REPLACE VIEW p1.vp AS SELECT 1 a, 2 b | CREATE OR REPLACE DEFINER = plain VIEW p1.vp AS SELECT a, b FROM p1.t
view replace | CREATE OR REPLACE VIEW p1.vs AS SELECT 1 a, 2 b | CREATE OR REPLACE DEFINER = sys VIEW p1.vs AS SELECT a, b FROM p1.t
view alter | ALTER VIEW p1.v AS SELECT 1 a, 2 b | CREATE OR REPLACE VIEW p1.v AS SELECT a, b FROM p1.t
view alter | ALTER VIEW p1.vp AS SELECT 1 a, 2 b | CREATE OR REPLACE DEFINER = plain VIEW p1.vp AS SELECT a, b FROM p1.t
view alter | ALTER VIEW p1.vs AS SELECT 1 a, 2 b | CREATE OR REPLACE DEFINER = sys VIEW p1.vs AS SELECT a, b FROM p1.t
view alter | ALTER VIEW p1.vm AS SELECT 1 a, 2 b | CREATE OR REPLACE DEFINER = m VIEW p1.vm AS SELECT a, b FROM p1.t
view alter | ALTER DEFINER = sys VIEW p1.vm AS SELECT 1 a, 2 b | CREATE OR REPLACE DEFINER = m VIEW p1.vm AS SELECT a, b FROM p1.t
view alter | ALTER VIEW p1.missing AS SELECT 1 a
view drop | DROP VIEW p1.v | CREATE VIEW p1.v AS SELECT a, b FROM p1.t
view drop | DROP VIEW p1.vs | CREATE DEFINER = sys VIEW p1.vs AS SELECT a, b FROM p1.t
view drop | DROP VIEW p1.vp | CREATE DEFINER = plain VIEW p1.vp AS SELECT a, b FROM p1.t
view drop | DROP VIEW p1.vm | CREATE DEFINER = m VIEW p1.vm AS SELECT a, b FROM p1.t
view drop | DROP VIEW p1.missing
view drop | DROP VIEW IF EXISTS p1.missing
schema | CREATE DATABASE pq | DROP DATABASE pq
schema | CREATE DATABASE p1
schema | CREATE DATABASE IF NOT EXISTS p1
schema | ALTER DATABASE p1 COLLATE utf8mb4_0900_ai_ci
schema | ALTER DATABASE nodb COLLATE utf8mb4_0900_ai_ci
schema | ALTER DATABASE p3 READ ONLY = 1 | ALTER DATABASE p3 READ ONLY = 0
schema | DROP DATABASE p3 | CREATE DATABASE p3
schema | DROP DATABASE nodb
schema | DROP DATABASE IF EXISTS nodb
schema | USE p1 | @
schema | USE p2 | @
schema | USE nodb
schema | DROP DATABASE mysql
schema | CREATE TABLE information_schema.n (a INT)
schema | CREATE TABLE performance_schema.n (a INT)
system tables | SELECT User FROM mysql.user LIMIT 1
system tables | INSERT INTO mysql.user (Host, User) VALUES ('h', 'u')
system tables | UPDATE mysql.user SET User = 'x' WHERE 0
system tables | DELETE FROM mysql.user WHERE 0
system tables | SELECT * FROM mysql.db LIMIT 1
system tables | SELECT * FROM performance_schema.threads LIMIT 1
system tables | SELECT * FROM performance_schema.global_variables LIMIT 1
system tables | SELECT * FROM performance_schema.variables_info LIMIT 1
system tables | SELECT * FROM performance_schema.events_statements_current LIMIT 1
system tables | SELECT * FROM performance_schema.data_locks LIMIT 1
system tables | SELECT COUNT(*) FROM information_schema.INNODB_TABLES
system tables | SELECT COUNT(*) FROM information_schema.INNODB_TRX
system tables | SELECT COUNT(*) FROM information_schema.PROCESSLIST
system tables | UPDATE performance_schema.setup_instruments SET ENABLED = 'YES' WHERE 0
system tables | UPDATE information_schema.TABLES SET TABLE_NAME = 'x'
system tables | TRUNCATE TABLE performance_schema.events_statements_history
system tables | DROP TABLE mysql.missing
system tables | ALTER TABLE mysql.missing ADD COLUMN x INT
show | SHOW DATABASES
show | SHOW TABLES FROM p1
show | SHOW TABLES FROM nodb
show | SHOW FULL TABLES FROM p1
show | SHOW TABLE STATUS FROM p1
show | SHOW TABLE STATUS FROM nodb
show | SHOW OPEN TABLES FROM p1
show | SHOW COLUMNS FROM p1.t
show | SHOW FULL COLUMNS FROM p1.t
show | SHOW COLUMNS FROM p1.missing
show | SHOW COLUMNS FROM nodb.t
show | SHOW COLUMNS FROM p1.v
show | SHOW INDEX FROM p1.t
show | SHOW INDEX FROM p1.missing
show | SHOW INDEX FROM nodb.t
show | SHOW TRIGGERS FROM p1
show | SHOW TRIGGERS FROM nodb
show | SHOW EVENTS FROM p1
show | SHOW EVENTS FROM nodb
show | SHOW PROCEDURE STATUS WHERE Db = 'p1'
show create | SHOW CREATE TABLE p1.t
show create | SHOW CREATE TABLE p1.missing
show create | SHOW CREATE TABLE nodb.t
show create | SHOW CREATE TABLE p1.v
show create | SHOW CREATE VIEW p1.v
show create | SHOW CREATE VIEW p1.vi
show create | SHOW CREATE VIEW p1.vm
show create | SHOW CREATE VIEW p1.t
show create | SHOW CREATE VIEW p1.missing
show create | SHOW CREATE DATABASE p1
show create | SHOW CREATE DATABASE nodb
show create | SHOW CREATE USER CURRENT_USER
show create | SHOW CREATE USER plain
show create | SHOW CREATE USER nobody
show grants | SHOW GRANTS
show grants | SHOW GRANTS FOR plain
show grants | SHOW GRANTS FOR nobody
show grants | SHOW GRANTS FOR CURRENT_USER USING r1
show server | SHOW PROCESSLIST
show server | SHOW ENGINE INNODB STATUS
show server | SHOW ENGINE INNODB MUTEX
show server | SHOW ENGINE PERFORMANCE_SCHEMA STATUS
show server | SHOW BINARY LOG STATUS
show server | SHOW BINARY LOGS
show server | SHOW BINLOG EVENTS
show server | SHOW REPLICAS
show server | SHOW REPLICA STATUS
show server | SHOW RELAYLOG EVENTS
show server | SHOW GLOBAL VARIABLES LIKE 'port'
show server | SHOW GLOBAL STATUS LIKE 'Uptime'
show server | SHOW PLUGINS
show server | SHOW ENGINES
show server | SHOW PRIVILEGES
flush | FLUSH PRIVILEGES
flush | FLUSH STATUS
flush | FLUSH TABLES
flush | FLUSH TABLES p1.t
flush | FLUSH TABLES p1.t WITH READ LOCK | @
flush | FLUSH TABLES WITH READ LOCK | @
flush | FLUSH TABLES p1.t FOR EXPORT | @
flush | FLUSH USER_RESOURCES
flush | FLUSH OPTIMIZER_COSTS
flush | FLUSH LOGS
flush | FLUSH BINARY LOGS
flush | FLUSH ERROR LOGS
flush | FLUSH GENERAL LOGS
flush | FLUSH ENGINE LOGS
flush | FLUSH SLOW LOGS
flush | FLUSH RELAY LOGS
reset | RESET PERSIST IF EXISTS sort_buffer_size
reset | RESET REPLICA
reset | RESET BINARY LOGS AND GTIDS
admin | LOCK INSTANCE FOR BACKUP | @
admin | UNLOCK INSTANCE
admin | PURGE BINARY LOGS BEFORE '2000-01-01'
admin | START REPLICA
admin | STOP REPLICA
admin | CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'x', SOURCE_PORT = 1
admin | CHANGE REPLICATION FILTER REPLICATE_DO_DB = (x)
admin | ALTER INSTANCE RELOAD TLS
admin | ALTER INSTANCE ROTATE INNODB MASTER KEY
admin | ALTER INSTANCE DISABLE INNODB REDO_LOG | ALTER INSTANCE ENABLE INNODB REDO_LOG
admin | CLONE LOCAL DATA DIRECTORY 'nowhere'
admin | INSTALL PLUGIN nope SONAME 'nope.so'
admin | UNINSTALL PLUGIN nope
admin | INSTALL COMPONENT 'file://nope'
admin | UNINSTALL COMPONENT 'file://nope'
admin | CREATE SERVER s1 FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x') | DROP SERVER s1
admin | DROP SERVER nope
admin | ALTER SERVER nope OPTIONS (HOST 'y')
admin | CREATE TABLESPACE ts1 ADD DATAFILE 'ts1.ibd' | DROP TABLESPACE ts1
admin | DROP TABLESPACE nope
admin | CREATE UNDO TABLESPACE un ADD DATAFILE 'un.ibu' | ALTER UNDO TABLESPACE un SET INACTIVE
admin | CREATE RESOURCE GROUP rg1 TYPE = USER | DROP RESOURCE GROUP rg1
admin | DROP RESOURCE GROUP nope
admin | SET RESOURCE GROUP USR_default
admin | CACHE INDEX p1.t IN nope
admin | LOAD INDEX INTO CACHE p1.t
admin | IMPORT TABLE FROM '/nowhere/x.sdi'
admin | XA RECOVER
admin | KILL QUERY {plain}
admin | KILL QUERY {sys}
admin | KILL QUERY {root}
admin | KILL QUERY 999999
admin | CREATE FUNCTION nope RETURNS INT SONAME 'nope.so'
program | CREATE PROCEDURE p1.pp() SELECT 1 | DROP PROCEDURE p1.pp
program | DROP PROCEDURE p1.missing
program | DROP PROCEDURE IF EXISTS p1.missing
program | DROP FUNCTION p1.missing
program | DROP TRIGGER p1.missing
program | DROP EVENT p1.missing
program | CALL p1.missing()
program | SHOW CREATE PROCEDURE p1.missing
program | SHOW CREATE TRIGGER p1.missing
program | SHOW CREATE EVENT p1.missing
set global | SET GLOBAL max_connections = 151
set global | SET GLOBAL read_only = 0
set global | SET GLOBAL super_read_only = 0
set global | SET GLOBAL transaction_isolation = 'REPEATABLE-READ'
set global | SET GLOBAL TRANSACTION READ WRITE
set global | SET GLOBAL mandatory_roles = ''
set global | SET GLOBAL partial_revokes = OFF
set global | SET GLOBAL sort_buffer_size = DEFAULT
set global | SET GLOBAL binlog_format = ROW
set global | SET GLOBAL init_connect = ''
set global | SET GLOBAL default_password_lifetime = 0
set global | SET GLOBAL zzz = 1
set global | SET PERSIST sort_buffer_size = DEFAULT | RESET PERSIST IF EXISTS sort_buffer_size
set global | SET PERSIST_ONLY sort_buffer_size = 262144 | RESET PERSIST IF EXISTS sort_buffer_size
set global | SET PERSIST_ONLY table_open_cache_instances = 16 | RESET PERSIST IF EXISTS table_open_cache_instances
account | CREATE USER other2 | DROP USER other2
account | CREATE USER plain
account | CREATE USER IF NOT EXISTS plain
account | CREATE USER sys
account | CREATE USER other2 DEFAULT ROLE r1 | DROP USER other2
account | CREATE USER other2 DEFAULT ROLE rs | DROP USER other2
account | CREATE USER other2 DEFAULT ROLE boss | DROP USER other2
account | DROP USER other | CREATE USER other
account | DROP USER sys, other | REBUILD
account | DROP USER nobody
account | DROP USER IF EXISTS nobody
account | DROP USER boss | REBUILD
account | RENAME USER other TO other2 | RENAME USER other2 TO other
account | RENAME USER sys TO other2 | RENAME USER other2 TO sys
account | RENAME USER nobody TO other2
account | ALTER USER other IDENTIFIED BY 'x'
account | ALTER USER other PASSWORD EXPIRE
account | ALTER USER other ACCOUNT LOCK | ALTER USER other ACCOUNT UNLOCK
account | ALTER USER sys IDENTIFIED BY ''
account | ALTER USER sys ACCOUNT UNLOCK
account | ALTER USER boss IDENTIFIED BY 'x'
account | ALTER USER nobody IDENTIFIED BY 'x'
account | ALTER USER IF EXISTS nobody IDENTIFIED BY 'x'
account | ALTER USER other IDENTIFIED BY 'x' RETAIN CURRENT PASSWORD
account | ALTER USER other DISCARD OLD PASSWORD
account | ALTER USER other DEFAULT ROLE NONE
account | ALTER USER sys DEFAULT ROLE NONE
account | ALTER USER other COMMENT 'x'
account | SET PASSWORD FOR other = 'x'
account | SET PASSWORD FOR sys = ''
account | SET PASSWORD FOR boss = 'x'
account | SET PASSWORD FOR nobody = ''
own account | ALTER USER m IDENTIFIED BY ''
own account | ALTER USER USER() IDENTIFIED BY ''
own account | ALTER USER CURRENT_USER IDENTIFIED BY ''
own account | SET PASSWORD = ''
own account | SET PASSWORD FOR m = ''
own account | SET PASSWORD = '' REPLACE ''
own account | ALTER USER m IDENTIFIED BY '' REPLACE ''
own account | ALTER USER m IDENTIFIED BY '' REPLACE 'wrong'
own account | ALTER USER m IDENTIFIED WITH caching_sha2_password BY ''
own account | ALTER USER m IDENTIFIED WITH caching_sha2_password AS ''
own account | ALTER USER m IDENTIFIED WITH caching_sha2_password
own account | ALTER USER m IDENTIFIED WITH sha256_password BY '' | ALTER USER m IDENTIFIED WITH caching_sha2_password BY ''
own account | ALTER USER m REQUIRE NONE
own account | ALTER USER m REQUIRE SSL | ALTER USER m REQUIRE NONE
own account | ALTER USER m WITH MAX_QUERIES_PER_HOUR 0
own account | ALTER USER m PASSWORD EXPIRE NEVER
own account | ALTER USER m PASSWORD EXPIRE DEFAULT
own account | ALTER USER m PASSWORD HISTORY 0
own account | ALTER USER m PASSWORD HISTORY DEFAULT
own account | ALTER USER m PASSWORD REUSE INTERVAL DEFAULT
own account | ALTER USER m PASSWORD REQUIRE CURRENT DEFAULT
own account | ALTER USER m PASSWORD REQUIRE CURRENT OPTIONAL
own account | ALTER USER m ACCOUNT UNLOCK
own account | ALTER USER m FAILED_LOGIN_ATTEMPTS 0
own account | ALTER USER m PASSWORD_LOCK_TIME 0
own account | ALTER USER m COMMENT 'x'
own account | ALTER USER m ATTRIBUTE '{{"a": 1}}'
own account | ALTER USER m DISCARD OLD PASSWORD
own account | ALTER USER m IDENTIFIED BY '' PASSWORD EXPIRE NEVER
own account | ALTER USER m IDENTIFIED BY 'x' RETAIN CURRENT PASSWORD | ALTER USER m IDENTIFIED BY ''
own account | ALTER USER m DEFAULT ROLE NONE
own account | ALTER USER m DEFAULT ROLE r1
own account | ALTER USER m, other PASSWORD HISTORY DEFAULT
role | CREATE ROLE rnew | DROP ROLE rnew
role | CREATE ROLE r2
role | CREATE ROLE IF NOT EXISTS r2
role | DROP ROLE r2 | CREATE ROLE r2
role | DROP ROLE rs | CREATE ROLE rs; GRANT SYSTEM_USER ON *.* TO rs
role | DROP ROLE nobody
role | DROP ROLE other | CREATE USER other
role | GRANT r2 TO other | REVOKE r2 FROM other
role | GRANT r2 TO m | REVOKE r2 FROM m
role | GRANT rs TO m | REVOKE rs FROM m
role | GRANT rs TO other | REVOKE rs FROM other
role | GRANT boss TO m | REVOKE boss FROM m
role | GRANT sys TO m | REVOKE sys FROM m
role | GRANT r2 TO sys | REVOKE r2 FROM sys
role | GRANT nobody TO m
role | GRANT r2 TO nobody
role | GRANT r2 TO other WITH ADMIN OPTION | REVOKE r2 FROM other
role | REVOKE r2 FROM other
role | REVOKE r2 FROM sys
role | REVOKE rs FROM m
role | SET ROLE r1 | @
role | SET ROLE rs | @
role | SET ROLE ALL | @
role | SET ROLE NONE | @
role | SET DEFAULT ROLE r1 TO m | SET DEFAULT ROLE NONE TO m
role | SET DEFAULT ROLE NONE TO m
role | SET DEFAULT ROLE NONE TO other
role | SET DEFAULT ROLE NONE TO sys
role | SET DEFAULT ROLE r1 TO other
role | SET DEFAULT ROLE r1 TO nobody
grant | GRANT SELECT ON *.* TO other | REVOKE SELECT ON *.* FROM other
grant | GRANT SELECT ON p1.* TO other | REVOKE SELECT ON p1.* FROM other
grant | GRANT SELECT ON p2.* TO other | REVOKE SELECT ON p2.* FROM other
grant | GRANT SELECT ON p1.t TO other | REVOKE SELECT ON p1.t FROM other
grant | GRANT SELECT, INSERT ON p1.t TO other | REVOKE SELECT, INSERT ON p1.t FROM other
grant | GRANT SELECT (a) ON p1.t TO other | REVOKE SELECT (a) ON p1.t FROM other
grant | GRANT SELECT (zz) ON p1.t TO other
grant | GRANT INSERT ON p1.missing TO other
grant | GRANT SELECT ON p1.v TO other | REVOKE SELECT ON p1.v FROM other
grant | GRANT ALL ON *.* TO other | REVOKE ALL ON *.* FROM other
grant | GRANT ALL ON p1.* TO other | REVOKE ALL ON p1.* FROM other
grant | GRANT ALL ON p1.t TO other | REVOKE ALL ON p1.t FROM other
grant | GRANT GRANT OPTION ON p1.* TO other | REVOKE GRANT OPTION ON p1.* FROM other
grant | GRANT USAGE ON *.* TO other
grant | GRANT USAGE ON p1.* TO other
grant | GRANT SUPER ON *.* TO other | REVOKE SUPER ON *.* FROM other
grant | GRANT SYSTEM_USER ON *.* TO other | REVOKE SYSTEM_USER ON *.* FROM other
grant | GRANT BACKUP_ADMIN ON *.* TO other | REVOKE BACKUP_ADMIN ON *.* FROM other
grant | GRANT BACKUP_ADMIN ON *.* TO m | REVOKE BACKUP_ADMIN ON *.* FROM m
grant | GRANT SELECT ON p1.* TO sys | REVOKE SELECT ON p1.* FROM sys
grant | GRANT SELECT ON p1.t TO sys | REVOKE SELECT ON p1.t FROM sys
grant | GRANT SELECT ON *.* TO m
grant | GRANT SELECT ON p1.* TO nobody
grant | GRANT PROXY ON plain TO other | REVOKE PROXY ON plain FROM other
grant | GRANT PROXY ON boss TO m | REVOKE PROXY ON boss FROM m
grant | GRANT EXECUTE ON PROCEDURE p1.missing TO other
grant | GRANT SELECT ON p1.* TO other AS boss
revoke | REVOKE SELECT ON *.* FROM other
revoke | REVOKE SELECT ON p1.* FROM other
revoke | REVOKE SELECT ON p1.t FROM other
revoke | REVOKE SELECT (a) ON p1.t FROM other
revoke | REVOKE INSERT ON p1.missing FROM other
revoke | REVOKE ALL ON *.* FROM other
revoke | REVOKE ALL ON p1.* FROM other
revoke | REVOKE ALL, GRANT OPTION FROM other
revoke | REVOKE ALL, GRANT OPTION FROM sys | GRANT SYSTEM_USER ON *.* TO sys
revoke | REVOKE ALL, GRANT OPTION FROM boss | REBUILD
revoke | REVOKE SYSTEM_USER ON *.* FROM sys | GRANT SYSTEM_USER ON *.* TO sys
revoke | REVOKE BACKUP_ADMIN ON *.* FROM other
revoke | REVOKE SELECT ON *.* FROM boss | REBUILD
revoke | REVOKE SELECT ON p1.* FROM sys
revoke | REVOKE SELECT ON *.* FROM nobody
revoke | REVOKE IF EXISTS SELECT ON p1.* FROM other
revoke | REVOKE PROXY ON plain FROM other
replication | START REPLICA SQL_THREAD | STOP REPLICA
replication | STOP REPLICA IO_THREAD
replication | STOP REPLICA FOR CHANNEL 'nope'
replication | RESET REPLICA ALL
replication | RESET REPLICA ALL FOR CHANNEL 'nope'
replication | CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'x' FOR CHANNEL 'c1' | RESET REPLICA ALL FOR CHANNEL 'c1'
replication | CHANGE REPLICATION SOURCE TO PRIVILEGE_CHECKS_USER = plain | CHANGE REPLICATION SOURCE TO PRIVILEGE_CHECKS_USER = NULL; RESET REPLICA ALL
replication | CHANGE REPLICATION SOURCE TO PRIVILEGE_CHECKS_USER = sys | CHANGE REPLICATION SOURCE TO PRIVILEGE_CHECKS_USER = NULL; RESET REPLICA ALL
replication | SHOW REPLICA STATUS FOR CHANNEL 'nope'
replication | SHOW BINLOG EVENTS IN 'nope.000001'
replication | SHOW RELAYLOG EVENTS FOR CHANNEL 'nope'
replication | START GROUP_REPLICATION
replication | STOP GROUP_REPLICATION
replication | BINLOG 'x'
replication | BINLOG ''
replication | PURGE BINARY LOGS TO 'nope.000001'
replication | SET GLOBAL gtid_purged = ''
replication | SET GLOBAL gtid_mode = OFF
replication | SET GLOBAL gtid_executed = ''
replication | SET GLOBAL enforce_gtid_consistency = OFF
replication | SET GLOBAL server_id = 1
replication | SET GLOBAL sync_binlog = 1
replication | SET GLOBAL binlog_cache_size = 32768
replication | SET GLOBAL binlog_encryption = OFF
replication | SET GLOBAL binlog_expire_logs_seconds = 2592000
replication | SET GLOBAL binlog_row_image = FULL
replication | SET GLOBAL replica_parallel_workers = 4
replication | SET GLOBAL sql_replica_skip_counter = 0
replication | SET GLOBAL replica_net_timeout = 60
replication | SET GLOBAL max_binlog_size = 1073741824
replication | SET SESSION gtid_next = '3e11fa47-71ca-11e1-9e33-c80aa9429562:1' | @
replication | SET SESSION gtid_next = '3e11fa47-71ca-11e1-9e33-c80aa9429562:tag:1' | @
replication | SET SESSION gtid_next = 'AUTOMATIC:tag' | @
replication | SET SESSION sql_log_bin = 0 | @
replication | SELECT WAIT_FOR_EXECUTED_GTID_SET('', 0)
replication | SELECT * FROM performance_schema.replication_connection_configuration
replication | SELECT * FROM performance_schema.replication_applier_status
replication | SELECT * FROM performance_schema.log_status
replication | SELECT * FROM performance_schema.binary_log_transaction_compression_stats
replication | SELECT * FROM mysql.slave_master_info
replication | SELECT * FROM mysql.slave_relay_log_info
replication | SELECT * FROM mysql.gtid_executed LIMIT 0
clone | CLONE INSTANCE FROM x@h:1 IDENTIFIED BY 'x'
keyring | ALTER INSTANCE RELOAD KEYRING
keyring | ALTER INSTANCE ROTATE BINLOG MASTER KEY
keyring | ALTER INSTANCE ENABLE INNODB REDO_LOG
keyring | ALTER INSTANCE RELOAD TLS FOR CHANNEL mysql_admin
keyring | SELECT * FROM performance_schema.keyring_keys
keyring | SELECT * FROM performance_schema.keyring_component_status
keyring | CREATE TABLE p1.n (a INT) ENCRYPTION = 'Y' | DROP TABLE p1.n
keyring | ALTER TABLE p1.u ENCRYPTION = 'N'
keyring | SET GLOBAL table_encryption_privilege_check = OFF
keyring | SET GLOBAL default_table_encryption = OFF
keyring | SET GLOBAL innodb_redo_log_encrypt = OFF
component | INSTALL COMPONENT 'file://nope' SET GLOBAL a.b = 1
component | UNINSTALL COMPONENT 'file://nope', 'file://nope2'
component | SELECT * FROM mysql.component LIMIT 0
component | SELECT * FROM mysql.plugin LIMIT 0
component | SELECT * FROM mysql.servers LIMIT 0
component | SELECT * FROM mysql.func LIMIT 0
account tables | SELECT * FROM mysql.tables_priv LIMIT 0
account tables | SELECT * FROM mysql.columns_priv LIMIT 0
account tables | SELECT * FROM mysql.procs_priv LIMIT 0
account tables | SELECT * FROM mysql.proxies_priv LIMIT 0
account tables | SELECT * FROM mysql.role_edges LIMIT 0
account tables | SELECT * FROM mysql.default_roles LIMIT 0
account tables | SELECT * FROM mysql.global_grants LIMIT 0
account tables | SELECT * FROM mysql.password_history LIMIT 0
account tables | SELECT * FROM mysql.db LIMIT 0
account tables | SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES
account tables | SELECT COUNT(*) FROM information_schema.USER_ATTRIBUTES
observe | SELECT * FROM performance_schema.host_cache LIMIT 0
observe | SELECT * FROM performance_schema.accounts LIMIT 0
observe | SELECT * FROM performance_schema.metadata_locks LIMIT 0
observe | SELECT * FROM performance_schema.user_variables_by_thread LIMIT 0
observe | SELECT * FROM performance_schema.variables_by_thread LIMIT 0
observe | SELECT * FROM performance_schema.prepared_statements_instances LIMIT 0
observe | SELECT * FROM performance_schema.error_log LIMIT 0
observe | SELECT * FROM performance_schema.persisted_variables LIMIT 0
observe | SELECT * FROM performance_schema.session_connect_attrs LIMIT 0
observe | SELECT * FROM performance_schema.session_variables LIMIT 0
observe | SELECT * FROM performance_schema.session_status LIMIT 0
observe | SELECT * FROM performance_schema.data_lock_waits LIMIT 0
observe | SELECT * FROM performance_schema.processlist LIMIT 0
observe | SELECT COUNT(*) FROM information_schema.INNODB_METRICS
observe | SELECT COUNT(*) FROM information_schema.INNODB_TABLESPACES
observe | SELECT COUNT(*) FROM information_schema.INNODB_BUFFER_POOL_STATS
observe | SELECT COUNT(*) FROM information_schema.FILES
observe | SELECT COUNT(*) FROM information_schema.OPTIMIZER_TRACE
observe | TRUNCATE TABLE performance_schema.host_cache
maintain local | OPTIMIZE LOCAL TABLE p1.u
maintain local | ANALYZE NO_WRITE_TO_BINLOG TABLE p1.t
maintain local | FLUSH LOCAL STATUS
maintain local | FLUSH LOCAL PRIVILEGES
maintain local | FLUSH LOCAL TABLES p1.t
maintain local | FLUSH RELAY LOGS FOR CHANNEL 'nope'
guarded | SET GLOBAL offline_mode = OFF
guarded | SET GLOBAL event_scheduler = ON
guarded | SET GLOBAL local_infile = ON
guarded | SET GLOBAL general_log = OFF
guarded | SET GLOBAL require_secure_transport = OFF
guarded | SET GLOBAL authentication_policy = '*,,'
guarded | SET GLOBAL connect_timeout = 10
guarded | SET GLOBAL max_user_connections = 0
guarded | SET GLOBAL password_history = 0
guarded | SET GLOBAL activate_all_roles_on_login = OFF
guarded | SET GLOBAL innodb_buffer_pool_size = DEFAULT
guarded | SET GLOBAL innodb_flush_log_at_trx_commit = 1
guarded | SET GLOBAL secure_file_priv = ''
guarded | SET GLOBAL zzz.size = 1
guarded | SET PERSIST_ONLY secure_file_priv = ''
guarded | SET PERSIST_ONLY port = 3306 | RESET PERSIST IF EXISTS port
guarded | RESET PERSIST
guarded | SELECT @@GLOBAL.secure_file_priv
guarded | SELECT @@GLOBAL.port
guarded | ALTER RESOURCE GROUP nope VCPU = 0
guarded | SET RESOURCE GROUP nope
guarded | SET RESOURCE GROUP USR_default FOR 1
guarded | XA RECOVER CONVERT XID
guarded | XA COMMIT 'nope'
guarded | KILL 999999
guarded | CREATE SPATIAL REFERENCE SYSTEM 4326 NAME 'x' DEFINITION 'x'
guarded | DROP SPATIAL REFERENCE SYSTEM 999999
guarded | CREATE USER IF NOT EXISTS plain IDENTIFIED WITH mysql_no_login
guarded | ALTER USER plain IDENTIFIED WITH auth_socket
guarded | ALTER USER plain FAILED_LOGIN_ATTEMPTS 1 PASSWORD_LOCK_TIME 1 | ALTER USER plain FAILED_LOGIN_ATTEMPTS 0 PASSWORD_LOCK_TIME 0
guarded | CREATE DEFINER = m VIEW p1.n AS SELECT a FROM p1.vm | DROP VIEW p1.n
"""

# Session variables that MySQL guards, and others beside them: name, value.
SESSION_VARIABLES = """
auto_increment_increment 1
auto_increment_offset 1
autocommit 1
big_tables 0
binlog_direct_non_transactional_updates 0
binlog_format ROW
binlog_row_image FULL
binlog_row_value_options ''
binlog_rows_query_log_events 0
binlog_transaction_compression 0
binlog_transaction_compression_level_zstd 3
block_encryption_mode 'aes-128-ecb'
bulk_insert_buffer_size 8388608
character_set_client utf8mb4
character_set_database utf8mb4
character_set_filesystem binary
character_set_server utf8mb4
collation_database utf8mb4_0900_ai_ci
collation_server utf8mb4_0900_ai_ci
cte_max_recursion_depth 1000
debug_sync 'now'
default_collation_for_utf8mb4 utf8mb4_0900_ai_ci
default_storage_engine InnoDB
default_table_encryption 0
default_week_format 0
div_precision_increment 4
end_markers_in_json 0
eq_range_index_dive_limit 200
explain_format TRADITIONAL
explicit_defaults_for_timestamp 1
foreign_key_checks 1
generated_random_password_length 20
group_concat_max_len 1024
gtid_next AUTOMATIC
gtid_owned ''
histogram_generation_max_mem_size 20000000
identity 0
immediate_server_version 80400
information_schema_stats_expiry 86400
innodb_ddl_buffer_size 1048576
innodb_ddl_threads 4
innodb_ft_enable_stopword 1
innodb_lock_wait_timeout 50
innodb_parallel_read_threads 4
innodb_strict_mode 1
innodb_table_locks 1
innodb_tmpdir ''
insert_id 0
interactive_timeout 28800
internal_tmp_mem_storage_engine TempTable
join_buffer_size 262144
keep_files_on_create 0
last_insert_id 0
lc_messages en_US
lc_time_names en_US
lock_wait_timeout 31536000
long_query_time 10
low_priority_updates 0
max_allowed_packet 1024
max_error_count 1024
max_execution_time 0
max_heap_table_size 16777216
max_join_size 18446744073709551615
max_length_for_sort_data 4096
max_points_in_geometry 65536
max_seeks_for_key 18446744073709551615
max_sort_length 1024
max_sp_recursion_depth 0
max_user_connections 0
min_examined_row_limit 0
myisam_repair_threads 1
myisam_sort_buffer_size 8388608
myisam_stats_method nulls_unequal
net_buffer_length 16384
net_read_timeout 30
net_retry_count 10
net_write_timeout 60
new 0
old_alter_table 0
optimizer_prune_level 1
optimizer_search_depth 62
optimizer_switch DEFAULT
optimizer_trace 'enabled=off,one_line=off'
original_commit_timestamp 36028797018963968
original_server_version 80400
parser_max_mem_size 18446744073709551615
partial_revokes 0
preload_buffer_size 32768
print_identified_with_as_hex 0
profiling 0
proxy_user ''
pseudo_replica_mode 0
pseudo_slave_mode 0
pseudo_thread_id 12345
query_alloc_block_size 8192
query_prealloc_size 8192
rand_seed1 1
range_alloc_block_size 4096
range_optimizer_max_mem_size 8388608
rbr_exec_mode STRICT
read_buffer_size 131072
read_rnd_buffer_size 262144
require_row_format 0
resultset_metadata FULL
restrict_fk_on_non_standard_key 1
secondary_engine_cost_threshold 100000
select_into_buffer_size 131072
select_into_disk_sync 0
session_track_gtids OFF
session_track_schema 1
session_track_state_change 0
session_track_transaction_info OFF
set_operations_buffer_size 262144
show_create_table_skip_secondary_engine 0
show_create_table_verbosity 0
show_gipk_in_create_table_and_information_schema 1
skip_replica_start 0
sort_buffer_size 262144
sql_auto_is_null 0
sql_big_selects 1
sql_buffer_result 0
sql_generate_invisible_primary_key 0
sql_log_bin 1
sql_log_off 0
sql_mode ''
sql_notes 1
sql_quote_show_create 1
sql_require_primary_key 0
sql_safe_updates 0
sql_select_limit DEFAULT
sql_warnings 0
terminology_use_previous NONE
time_zone SYSTEM
timestamp 0
tmp_table_size 16777216
transaction_alloc_block_size 8192
transaction_allow_batching 0
transaction_isolation 'REPEATABLE-READ'
transaction_prealloc_size 4096
transaction_read_only 0
transaction_write_set_extraction XXHASH64
unique_checks 1
updatable_views_with_limit 1
use_secondary_engine ON
wait_timeout 28800
windowing_use_high_precision 1
xa_detach_on_prepare 1
"""

# What lists show of the objects: its rows are compared, sorted, without regard to letter case.
LISTS = """
SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ('p1', 'p2', 'p3')
SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('p1', 'p2')
SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, PRIVILEGES FROM information_schema.COLUMNS WHERE TABLE_SCHEMA IN ('p1', 'p2')
SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA IN ('p1', 'p2')
SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION <> '' FROM information_schema.VIEWS WHERE TABLE_SCHEMA IN ('p1', 'p2')
SELECT VIEW_SCHEMA, VIEW_NAME, TABLE_NAME FROM information_schema.VIEW_TABLE_USAGE WHERE VIEW_SCHEMA IN ('p1', 'p2')
SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, CONSTRAINT_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA IN ('p1', 'p2')
SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA IN ('p1', 'p2')
SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA IN ('p1', 'p2')
SELECT GRANTEE, TABLE_SCHEMA, PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES WHERE TABLE_SCHEMA IN ('p1', 'p2')
SELECT GRANTEE, TABLE_NAME, PRIVILEGE_TYPE FROM information_schema.TABLE_PRIVILEGES WHERE TABLE_SCHEMA IN ('p1', 'p2')
SELECT GRANTEE, TABLE_NAME, COLUMN_NAME, PRIVILEGE_TYPE FROM information_schema.COLUMN_PRIVILEGES WHERE TABLE_SCHEMA IN ('p1', 'p2')
SELECT USER FROM information_schema.USER_ATTRIBUTES WHERE USER IN ('m', 'plain', 'sys', 'other', 'boss', 'r1', 'rs')
SELECT USER, GRANTEE, ROLE_NAME FROM information_schema.APPLICABLE_ROLES
SELECT USER, GRANTEE, ROLE_NAME FROM information_schema.ADMINISTRABLE_ROLE_AUTHORIZATIONS
SELECT ROLE_NAME FROM information_schema.ENABLED_ROLES
SELECT DISTINCT USER FROM information_schema.PROCESSLIST WHERE USER IN ('m', 'plain', 'sys', 'root')
SELECT DISTINCT USER FROM performance_schema.processlist WHERE USER IN ('m', 'plain', 'sys', 'root')
SHOW TABLES FROM p1
SHOW COLUMNS FROM p1.t
SHOW FULL COLUMNS FROM p1.t
SHOW COLUMNS FROM p1.v
SHOW DATABASES LIKE 'p_'
"""

STATIC = ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "RELOAD", "SHUTDOWN", "PROCESS", "FILE", "GRANT OPTION", "REFERENCES", "INDEX",
          "ALTER", "SHOW DATABASES", "SUPER", "CREATE TEMPORARY TABLES", "LOCK TABLES", "EXECUTE", "REPLICATION SLAVE", "REPLICATION CLIENT",
          "CREATE VIEW", "SHOW VIEW", "CREATE ROUTINE", "ALTER ROUTINE", "CREATE USER", "EVENT", "TRIGGER", "CREATE TABLESPACE", "CREATE ROLE",
          "DROP ROLE"]
OF_SCHEMA = ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "GRANT OPTION", "REFERENCES", "INDEX", "ALTER", "CREATE TEMPORARY TABLES",
             "LOCK TABLES", "EXECUTE", "CREATE VIEW", "SHOW VIEW", "CREATE ROUTINE", "ALTER ROUTINE", "EVENT", "TRIGGER"]
OF_TABLE = ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "GRANT OPTION", "REFERENCES", "INDEX", "ALTER", "CREATE VIEW", "SHOW VIEW",
            "TRIGGER"]
DYNAMIC = ["ALLOW_NONEXISTENT_DEFINER", "APPLICATION_PASSWORD_ADMIN", "AUDIT_ABORT_EXEMPT", "AUTHENTICATION_POLICY_ADMIN", "BACKUP_ADMIN",
           "BINLOG_ADMIN", "BINLOG_ENCRYPTION_ADMIN", "CLONE_ADMIN", "CONNECTION_ADMIN", "ENCRYPTION_KEY_ADMIN", "FIREWALL_EXEMPT",
           "FLUSH_OPTIMIZER_COSTS", "FLUSH_PRIVILEGES", "FLUSH_STATUS", "FLUSH_TABLES", "FLUSH_USER_RESOURCES", "GROUP_REPLICATION_ADMIN", "GROUP_REPLICATION_STREAM",
           "INNODB_REDO_LOG_ARCHIVE", "INNODB_REDO_LOG_ENABLE", "OPTIMIZE_LOCAL_TABLE", "PASSWORDLESS_USER_ADMIN", "PERSIST_RO_VARIABLES_ADMIN",
           "REPLICATION_APPLIER", "REPLICATION_SLAVE_ADMIN", "RESOURCE_GROUP_ADMIN", "RESOURCE_GROUP_USER", "ROLE_ADMIN",
           "SENSITIVE_VARIABLES_OBSERVER", "SERVICE_CONNECTION_ADMIN", "SESSION_VARIABLES_ADMIN", "SET_ANY_DEFINER", "SHOW_ROUTINE", "SYSTEM_USER",
           "SYSTEM_VARIABLES_ADMIN", "TABLE_ENCRYPTION_ADMIN", "TRANSACTION_GTID_TAG", "XA_RECOVER_ADMIN"]

# Combinations: what root says, one statement each.
TOGETHER = {
    "ALTER, DROP on p1": ["GRANT ALTER, DROP ON p1.* TO m"],
    "ALTER, INSERT, CREATE on p1": ["GRANT ALTER, INSERT, CREATE ON p1.* TO m"],
    "ALTER, DROP, CREATE, INSERT on p1": ["GRANT ALTER, DROP, CREATE, INSERT ON p1.* TO m"],
    "ALTER, DROP on p1.t; CREATE, INSERT on p2": ["GRANT ALTER, DROP ON p1.t TO m", "GRANT CREATE, INSERT ON p2.* TO m"],
    "all on p2": ["GRANT ALL ON p2.* TO m"],
    "all on p2; SELECT on p1": ["GRANT ALL ON p2.* TO m", "GRANT SELECT ON p1.* TO m"],
    "all on p2; REFERENCES on p1.parent": ["GRANT ALL ON p2.* TO m", "GRANT REFERENCES ON p1.parent TO m"],
    "all on p2; REFERENCES (id) on p1.parent": ["GRANT ALL ON p2.* TO m", "GRANT REFERENCES (id) ON p1.parent TO m"],
    "all on p2; REFERENCES (n) on p1.parent": ["GRANT ALL ON p2.* TO m", "GRANT REFERENCES (n) ON p1.parent TO m"],
    "all on p1": ["GRANT ALL ON p1.* TO m"],
    "all on p1 with grant option": ["GRANT ALL ON p1.* TO m WITH GRANT OPTION"],
    "all on p1.t": ["GRANT ALL ON p1.t TO m"],
    "all on p1.t with grant option": ["GRANT ALL ON p1.t TO m WITH GRANT OPTION"],
    "CREATE, REFERENCES on p1": ["GRANT CREATE, REFERENCES ON p1.* TO m"],
    "CREATE, SELECT on p1": ["GRANT CREATE, SELECT ON p1.* TO m"],
    "CREATE, INSERT, SELECT on p1": ["GRANT CREATE, INSERT, SELECT ON p1.* TO m"],
    "SELECT, UPDATE on p1": ["GRANT SELECT, UPDATE ON p1.* TO m"],
    "SELECT, INSERT on p1": ["GRANT SELECT, INSERT ON p1.* TO m"],
    "SELECT, LOCK TABLES on p1": ["GRANT SELECT, LOCK TABLES ON p1.* TO m"],
    "SELECT, SHOW VIEW on p1": ["GRANT SELECT, SHOW VIEW ON p1.* TO m"],
    "SELECT, CREATE VIEW on p1": ["GRANT SELECT, CREATE VIEW ON p1.* TO m"],
    "CREATE VIEW, DROP on p1": ["GRANT CREATE VIEW, DROP ON p1.* TO m"],
    "SELECT, CREATE VIEW, DROP on p1": ["GRANT SELECT, CREATE VIEW, DROP ON p1.* TO m"],
    "CREATE VIEW, DROP on p1; SET_ANY_DEFINER": ["GRANT CREATE VIEW, DROP ON p1.* TO m", "GRANT SET_ANY_DEFINER ON *.* TO m"],
    "CREATE VIEW, DROP on p1; SET_ANY_DEFINER, ALLOW_NONEXISTENT_DEFINER, SYSTEM_USER": [
        "GRANT CREATE VIEW, DROP ON p1.* TO m", "GRANT SET_ANY_DEFINER, ALLOW_NONEXISTENT_DEFINER, SYSTEM_USER ON *.* TO m"],
    "CREATE VIEW, DROP on p1; SUPER": ["GRANT CREATE VIEW, DROP ON p1.* TO m", "GRANT SUPER ON *.* TO m"],
    "SELECT, INSERT, UPDATE, DELETE": ["GRANT SELECT, INSERT, UPDATE, DELETE ON *.* TO m"],
    "SELECT with grant option": ["GRANT SELECT ON *.* TO m WITH GRANT OPTION"],
    "SELECT on p1 with grant option": ["GRANT SELECT ON p1.* TO m WITH GRANT OPTION"],
    "SELECT on p1.t with grant option": ["GRANT SELECT ON p1.t TO m WITH GRANT OPTION"],
    "SELECT (a) on p1.t with grant option": ["GRANT SELECT (a) ON p1.t TO m WITH GRANT OPTION"],
    "BACKUP_ADMIN with grant option": ["GRANT BACKUP_ADMIN ON *.* TO m WITH GRANT OPTION"],
    "CREATE USER with grant option": ["GRANT CREATE USER ON *.* TO m WITH GRANT OPTION"],
    "CREATE USER, SYSTEM_USER": ["GRANT CREATE USER ON *.* TO m", "GRANT SYSTEM_USER ON *.* TO m"],
    "CREATE USER, ROLE_ADMIN": ["GRANT CREATE USER ON *.* TO m", "GRANT ROLE_ADMIN ON *.* TO m"],
    "CREATE USER, RELOAD": ["GRANT CREATE USER, RELOAD ON *.* TO m"],
    "CREATE USER, SELECT on mysql": ["GRANT CREATE USER ON *.* TO m", "GRANT SELECT ON mysql.* TO m"],
    "all on mysql": ["GRANT ALL ON mysql.* TO m"],
    "SELECT on mysql.user": ["GRANT SELECT ON mysql.user TO m"],
    "UPDATE on mysql": ["GRANT UPDATE ON mysql.* TO m"],
    "SELECT on performance_schema": ["GRANT SELECT ON performance_schema.* TO m"],
    "ROLE_ADMIN, SYSTEM_USER": ["GRANT ROLE_ADMIN, SYSTEM_USER ON *.* TO m"],
    "CONNECTION_ADMIN, SYSTEM_USER": ["GRANT CONNECTION_ADMIN, SYSTEM_USER ON *.* TO m"],
    "SYSTEM_VARIABLES_ADMIN, SYSTEM_USER": ["GRANT SYSTEM_VARIABLES_ADMIN, SYSTEM_USER ON *.* TO m"],
    "SYSTEM_VARIABLES_ADMIN, ROLE_ADMIN": ["GRANT SYSTEM_VARIABLES_ADMIN, ROLE_ADMIN ON *.* TO m"],
    "SYSTEM_VARIABLES_ADMIN, PERSIST_RO_VARIABLES_ADMIN": ["GRANT SYSTEM_VARIABLES_ADMIN, PERSIST_RO_VARIABLES_ADMIN ON *.* TO m"],
    "LOCK TABLES on p1; RELOAD": ["GRANT LOCK TABLES, SELECT ON p1.* TO m", "GRANT RELOAD ON *.* TO m"],
    "SUPER, CREATE USER": ["GRANT SUPER, CREATE USER ON *.* TO m"],
    "all but SYSTEM_USER": ["GRANT ALL ON *.* TO m WITH GRANT OPTION", "REVOKE SYSTEM_USER ON *.* FROM m"],
    "all": ["GRANT ALL ON *.* TO m WITH GRANT OPTION"],
    "pattern p_": ["GRANT SELECT ON `p_`.* TO m"],
    "pattern p%": ["GRANT SELECT, INSERT ON `p%`.* TO m"],
    "escaped pattern p\\_": ["GRANT SELECT ON `p\\_`.* TO m"],
    "pattern p_ and p1": ["GRANT SELECT ON `p_`.* TO m", "GRANT INSERT ON p1.* TO m"],
    "pattern p% and p_": ["GRANT SELECT ON `p%`.* TO m", "GRANT INSERT ON `p_`.* TO m"],
    "pattern p% and p1.t": ["GRANT SELECT ON `p%`.* TO m", "GRANT INSERT ON p1.t TO m"],
    "role r1, not active": ["GRANT r1 TO m"],
    "role r1, active": ["GRANT r1 TO m", "SET DEFAULT ROLE r1 TO m"],
    "role r1, with admin option": ["GRANT r1, r2 TO m WITH ADMIN OPTION"],
    "role rs, not active": ["GRANT rs TO m"],
    "role rs, active": ["GRANT rs TO m", "SET DEFAULT ROLE rs TO m", "GRANT CREATE USER ON *.* TO m", "GRANT CONNECTION_ADMIN ON *.* TO m"],
    "role r1, active; SELECT on p2": ["GRANT r1 TO m", "SET DEFAULT ROLE r1 TO m", "GRANT SELECT ON p2.* TO m"],
    "SELECT on p1.v": ["GRANT SELECT ON p1.v TO m"],
    "SELECT, UPDATE, INSERT, DELETE on p1.v": ["GRANT SELECT, UPDATE, INSERT, DELETE ON p1.v TO m"],
    "SELECT, SHOW VIEW on p1.v": ["GRANT SELECT, SHOW VIEW ON p1.v TO m"],
    "SELECT, SHOW VIEW on p1.v; SELECT on p1.t": ["GRANT SELECT, SHOW VIEW ON p1.v TO m", "GRANT SELECT ON p1.t TO m"],
    "SELECT, SHOW VIEW on p1.vi": ["GRANT SELECT, SHOW VIEW, UPDATE, INSERT ON p1.vi TO m"],
    "SELECT, SHOW VIEW on p1.vi; SELECT on p1.t": ["GRANT SELECT, SHOW VIEW ON p1.vi TO m", "GRANT SELECT ON p1.t TO m"],
    "SELECT (a) on p1.v": ["GRANT SELECT (a) ON p1.v TO m"],
    "SELECT on p1.vs": ["GRANT SELECT ON p1.vs TO m"],
    "DROP on p1.vs, p1.v": ["GRANT DROP, CREATE VIEW ON p1.vs TO m", "GRANT DROP, CREATE VIEW ON p1.v TO m"],
    "SELECT (a), INSERT (a), UPDATE (b) on p1.t": ["GRANT SELECT (a), INSERT (a), UPDATE (b) ON p1.t TO m"],
    "partial revokes: SELECT but on p1": ["SET GLOBAL partial_revokes = ON", "GRANT SELECT ON *.* TO m", "REVOKE SELECT ON p1.* FROM m"],
    "partial revokes: all but on p1": ["SET GLOBAL partial_revokes = ON", "GRANT ALL ON *.* TO m WITH GRANT OPTION", "REVOKE ALL ON p1.* FROM m"],
    "partial revokes: all but on mysql": ["SET GLOBAL partial_revokes = ON", "GRANT ALL ON *.* TO m WITH GRANT OPTION", "REVOKE ALL ON mysql.* FROM m"],
    "partial revokes: CREATE USER; SELECT but on mysql": [
        "SET GLOBAL partial_revokes = ON", "GRANT SELECT, CREATE USER ON *.* TO m WITH GRANT OPTION", "REVOKE SELECT ON mysql.* FROM m"],
    "partial revokes: SELECT but on p1; role r1, active": [
        "SET GLOBAL partial_revokes = ON", "GRANT SELECT ON *.* TO m", "REVOKE SELECT ON p1.* FROM m", "GRANT r1 TO m", "SET DEFAULT ROLE r1 TO m"],
    "SYSTEM_VARIABLES_ADMIN, TRANSACTION_GTID_TAG": ["GRANT SYSTEM_VARIABLES_ADMIN, TRANSACTION_GTID_TAG ON *.* TO m"],
    "REPLICATION_APPLIER, SESSION_VARIABLES_ADMIN, TRANSACTION_GTID_TAG": ["GRANT REPLICATION_APPLIER, SESSION_VARIABLES_ADMIN, TRANSACTION_GTID_TAG ON *.* TO m"],
    "SYSTEM_VARIABLES_ADMIN, TABLE_ENCRYPTION_ADMIN": ["GRANT SYSTEM_VARIABLES_ADMIN, TABLE_ENCRYPTION_ADMIN ON *.* TO m"],
    "SYSTEM_VARIABLES_ADMIN, AUTHENTICATION_POLICY_ADMIN": ["GRANT SYSTEM_VARIABLES_ADMIN, AUTHENTICATION_POLICY_ADMIN ON *.* TO m"],
    "SYSTEM_VARIABLES_ADMIN, BINLOG_ENCRYPTION_ADMIN": ["GRANT SYSTEM_VARIABLES_ADMIN, BINLOG_ENCRYPTION_ADMIN ON *.* TO m"],
    "SYSTEM_VARIABLES_ADMIN, ENCRYPTION_KEY_ADMIN": ["GRANT SYSTEM_VARIABLES_ADMIN, ENCRYPTION_KEY_ADMIN ON *.* TO m"],
    "SELECT (a, b, c) on p1.t": ["GRANT SELECT (a, b, c) ON p1.t TO m"],
    "SELECT (a) on p1.t; SELECT on p1.u, p2.t": ["GRANT SELECT (a) ON p1.t TO m", "GRANT SELECT ON p1.u TO m", "GRANT SELECT ON p2.t TO m"],
}


def levels():
    """(name, statements of root)"""
    yield "none", []
    for one in STATIC:
        yield f"global {one}", [f"GRANT {one} ON *.* TO m"]
    for one in DYNAMIC:
        yield f"dynamic {one}", [f"GRANT {one} ON *.* TO m"]
    for one in OF_SCHEMA:
        yield f"schema {one}", [f"GRANT {one} ON p1.* TO m"]
    for one in OF_TABLE:
        yield f"table {one}", [f"GRANT {one} ON p1.t TO m"]
    for one in ("SELECT", "INSERT", "UPDATE", "REFERENCES"):
        yield f"column {one}", [f"GRANT {one} (a) ON p1.t TO m"]
    yield from TOGETHER.items()


def statements():
    """(kind, statement, undo)"""
    for line in STATEMENTS.strip().splitlines():
        kind, sql, *undo = (part.strip() for part in line.split(" | "))
        undo = [one.strip() for one in undo[0].replace("REFILL", REFILL).split(";")] if undo else []
        yield kind, sql, undo
    for line in SESSION_VARIABLES.strip().splitlines():
        name, value = line.split(None, 1)
        yield "set session", f"SET SESSION {name} = {value}", ["@"]
