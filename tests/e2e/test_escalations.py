"""Ways up, leaks and escapes from rules, each refused with MySQL's error number: from MySQL's manual, its security advisories, and malice.

A case is who tries, what, and the number. Whoever tries, tries with what GRANTS gives it and nothing else. All cases are one table, tried
against one set of accounts and objects that is made anew for each kind; with `--address` the numbers are those of a real MySQL."""

import os
import pathlib

import mysql.connector
import pymysql
import pytest

import harness

pytestmark = pytest.mark.usefixtures("not_mariadb")

CAN_HANDLE_EXPIRED_PASSWORDS = 1 << 22
USERS = ["nobody", "maker", "roler", "killer", "definer", "dml", "owner", "reader", "column", "granter", "setter", "filer", "locker", "pattern",
         "viewer", "procs", "handing", "admin", "boss", "plain", "expired", "viewing", "adder",
         "temporary"]
ROLES = ["role_plain", "role_system", "role_admin"]

SETUP = """
DROP DATABASE IF EXISTS esc
DROP DATABASE IF EXISTS esc2
DROP DATABASE IF EXISTS esc_other
CREATE DATABASE esc
CREATE DATABASE esc2
CREATE DATABASE esc_other
CREATE TABLE esc.secret (id INT PRIMARY KEY, pin INT, KEY by_pin (pin))
INSERT INTO esc.secret VALUES (1, 4711)
CREATE TABLE esc.open (id INT PRIMARY KEY, v INT)
INSERT INTO esc.open VALUES (1, 1)
CREATE TABLE esc2.mine (id INT PRIMARY KEY, v INT, w INT)
CREATE VIEW esc.shown AS SELECT id FROM esc.secret
CREATE SQL SECURITY INVOKER VIEW esc.asked AS SELECT id, pin FROM esc.secret
CREATE VIEW esc.fixed AS SELECT 1 one
CREATE DEFINER = gone_definer VIEW esc.orphan AS SELECT 1 one
CREATE VIEW esc.open_fixed AS SELECT one FROM esc.fixed
"""

GRANTS = {
    "nobody": [],
    "maker": ["CREATE USER ON *.*"],
    "roler": ["ROLE_ADMIN ON *.*"],
    "killer": ["CONNECTION_ADMIN ON *.*"],
    "definer": ["SET_ANY_DEFINER ON *.*", "CREATE VIEW, DROP, SELECT ON esc.*"],
    "dml": ["SELECT, INSERT, UPDATE, DELETE ON esc.open"],
    "owner": ["ALL ON esc2.*"],
    "reader": ["SELECT ON esc.open"],
    "column": ["SELECT (id), UPDATE (id) ON esc.secret"],
    "granter": ["SELECT ON esc.open"],
    "setter": ["SYSTEM_VARIABLES_ADMIN ON *.*"],
    "filer": ["FILE ON *.*"],
    "locker": ["LOCK TABLES ON esc.*"],
    "pattern": ["SELECT ON `esc_`.*", "INSERT ON esc2.*"],
    "handing": [r"SELECT, GRANT OPTION ON `esc\_other`.*", "SELECT, GRANT OPTION ON `esc_`.*"],
    "viewer": ["SELECT ON esc.shown", "SELECT, SHOW VIEW ON esc.asked", "SELECT ON esc.fixed", "SELECT ON esc.open_fixed",
               "SELECT ON esc.orphan"],
    "procs": ["PROCESS ON *.*"],
    "admin": ["ALL ON *.*"],
    "boss": ["ALL ON *.*"],
    "adder": ["INSERT, SELECT (id) ON esc.secret", "SELECT, INSERT, UPDATE ON esc2.mine"],
    "temporary": ["CREATE TEMPORARY TABLES ON esc2.*"],
    "viewing": ["CREATE VIEW, DROP, ALTER, SELECT ON esc.*"],
}

SYSTEM_USER = """
maker | ALTER USER boss IDENTIFIED BY 'x' | 1227
maker | ALTER USER boss ACCOUNT LOCK | 1227
maker | ALTER USER boss PASSWORD EXPIRE | 1227
maker | ALTER USER boss REQUIRE X509 | 1227
maker | ALTER USER boss WITH MAX_QUERIES_PER_HOUR 1 | 1227
maker | ALTER USER boss DISCARD OLD PASSWORD | 1227
maker | ALTER USER boss DEFAULT ROLE NONE | 1227
maker | ALTER USER plain ACCOUNT UNLOCK, boss ACCOUNT LOCK | 1064
maker | ALTER USER plain, boss ACCOUNT LOCK | 1227
maker | ALTER USER root@localhost IDENTIFIED BY 'x' | 1227
maker | SET PASSWORD FOR root@localhost = 'x' | 1044
maker | SET PASSWORD FOR boss = 'x' | 1044
maker | DROP USER boss | 1227
maker | DROP USER plain, boss | 1227
maker | DROP USER IF EXISTS boss | 1227
maker | DROP USER root@localhost | 4006
maker | RENAME USER boss TO mine | 1227
maker | RENAME USER plain TO plain2, boss TO mine | 1227
maker | CREATE USER boss IDENTIFIED BY 'x' | 1227
maker | RENAME USER plain TO boss | 1227
maker | CREATE ROLE boss | 1227
maker | CREATE ROLE IF NOT EXISTS boss | 1227
maker | REVOKE ALL, GRANT OPTION FROM boss | 1227
maker | REVOKE ALL ON *.* FROM boss | 1227
maker | SET DEFAULT ROLE NONE TO boss | 1227
maker | DROP ROLE role_system | 1227
maker | DROP ROLE boss | 1227
roler | GRANT boss TO roler | 1227
roler | GRANT root@localhost TO roler | 1227
roler | GRANT role_system TO roler | 1227
roler | GRANT role_system TO plain WITH ADMIN OPTION | 1227
roler | GRANT role_plain TO boss | 1227
roler | REVOKE role_plain FROM boss | 1227
roler | REVOKE role_system FROM plain | 1227
roler | SET ROLE role_system | 3530
killer | KILL {boss} | 1095
killer | KILL QUERY {boss} | 1095
killer | KILL CONNECTION {root} | 1095
admin | ALTER USER boss IDENTIFIED BY 'x' | 1227
admin | DROP USER boss | 1227
admin | GRANT SELECT ON *.* TO boss | 1045
admin | REVOKE SYSTEM_USER ON *.* FROM boss | 1227
admin | GRANT boss TO admin | 1227
admin | KILL QUERY {boss} | 1095
admin | SET GLOBAL mandatory_roles = 'role_system' | 3880
setter | SET GLOBAL mandatory_roles = 'role_system' | 1227
setter | SET PERSIST mandatory_roles = 'role_plain' | 1227
boss | SET GLOBAL mandatory_roles = 'role_system' | 3880
"""

ACCOUNTS = """
nobody | CREATE USER x | 1227
nobody | CREATE ROLE x | 1227
nobody | DROP USER plain | 1227
nobody | DROP ROLE role_plain | 1227
nobody | RENAME USER nobody TO somebody | 1227
nobody | ALTER USER plain IDENTIFIED BY 'x' | 1227
nobody | SET PASSWORD FOR plain = 'x' | 1044
nobody | GRANT role_plain TO nobody | 1227
nobody | REVOKE role_plain FROM plain | 1227
nobody | SET ROLE role_plain | 3530
nobody | SET DEFAULT ROLE role_plain TO nobody | 3530
nobody | ALTER USER nobody DEFAULT ROLE role_plain | 3530
nobody | SET DEFAULT ROLE NONE TO plain | 1227
nobody | GRANT ALL ON *.* TO nobody | 1045
nobody | GRANT SELECT ON esc.* TO nobody | 1044
nobody | GRANT SELECT ON esc.secret TO nobody | 1142
nobody | GRANT SELECT (pin) ON esc.secret TO nobody | 1142
nobody | GRANT SYSTEM_USER ON *.* TO nobody | 1227
nobody | GRANT BACKUP_ADMIN ON *.* TO nobody | 1227
nobody | GRANT PROXY ON boss TO nobody | 1698
nobody | GRANT PROXY ON root@localhost TO nobody | 1698
nobody | GRANT PROXY ON ''@'' TO nobody | 1698
nobody | REVOKE ALL, GRANT OPTION FROM nobody | 1227
nobody | REVOKE SELECT ON *.* FROM nobody | 1045
nobody | SHOW GRANTS FOR plain | 1142
nobody | SHOW GRANTS FOR not_there | 1142
nobody | SHOW CREATE USER plain | 1044
nobody | SHOW CREATE USER not_there | 1044
nobody | SELECT * FROM mysql.user | 1142
nobody | SELECT authentication_string FROM mysql.user | 1142
nobody | SELECT * FROM mysql.db | 1142
nobody | SELECT * FROM mysql.global_grants | 1142
nobody | UPDATE mysql.user SET authentication_string = '' | 1142
maker | CREATE USER x DEFAULT ROLE role_plain | 1227
maker | CREATE USER x DEFAULT ROLE role_system | 1227
maker | CREATE USER x DEFAULT ROLE boss | 1227
maker | CREATE USER x DEFAULT ROLE not_there | 1227
maker | GRANT role_plain TO maker | 1227
maker | GRANT SELECT ON *.* TO maker | 1045
maker | SHOW GRANTS FOR boss | 1142
granter | GRANT SELECT ON esc.open TO plain | 1142
granter | GRANT SELECT ON esc.open TO granter WITH GRANT OPTION | 1142
admin | GRANT SELECT ON *.* TO plain | 1045
admin | GRANT PROXY ON plain TO admin | 1698
roler | CREATE ROLE x | 1227
roler | DROP ROLE role_plain | 1227
"""

OWN_ACCOUNT = """
nobody | ALTER USER nobody ACCOUNT UNLOCK | 1227
nobody | ALTER USER nobody PASSWORD EXPIRE NEVER | 1227
nobody | ALTER USER nobody PASSWORD EXPIRE DEFAULT | 1227
nobody | ALTER USER nobody PASSWORD EXPIRE INTERVAL 9000 DAY | 1227
nobody | ALTER USER nobody PASSWORD HISTORY 0 | 1227
nobody | ALTER USER nobody PASSWORD REUSE INTERVAL 0 DAY | 1227
nobody | ALTER USER nobody PASSWORD REQUIRE CURRENT OPTIONAL | 1227
nobody | ALTER USER nobody FAILED_LOGIN_ATTEMPTS 0 | 1227
nobody | ALTER USER nobody PASSWORD_LOCK_TIME 0 | 1227
nobody | ALTER USER nobody REQUIRE NONE | 1227
nobody | ALTER USER nobody WITH MAX_QUERIES_PER_HOUR 0 | 1227
nobody | ALTER USER nobody WITH MAX_USER_CONNECTIONS 0 | 1227
nobody | ALTER USER nobody COMMENT 'x' | 1227
nobody | ALTER USER nobody ATTRIBUTE '{{"a": 1}}' | 1227
nobody | ALTER USER nobody IDENTIFIED WITH caching_sha2_password BY 'x' | 1227
nobody | ALTER USER nobody IDENTIFIED WITH caching_sha2_password AS '' | 1227
nobody | ALTER USER nobody IDENTIFIED BY 'x' PASSWORD EXPIRE NEVER | 1227
nobody | ALTER USER nobody IDENTIFIED BY 'x' ACCOUNT UNLOCK | 1227
nobody | ALTER USER nobody IDENTIFIED BY 'x' RETAIN CURRENT PASSWORD | 1227
nobody | ALTER USER nobody DISCARD OLD PASSWORD | 1227
nobody | ALTER USER CURRENT_USER ACCOUNT UNLOCK | 1227
nobody | ALTER USER nobody IDENTIFIED BY '', plain IDENTIFIED BY '' | 1227
nobody | ALTER USER IF EXISTS not_there IDENTIFIED BY '' | 1227
"""

DEFINITIONS = """
owner | CREATE TABLE esc2.child (x INT, FOREIGN KEY (x) REFERENCES esc.secret (id)) | 1142
owner | CREATE TABLE esc2.child (x INT, FOREIGN KEY (x) REFERENCES esc.not_there (id)) | 1142
owner | ALTER TABLE esc2.mine ADD FOREIGN KEY (v) REFERENCES esc.secret (id) | 1142
owner | ALTER TABLE esc2.mine ADD FOREIGN KEY (v) REFERENCES esc.secret (nope) | 1142
owner | ALTER TABLE esc2.mine ADD CONSTRAINT c FOREIGN KEY (v) REFERENCES esc.not_there (id) | 1142
owner | ALTER TABLE esc2.mine RENAME TO esc.taken | 1142
owner | ALTER TABLE esc2.mine RENAME TO esc.secret | 1142
owner | ALTER TABLE esc.secret RENAME TO esc2.taken | 1142
owner | ALTER TABLE esc2.mine ADD COLUMN z INT, RENAME TO esc.taken | 1142
owner | RENAME TABLE esc.secret TO esc2.taken | 1142
owner | RENAME TABLE esc2.mine TO esc.taken | 1142
owner | RENAME TABLE esc2.mine TO esc2.m2, esc.secret TO esc2.mine | 1142
owner | CREATE TABLE esc2.copy LIKE esc.secret | 1142
owner | CREATE TABLE esc2.copy AS SELECT * FROM esc.secret | 1142
owner | CREATE TEMPORARY TABLE esc2.copy LIKE esc.secret | 1142
owner | CREATE TEMPORARY TABLE esc2.copy AS SELECT * FROM esc.secret | 1142
owner | CREATE TABLE esc2.copy AS SELECT * FROM esc.not_there | 1142
owner | CREATE VIEW esc2.look AS SELECT * FROM esc.secret | 1142
owner | CREATE VIEW esc2.look AS SELECT (SELECT pin FROM esc.secret LIMIT 1) p | 1142
owner | CREATE DEFINER = boss VIEW esc2.look AS SELECT 1 x | 1227
owner | CREATE DEFINER = root@localhost VIEW esc2.look AS SELECT 1 x | 1227
owner | CREATE DEFINER = not_there VIEW esc2.look AS SELECT 1 x | 1227
owner | CREATE TABLE esc.made (a INT) | 1142
owner | CREATE INDEX i ON esc.secret (pin) | 1142
owner | DROP INDEX by_pin ON esc.secret | 1142
owner | DROP INDEX not_there ON esc.secret | 1142
owner | DROP TABLE esc.secret | 1142
owner | DROP TABLE esc2.mine, esc.secret | 1142
owner | DROP TABLE IF EXISTS esc.not_there | 1142
owner | TRUNCATE TABLE esc.secret | 1142
owner | DROP DATABASE esc | 1044
owner | DROP DATABASE IF EXISTS not_there | 1044
owner | ALTER DATABASE esc READ ONLY = 1 | 1044
owner | ALTER TABLE esc.not_there ADD COLUMN a INT | 1142
owner | ANALYZE TABLE esc.secret | 1142
owner | CHECK TABLE esc.secret | 1142
owner | OPTIMIZE TABLE esc.secret | 1142
owner | DROP VIEW esc.shown | 1142
definer | CREATE DEFINER = boss VIEW esc.look AS SELECT 1 x | 1227
definer | CREATE DEFINER = root@localhost VIEW esc.look AS SELECT 1 x | 1227
definer | CREATE DEFINER = not_there VIEW esc.look AS SELECT 1 x | 1227
definer | ALTER VIEW esc.shown AS SELECT 1 id | 1227
definer | DROP VIEW esc.shown | 1227
viewing | ALTER VIEW esc.shown AS SELECT pin id FROM esc.secret | 1227
viewing | ALTER DEFINER = plain VIEW esc.shown AS SELECT 1 id | 1227
viewing | CREATE OR REPLACE DEFINER = plain VIEW esc.shown AS SELECT 1 id | 1227
viewing | DROP VIEW esc.shown | 1227
viewing | ALTER TABLE esc.open RENAME TO esc.opened | 1142
"""

LEAKS = """
reader | SELECT pin FROM esc.secret | 1142
reader | SELECT nope FROM esc.secret | 1142
reader | SELECT * FROM esc.not_there | 1142
reader | SELECT * FROM not_there.t | 1142
reader | SELECT * FROM esc.open o JOIN esc.secret s ON s.id = o.id | 1142
reader | SELECT v FROM esc.open WHERE v IN (SELECT pin FROM esc.secret) | 1142
reader | SELECT v FROM esc.open UNION SELECT pin FROM esc.secret | 1142
reader | WITH c AS (SELECT pin FROM esc.secret) SELECT * FROM c | 1142
reader | SELECT * FROM (SELECT pin FROM esc.secret) d | 1142
reader | SELECT id FROM esc.secret USE INDEX (nope) | 1142
reader | TABLE esc.secret | 1142
reader | DO (SELECT pin FROM esc.secret) | 1142
reader | SET @p = (SELECT pin FROM esc.secret) | 1142
reader | HANDLER esc.secret OPEN | 1142
reader | CHECKSUM TABLE esc.secret | 1142
reader | EXPLAIN SELECT * FROM esc.secret | 1142
reader | EXPLAIN SELECT * FROM esc.not_there | 1142
reader | DESCRIBE esc.secret | 1142
reader | SHOW COLUMNS FROM esc.secret | 1142
reader | SHOW INDEX FROM esc.secret | 1142
reader | SHOW CREATE TABLE esc.secret | 1142
reader | SHOW CREATE TABLE esc.not_there | 1142
reader | SHOW CREATE TABLE not_there.t | 1142
reader | SHOW CREATE VIEW esc.shown | 1142
reader | SHOW CREATE VIEW esc.not_there | 1142
reader | SHOW TABLES FROM esc2 | 1044
reader | SHOW TABLE STATUS FROM esc2 | 1044
reader | SHOW TRIGGERS FROM esc2 | 1044
reader | SHOW EVENTS FROM esc | 1044
reader | SHOW CREATE DATABASE esc2 | 1044
reader | SHOW CREATE DATABASE not_there | 1044
reader | USE esc2 | 1044
reader | USE not_there | 1044
reader | SELECT v FROM esc.open FOR UPDATE | 1142
reader | LOCK TABLES esc.open READ | 1044
reader | UPDATE esc.open SET v = 1 | 1142
reader | INSERT INTO esc.open VALUES (2, 2) | 1142
reader | INSERT INTO esc.not_there VALUES (2, 2) | 1142
reader | REPLACE INTO esc.open VALUES (1, 1) | 1142
reader | DELETE FROM esc.open | 1142
reader | DELETE FROM esc.not_there | 1142
dml | INSERT INTO esc.open SELECT id, pin FROM esc.secret | 1142
dml | INSERT INTO esc.open VALUES (1, 1) ON DUPLICATE KEY UPDATE v = (SELECT pin FROM esc.secret) | 1142
dml | UPDATE esc.open SET v = (SELECT pin FROM esc.secret) | 1142
dml | UPDATE esc.open o, esc.secret s SET o.v = s.pin | 1142
dml | UPDATE esc.open o, esc.secret s SET o.v = 1 | 1142
dml | DELETE esc.open FROM esc.open JOIN esc.secret USING (id) | 1142
dml | DELETE FROM esc.open WHERE v = (SELECT pin FROM esc.secret) | 1142
dml | TRUNCATE TABLE esc.open | 1142
dml | LOAD DATA INFILE '/etc/passwd' INTO TABLE esc.open | 1045
dml | SELECT 1 INTO OUTFILE '/tmp/esc' | 1227
dml | SELECT 1 INTO DUMPFILE '/tmp/esc' | 1227
column | SELECT pin FROM esc.secret | 1143
column | SELECT nope FROM esc.secret | 1143
column | SELECT * FROM esc.secret | 1142
column | SELECT id FROM esc.secret WHERE pin = 4711 | 1143
column | SELECT id FROM esc.secret ORDER BY pin | 1143
column | SELECT id FROM esc.secret GROUP BY id HAVING MAX(pin) > 1 | 1143
column | SELECT a.id FROM esc.secret a JOIN esc.secret b ON a.id = b.pin | 1143
column | UPDATE esc.secret SET id = pin | 1143
column | UPDATE esc.secret SET pin = 1 | 1143
column | DELETE FROM esc.secret WHERE id = 1 | 1142
column | SHOW CREATE TABLE esc.secret | 1142
viewer | SELECT id FROM esc.secret | 1142
viewer | SELECT id FROM esc.asked | 1356
viewer | SHOW CREATE VIEW esc.shown | 1142
viewer | SHOW CREATE TABLE esc.shown | 1142
viewer | EXPLAIN SELECT * FROM esc.shown | 1345
viewer | EXPLAIN FORMAT=TREE SELECT * FROM esc.shown | 1345
viewer | EXPLAIN ANALYZE SELECT * FROM esc.shown | 1345
viewer | EXPLAIN SELECT * FROM esc.asked | 1345
viewer | SELECT * FROM esc.shown FOR UPDATE | 1142
locker | LOCK TABLES esc.secret WRITE | 1142
locker | LOCK TABLES esc.not_there READ | 1142
pattern | SELECT * FROM esc2.mine | 1142
pattern | SHOW CREATE VIEW esc2.mine | 1142
pattern | SELECT * FROM esc_other.t | 1142
"""

SERVER = """
nobody | SET GLOBAL max_connections = 1 | 1227
nobody | SET GLOBAL read_only = 1 | 1227
nobody | SET PERSIST sort_buffer_size = 1000000 | 1227
nobody | SET PERSIST_ONLY sort_buffer_size = 1000000 | 3630
nobody | SET GLOBAL TRANSACTION READ ONLY | 1227
nobody | SET SESSION sql_require_primary_key = 0 | 1227
nobody | SET SESSION sql_log_bin = 0 | 1227
nobody | SET SESSION binlog_format = ROW | 1227
nobody | SET SESSION binlog_row_image = MINIMAL | 1227
nobody | SET @@session.binlog_row_image = DEFAULT | 1227
nobody | SET gtid_next = AUTOMATIC | 1227
nobody | SET SESSION original_commit_timestamp = 1 | 1227
nobody | SET SESSION original_server_version = 80000 | 1227
nobody | SET SESSION pseudo_thread_id = 1 | 1227
nobody | SET SESSION pseudo_replica_mode = 1 | 1227
nobody | SET SESSION bulk_insert_buffer_size = 0 | 1227
nobody | SET SESSION character_set_filesystem = utf8mb4 | 1227
nobody | SET SESSION innodb_strict_mode = 0 | 1227
nobody | SET SESSION innodb_tmpdir = '/tmp' | 1227
nobody | SET SESSION max_error_count = 0 | 1227
nobody | SET @x = 1, SESSION sql_log_off = 1 | 1227
setter | SET PERSIST_ONLY sort_buffer_size = 1000000 | 3630
nobody | KILL {boss} | 1095
nobody | KILL QUERY {plain} | 1095
nobody | FLUSH PRIVILEGES | 1227
nobody | FLUSH TABLES WITH READ LOCK | 1227
nobody | FLUSH TABLES esc.secret | 1227
nobody | FLUSH STATUS | 1227
nobody | FLUSH USER_RESOURCES | 1227
nobody | FLUSH LOGS | 1227
nobody | RESET BINARY LOGS AND GTIDS | 1227
nobody | RESET REPLICA | 1227
nobody | PURGE BINARY LOGS BEFORE '2000-01-01' | 1227
nobody | SHUTDOWN | 1227
nobody | LOCK INSTANCE FOR BACKUP | 1227
nobody | START REPLICA | 1227
nobody | STOP REPLICA | 1227
nobody | ALTER INSTANCE ROTATE INNODB MASTER KEY | 1227
nobody | ALTER INSTANCE RELOAD TLS | 1227
nobody | CLONE LOCAL DATA DIRECTORY '/tmp/x' | 1227
nobody | INSTALL PLUGIN x SONAME 'x.so' | 1142
nobody | UNINSTALL PLUGIN x | 1142
nobody | INSTALL COMPONENT 'file://x' | 1142
nobody | CREATE SERVER x FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x') | 1227
nobody | DROP SERVER x | 1227
nobody | DROP TABLESPACE x | 1227
nobody | CREATE RESOURCE GROUP x TYPE = USER | 1227
nobody | SET RESOURCE GROUP USR_default | 1227
nobody | XA RECOVER | 1401
nobody | SHOW ENGINE INNODB STATUS | 1227
nobody | SHOW BINARY LOGS | 1227
nobody | SHOW BINARY LOG STATUS | 1227
nobody | SHOW BINLOG EVENTS | 1227
nobody | SHOW REPLICAS | 1227
nobody | SHOW REPLICA STATUS | 1227
nobody | SELECT * FROM information_schema.INNODB_TRX | 1227
nobody | SELECT * FROM performance_schema.data_locks | 1142
nobody | SELECT * FROM performance_schema.threads | 1142
nobody | DROP PROCEDURE esc.p | 1370
nobody | CALL esc.p() | 1370
nobody | DROP EVENT esc.e | 1044
nobody | SHOW CREATE EVENT esc.e | 1044
nobody | CREATE TABLE information_schema.t (a INT) | 1044
nobody | CREATE TABLE performance_schema.t (a INT) | 1044
nobody | DROP DATABASE mysql | 1044
boss | DROP DATABASE mysql | 3552
boss | UPDATE information_schema.TABLES SET TABLE_NAME = 'x' | 1044
killer | SHUTDOWN | 1227
filer | LOAD DATA INFILE '/etc/passwd' INTO TABLE esc.secret | 1142
procs | KILL QUERY {plain} | 1095
procs | SHUTDOWN | 1227
"""


@pytest.fixture(scope="module")
def not_mariadb(kind):
    if kind == "mariadb":
        pytest.skip("MySQL's accounts")


class Silent(pymysql.connections.Connection):
    """Says nothing after the login: an expired password allows no SET NAMES."""

    def set_character_set(self, *_):
        pass


@pytest.fixture(scope="module")
def links(server, kind):
    """A connection for each account, and root's."""
    root = server.connect()
    users = ", ".join(f"'{user}'" for user in USERS)

    def clean():
        harness.run(f"DROP USER IF EXISTS {users}", f"DROP ROLE IF EXISTS {', '.join(ROLES)}", "DROP DATABASE IF EXISTS esc",
                    "DROP DATABASE IF EXISTS esc2", "DROP DATABASE IF EXISTS esc_other", on=root)

    clean()
    harness.run(*SETUP.strip().splitlines(), f"CREATE USER {users}", f"CREATE ROLE {', '.join(ROLES)}",
                "GRANT SYSTEM_USER ON *.* TO role_system", "ALTER USER expired PASSWORD EXPIRE", on=root)
    for user, grants in GRANTS.items():
        harness.run(*[f"GRANT {grant} TO '{user}'" for grant in grants], "DO 0", on=root)
    harness.run("REVOKE SYSTEM_USER ON *.* FROM admin", on=root)
    made = {user: server.connect(user=user) for user in USERS if user != "expired"}
    made["root"] = root
    harness.run("CREATE TEMPORARY TABLE esc2.t (id INT PRIMARY KEY)", on=made["temporary"])
    yield made
    for user, link in made.items():
        if user != "root":
            link.close()
    clean()
    root.close()


def outcome(link, statement):
    """The error's number, 0 without one."""
    try:
        harness.run(statement, on=link)
    except pymysql.MySQLError as error:
        return error.args[0]
    return 0


def refuse(links, cases):
    ids = {name: links[name].thread_id() for name in ("boss", "plain", "root")}
    wrong = []
    for line in cases.strip().splitlines():
        if not line or line.startswith("#"):
            continue
        user, statement, number = (part.strip() for part in line.split(" | "))
        got = outcome(links[user], statement.format(**ids))
        if got != int(number):
            wrong.append(f"{line}: {got}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_system_user(links):
    refuse(links, SYSTEM_USER)


def test_accounts_roles_and_grants(links):
    refuse(links, ACCOUNTS)


def test_the_own_account(links):
    refuse(links, OWN_ACCOUNT)
    # The password, and it alone, is the account's own.
    for statement in ["ALTER USER nobody IDENTIFIED BY ''", "SET PASSWORD = ''", "ALTER USER CURRENT_USER IDENTIFIED BY '' REPLACE ''"]:
        assert outcome(links["nobody"], statement) == 0, statement


def test_definitions(links):
    refuse(links, DEFINITIONS)


def test_leaks(links):
    refuse(links, LEAKS)


def test_the_server(links):
    refuse(links, SERVER)


def test_many_others(links):
    refuse(links, pathlib.Path(__file__).with_name("escalations.txt").read_text())


def test_prepared_statements_are_no_way_around(links):
    for user, statement, number in [("reader", "SELECT pin FROM esc.secret", 1142), ("reader", "SELECT * FROM esc.not_there", 1142),
                                    ("dml", "UPDATE esc.open SET v = (SELECT pin FROM esc.secret)", 1142), ("nobody", "SHOW TABLES FROM esc", 1044)]:
        link = links[user]
        got = outcome(link, f"PREPARE s FROM '{statement}'")
        assert (got or outcome(link, "EXECUTE s")) == number, statement


def test_a_temporary_table_is_its_sessions_own(links):
    own = links["temporary"]
    for statement in ["ANALYZE TABLE esc2.t", "CHECK TABLE esc2.t", "OPTIMIZE TABLE esc2.t", "SHOW INDEX FROM esc2.t", "SHOW COLUMNS FROM esc2.t",
                      "SHOW CREATE TABLE esc2.t", "ALTER TABLE esc2.t ADD n INT", "SELECT * FROM esc2.t"]:
        assert outcome(own, statement) == 0, statement


def test_what_a_routine_changes_of_its_definers_rights_ends_with_it(server, links):
    root = links["root"]
    harness.run("CREATE USER author, caller", "GRANT role_plain TO author", "GRANT SELECT ON esc.secret TO role_plain", "GRANT EXECUTE ON esc.* TO author, caller",
                "CREATE DEFINER = author PROCEDURE esc.takes_role() SET ROLE role_plain", "CREATE DEFINER = author PROCEDURE esc.reads() SELECT MAX(pin) FROM esc.secret",
                "CREATE DEFINER = author PROCEDURE esc.roles() SELECT CURRENT_ROLE()", "CREATE DEFINER = author PROCEDURE esc.password() SET PASSWORD = 'new'", on=root)
    try:
        caller, author = server.connect(user="caller"), server.connect(user="author")
        assert outcome(caller, "CALL esc.reads()") == 1142
        harness.run("CALL esc.takes_role()", on=caller)
        assert harness.value(caller, "SELECT CURRENT_ROLE()") == "NONE"
        assert harness.value(caller, "CALL esc.roles()") == "NONE"
        assert outcome(caller, "CALL esc.reads()") == 1142
        # One's own routine runs with the roles that are active, neither more nor fewer.
        assert outcome(author, "CALL esc.reads()") == 1142
        harness.run("SET ROLE role_plain", on=author)
        assert harness.value(author, "CALL esc.reads()") == 4711
        harness.run("SET DEFAULT ROLE role_plain TO author", on=root)
        assert harness.value(caller, "CALL esc.reads()") == 4711
        assert harness.value(caller, "CALL esc.roles()") == "`role_plain`@`%`"
        harness.run("SET ROLE NONE", on=author)
        assert outcome(author, "CALL esc.reads()") == 1142
        # The password is the caller's, and the definer may not set it.
        assert outcome(caller, "CALL esc.password()") == 1044
        # A definer that may not call it any more.
        harness.run("REVOKE EXECUTE ON esc.* FROM author", on=root)
        assert outcome(caller, "CALL esc.reads()") == 1370
    finally:
        harness.run("DROP PROCEDURE esc.takes_role", "DROP PROCEDURE esc.reads", "DROP PROCEDURE esc.roles", "DROP PROCEDURE esc.password", "DROP USER author, caller",
                    "REVOKE SELECT ON esc.secret FROM role_plain", on=root)


def test_a_definer_may_take_all_roles_that_it_has(links):
    """So nobody names one who could have SYSTEM_USER by a role, active or not, without having it."""
    root, definer = links["root"], links["definer"]
    harness.run("CREATE USER through", "CREATE ROLE outer_role", "GRANT role_system TO outer_role", "GRANT CREATE ROUTINE, ALTER ROUTINE, TRIGGER ON esc.* TO definer", on=root)
    try:
        for role in ("role_system", "outer_role"):
            harness.run(f"GRANT {role} TO through", on=root)
            for statement in ("CREATE DEFINER = through VIEW esc.up AS SELECT 1 one", "CREATE DEFINER = through PROCEDURE esc.up() SET ROLE ALL",
                              "CREATE DEFINER = through FUNCTION esc.up() RETURNS INT DETERMINISTIC RETURN 1"):
                assert outcome(definer, statement) == 1227, (role, statement)
            harness.run("CREATE DEFINER = through PROCEDURE esc.theirs() SELECT 1", on=root)
            assert outcome(definer, "DROP PROCEDURE esc.theirs") == 1227
            harness.run("DROP PROCEDURE esc.theirs", f"REVOKE {role} FROM through", on=root)
        assert outcome(root, "SET GLOBAL mandatory_roles = 'outer_role'") == 3880
        harness.run("SET GLOBAL mandatory_roles = 'role_plain'", on=root)
        assert outcome(root, "GRANT role_system TO role_plain") == 4027
    finally:
        harness.run("SET GLOBAL mandatory_roles = ''", "DROP USER through", "DROP ROLE outer_role", "REVOKE CREATE ROUTINE, ALTER ROUTINE, TRIGGER ON esc.* FROM definer", on=root)


def test_a_routine_sees_and_ends_what_its_definer_may(server, links):
    root = links["root"]
    harness.run("CREATE USER author, caller", "GRANT EXECUTE ON esc.* TO author, caller",
                "CREATE DEFINER = author PROCEDURE esc.lists() SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE user <> 'author'",
                on=root)
    try:
        harness.run("GRANT TRIGGER, INSERT, CREATE ROUTINE, ALTER ROUTINE ON esc.* TO author", "GRANT INSERT ON esc.open TO caller", "CREATE TABLE esc.seen (user VARCHAR(99))",
                    "CREATE DEFINER = author TRIGGER esc.looks BEFORE INSERT ON esc.open FOR EACH ROW INSERT INTO esc.seen SELECT user FROM information_schema.PROCESSLIST",
                    "CREATE DEFINER = author FUNCTION esc.others() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE user <> 'author')",
                    "CREATE DEFINER = author FUNCTION esc.tables() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM information_schema.TABLES WHERE table_schema = 'esc2')",
                    on=root)
        caller, other = server.connect(user="caller"), server.connect(user="caller")
        author = server.connect(user="author")
        for link in (root, caller):
            harness.run("INSERT INTO esc.open VALUES (1000, 1)", on=link)
            harness.run("DELETE FROM esc.open WHERE id = 1000", on=root)
            assert harness.rows(root, "SELECT DISTINCT user FROM esc.seen") == (("author",),)
            assert harness.rows(link, "SELECT esc.others(), esc.tables(), esc.others()") == ((0, 0, 0),)
        # The caller's own eyes are back.
        assert harness.rows(root, "SELECT esc.others(), COUNT(*) > 3 FROM information_schema.PROCESSLIST") == ((0, 1),)
        author.close()
        harness.run(f"CREATE DEFINER = author PROCEDURE esc.ends() KILL QUERY {other.thread_id()}", on=root)
        assert harness.value(root, "CALL esc.lists()") == 0
        assert harness.value(caller, "CALL esc.lists()") == 0
        assert outcome(caller, "CALL esc.ends()") == 1095
    finally:
        harness.run("DROP TRIGGER esc.looks", "DROP TABLE esc.seen", "DROP FUNCTION esc.others", "DROP FUNCTION esc.tables", "DROP PROCEDURE esc.lists", "DROP PROCEDURE esc.ends", "DROP USER author, caller", on=root)


def test_the_grant_option_goes_with_that_of_everything(server, links):
    root = links["root"]
    harness.run("CREATE USER hands", "GRANT BACKUP_ADMIN, SELECT ON *.* TO hands WITH GRANT OPTION", "REVOKE GRANT OPTION ON *.* FROM hands", on=root)
    link = server.connect(user="hands")
    assert outcome(link, "GRANT BACKUP_ADMIN ON *.* TO plain") == 1227
    harness.run("DROP USER hands", on=root)


def test_accounts_do_not_change_under_a_lock_for_backups(server, links):
    root, other = links["root"], server.connect()
    harness.run("SET lock_wait_timeout = 1", on=other)
    changes = ["CREATE USER fresh", "GRANT SELECT ON esc.* TO plain", "ALTER USER plain ACCOUNT UNLOCK", "SET PASSWORD FOR plain = ''", "CREATE ROLE fresh"]
    for lock, unlock in (("FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"), ("LOCK INSTANCE FOR BACKUP", "UNLOCK INSTANCE")):
        harness.run(lock, on=root)
        assert [outcome(other, change) for change in changes[:2]] == [1205, 1205], lock
        harness.run(unlock, on=root)
    harness.run("FLUSH TABLES WITH READ LOCK", on=root)
    assert [outcome(root, change) for change in changes] == [1223] * 5
    harness.run("UNLOCK TABLES", "LOCK TABLES esc.open WRITE", on=root)
    assert [outcome(root, change) for change in changes] == [1100] * 5
    harness.run("UNLOCK TABLES", on=root)
    assert [outcome(other, change) for change in changes[1:4]] == [0] * 3
    harness.run("REVOKE SELECT ON esc.* FROM plain", on=root)
    other.close()


def test_grant_as_reaches_no_further_than_the_grantor(server, links):
    root = links["root"]
    harness.run("SET GLOBAL partial_revokes = ON", "CREATE USER partly, given", "GRANT SELECT, UPDATE ON *.* TO partly WITH GRANT OPTION",
                "REVOKE SELECT ON esc.* FROM partly", on=root)
    try:
        partly = server.connect(user="partly")
        assert outcome(partly, "GRANT SELECT ON *.* TO given AS root@localhost") == 3836
        assert outcome(partly, "GRANT UPDATE ON *.* TO given AS root@localhost") == 0
        harness.run("GRANT SELECT ON *.* TO given AS partly", on=root)
        assert outcome(server.connect(user="given"), "SELECT * FROM esc.secret") == 1142
    finally:
        harness.run("DROP USER partly, given", "SET GLOBAL partial_revokes = OFF", on=root)


def test_an_expired_password_is_renewed_and_nothing_else(server, links):
    root = links["root"]
    harness.run("CREATE USER late", "GRANT CREATE USER ON *.* TO late", on=root)
    try:
        for statement, number in [("ALTER USER late PASSWORD EXPIRE NEVER", 1820), ("ALTER USER late PASSWORD EXPIRE DEFAULT", 1820), ("ALTER USER late REQUIRE NONE", 1820),
                                  ("ALTER USER late COMMENT 'x'", 1820), ("ALTER USER USER() DISCARD OLD PASSWORD", 1820), ("ALTER USER plain IDENTIFIED BY 'x'", 1820),
                                  ("ALTER USER late DEFAULT ROLE NONE", 1820), ("ALTER USER late IDENTIFIED BY ''", 0)]:
            harness.run("ALTER USER late IDENTIFIED BY '' PASSWORD EXPIRE", on=root)
            link = Silent(host=server.host, port=server.port, user="late", autocommit=None, client_flag=CAN_HANDLE_EXPIRED_PASSWORDS, ssl_disabled=True)
            assert outcome(link, statement) == number, statement
            assert outcome(link, "SELECT 1") == number, statement
            link.close()
    finally:
        harness.run("DROP USER late", on=root)


def test_the_own_hash_is_not_shown(server, links):
    plain = links["plain"]
    harness.run("ALTER USER plain IDENTIFIED BY 'x'", on=links["root"])
    assert " AS <secret> " in harness.value(plain, "SHOW CREATE USER CURRENT_USER()")
    assert "<secret>" not in harness.value(links["root"], "SHOW CREATE USER plain")
    harness.run("ALTER USER plain IDENTIFIED BY ''", on=links["root"])


def test_a_right_that_is_revoked_is_gone_from_what_was_prepared(links):
    root, plain = links["root"], links["plain"]
    harness.run("GRANT SELECT ON esc.secret TO plain", on=root)
    harness.run("PREPARE s FROM 'SELECT pin FROM esc.secret'", "EXECUTE s", "HANDLER esc.secret OPEN", on=plain)
    harness.run("REVOKE SELECT ON esc.secret FROM plain", on=root)
    assert outcome(plain, "EXECUTE s") == 1142
    assert outcome(plain, "SELECT pin FROM esc.secret") == 1142
    harness.run("HANDLER secret CLOSE", on=plain)


def test_a_view_over_a_view_stops_where_a_right_is_gone(links):
    root, reader = links["root"], links["reader"]
    harness.run("GRANT SELECT ON esc.secret TO plain", "CREATE DEFINER = plain VIEW esc.inside AS SELECT id, pin FROM esc.secret",
                "CREATE VIEW esc.outside AS SELECT pin FROM esc.inside", "GRANT SELECT ON esc.outside TO reader", on=root)
    harness.run("PREPARE s FROM 'SELECT pin FROM esc.outside'", "EXECUTE s", on=reader)
    assert outcome(reader, "SELECT pin FROM esc.inside") == 1142
    for take, give in [("REVOKE SELECT ON esc.secret FROM plain", "GRANT SELECT ON esc.secret TO plain"),
                       ("ALTER TABLE esc.secret RENAME COLUMN pin TO pin2", "ALTER TABLE esc.secret RENAME COLUMN pin2 TO pin")]:
        harness.run(take, on=root)
        assert outcome(reader, "EXECUTE s") == 1356, take
        harness.run(give, on=root)
        assert outcome(reader, "EXECUTE s") == 0, give
    harness.run("REVOKE SELECT ON esc.outside FROM reader", on=root)
    assert outcome(reader, "EXECUTE s") == 1142
    harness.run("REVOKE SELECT ON esc.secret FROM plain", "DROP VIEW esc.outside, esc.inside", on=root)
    harness.run("DEALLOCATE PREPARE s", on=reader)


def test_a_connection_that_is_reset_or_another_ones_keeps_nothing(server, links):
    root = links["root"]
    harness.run("GRANT SELECT ON esc.secret TO role_plain", "GRANT role_plain TO plain", on=root)
    link = mysql.connector.connect(host=server.host, port=server.port, user="plain", password="", ssl_disabled=True)

    def first(sql):
        cursor = link.cursor()
        cursor.execute(sql)
        return cursor.fetchall()[0][0]

    def number(sql):
        try:
            first(sql)
        except mysql.connector.Error as error:
            return error.errno
        return 0

    # Roles stay active when a connection is reset, as in MySQL.
    for again in (lambda: (link.cmd_reset_connection(), link.cursor().execute("SET ROLE DEFAULT")), lambda: link.cmd_change_user("plain", ""), lambda: link.cmd_change_user("nobody", "")):
        cursor = link.cursor()
        for statement in ("SET ROLE role_plain", "SET @pin = (SELECT pin FROM esc.secret)", "PREPARE s FROM 'SELECT pin FROM esc.secret'"):
            cursor.execute(statement)
        cursor.execute("SELECT GET_LOCK('esc', 0)")
        cursor.fetchall()
        cursor.close()
        again()
        assert first("SELECT CURRENT_ROLE()") == "NONE"
        assert first("SELECT @pin") is None
        assert first("SELECT IS_FREE_LOCK('esc')") == 1
        assert number("EXECUTE s") == 1243
        assert number("SELECT pin FROM esc.secret") == 1142
    assert first("SELECT CURRENT_USER()").startswith("nobody@")
    with pytest.raises(mysql.connector.Error):
        link.cmd_change_user("root", "wrong")
    with pytest.raises(mysql.connector.Error):
        first("SELECT 1")
    harness.run("REVOKE role_plain FROM plain", on=root)


def test_locked_and_dropped_accounts_of_open_connections(server, links):
    root = links["root"]
    harness.run("CREATE USER passing", "GRANT SELECT ON esc.secret TO passing", on=root)
    link = server.connect(user="passing")
    harness.run("PREPARE s FROM 'SELECT pin FROM esc.secret'", on=link)
    # As in MySQL who is inside stays, and nobody else comes in.
    harness.run("ALTER USER passing ACCOUNT LOCK", on=root)
    assert outcome(link, "EXECUTE s") == 0
    with pytest.raises(pymysql.MySQLError) as refused:
        server.connect(user="passing")
    assert refused.value.args[0] == 3118
    harness.run("DROP USER passing", on=root)
    assert outcome(link, "EXECUTE s") == 1142
    assert outcome(link, "SELECT pin FROM esc.secret") == 1142
    link.close()


def test_limits_of_an_account_are_kept(server, links):
    root = links["root"]
    harness.run("CREATE USER limited WITH MAX_QUERIES_PER_HOUR 6 MAX_UPDATES_PER_HOUR 2", "GRANT INSERT, SELECT ON esc.* TO limited", on=root)
    link = server.connect(user="limited")
    answers = [outcome(link, "SELECT 1") for _ in range(8)]
    assert answers[-1] == 1226 and 0 in answers
    with pytest.raises(pymysql.MySQLError) as refused:
        harness.run("SELECT 1", on=server.connect(user="limited"))
    assert refused.value.args[0] == 1226
    harness.run("DROP USER limited", on=root)
    link.close()


def test_the_directory_of_files_is_not_left(clearway_only, tmp_path):
    files, inside = tmp_path / "files", tmp_path / "files" / "inside"
    inside.mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("4711\n")
    (files / "given").write_text("1\n")
    os.symlink(tmp_path / "outside" / "secret", files / "link")
    os.symlink(tmp_path / "outside", files / "away")
    os.symlink(files / "given", tmp_path / "outside" / "back")
    server = harness.Server("clearway", f"--secure-file-priv={files}")
    server.start()
    try:
        root = server.connect()
        harness.run("CREATE DATABASE d", "CREATE TABLE d.t (a INT)", on=root)
        for path, number in [(files / "given", 0), (files / "link", 1290), (files / "away" / "secret", 1290), (files / ".." / "outside" / "secret", 1290),
                             (tmp_path / "outside" / "secret", 1290), (f"{files}x/secret", 1290), ("/etc/passwd", 1290)]:
            assert outcome(root, f"LOAD DATA INFILE '{path}' INTO TABLE d.t") == number, path
            assert number == 0 or harness.value(root, f"SELECT LOAD_FILE('{path}')") is None, path
        for path, number in [(files / "new", 0), (files / "away" / "new", 1290), (inside / ".." / ".." / "new", 1290), (tmp_path / "new", 1290)]:
            assert outcome(root, f"SELECT 1 INTO OUTFILE '{path}'") == number, path
        assert outcome(root, f"SELECT 1 INTO OUTFILE '{files}/link'") in (1086, 1290)
        assert (tmp_path / "outside" / "secret").read_text() == "4711\n" and not (tmp_path / "new").exists()
        assert harness.value(root, "SELECT COUNT(*) FROM d.t") == 1
        root.close()
    finally:
        server.kill()


def test_what_others_ask_is_not_read_in_lists(server, links):
    """Statements' texts: of oneself, and of all with PROCESS."""
    busy = server.connect(user="boss")
    busy._execute_command(3, "SELECT SLEEP(3), 'not for all'")
    nobody, procs = links["nobody"], links["procs"]
    lists = ["SHOW FULL PROCESSLIST", "SELECT * FROM information_schema.PROCESSLIST", "SELECT * FROM performance_schema.processlist"]
    harness.wait_until(lambda: "not for all" in str(harness.rows(procs, lists[0])), 10, "the query runs")
    for query in lists:
        assert "not for all" not in str(harness.rows(nobody, query)), query
        assert "not for all" in str(harness.rows(procs, query)), query
    for table in ("threads", "events_statements_current"):
        assert outcome(nobody, f"SELECT * FROM performance_schema.{table}") == 1142
    harness.run(f"KILL QUERY {busy.thread_id()}", on=links["root"])
    busy._force_close()


def test_a_handler_reads_whole_rows(links):
    column = links["column"]
    harness.run("HANDLER esc.secret OPEN AS h", on=column)
    for statement in ["HANDLER h READ FIRST", "HANDLER h READ by_pin FIRST", "HANDLER h READ FIRST WHERE id = 1"]:
        assert outcome(column, statement) == 1142, statement
    harness.run("HANDLER h CLOSE", on=column)


def test_a_role_gives_nothing_while_it_is_not_active(links):
    root, plain = links["root"], links["plain"]
    harness.run("GRANT SELECT ON esc.secret TO role_plain", "GRANT role_plain TO plain", on=root)
    assert outcome(plain, "SELECT pin FROM esc.secret") == 1142
    assert outcome(plain, "SET ROLE role_plain") == 0
    assert outcome(plain, "SELECT pin FROM esc.secret") == 0
    harness.run("REVOKE role_plain FROM plain", on=root)
    harness.run("SET ROLE NONE", on=plain)
    assert outcome(plain, "SELECT pin FROM esc.secret") == 1142


def test_lists_leave_out_what_one_may_not_see(links):
    reader, column = links["reader"], links["column"]
    assert harness.rows(reader, "SHOW TABLES FROM esc") == (("open",),)
    assert [row[0] for row in harness.rows(reader, "SHOW DATABASES LIKE 'esc%'")] == ["esc"]
    for table, of in [("TABLES", "TABLE_NAME"), ("COLUMNS", "TABLE_NAME"), ("STATISTICS", "TABLE_NAME"), ("TABLE_CONSTRAINTS", "TABLE_NAME")]:
        seen = harness.rows(reader, f"SELECT DISTINCT {of} FROM information_schema.{table} WHERE TABLE_SCHEMA LIKE 'esc%'")
        assert seen == (("open",),), table
    assert harness.rows(column, "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'esc'") == (("id",),)
    assert [row[0] for row in harness.rows(column, "SHOW COLUMNS FROM esc.secret")] == ["id"]
    viewer = links["viewer"]
    texts = dict(harness.rows(viewer, "SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'esc'"))
    assert texts["shown"] == "" and "secret" in texts["asked"]
    nobody = links["nobody"]
    assert {row[1] for row in harness.rows(nobody, "SHOW PROCESSLIST")} == {"nobody"}
    assert {row[0] for row in harness.rows(nobody, "SELECT DISTINCT GRANTEE FROM information_schema.USER_PRIVILEGES")} == {"'nobody'@'%'"}


def test_what_others_persisted_is_not_taken_back(links):
    root, nobody, setter = links["root"], links["nobody"], links["setter"]
    harness.run("SET PERSIST sort_buffer_size = 300000", "SET PERSIST_ONLY table_open_cache_instances = 16", on=root)
    for link, statement, number in [(nobody, "RESET PERSIST nope", 3615), (nobody, "RESET PERSIST sort_buffer_size", 1227),
                                    (nobody, "RESET PERSIST IF EXISTS sort_buffer_size", 1227), (nobody, "RESET PERSIST table_open_cache_instances", 3630),
                                    (setter, "RESET PERSIST table_open_cache_instances", 3630), (setter, "RESET PERSIST sort_buffer_size", 0)]:
        assert outcome(link, statement) == number, statement
    harness.run("RESET PERSIST", "SET GLOBAL sort_buffer_size = DEFAULT", on=root)


def test_max_user_connections(server, links):
    root = links["root"]
    harness.run("SET GLOBAL max_user_connections = 1", "CREATE USER crowd, pair WITH MAX_USER_CONNECTIONS 2", "ALTER USER crowd WITH MAX_USER_CONNECTIONS 0",
                on=root)
    try:
        kept = [server.connect(user="crowd"), server.connect(user="pair"), server.connect(user="pair")]
        for user, number in [("crowd", 1203), ("pair", 1226)]:
            with pytest.raises(pymysql.MySQLError) as refused:
                server.connect(user=user)
            assert refused.value.args[0] == number, user
        assert harness.value(kept[0], "SELECT @@max_user_connections") == 1
        assert harness.value(kept[1], "SELECT @@max_user_connections") == 2
        for link in kept:
            link.close()
    finally:
        harness.run("SET GLOBAL max_user_connections = DEFAULT", "DROP USER crowd, pair", on=root)


def test_errors_tell_nothing_of_the_other_end_of_a_foreign_key(links):
    root, plain, procs = links["root"], links["plain"], links["procs"]
    harness.run("CREATE TABLE esc.child (x INT, CONSTRAINT hidden_key FOREIGN KEY (x) REFERENCES esc.secret (id))", "INSERT INTO esc.child VALUES (1)",
                "GRANT SELECT, INSERT, UPDATE ON esc.child TO plain", "GRANT SELECT, DELETE, UPDATE ON esc.secret TO procs", on=root)
    for link, statement, number in [(plain, "INSERT INTO esc.child VALUES (7)", 1452), (plain, "UPDATE esc.child SET x = 7", 1452),
                                    (procs, "DELETE FROM esc.secret WHERE id = 1", 1451), (procs, "UPDATE esc.secret SET id = 2", 1451)]:
        with pytest.raises(pymysql.MySQLError) as refused:
            harness.run(statement, on=link)
        assert refused.value.args[0] == number and "hidden_key" not in refused.value.args[1], (statement, refused.value.args)
        assert "hidden_key" not in str(harness.rows(link, "SHOW WARNINGS"))
    harness.run("INSERT IGNORE INTO esc.child VALUES (7)", on=plain)
    assert "hidden_key" not in str(harness.rows(plain, "SHOW WARNINGS"))
    with pytest.raises(pymysql.MySQLError, match="hidden_key"):
        harness.run("INSERT INTO esc.child VALUES (7)", on=root)
    harness.run("REVOKE ALL ON esc.child FROM plain", "REVOKE ALL ON esc.secret FROM procs", "DROP TABLE esc.child", on=root)


def test_the_statement_of_another_session_is_not_explained(server, links):
    busy = server.connect(user="plain")
    busy._execute_command(3, "SELECT SLEEP(3) FROM DUAL")
    harness.wait_until(lambda: any(row[0] == busy.thread_id() and row[7] for row in harness.rows(links["root"], "SHOW PROCESSLIST")), 10, "the query runs")
    assert outcome(links["nobody"], f"EXPLAIN FOR CONNECTION {busy.thread_id()}") == 1045
    assert outcome(links["plain"], f"KILL QUERY {busy.thread_id()}") == 0
    busy._force_close()


def test_a_guess_counts_though_the_client_hangs_up(server, links, monkeypatch):
    """The server's answer to the fast reply tells whether it was right: that is an attempt."""
    root = links["root"]
    harness.run("CREATE USER guessed IDENTIFIED BY 'right' FAILED_LOGIN_ATTEMPTS 2 PASSWORD_LOCK_TIME 1", on=root)
    try:
        # The server knows the password from now on, and takes a fast reply.
        server.connect(user="guessed", password="right").close()

        def hang_up(connection, _):
            connection._force_close()
            raise pymysql.OperationalError(2013, "gone")

        with monkeypatch.context() as patched:
            patched.setattr(pymysql.connections._auth, "caching_sha2_password_auth", hang_up)
            for _ in range(2):
                with pytest.raises(pymysql.OperationalError, match="gone"):
                    server.connect(user="guessed", password="wrong")

        def is_blocked():
            with pytest.raises(pymysql.MySQLError) as refused:
                server.connect(user="guessed", password="wrong")
            return refused.value.args[0] == 3955

        harness.wait_until(is_blocked, 10, "the account is blocked")
        with pytest.raises(pymysql.MySQLError) as refused:
            server.connect(user="guessed", password="right")
        assert refused.value.args[0] == 3955
    finally:
        harness.run("DROP USER guessed", on=root)


def test_a_file_sets_no_columns_but_those_that_one_may_insert(server, links, tmp_path):
    """Those after SET too, and none that a view does not show. The numbers are MySQL's."""
    root = links["root"]
    (tmp_path / "rows").write_text("70\n")
    before = harness.value(root, "SELECT @@GLOBAL.local_infile")
    harness.run("SET GLOBAL local_infile = ON", "CREATE TABLE esc.filled (id INT, v INT, w INT)", "CREATE VIEW esc.filling AS SELECT id k, v l FROM esc.filled",
                "GRANT INSERT (id), SELECT (id) ON esc.filled TO plain", "GRANT SELECT, INSERT, UPDATE ON esc.filling TO plain", on=root)
    link = pymysql.connect(host=server.host, port=server.port, user="plain", password="", autocommit=True, local_infile=True)
    try:
        for rest, number in [("esc.filled (id)", 0), ("esc.filled", 1143), ("esc.filled (v)", 1143), ("esc.filled (id) SET v = 1", 1143), ("esc.filled (@x) SET v = @x", 1143),
                             ("esc.filled (@x) SET id = @x", 0), ("esc.filled (@x) SET id = v", 1143), ("esc.filling (k)", 0), ("esc.filling (k) SET l = k + 1", 0),
                             ("esc.filling (k) SET w = 7", 1054), ("esc.filling (k) SET v = 7", 1054), ("esc.filling (w)", 1054)]:
            assert outcome(link, f"LOAD DATA LOCAL INFILE '{tmp_path}/rows' INTO TABLE {rest}") == number, rest
        assert harness.value(root, "SELECT COUNT(w) FROM esc.filled") == 0
    finally:
        link.close()
        harness.run(f"SET GLOBAL local_infile = {before}", "REVOKE ALL, GRANT OPTION FROM plain", "DROP VIEW esc.filling", "DROP TABLE esc.filled", on=root)


def test_an_expired_password_is_a_sandbox(server, links):
    words = dict(host=server.host, port=server.port, user="expired", password="", autocommit=None, ssl_disabled=True)
    with pytest.raises(pymysql.MySQLError) as refused:
        pymysql.connect(**words)
    assert refused.value.args[0] == 1862
    link = Silent(**words, client_flag=CAN_HANDLE_EXPIRED_PASSWORDS)
    for statement, number in [("SELECT 1", 1820), ("SELECT * FROM esc.secret", 1820), ("SET @x = 1", 1820), ("SHOW WARNINGS", 1820), ("BEGIN", 1820),
                              ("USE esc", 1820), ("DO 1", 1820), ("PREPARE s FROM 'SELECT 1'", 1820), ("SET ROLE NONE", 1820),
                              ("SET PASSWORD FOR plain = 'x'", 1820), ("ALTER USER plain IDENTIFIED BY 'x'", 1227),
                              ("ALTER USER expired PASSWORD EXPIRE NEVER", 1227), ("ALTER USER expired ACCOUNT UNLOCK", 1227), ("SHOW GRANTS", 1820),
                              ("EXPLAIN SELECT 1", 1820), ("HELP 'x'", 1820), ("KILL QUERY 1", 1820)]:
        assert outcome(link, statement) == number, statement
    # COM_INIT_DB, COM_STATISTICS, COM_PROCESS_KILL, COM_RESET_CONNECTION
    for command, data in [(2, b"esc"), (9, b""), (31, b"")]:
        with pytest.raises(pymysql.MySQLError) as refused:
            link._execute_command(command, data)
            link._read_packet()
        assert refused.value.args[0] == 1820, command
    assert outcome(link, "ALTER USER expired IDENTIFIED BY 'new'") == 0
    assert outcome(link, "SELECT 1") == 0
    link.close()
