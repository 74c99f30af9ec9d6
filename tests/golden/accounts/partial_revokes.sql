-- REVOKE ON a schema of what is granted on all, while partial_revokes is ON.

CREATE DATABASE golden_revokes;

CREATE TABLE golden_revokes.t (a INT);

CREATE TABLE t (a INT);

CREATE USER revokes_user, revokes_other;

CREATE ROLE revokes_role;

GRANT SELECT, INSERT, UPDATE ON *.* TO revokes_user WITH GRANT OPTION;

REVOKE INSERT ON golden_revokes.* FROM revokes_user;

SET GLOBAL partial_revokes = ON;

SELECT @@partial_revokes;

REVOKE INSERT ON golden_revokes.* FROM revokes_user;

REVOKE SELECT, DELETE ON golden_revokes.* FROM revokes_user;

REVOKE SELECT ON golden_revokes.t FROM revokes_user;

-- What is taken away already.
REVOKE INSERT ON golden_revokes.* FROM revokes_user;

REVOKE INSERT, UPDATE ON golden_revokes.* FROM revokes_other;

REVOKE INSERT, UPDATE ON golden_revokes.* FROM revokes_user;

SHOW GRANTS FOR revokes_user;

SELECT user_attributes FROM mysql.user WHERE user = 'revokes_user';

SET GLOBAL partial_revokes = OFF;

-- Patterns are names now.
GRANT SELECT ON `golden%`.* TO revokes_other;

SHOW GRANTS FOR revokes_other;

REVOKE SELECT ON `golden%`.* FROM revokes_other;

GRANT DELETE ON golden_revokes.* TO revokes_user;

REVOKE DELETE ON golden_revokes.* FROM revokes_user;

SHOW GRANTS FOR revokes_user;

GRANT INSERT ON *.* TO revokes_user;

SHOW GRANTS FOR revokes_user;

REVOKE UPDATE ON golden_revokes.* FROM revokes_user;

REVOKE UPDATE ON *.* FROM revokes_user;

SHOW GRANTS FOR revokes_user;

REVOKE SELECT ON golden_revokes.* FROM revokes_user;

REVOKE ALL, GRANT OPTION FROM revokes_user;

SHOW GRANTS FOR revokes_user;

GRANT SELECT ON *.* TO revokes_role;

REVOKE SELECT ON golden_revokes.* FROM revokes_role;

SHOW GRANTS FOR revokes_role;

GRANT revokes_role TO revokes_user;

SHOW GRANTS FOR revokes_user USING revokes_role;

DROP ROLE revokes_role;

DROP USER revokes_user, revokes_other;

SET GLOBAL partial_revokes = OFF;

DROP DATABASE golden_revokes;
