-- Reports over a time.
CREATE PROCEDURE statement_performance_analyzer(
  IN in_action enum('snapshot','overall','delta','create_table','create_tmp','save','cleanup'),
  IN in_table varchar(129),
  IN in_views set('with_runtimes_in_95th_percentile','analysis','with_errors_or_warnings','with_full_table_scans',
                  'with_sorting','with_temp_tables','custom'))
NOT DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER
COMMENT 'Snapshots of the statements by digest, and the views of statements over one, or over the difference of two.'
BEGIN
  DECLARE logged boolean DEFAULT @@SESSION.sql_log_bin;
  DECLARE kept bigint unsigned DEFAULT @@SESSION.group_concat_max_len;
  DECLARE is_now boolean DEFAULT COALESCE(in_table = 'NOW()', FALSE);
  DECLARE db varchar(64) DEFAULT IF(LOCATE('.', in_table) > 0, SUBSTRING_INDEX(in_table, '.', 1), 'sys');
  DECLARE tab varchar(64) DEFAULT SUBSTRING_INDEX(in_table, '.', -1);
  DECLARE quoted, source varchar(140);
  DECLARE digests varchar(64) DEFAULT 'performance_schema.events_statements_summary_by_digest';
  DECLARE there, has_snapshot varchar(20);
  DECLARE message varchar(300);
  DECLARE row_limit bigint unsigned;
  DECLARE i tinyint unsigned DEFAULT 0;
  DECLARE view_name, title varchar(64);
  DECLARE raw_text, shown, columns_text, wanted, custom longtext;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    SET SESSION sql_log_bin = logged;
    SET SESSION group_concat_max_len = kept;
    RESIGNAL;
  END;
  SET SESSION group_concat_max_len = 1048576;
  SET quoted = CONCAT(sys.quote_identifier(db), '.', sys.quote_identifier(tab));
  IF in_action IS NULL THEN
    SIGNAL SQLSTATE '45000'
      SET MESSAGE_TEXT = 'Unknown action. Supported actions are: cleanup, create_table, create_tmp, delta, overall, save, snapshot';
  END IF;
  IF in_action <> 'create_table' THEN
    SET SESSION sql_log_bin = 0;
  END IF;

  -- The table of the argument: is it there, and may it be?
  IF in_table IS NOT NULL AND NOT is_now THEN
    CALL sys.table_exists(db, tab, there);
    IF there IN ('BASE TABLE', 'TEMPORARY') THEN
      SET wanted = NULL;
      IF there = 'BASE TABLE' THEN
        SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY ORDINAL_POSITION) INTO wanted FROM information_schema.COLUMNS
         WHERE TABLE_SCHEMA = 'performance_schema' AND TABLE_NAME = 'events_statements_summary_by_digest';
        SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY ORDINAL_POSITION) INTO columns_text FROM information_schema.COLUMNS
         WHERE TABLE_SCHEMA = db AND TABLE_NAME = tab;
        IF COALESCE(columns_text <> wanted, TRUE) THEN
          SET message = CONCAT('The table ', quoted, ' has the wrong definition.');
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = message;
        END IF;
      END IF;
      IF in_action IN ('create_table', 'create_tmp') THEN
        SET message = CONCAT('Cannot create the table ', quoted, ' as it already exists.');
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = message;
      END IF;
    ELSEIF in_action IN ('delta', 'save') THEN
      SET message = CONCAT('The ', in_action, ' action requires in_table to be an existing table. The table ', quoted,
                           ' does not exist.');
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = message;
    ELSEIF in_action IN ('snapshot', 'overall') THEN
      SET message = CONCAT('The ', in_action, ' action requires in_table to be NULL, NOW() or specify an existing table.',
                           ' The table ', quoted, ' does not exist.');
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = message;
    END IF;
  ELSEIF in_action IN ('delta', 'save') THEN
    SET message = CONCAT('The ', in_action, ' action requires in_table to be an existing table.');
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = message;
  END IF;

  IF in_action = 'cleanup' THEN
    DROP TEMPORARY TABLE IF EXISTS sys.tmp_digests, sys.tmp_digests_delta, sys.tmp_digests_95th_percentile;
  ELSEIF in_action IN ('create_table', 'create_tmp') THEN
    CALL sys.execute_prepared_stmt(CONCAT('CREATE ', IF(in_action = 'create_tmp', 'TEMPORARY ', ''), 'TABLE ', quoted,
                                          ' (INDEX (SCHEMA_NAME, DIGEST)) AS SELECT * FROM ', digests, ' LIMIT 0'));
  ELSE
    CALL sys.table_exists('sys', 'tmp_digests', has_snapshot);
    IF in_action = 'snapshot' OR is_now OR has_snapshot <> 'TEMPORARY' THEN
      SET source = IF(in_action = 'snapshot' AND NOT is_now AND in_table IS NOT NULL, quoted, digests);
      DROP TEMPORARY TABLE IF EXISTS sys.tmp_digests;
      CALL sys.execute_prepared_stmt(CONCAT('CREATE TEMPORARY TABLE sys.tmp_digests (INDEX (SCHEMA_NAME, DIGEST)) ',
                                            'AS SELECT * FROM ', source));
    END IF;
  END IF;
  IF in_action = 'save' THEN
    CALL sys.execute_prepared_stmt(CONCAT('DELETE FROM ', quoted));
    CALL sys.execute_prepared_stmt(CONCAT('INSERT INTO ', quoted, ' SELECT * FROM sys.tmp_digests'));
  ELSEIF in_action = 'delta' THEN
    -- What is new since the reference: sums are differences, what is no sum stays as it is now.
    SELECT GROUP_CONCAT(
             CASE
               WHEN COLUMN_NAME LIKE 'COUNT\_%' OR COLUMN_NAME LIKE 'SUM\_%'
                 THEN CONCAT('n.', COLUMN_NAME, ' - COALESCE(o.', COLUMN_NAME, ', 0) AS ', COLUMN_NAME)
               WHEN COLUMN_NAME = 'AVG_TIMER_WAIT'
                 THEN '(n.SUM_TIMER_WAIT - COALESCE(o.SUM_TIMER_WAIT, 0)) DIV (n.COUNT_STAR - COALESCE(o.COUNT_STAR, 0)) AS AVG_TIMER_WAIT'
               ELSE CONCAT('n.', COLUMN_NAME)
             END ORDER BY ORDINAL_POSITION)
      INTO columns_text FROM information_schema.COLUMNS
     WHERE TABLE_SCHEMA = 'performance_schema' AND TABLE_NAME = 'events_statements_summary_by_digest';
    DROP TEMPORARY TABLE IF EXISTS sys.tmp_digests_delta;
    CALL sys.execute_prepared_stmt(CONCAT(
      'CREATE TEMPORARY TABLE sys.tmp_digests_delta AS SELECT ', columns_text, ' FROM sys.tmp_digests AS n LEFT JOIN ', quoted,
      ' AS o ON o.SCHEMA_NAME <=> n.SCHEMA_NAME AND o.DIGEST <=> n.DIGEST WHERE n.COUNT_STAR > COALESCE(o.COUNT_STAR, 0)'));
  END IF;

  IF in_action IN ('overall', 'delta') THEN
    SET source = CASE WHEN in_action = 'delta' THEN '`sys`.`tmp_digests_delta`'
                      WHEN is_now OR in_table IS NULL THEN '`sys`.`tmp_digests`' ELSE quoted END;
    SET in_views = COALESCE(in_views, 'with_runtimes_in_95th_percentile,analysis,with_errors_or_warnings,'
                                      'with_full_table_scans,with_sorting,with_temp_tables');
    SET row_limit = COALESCE(@sys.statement_performance_analyzer.limit,
                             sys.sys_get_config('statement_performance_analyzer.limit', '100'));
    WHILE i < 6 DO
      SET i = i + 1;
      SET view_name = ELT(i, 'with_runtimes_in_95th_percentile', 'analysis', 'with_errors_or_warnings',
                          'with_full_table_scans', 'with_sorting', 'with_temp_tables');
      IF FIND_IN_SET(view_name, in_views) THEN
        SET title = ELT(i, 'Runtime in 95th Percentile', 'Ordered by Total Latency', 'with Errors', 'with Full Table Scan',
                        'with Sorting', 'with Internal Temporary Tables');
        SET view_name = IF(i = 2, 'statement_analysis', CONCAT('statements_', view_name));
        SELECT IF(i = 1, CONCAT('Queries with ', title), CONCAT('Top ', row_limit, ' Queries ', title)) AS `Next Output`;
        IF i = 1 THEN
          -- A temporary table may stand once in a query, so the percentile is found beforehand.
          DROP TEMPORARY TABLE IF EXISTS sys.tmp_digests_95th_percentile;
          CALL sys.execute_prepared_stmt(CONCAT(
            'CREATE TEMPORARY TABLE sys.tmp_digests_95th_percentile AS ',
            'SELECT p.avg_us FROM (SELECT ROUND(d.AVG_TIMER_WAIT / 1000000) AS avg_us, ',
            'CUME_DIST() OVER (ORDER BY ROUND(d.AVG_TIMER_WAIT / 1000000)) AS percentile FROM ', source, ' AS d) AS p ',
            'WHERE p.percentile > 0.95 ORDER BY p.percentile, p.avg_us LIMIT 1'));
        END IF;
        SELECT VIEW_DEFINITION INTO raw_text FROM information_schema.VIEWS
         WHERE TABLE_SCHEMA = 'sys' AND TABLE_NAME = CONCAT('x$', view_name);
        SELECT VIEW_DEFINITION INTO shown FROM information_schema.VIEWS
         WHERE TABLE_SCHEMA = 'sys' AND TABLE_NAME = view_name;
        SET raw_text = REPLACE(raw_text, '`performance_schema`.`events_statements_summary_by_digest`', source);
        SET raw_text = REPLACE(raw_text, '`sys`.`x$ps_digest_95th_percentile_by_avg_us`',
                               '`sys`.`tmp_digests_95th_percentile`');
        CALL sys.execute_prepared_stmt(CONCAT(
          REPLACE(shown, CONCAT('`sys`.`x$', view_name, '`'), CONCAT('(', raw_text, ')')),
          IF(row_limit > 0, CONCAT(' LIMIT ', row_limit), '')));
      END IF;
    END WHILE;
    IF FIND_IN_SET('custom', in_views) THEN
      SELECT CONCAT('Top ', row_limit, ' Queries Using Custom View') AS `Next Output`;
      SET custom = COALESCE(@sys.statement_performance_analyzer.view,
                            sys.sys_get_config('statement_performance_analyzer.view', NULL));
      IF custom IS NULL THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
          'The @sys.statement_performance_analyzer.view user variable must be set with the view or query to use.';
      END IF;
      IF LOCATE(' ', custom) = 0 THEN
        SET db = IF(LOCATE('.', custom) > 0, SUBSTRING_INDEX(custom, '.', 1), 'sys');
        SET tab = SUBSTRING_INDEX(custom, '.', -1);
        SET custom = NULL;
        SELECT VIEW_DEFINITION INTO custom FROM information_schema.VIEWS WHERE TABLE_SCHEMA = db AND TABLE_NAME = tab;
        IF custom IS NULL THEN
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
            'The @sys.statement_performance_analyzer.view user variable is set but specified neither an existing view nor a query.';
        END IF;
      END IF;
      SET custom = REPLACE(REPLACE(custom, '`performance_schema`.`events_statements_summary_by_digest`', source),
                           'performance_schema.events_statements_summary_by_digest', source);
      CALL sys.execute_prepared_stmt(CONCAT(custom, IF(row_limit > 0, CONCAT(' LIMIT ', row_limit), '')));
    END IF;
    DROP TEMPORARY TABLE IF EXISTS sys.tmp_digests_95th_percentile;
  END IF;
  SET SESSION sql_log_bin = logged;
  SET SESSION group_concat_max_len = kept;
END
$$
CREATE PROCEDURE ps_trace_statement_digest(IN in_digest varchar(64), IN in_runtime int, IN in_interval decimal(2,2),
                                           IN in_start_fresh boolean, IN in_auto_enable boolean)
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'What executions of a digest do in the next seconds: figures, stages, the longest of them and its EXPLAIN.'
BEGIN
  DECLARE logged boolean DEFAULT @@SESSION.sql_log_bin;
  DECLARE ends double DEFAULT UNIX_TIMESTAMP(NOW(6)) + in_runtime;
  DECLARE longest bigint unsigned;
  DECLARE thread bigint unsigned;
  DECLARE text longtext;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    SET SESSION sql_log_bin = logged;
    RESIGNAL;
  END;
  SET SESSION sql_log_bin = 0;
  IF in_start_fresh THEN
    TRUNCATE TABLE performance_schema.events_statements_history_long;
    TRUNCATE TABLE performance_schema.events_stages_history_long;
  END IF;
  IF in_auto_enable THEN
    CALL sys.ps_setup_save(0);
    UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'
     WHERE NAME LIKE 'events\_statements\_%' OR NAME LIKE 'events\_stages\_%'
        OR NAME IN ('global_instrumentation', 'thread_instrumentation');
    UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES'
     WHERE NAME LIKE 'statement/%' OR NAME LIKE 'stage/%';
  END IF;
  DROP TEMPORARY TABLE IF EXISTS sys.tmp_trace_statements, sys.tmp_trace_stages;
  CREATE TEMPORARY TABLE sys.tmp_trace_statements (PRIMARY KEY (THREAD_ID, EVENT_ID))
    AS SELECT * FROM performance_schema.events_statements_history_long LIMIT 0;
  CREATE TEMPORARY TABLE sys.tmp_trace_stages (PRIMARY KEY (THREAD_ID, EVENT_ID))
    AS SELECT * FROM performance_schema.events_stages_history_long LIMIT 0;
  REPEAT
    INSERT IGNORE INTO sys.tmp_trace_statements
      SELECT * FROM performance_schema.events_statements_history_long WHERE DIGEST = in_digest;
    INSERT IGNORE INTO sys.tmp_trace_stages
      SELECT g.* FROM performance_schema.events_stages_history_long AS g
        JOIN sys.tmp_trace_statements AS s ON s.THREAD_ID = g.THREAD_ID AND s.EVENT_ID = g.NESTING_EVENT_ID;
    DO SLEEP(in_interval);
  UNTIL UNIX_TIMESTAMP(SYSDATE(6)) >= ends END REPEAT;

  SELECT 'SUMMARY STATISTICS';
  SELECT COUNT(*) AS executions, FORMAT_PICO_TIME(SUM(TIMER_WAIT)) AS exec_time,
         FORMAT_PICO_TIME(SUM(LOCK_TIME)) AS lock_time, SUM(ROWS_SENT) AS rows_sent, SUM(ROWS_AFFECTED) AS rows_affected,
         SUM(ROWS_EXAMINED) AS rows_examined, SUM(CREATED_TMP_TABLES) AS tmp_tables, SUM(NO_INDEX_USED) AS full_scans
    FROM sys.tmp_trace_statements;
  SELECT EVENT_NAME AS event_name, COUNT(*) AS count, FORMAT_PICO_TIME(SUM(TIMER_WAIT)) AS latency
    FROM sys.tmp_trace_stages GROUP BY EVENT_NAME ORDER BY SUM(TIMER_WAIT) DESC;
  SELECT 'LONGEST RUNNING STATEMENT';
  SELECT THREAD_ID AS thread_id, FORMAT_PICO_TIME(TIMER_WAIT) AS exec_time, FORMAT_PICO_TIME(LOCK_TIME) AS lock_time,
         ROWS_SENT AS rows_sent, ROWS_AFFECTED AS rows_affected, ROWS_EXAMINED AS rows_examined,
         CREATED_TMP_TABLES AS tmp_tables, NO_INDEX_USED AS full_scan
    FROM sys.tmp_trace_statements ORDER BY TIMER_WAIT DESC LIMIT 1;
  SELECT SQL_TEXT AS sql_text FROM sys.tmp_trace_statements ORDER BY TIMER_WAIT DESC LIMIT 1;
  SET text = (SELECT SQL_TEXT FROM sys.tmp_trace_statements ORDER BY TIMER_WAIT DESC LIMIT 1);
  SET thread = (SELECT THREAD_ID FROM sys.tmp_trace_statements ORDER BY TIMER_WAIT DESC LIMIT 1);
  SET longest = (SELECT EVENT_ID FROM sys.tmp_trace_statements ORDER BY TIMER_WAIT DESC LIMIT 1);
  SELECT EVENT_NAME AS event_name, FORMAT_PICO_TIME(TIMER_WAIT) AS latency
    FROM sys.tmp_trace_stages WHERE THREAD_ID = thread AND NESTING_EVENT_ID = longest ORDER BY EVENT_ID;
  IF text IS NOT NULL THEN
    BEGIN
      -- A text that is cut, names of another schema, statements without a plan: nothing is shown.
      DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
      CALL sys.execute_prepared_stmt(CONCAT('EXPLAIN FORMAT=TRADITIONAL ', text));
    END;
  END IF;
  DROP TEMPORARY TABLE sys.tmp_trace_statements, sys.tmp_trace_stages;
  IF in_auto_enable THEN
    CALL sys.ps_setup_reload_saved();
  END IF;
  SET SESSION sql_log_bin = logged;
END
$$
CREATE PROCEDURE ps_trace_thread(IN in_thread_id bigint unsigned, IN in_outfile varchar(255), IN in_max_runtime decimal(20,2),
                                 IN in_interval decimal(20,2), IN in_start_fresh boolean, IN in_auto_setup boolean,
                                 IN in_debug boolean)
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Writes what a thread does in the next seconds to a file, as a graph for the program dot.'
BEGIN
  DECLARE logged boolean DEFAULT @@SESSION.sql_log_bin;
  DECLARE ends double DEFAULT UNIX_TIMESTAMP(NOW(6)) + COALESCE(in_max_runtime, 60);
  DECLARE kept bigint unsigned DEFAULT @@SESSION.group_concat_max_len;
  DECLARE graph longtext;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    SET SESSION sql_log_bin = logged;
    SET SESSION group_concat_max_len = kept;
    RESIGNAL;
  END;
  SET SESSION sql_log_bin = 0;
  IF in_auto_setup THEN
    CALL sys.ps_setup_save(0);
    UPDATE performance_schema.threads SET INSTRUMENTED = IF(THREAD_ID = in_thread_id, 'YES', 'NO');
    UPDATE performance_schema.setup_consumers SET ENABLED = 'YES';
    UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME NOT LIKE 'wait/synch/%';
  END IF;
  IF in_start_fresh THEN
    TRUNCATE TABLE performance_schema.events_statements_history_long;
    TRUNCATE TABLE performance_schema.events_stages_history_long;
    TRUNCATE TABLE performance_schema.events_waits_history_long;
    TRUNCATE TABLE performance_schema.events_transactions_history_long;
  END IF;
  DROP TEMPORARY TABLE IF EXISTS sys.tmp_trace_events;
  CREATE TEMPORARY TABLE sys.tmp_trace_events (
    event_id bigint unsigned PRIMARY KEY, parent bigint unsigned, kind varchar(16), label longtext);
  SELECT CONCAT('Data collection starting for THREAD_ID = ', in_thread_id) AS Info;
  REPEAT
    INSERT IGNORE INTO sys.tmp_trace_events
      SELECT EVENT_ID, NESTING_EVENT_ID, 'transaction',
             CONCAT('transaction\n', COALESCE(FORMAT_PICO_TIME(TIMER_WAIT), ''), '\nstate: ', COALESCE(STATE, ''),
                    '\nmode: ', COALESCE(ACCESS_MODE, ''), IF(in_debug, CONCAT('\n', COALESCE(SOURCE, '')), ''))
        FROM performance_schema.events_transactions_history_long WHERE THREAD_ID = in_thread_id
      UNION ALL
      SELECT EVENT_ID, NESTING_EVENT_ID, 'statement',
             CONCAT(SUBSTRING_INDEX(EVENT_NAME, '/', -2), '\n', COALESCE(FORMAT_PICO_TIME(TIMER_WAIT), ''), '\n',
                    COALESCE(sys.format_statement(SQL_TEXT), ''), '\nerrors: ', ERRORS, '\nwarnings: ', WARNINGS,
                    '\nrows examined: ', ROWS_EXAMINED, '\nrows sent: ', ROWS_SENT,
                    IF(in_debug, CONCAT('\n', COALESCE(SOURCE, '')), ''))
        FROM performance_schema.events_statements_history_long WHERE THREAD_ID = in_thread_id
      UNION ALL
      SELECT EVENT_ID, NESTING_EVENT_ID, 'stage',
             CONCAT(SUBSTRING_INDEX(EVENT_NAME, '/', -1), '\n', COALESCE(FORMAT_PICO_TIME(TIMER_WAIT), ''),
                    IF(in_debug, CONCAT('\n', COALESCE(SOURCE, '')), ''))
        FROM performance_schema.events_stages_history_long WHERE THREAD_ID = in_thread_id
      UNION ALL
      SELECT EVENT_ID, NESTING_EVENT_ID, 'wait',
             CONCAT(SUBSTRING_INDEX(EVENT_NAME, '/', -3), '\n', COALESCE(FORMAT_PICO_TIME(TIMER_WAIT), ''),
                    COALESCE(CONCAT('\n', OBJECT_NAME), ''), IF(in_debug, CONCAT('\n', COALESCE(SOURCE, '')), ''))
        FROM performance_schema.events_waits_history_long WHERE THREAD_ID = in_thread_id;
    DO SLEEP(COALESCE(in_interval, 1));
  UNTIL UNIX_TIMESTAMP(SYSDATE(6)) >= ends END REPEAT;
  SET SESSION group_concat_max_len = 1 << 30;
  SELECT GROUP_CONCAT(
           CONCAT('  e', event_id, ' [label=', JSON_QUOTE(label), ', shape=box, style=filled, fillcolor=',
                  ELT(FIELD(kind, 'transaction', 'statement', 'stage', 'wait'), 'lightyellow', 'lightblue', 'lightgreen', 'white'),
                  '];\n', IF(COALESCE(parent, 0) = 0, '', CONCAT('  e', parent, ' -> e', event_id, ';\n')))
           ORDER BY event_id SEPARATOR '')
    INTO graph FROM sys.tmp_trace_events;
  SET SESSION group_concat_max_len = kept;
  SET @sys.trace_graph = CONCAT('digraph events {\n  rankdir=LR;\n  nodesep=0.10;\n', COALESCE(graph, ''), '}');
  CALL sys.execute_prepared_stmt(CONCAT('SELECT @sys.trace_graph INTO OUTFILE ', QUOTE(in_outfile),
                                        ' FIELDS ESCAPED BY '''' LINES TERMINATED BY ''\\n'''));
  SET @sys.trace_graph = NULL;
  DROP TEMPORARY TABLE sys.tmp_trace_events;
  SELECT CONCAT('Stack trace written to ', in_outfile) AS Info;
  SELECT CONCAT('dot -Tpdf -o /tmp/stack_', in_thread_id, '.pdf ', in_outfile) AS `Convert to PDF`;
  SELECT CONCAT('dot -Tpng -o /tmp/stack_', in_thread_id, '.png ', in_outfile) AS `Convert to PNG`;
  IF in_auto_setup THEN
    CALL sys.ps_setup_reload_saved();
  END IF;
  SET SESSION sql_log_bin = logged;
END
$$
CREATE PROCEDURE diagnostics(IN in_max_runtime int unsigned, IN in_interval int unsigned,
                             IN in_auto_config enum('current','medium','full'))
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'A report of the server: settings, the views of this schema as they are and what changed in them, replication.'
BEGIN
  DECLARE logged boolean DEFAULT @@SESSION.sql_log_bin;
  DECLARE kept bigint unsigned DEFAULT @@SESSION.group_concat_max_len;
  DECLARE runtime int unsigned DEFAULT COALESCE(in_max_runtime, 60);
  DECLARE step int unsigned DEFAULT COALESCE(in_interval, 30);
  DECLARE ends double;
  DECLARE i, n int unsigned DEFAULT 0;
  DECLARE views json;
  DECLARE view_name varchar(64);
  DECLARE text, keys_text longtext;
  DECLARE raw, with_tables boolean;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    SET SESSION sql_log_bin = logged;
    SET SESSION group_concat_max_len = kept;
    RESIGNAL;
  END;
  IF runtime < step THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'in_max_runtime must be greater than or equal to in_interval';
  ELSEIF runtime = 0 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'in_max_runtime must be greater than 0';
  ELSEIF step = 0 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'in_interval must be greater than 0';
  END IF;
  SET raw = COALESCE(@sys.diagnostics.include_raw, sys.sys_get_config('diagnostics.include_raw', 'OFF')) = 'ON';
  SET with_tables = COALESCE(@sys.diagnostics.allow_i_s_tables,
                             sys.sys_get_config('diagnostics.allow_i_s_tables', 'OFF')) = 'ON';
  SET SESSION sql_log_bin = 0;
  SET SESSION group_concat_max_len = 1048576;
  SET ends = UNIX_TIMESTAMP(NOW(6)) + runtime;
  IF in_auto_config IN ('medium', 'full') THEN
    CALL sys.ps_setup_save(0);
    UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'
     WHERE in_auto_config = 'full' OR NAME NOT LIKE '%\_history%';
    UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES'
     WHERE in_auto_config = 'full' OR NAME NOT LIKE 'wait/synch/%';
  END IF;

  SELECT 'Server' AS `Next Output`;
  SELECT @@hostname AS Hostname, @@port AS Port, @@socket AS Socket, @@datadir AS Datadir, @@server_uuid AS `Server UUID`,
         VERSION() AS `MySQL Version`, (SELECT sys_version FROM sys.version) AS `Sys Schema Version`,
         @@version_comment AS `Version Comment`, @@version_compile_os AS `Version Compile OS`,
         @@version_compile_machine AS `Version Compile Machine`, UTC_TIMESTAMP() AS `UTC Time`, NOW() AS `Local Time`,
         @@time_zone AS `Time Zone`, @@system_time_zone AS `System Time Zone`;
  SELECT 'Global Variables' AS `Next Output`;
  SELECT VARIABLE_NAME AS Variable_name, VARIABLE_VALUE AS Variable_value
    FROM performance_schema.global_variables ORDER BY VARIABLE_NAME;
  SELECT 'Performance Schema Setup' AS `Next Output`;
  CALL sys.ps_setup_show_enabled(FALSE, TRUE);
  SELECT SUBSTRING_INDEX(NAME, '/', 2) AS InstrumentClass, SUM(ENABLED = 'YES') AS Enabled, SUM(TIMED = 'YES') AS Timed, COUNT(*) AS Total
    FROM performance_schema.setup_instruments GROUP BY InstrumentClass ORDER BY InstrumentClass;
  SELECT 'Plugins' AS `Next Output`;
  SELECT PLUGIN_NAME, PLUGIN_STATUS, PLUGIN_TYPE, PLUGIN_VERSION FROM information_schema.PLUGINS ORDER BY PLUGIN_NAME;
  IF with_tables THEN
    SELECT 'Storage Engines Used' AS `Next Output`;
    SELECT ENGINE AS engine, COUNT(*) AS num_tables, FORMAT_BYTES(SUM(DATA_LENGTH)) AS total_data,
           FORMAT_BYTES(SUM(INDEX_LENGTH)) AS total_index
      FROM information_schema.TABLES
     WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys') AND ENGINE IS NOT NULL
     GROUP BY ENGINE ORDER BY ENGINE;
    SELECT 'Schema Object Overview' AS `Next Output`;
    SELECT * FROM sys.schema_object_overview;
    SELECT 'Unused Indexes' AS `Next Output`;
    SELECT * FROM sys.schema_unused_indexes;
  END IF;

  -- The views of figures that only grow: kept now, shown at the end, with what was added between.
  SET views = JSON_ARRAY('host_summary_by_file_io_type', 'host_summary_by_statement_type', 'io_by_thread_by_latency',
                         'io_global_by_file_by_bytes', 'io_global_by_file_by_latency', 'io_global_by_wait_by_bytes',
                         'io_global_by_wait_by_latency', 'schema_index_statistics', 'schema_table_statistics',
                         'schema_tables_with_full_table_scans', 'user_summary', 'user_summary_by_file_io',
                         'user_summary_by_statement_latency', 'user_summary_by_statement_type',
                         'wait_classes_global_by_avg_latency', 'waits_by_host_by_latency', 'waits_by_user_by_latency',
                         'waits_global_by_latency');
  WHILE i < JSON_LENGTH(views) DO
    SET view_name = JSON_UNQUOTE(JSON_EXTRACT(views, CONCAT('$[', i, ']')));
    CALL sys.execute_prepared_stmt(CONCAT('DROP TEMPORARY TABLE IF EXISTS sys.`tmp_', view_name, '_start`'));
    CALL sys.execute_prepared_stmt(CONCAT('CREATE TEMPORARY TABLE sys.`tmp_', view_name, '_start` AS SELECT * FROM sys.`x$',
                                          view_name, '`'));
    IF raw THEN
      SELECT CONCAT('Initial: ', view_name) AS `Next Output`;
      CALL sys.execute_prepared_stmt(CONCAT('SELECT * FROM sys.`', view_name, '`'));
    END IF;
    SET i = i + 1;
  END WHILE;
  DROP TEMPORARY TABLE IF EXISTS sys.tmp_metrics_start;
  CREATE TEMPORARY TABLE sys.tmp_metrics_start AS SELECT * FROM sys.metrics;
  CALL sys.statement_performance_analyzer('create_tmp', 'sys.tmp_digests_start', NULL);
  CALL sys.statement_performance_analyzer('snapshot', NULL, NULL);
  CALL sys.statement_performance_analyzer('save', 'sys.tmp_digests_start', NULL);

  REPEAT
    SET n = n + 1;
    SELECT CONCAT('Iteration ', n) AS `Next Output`, NOW() AS `Local Time`;
    SELECT * FROM sys.processlist;
    SHOW ENGINE INNODB STATUS;
    SELECT * FROM sys.memory_global_total;
    DO SLEEP(GREATEST(0, LEAST(step, ends - UNIX_TIMESTAMP(SYSDATE(6)))));
  UNTIL UNIX_TIMESTAMP(SYSDATE(6)) >= ends END REPEAT;

  SET i = 0;
  WHILE i < JSON_LENGTH(views) DO
    SET view_name = JSON_UNQUOTE(JSON_EXTRACT(views, CONCAT('$[', i, ']')));
    SELECT CONCAT('Overall: ', view_name) AS `Next Output`;
    CALL sys.execute_prepared_stmt(CONCAT('SELECT * FROM sys.`', view_name, '`'));
    -- Numbers of the raw view are differences, but for the least, the greatest and averages; the other columns are the key.
    SELECT GROUP_CONCAT(
             CASE
               WHEN x.DATA_TYPE LIKE '%char' THEN CONCAT('e.`', x.COLUMN_NAME, '`')
               ELSE CONCAT(
                 CASE WHEN v.DATA_TYPE NOT LIKE '%char' THEN '(' WHEN x.COLUMN_NAME LIKE '%latency' THEN 'FORMAT_PICO_TIME('
                      ELSE 'FORMAT_BYTES(' END,
                 IF(x.COLUMN_NAME REGEXP '^(min|max|unique)_|avg|pct|_id$|current',
                    CONCAT('e.`', x.COLUMN_NAME, '`'),
                    CONCAT('CAST(e.`', x.COLUMN_NAME, '` AS decimal(65, 0)) - COALESCE(b.`', x.COLUMN_NAME, '`, 0)')),
                 ') AS `', x.COLUMN_NAME, '`')
             END ORDER BY x.ORDINAL_POSITION),
           GROUP_CONCAT(IF(x.DATA_TYPE LIKE '%char', CONCAT('b.`', x.COLUMN_NAME, '` <=> e.`', x.COLUMN_NAME, '`'), NULL)
                        SEPARATOR ' AND ')
      INTO text, keys_text
      FROM information_schema.COLUMNS AS x
      JOIN information_schema.COLUMNS AS v
        ON v.TABLE_SCHEMA = 'sys' AND v.TABLE_NAME = view_name AND v.COLUMN_NAME = x.COLUMN_NAME
     WHERE x.TABLE_SCHEMA = 'sys' AND x.TABLE_NAME = CONCAT('x$', view_name);
    SELECT CONCAT('Delta: ', view_name) AS `Next Output`;
    CALL sys.execute_prepared_stmt(CONCAT('SELECT ', text, ' FROM sys.`x$', view_name, '` AS e LEFT JOIN sys.`tmp_', view_name,
                                          '_start` AS b ON ', keys_text));
    CALL sys.execute_prepared_stmt(CONCAT('DROP TEMPORARY TABLE sys.`tmp_', view_name, '_start`'));
    SET i = i + 1;
  END WHILE;
  SELECT 'Delta: metrics' AS `Next Output`;
  SELECT e.Variable_name, e.Variable_value, e.Variable_value - b.Variable_value AS Delta, e.Type, e.Enabled
    FROM sys.metrics AS e JOIN sys.tmp_metrics_start AS b ON b.Variable_name = e.Variable_name AND b.Type = e.Type
   WHERE e.Variable_value REGEXP '^[0-9]+(\\.[0-9]+)?$' AND b.Variable_value REGEXP '^[0-9]+(\\.[0-9]+)?$';
  DROP TEMPORARY TABLE sys.tmp_metrics_start;
  CALL sys.statement_performance_analyzer('snapshot', NULL, NULL);
  CALL sys.statement_performance_analyzer('overall', NULL, NULL);
  CALL sys.statement_performance_analyzer('delta', 'sys.tmp_digests_start', NULL);
  CALL sys.statement_performance_analyzer('cleanup', NULL, NULL);
  DROP TEMPORARY TABLE sys.tmp_digests_start;
  SELECT 'Replication' AS `Next Output`;
  SELECT * FROM performance_schema.replication_connection_configuration;
  SELECT * FROM performance_schema.replication_connection_status;
  SELECT * FROM performance_schema.replication_applier_status_by_worker;
  IF in_auto_config IN ('medium', 'full') THEN
    CALL sys.ps_setup_reload_saved();
  END IF;
  SET SESSION sql_log_bin = logged;
  SET SESSION group_concat_max_len = kept;
  SELECT SEC_TO_TIME(CAST(UNIX_TIMESTAMP(SYSDATE(6)) - (ends - runtime) AS signed)) AS Duration;
END
$$
