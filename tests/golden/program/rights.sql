-- Who may make and call procedures, and in whose name they run.
CREATE TABLE secret (a INT);
INSERT INTO secret VALUES (42);
CREATE USER programs_user@'%' IDENTIFIED BY '';
CREATE DEFINER = root@localhost PROCEDURE reveals() SELECT a, CURRENT_USER() FROM secret;
CREATE DEFINER = root@localhost PROCEDURE own_rights() SQL SECURITY INVOKER SELECT a, CURRENT_USER() FROM secret;
CREATE DEFINER = nobody@localhost PROCEDURE of_nobody() SELECT 1;
SHOW WARNINGS;
CALL of_nobody();
CALL reveals();
GRANT EXECUTE ON golden.* TO programs_user@'%';
CREATE DEFINER = programs_user@'%' PROCEDURE of_user() SELECT a FROM secret;
CALL of_user();
SELECT CURRENT_USER();
DROP PROCEDURE of_user;
DROP USER programs_user@'%';
