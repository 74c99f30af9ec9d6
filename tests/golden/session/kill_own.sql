-- KILL of the own statement, and of the own connection: 1317 before it ends.
-- on other
SELECT 1;
KILL QUERY CONNECTION_ID();
SELECT 1;
KILL CONNECTION_ID();
-- on main
SELECT 2;
