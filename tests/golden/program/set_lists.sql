-- SET with several items in programs: variables of the program between system variables, user variables, NAMES.
CREATE PROCEDURE behind_a_scope() BEGIN DECLARE l INT DEFAULT 7; SET SESSION max_join_size = 5000, sort_buffer_size = l * 100000; SELECT @@max_join_size, @@sort_buffer_size; SET SESSION max_join_size = 6000, l = 9; SELECT @@max_join_size, l; SET l = 2, SESSION sort_buffer_size = l * 50000, l = 3; SELECT l, @@sort_buffer_size; END;
CALL behind_a_scope();
CREATE PROCEDURE behind_at() BEGIN DECLARE l INT; DECLARE s VARCHAR(30) DEFAULT 'STRICT_ALL_TABLES'; SET @@session.sql_mode = s, l = 8, @x = l; SELECT @@sql_mode, l, @x; SET @x = 1, l = @x + 1, SESSION sql_mode = '', @y = l; SELECT l, @@sql_mode, @y; END;
CALL behind_at();
CREATE PROCEDURE behind_names() BEGIN DECLARE l INT; SET NAMES latin1, l = 4; SELECT @@character_set_client, l; SET l = 5, NAMES utf8mb4; SELECT @@character_set_client, l; SET CHARACTER SET latin1, l = 6; SELECT @@character_set_client, l; SET NAMES utf8mb4; END;
CALL behind_names();
CREATE PROCEDURE unknown() BEGIN DECLARE l INT; SET SESSION l = 4; END;
CREATE PROCEDURE unknown() BEGIN DECLARE l INT; SET l = 1, SESSION m = 4; END;
CREATE PROCEDURE global_item() BEGIN DECLARE l BIGINT DEFAULT 300000; SET GLOBAL sort_buffer_size = l, l = 1; SELECT @@global.sort_buffer_size, l; SET GLOBAL sort_buffer_size = DEFAULT; END;
CALL global_item();
-- Those before a failing one are set.
CREATE PROCEDURE fails() BEGIN DECLARE l INT; DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SELECT 'handled', l, @z; SET @z = 1, l = 2, @@sort_buffer_size = 'x', l = 3, @z = 4; SELECT l, @z; END;
CALL fails();
CREATE FUNCTION in_function(a INT) RETURNS INT DETERMINISTIC BEGIN DECLARE l INT; SET SESSION sort_buffer_size = a, l = a + 1; RETURN l; END;
SELECT in_function(100000), @@sort_buffer_size;
CREATE TABLE t (a INT, b INT);
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET SESSION sort_buffer_size = 200000, NEW.a = 5, @n = NEW.a, NEW.b = @n + 1;
INSERT INTO t VALUES (1, 1);
SELECT a, b, @@sort_buffer_size FROM t;
CREATE PROCEDURE whole() BEGIN DECLARE transaction INT DEFAULT 1; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET SESSION TRANSACTION READ ONLY; SELECT @@transaction_read_only; SET SESSION TRANSACTION READ WRITE; SET ROLE NONE; SET transaction = 2; SELECT transaction; END;
CALL whole();
