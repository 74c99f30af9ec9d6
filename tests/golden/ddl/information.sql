-- information_schema over one small schema: what tools ask
CREATE TABLE author (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL, born DATE, bio TEXT, score DECIMAL(6,2) UNSIGNED DEFAULT 1.50, kind ENUM('a','b') NOT NULL DEFAULT 'a', flags SET('x','y'), made TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP, doc JSON, raw VARBINARY(16), up VARCHAR(60) AS (UPPER(name)) VIRTUAL, hid INT INVISIBLE, UNIQUE KEY un (name), KEY born_score (born, score DESC)) COMMENT='who writes' AUTO_INCREMENT=7;
CREATE TABLE book (isbn CHAR(13) NOT NULL, author_id INT UNSIGNED, title VARCHAR(200) CHARACTER SET latin1 COLLATE latin1_general_ci DEFAULT '', price DOUBLE DEFAULT 0, y YEAR, t TIME(3), dt DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), PRIMARY KEY (isbn), CONSTRAINT fk_a FOREIGN KEY (author_id) REFERENCES author (id) ON DELETE SET NULL ON UPDATE CASCADE, CONSTRAINT cheap CHECK (price < 1000));
CREATE VIEW cheap_books AS SELECT isbn, title, price FROM book WHERE price < 10;
SELECT TABLE_NAME, TABLE_TYPE, ENGINE, ROW_FORMAT, TABLE_COLLATION, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME;
SELECT COLUMN_NAME, ORDINAL_POSITION, COLUMN_DEFAULT, IS_NULLABLE, DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'author' ORDER BY ORDINAL_POSITION;
SELECT COLUMN_NAME, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'book' ORDER BY ORDINAL_POSITION;
SELECT COLUMN_NAME, CHARACTER_SET_NAME, COLLATION_NAME, COLUMN_TYPE, COLUMN_KEY, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION;
-- differs: type of a column: MySQL's is VAR_STRING
SELECT COLUMN_NAME, GENERATION_EXPRESSION, COLUMN_COMMENT FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND GENERATION_EXPRESSION <> '';
SELECT TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE, COLLATION, SUB_PART, NULLABLE, INDEX_TYPE, IS_VISIBLE, EXPRESSION FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX;
SELECT CONSTRAINT_NAME, TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, POSITION_IN_UNIQUE_CONSTRAINT, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() ORDER BY 2, 1, 4;
SELECT CONSTRAINT_NAME, TABLE_NAME, CONSTRAINT_TYPE, ENFORCED FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = DATABASE() ORDER BY 2, 1;
SELECT CONSTRAINT_NAME, UNIQUE_CONSTRAINT_NAME, MATCH_OPTION, UPDATE_RULE, DELETE_RULE, TABLE_NAME, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE();
SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE();
SELECT TABLE_NAME, VIEW_DEFINITION, CHECK_OPTION, IS_UPDATABLE, SECURITY_TYPE FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE();
SELECT SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = DATABASE();
SELECT CHARACTER_SET_NAME, DEFAULT_COLLATE_NAME, DESCRIPTION, MAXLEN FROM information_schema.CHARACTER_SETS WHERE CHARACTER_SET_NAME IN ('utf8mb4', 'latin1', 'ascii', 'binary', 'utf8mb3') ORDER BY 1;
SELECT COLLATION_NAME, CHARACTER_SET_NAME, ID, IS_DEFAULT, IS_COMPILED, PAD_ATTRIBUTE FROM information_schema.COLLATIONS WHERE COLLATION_NAME IN ('utf8mb4_0900_ai_ci', 'utf8mb4_general_ci', 'utf8mb4_bin', 'latin1_swedish_ci', 'binary', 'ascii_general_ci') ORDER BY ID;
SELECT COUNT(*) FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY WHERE CHARACTER_SET_NAME = 'ascii';
-- differs: another value
SELECT ENGINE, SUPPORT, TRANSACTIONS, XA, SAVEPOINTS FROM information_schema.ENGINES WHERE ENGINE = 'InnoDB';
SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE();
SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE();
SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE();
SELECT COUNT(*) FROM information_schema.PARAMETERS WHERE SPECIFIC_SCHEMA = DATABASE();
SELECT TABLE_NAME, PARTITION_NAME FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1;
SELECT VIEW_NAME, TABLE_NAME FROM information_schema.VIEW_TABLE_USAGE WHERE VIEW_SCHEMA = DATABASE();
SELECT DB, COMMAND FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID();
SELECT GRANTEE, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = 'SELECT' AND GRANTEE = '''root''@''localhost''';
SELECT * FROM information_schema.SCHEMA_PRIVILEGES WHERE TABLE_SCHEMA = 'golden';
SELECT * FROM information_schema.TABLE_PRIVILEGES WHERE TABLE_SCHEMA = 'golden';
SELECT TABLE_NAME FROM information_schema.tables WHERE table_schema = 'golden' AND table_name LIKE 'b%';
-- differs: another value
SELECT table_name, Table_Type FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'GOLDEN' ORDER BY 1;
SELECT COUNT(*) FROM information_schema.COLUMNS c JOIN information_schema.TABLES t USING (TABLE_SCHEMA, TABLE_NAME) WHERE t.TABLE_SCHEMA = DATABASE();
SELECT c.TABLE_NAME, COUNT(*) n FROM information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = DATABASE() GROUP BY c.TABLE_NAME HAVING n > 3 ORDER BY n DESC;
-- differs: error 1146 instead of 1109
SELECT * FROM information_schema.NOSUCH;
-- differs: error 1142 instead of 1044
INSERT INTO information_schema.TABLES VALUES (1);
-- differs: error 1142 instead of 1044
UPDATE information_schema.TABLES SET TABLE_NAME = 'x';
-- differs: error 1142 instead of 1044
DELETE FROM information_schema.TABLES;
-- differs: error 3552 instead of 1044
CREATE TABLE information_schema.x (a INT);
-- differs: error 3552 instead of 1044
DROP TABLE information_schema.TABLES;
-- differs: error 3552 instead of 1044
ALTER TABLE information_schema.TABLES ADD a INT;
-- differs: error 3552 instead of 1044
CREATE VIEW information_schema.v AS SELECT 1;
DROP DATABASE information_schema;
SHOW TABLES;
SHOW FULL COLUMNS FROM author;
SHOW COLUMNS FROM book;
SHOW CREATE TABLE author;
SHOW CREATE TABLE book;
SHOW CREATE VIEW cheap_books;
-- hide Cardinality
SHOW INDEX FROM author;
-- hide Cardinality
SHOW INDEX FROM book WHERE Non_unique = 0;
SHOW TABLES WHERE Tables_in_golden LIKE 'a%';
-- differs: error 1049
SHOW OPEN TABLES FROM nosuch;
-- differs: type of a column: MySQL's is STRING, TEXT, TIMESTAMP
SHOW TRIGGERS FROM golden;
-- differs: type of a column: MySQL's is DATETIME, LONG UNSIGNED, STRING
SHOW EVENTS FROM nosuch;
SHOW CREATE TABLE cheap_books;
DESCRIBE cheap_books;
DESCRIBE author name;
SHOW COLUMNS IN author FROM golden LIKE '%a%';
SHOW EXTENDED COLUMNS FROM nosuch;
HELP 'nosuchtopic';
USE information_schema;
SELECT DATABASE();
SHOW TABLES LIKE 'SCHEMATA';
USE golden;
SHOW VARIABLES LIKE 'version_comment_nosuch';
SHOW GLOBAL VARIABLES LIKE 'max_allowed_packet';
SHOW VARIABLES WHERE Value = 'utf8mb4_0900_ai_ci' AND Variable_name LIKE 'collation_conn%';
SELECT @@global.autocommit, @@session.autocommit, @@local.autocommit, @@autocommit;
SELECT @@nosuch;
SELECT @@global.insert_id;
SELECT @@session.max_connections;
SET @@nosuch = 1;
SET GLOBAL insert_id = 1;
SET SESSION max_connections = 1;
SET version = 'x';
SET autocommit = 2;
SET autocommit = 'on';
SET autocommit = OFF, autocommit = 1;
SET max_allowed_packet = 1024;
SET sort_buffer_size = 'x';
SET sort_buffer_size = 1.5;
SET sort_buffer_size = 1;
SHOW VARIABLES LIKE 'sort_buffer_size';
SET sort_buffer_size = DEFAULT;
SET transaction_isolation = 'READ-COMMITTED';
SELECT @@transaction_isolation;
SET transaction_isolation = 'nosuch';
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SELECT @@transaction_isolation, @@transaction_read_only;
SET TRANSACTION READ ONLY;
-- differs: error 1231
SET lc_time_names = 'de_DE';
-- differs: another value
SELECT DAYNAME('2024-01-01'), MONTHNAME('2024-03-01'), DATE_FORMAT('2024-03-01', '%a %b');
-- differs: error 1231 instead of 1649
SET lc_time_names = 'nosuch';
SET lc_time_names = DEFAULT;
SET character_set_results = NULL;
SELECT @@character_set_results;
SET NAMES utf8mb4;
SET collation_connection = 'nosuch';
SET character_set_client = 'ucs2';
SET default_storage_engine = 'nosuch';
SET time_zone = 'nosuch';
SET foreign_key_checks = 'x';
SET @a = (SELECT COUNT(*) FROM author), @b := 5;
SELECT @a, @b;
SET @c = nosuch;
SET PERSIST nosuch = 1;
RESET PERSIST nosuch;
RESET PERSIST IF EXISTS nosuch;
-- Digits of numbers that are not exact.
CREATE TABLE inexact (a DOUBLE(8,3), b DOUBLE, c FLOAT(7,2) UNSIGNED, d FLOAT, e FLOAT(30), f REAL(5,0), g BIT(9), h YEAR);
SELECT column_name, data_type, character_maximum_length, numeric_precision, numeric_scale, column_type FROM information_schema.columns
  WHERE table_schema = DATABASE() AND table_name = 'inexact' ORDER BY ordinal_position;
DROP TABLE inexact;
CREATE VIEW of_view AS SELECT isbn FROM cheap_books;
CREATE VIEW of_both AS SELECT (SELECT MAX(id) FROM author) AS m UNION SELECT COUNT(*) FROM of_view;
CREATE VIEW of_cte AS WITH q AS (SELECT 1 AS x FROM book) SELECT * FROM q;
CREATE VIEW of_nothing AS SELECT 1;
SELECT * FROM information_schema.VIEW_TABLE_USAGE WHERE VIEW_SCHEMA = DATABASE() ORDER BY VIEW_NAME, TABLE_NAME;
