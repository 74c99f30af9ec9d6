-- Accounts that are not there, or have no name, where roles and privileges are given and taken.

CREATE USER nr1;

CREATE ROLE nr_role;

CREATE USER ''@nr_host;

-- Nobody's default roles may be none.
SET DEFAULT ROLE NONE TO nr_missing, nr1;

ALTER USER nr_missing DEFAULT ROLE NONE;

ALTER USER IF EXISTS nr_missing DEFAULT ROLE NONE;

SET DEFAULT ROLE ALL TO nr_missing;

SET DEFAULT ROLE nr_role TO nr_missing;

SET DEFAULT ROLE ALL TO CURRENT_USER();

REVOKE ALL ON *.* FROM nr_missing;

REVOKE IF EXISTS ALL ON *.* FROM nr_missing;

REVOKE ALL ON *.* FROM nr_missing IGNORE UNKNOWN USER;

REVOKE ALL ON nr.* FROM nr_missing;

REVOKE ALL ON nr.t FROM nr_missing;

REVOKE SELECT ON *.* FROM nr_missing;

REVOKE PROXY ON nr1 FROM nr_missing;

REVOKE IF EXISTS PROXY ON nr1 FROM nr_missing;

REVOKE PROXY ON nr1 FROM nr_missing IGNORE UNKNOWN USER;

GRANT nr_role TO ''@nr_host;

GRANT nr_role TO ''@nr_missing;

GRANT ''@nr_host TO nr1;

GRANT ''@nr_missing TO nr1;

GRANT nr_role, ''@nr_host TO nr1;

GRANT ''@nr_host TO ''@nr_host;

CREATE USER nr2 DEFAULT ROLE ''@nr_host;

CREATE ROLE ''@nr_host;

CREATE ROLE ''@nr_missing;

CREATE ROLE IF NOT EXISTS ''@nr_host;

SHOW GRANTS FOR nr1;

DROP USER nr1, ''@nr_host;

DROP ROLE nr_role;
