-- Statements by digest.
CREATE SQL SECURITY INVOKER VIEW x$statement_analysis AS
SELECT d.DIGEST_TEXT AS query, d.SCHEMA_NAME AS db, IF(d.SUM_NO_INDEX_USED > 0 OR d.SUM_NO_GOOD_INDEX_USED > 0, '*', '') AS full_scan,
       d.COUNT_STAR AS exec_count, d.COUNT_SECONDARY AS exec_secondary_count,
       d.SUM_ERRORS AS err_count, d.SUM_WARNINGS AS warn_count,
       d.SUM_TIMER_WAIT AS total_latency, d.MAX_TIMER_WAIT AS max_latency, d.AVG_TIMER_WAIT AS avg_latency,
       d.SUM_LOCK_TIME AS lock_latency, d.SUM_CPU_TIME AS cpu_latency,
       d.SUM_ROWS_SENT AS rows_sent, ROUND(IFNULL(d.SUM_ROWS_SENT / NULLIF(d.COUNT_STAR, 0), 0)) AS rows_sent_avg,
       d.SUM_ROWS_EXAMINED AS rows_examined, ROUND(IFNULL(d.SUM_ROWS_EXAMINED / NULLIF(d.COUNT_STAR, 0), 0)) AS rows_examined_avg,
       d.SUM_ROWS_AFFECTED AS rows_affected, ROUND(IFNULL(d.SUM_ROWS_AFFECTED / NULLIF(d.COUNT_STAR, 0), 0)) AS rows_affected_avg,
       d.SUM_CREATED_TMP_TABLES AS tmp_tables, d.SUM_CREATED_TMP_DISK_TABLES AS tmp_disk_tables,
       d.SUM_SORT_ROWS AS rows_sorted, d.SUM_SORT_MERGE_PASSES AS sort_merge_passes,
       d.MAX_CONTROLLED_MEMORY AS max_controlled_memory, d.MAX_TOTAL_MEMORY AS max_total_memory,
       d.DIGEST AS digest, d.FIRST_SEEN AS first_seen, d.LAST_SEEN AS last_seen
  FROM performance_schema.events_statements_summary_by_digest AS d
 ORDER BY d.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW statement_analysis AS
SELECT sys.format_statement(v.query) AS query, v.db, v.full_scan, v.exec_count, v.err_count, v.warn_count,
       FORMAT_PICO_TIME(v.total_latency) AS total_latency, FORMAT_PICO_TIME(v.max_latency) AS max_latency,
       FORMAT_PICO_TIME(v.avg_latency) AS avg_latency, FORMAT_PICO_TIME(v.lock_latency) AS lock_latency,
       FORMAT_PICO_TIME(v.cpu_latency) AS cpu_latency, v.rows_sent, v.rows_sent_avg, v.rows_examined,
       v.rows_examined_avg, v.rows_affected, v.rows_affected_avg, v.tmp_tables, v.tmp_disk_tables,
       v.rows_sorted, v.sort_merge_passes, FORMAT_BYTES(v.max_controlled_memory) AS max_controlled_memory,
       FORMAT_BYTES(v.max_total_memory) AS max_total_memory, v.digest, v.first_seen, v.last_seen
  FROM x$statement_analysis AS v
 ORDER BY v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$statements_with_errors_or_warnings AS
SELECT d.DIGEST_TEXT AS query, d.SCHEMA_NAME AS db, d.COUNT_STAR AS exec_count,
       d.SUM_ERRORS AS errors, IFNULL(d.SUM_ERRORS / NULLIF(d.COUNT_STAR, 0), 0) * 100 AS error_pct,
       d.SUM_WARNINGS AS warnings, IFNULL(d.SUM_WARNINGS / NULLIF(d.COUNT_STAR, 0), 0) * 100 AS warning_pct,
       d.FIRST_SEEN AS first_seen, d.LAST_SEEN AS last_seen, d.DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest AS d
 WHERE d.SUM_ERRORS + d.SUM_WARNINGS > 0
 ORDER BY d.SUM_ERRORS DESC, d.SUM_WARNINGS DESC
$$
CREATE SQL SECURITY INVOKER VIEW statements_with_errors_or_warnings AS
SELECT sys.format_statement(v.query) AS query, v.db, v.exec_count, v.errors, v.error_pct, v.warnings,
       v.warning_pct, v.first_seen, v.last_seen, v.digest
  FROM x$statements_with_errors_or_warnings AS v
 ORDER BY v.errors DESC, v.warnings DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$statements_with_full_table_scans AS
SELECT d.DIGEST_TEXT AS query, d.SCHEMA_NAME AS db, d.COUNT_STAR AS exec_count, d.SUM_TIMER_WAIT AS total_latency,
       d.SUM_NO_INDEX_USED AS no_index_used_count, d.SUM_NO_GOOD_INDEX_USED AS no_good_index_used_count,
       ROUND(IFNULL(d.SUM_NO_INDEX_USED / NULLIF(d.COUNT_STAR, 0), 0) * 100) AS no_index_used_pct,
       d.SUM_ROWS_SENT AS rows_sent, d.SUM_ROWS_EXAMINED AS rows_examined,
       ROUND(d.SUM_ROWS_SENT / d.COUNT_STAR) AS rows_sent_avg,
       ROUND(d.SUM_ROWS_EXAMINED / d.COUNT_STAR) AS rows_examined_avg,
       d.FIRST_SEEN AS first_seen, d.LAST_SEEN AS last_seen, d.DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest AS d
 WHERE d.SUM_NO_INDEX_USED + d.SUM_NO_GOOD_INDEX_USED > 0 AND d.DIGEST_TEXT NOT LIKE 'SHOW%'
 ORDER BY no_index_used_pct DESC, total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW statements_with_full_table_scans AS
SELECT sys.format_statement(v.query) AS query, v.db, v.exec_count,
       FORMAT_PICO_TIME(v.total_latency) AS total_latency, v.no_index_used_count, v.no_good_index_used_count,
       v.no_index_used_pct, v.rows_sent, v.rows_examined, v.rows_sent_avg, v.rows_examined_avg, v.first_seen,
       v.last_seen, v.digest
  FROM x$statements_with_full_table_scans AS v
 ORDER BY v.no_index_used_pct DESC, v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$ps_digest_avg_latency_distribution AS
SELECT COUNT(*) AS cnt, ROUND(d.AVG_TIMER_WAIT / 1000000) AS avg_us
  FROM performance_schema.events_statements_summary_by_digest AS d
 GROUP BY avg_us
$$
CREATE SQL SECURITY INVOKER VIEW x$ps_digest_95th_percentile_by_avg_us AS
SELECT above.avg_us, IFNULL(SUM(below.cnt) / NULLIF((SELECT SUM(a.cnt) FROM x$ps_digest_avg_latency_distribution AS a), 0), 0)
         AS percentile
  FROM x$ps_digest_avg_latency_distribution AS above
  JOIN x$ps_digest_avg_latency_distribution AS below ON below.avg_us <= above.avg_us
 GROUP BY above.avg_us
HAVING percentile > 0.95
 ORDER BY percentile
 LIMIT 1
$$
CREATE SQL SECURITY INVOKER VIEW x$statements_with_runtimes_in_95th_percentile AS
SELECT d.DIGEST_TEXT AS query, d.SCHEMA_NAME AS db, IF(d.SUM_NO_INDEX_USED > 0 OR d.SUM_NO_GOOD_INDEX_USED > 0, '*', '') AS full_scan,
       d.COUNT_STAR AS exec_count, d.SUM_ERRORS AS err_count, d.SUM_WARNINGS AS warn_count,
       d.SUM_TIMER_WAIT AS total_latency, d.MAX_TIMER_WAIT AS max_latency, d.AVG_TIMER_WAIT AS avg_latency,
       d.SUM_ROWS_SENT AS rows_sent, ROUND(IFNULL(d.SUM_ROWS_SENT / NULLIF(d.COUNT_STAR, 0), 0)) AS rows_sent_avg,
       d.SUM_ROWS_EXAMINED AS rows_examined, ROUND(IFNULL(d.SUM_ROWS_EXAMINED / NULLIF(d.COUNT_STAR, 0), 0)) AS rows_examined_avg,
       d.FIRST_SEEN AS first_seen, d.LAST_SEEN AS last_seen, d.DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest AS d
  JOIN x$ps_digest_95th_percentile_by_avg_us AS p ON ROUND(d.AVG_TIMER_WAIT / 1000000) >= p.avg_us
 ORDER BY d.AVG_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW statements_with_runtimes_in_95th_percentile AS
SELECT sys.format_statement(v.query) AS query, v.db, v.full_scan, v.exec_count, v.err_count, v.warn_count,
       FORMAT_PICO_TIME(v.total_latency) AS total_latency, FORMAT_PICO_TIME(v.max_latency) AS max_latency,
       FORMAT_PICO_TIME(v.avg_latency) AS avg_latency, v.rows_sent, v.rows_sent_avg, v.rows_examined,
       v.rows_examined_avg, v.first_seen, v.last_seen, v.digest
  FROM x$statements_with_runtimes_in_95th_percentile AS v
 ORDER BY v.avg_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$statements_with_sorting AS
SELECT d.DIGEST_TEXT AS query, d.SCHEMA_NAME AS db, d.COUNT_STAR AS exec_count, d.SUM_TIMER_WAIT AS total_latency,
       d.SUM_SORT_MERGE_PASSES AS sort_merge_passes, ROUND(IFNULL(d.SUM_SORT_MERGE_PASSES / NULLIF(d.COUNT_STAR, 0), 0)) AS avg_sort_merges,
       d.SUM_SORT_SCAN AS sorts_using_scans, d.SUM_SORT_RANGE AS sort_using_range,
       d.SUM_SORT_ROWS AS rows_sorted, ROUND(IFNULL(d.SUM_SORT_ROWS / NULLIF(d.COUNT_STAR, 0), 0)) AS avg_rows_sorted,
       d.FIRST_SEEN AS first_seen, d.LAST_SEEN AS last_seen, d.DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest AS d
 WHERE d.SUM_SORT_ROWS > 0
 ORDER BY d.SUM_TIMER_WAIT DESC
$$
CREATE SQL SECURITY INVOKER VIEW statements_with_sorting AS
SELECT sys.format_statement(v.query) AS query, v.db, v.exec_count,
       FORMAT_PICO_TIME(v.total_latency) AS total_latency, v.sort_merge_passes, v.avg_sort_merges,
       v.sorts_using_scans, v.sort_using_range, v.rows_sorted, v.avg_rows_sorted, v.first_seen, v.last_seen,
       v.digest
  FROM x$statements_with_sorting AS v
 ORDER BY v.total_latency DESC
$$
CREATE SQL SECURITY INVOKER VIEW x$statements_with_temp_tables AS
SELECT d.DIGEST_TEXT AS query, d.SCHEMA_NAME AS db, d.COUNT_STAR AS exec_count, d.SUM_TIMER_WAIT AS total_latency,
       d.SUM_CREATED_TMP_TABLES AS memory_tmp_tables, d.SUM_CREATED_TMP_DISK_TABLES AS disk_tmp_tables,
       ROUND(IFNULL(d.SUM_CREATED_TMP_TABLES / NULLIF(d.COUNT_STAR, 0), 0)) AS avg_tmp_tables_per_query,
       ROUND(IFNULL(d.SUM_CREATED_TMP_DISK_TABLES / NULLIF(d.SUM_CREATED_TMP_TABLES, 0), 0) * 100) AS tmp_tables_to_disk_pct,
       d.FIRST_SEEN AS first_seen, d.LAST_SEEN AS last_seen, d.DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest AS d
 WHERE d.SUM_CREATED_TMP_TABLES > 0
 ORDER BY d.SUM_CREATED_TMP_DISK_TABLES DESC, d.SUM_CREATED_TMP_TABLES DESC
$$
CREATE SQL SECURITY INVOKER VIEW statements_with_temp_tables AS
SELECT sys.format_statement(v.query) AS query, v.db, v.exec_count,
       FORMAT_PICO_TIME(v.total_latency) AS total_latency, v.memory_tmp_tables, v.disk_tmp_tables,
       v.avg_tmp_tables_per_query, v.tmp_tables_to_disk_pct, v.first_seen, v.last_seen, v.digest
  FROM x$statements_with_temp_tables AS v
 ORDER BY v.disk_tmp_tables DESC, v.memory_tmp_tables DESC
$$
