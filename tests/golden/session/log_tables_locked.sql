-- Tables of logs are read, and emptied, and nothing else; computed tables take no lock for a copy of their file.
LOCK TABLES mysql.general_log READ;
LOCK TABLES mysql.slow_log WRITE;
CREATE TABLE t (a INT PRIMARY KEY);
LOCK TABLES t READ, mysql.slow_log READ LOCAL;
INSERT INTO t VALUES (1);
FLUSH TABLES mysql.general_log WITH READ LOCK;
SELECT argument FROM mysql.general_log WHERE 0 FOR UPDATE;
SELECT t.a FROM t, mysql.slow_log WHERE 0 FOR UPDATE OF slow_log;
SELECT argument FROM mysql.general_log WHERE 0 FOR SHARE;
SELECT t.a FROM t, mysql.slow_log WHERE 0 FOR UPDATE OF t;
INSERT INTO mysql.general_log (argument) VALUES ('x');
UPDATE mysql.slow_log SET db = 'x';
DELETE FROM mysql.general_log;
INSERT INTO t SELECT 2 FROM mysql.general_log WHERE 0;
FLUSH TABLES performance_schema.threads FOR EXPORT;
FLUSH TABLES performance_schema.accounts FOR EXPORT;

-- A log is written to a regular file.
SET GLOBAL general_log_file = '/dev/null';
SET GLOBAL slow_query_log_file = '/dev/full';
SET GLOBAL general_log_file = '/proc/self/status';
UNLOCK TABLES;
DROP TABLE t;
