-- Rows compared with subqueries: each column under a collation of its own.
CREATE TABLE t1 (c1 INT, c2 BINARY(20), c3 VARBINARY(20), c4 VARCHAR(20) COLLATE utf8mb4_bin);
INSERT INTO t1 VALUES (2, 'abcde', 'abcde', 'abcde');
CREATE TABLE t2 (c1 INT, c2 VARCHAR(100), c3 CHAR(20));
INSERT INTO t2 VALUES (1, 'abcde', 'ABCDE'), (2, 'abcde', 'ABCDE');
SELECT c1 FROM t1 WHERE (c1, c2) = (SELECT c1, c2 FROM t2 WHERE c1 = 2);
SELECT c1 FROM t1 WHERE (c1, c3) = (SELECT c1, c2 FROM t2 WHERE c1 = 2);
SELECT c1 FROM t1 WHERE (c1, c3) = (SELECT c1, c3 FROM t2 WHERE c1 = 2);
SELECT c1 FROM t1 WHERE (c2, 1) IN (SELECT c2, 1 FROM t2 WHERE c1 = 2);
SELECT c1 FROM t1 WHERE (c3, c1) IN (SELECT c2, c1 FROM t2);
SELECT c1 FROM t1 WHERE (c4, c1) IN (SELECT c3, c1 FROM t2);
SELECT c1 FROM t1 WHERE (c4, 'X') IN (SELECT c2, 'x' FROM t2);
SELECT c1 FROM t1 WHERE (c4, c1) NOT IN (SELECT c3, c1 FROM t2);
-- The order of UPDATE of several tables: the first is written at once, unless it is found by what changes.
CREATE TABLE u1 (a INT PRIMARY KEY, b INT, KEY (b));
INSERT INTO u1 VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);
CREATE TABLE u2 (a INT PRIMARY KEY, b INT);
INSERT INTO u2 VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);
UPDATE u1 STRAIGHT_JOIN u2 SET u1.a = u1.a + 100, u2.b = u1.a + 10 WHERE u1.a BETWEEN 2 AND 3 AND u2.a = u1.a + 1;
SELECT * FROM u2;
UPDATE u1 FORCE INDEX (b) STRAIGHT_JOIN u2 SET u1.b = u1.b + 2, u2.b = u1.b + 10 WHERE u1.b BETWEEN 3 AND 5 AND u2.a = u1.b;
SELECT * FROM u2;
UPDATE u1 FORCE INDEX (PRIMARY) STRAIGHT_JOIN u2 SET u1.b = u1.b + 100, u2.b = u1.b + 10 WHERE u1.a < 100 AND u2.a = u1.a;
SELECT * FROM u2;
