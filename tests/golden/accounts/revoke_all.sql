-- REVOKE ALL ON *.* takes what is granted on less, too.
CREATE USER golden_all, golden_proxied;
CREATE ROLE golden_all_role;
CREATE TABLE t (a INT, b INT);
CREATE PROCEDURE p() SELECT 1;
GRANT SELECT, SHUTDOWN ON *.* TO golden_all WITH GRANT OPTION;
GRANT BACKUP_ADMIN, CLONE_ADMIN ON *.* TO golden_all WITH GRANT OPTION;
GRANT INSERT ON golden.* TO golden_all;
GRANT SELECT (a), UPDATE ON t TO golden_all WITH GRANT OPTION;
GRANT EXECUTE ON PROCEDURE p TO golden_all;
GRANT golden_all_role TO golden_all;
GRANT PROXY ON golden_proxied TO golden_all;
REVOKE GRANT OPTION ON *.* FROM golden_all;
-- MySQL has written down that it is gone for dynamic privileges as well, but knows of it from here on.
-- hide warnings
FLUSH PRIVILEGES;
SHOW GRANTS FOR golden_all;
REVOKE ALL ON *.* FROM golden_all;
SHOW GRANTS FOR golden_all;
-- Names that are no privilege's.
GRANT BACKUP_ADMIN ON *.* TO golden_all WITH GRANT OPTION;
REVOKE NOT_A_PRIVILEGE, BACKUP_ADMIN, NOR_THIS ON *.* FROM golden_all, golden_proxied;
SHOW WARNINGS;
GRANT NOT_A_PRIVILEGE ON *.* TO golden_all;
SHOW GRANTS FOR golden_all;
-- IF EXISTS is about what is granted, not about whom.
REVOKE IF EXISTS golden_all_role FROM golden_missing;
REVOKE IF EXISTS SELECT ON golden.* FROM golden_missing;
REVOKE IF EXISTS PROXY ON golden_proxied FROM golden_missing;
REVOKE IF EXISTS PROXY ON golden_proxied FROM golden_all;
REVOKE IF EXISTS PROXY ON golden_proxied FROM golden_all;
SHOW WARNINGS;
REVOKE PROXY ON golden_proxied FROM golden_all;
DROP USER golden_all, golden_proxied;
DROP ROLE golden_all_role;
