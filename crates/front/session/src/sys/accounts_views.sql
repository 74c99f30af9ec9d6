-- What hosts and users have done. What belongs to no account is of 'background'.
CREATE SQL SECURITY INVOKER VIEW x$host_summary_by_statement_latency AS
SELECT IF(e.HOST IS NULL, 'background', e.HOST) AS host, SUM(e.COUNT_STAR) AS total,
       SUM(e.SUM_TIMER_WAIT) AS total_latency, MAX(e.MAX_TIMER_WAIT) AS max_latency,
       SUM(e.SUM_LOCK_TIME) AS lock_latency, SUM(e.SUM_CPU_TIME) AS cpu_latency, SUM(e.SUM_ROWS_SENT) AS rows_sent,
       SUM(e.SUM_ROWS_EXAMINED) AS rows_examined, SUM(e.SUM_ROWS_AFFECTED) AS rows_affected,
       SUM(e.SUM_NO_INDEX_USED) + SUM(e.SUM_NO_GOOD_INDEX_USED) AS full_scans
  FROM performance_schema.events_statements_summary_by_host_by_event_name AS e
 GROUP BY e.HOST
 ORDER BY SUM(e.SUM_TIMER_WAIT) DESC
$$
CREATE SQL SECURITY INVOKER VIEW host_summary_by_statement_latency AS
SELECT v.host, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.max_latency) AS max_latency, FORMAT_PICO_TIME(v.lock_latency) AS lock_latency,
       FORMAT_PICO_TIME(v.cpu_latency) AS cpu_latency, v.rows_sent, v.rows_examined, v.rows_affected,
       v.full_scans
  FROM x$host_summary_by_statement_latency AS v
 ORDER BY v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$host_summary_by_statement_type AS
SELECT IF(e.HOST IS NULL, 'background', e.HOST) AS host, SUBSTRING_INDEX(e.EVENT_NAME, '/', -1) AS statement,
       e.COUNT_STAR AS total, e.SUM_TIMER_WAIT AS total_latency, e.MAX_TIMER_WAIT AS max_latency,
       e.SUM_LOCK_TIME AS lock_latency, e.SUM_CPU_TIME AS cpu_latency, e.SUM_ROWS_SENT AS rows_sent,
       e.SUM_ROWS_EXAMINED AS rows_examined, e.SUM_ROWS_AFFECTED AS rows_affected,
       e.SUM_NO_INDEX_USED + e.SUM_NO_GOOD_INDEX_USED AS full_scans
  FROM performance_schema.events_statements_summary_by_host_by_event_name AS e
 WHERE e.SUM_TIMER_WAIT > 0
 ORDER BY host, e.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW host_summary_by_statement_type AS
SELECT v.host, v.statement, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.max_latency) AS max_latency, FORMAT_PICO_TIME(v.lock_latency) AS lock_latency,
       FORMAT_PICO_TIME(v.cpu_latency) AS cpu_latency, v.rows_sent, v.rows_examined, v.rows_affected,
       v.full_scans
  FROM x$host_summary_by_statement_type AS v
 ORDER BY v.host, v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$host_summary_by_stages AS
SELECT IF(e.HOST IS NULL, 'background', e.HOST) AS host, e.EVENT_NAME AS event_name, e.COUNT_STAR AS total,
       e.SUM_TIMER_WAIT AS total_latency, e.AVG_TIMER_WAIT AS avg_latency
  FROM performance_schema.events_stages_summary_by_host_by_event_name AS e
 WHERE e.SUM_TIMER_WAIT > 0
 ORDER BY host, e.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW host_summary_by_stages AS
SELECT v.host, v.event_name, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.avg_latency) AS avg_latency
  FROM x$host_summary_by_stages AS v
 ORDER BY v.host, v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$host_summary_by_file_io AS
SELECT IF(e.HOST IS NULL, 'background', e.HOST) AS host, SUM(e.COUNT_STAR) AS ios, SUM(e.SUM_TIMER_WAIT) AS io_latency
  FROM performance_schema.events_waits_summary_by_host_by_event_name AS e
 WHERE e.EVENT_NAME LIKE 'wait/io/file/%'
 GROUP BY e.HOST
 ORDER BY SUM(e.SUM_TIMER_WAIT) DESC
$$
CREATE SQL SECURITY INVOKER VIEW host_summary_by_file_io AS
SELECT v.host, v.ios, FORMAT_PICO_TIME(v.io_latency) AS io_latency
  FROM x$host_summary_by_file_io AS v
 ORDER BY v.io_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$host_summary_by_file_io_type AS
SELECT IF(e.HOST IS NULL, 'background', e.HOST) AS host, e.EVENT_NAME AS event_name, e.COUNT_STAR AS total,
       e.SUM_TIMER_WAIT AS total_latency, e.MAX_TIMER_WAIT AS max_latency
  FROM performance_schema.events_waits_summary_by_host_by_event_name AS e
 WHERE e.EVENT_NAME LIKE 'wait/io/file/%' AND e.COUNT_STAR > 0
 ORDER BY host, e.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW host_summary_by_file_io_type AS
SELECT v.host, v.event_name, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.max_latency) AS max_latency
  FROM x$host_summary_by_file_io_type AS v
 ORDER BY v.host, v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$waits_by_host_by_latency AS
SELECT IF(e.HOST IS NULL, 'background', e.HOST) AS host, e.EVENT_NAME AS event, e.COUNT_STAR AS total,
       e.SUM_TIMER_WAIT AS total_latency, e.AVG_TIMER_WAIT AS avg_latency, e.MAX_TIMER_WAIT AS max_latency
  FROM performance_schema.events_waits_summary_by_host_by_event_name AS e
 WHERE e.EVENT_NAME <> 'idle' AND e.SUM_TIMER_WAIT > 0
 ORDER BY host, e.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW waits_by_host_by_latency AS
SELECT v.host, v.event, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.avg_latency) AS avg_latency, FORMAT_PICO_TIME(v.max_latency) AS max_latency
  FROM x$waits_by_host_by_latency AS v
 ORDER BY v.host, v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$memory_by_host_by_current_bytes AS
SELECT IF(m.HOST IS NULL, 'background', m.HOST) AS host, SUM(m.CURRENT_COUNT_USED) AS current_count_used,
       SUM(m.CURRENT_NUMBER_OF_BYTES_USED) AS current_allocated,
       IFNULL(SUM(m.CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(m.CURRENT_COUNT_USED), 0), 0) AS current_avg_alloc,
       MAX(m.CURRENT_NUMBER_OF_BYTES_USED) AS current_max_alloc,
       SUM(m.SUM_NUMBER_OF_BYTES_ALLOC) AS total_allocated
  FROM performance_schema.memory_summary_by_host_by_event_name AS m
 GROUP BY m.HOST
 ORDER BY SUM(m.CURRENT_NUMBER_OF_BYTES_USED) DESC
$$
CREATE SQL SECURITY INVOKER VIEW memory_by_host_by_current_bytes AS
SELECT v.host, v.current_count_used, FORMAT_BYTES(v.current_allocated) AS current_allocated,
       FORMAT_BYTES(v.current_avg_alloc) AS current_avg_alloc,
       FORMAT_BYTES(v.current_max_alloc) AS current_max_alloc,
       FORMAT_BYTES(v.total_allocated) AS total_allocated
  FROM x$memory_by_host_by_current_bytes AS v
 ORDER BY v.current_allocated DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$host_summary AS
SELECT IF(a.HOST IS NULL, 'background', a.HOST) AS host,
       CAST(s.total AS decimal(64, 0)) AS statements,
       CAST(s.total_latency AS decimal(64, 0)) AS statement_latency,
       CAST(s.total_latency / s.total AS decimal(65, 4)) AS statement_avg_latency,
       CAST(s.full_scans AS decimal(65, 0)) AS table_scans,
       CAST(f.ios AS decimal(64, 0)) AS file_ios, CAST(f.io_latency AS decimal(64, 0)) AS file_io_latency,
       a.current_connections, a.total_connections, a.unique_users,
       CAST(m.current_allocated AS decimal(63, 0)) AS current_memory,
       CAST(m.total_allocated AS decimal(64, 0)) AS total_memory_allocated
  FROM (SELECT c.HOST, SUM(c.CURRENT_CONNECTIONS) AS current_connections, SUM(c.TOTAL_CONNECTIONS) AS total_connections,
               COUNT(DISTINCT c.USER) AS unique_users
          FROM performance_schema.accounts AS c
         GROUP BY c.HOST) AS a
  LEFT JOIN x$host_summary_by_statement_latency AS s ON s.host = IFNULL(a.HOST, 'background')
  LEFT JOIN x$host_summary_by_file_io AS f ON f.host = IFNULL(a.HOST, 'background')
  LEFT JOIN x$memory_by_host_by_current_bytes AS m ON m.host = IFNULL(a.HOST, 'background')
 ORDER BY s.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW host_summary AS
SELECT v.host, v.statements, FORMAT_PICO_TIME(v.statement_latency) AS statement_latency,
       FORMAT_PICO_TIME(v.statement_avg_latency) AS statement_avg_latency, v.table_scans, v.file_ios,
       FORMAT_PICO_TIME(v.file_io_latency) AS file_io_latency, v.current_connections, v.total_connections,
       v.unique_users, FORMAT_BYTES(v.current_memory) AS current_memory,
       FORMAT_BYTES(v.total_memory_allocated) AS total_memory_allocated
  FROM x$host_summary AS v
 ORDER BY v.statement_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$user_summary_by_statement_latency AS
SELECT IF(e.USER IS NULL, 'background', e.USER) AS user, SUM(e.COUNT_STAR) AS total,
       SUM(e.SUM_TIMER_WAIT) AS total_latency, CAST(MAX(e.MAX_TIMER_WAIT) AS decimal(42, 0)) AS max_latency,
       SUM(e.SUM_LOCK_TIME) AS lock_latency, SUM(e.SUM_CPU_TIME) AS cpu_latency, SUM(e.SUM_ROWS_SENT) AS rows_sent,
       SUM(e.SUM_ROWS_EXAMINED) AS rows_examined, SUM(e.SUM_ROWS_AFFECTED) AS rows_affected,
       SUM(e.SUM_NO_INDEX_USED) + SUM(e.SUM_NO_GOOD_INDEX_USED) AS full_scans
  FROM performance_schema.events_statements_summary_by_user_by_event_name AS e
 GROUP BY e.USER
 ORDER BY SUM(e.SUM_TIMER_WAIT) DESC
$$
CREATE SQL SECURITY INVOKER VIEW user_summary_by_statement_latency AS
SELECT v.user, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.max_latency) AS max_latency, FORMAT_PICO_TIME(v.lock_latency) AS lock_latency,
       FORMAT_PICO_TIME(v.cpu_latency) AS cpu_latency, v.rows_sent, v.rows_examined, v.rows_affected,
       v.full_scans
  FROM x$user_summary_by_statement_latency AS v
 ORDER BY v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$user_summary_by_statement_type AS
SELECT IF(e.USER IS NULL, 'background', e.USER) AS user, SUBSTRING_INDEX(e.EVENT_NAME, '/', -1) AS statement,
       e.COUNT_STAR AS total, e.SUM_TIMER_WAIT AS total_latency, e.MAX_TIMER_WAIT AS max_latency,
       e.SUM_LOCK_TIME AS lock_latency, e.SUM_CPU_TIME AS cpu_latency, e.SUM_ROWS_SENT AS rows_sent,
       e.SUM_ROWS_EXAMINED AS rows_examined, e.SUM_ROWS_AFFECTED AS rows_affected,
       e.SUM_NO_INDEX_USED + e.SUM_NO_GOOD_INDEX_USED AS full_scans
  FROM performance_schema.events_statements_summary_by_user_by_event_name AS e
 WHERE e.SUM_TIMER_WAIT > 0
 ORDER BY user, e.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW user_summary_by_statement_type AS
SELECT v.user, v.statement, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.max_latency) AS max_latency, FORMAT_PICO_TIME(v.lock_latency) AS lock_latency,
       FORMAT_PICO_TIME(v.cpu_latency) AS cpu_latency, v.rows_sent, v.rows_examined, v.rows_affected,
       v.full_scans
  FROM x$user_summary_by_statement_type AS v
 ORDER BY v.user, v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$user_summary_by_stages AS
SELECT IF(e.USER IS NULL, 'background', e.USER) AS user, e.EVENT_NAME AS event_name, e.COUNT_STAR AS total,
       e.SUM_TIMER_WAIT AS total_latency, e.AVG_TIMER_WAIT AS avg_latency
  FROM performance_schema.events_stages_summary_by_user_by_event_name AS e
 WHERE e.SUM_TIMER_WAIT > 0
 ORDER BY user, e.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW user_summary_by_stages AS
SELECT v.user, v.event_name, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.avg_latency) AS avg_latency
  FROM x$user_summary_by_stages AS v
 ORDER BY v.user, v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$user_summary_by_file_io AS
SELECT IF(e.USER IS NULL, 'background', e.USER) AS user, SUM(e.COUNT_STAR) AS ios, SUM(e.SUM_TIMER_WAIT) AS io_latency
  FROM performance_schema.events_waits_summary_by_user_by_event_name AS e
 WHERE e.EVENT_NAME LIKE 'wait/io/file/%'
 GROUP BY e.USER
 ORDER BY SUM(e.SUM_TIMER_WAIT) DESC
$$
CREATE SQL SECURITY INVOKER VIEW user_summary_by_file_io AS
SELECT v.user, v.ios, FORMAT_PICO_TIME(v.io_latency) AS io_latency
  FROM x$user_summary_by_file_io AS v
 ORDER BY v.io_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$user_summary_by_file_io_type AS
SELECT IF(e.USER IS NULL, 'background', e.USER) AS user, e.EVENT_NAME AS event_name, e.COUNT_STAR AS total,
       e.SUM_TIMER_WAIT AS latency, e.MAX_TIMER_WAIT AS max_latency
  FROM performance_schema.events_waits_summary_by_user_by_event_name AS e
 WHERE e.EVENT_NAME LIKE 'wait/io/file/%' AND e.COUNT_STAR > 0
 ORDER BY user, e.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW user_summary_by_file_io_type AS
SELECT v.user, v.event_name, v.total, FORMAT_PICO_TIME(v.latency) AS latency,
       FORMAT_PICO_TIME(v.max_latency) AS max_latency
  FROM x$user_summary_by_file_io_type AS v
 ORDER BY v.user, v.latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$waits_by_user_by_latency AS
SELECT IF(e.USER IS NULL, 'background', e.USER) AS user, e.EVENT_NAME AS event, e.COUNT_STAR AS total,
       e.SUM_TIMER_WAIT AS total_latency, e.AVG_TIMER_WAIT AS avg_latency, e.MAX_TIMER_WAIT AS max_latency
  FROM performance_schema.events_waits_summary_by_user_by_event_name AS e
 WHERE e.EVENT_NAME <> 'idle' AND e.SUM_TIMER_WAIT > 0
 ORDER BY user, e.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW waits_by_user_by_latency AS
SELECT v.user, v.event, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.avg_latency) AS avg_latency, FORMAT_PICO_TIME(v.max_latency) AS max_latency
  FROM x$waits_by_user_by_latency AS v
 ORDER BY v.user, v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$memory_by_user_by_current_bytes AS
SELECT IF(m.USER IS NULL, 'background', m.USER) AS user, SUM(m.CURRENT_COUNT_USED) AS current_count_used,
       SUM(m.CURRENT_NUMBER_OF_BYTES_USED) AS current_allocated,
       IFNULL(SUM(m.CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(m.CURRENT_COUNT_USED), 0), 0) AS current_avg_alloc,
       MAX(m.CURRENT_NUMBER_OF_BYTES_USED) AS current_max_alloc,
       SUM(m.SUM_NUMBER_OF_BYTES_ALLOC) AS total_allocated
  FROM performance_schema.memory_summary_by_user_by_event_name AS m
 GROUP BY m.USER
 ORDER BY SUM(m.CURRENT_NUMBER_OF_BYTES_USED) DESC
$$
CREATE SQL SECURITY INVOKER VIEW memory_by_user_by_current_bytes AS
SELECT v.user, v.current_count_used, FORMAT_BYTES(v.current_allocated) AS current_allocated,
       FORMAT_BYTES(v.current_avg_alloc) AS current_avg_alloc,
       FORMAT_BYTES(v.current_max_alloc) AS current_max_alloc,
       FORMAT_BYTES(v.total_allocated) AS total_allocated
  FROM x$memory_by_user_by_current_bytes AS v
 ORDER BY v.current_allocated DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$user_summary AS
SELECT IF(a.USER IS NULL, 'background', a.USER) AS user,
       CAST(s.total AS decimal(64, 0)) AS statements,
       CAST(s.total_latency AS decimal(64, 0)) AS statement_latency,
       CAST(IFNULL(s.total_latency / NULLIF(s.total, 0), 0) AS decimal(65, 4)) AS statement_avg_latency,
       CAST(s.full_scans AS decimal(65, 0)) AS table_scans,
       CAST(f.ios AS decimal(64, 0)) AS file_ios, CAST(f.io_latency AS decimal(64, 0)) AS file_io_latency,
       a.current_connections, a.total_connections, a.unique_hosts,
       CAST(m.current_allocated AS decimal(63, 0)) AS current_memory,
       CAST(m.total_allocated AS decimal(64, 0)) AS total_memory_allocated
  FROM (SELECT c.USER, SUM(c.CURRENT_CONNECTIONS) AS current_connections, SUM(c.TOTAL_CONNECTIONS) AS total_connections,
               COUNT(DISTINCT c.HOST) AS unique_hosts
          FROM performance_schema.accounts AS c
         GROUP BY c.USER) AS a
  LEFT JOIN x$user_summary_by_statement_latency AS s ON s.user = IFNULL(a.USER, 'background')
  LEFT JOIN x$user_summary_by_file_io AS f ON f.user = IFNULL(a.USER, 'background')
  LEFT JOIN x$memory_by_user_by_current_bytes AS m ON m.user = IFNULL(a.USER, 'background')
 ORDER BY s.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW user_summary AS
SELECT v.user, v.statements, FORMAT_PICO_TIME(v.statement_latency) AS statement_latency,
       FORMAT_PICO_TIME(v.statement_avg_latency) AS statement_avg_latency, v.table_scans, v.file_ios,
       FORMAT_PICO_TIME(v.file_io_latency) AS file_io_latency, v.current_connections, v.total_connections,
       v.unique_hosts, FORMAT_BYTES(v.current_memory) AS current_memory,
       FORMAT_BYTES(v.total_memory_allocated) AS total_memory_allocated
  FROM x$user_summary AS v
 ORDER BY v.statement_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$memory_by_thread_by_current_bytes AS
SELECT m.THREAD_ID AS thread_id,
       IF(t.NAME = 'thread/sql/one_connection', CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST),
          REPLACE(t.NAME, 'thread/', '')) AS user, SUM(m.CURRENT_COUNT_USED) AS current_count_used,
       SUM(m.CURRENT_NUMBER_OF_BYTES_USED) AS current_allocated,
       IFNULL(SUM(m.CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(m.CURRENT_COUNT_USED), 0), 0) AS current_avg_alloc,
       MAX(m.CURRENT_NUMBER_OF_BYTES_USED) AS current_max_alloc,
       SUM(m.SUM_NUMBER_OF_BYTES_ALLOC) AS total_allocated
  FROM performance_schema.memory_summary_by_thread_by_event_name AS m
  JOIN performance_schema.threads AS t ON t.THREAD_ID = m.THREAD_ID
 GROUP BY m.THREAD_ID, user
 ORDER BY SUM(m.CURRENT_NUMBER_OF_BYTES_USED) DESC
$$
CREATE SQL SECURITY INVOKER VIEW memory_by_thread_by_current_bytes AS
SELECT v.thread_id, v.user, v.current_count_used, FORMAT_BYTES(v.current_allocated) AS current_allocated,
       FORMAT_BYTES(v.current_avg_alloc) AS current_avg_alloc,
       FORMAT_BYTES(v.current_max_alloc) AS current_max_alloc,
       FORMAT_BYTES(v.total_allocated) AS total_allocated
  FROM x$memory_by_thread_by_current_bytes AS v
 ORDER BY v.current_allocated DESC
$$
