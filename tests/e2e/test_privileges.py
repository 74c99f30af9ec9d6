"""Who may do what: a part of the matrix of tests/differential/privileges.py, against answers that a real MySQL gave.

    python tests/e2e/test_privileges.py FILE      privileges.json anew, from what `privileges.py PORT --record FILE` has written"""

import json
import pathlib
import sys

import pytest

import harness

sys.path.insert(0, str(harness.TOP / "tests/differential"))

import privilege_cases as cases  # noqa: E402
import privileges  # noqa: E402

ANSWERS = pathlib.Path(__file__).with_name("privileges.json")

# Levels that no other one stands for.
LEVELS = ["none", "global SELECT", "global INSERT", "global UPDATE", "global SUPER", "global CREATE USER", "global RELOAD", "global GRANT OPTION",
          "dynamic CONNECTION_ADMIN", "dynamic ROLE_ADMIN", "dynamic SYSTEM_USER", "dynamic SYSTEM_VARIABLES_ADMIN",
          "dynamic SESSION_VARIABLES_ADMIN", "dynamic APPLICATION_PASSWORD_ADMIN", "dynamic FLUSH_TABLES", "schema SELECT", "schema ALTER",
          "schema CREATE VIEW", "schema GRANT OPTION", "table SELECT", "table DROP", "column SELECT", "column UPDATE", "ALTER, DROP, CREATE, INSERT on p1",
          "ALTER, DROP on p1.t; CREATE, INSERT on p2", "all on p2; SELECT on p1", "all on p2; REFERENCES on p1.parent", "all on p1 with grant option",
          "CREATE VIEW, DROP on p1; SET_ANY_DEFINER", "SELECT (a) on p1.t with grant option", "BACKUP_ADMIN with grant option", "CREATE USER, SYSTEM_USER",
          "CONNECTION_ADMIN, SYSTEM_USER", "all but SYSTEM_USER", "pattern p_ and p1", "pattern p% and p_", "role r1, not active", "role r1, active",
          "SELECT, SHOW VIEW on p1.v; SELECT on p1.t", "SELECT (a), INSERT (a), UPDATE (b) on p1.t"]
LEVELS += [level for level, _ in cases.levels() if level not in LEVELS and level.startswith(("dynamic ", "partial revokes", "SYSTEM_VARIABLES_ADMIN, "))]

# Statements whose answers differ for reasons that are no matter of privileges: what this server has not, or does in another way.
OTHERWISE = ["CREATE RESOURCE GROUP", "SET RESOURCE GROUP", "START REPLICA", "sha256_password", "immediate_server_version", "innodb_ddl_threads",
             "innodb_parallel_read_threads", "SESSION new", "SHOW BINARY LOGS", "mysql.user WHERE 0", "INTO mysql.user", "mysql.user SET",
             "performance_schema.events_statements", "performance_schema.setup_instruments",
             "gtid_mode", "enforce_gtid", "WAIT_FOR_EXECUTED_GTID_SET", "event_scheduler", "AUTOMATIC:tag", ":tag:1", "9429562:1'",
             "RELOAD TLS FOR CHANNEL", "GROUP_REPLICATION", "SPATIAL REFERENCE SYSTEM", "INNODB REDO_LOG", "RESOURCE GROUP USR_default", "SET GLOBAL binlog_format",
             "CREATE PROCEDURE", "CREATE FUNCTION", "CREATE UNDO", "CREATE TABLESPACE", "CHANGE REPLICATION"]


@pytest.mark.usefixtures("clearway_only")
def test_matrix(server):
    mysql = json.loads(ANSWERS.read_text())
    statements = [s for s in cases.statements() if s[1] in mysql["none"]]
    levels = [level for level in cases.levels() if level[0] in LEVELS]
    assert len(levels) == len(LEVELS)
    ours = privileges.answers(privileges.Side(server.port), levels, statements)
    wrong = []
    for name, _ in levels:
        for _, sql, _ in statements:
            expected = mysql[name].get(sql, mysql["none"][sql])
            what = privileges.verdict(expected, ours[name][sql], sql)
            is_known = what == "absent" or (what in ("other", "under") and any(word in sql for word in OTHERWISE))
            if what != "same" and not is_known:
                wrong.append(f"{what}: {name}: {sql}: MySQL {expected}, here {ours[name][sql]}")
    assert not wrong, "\n" + "\n".join(wrong)


if __name__ == "__main__":
    told = json.loads(pathlib.Path(sys.argv[1]).read_text())
    none = told["none"]
    kept = {name: none if name == "none" else {sql: code for sql, code in told[name].items() if code != none[sql]} for name in LEVELS}
    ANSWERS.write_text(json.dumps(kept, indent=0) + "\n")
