-- Tools that others of these procedures use, too.
CREATE PROCEDURE execute_prepared_stmt(IN in_query longtext)
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Prepares a statement, runs it, and forgets it.'
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    SET @sys.execute_prepared_stmt.sql = NULL;
    RESIGNAL;
  END;
  IF COALESCE(CHAR_LENGTH(in_query), 0) < 4 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The @sys.execute_prepared_stmt.sql must contain a query';
  END IF;
  SET @sys.execute_prepared_stmt.sql = in_query;
  IF COALESCE(@sys.debug, sys.sys_get_config('debug', 'OFF')) = 'ON' THEN
    SELECT @sys.execute_prepared_stmt.sql AS Debug;
  END IF;
  PREPARE sys_execute_prepared_stmt FROM @sys.execute_prepared_stmt.sql;
  EXECUTE sys_execute_prepared_stmt;
  DEALLOCATE PREPARE sys_execute_prepared_stmt;
  SET @sys.execute_prepared_stmt.sql = NULL;
END
$$
CREATE PROCEDURE table_exists(IN in_db varchar(64), IN in_table varchar(64), OUT out_exists enum('','BASE TABLE','VIEW','TEMPORARY'))
NOT DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER
COMMENT 'What a name means to the session: a table, a view, a temporary table, or nothing.'
BEGIN
  DECLARE hidden boolean DEFAULT FALSE;
  DECLARE found varchar(64);
  SELECT MAX(TABLE_TYPE) INTO found FROM information_schema.TABLES WHERE TABLE_SCHEMA = in_db AND TABLE_NAME = in_table;
  -- No table lists a session's temporary tables: there is one where a second of that name cannot be made.
  SET @sys.table_exists_text = CONCAT('CREATE TEMPORARY TABLE ', sys.quote_identifier(in_db), '.',
                                      sys.quote_identifier(in_table), ' (a int)');
  BEGIN
    DECLARE CONTINUE HANDLER FOR 1050 SET hidden = TRUE;
    PREPARE sys_table_exists FROM @sys.table_exists_text;
    EXECUTE sys_table_exists;
    DEALLOCATE PREPARE sys_table_exists;
  END;
  IF NOT hidden THEN
    SET @sys.table_exists_text = CONCAT('DROP TEMPORARY TABLE ', sys.quote_identifier(in_db), '.',
                                        sys.quote_identifier(in_table));
    PREPARE sys_table_exists FROM @sys.table_exists_text;
    EXECUTE sys_table_exists;
    DEALLOCATE PREPARE sys_table_exists;
  END IF;
  SET @sys.table_exists_text = NULL;
  SET out_exists = CASE WHEN hidden THEN 'TEMPORARY' WHEN found LIKE '%VIEW' THEN 'VIEW' ELSE COALESCE(found, '') END;
END
$$
CREATE PROCEDURE create_synonym_db(IN in_db_name varchar(64), IN in_synonym varchar(64))
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Makes a database of views, one for each table and view of another database.'
BEGIN
  DECLARE done boolean DEFAULT FALSE;
  DECLARE name varchar(64);
  DECLARE n int DEFAULT 0;
  DECLARE message varchar(128);
  DECLARE names CURSOR FOR SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = in_db_name;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;
  IF NOT EXISTS (SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = in_db_name) THEN
    SET message = CONCAT('Unknown database ', in_db_name);
    SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = message;
  END IF;
  IF EXISTS (SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = in_synonym) THEN
    SET message = CONCAT('Can\'t create database ', in_synonym, '; database exists');
    SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = message;
  END IF;
  CALL sys.execute_prepared_stmt(CONCAT('CREATE DATABASE ', sys.quote_identifier(in_synonym)));
  OPEN names;
  SET done = FALSE;
  FETCH names INTO name;
  WHILE NOT done DO
    CALL sys.execute_prepared_stmt(CONCAT(
      'CREATE SQL SECURITY INVOKER VIEW ', sys.quote_identifier(in_synonym), '.', sys.quote_identifier(name),
      ' AS SELECT * FROM ', sys.quote_identifier(in_db_name), '.', sys.quote_identifier(name)));
    SET n = n + 1;
    FETCH names INTO name;
  END WHILE;
  CLOSE names;
  SELECT CONCAT('Created ', n, ' view', IF(n = 1, '', 's'), ' in the ', sys.quote_identifier(in_synonym), ' database') AS summary;
END
$$
CREATE PROCEDURE revoke_schema_privileges_from_all_accounts_except(IN in_schema_name char(255), IN in_privileges json, IN in_exclude_users json)
NOT DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER
COMMENT 'Takes privileges on a schema from all accounts but those of a list.'
BEGIN
  DECLARE done boolean DEFAULT FALSE;
  DECLARE account varchar(600);
  DECLARE privileges text;
  DECLARE accounts CURSOR FOR
    SELECT CONCAT(QUOTE(u.User), '@', QUOTE(u.Host)) FROM mysql.user AS u
     WHERE NOT EXISTS (SELECT 1 FROM JSON_TABLE(in_exclude_users, '$[*]' COLUMNS (name varchar(600) PATH '$')) AS x
                        WHERE CAST(SUBSTRING_INDEX(x.name, '@', 1) AS binary) = CAST(QUOTE(u.User) AS binary)
                          AND LOWER(CONVERT(SUBSTRING_INDEX(x.name, '@', -1) USING utf8mb4))
                                = LOWER(CONVERT(QUOTE(u.Host) USING utf8mb4)));
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;
  IF NOT EXISTS (SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = in_schema_name) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The schema does not exist';
  END IF;
  SELECT GROUP_CONCAT(j.name) INTO privileges
    FROM JSON_TABLE(in_privileges, '$[*]' COLUMNS (name varchar(64) PATH '$')) AS j;
  OPEN accounts;
  SET done = FALSE;
  FETCH accounts INTO account;
  WHILE NOT done DO
    CALL sys.execute_prepared_stmt(CONCAT('REVOKE ', privileges, ' ON ', sys.quote_identifier(in_schema_name), '.* FROM ',
                                          account));
    FETCH accounts INTO account;
  END WHILE;
  CLOSE accounts;
END
$$
CREATE PROCEDURE ps_statement_avg_latency_histogram()
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'A drawing of how long statements take on average, by digest.'
BEGIN
  DECLARE buckets, i, most int unsigned DEFAULT 0;
  DECLARE shortest, width, total, n bigint unsigned DEFAULT 0;
  DECLARE unit tinyint unsigned;
  DECLARE drawn longtext DEFAULT '';
  SET buckets = 16;
  SELECT COALESCE(ROUND(MIN(AVG_TIMER_WAIT) / 1000000000), 0),
         COALESCE(ROUND((MAX(AVG_TIMER_WAIT) - MIN(AVG_TIMER_WAIT)) / (buckets * 1000000000)), 0), COUNT(*)
    INTO shortest, width, total
    FROM performance_schema.events_statements_summary_by_digest;
  WHILE i < buckets DO
    SELECT COUNT(*) INTO n FROM performance_schema.events_statements_summary_by_digest
     WHERE ROUND(AVG_TIMER_WAIT / 1000000000) > shortest + width * i
       AND ROUND(AVG_TIMER_WAIT / 1000000000) <= shortest + width * (i + 1);
    -- The longest bars take what one character stands for two or three statements.
    SET unit = CASE WHEN n < 40 THEN 1 WHEN n < 80 THEN 2 ELSE 3 END;
    SET drawn = CONCAT(drawn, '\n', RPAD(CONCAT('(', shortest + width * i, ' - ', shortest + width * (i + 1), 'ms)'), 24, ' '),
                       RPAD(n, 6, ' '), '| ', REPEAT(ELT(unit, '.', '*', '#'), n DIV unit));
    SET i = i + 1;
  END WHILE;
  SELECT CONCAT('\n\n  . = 1 unit\n  * = 2 units\n  # = 3 units\n', drawn,
                '\n\n  Total Statements: ', total, '; Buckets: ', buckets, '; Bucket Size: ', width, ' ms;\n')
      AS `Performance Schema Statement Digest Average Latency Histogram`;
END
$$
