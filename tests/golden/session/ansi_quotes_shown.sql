-- With ANSI_QUOTES, what SHOW says of names stands in double quotes.
CREATE TABLE t (a INT PRIMARY KEY COMMENT 'a`"b', `b"c` INT, c INT AS (`a` + 1), KEY `k``x` (c), CHECK (a > 0), UNIQUE KEY f ((a + 1))) COMMENT 'x`y';
CREATE VIEW v AS SELECT a, `b"c` FROM t;
CREATE USER shown@localhost;
GRANT SELECT (a), INSERT ON t TO shown@localhost;
GRANT SELECT ON *.* TO shown@localhost;
SET sql_mode = 'ANSI_QUOTES';
SHOW CREATE TABLE t;
SHOW CREATE VIEW v;
SHOW CREATE DATABASE golden;
SHOW GRANTS FOR shown@localhost;
SHOW CREATE USER shown@localhost;
SET sql_quote_show_create = 0;
SHOW CREATE VIEW v;
SHOW CREATE DATABASE golden;
SHOW GRANTS FOR shown@localhost;
SET sql_quote_show_create = 1, sql_mode = DEFAULT;
DROP USER shown@localhost;
