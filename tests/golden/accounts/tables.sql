-- What is granted to whom, as tables: the schema `mysql` and information_schema.

CREATE TABLE t (a INT, b INT);

CREATE USER tables_user@localhost IDENTIFIED BY 'x' WITH MAX_QUERIES_PER_HOUR 7 FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME 2 COMMENT 'of the tables';

CREATE USER tables_ssl REQUIRE SUBJECT 'me' AND CIPHER 'c' PASSWORD EXPIRE INTERVAL 90 DAY PASSWORD HISTORY 5 PASSWORD REQUIRE CURRENT ACCOUNT LOCK;

CREATE ROLE tables_role;

GRANT SELECT, INSERT (a), SELECT (a, b) ON t TO tables_user@localhost;

GRANT ALL ON golden.* TO tables_user@localhost WITH GRANT OPTION;

GRANT PROCESS, RELOAD ON *.* TO tables_ssl;

GRANT BACKUP_ADMIN ON *.* TO tables_ssl WITH GRANT OPTION;

GRANT tables_role TO tables_user@localhost WITH ADMIN OPTION;

SET DEFAULT ROLE tables_role TO tables_user@localhost;

GRANT UPDATE, REFERENCES (a) ON t TO tables_role;

-- sort
SELECT Host, User, Select_priv, Process_priv, Reload_priv, Grant_priv, Drop_role_priv, ssl_type, ssl_cipher, x509_issuer, x509_subject, max_questions, max_connections, plugin, password_expired, password_lifetime, account_locked, Password_reuse_history, Password_reuse_time, Password_require_current, User_attributes FROM mysql.user WHERE User LIKE 'tables%';

SELECT COUNT(*), MAX(Select_priv + 0), GROUP_CONCAT(DISTINCT Super_priv) FROM mysql.user WHERE User = 'root' AND Select_priv = 'Y';

SELECT * FROM mysql.db WHERE User LIKE 'tables%';

-- sort
SELECT Host, Db, User, Table_name, Table_priv, Column_priv FROM mysql.tables_priv WHERE User LIKE 'tables%';

-- sort
SELECT Host, Db, User, Table_name, Column_name, Column_priv FROM mysql.columns_priv WHERE User LIKE 'tables%';

SELECT * FROM mysql.role_edges WHERE TO_USER LIKE 'tables%';

SELECT * FROM mysql.default_roles WHERE USER LIKE 'tables%';

SELECT * FROM mysql.global_grants WHERE USER LIKE 'tables%';

SELECT * FROM mysql.procs_priv WHERE User LIKE 'tables%';

-- sort
SELECT * FROM information_schema.USER_PRIVILEGES WHERE GRANTEE LIKE '''tables%';

SELECT * FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE LIKE '''tables%';

-- sort
SELECT * FROM information_schema.TABLE_PRIVILEGES WHERE GRANTEE LIKE '''tables%';

-- sort
SELECT * FROM information_schema.COLUMN_PRIVILEGES WHERE GRANTEE LIKE '''tables%';

-- sort
SELECT * FROM information_schema.USER_ATTRIBUTES WHERE USER LIKE 'tables%';

SET ROLE NONE;

SELECT * FROM information_schema.ENABLED_ROLES;

GRANT tables_role TO root@localhost;

SET ROLE tables_role;

SELECT * FROM information_schema.ENABLED_ROLES;

SELECT * FROM information_schema.APPLICABLE_ROLES;

SELECT * FROM information_schema.ADMINISTRABLE_ROLE_AUTHORIZATIONS;

SELECT GRANTEE, GRANTEE_HOST, TABLE_CATALOG, TABLE_SCHEMA, TABLE_NAME, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.ROLE_TABLE_GRANTS;

SELECT GRANTEE, GRANTEE_HOST, TABLE_CATALOG, TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.ROLE_COLUMN_GRANTS;

REVOKE tables_role FROM root@localhost;

DROP USER tables_user@localhost, tables_ssl;

DROP ROLE tables_role;

SELECT COUNT(*) FROM mysql.tables_priv WHERE User LIKE 'tables%';

CREATE DATABASE mysql;

DROP DATABASE mysql;

CREATE USER tables_native IDENTIFIED WITH mysql_native_password BY 'x';
