CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (1);
TRUNCATE TABLE performance_schema.events_errors_summary_global_by_error;
INSERT INTO t VALUES (1);
INSERT INTO t VALUES (1);
SELECT * FROM nosuch;
SELECT nothing FROM t;
SELECT FROM t;
SELECT CAST('x' AS SIGNED);
SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 9999;
SIGNAL SQLSTATE '45000';
CREATE PROCEDURE handles() BEGIN DECLARE CONTINUE HANDLER FOR 1146, 1062 SET @handled = COALESCE(@handled, 0) + 1; SELECT * FROM nosuch; INSERT INTO t VALUES (1); SELECT nothing FROM t; END;
CALL handles();
SELECT ERROR_NUMBER, ERROR_NAME, SQL_STATE, SUM_ERROR_RAISED, SUM_ERROR_HANDLED, FIRST_SEEN <= LAST_SEEN, LAST_SEEN > NOW() - INTERVAL 1 HOUR FROM performance_schema.events_errors_summary_global_by_error WHERE SUM_ERROR_RAISED > 0 OR SUM_ERROR_HANDLED > 0 ORDER BY ERROR_NUMBER;
SELECT ERROR_NUMBER, SUM_ERROR_RAISED, SUM_ERROR_HANDLED FROM performance_schema.events_errors_summary_by_user_by_error WHERE USER = 'root' AND SUM_ERROR_RAISED > 0 ORDER BY ERROR_NUMBER;
SELECT e.ERROR_NUMBER, SUM_ERROR_RAISED, SUM_ERROR_HANDLED FROM performance_schema.events_errors_summary_by_thread_by_error e JOIN performance_schema.threads t USING (THREAD_ID) WHERE PROCESSLIST_ID = CONNECTION_ID() AND SUM_ERROR_RAISED > 0 ORDER BY 1;
SELECT COUNT(*), SUM(SUM_ERROR_RAISED), COUNT(FIRST_SEEN) FROM performance_schema.events_errors_summary_global_by_error WHERE ERROR_NUMBER IN (1050, 1051, 1213, 3024);
SELECT ERROR_NUMBER, ERROR_NAME, SQL_STATE, SUM_ERROR_RAISED, SUM_ERROR_HANDLED, FIRST_SEEN, LAST_SEEN FROM performance_schema.events_errors_summary_global_by_error WHERE ERROR_NUMBER = 1213;
-- on other
SELECT * FROM nosuch;
-- on main
SELECT SUM_ERROR_RAISED FROM performance_schema.events_errors_summary_global_by_error WHERE ERROR_NUMBER = 1146;
TRUNCATE TABLE performance_schema.events_errors_summary_global_by_error;
SELECT SUM(SUM_ERROR_RAISED), COUNT(LAST_SEEN) FROM performance_schema.events_errors_summary_global_by_error;
