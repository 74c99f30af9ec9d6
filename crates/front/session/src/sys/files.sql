-- Waits, and the files among them.
CREATE SQL SECURITY INVOKER VIEW x$waits_global_by_latency AS
SELECT e.EVENT_NAME AS events, e.COUNT_STAR AS total, e.SUM_TIMER_WAIT AS total_latency,
       e.AVG_TIMER_WAIT AS avg_latency, e.MAX_TIMER_WAIT AS max_latency
  FROM performance_schema.events_waits_summary_global_by_event_name AS e
 WHERE e.EVENT_NAME <> 'idle' AND e.SUM_TIMER_WAIT > 0
 ORDER BY e.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW waits_global_by_latency AS
SELECT v.events, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.avg_latency) AS avg_latency, FORMAT_PICO_TIME(v.max_latency) AS max_latency
  FROM x$waits_global_by_latency AS v
 ORDER BY v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$wait_classes_global_by_latency AS
SELECT SUBSTRING_INDEX(e.EVENT_NAME, '/', 3) AS event_class, SUM(e.COUNT_STAR) AS total,
       SUM(e.SUM_TIMER_WAIT) AS total_latency, MIN(e.MIN_TIMER_WAIT) AS min_latency,
       IFNULL(SUM(e.SUM_TIMER_WAIT) / NULLIF(SUM(e.COUNT_STAR), 0), 0) AS avg_latency,
       MAX(e.MAX_TIMER_WAIT) AS max_latency
  FROM performance_schema.events_waits_summary_global_by_event_name AS e
 WHERE e.EVENT_NAME <> 'idle' AND e.SUM_TIMER_WAIT > 0
 GROUP BY event_class
 ORDER BY total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW wait_classes_global_by_latency AS
SELECT v.event_class, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.min_latency) AS min_latency, FORMAT_PICO_TIME(v.avg_latency) AS avg_latency,
       FORMAT_PICO_TIME(v.max_latency) AS max_latency
  FROM x$wait_classes_global_by_latency AS v
 ORDER BY v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$wait_classes_global_by_avg_latency AS
SELECT SUBSTRING_INDEX(e.EVENT_NAME, '/', 3) AS event_class, SUM(e.COUNT_STAR) AS total,
       SUM(e.SUM_TIMER_WAIT) AS total_latency, MIN(e.MIN_TIMER_WAIT) AS min_latency,
       IFNULL(SUM(e.SUM_TIMER_WAIT) / NULLIF(SUM(e.COUNT_STAR), 0), 0) AS avg_latency,
       MAX(e.MAX_TIMER_WAIT) AS max_latency
  FROM performance_schema.events_waits_summary_global_by_event_name AS e
 WHERE e.EVENT_NAME <> 'idle' AND e.SUM_TIMER_WAIT > 0
 GROUP BY event_class
 ORDER BY avg_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW wait_classes_global_by_avg_latency AS
SELECT v.event_class, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.min_latency) AS min_latency, FORMAT_PICO_TIME(v.avg_latency) AS avg_latency,
       FORMAT_PICO_TIME(v.max_latency) AS max_latency
  FROM x$wait_classes_global_by_avg_latency AS v
 ORDER BY v.avg_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$io_global_by_file_by_bytes AS
SELECT f.FILE_NAME AS file, f.COUNT_READ AS count_read, f.SUM_NUMBER_OF_BYTES_READ AS total_read,
       IFNULL(f.SUM_NUMBER_OF_BYTES_READ / NULLIF(f.COUNT_READ, 0), 0) AS avg_read,
       f.COUNT_WRITE AS count_write, f.SUM_NUMBER_OF_BYTES_WRITE AS total_written,
       IFNULL(f.SUM_NUMBER_OF_BYTES_WRITE / NULLIF(f.COUNT_WRITE, 0), 0) AS avg_write,
       f.SUM_NUMBER_OF_BYTES_READ + f.SUM_NUMBER_OF_BYTES_WRITE AS total,
       IFNULL(ROUND(100 - f.SUM_NUMBER_OF_BYTES_READ / NULLIF(f.SUM_NUMBER_OF_BYTES_READ + f.SUM_NUMBER_OF_BYTES_WRITE, 0) * 100, 2), 0.00)
         AS write_pct
  FROM performance_schema.file_summary_by_instance AS f
 ORDER BY total DESC
$$
CREATE SQL SECURITY INVOKER VIEW io_global_by_file_by_bytes AS
SELECT sys.format_path(v.file) AS file, v.count_read, FORMAT_BYTES(v.total_read) AS total_read,
       FORMAT_BYTES(v.avg_read) AS avg_read, v.count_write, FORMAT_BYTES(v.total_written) AS total_written,
       FORMAT_BYTES(v.avg_write) AS avg_write, FORMAT_BYTES(v.total) AS total, v.write_pct
  FROM x$io_global_by_file_by_bytes AS v
 ORDER BY v.total DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$io_global_by_file_by_latency AS
SELECT f.FILE_NAME AS file, f.COUNT_STAR AS total, f.SUM_TIMER_WAIT AS total_latency,
       f.COUNT_READ AS count_read, f.SUM_TIMER_READ AS read_latency,
       f.COUNT_WRITE AS count_write, f.SUM_TIMER_WRITE AS write_latency,
       f.COUNT_MISC AS count_misc, f.SUM_TIMER_MISC AS misc_latency
  FROM performance_schema.file_summary_by_instance AS f
 ORDER BY f.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW io_global_by_file_by_latency AS
SELECT sys.format_path(v.file) AS file, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       v.count_read, FORMAT_PICO_TIME(v.read_latency) AS read_latency, v.count_write,
       FORMAT_PICO_TIME(v.write_latency) AS write_latency, v.count_misc,
       FORMAT_PICO_TIME(v.misc_latency) AS misc_latency
  FROM x$io_global_by_file_by_latency AS v
 ORDER BY v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$io_global_by_wait_by_bytes AS
SELECT SUBSTRING_INDEX(f.EVENT_NAME, '/', -2) AS event_name, f.COUNT_STAR AS total,
       f.SUM_TIMER_WAIT AS total_latency, f.MIN_TIMER_WAIT AS min_latency, f.AVG_TIMER_WAIT AS avg_latency,
       f.MAX_TIMER_WAIT AS max_latency, f.COUNT_READ AS count_read, f.SUM_NUMBER_OF_BYTES_READ AS total_read,
       IFNULL(f.SUM_NUMBER_OF_BYTES_READ / NULLIF(f.COUNT_READ, 0), 0) AS avg_read,
       f.COUNT_WRITE AS count_write, f.SUM_NUMBER_OF_BYTES_WRITE AS total_written,
       IFNULL(f.SUM_NUMBER_OF_BYTES_WRITE / NULLIF(f.COUNT_WRITE, 0), 0) AS avg_written,
       f.SUM_NUMBER_OF_BYTES_WRITE + f.SUM_NUMBER_OF_BYTES_READ AS total_requested
  FROM performance_schema.file_summary_by_event_name AS f
 WHERE f.EVENT_NAME LIKE 'wait/io/file/%' AND f.COUNT_STAR > 0
 ORDER BY total_requested DESC
$$
CREATE SQL SECURITY INVOKER VIEW io_global_by_wait_by_bytes AS
SELECT v.event_name, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.min_latency) AS min_latency, FORMAT_PICO_TIME(v.avg_latency) AS avg_latency,
       FORMAT_PICO_TIME(v.max_latency) AS max_latency, v.count_read, FORMAT_BYTES(v.total_read) AS total_read,
       FORMAT_BYTES(v.avg_read) AS avg_read, v.count_write, FORMAT_BYTES(v.total_written) AS total_written,
       FORMAT_BYTES(v.avg_written) AS avg_written, FORMAT_BYTES(v.total_requested) AS total_requested
  FROM x$io_global_by_wait_by_bytes AS v
 ORDER BY v.total_requested DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$io_global_by_wait_by_latency AS
SELECT SUBSTRING_INDEX(f.EVENT_NAME, '/', -2) AS event_name, f.COUNT_STAR AS total,
       f.SUM_TIMER_WAIT AS total_latency, f.AVG_TIMER_WAIT AS avg_latency, f.MAX_TIMER_WAIT AS max_latency,
       f.SUM_TIMER_READ AS read_latency, f.SUM_TIMER_WRITE AS write_latency, f.SUM_TIMER_MISC AS misc_latency,
       f.COUNT_READ AS count_read, f.SUM_NUMBER_OF_BYTES_READ AS total_read,
       IFNULL(f.SUM_NUMBER_OF_BYTES_READ / NULLIF(f.COUNT_READ, 0), 0) AS avg_read,
       f.COUNT_WRITE AS count_write, f.SUM_NUMBER_OF_BYTES_WRITE AS total_written,
       IFNULL(f.SUM_NUMBER_OF_BYTES_WRITE / NULLIF(f.COUNT_WRITE, 0), 0) AS avg_written
  FROM performance_schema.file_summary_by_event_name AS f
 WHERE f.EVENT_NAME LIKE 'wait/io/file/%' AND f.COUNT_STAR > 0
 ORDER BY f.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW io_global_by_wait_by_latency AS
SELECT v.event_name, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.avg_latency) AS avg_latency, FORMAT_PICO_TIME(v.max_latency) AS max_latency,
       FORMAT_PICO_TIME(v.read_latency) AS read_latency, FORMAT_PICO_TIME(v.write_latency) AS write_latency,
       FORMAT_PICO_TIME(v.misc_latency) AS misc_latency, v.count_read,
       FORMAT_BYTES(v.total_read) AS total_read, FORMAT_BYTES(v.avg_read) AS avg_read, v.count_write,
       FORMAT_BYTES(v.total_written) AS total_written, FORMAT_BYTES(v.avg_written) AS avg_written
  FROM x$io_global_by_wait_by_latency AS v
 ORDER BY v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$io_by_thread_by_latency AS
SELECT IF(t.PROCESSLIST_ID IS NULL, SUBSTRING_INDEX(t.NAME, '/', -1), CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST)) AS user,
       SUM(e.COUNT_STAR) AS total, SUM(e.SUM_TIMER_WAIT) AS total_latency, MIN(e.MIN_TIMER_WAIT) AS min_latency,
       AVG(e.AVG_TIMER_WAIT) AS avg_latency, MAX(e.MAX_TIMER_WAIT) AS max_latency,
       e.THREAD_ID AS thread_id, t.PROCESSLIST_ID AS processlist_id
  FROM performance_schema.events_waits_summary_by_thread_by_event_name AS e
  LEFT JOIN performance_schema.threads AS t ON t.THREAD_ID = e.THREAD_ID
 WHERE e.EVENT_NAME LIKE 'wait/io/file/%' AND e.SUM_TIMER_WAIT > 0
 GROUP BY e.THREAD_ID, t.PROCESSLIST_ID, user
 ORDER BY SUM(e.SUM_TIMER_WAIT) DESC
$$
CREATE SQL SECURITY INVOKER VIEW io_by_thread_by_latency AS
SELECT v.user, v.total, FORMAT_PICO_TIME(v.total_latency) AS total_latency,
       FORMAT_PICO_TIME(v.min_latency) AS min_latency, FORMAT_PICO_TIME(v.avg_latency) AS avg_latency,
       FORMAT_PICO_TIME(v.max_latency) AS max_latency, v.thread_id, v.processlist_id
  FROM x$io_by_thread_by_latency AS v
 ORDER BY v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$latest_file_io AS
SELECT CAST(IF(p.ID IS NULL, CONCAT(SUBSTRING_INDEX(t.NAME, '/', -1), ':', w.THREAD_ID),
               CONCAT(p.USER, '@', p.HOST, ':', p.ID)) AS char(317)) AS thread,
       w.OBJECT_NAME AS file, w.TIMER_WAIT AS latency, w.OPERATION AS operation, w.NUMBER_OF_BYTES AS requested
  FROM performance_schema.events_waits_history_long AS w
  JOIN performance_schema.threads AS t ON t.THREAD_ID = w.THREAD_ID
  LEFT JOIN performance_schema.processlist AS p ON p.ID = t.PROCESSLIST_ID
 WHERE w.EVENT_NAME LIKE 'wait/io/file/%' AND w.OBJECT_NAME IS NOT NULL
 ORDER BY w.TIMER_START
$$
CREATE SQL SECURITY INVOKER VIEW latest_file_io AS
SELECT v.thread, sys.format_path(v.file) AS file, FORMAT_PICO_TIME(v.latency) AS latency, v.operation,
       FORMAT_BYTES(v.requested) AS requested
  FROM x$latest_file_io AS v
$$
