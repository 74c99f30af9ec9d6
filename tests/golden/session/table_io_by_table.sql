-- Rows read and changed by table and index. A statement's reads of rows that are not there are counted by MySQL and not here.
CREATE TABLE t (id INT PRIMARY KEY, k INT, v INT, KEY k (k));
CREATE TABLE u (v INT);
INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
INSERT INTO u VALUES (1), (2);
INSERT INTO u SELECT v FROM t;
SELECT * FROM t;
SELECT * FROM t WHERE id = 2;
SELECT v FROM t WHERE k = 2;
UPDATE t SET v = 9 WHERE id = 1;
DELETE FROM t WHERE id = 3;
SELECT object_type, object_name, count_write, count_insert, count_update, count_delete
FROM performance_schema.table_io_waits_summary_by_table WHERE object_schema = 'golden' ORDER BY object_name;
SELECT object_name, index_name, count_insert, count_update, count_delete
FROM performance_schema.table_io_waits_summary_by_index_usage WHERE object_schema = 'golden'
ORDER BY object_name, index_name;
SELECT object_name, index_name, count_fetch FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE object_schema = 'golden' AND index_name = 'k';
DROP TABLE u;
SELECT COUNT(*) FROM performance_schema.table_io_waits_summary_by_table WHERE object_schema = 'golden';
SELECT event_name FROM performance_schema.file_summary_by_event_name
WHERE event_name IN ('wait/io/file/innodb/innodb_data_file', 'wait/io/file/innodb/innodb_log_file', 'wait/io/file/sql/binlog',
  'wait/io/file/sql/binlog_index', 'wait/io/file/sql/relaylog', 'wait/io/file/innodb/innodb_dblwr_file') ORDER BY 1;
SELECT event_name FROM performance_schema.events_waits_summary_global_by_event_name
WHERE event_name IN ('idle', 'wait/lock/metadata/sql/mdl', 'wait/io/table/sql/handler',
  'wait/synch/cond/sql/Item_func_sleep::cond', 'wait/io/socket/sql/client_connection') ORDER BY 1;
SELECT COUNT(*) > 0 FROM performance_schema.file_instances WHERE event_name = 'wait/io/file/innodb/innodb_data_file';
