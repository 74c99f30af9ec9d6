-- SHOW OPEN TABLES tells which tables are in use: by LOCK TABLES, and by statements that run.
CREATE TABLE t (a INT);
CREATE TABLE u (a INT);
SHOW OPEN TABLES FROM golden WHERE In_use > 0;
LOCK TABLES t WRITE, u READ;
-- sort
SHOW OPEN TABLES FROM golden;
SHOW OPEN TABLES FROM golden LIKE 'u';
SHOW OPEN TABLES FROM missing;
UNLOCK TABLES;
SHOW OPEN TABLES FROM golden WHERE In_use > 0;
-- on other
LOCK TABLES golden.t READ;
-- on main
LOCK TABLES t READ;
SHOW OPEN TABLES FROM golden WHERE In_use > 0;
UNLOCK TABLES;
SHOW OPEN TABLES FROM golden WHERE In_use > 0;
-- on other
UNLOCK TABLES;
-- on main
-- There are help texts in MySQL's tables, and none here.
SELECT name FROM mysql.help_topic WHERE name = 'no such topic';
SELECT * FROM mysql.help_category WHERE name = 'no such category';
SELECT * FROM mysql.help_keyword WHERE name = 'NO SUCH KEYWORD';
SELECT * FROM mysql.help_relation WHERE help_topic_id = 1000000;
