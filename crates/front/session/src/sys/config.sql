-- Options of the functions and procedures. A session's variable @sys.NAME goes before the row NAME.
CREATE TABLE sys_config (
  variable varchar(128) NOT NULL PRIMARY KEY,
  value varchar(128),
  set_time timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  set_by varchar(128)
)
$$
GRANT SELECT ON sys.sys_config TO `mysql.sys`@localhost
$$
INSERT INTO sys_config (variable, value) VALUES
  ('diagnostics.allow_i_s_tables', 'OFF'),
  ('diagnostics.include_raw', 'OFF'),
  ('ps_thread_trx_info.max_length', '65535'),
  ('statement_performance_analyzer.limit', '100'),
  ('statement_performance_analyzer.view', NULL),
  ('statement_truncate_len', '64')
$$
CREATE TRIGGER sys_config_insert_set_user BEFORE INSERT ON sys_config FOR EACH ROW
IF @sys.ignore_sys_config_triggers <> TRUE AND NEW.set_by IS NULL THEN
  SET NEW.set_by = USER();
END IF
$$
CREATE TRIGGER sys_config_update_set_user BEFORE UPDATE ON sys_config FOR EACH ROW
IF @sys.ignore_sys_config_triggers <> TRUE AND NEW.set_by IS NULL THEN
  SET NEW.set_by = USER();
END IF
$$
