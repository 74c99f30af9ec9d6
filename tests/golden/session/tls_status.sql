-- Which status variables and properties of the channel tell of TLS.
SELECT variable_name FROM performance_schema.global_status WHERE variable_name LIKE '%tls%' ORDER BY variable_name;
SELECT variable_name FROM performance_schema.session_status WHERE variable_name LIKE '%tls%' ORDER BY variable_name;
SELECT property FROM performance_schema.tls_channel_status WHERE channel = 'mysql_main';
SELECT property, value FROM performance_schema.tls_channel_status WHERE property IN ('Enabled', 'Ssl_ctx_verify_depth', 'Ssl_session_cache_mode', 'Ssl_session_cache_timeout');
SHOW GLOBAL STATUS LIKE 'Ssl_ctx_verify_depth';
SELECT variable_value <> '' FROM performance_schema.global_status WHERE variable_name = 'Tls_library_version';
SELECT variable_name FROM performance_schema.global_variables WHERE variable_name LIKE '%ssl%' OR variable_name LIKE '%tls%' ORDER BY variable_name;
