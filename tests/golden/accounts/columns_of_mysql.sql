-- The tables of the schema mysql as SHOW COLUMNS tells of them.

SHOW COLUMNS FROM mysql.columns_priv;

SHOW COLUMNS FROM mysql.db;

SHOW COLUMNS FROM mysql.default_roles;

SHOW COLUMNS FROM mysql.global_grants;

SHOW COLUMNS FROM mysql.innodb_index_stats;

SHOW COLUMNS FROM mysql.innodb_table_stats;

SHOW COLUMNS FROM mysql.password_history;

SHOW COLUMNS FROM mysql.plugin;

SHOW COLUMNS FROM mysql.proxies_priv;

SHOW COLUMNS FROM mysql.role_edges;

SHOW COLUMNS FROM mysql.servers;

SHOW COLUMNS FROM mysql.tables_priv;

SHOW COLUMNS FROM mysql.user;

SELECT COLUMN_NAME, COLUMN_KEY, COLUMN_DEFAULT, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME = 'proxies_priv' ORDER BY ORDINAL_POSITION;
