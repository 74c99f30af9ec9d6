-- sql_safe_updates asks for keys, but not of what is only explained.
CREATE TABLE t1 (a INT PRIMARY KEY, b INT);
CREATE TABLE t2 (a INT PRIMARY KEY);
INSERT INTO t1 VALUES (1, 1), (10, 10);
INSERT INTO t2 VALUES (1), (2);
SET sql_safe_updates = 1;
DELETE t2 FROM t1 JOIN t2 WHERE t1.a = 10;
DELETE FROM t1;
UPDATE t1 SET b = 2;
-- hide type, possible_keys, key, key_len, ref, rows, filtered, Extra, warnings
EXPLAIN FORMAT=TRADITIONAL DELETE FROM t1 WHERE b + 1 = 2;
-- hide type, possible_keys, key, key_len, ref, rows, filtered, Extra, warnings
EXPLAIN FORMAT=TRADITIONAL UPDATE t1 SET b = 2;
SELECT * FROM t1;
