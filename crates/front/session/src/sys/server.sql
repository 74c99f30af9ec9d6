-- Sessions, memory, the server as a whole.
CREATE SQL SECURITY INVOKER VIEW version AS
SELECT '2.1.3' AS sys_version, VERSION() AS mysql_version
$$
CREATE SQL SECURITY INVOKER VIEW ps_check_lost_instrumentation AS
SELECT g.VARIABLE_NAME AS variable_name, g.VARIABLE_VALUE AS variable_value
  FROM performance_schema.global_status AS g
 WHERE g.VARIABLE_NAME LIKE 'perf%lost' AND g.VARIABLE_VALUE > 0
$$
CREATE SQL SECURITY INVOKER VIEW session_ssl_status AS
SELECT v.THREAD_ID AS thread_id, v.VARIABLE_VALUE AS ssl_version, c.VARIABLE_VALUE AS ssl_cipher,
       r.VARIABLE_VALUE AS ssl_sessions_reused
  FROM performance_schema.status_by_thread AS v
  LEFT JOIN performance_schema.status_by_thread AS c
    ON c.THREAD_ID = v.THREAD_ID AND c.VARIABLE_NAME = 'Ssl_cipher'
  LEFT JOIN performance_schema.status_by_thread AS r
    ON r.THREAD_ID = v.THREAD_ID AND r.VARIABLE_NAME = 'Ssl_sessions_reused'
 WHERE v.VARIABLE_NAME = 'Ssl_version'
$$
CREATE SQL SECURITY INVOKER VIEW x$memory_global_by_current_bytes AS
SELECT m.EVENT_NAME AS event_name, m.CURRENT_COUNT_USED AS current_count,
       m.CURRENT_NUMBER_OF_BYTES_USED AS current_alloc,
       IFNULL(m.CURRENT_NUMBER_OF_BYTES_USED / NULLIF(m.CURRENT_COUNT_USED, 0), 0) AS current_avg_alloc,
       m.HIGH_COUNT_USED AS high_count, m.HIGH_NUMBER_OF_BYTES_USED AS high_alloc,
       IFNULL(m.HIGH_NUMBER_OF_BYTES_USED / NULLIF(m.HIGH_COUNT_USED, 0), 0) AS high_avg_alloc
  FROM performance_schema.memory_summary_global_by_event_name AS m
 WHERE m.CURRENT_NUMBER_OF_BYTES_USED > 0
 ORDER BY m.CURRENT_NUMBER_OF_BYTES_USED DESC
$$
CREATE SQL SECURITY INVOKER VIEW memory_global_by_current_bytes AS
SELECT v.event_name, v.current_count, FORMAT_BYTES(v.current_alloc) AS current_alloc,
       FORMAT_BYTES(v.current_avg_alloc) AS current_avg_alloc, v.high_count,
       FORMAT_BYTES(v.high_alloc) AS high_alloc, FORMAT_BYTES(v.high_avg_alloc) AS high_avg_alloc
  FROM x$memory_global_by_current_bytes AS v
 ORDER BY v.current_alloc DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$memory_global_total AS
SELECT SUM(m.CURRENT_NUMBER_OF_BYTES_USED) AS total_allocated
  FROM performance_schema.memory_summary_global_by_event_name AS m
$$
CREATE SQL SECURITY INVOKER VIEW memory_global_total AS
SELECT FORMAT_BYTES(v.total_allocated) AS total_allocated
  FROM x$memory_global_total AS v
$$
CREATE SQL SECURITY INVOKER VIEW x$processlist AS
SELECT t.THREAD_ID AS thd_id, t.PROCESSLIST_ID AS conn_id,
       IF(t.NAME IN ('thread/sql/one_connection', 'thread/thread_pool/tp_one_connection'),
          CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST), REPLACE(t.NAME, 'thread/', '')) AS user,
       t.PROCESSLIST_DB AS db, t.PROCESSLIST_COMMAND AS command, t.PROCESSLIST_STATE AS state,
       t.PROCESSLIST_TIME AS time, t.PROCESSLIST_INFO AS current_statement, t.EXECUTION_ENGINE AS execution_engine,
       IF(s.END_EVENT_ID IS NULL, s.TIMER_WAIT, NULL) AS statement_latency,
       IF(s.END_EVENT_ID IS NULL, ROUND(100 * (g.WORK_COMPLETED / g.WORK_ESTIMATED), 2), NULL) AS progress,
       s.LOCK_TIME AS lock_latency, s.CPU_TIME AS cpu_latency, s.ROWS_EXAMINED AS rows_examined,
       s.ROWS_SENT AS rows_sent, s.ROWS_AFFECTED AS rows_affected, s.CREATED_TMP_TABLES AS tmp_tables,
       s.CREATED_TMP_DISK_TABLES AS tmp_disk_tables,
       IF(s.NO_INDEX_USED > 0 OR s.NO_GOOD_INDEX_USED > 0, 'YES', 'NO') AS full_scan,
       IF(s.END_EVENT_ID IS NULL, NULL, s.SQL_TEXT) AS last_statement,
       IF(s.END_EVENT_ID IS NULL, NULL, s.TIMER_WAIT) AS last_statement_latency,
       m.current_allocated AS current_memory, w.EVENT_NAME AS last_wait,
       IF(w.EVENT_NAME IS NOT NULL AND w.END_EVENT_ID IS NULL, 'Still Waiting', w.TIMER_WAIT) AS last_wait_latency,
       w.SOURCE AS source, x.TIMER_WAIT AS trx_latency, x.STATE AS trx_state, x.AUTOCOMMIT AS trx_autocommit,
       pid.ATTR_VALUE AS pid, program.ATTR_VALUE AS program_name
  FROM performance_schema.threads AS t
  LEFT JOIN performance_schema.events_statements_current AS s
    ON s.THREAD_ID = t.THREAD_ID AND s.NESTING_EVENT_LEVEL = 0
  LEFT JOIN performance_schema.events_stages_current AS g ON g.THREAD_ID = t.THREAD_ID
  LEFT JOIN (SELECT c.*, ROW_NUMBER() OVER (PARTITION BY c.THREAD_ID ORDER BY c.EVENT_ID DESC) AS place
               FROM performance_schema.events_waits_current AS c) AS w
    ON w.THREAD_ID = t.THREAD_ID AND w.place = 1
  LEFT JOIN performance_schema.events_transactions_current AS x ON x.THREAD_ID = t.THREAD_ID
  LEFT JOIN x$memory_by_thread_by_current_bytes AS m ON m.thread_id = t.THREAD_ID
  LEFT JOIN performance_schema.session_connect_attrs AS pid
    ON pid.PROCESSLIST_ID = t.PROCESSLIST_ID AND pid.ATTR_NAME = '_pid'
  LEFT JOIN performance_schema.session_connect_attrs AS program
    ON program.PROCESSLIST_ID = t.PROCESSLIST_ID AND program.ATTR_NAME = 'program_name'
 ORDER BY t.PROCESSLIST_TIME DESC, last_wait_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW processlist AS
SELECT v.thd_id, v.conn_id, v.user, v.db, v.command, v.state, v.time,
       sys.format_statement(v.current_statement) AS current_statement, v.execution_engine,
       FORMAT_PICO_TIME(v.statement_latency) AS statement_latency, v.progress,
       FORMAT_PICO_TIME(v.lock_latency) AS lock_latency, FORMAT_PICO_TIME(v.cpu_latency) AS cpu_latency,
       v.rows_examined, v.rows_sent, v.rows_affected, v.tmp_tables, v.tmp_disk_tables, v.full_scan,
       sys.format_statement(v.last_statement) AS last_statement,
       FORMAT_PICO_TIME(v.last_statement_latency) AS last_statement_latency,
       FORMAT_BYTES(v.current_memory) AS current_memory, v.last_wait,
       IF(v.last_wait_latency = 'Still Waiting', 'Still Waiting', FORMAT_PICO_TIME(v.last_wait_latency)) AS last_wait_latency,
       v.source, FORMAT_PICO_TIME(v.trx_latency) AS trx_latency, v.trx_state, v.trx_autocommit, v.pid,
       v.program_name
  FROM x$processlist AS v
 ORDER BY v.time DESC, v.last_wait_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$session AS
SELECT * FROM x$processlist AS p WHERE p.conn_id IS NOT NULL AND p.command <> 'Daemon'
$$
CREATE SQL SECURITY INVOKER VIEW session AS
SELECT * FROM processlist AS p WHERE p.conn_id IS NOT NULL AND p.command <> 'Daemon'
$$
CREATE SQL SECURITY INVOKER VIEW metrics AS
SELECT IFNULL(LOWER(g.VARIABLE_NAME), '') AS Variable_name, g.VARIABLE_VALUE AS Variable_value, 'Global Status' AS Type, 'YES' AS Enabled
  FROM performance_schema.global_status AS g
 UNION ALL
-- Without those that are status variables, too.
SELECT i.NAME, i.COUNT, IFNULL(CONCAT('InnoDB Metrics - ', i.SUBSYSTEM), ''), IF(i.STATUS = 'enabled', 'YES', 'NO')
  FROM information_schema.INNODB_METRICS AS i
 WHERE i.NAME NOT IN (
         'buffer_data_reads', 'buffer_data_written', 'buffer_pages_created', 'buffer_pages_read', 'buffer_pages_written',
         'buffer_pool_bytes_data', 'buffer_pool_bytes_dirty', 'buffer_pool_pages_data', 'buffer_pool_pages_dirty',
         'buffer_pool_pages_free', 'buffer_pool_pages_misc', 'buffer_pool_pages_total', 'buffer_pool_read_ahead',
         'buffer_pool_read_ahead_evicted', 'buffer_pool_read_requests', 'buffer_pool_reads', 'buffer_pool_wait_free',
         'buffer_pool_write_requests', 'file_num_open_files', 'lock_row_lock_time', 'lock_row_lock_time_avg',
         'lock_row_lock_time_max', 'lock_row_lock_waits', 'log_waits', 'log_write_requests', 'log_writes',
         'os_log_bytes_written', 'os_log_fsyncs', 'os_log_pending_fsyncs', 'os_log_pending_writes')
 UNION ALL
SELECT 'memory_current_allocated', SUM(m.CURRENT_NUMBER_OF_BYTES_USED), 'Performance Schema', e.enabled
  FROM performance_schema.memory_summary_global_by_event_name AS m
 CROSS JOIN (SELECT CASE SUM(n.ENABLED = 'YES') WHEN 0 THEN 'NO' WHEN COUNT(*) THEN 'YES' ELSE 'PARTIAL' END AS enabled
               FROM performance_schema.setup_instruments AS n WHERE n.NAME LIKE 'memory/%') AS e
 GROUP BY e.enabled
 UNION ALL
SELECT 'memory_total_allocated', SUM(m.SUM_NUMBER_OF_BYTES_ALLOC), 'Performance Schema', e.enabled
  FROM performance_schema.memory_summary_global_by_event_name AS m
 CROSS JOIN (SELECT CASE SUM(n.ENABLED = 'YES') WHEN 0 THEN 'NO' WHEN COUNT(*) THEN 'YES' ELSE 'PARTIAL' END AS enabled
               FROM performance_schema.setup_instruments AS n WHERE n.NAME LIKE 'memory/%') AS e
 GROUP BY e.enabled
 UNION ALL
SELECT 'NOW()', NOW(3), 'System Time', 'YES'
 UNION ALL
SELECT 'UNIX_TIMESTAMP()', ROUND(UNIX_TIMESTAMP(NOW(3)), 3), 'System Time', 'YES'
 ORDER BY Type, Variable_name
$$
