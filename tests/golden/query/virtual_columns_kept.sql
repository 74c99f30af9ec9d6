-- A virtual column that cannot be computed keeps from no change of other columns. (Recorded from a server without a binary log,
-- whose rows would need the column.)
CREATE TABLE v1 (id INT PRIMARY KEY, s VARCHAR(10), n INT, v INT AS (s + 0) VIRTUAL, w INT AS (CAST(s AS SIGNED)) VIRTUAL);
SET sql_mode = '';
INSERT INTO v1 (id, s, n) VALUES (1, 'abc', 1), (2, '5', 2);
SET sql_mode = DEFAULT;
UPDATE v1 SET n = 5;
UPDATE v1 SET n = 6 WHERE id = 1;
UPDATE v1 SET s = 'def', n = 3 WHERE id = 2;
CREATE TABLE v2 (id INT PRIMARY KEY, s VARCHAR(10), n INT, v TINYINT AS (n) VIRTUAL, KEY (n));
SET sql_mode = '';
INSERT INTO v2 (id, s, n) VALUES (1, 'abc', 1000), (2, '5', 2);
SET sql_mode = DEFAULT;
UPDATE v2 SET s = 'x';
SELECT * FROM v2;
CREATE TABLE v3 (id INT PRIMARY KEY, s VARCHAR(10), n INT, v INT AS (s) VIRTUAL);
SET sql_mode = '';
INSERT INTO v3 (id, s, n) VALUES (1, 'abc', 1), (2, '5', 2);
SET sql_mode = DEFAULT;
UPDATE v3 SET n = 5;
SELECT * FROM v3;
