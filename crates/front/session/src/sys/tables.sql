-- Tables, their indexes, and the locks on them.
CREATE SQL SECURITY INVOKER VIEW x$ps_schema_table_statistics_io AS
SELECT sys.extract_schema_from_file_name(f.FILE_NAME) AS table_schema,
       sys.extract_table_from_file_name(f.FILE_NAME) AS table_name,
       SUM(f.COUNT_READ) AS count_read, SUM(f.SUM_NUMBER_OF_BYTES_READ) AS sum_number_of_bytes_read,
       SUM(f.SUM_TIMER_READ) AS sum_timer_read,
       SUM(f.COUNT_WRITE) AS count_write, SUM(f.SUM_NUMBER_OF_BYTES_WRITE) AS sum_number_of_bytes_write,
       SUM(f.SUM_TIMER_WRITE) AS sum_timer_write,
       SUM(f.COUNT_MISC) AS count_misc, SUM(f.SUM_TIMER_MISC) AS sum_timer_misc
  FROM performance_schema.file_summary_by_instance AS f
 GROUP BY table_schema, table_name
$$
CREATE SQL SECURITY INVOKER VIEW x$schema_table_statistics AS
SELECT t.OBJECT_SCHEMA AS table_schema, t.OBJECT_NAME AS table_name, t.SUM_TIMER_WAIT AS total_latency,
       t.COUNT_FETCH AS rows_fetched, t.SUM_TIMER_FETCH AS fetch_latency,
       t.COUNT_INSERT AS rows_inserted, t.SUM_TIMER_INSERT AS insert_latency,
       t.COUNT_UPDATE AS rows_updated, t.SUM_TIMER_UPDATE AS update_latency,
       t.COUNT_DELETE AS rows_deleted, t.SUM_TIMER_DELETE AS delete_latency,
       i.count_read AS io_read_requests, i.sum_number_of_bytes_read AS io_read, i.sum_timer_read AS io_read_latency,
       i.count_write AS io_write_requests, i.sum_number_of_bytes_write AS io_write, i.sum_timer_write AS io_write_latency,
       i.count_misc AS io_misc_requests, i.sum_timer_misc AS io_misc_latency
  FROM performance_schema.table_io_waits_summary_by_table AS t
  LEFT JOIN x$ps_schema_table_statistics_io AS i
    ON i.table_schema = t.OBJECT_SCHEMA AND i.table_name = t.OBJECT_NAME
 ORDER BY t.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW schema_table_statistics AS
SELECT v.table_schema, v.table_name, FORMAT_PICO_TIME(v.total_latency) AS total_latency, v.rows_fetched,
       FORMAT_PICO_TIME(v.fetch_latency) AS fetch_latency, v.rows_inserted,
       FORMAT_PICO_TIME(v.insert_latency) AS insert_latency, v.rows_updated,
       FORMAT_PICO_TIME(v.update_latency) AS update_latency, v.rows_deleted,
       FORMAT_PICO_TIME(v.delete_latency) AS delete_latency, v.io_read_requests,
       FORMAT_BYTES(v.io_read) AS io_read, FORMAT_PICO_TIME(v.io_read_latency) AS io_read_latency,
       v.io_write_requests, FORMAT_BYTES(v.io_write) AS io_write,
       FORMAT_PICO_TIME(v.io_write_latency) AS io_write_latency, v.io_misc_requests,
       FORMAT_PICO_TIME(v.io_misc_latency) AS io_misc_latency
  FROM x$schema_table_statistics AS v
 ORDER BY v.total_latency DESC
$$
CREATE ALGORITHM=TEMPTABLE SQL SECURITY INVOKER VIEW x$innodb_buffer_stats_by_schema AS
SELECT IF(LOCATE('.', p.TABLE_NAME) = 0, 'InnoDB System', REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, '.', 1), '`', '')) AS object_schema,
       CAST(SUM(IF(p.COMPRESSED_SIZE = 0, 16384, p.COMPRESSED_SIZE)) AS decimal(44, 0)) AS allocated,
       CAST(SUM(p.DATA_SIZE) AS decimal(44, 0)) AS data, COUNT(p.PAGE_NUMBER) AS pages,
       COUNT(IF(p.IS_HASHED = 'YES', 1, NULL)) AS pages_hashed, COUNT(IF(p.IS_OLD = 'YES', 1, NULL)) AS pages_old,
       IFNULL(CAST(ROUND(SUM(p.NUMBER_RECORDS) / NULLIF(COUNT(DISTINCT p.INDEX_NAME), 0)) AS decimal(45, 0)), 0) AS rows_cached
  FROM information_schema.INNODB_BUFFER_PAGE AS p
 WHERE p.TABLE_NAME IS NOT NULL
 GROUP BY object_schema
 ORDER BY allocated DESC
$$
CREATE SQL SECURITY INVOKER VIEW innodb_buffer_stats_by_schema AS
SELECT v.object_schema, FORMAT_BYTES(v.allocated) AS allocated, FORMAT_BYTES(v.data) AS data, v.pages,
       v.pages_hashed, v.pages_old, IF(v.pages > 0, v.rows_cached, NULL) AS rows_cached
  FROM x$innodb_buffer_stats_by_schema AS v
 ORDER BY v.allocated DESC
$$
CREATE ALGORITHM=TEMPTABLE SQL SECURITY INVOKER VIEW x$innodb_buffer_stats_by_table AS
SELECT IF(LOCATE('.', p.TABLE_NAME) = 0, 'InnoDB System', REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, '.', 1), '`', '')) AS object_schema,
       REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, '.', -1), '`', '') AS object_name,
       CAST(SUM(IF(p.COMPRESSED_SIZE = 0, 16384, p.COMPRESSED_SIZE)) AS decimal(44, 0)) AS allocated,
       CAST(SUM(p.DATA_SIZE) AS decimal(44, 0)) AS data, COUNT(p.PAGE_NUMBER) AS pages,
       COUNT(IF(p.IS_HASHED = 'YES', 1, NULL)) AS pages_hashed, COUNT(IF(p.IS_OLD = 'YES', 1, NULL)) AS pages_old,
       IFNULL(CAST(ROUND(SUM(p.NUMBER_RECORDS) / NULLIF(COUNT(DISTINCT p.INDEX_NAME), 0)) AS decimal(45, 0)), 0) AS rows_cached
  FROM information_schema.INNODB_BUFFER_PAGE AS p
 WHERE p.TABLE_NAME IS NOT NULL
 GROUP BY object_schema, object_name
 ORDER BY allocated DESC
$$
CREATE SQL SECURITY INVOKER VIEW innodb_buffer_stats_by_table AS
SELECT v.object_schema, v.object_name, FORMAT_BYTES(v.allocated) AS allocated, FORMAT_BYTES(v.data) AS data,
       v.pages, v.pages_hashed, v.pages_old, IF(v.pages > 0, v.rows_cached, NULL) AS rows_cached
  FROM x$innodb_buffer_stats_by_table AS v
 ORDER BY v.allocated DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$schema_table_statistics_with_buffer AS
SELECT t.OBJECT_SCHEMA AS table_schema, t.OBJECT_NAME AS table_name,
       t.COUNT_FETCH AS rows_fetched, t.SUM_TIMER_FETCH AS fetch_latency,
       t.COUNT_INSERT AS rows_inserted, t.SUM_TIMER_INSERT AS insert_latency,
       t.COUNT_UPDATE AS rows_updated, t.SUM_TIMER_UPDATE AS update_latency,
       t.COUNT_DELETE AS rows_deleted, t.SUM_TIMER_DELETE AS delete_latency,
       i.count_read AS io_read_requests, i.sum_number_of_bytes_read AS io_read, i.sum_timer_read AS io_read_latency,
       i.count_write AS io_write_requests, i.sum_number_of_bytes_write AS io_write, i.sum_timer_write AS io_write_latency,
       i.count_misc AS io_misc_requests, i.sum_timer_misc AS io_misc_latency,
       b.allocated AS innodb_buffer_allocated, b.data AS innodb_buffer_data,
       b.allocated - b.data AS innodb_buffer_free, b.pages AS innodb_buffer_pages,
       b.pages_hashed AS innodb_buffer_pages_hashed, b.pages_old AS innodb_buffer_pages_old,
       b.rows_cached AS innodb_buffer_rows_cached
  FROM performance_schema.table_io_waits_summary_by_table AS t
  LEFT JOIN x$ps_schema_table_statistics_io AS i
    ON i.table_schema = t.OBJECT_SCHEMA AND i.table_name = t.OBJECT_NAME
  LEFT JOIN x$innodb_buffer_stats_by_table AS b
    ON b.object_schema = t.OBJECT_SCHEMA AND b.object_name = t.OBJECT_NAME
 ORDER BY t.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW schema_table_statistics_with_buffer AS
SELECT v.table_schema, v.table_name, v.rows_fetched, FORMAT_PICO_TIME(v.fetch_latency) AS fetch_latency,
       v.rows_inserted, FORMAT_PICO_TIME(v.insert_latency) AS insert_latency, v.rows_updated,
       FORMAT_PICO_TIME(v.update_latency) AS update_latency, v.rows_deleted,
       FORMAT_PICO_TIME(v.delete_latency) AS delete_latency, v.io_read_requests,
       FORMAT_BYTES(v.io_read) AS io_read, FORMAT_PICO_TIME(v.io_read_latency) AS io_read_latency,
       v.io_write_requests, FORMAT_BYTES(v.io_write) AS io_write,
       FORMAT_PICO_TIME(v.io_write_latency) AS io_write_latency, v.io_misc_requests,
       FORMAT_PICO_TIME(v.io_misc_latency) AS io_misc_latency,
       FORMAT_BYTES(v.innodb_buffer_allocated) AS innodb_buffer_allocated,
       FORMAT_BYTES(v.innodb_buffer_data) AS innodb_buffer_data,
       FORMAT_BYTES(v.innodb_buffer_free) AS innodb_buffer_free, v.innodb_buffer_pages,
       v.innodb_buffer_pages_hashed, v.innodb_buffer_pages_old, v.innodb_buffer_rows_cached
  FROM x$schema_table_statistics_with_buffer AS v
$$
CREATE SQL SECURITY INVOKER VIEW x$schema_index_statistics AS
SELECT u.OBJECT_SCHEMA AS table_schema, u.OBJECT_NAME AS table_name, u.INDEX_NAME AS index_name,
       u.COUNT_FETCH AS rows_selected, u.SUM_TIMER_FETCH AS select_latency,
       u.COUNT_INSERT AS rows_inserted, u.SUM_TIMER_INSERT AS insert_latency,
       u.COUNT_UPDATE AS rows_updated, u.SUM_TIMER_UPDATE AS update_latency,
       u.COUNT_DELETE AS rows_deleted, u.SUM_TIMER_DELETE AS delete_latency
  FROM performance_schema.table_io_waits_summary_by_index_usage AS u
 WHERE u.INDEX_NAME IS NOT NULL
 ORDER BY u.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW schema_index_statistics AS
SELECT v.table_schema, v.table_name, v.index_name, v.rows_selected,
       FORMAT_PICO_TIME(v.select_latency) AS select_latency, v.rows_inserted,
       FORMAT_PICO_TIME(v.insert_latency) AS insert_latency, v.rows_updated,
       FORMAT_PICO_TIME(v.update_latency) AS update_latency, v.rows_deleted,
       FORMAT_PICO_TIME(v.delete_latency) AS delete_latency
  FROM x$schema_index_statistics AS v
$$
CREATE SQL SECURITY INVOKER VIEW x$schema_tables_with_full_table_scans AS
SELECT u.OBJECT_SCHEMA AS object_schema, u.OBJECT_NAME AS object_name,
       u.COUNT_READ AS rows_full_scanned, u.SUM_TIMER_WAIT AS latency
  FROM performance_schema.table_io_waits_summary_by_index_usage AS u
 WHERE u.INDEX_NAME IS NULL AND u.COUNT_READ > 0
 ORDER BY u.COUNT_READ DESC
$$
CREATE SQL SECURITY INVOKER VIEW schema_tables_with_full_table_scans AS
SELECT v.object_schema, v.object_name, v.rows_full_scanned, FORMAT_PICO_TIME(v.latency) AS latency
  FROM x$schema_tables_with_full_table_scans AS v
 ORDER BY v.rows_full_scanned DESC
$$
CREATE SQL SECURITY INVOKER VIEW schema_unused_indexes AS
SELECT u.OBJECT_SCHEMA AS object_schema, u.OBJECT_NAME AS object_name, u.INDEX_NAME AS index_name
  FROM performance_schema.table_io_waits_summary_by_index_usage AS u
  JOIN information_schema.STATISTICS AS s
    ON s.TABLE_SCHEMA = u.OBJECT_SCHEMA AND s.TABLE_NAME = u.OBJECT_NAME AND s.INDEX_NAME = u.INDEX_NAME
 WHERE u.COUNT_STAR = 0 AND u.OBJECT_SCHEMA <> 'mysql' AND u.INDEX_NAME <> 'PRIMARY'
   AND s.NON_UNIQUE = 1 AND s.SEQ_IN_INDEX = 1
 ORDER BY u.OBJECT_SCHEMA, u.OBJECT_NAME
$$
CREATE ALGORITHM=TEMPTABLE SQL SECURITY INVOKER VIEW x$schema_flattened_keys AS
SELECT s.TABLE_SCHEMA AS table_schema, s.TABLE_NAME AS table_name, s.INDEX_NAME AS index_name,
       MAX(s.NON_UNIQUE) AS non_unique, NULLIF(LEAST(COUNT(s.SUB_PART), 1), -1) AS subpart_exists,
       GROUP_CONCAT(s.COLUMN_NAME ORDER BY s.SEQ_IN_INDEX) AS index_columns
  FROM information_schema.STATISTICS AS s
 WHERE s.INDEX_TYPE = 'BTREE'
   AND s.TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
 GROUP BY s.TABLE_SCHEMA, s.TABLE_NAME, s.INDEX_NAME
$$
CREATE SQL SECURITY INVOKER VIEW schema_redundant_indexes AS
SELECT r.table_schema, r.table_name, r.index_name AS redundant_index_name, r.index_columns AS redundant_index_columns,
       r.non_unique AS redundant_index_non_unique, k.index_name AS dominant_index_name,
       k.index_columns AS dominant_index_columns, k.non_unique AS dominant_index_non_unique,
       IF(r.subpart_exists OR k.subpart_exists, 1, 0) AS subpart_exists,
       CONCAT('ALTER TABLE `', r.table_schema, '`.`', r.table_name, '` DROP INDEX `', r.index_name, '`') AS sql_drop_index
  FROM x$schema_flattened_keys AS r
  JOIN x$schema_flattened_keys AS k
    ON k.table_schema = r.table_schema AND k.table_name = r.table_name AND k.index_name <> r.index_name
 WHERE CASE
         -- Of two with the same columns: the one that says less, and of equals the one with the later name.
         WHEN r.index_columns = k.index_columns THEN
           r.non_unique > k.non_unique
           OR r.non_unique = k.non_unique
              AND IF(r.index_name = 'PRIMARY', '', r.index_name) > IF(k.index_name = 'PRIMARY', '', k.index_name)
         -- The columns are the first ones of the other, which may only be said of what is not unique itself.
         WHEN LOCATE(CONCAT(r.index_columns, ','), k.index_columns) = 1 THEN r.non_unique = 1
         -- A unique one within makes the rest of the columns superfluous.
         WHEN LOCATE(CONCAT(k.index_columns, ','), r.index_columns) = 1 THEN k.non_unique = 0
         ELSE FALSE
       END
$$
CREATE SQL SECURITY INVOKER VIEW schema_object_overview AS
SELECT t.TABLE_SCHEMA AS db, t.TABLE_TYPE AS object_type, COUNT(*) AS count
  FROM information_schema.TABLES AS t GROUP BY t.TABLE_SCHEMA, t.TABLE_TYPE
 UNION ALL
SELECT s.TABLE_SCHEMA, CONCAT('INDEX (', s.INDEX_TYPE, ')'), COUNT(*)
  FROM information_schema.STATISTICS AS s GROUP BY s.TABLE_SCHEMA, s.INDEX_TYPE
 UNION ALL
SELECT r.ROUTINE_SCHEMA, r.ROUTINE_TYPE, COUNT(*)
  FROM information_schema.ROUTINES AS r GROUP BY r.ROUTINE_SCHEMA, r.ROUTINE_TYPE
 UNION ALL
SELECT g.TRIGGER_SCHEMA, 'TRIGGER', COUNT(*) FROM information_schema.TRIGGERS AS g GROUP BY g.TRIGGER_SCHEMA
 UNION ALL
SELECT e.EVENT_SCHEMA, 'EVENT', COUNT(*) FROM information_schema.EVENTS AS e GROUP BY e.EVENT_SCHEMA
 ORDER BY db, object_type
$$
CREATE SQL SECURITY INVOKER VIEW schema_auto_increment_columns AS
SELECT c.TABLE_SCHEMA AS table_schema, c.TABLE_NAME AS table_name, c.COLUMN_NAME AS column_name, c.DATA_TYPE AS data_type,
       c.COLUMN_TYPE AS column_type,
       LOCATE('unsigned', c.COLUMN_TYPE) = 0 AS is_signed, LOCATE('unsigned', c.COLUMN_TYPE) > 0 AS is_unsigned,
       (CASE c.DATA_TYPE WHEN 'tinyint' THEN 255 WHEN 'smallint' THEN 65535 WHEN 'mediumint' THEN 16777215
                         WHEN 'int' THEN 4294967295 WHEN 'bigint' THEN 18446744073709551615 END
          >> IF(LOCATE('unsigned', c.COLUMN_TYPE) > 0, 0, 1)) AS max_value,
       t.AUTO_INCREMENT AS auto_increment,
       t.AUTO_INCREMENT / (CASE c.DATA_TYPE WHEN 'tinyint' THEN 255 WHEN 'smallint' THEN 65535
                                            WHEN 'mediumint' THEN 16777215 WHEN 'int' THEN 4294967295
                                            WHEN 'bigint' THEN 18446744073709551615 END
          >> IF(LOCATE('unsigned', c.COLUMN_TYPE) > 0, 0, 1)) AS auto_increment_ratio
  FROM information_schema.COLUMNS AS c
  JOIN information_schema.TABLES AS t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
 WHERE c.EXTRA = 'auto_increment' AND t.TABLE_TYPE = 'BASE TABLE'
   AND c.TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
 ORDER BY auto_increment_ratio DESC, max_value
$$
CREATE SQL SECURITY INVOKER VIEW x$innodb_lock_waits AS
SELECT r.trx_wait_started AS wait_started, TIMEDIFF(NOW(), r.trx_wait_started) AS wait_age,
       TIMESTAMPDIFF(SECOND, r.trx_wait_started, NOW()) AS wait_age_secs,
       CONCAT(sys.quote_identifier(rl.OBJECT_SCHEMA), '.', sys.quote_identifier(rl.OBJECT_NAME)) AS locked_table,
       rl.OBJECT_SCHEMA AS locked_table_schema, rl.OBJECT_NAME AS locked_table_name,
       rl.PARTITION_NAME AS locked_table_partition, rl.SUBPARTITION_NAME AS locked_table_subpartition,
       rl.INDEX_NAME AS locked_index, rl.LOCK_TYPE AS locked_type,
       r.trx_id AS waiting_trx_id, r.trx_started AS waiting_trx_started,
       TIMEDIFF(NOW(), r.trx_started) AS waiting_trx_age, r.trx_rows_locked AS waiting_trx_rows_locked,
       r.trx_rows_modified AS waiting_trx_rows_modified, r.trx_mysql_thread_id AS waiting_pid,
       r.trx_query AS waiting_query, rl.ENGINE_LOCK_ID AS waiting_lock_id, rl.LOCK_MODE AS waiting_lock_mode,
       b.trx_id AS blocking_trx_id, b.trx_mysql_thread_id AS blocking_pid, b.trx_query AS blocking_query,
       bl.ENGINE_LOCK_ID AS blocking_lock_id, bl.LOCK_MODE AS blocking_lock_mode,
       b.trx_started AS blocking_trx_started, TIMEDIFF(NOW(), b.trx_started) AS blocking_trx_age,
       b.trx_rows_locked AS blocking_trx_rows_locked, b.trx_rows_modified AS blocking_trx_rows_modified,
       IFNULL(CAST(CONCAT('KILL QUERY ', b.trx_mysql_thread_id) AS char(33)), '') AS sql_kill_blocking_query,
       IFNULL(CAST(CONCAT('KILL ', b.trx_mysql_thread_id) AS char(27)), '') AS sql_kill_blocking_connection
  FROM performance_schema.data_lock_waits AS w
  JOIN information_schema.INNODB_TRX AS r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID
  JOIN information_schema.INNODB_TRX AS b ON b.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID
  JOIN performance_schema.data_locks AS rl ON rl.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID
  JOIN performance_schema.data_locks AS bl ON bl.ENGINE_LOCK_ID = w.BLOCKING_ENGINE_LOCK_ID
 ORDER BY r.trx_wait_started
$$
CREATE SQL SECURITY INVOKER VIEW innodb_lock_waits AS
SELECT v.wait_started, v.wait_age, v.wait_age_secs, v.locked_table, v.locked_table_schema,
       v.locked_table_name, v.locked_table_partition, v.locked_table_subpartition, v.locked_index,
       v.locked_type, v.waiting_trx_id, v.waiting_trx_started, v.waiting_trx_age, v.waiting_trx_rows_locked,
       v.waiting_trx_rows_modified, v.waiting_pid, sys.format_statement(v.waiting_query) AS waiting_query,
       v.waiting_lock_id, v.waiting_lock_mode, v.blocking_trx_id, v.blocking_pid,
       sys.format_statement(v.blocking_query) AS blocking_query, v.blocking_lock_id, v.blocking_lock_mode,
       v.blocking_trx_started, v.blocking_trx_age, v.blocking_trx_rows_locked, v.blocking_trx_rows_modified,
       v.sql_kill_blocking_query, v.sql_kill_blocking_connection
  FROM x$innodb_lock_waits AS v
 ORDER BY v.wait_started
$$
CREATE SQL SECURITY INVOKER VIEW x$schema_table_lock_waits AS
SELECT g.OBJECT_SCHEMA AS object_schema, g.OBJECT_NAME AS object_name,
       pt.THREAD_ID AS waiting_thread_id, pt.PROCESSLIST_ID AS waiting_pid,
       sys.ps_thread_account(p.OWNER_THREAD_ID) AS waiting_account,
       p.LOCK_TYPE AS waiting_lock_type, p.LOCK_DURATION AS waiting_lock_duration,
       pt.PROCESSLIST_INFO AS waiting_query, pt.PROCESSLIST_TIME AS waiting_query_secs,
       ps.ROWS_AFFECTED AS waiting_query_rows_affected, ps.ROWS_EXAMINED AS waiting_query_rows_examined,
       gt.THREAD_ID AS blocking_thread_id, gt.PROCESSLIST_ID AS blocking_pid,
       sys.ps_thread_account(g.OWNER_THREAD_ID) AS blocking_account,
       g.LOCK_TYPE AS blocking_lock_type, g.LOCK_DURATION AS blocking_lock_duration,
       CONCAT('KILL QUERY ', gt.PROCESSLIST_ID) AS sql_kill_blocking_query,
       CONCAT('KILL ', gt.PROCESSLIST_ID) AS sql_kill_blocking_connection
  FROM performance_schema.metadata_locks AS p
  JOIN performance_schema.metadata_locks AS g
    ON g.OBJECT_TYPE = p.OBJECT_TYPE AND g.OBJECT_SCHEMA = p.OBJECT_SCHEMA AND g.OBJECT_NAME = p.OBJECT_NAME
   AND g.LOCK_STATUS = 'GRANTED'
  JOIN performance_schema.threads AS pt ON pt.THREAD_ID = p.OWNER_THREAD_ID
  JOIN performance_schema.threads AS gt ON gt.THREAD_ID = g.OWNER_THREAD_ID
  LEFT JOIN performance_schema.events_statements_current AS ps
    ON ps.THREAD_ID = p.OWNER_THREAD_ID AND ps.NESTING_EVENT_LEVEL = 0
 WHERE p.OBJECT_TYPE = 'TABLE' AND p.LOCK_STATUS = 'PENDING'
$$
CREATE SQL SECURITY INVOKER VIEW schema_table_lock_waits AS
SELECT v.object_schema, v.object_name, v.waiting_thread_id, v.waiting_pid, v.waiting_account,
       v.waiting_lock_type, v.waiting_lock_duration, sys.format_statement(v.waiting_query) AS waiting_query,
       v.waiting_query_secs, v.waiting_query_rows_affected, v.waiting_query_rows_examined,
       v.blocking_thread_id, v.blocking_pid, v.blocking_account, v.blocking_lock_type,
       v.blocking_lock_duration, v.sql_kill_blocking_query, v.sql_kill_blocking_connection
  FROM x$schema_table_lock_waits AS v
$$
