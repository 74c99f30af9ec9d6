-- An aggregate is for the rows of a query: values of a program, of SET and of CALL have none.
CREATE PROCEDURE shows(x INT) SELECT x;
CALL shows(COUNT(*));
CALL shows(MAX(1));
CALL shows((SELECT MAX(1)));
CREATE PROCEDURE sets() BEGIN DECLARE x INT; SET x = COUNT(*); SELECT x; END;
CALL sets();
CREATE PROCEDURE declares() BEGIN DECLARE x INT DEFAULT MAX(1); SELECT x; END;
CALL declares();
CREATE PROCEDURE asks() BEGIN IF COUNT(*) THEN SELECT 1; END IF; END;
CALL asks();
CREATE PROCEDURE of_the_server() SET @@SESSION.sort_buffer_size = MAX(100000);
CALL of_the_server();
CREATE PROCEDURE of_the_user() SET @a = SUM(3);
CALL of_the_user();
DO COUNT(*);
CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN COUNT(*);
SELECT f();
CALL shows(ROW_NUMBER() OVER ());
