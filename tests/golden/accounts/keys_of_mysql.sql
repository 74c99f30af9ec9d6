-- The keys of the tables of the schemas mysql and performance_schema, as SHOW and information_schema tell of them.

-- hide Cardinality
SHOW INDEX FROM mysql.columns_priv;

-- hide Cardinality
SHOW INDEX FROM mysql.component;

-- hide Cardinality
SHOW INDEX FROM mysql.db;

-- hide Cardinality
SHOW INDEX FROM mysql.default_roles;

-- hide Cardinality
SHOW INDEX FROM mysql.global_grants;

-- hide Cardinality
SHOW INDEX FROM mysql.password_history;

-- hide Cardinality
SHOW INDEX FROM mysql.plugin;

-- hide Cardinality
SHOW INDEX FROM mysql.procs_priv;

-- hide Cardinality
SHOW INDEX FROM mysql.proxies_priv;

-- hide Cardinality
SHOW INDEX FROM mysql.role_edges;

-- hide Cardinality
SHOW INDEX FROM mysql.servers;

-- hide Cardinality
SHOW INDEX FROM mysql.tables_priv;

-- hide Cardinality
SHOW INDEX FROM mysql.user;

-- hide Cardinality
SHOW INDEX FROM mysql.gtid_executed;

-- hide Cardinality
SHOW INDEX FROM mysql.innodb_index_stats;

-- hide Cardinality
SHOW INDEX FROM mysql.innodb_table_stats;

-- hide Cardinality
SHOW KEYS FROM mysql.db WHERE Key_name = 'User';

SHOW INDEX FROM performance_schema.threads;

SHOW INDEX FROM performance_schema.global_variables;

SHOW INDEX FROM performance_schema.data_locks;

SHOW COLUMNS FROM performance_schema.global_variables;

SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, SEQ_IN_INDEX, COLUMN_NAME, COLLATION, SUB_PART, NULLABLE, INDEX_TYPE, IS_VISIBLE, EXPRESSION
FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME IN ('db', 'tables_priv', 'user') ORDER BY 1, 2, 4;

SELECT * FROM information_schema.TABLE_CONSTRAINTS
WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME IN ('db', 'tables_priv', 'user') ORDER BY TABLE_NAME, CONSTRAINT_NAME;

SELECT * FROM information_schema.KEY_COLUMN_USAGE
WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME IN ('db', 'tables_priv', 'user') ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION;

SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'information_schema';

-- A hint may name them; all of a row hangs from the whole key.
SELECT User FROM mysql.user USE INDEX (PRIMARY) WHERE User = 'root' AND Host = 'localhost';

SELECT User FROM mysql.user FORCE INDEX (nothing) WHERE User = 'root';

SELECT User FROM mysql.db USE INDEX (User) WHERE User = 'nobody';

SELECT Host, User, Select_priv FROM mysql.user WHERE User = 'root' GROUP BY Host, User;

SELECT Host, User, Select_priv FROM mysql.user WHERE User = 'root' GROUP BY User;

-- A view has none.
CREATE TABLE t (id INT PRIMARY KEY);

CREATE VIEW v AS SELECT id FROM t;

SHOW INDEX FROM v;

SELECT TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'golden' ORDER BY 1;

SELECT DISTINCT TABLE_SCHEMA FROM information_schema.STATISTICS WHERE TABLE_SCHEMA IN ('mysql', 'golden') ORDER BY 1;
