-- Whose rights count for a view in a view.

CREATE TABLE t (a INT PRIMARY KEY, b INT);

INSERT INTO t VALUES (1, 2);

CREATE USER nested_user, nested_definer;

CREATE SQL SECURITY INVOKER VIEW asks AS SELECT a, b FROM t;

CREATE VIEW defines AS SELECT a FROM asks;

CREATE SQL SECURITY INVOKER VIEW asks_twice AS SELECT a FROM asks;

CREATE DEFINER = nested_definer VIEW of_another AS SELECT a FROM asks;

CREATE ALGORITHM = TEMPTABLE DEFINER = nested_definer VIEW of_another_kept AS SELECT a FROM asks;

GRANT SELECT ON asks TO nested_definer;

-- The definer lacks the table, root does not.
SELECT * FROM of_another;

SELECT * FROM of_another_kept;

SELECT * FROM defines;

SELECT * FROM asks_twice;

GRANT SELECT (a, b) ON t TO nested_definer;

SELECT * FROM of_another;

SELECT * FROM of_another_kept;

SELECT COUNT(*) FROM of_another o JOIN defines d USING (a);

DROP USER nested_user, nested_definer;

DROP VIEW asks, defines, asks_twice, of_another, of_another_kept;
