-- What is instrumented, and what threads do.
CREATE FUNCTION ps_is_account_enabled(in_host varchar(255), in_user varchar(32)) RETURNS enum('YES','NO')
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Are new threads of the account instrumented?'
RETURN IF(EXISTS (SELECT 1 FROM performance_schema.setup_actors AS a
                   WHERE (a.HOST = '%' OR in_host LIKE a.HOST)
                     AND a.USER IN (in_user, '%')
                     AND a.ENABLED = 'YES'), 'YES', 'NO')
$$
CREATE FUNCTION ps_is_consumer_enabled(in_consumer varchar(64)) RETURNS enum('YES','NO')
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Is a consumer enabled, with all those above it?'
BEGIN
  DECLARE off int unsigned;
  DECLARE message text;
  IF in_consumer IS NULL THEN
    RETURN NULL;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM performance_schema.setup_consumers WHERE NAME = in_consumer) THEN
    SET message = CONCAT('Invalid argument error: ', in_consumer, ' in function sys.ps_is_consumer_enabled.');
    SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 3047, MESSAGE_TEXT = message;
  END IF;
  SELECT COUNT(*) INTO off FROM performance_schema.setup_consumers AS c
   WHERE c.ENABLED = 'NO'
     AND (c.NAME = in_consumer
          OR c.NAME = 'global_instrumentation'
          OR c.NAME = 'thread_instrumentation' AND in_consumer LIKE 'events\_%'
          OR c.NAME LIKE '%\_current' AND in_consumer LIKE REPLACE(REPLACE(c.NAME, '_current', '_history%'), '_', '\\_'));
  RETURN IF(off = 0, 'YES', 'NO');
END
$$
CREATE FUNCTION ps_is_instrument_default_enabled(in_instrument varchar(128)) RETURNS enum('YES','NO')
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Is an instrument enabled where nobody has set it otherwise?'
RETURN CASE
  WHEN in_instrument LIKE 'wait/synch/%' OR in_instrument LIKE 'wait/io/socket/%' THEN 'NO'
  WHEN in_instrument LIKE 'stage/%' THEN
    IF(EXISTS (SELECT 1 FROM performance_schema.setup_instruments AS i
                WHERE i.NAME = in_instrument AND FIND_IN_SET('progress', i.PROPERTIES)), 'YES', 'NO')
  ELSE 'YES'
END
$$
CREATE FUNCTION ps_is_instrument_default_timed(in_instrument varchar(128)) RETURNS enum('YES','NO')
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Is an instrument timed where nobody has set it otherwise?'
RETURN CASE
  WHEN in_instrument LIKE 'wait/synch/%' OR in_instrument LIKE 'memory/%' THEN 'NO'
  WHEN in_instrument LIKE 'stage/%' THEN
    IF(EXISTS (SELECT 1 FROM performance_schema.setup_instruments AS i
                WHERE i.NAME = in_instrument AND FIND_IN_SET('progress', i.PROPERTIES)), 'YES', 'NO')
  ELSE 'YES'
END
$$
CREATE FUNCTION ps_is_thread_instrumented(in_connection_id bigint unsigned) RETURNS enum('YES','NO','UNKNOWN')
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Is the thread of a connection instrumented?'
BEGIN
  DECLARE found varchar(7);
  IF in_connection_id IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT MAX(t.INSTRUMENTED) INTO found FROM performance_schema.threads AS t WHERE t.PROCESSLIST_ID = in_connection_id;
  RETURN COALESCE(found, 'UNKNOWN');
END
$$
CREATE FUNCTION ps_thread_id(in_connection_id bigint unsigned) RETURNS bigint unsigned
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'The thread of a connection; without one, of the caller. The function PS_THREAD_ID of the server does the same.'
RETURN PS_THREAD_ID(COALESCE(in_connection_id, CONNECTION_ID()))
$$
CREATE FUNCTION ps_thread_account(in_thread_id bigint unsigned) RETURNS text
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'The account of a thread as user@host, or BACKGROUND.'
RETURN (SELECT CASE t.TYPE WHEN 'FOREGROUND' THEN CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST) ELSE 'BACKGROUND' END
          FROM performance_schema.threads AS t WHERE t.THREAD_ID = in_thread_id)
$$
CREATE FUNCTION ps_thread_stack(thd_id bigint unsigned, debug boolean) RETURNS longtext CHARSET latin1
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'The events of a thread as JSON: statements, stages and waits, each with the event that it is nested in.'
BEGIN
  DECLARE kept bigint unsigned DEFAULT @@SESSION.group_concat_max_len;
  DECLARE events longtext;
  SET SESSION group_concat_max_len = 1 << 30;
  SELECT GROUP_CONCAT(e.json ORDER BY e.id) INTO events FROM (
    SELECT s.EVENT_ID AS id,
           CONCAT('{"nesting_event_id": "', COALESCE(s.NESTING_EVENT_ID, 0),
                  '", "event_id": "', s.EVENT_ID,
                  '", "timer_wait": ', ROUND(COALESCE(s.TIMER_WAIT, 0) / 1000000, 2),
                  ', "event_info": "', SUBSTRING_INDEX(s.EVENT_NAME, '/', -2),
                  '", "wait_info": ', JSON_QUOTE(CONCAT(
                      COALESCE(s.SQL_TEXT, ''), '\n',
                      'errors: ', s.ERRORS, '\nwarnings: ', s.WARNINGS,
                      '\nlock time: ', ROUND(s.LOCK_TIME / 1000000, 2), 'us',
                      '\nrows affected: ', s.ROWS_AFFECTED, '\nrows sent: ', s.ROWS_SENT,
                      '\nrows examined: ', s.ROWS_EXAMINED,
                      '\ntmp tables: ', s.CREATED_TMP_TABLES, '\ntmp disk tables: ', s.CREATED_TMP_DISK_TABLES,
                      '\nselect scan: ', s.SELECT_SCAN, '\nselect full join: ', s.SELECT_FULL_JOIN,
                      '\nselect full range join: ', s.SELECT_FULL_RANGE_JOIN,
                      '\nselect range: ', s.SELECT_RANGE, '\nselect range check: ', s.SELECT_RANGE_CHECK,
                      '\nsort merge passes: ', s.SORT_MERGE_PASSES, '\nsort rows: ', s.SORT_ROWS,
                      '\nsort range: ', s.SORT_RANGE, '\nsort scan: ', s.SORT_SCAN,
                      '\nno index used: ', IF(s.NO_INDEX_USED, 'TRUE', 'FALSE'),
                      '\nno good index used: ', IF(s.NO_GOOD_INDEX_USED, 'TRUE', 'FALSE'), '\n')),
                  ', "source": "", "event_type": "stmt"}') AS json
      FROM performance_schema.events_statements_history_long AS s WHERE s.THREAD_ID = thd_id
    UNION ALL
    SELECT g.EVENT_ID,
           CONCAT('{"nesting_event_id": "', COALESCE(g.NESTING_EVENT_ID, 0),
                  '", "event_id": "', g.EVENT_ID,
                  '", "timer_wait": ', ROUND(COALESCE(g.TIMER_WAIT, 0) / 1000000, 2),
                  ', "event_info": ', JSON_QUOTE(SUBSTRING_INDEX(g.EVENT_NAME, '/', -2)),
                  ', "wait_info": "", "source": "', IF(debug, COALESCE(g.SOURCE, ''), ''), '", "event_type": "stage"}')
      FROM performance_schema.events_stages_history_long AS g WHERE g.THREAD_ID = thd_id
    UNION ALL
    SELECT w.EVENT_ID,
           CONCAT('{"nesting_event_id": "', COALESCE(w.NESTING_EVENT_ID, 0),
                  '", "event_id": "', w.EVENT_ID,
                  '", "timer_wait": ', ROUND(COALESCE(w.TIMER_WAIT, 0) / 1000000, 2),
                  ', "event_info": ', JSON_QUOTE(CONCAT(CASE
                      WHEN w.EVENT_NAME LIKE 'wait/io/file/%' THEN SUBSTRING_INDEX(w.OBJECT_NAME, '/', -3)
                      WHEN w.EVENT_NAME LIKE 'wait/%/table/%'
                        THEN CONCAT(SUBSTRING_INDEX(w.EVENT_NAME, '/', -2), ' ', COALESCE(w.OBJECT_SCHEMA, ''), '.',
                                    COALESCE(w.OBJECT_NAME, ''))
                      WHEN w.EVENT_NAME = 'idle' THEN 'idle - idle'
                      ELSE CONCAT(SUBSTRING_INDEX(w.EVENT_NAME, '/', -2), ' - ', w.OPERATION) END, '\\n')),
                  ', "wait_info": ', JSON_QUOTE(COALESCE(w.SOURCE, '')),
                  ', "source": "', IF(debug AND w.EVENT_NAME <> 'idle', COALESCE(w.SOURCE, ''), ''),
                  '", "event_type": "', CASE
                      WHEN w.EVENT_NAME LIKE 'wait/io/file/%' THEN 'io/file'
                      WHEN w.EVENT_NAME LIKE 'wait/io/table/%' THEN 'io/table'
                      WHEN w.EVENT_NAME LIKE 'wait/io/socket/%' THEN 'io/socket'
                      WHEN w.EVENT_NAME LIKE 'wait/synch/%' THEN SUBSTRING_INDEX(SUBSTRING(w.EVENT_NAME, 6), '/', 2)
                      WHEN w.EVENT_NAME LIKE 'wait/lock/%' THEN SUBSTRING_INDEX(SUBSTRING(w.EVENT_NAME, 6), '/', 2)
                      ELSE SUBSTRING_INDEX(w.EVENT_NAME, '/', 1) END, '"}')
      FROM performance_schema.events_waits_history_long AS w WHERE w.THREAD_ID = thd_id
  ) AS e;
  SET SESSION group_concat_max_len = kept;
  RETURN CONCAT('{"rankdir": "LR","nodesep": "0.10","stack_created": "', NOW(),
                '","mysql_version": "', VERSION(), '","mysql_user": "', CURRENT_USER(),
                '","events": [', COALESCE(events, ''), ']}');
END
$$
CREATE FUNCTION ps_thread_trx_info(in_thread_id bigint unsigned) RETURNS longtext
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'The last transactions of a thread as JSON, each with its statements.'
BEGIN
  DECLARE kept bigint unsigned DEFAULT @@SESSION.group_concat_max_len;
  DECLARE told, message longtext;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION, SQLWARNING
  BEGIN
    GET DIAGNOSTICS CONDITION 1 message = MESSAGE_TEXT, @sys.trx_info_errno = MYSQL_ERRNO;
    SET SESSION group_concat_max_len = kept;
    RETURN CONCAT('{ "error": "', IF(@sys.trx_info_errno = 1260, 'Trx info truncated: ', ''), message, '" }');
  END;
  IF @sys.ps_thread_trx_info.max_length IS NULL THEN
    SET @sys.ps_thread_trx_info.max_length = sys.sys_get_config('ps_thread_trx_info.max_length', 65535);
  END IF;
  SET SESSION group_concat_max_len = CAST(@sys.ps_thread_trx_info.max_length AS unsigned);
  SELECT CONCAT('[', GROUP_CONCAT(CONCAT(
           '\n  {\n    "time": "', COALESCE(FORMAT_PICO_TIME(t.TIMER_WAIT), ''),
           '",\n    "state": "', COALESCE(t.STATE, ''),
           '",\n    "mode": "', COALESCE(t.ACCESS_MODE, ''),
           '",\n    "autocommitted": "', t.AUTOCOMMIT,
           '",\n    "gtid": "', COALESCE(t.GTID, ''),
           '",\n    "isolation": "', COALESCE(t.ISOLATION_LEVEL, ''),
           '",\n    "statements_executed": [', COALESCE(s.statements, ' '), ']\n  }') ORDER BY t.EVENT_ID), '\n]')
    INTO told
    FROM (SELECT * FROM performance_schema.events_transactions_history AS h WHERE h.THREAD_ID = in_thread_id
          UNION
          SELECT * FROM performance_schema.events_transactions_current AS c WHERE c.THREAD_ID = in_thread_id) AS t
    LEFT JOIN (SELECT h.NESTING_EVENT_ID, CONCAT(GROUP_CONCAT(CONCAT(
                        '\n      {\n        "sql_text": ', JSON_QUOTE(sys.format_statement(COALESCE(h.SQL_TEXT, ''))),
                        ',\n        "time": "', COALESCE(FORMAT_PICO_TIME(h.TIMER_WAIT), ''),
                        '",\n        "schema": "', COALESCE(h.CURRENT_SCHEMA, ''),
                        '",\n        "rows_examined": ', h.ROWS_EXAMINED,
                        ',\n        "rows_affected": ', h.ROWS_AFFECTED,
                        ',\n        "rows_sent": ', h.ROWS_SENT,
                        ',\n        "tmp_tables": ', h.CREATED_TMP_TABLES,
                        ',\n        "tmp_disk_tables": ', h.CREATED_TMP_DISK_TABLES,
                        ',\n        "sort_rows": ', h.SORT_ROWS,
                        ',\n        "sort_merge_passes": ', h.SORT_MERGE_PASSES,
                        '\n      }') ORDER BY h.EVENT_ID), '\n    ') AS statements
                 FROM performance_schema.events_statements_history AS h
                WHERE h.THREAD_ID = in_thread_id AND h.NESTING_EVENT_TYPE = 'TRANSACTION'
                GROUP BY h.NESTING_EVENT_ID) AS s ON s.NESTING_EVENT_ID = t.EVENT_ID;
  SET SESSION group_concat_max_len = kept;
  RETURN told;
END
$$
