-- What is collected: shown, changed, kept, and put back.
CREATE PROCEDURE ps_setup_disable_background_threads()
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Disables the instrumentation of all background threads.'
BEGIN
  UPDATE performance_schema.threads SET INSTRUMENTED = 'NO' WHERE TYPE = 'BACKGROUND';
  SELECT CONCAT('Disabled ', ROW_COUNT(), ' background thread', IF(ROW_COUNT() = 1, '', 's')) AS summary;
END
$$
CREATE PROCEDURE ps_setup_disable_thread(IN in_connection_id bigint)
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Disables the instrumentation of the thread of a connection.'
BEGIN
  UPDATE performance_schema.threads SET INSTRUMENTED = 'NO' WHERE PROCESSLIST_ID = in_connection_id;
  SELECT CONCAT('Disabled ', ROW_COUNT(), ' thread', IF(ROW_COUNT() = 1, '', 's')) AS summary;
END
$$
CREATE PROCEDURE ps_setup_disable_consumer(IN consumer varchar(128))
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Disables all consumers that have a text in their names.'
BEGIN
  UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME LIKE CONCAT('%', consumer, '%');
  SELECT CONCAT('Disabled ', ROW_COUNT(), ' consumer', IF(ROW_COUNT() = 1, '', 's')) AS summary;
END
$$
CREATE PROCEDURE ps_setup_disable_instrument(IN in_pattern varchar(128))
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Disables all instruments that have a text in their names.'
BEGIN
  UPDATE performance_schema.setup_instruments SET ENABLED = 'NO', TIMED = 'NO'
   WHERE NAME LIKE CONCAT('%', in_pattern, '%');
  SELECT CONCAT('Disabled ', ROW_COUNT(), ' instrument', IF(ROW_COUNT() = 1, '', 's')) AS summary;
END
$$
CREATE PROCEDURE ps_setup_enable_background_threads()
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Enables the instrumentation of all background threads.'
BEGIN
  UPDATE performance_schema.threads SET INSTRUMENTED = 'YES' WHERE TYPE = 'BACKGROUND';
  SELECT CONCAT('Enabled ', ROW_COUNT(), ' background thread', IF(ROW_COUNT() = 1, '', 's')) AS summary;
END
$$
CREATE PROCEDURE ps_setup_enable_thread(IN in_connection_id bigint)
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Enables the instrumentation of the thread of a connection.'
BEGIN
  UPDATE performance_schema.threads SET INSTRUMENTED = 'YES' WHERE PROCESSLIST_ID = in_connection_id;
  SELECT CONCAT('Enabled ', ROW_COUNT(), ' thread', IF(ROW_COUNT() = 1, '', 's')) AS summary;
END
$$
CREATE PROCEDURE ps_setup_enable_consumer(IN consumer varchar(128))
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Enables all consumers that have a text in their names.'
BEGIN
  UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME LIKE CONCAT('%', consumer, '%');
  SELECT CONCAT('Enabled ', ROW_COUNT(), ' consumer', IF(ROW_COUNT() = 1, '', 's')) AS summary;
END
$$
CREATE PROCEDURE ps_setup_enable_instrument(IN in_pattern varchar(128))
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Enables all instruments that have a text in their names.'
BEGIN
  UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES'
   WHERE NAME LIKE CONCAT('%', in_pattern, '%');
  SELECT CONCAT('Enabled ', ROW_COUNT(), ' instrument', IF(ROW_COUNT() = 1, '', 's')) AS summary;
END
$$
CREATE PROCEDURE ps_setup_show_disabled_consumers()
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'All consumers that are disabled.'
BEGIN
  SELECT NAME AS disabled_consumers FROM performance_schema.setup_consumers WHERE ENABLED = 'NO' ORDER BY NAME;
END
$$
CREATE PROCEDURE ps_setup_show_disabled_instruments()
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'All instruments that are disabled.'
BEGIN
  SELECT NAME AS disabled_instruments, TIMED AS timed FROM performance_schema.setup_instruments
   WHERE ENABLED = 'NO' ORDER BY NAME;
END
$$
CREATE PROCEDURE ps_setup_show_disabled(IN in_show_instruments boolean, IN in_show_threads boolean)
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'What of the Performance Schema is disabled.'
BEGIN
  SELECT @@performance_schema AS performance_schema_enabled;
  SELECT CONCAT(QUOTE(USER), '@', QUOTE(HOST)) AS disabled_users FROM performance_schema.setup_actors
   WHERE ENABLED = 'NO' ORDER BY disabled_users;
  SELECT OBJECT_TYPE AS object_type, CONCAT(OBJECT_SCHEMA, '.', OBJECT_NAME) AS objects, ENABLED AS enabled, TIMED AS timed
    FROM performance_schema.setup_objects WHERE ENABLED = 'NO' ORDER BY OBJECT_TYPE, objects;
  CALL sys.ps_setup_show_disabled_consumers();
  IF in_show_threads THEN
    SELECT IF(NAME = 'thread/sql/one_connection', CONCAT(PROCESSLIST_USER, '@', PROCESSLIST_HOST),
              REPLACE(NAME, 'thread/', '')) AS disabled_threads, TYPE AS thread_type
      FROM performance_schema.threads WHERE INSTRUMENTED = 'NO' ORDER BY disabled_threads;
  END IF;
  IF in_show_instruments THEN
    CALL sys.ps_setup_show_disabled_instruments();
  END IF;
END
$$
CREATE PROCEDURE ps_setup_show_enabled_consumers()
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'All consumers that are enabled.'
BEGIN
  SELECT NAME AS enabled_consumers FROM performance_schema.setup_consumers WHERE ENABLED = 'YES' ORDER BY NAME;
END
$$
CREATE PROCEDURE ps_setup_show_enabled_instruments()
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'All instruments that are enabled.'
BEGIN
  SELECT NAME AS enabled_instruments, TIMED AS timed FROM performance_schema.setup_instruments
   WHERE ENABLED = 'YES' ORDER BY NAME;
END
$$
CREATE PROCEDURE ps_setup_show_enabled(IN in_show_instruments boolean, IN in_show_threads boolean)
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'What of the Performance Schema is enabled.'
BEGIN
  SELECT @@performance_schema AS performance_schema_enabled;
  SELECT CONCAT(QUOTE(USER), '@', QUOTE(HOST)) AS enabled_users FROM performance_schema.setup_actors
   WHERE ENABLED = 'YES' ORDER BY enabled_users;
  SELECT OBJECT_TYPE AS object_type, CONCAT(OBJECT_SCHEMA, '.', OBJECT_NAME) AS objects, ENABLED AS enabled, TIMED AS timed
    FROM performance_schema.setup_objects WHERE ENABLED = 'YES' ORDER BY OBJECT_TYPE, objects;
  CALL sys.ps_setup_show_enabled_consumers();
  IF in_show_threads THEN
    SELECT IF(NAME = 'thread/sql/one_connection', CONCAT(PROCESSLIST_USER, '@', PROCESSLIST_HOST),
              REPLACE(NAME, 'thread/', '')) AS enabled_threads, TYPE AS thread_type
      FROM performance_schema.threads WHERE INSTRUMENTED = 'YES' ORDER BY enabled_threads;
  END IF;
  IF in_show_instruments THEN
    CALL sys.ps_setup_show_enabled_instruments();
  END IF;
END
$$
CREATE PROCEDURE ps_setup_save(IN in_timeout int)
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Keeps what is collected, for ps_setup_reload_saved(), and the lock sys.ps_setup_save until then.'
BEGIN
  DECLARE logged boolean DEFAULT @@SESSION.sql_log_bin;
  IF COALESCE(GET_LOCK('sys.ps_setup_save', in_timeout), 0) = 0 THEN
    SIGNAL SQLSTATE VALUE '90000'
      SET MESSAGE_TEXT = 'Could not lock the sys.ps_setup_save user lock, another thread has a saved configuration';
  END IF;
  SET SESSION sql_log_bin = 0;
  DROP TEMPORARY TABLE IF EXISTS sys.tmp_setup_actors, sys.tmp_setup_consumers, sys.tmp_setup_instruments, sys.tmp_threads;
  CREATE TEMPORARY TABLE sys.tmp_setup_actors AS SELECT * FROM performance_schema.setup_actors;
  CREATE TEMPORARY TABLE sys.tmp_setup_consumers AS SELECT * FROM performance_schema.setup_consumers;
  CREATE TEMPORARY TABLE sys.tmp_setup_instruments (PRIMARY KEY (NAME))
    AS SELECT NAME, ENABLED, TIMED FROM performance_schema.setup_instruments;
  CREATE TEMPORARY TABLE sys.tmp_threads (PRIMARY KEY (THREAD_ID))
    AS SELECT THREAD_ID, INSTRUMENTED FROM performance_schema.threads;
  SET SESSION sql_log_bin = logged;
END
$$
CREATE PROCEDURE ps_setup_reload_saved()
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Puts back what ps_setup_save() has kept.'
BEGIN
  DECLARE logged boolean DEFAULT @@SESSION.sql_log_bin;
  -- Nothing was kept, or it was put back before.
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    SET SESSION sql_log_bin = logged;
    SIGNAL SQLSTATE VALUE '90001'
      SET MESSAGE_TEXT = 'An error occurred, was sys.ps_setup_save() run before this procedure?';
  END;
  IF COALESCE(IS_USED_LOCK('sys.ps_setup_save') = CONNECTION_ID(), FALSE) IS FALSE THEN
    SIGNAL SQLSTATE VALUE '90001';
  END IF;
  SET SESSION sql_log_bin = 0;
  DELETE FROM performance_schema.setup_actors;
  INSERT INTO performance_schema.setup_actors SELECT * FROM sys.tmp_setup_actors;
  UPDATE performance_schema.setup_consumers AS c JOIN sys.tmp_setup_consumers AS k ON k.NAME = c.NAME
     SET c.ENABLED = k.ENABLED;
  UPDATE performance_schema.setup_instruments AS i JOIN sys.tmp_setup_instruments AS k ON k.NAME = i.NAME
     SET i.ENABLED = k.ENABLED, i.TIMED = k.TIMED;
  UPDATE performance_schema.threads AS t LEFT JOIN sys.tmp_threads AS k ON k.THREAD_ID = t.THREAD_ID
     -- Threads that have begun since are as new threads of background are.
     SET t.INSTRUMENTED = IF(k.INSTRUMENTED IS NULL AND t.TYPE = 'FOREGROUND',
                             sys.ps_is_account_enabled(t.PROCESSLIST_HOST, t.PROCESSLIST_USER),
                             COALESCE(k.INSTRUMENTED, 'YES'));
  DROP TEMPORARY TABLE sys.tmp_setup_actors, sys.tmp_setup_consumers, sys.tmp_setup_instruments, sys.tmp_threads;
  SET SESSION sql_log_bin = logged;
  DO RELEASE_LOCK('sys.ps_setup_save');
END
$$
CREATE PROCEDURE ps_setup_reset_to_default(IN in_verbose boolean)
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'What is collected where nobody has set it otherwise is collected again.'
BEGIN
  DECLARE step tinyint DEFAULT 0;
  DECLARE tables, texts json;
  SET tables = JSON_ARRAY('setup_actors', 'setup_actors', 'setup_instruments', 'setup_consumers', 'setup_objects',
                          'setup_objects', 'threads');
  SET texts = JSON_ARRAY(
    'DELETE FROM performance_schema.setup_actors WHERE (HOST, USER, ROLE) <> (''%'', ''%'', ''%'')',
    'INSERT IGNORE INTO performance_schema.setup_actors VALUES (''%'', ''%'', ''%'', ''YES'', ''YES'')',
    'UPDATE performance_schema.setup_instruments SET ENABLED = sys.ps_is_instrument_default_enabled(NAME), '
    'TIMED = sys.ps_is_instrument_default_timed(NAME)',
    'UPDATE performance_schema.setup_consumers SET ENABLED = IF(NAME IN (''global_instrumentation'', '
    '''thread_instrumentation'', ''statements_digest'', ''events_statements_current'', ''events_transactions_current''), '
    '''YES'', ''NO'')',
    'DELETE FROM performance_schema.setup_objects',
    'INSERT INTO performance_schema.setup_objects SELECT t.type, s.name, ''%'', s.enabled, s.enabled '
    'FROM JSON_TABLE(''["EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER"]'', ''$[*]'' '
    'COLUMNS (type varchar(64) PATH ''$'')) AS t CROSS JOIN JSON_TABLE(''[{"n": "mysql", "e": "NO"}, '
    '{"n": "performance_schema", "e": "NO"}, {"n": "information_schema", "e": "NO"}, {"n": "%", "e": "YES"}]'', ''$[*]'' '
    'COLUMNS (name varchar(64) PATH ''$.n'', enabled varchar(3) PATH ''$.e'')) AS s',
    'UPDATE performance_schema.threads SET INSTRUMENTED = ''YES''');
  WHILE step < JSON_LENGTH(texts) DO
    SET @sys.reset_text = JSON_UNQUOTE(JSON_EXTRACT(texts, CONCAT('$[', step, ']')));
    IF in_verbose THEN
      SELECT CONCAT('Resetting: ', JSON_UNQUOTE(JSON_EXTRACT(tables, CONCAT('$[', step, ']'))), '\n', @sys.reset_text) AS status;
    END IF;
    PREPARE sys_reset FROM @sys.reset_text;
    EXECUTE sys_reset;
    DEALLOCATE PREPARE sys_reset;
    SET step = step + 1;
  END WHILE;
  SET @sys.reset_text = NULL;
END
$$
CREATE PROCEDURE ps_truncate_all_tables(IN in_verbose boolean)
DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Sums and histories of events begin anew.'
BEGIN
  DECLARE done boolean DEFAULT FALSE;
  DECLARE name varchar(64);
  DECLARE n int DEFAULT 0;
  DECLARE summaries CURSOR FOR
    SELECT TABLE_NAME FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = 'performance_schema' AND (TABLE_NAME LIKE '%summary%' OR TABLE_NAME LIKE '%history%')
     ORDER BY TABLE_NAME;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;
  OPEN summaries;
  FETCH summaries INTO name;
  WHILE NOT done DO
    SET @sys.truncate_text = CONCAT('TRUNCATE TABLE performance_schema.', name);
    IF in_verbose THEN
      SELECT CONCAT('Running: ', @sys.truncate_text) AS status;
    END IF;
    PREPARE sys_truncate FROM @sys.truncate_text;
    EXECUTE sys_truncate;
    DEALLOCATE PREPARE sys_truncate;
    SET n = n + 1;
    FETCH summaries INTO name;
  END WHILE;
  CLOSE summaries;
  SET @sys.truncate_text = NULL;
  SELECT CONCAT('Truncated ', n, ' tables') AS summary;
END
$$
