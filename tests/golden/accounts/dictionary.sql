-- Names of MySQL's dictionary in the schema mysql: no statement may name such a table.

SELECT * FROM mysql.tables;

SELECT 1 FROM mysql.innodb_ddl_log;

SELECT * FROM mysql.TABLES;

INSERT INTO mysql.schemata VALUES (1);

UPDATE mysql.events SET a = 1;

DELETE FROM mysql.routines;

CREATE TABLE mysql.triggers (a INT);

CREATE TABLE IF NOT EXISTS mysql.dd_properties (a INT);

CREATE VIEW mysql.columns AS SELECT 1;

CREATE VIEW dictionary_view AS SELECT * FROM mysql.columns;

DROP TABLE IF EXISTS mysql.indexes;

DROP VIEW mysql.tables;

ALTER TABLE mysql.catalogs ADD COLUMN a INT;

TRUNCATE TABLE mysql.table_stats;

RENAME TABLE mysql.tables TO mysql.x;

LOCK TABLES mysql.tables READ;

HANDLER mysql.tables OPEN;

CHECK TABLE mysql.collations;

ANALYZE TABLE mysql.character_sets;

CHECKSUM TABLE mysql.index_stats;

DESCRIBE mysql.parameters;

SHOW COLUMNS FROM tables FROM mysql;

SHOW INDEX FROM mysql.foreign_keys;

SHOW CREATE TABLE mysql.tablespaces;

EXPLAIN SELECT * FROM mysql.tables;

GRANT SELECT ON mysql.tables TO nobody_there;

REVOKE SELECT ON mysql.tables FROM nobody_there;

PREPARE s FROM 'SELECT * FROM mysql.tables';

WITH tables AS (SELECT 1 a) SELECT * FROM tables;

CREATE TABLE tables (a INT);

SELECT * FROM tables;

USE mysql;

SELECT * FROM tables;

SELECT 1 FROM user u, tables t;

WITH tables AS (SELECT 1 a) SELECT * FROM tables;

SELECT * FROM (SELECT 1 a) tables;

USE golden;

DROP TABLE tables;
