-- information_schema and SHOW of a small schema.
CREATE TABLE dept (id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(40) NOT NULL, kind ENUM('a','b') DEFAULT 'a', PRIMARY KEY (id), UNIQUE KEY uname (name)) COMMENT='departments';
CREATE TABLE emp (id BIGINT NOT NULL PRIMARY KEY, dept_id SMALLINT UNSIGNED, email CHAR(60) CHARACTER SET latin1, salary DECIMAL(10,2) DEFAULT '0.00', hired DATE, born DATETIME(3), stamp TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, bits BIT(4) DEFAULT b'101', f FLOAT, d DOUBLE(8,3), t TIME(2), y YEAR, doc JSON, bin VARBINARY(20), body LONGTEXT, tags SET('x','y'), total INT AS (id + 1) STORED, KEY kd (dept_id, hired DESC), KEY ke (email(10)), CONSTRAINT fk_dept FOREIGN KEY (dept_id) REFERENCES dept (id) ON DELETE SET NULL, CONSTRAINT pos CHECK (salary >= 0)) ROW_FORMAT=COMPACT;
SELECT TABLE_NAME, TABLE_TYPE, ENGINE, VERSION, ROW_FORMAT, TABLE_COLLATION, CREATE_OPTIONS, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'golden' ORDER BY 1;
SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'golden' ORDER BY TABLE_NAME, ORDINAL_POSITION;
-- hide CARDINALITY
SELECT * FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'golden' ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX;
SELECT * FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = 'golden' ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION;
SELECT * FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = 'golden' ORDER BY TABLE_NAME, CONSTRAINT_NAME;
SELECT * FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'golden';
SELECT * FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'golden';
-- differs: columns of type NULL
SELECT * FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'golden';
SELECT * FROM information_schema.SCHEMATA_EXTENSIONS WHERE SCHEMA_NAME = 'golden';
-- hide AVG_ROW_LENGTH, DATA_LENGTH
SELECT TABLE_SCHEMA, TABLE_NAME, PARTITION_NAME, PARTITION_ORDINAL_POSITION, PARTITION_METHOD, PARTITION_DESCRIPTION, AVG_ROW_LENGTH, DATA_LENGTH, PARTITION_COMMENT, TABLESPACE_NAME FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = 'golden' ORDER BY TABLE_NAME;
SELECT * FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'golden';
-- differs: columns of type NULL
SELECT * FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'golden';
-- differs: one column is an ENUM on the wire
SELECT * FROM information_schema.PARAMETERS WHERE SPECIFIC_SCHEMA = 'golden';
-- differs: columns of type NULL
SELECT * FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'golden';
SELECT * FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'golden';
SELECT * FROM information_schema.COLUMN_PRIVILEGES WHERE TABLE_SCHEMA = 'golden';
SELECT * FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'golden';
SELECT * FROM information_schema.TABLES_EXTENSIONS WHERE TABLE_SCHEMA = 'golden' ORDER BY TABLE_NAME;
-- differs: plain keys are listed too
SELECT * FROM information_schema.TABLE_CONSTRAINTS_EXTENSIONS WHERE CONSTRAINT_SCHEMA = 'golden' ORDER BY TABLE_NAME, CONSTRAINT_NAME;
SELECT WORD, RESERVED FROM information_schema.KEYWORDS WHERE WORD IN ('SELECT', 'WINDOW', 'VALUE', 'ACTION') ORDER BY 1;
SHOW TABLES;
-- differs: Table_type is an ENUM
SHOW FULL TABLES;
SHOW TABLES LIKE 'd%';
SHOW FULL COLUMNS FROM emp;
SHOW COLUMNS FROM emp LIKE 'd%';
SHOW COLUMNS FROM emp WHERE `Null` = 'NO';
DESCRIBE dept;
DESC emp email;
-- hide Cardinality
SHOW INDEX FROM emp;
-- hide Cardinality
SHOW KEYS FROM dept WHERE Key_name = 'PRIMARY';
-- hide Rows, Avg_row_length, Data_length, Index_length, Create_time, Update_time, Data_free, Max_data_length
-- differs: AUTO_INCREMENT is NULL before statistics are gathered
SHOW TABLE STATUS;
-- hide Rows, Avg_row_length, Data_length, Index_length, Create_time, Update_time, Data_free, Max_data_length
-- differs: AUTO_INCREMENT is NULL before statistics are gathered
SHOW TABLE STATUS LIKE 'dept';
SHOW CREATE TABLE dept;
SHOW CREATE TABLE emp;
SHOW CREATE DATABASE golden;
-- differs: column types
SHOW TRIGGERS;
-- differs: column types
SHOW EVENTS;
-- differs: column types
SHOW PROCEDURE STATUS WHERE Db = 'golden';
-- differs: column types
SHOW FUNCTION STATUS WHERE Db = 'golden';
SHOW CHARACTER SET LIKE 'utf8mb4';
SHOW COLLATION LIKE 'utf8mb4_0900_ai_ci';
SHOW CREATE TABLE nope;
SHOW COLUMNS FROM nope;
SHOW INDEX FROM nope;
SHOW TABLES FROM nope;
SHOW CREATE VIEW dept;
SHOW CREATE DATABASE nope;
