-- Rows of a joined UPDATE IGNORE that a CHECK refuses are matched.
CREATE TABLE t (id INT PRIMARY KEY, a INT);
CREATE TABLE v (id INT PRIMARY KEY, b INT, CHECK (b < 4));
INSERT INTO t VALUES (1, 1), (2, 2);
INSERT INTO v VALUES (2, 3);
UPDATE IGNORE t LEFT JOIN v ON t.id = v.id SET t.a = 12, v.b = 8 WHERE t.id < 4;
SELECT * FROM t;
SELECT * FROM v;
