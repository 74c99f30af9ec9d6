-- Texts, numbers, lists, options.
CREATE FUNCTION sys_get_config(in_variable_name varchar(128), in_default_value varchar(128)) RETURNS varchar(128)
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'The value of an option in sys_config, or the given default where it has none.'
RETURN COALESCE((SELECT c.value FROM sys.sys_config AS c WHERE c.variable = in_variable_name), in_default_value)
$$
CREATE FUNCTION quote_identifier(in_identifier text) RETURNS text
DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'An identifier between backticks; those within it are doubled.'
RETURN CONCAT('`', REPLACE(in_identifier, '`', '``'), '`')
$$
CREATE FUNCTION extract_schema_from_file_name(path varchar(512)) RETURNS varchar(64)
DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'The name of the folder that a data file is in, which is that of its schema.'
BEGIN
  DECLARE folder varchar(512) DEFAULT SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -2);
  RETURN LEFT(SUBSTRING_INDEX(folder, '/', 1), 64);
END
$$
CREATE FUNCTION extract_table_from_file_name(path varchar(512)) RETURNS varchar(64)
DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'The name of a data file without its extension, which is that of its table.'
BEGIN
  DECLARE file varchar(512) DEFAULT SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -1);
  RETURN LEFT(SUBSTRING_INDEX(REPLACE(file, '@0024', '$'), '.', 1), 64);
END
$$
CREATE FUNCTION format_bytes(bytes text) RETURNS text
DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'A number of bytes with its unit. The function FORMAT_BYTES of the server does the same.'
RETURN FORMAT_BYTES(bytes)
$$
CREATE FUNCTION format_time(picoseconds text) RETURNS text
DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'A number of picoseconds with its unit, from picoseconds to weeks.'
RETURN CASE
  WHEN picoseconds IS NULL THEN NULL
  WHEN picoseconds >= 604800e12 THEN CONCAT(ROUND(picoseconds / 604800e12, 2), ' w')
  WHEN picoseconds >= 86400e12 THEN CONCAT(ROUND(picoseconds / 86400e12, 2), ' d')
  WHEN picoseconds >= 3600e12 THEN CONCAT(ROUND(picoseconds / 3600e12, 2), ' h')
  WHEN picoseconds >= 60e12 THEN CONCAT(ROUND(picoseconds / 60e12, 2), ' m')
  WHEN picoseconds >= 1e12 THEN CONCAT(ROUND(picoseconds / 1e12, 2), ' s')
  WHEN picoseconds >= 1e9 THEN CONCAT(ROUND(picoseconds / 1e9, 2), ' ms')
  WHEN picoseconds >= 1e6 THEN CONCAT(ROUND(picoseconds / 1e6, 2), ' us')
  WHEN picoseconds >= 1e3 THEN CONCAT(ROUND(picoseconds / 1e3, 2), ' ns')
  ELSE CONCAT(picoseconds, ' ps')
END
$$
CREATE FUNCTION format_path(in_path varchar(512)) RETURNS varchar(512)
DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'A path with the name of the variable that its folder comes from.'
BEGIN
  DECLARE path varchar(512) DEFAULT in_path;
  DECLARE at_dir varchar(512);
  DECLARE name varchar(64);
  DECLARE i tinyint DEFAULT 0;
  -- On Windows, where only there a backslash divides.
  IF in_path LIKE '/private/%' THEN
    SET path = REPLACE(in_path, '/private', '');
  END IF;
  WHILE i < 7 DO
    SET i = i + 1;
    SET name = ELT(i, '@@datadir', '@@tmpdir', '@@replica_load_tmpdir', '@@innodb_data_home_dir',
                   '@@innodb_log_group_home_dir', '@@innodb_undo_directory', '@@basedir');
    SET at_dir = ELT(i, @@GLOBAL.datadir, @@GLOBAL.tmpdir, @@GLOBAL.replica_load_tmpdir, @@GLOBAL.innodb_data_home_dir,
                     @@GLOBAL.innodb_log_group_home_dir, @@GLOBAL.innodb_undo_directory, @@GLOBAL.basedir);
    SET at_dir = CONCAT(TRIM(TRAILING '/' FROM at_dir), '/');
    IF LENGTH(at_dir) > 1 AND LEFT(path, CHAR_LENGTH(at_dir)) = at_dir THEN
      RETURN CONCAT(name, '/', SUBSTRING(path, CHAR_LENGTH(at_dir) + 1));
    END IF;
  END WHILE;
  RETURN path;
END
$$
CREATE FUNCTION format_statement(statement longtext) RETURNS longtext
DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'A statement on one line, without its middle where it is longer than the option statement_truncate_len.'
BEGIN
  DECLARE ends int;
  IF @sys.statement_truncate_len IS NULL THEN
    SET @sys.statement_truncate_len = sys.sys_get_config('statement_truncate_len', 64);
  END IF;
  IF CHAR_LENGTH(statement) > @sys.statement_truncate_len THEN
    SET ends = CAST(@sys.statement_truncate_len AS signed) / 2 - 2;
    SET statement = CONCAT(LEFT(statement, ends), ' ... ', RIGHT(statement, ends));
  END IF;
  RETURN REPLACE(statement, '\n', ' ');
END
$$
CREATE FUNCTION list_add(in_list text, in_add_value text) RETURNS text
DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER
COMMENT 'A list between commas, and the value behind it: for variables like sql_mode.'
BEGIN
  IF in_add_value IS NULL THEN
    SIGNAL SQLSTATE '02200' SET MYSQL_ERRNO = 1138,
      MESSAGE_TEXT = 'Function sys.list_add: in_add_value input variable should not be NULL';
  END IF;
  RETURN IF(in_list IS NULL OR in_list = '', in_add_value, CONCAT(TRIM(BOTH ',' FROM TRIM(in_list)), ',', in_add_value));
END
$$
CREATE FUNCTION list_drop(in_list text, in_drop_value text) RETURNS text
DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER
COMMENT 'A list between commas without a value: for variables like sql_mode.'
BEGIN
  IF in_drop_value IS NULL THEN
    SIGNAL SQLSTATE '02200' SET MYSQL_ERRNO = 1138,
      MESSAGE_TEXT = 'Function sys.list_drop: in_drop_value input variable should not be NULL';
  END IF;
  IF in_list IS NULL OR in_list = '' THEN
    RETURN in_list;
  END IF;
  SET in_list = REPLACE(CONCAT(',', in_list, ','), CONCAT(', ', in_drop_value, ','), CONCAT(',', in_drop_value, ','));
  SET in_list = REPLACE(REPLACE(in_list, ',', ',,'), CONCAT(',', in_drop_value, ','), '');
  RETURN TRIM(BOTH ',' FROM REPLACE(in_list, ',,', ','));
END
$$
CREATE FUNCTION version_major() RETURNS tinyint unsigned
NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'The first number of the version.'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', 1)
$$
CREATE FUNCTION version_minor() RETURNS tinyint unsigned
NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'The second number of the version.'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', 2), '.', -1)
$$
CREATE FUNCTION version_patch() RETURNS tinyint unsigned
NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'The third number of the version.'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1)
$$
