-- The row of INSERT that has a name has the columns that INSERT lists, and no others.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b DATETIME, c INT DEFAULT 3);
INSERT INTO t VALUES (1, 1, '2024-01-01', 1), (2, NULL, NULL, 2);
INSERT INTO t (id, a) VALUES (1, 9) AS nw ON DUPLICATE KEY UPDATE b = b;
INSERT INTO t (id, a) VALUES (1, 9) AS nw ON DUPLICATE KEY UPDATE c = c + nw.a;
INSERT INTO t (id, a) VALUES (1, 9) AS nw ON DUPLICATE KEY UPDATE a = a + 1;
INSERT INTO t (id, a) VALUES (1, 9) AS nw ON DUPLICATE KEY UPDATE c = nw.c;
INSERT INTO t VALUES (1, 9, NULL, 3) AS nw ON DUPLICATE KEY UPDATE c = c;
SELECT * FROM t ORDER BY id;
-- A row without values has the defaults where no columns are listed.
CREATE TABLE o (a INT, b INT DEFAULT 3);
INSERT INTO o (a) VALUES ();
REPLACE INTO o (a) VALUES ();
INSERT INTO o (a) VALUES (1), ();
INSERT INTO o VALUES (), (1, 2);
INSERT INTO o VALUES (), ();
INSERT INTO o () VALUES ();
SELECT * FROM o;
VALUES ROW();
VALUES ROW(1), ROW();
