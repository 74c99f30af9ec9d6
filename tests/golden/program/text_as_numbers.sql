-- Strings where numbers are wanted: long ones are read quietly, short ones warn, or fail under a strict mode.
CREATE PROCEDURE assigned() BEGIN DECLARE t TEXT DEFAULT 'abc'; DECLARE b BLOB DEFAULT 'abc'; DECLARE y DOUBLE; SET y = t + 0; SHOW WARNINGS; SET y = b + 1; SHOW WARNINGS; SET y = IF(t >= 1e3, 1, 2); SHOW WARNINGS; SELECT y; SET y = CAST(t AS SIGNED); END;
CALL assigned();
CREATE PROCEDURE short() BEGIN DECLARE v VARCHAR(10) DEFAULT 'abc'; DECLARE y DOUBLE; SET y = IF(v >= 1e3, 1, 2); END;
CALL short();
CREATE PROCEDURE tested() BEGIN DECLARE t TEXT DEFAULT '12x'; IF t >= 1e3 THEN SELECT 1; ELSE SELECT 2; END IF; SHOW WARNINGS; IF t THEN SELECT 3; END IF; SHOW WARNINGS; SELECT t + 0, t BETWEEN 1 AND 20, t IN (1, 12), -t, t | 1; SHOW WARNINGS; END;
CALL tested();
CREATE FUNCTION big(x TEXT) RETURNS TEXT DETERMINISTIC RETURN IF(x >= 1e3, 'big', CONCAT('small', x));
SELECT big('abc'), big('1234x'), big(NULL);
CREATE FUNCTION big_short(x VARCHAR(20)) RETURNS TEXT DETERMINISTIC RETURN IF(x >= 1e3, 'big', CONCAT('small', x));
SELECT big_short('1234');
SELECT big_short('abc');
SELECT sys.format_time('abc'), sys.format_time('123x');
CREATE TABLE t (a INT);
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN DECLARE x TEXT DEFAULT '7z'; SET NEW.a = x + NEW.a; END;
INSERT INTO t VALUES (1);
SELECT * FROM t;
-- What CASE compares is kept, and read quietly.
CREATE PROCEDURE compared(v VARCHAR(10), c CHAR(5), b VARBINARY(10)) BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING SELECT 'warned'; CASE v WHEN 1e3 THEN SELECT 1; WHEN 12 THEN SELECT 12; ELSE SELECT 'else'; END CASE; CASE c WHEN 12 THEN SELECT 12; ELSE SELECT 'else'; END CASE; CASE b WHEN 12 THEN SELECT 12; ELSE SELECT 'else'; END CASE; CASE v WHEN 'abc' THEN SELECT 'abc'; WHEN '12x' THEN SELECT '12x'; ELSE SELECT 'else'; END CASE; END;
CALL compared('abc', 'abc', 'abc');
CALL compared('12x', '12x', '12x');
CALL compared('12', '12', '12');
CREATE PROCEDURE members(e ENUM('a', '1x', 'b')) BEGIN CASE e WHEN 2 THEN SELECT 'second'; WHEN 1 THEN SELECT 'one'; WHEN 'b' THEN SELECT 'b'; ELSE SELECT 'else'; END CASE; END;
CALL members('a');
CALL members('1x');
CALL members('b');
