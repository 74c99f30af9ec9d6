-- Whose right it is to call the functions of a view.
SET GLOBAL log_bin_trust_function_creators = 1;
CREATE TABLE t (a INT);
INSERT INTO t VALUES (1);
CREATE FUNCTION who() RETURNS VARCHAR(100) SQL SECURITY INVOKER RETURN CURRENT_USER();
CREATE USER views_user@'%' IDENTIFIED BY '';
GRANT SELECT ON golden.t TO views_user@'%';
CREATE DEFINER = views_user@'%' VIEW v AS SELECT a, who() AS w FROM t;
SELECT a FROM v;
SELECT * FROM v;
GRANT EXECUTE ON FUNCTION who TO views_user@'%';
SELECT * FROM v;
CREATE DEFINER = views_user@'%' SQL SECURITY INVOKER VIEW i AS SELECT a, who() AS w FROM t;
SELECT * FROM i;
DROP USER views_user@'%';
SELECT * FROM i;
SET GLOBAL log_bin_trust_function_creators = 0;
