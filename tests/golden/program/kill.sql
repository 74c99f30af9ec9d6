-- KILL takes an expression, of variables of a program too; PURGE BINARY LOGS BEFORE likewise.
CREATE PROCEDURE of_local() BEGIN DECLARE x BIGINT DEFAULT 99999999; KILL x; END;
CREATE PROCEDURE of_parameter(IN x BIGINT) BEGIN KILL QUERY x; END;
CREATE PROCEDURE computed(IN x BIGINT) BEGIN KILL CONNECTION x + 1; END;
CREATE PROCEDURE by_query() BEGIN DECLARE x VARCHAR(20) DEFAULT '99999999'; KILL (SELECT x); END;
CREATE PROCEDURE of_nothing() BEGIN KILL nope; END;
CREATE PROCEDURE purged(IN x VARCHAR(100)) BEGIN PURGE BINARY LOGS BEFORE x; END;
CALL of_local();
CALL of_parameter(99999999);
CALL of_parameter(NULL);
CALL computed(99999999);
CALL by_query();
CALL of_nothing();
KILL nope;
-- hide warnings
CALL purged('2000-01-01');
-- Whatever the value is, its number counts.
KILL '999999';
KILL '999999.7x';
KILL 999998.7;
KILL 1e30;
KILL -1;
KILL NULL;
KILL 'x';
KILL DATE'2024-01-01';
