-- What statements that read leave in SHOW SESSION STATUS.
CREATE TABLE t (id INT PRIMARY KEY, k INT, u INT, c VARCHAR(20), KEY k (k), UNIQUE KEY u (u));
INSERT INTO t VALUES (1, 1, 11, 'a'), (2, 1, 12, 'b'), (3, 2, 13, 'c'), (4, 2, 14, 'd'), (5, 2, 15, 'e'), (6, 3, NULL, 'f'), (7, 3, NULL, 'g'), (8, 4, 18, 'h'), (9, 5, 19, 'i'), (10, 6, 20, 'j');
CREATE TABLE s (a INT PRIMARY KEY, b INT, t_id INT, KEY t_id (t_id));
INSERT INTO s VALUES (1, 1, 1), (2, 1, 2), (3, 2, 2), (4, 2, NULL);
CREATE TABLE e (x INT PRIMARY KEY, y INT);
CREATE TABLE w (a INT, b INT);
INSERT INTO w VALUES (1, 1), (2, 2), (3, 3);
ANALYZE TABLE t, s, e, w;
FLUSH STATUS;
SELECT 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
DO 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id = 3;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id = 33;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT id FROM t WHERE id = 3;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE u = 13;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE u = 99;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE k = 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE k = 99;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT k FROM t WHERE k = 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE u IS NULL;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM e;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE c = 'c';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t LIMIT 3;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t LIMIT 3 OFFSET 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT k FROM t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT id FROM t WHERE c LIKE 'z';
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id BETWEEN 3 AND 5;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id > 8;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id < 3;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id IN (2, 4, 6);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id IN (2, 4, 66);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT id FROM t WHERE k > 4;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t FORCE INDEX (k) WHERE k > 4;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t FORCE INDEX (k) WHERE k IN (1, 4);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id < 3 OR id > 9;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE u > 15;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t ORDER BY id;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t ORDER BY id DESC;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t ORDER BY id LIMIT 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t ORDER BY id DESC LIMIT 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id > 3 ORDER BY id DESC;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT k FROM t ORDER BY k;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT k FROM t ORDER BY k DESC LIMIT 1;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t ORDER BY c;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t ORDER BY c DESC LIMIT 3;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id > 3 ORDER BY c;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE k = 2 ORDER BY c;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM e ORDER BY y;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT COUNT(*) FROM t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT COUNT(*) FROM t WHERE k = 2;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT MIN(id), MAX(id) FROM t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT MAX(k) FROM t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT SUM(k) FROM t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT MIN(c) FROM t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT k, COUNT(*) FROM t GROUP BY k;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT c, COUNT(*) FROM t GROUP BY c;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT k % 2 m, COUNT(*) FROM t GROUP BY m;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT k % 2 m, COUNT(*) FROM t GROUP BY m ORDER BY m;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT DISTINCT c FROM t;
-- differs: rows are passed on as they come, and MySQL reads them back from a temporary table
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT DISTINCT k FROM t;
-- differs: groups are made by hash, and not by the order of an index
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT DISTINCT k % 3 FROM t;
-- differs: rows are passed on as they come, and MySQL reads them back from a temporary table
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT COUNT(DISTINCT c) FROM t;
-- differs: the values that were counted are no temporary table
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT k, SUM(id) FROM t GROUP BY k WITH ROLLUP;
-- differs: groups are made by hash, and not by the order of an index
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT k, GROUP_CONCAT(c) FROM t GROUP BY k;
-- differs: groups are made by hash, and not by the order of an index
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id = 1 OR k = 3;
-- differs: branches of an OR are read one after another, and no row is read again by its position
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT t.id FROM s JOIN t ON t.id = s.t_id;
-- differs: MySQL keeps the row of the key that it looked up last
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM s STRAIGHT_JOIN t ON t.id = s.t_id;
-- differs: MySQL keeps the row of the key that it looked up last
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM s LEFT JOIN t ON t.id = s.t_id;
-- differs: MySQL keeps the row of the key that it looked up last
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
-- sort
SELECT * FROM t STRAIGHT_JOIN s ON t.id = s.t_id;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
-- sort
SELECT * FROM w STRAIGHT_JOIN s ON w.a = s.b;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM w, e;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
-- sort
SELECT * FROM w STRAIGHT_JOIN s;
-- differs: without an equality the inner table is read for each row, and not into a buffer
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM w w1 STRAIGHT_JOIN w w2 ON w1.a = w2.b;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
-- sort
SELECT * FROM w w1 STRAIGHT_JOIN w w2 ON w1.a > w2.b;
-- differs: without an equality the inner table is read for each row, and not into a buffer
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE t.id = (SELECT MAX(a) FROM s);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
-- sort
SELECT * FROM w STRAIGHT_JOIN t ON t.id < w.a;
-- differs: no range is chosen anew for each row
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM w WHERE EXISTS (SELECT * FROM s WHERE s.a = w.a);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM w WHERE a IN (SELECT b FROM s);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM w WHERE a NOT IN (SELECT b FROM s);
-- differs: the subquery becomes a set
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT (SELECT COUNT(*) FROM s WHERE s.b = w.a) FROM w;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT (SELECT b FROM s WHERE s.a = w.a) FROM w;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM (SELECT k, COUNT(*) FROM t GROUP BY k) d;
-- differs: groups are made by hash, and not by the order of an index
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM (SELECT a FROM w LIMIT 2) d;
-- differs: a derived table that is read once streams through
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM (SELECT a FROM w LIMIT 2) d WHERE a = 1;
-- differs: a derived table that is read once streams through
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
-- sort
WITH q AS (SELECT a FROM w LIMIT 2) SELECT * FROM q q1, q q2;
-- differs: a derived table that is read once streams through
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT a FROM w UNION ALL SELECT a FROM s;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT a FROM w UNION SELECT a FROM s;
-- differs: rows are passed on as they come, and MySQL reads them back from a temporary table
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT a FROM w UNION SELECT a FROM s ORDER BY a;
-- differs: rows are passed on as they come, and MySQL reads them back from a temporary table
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
(SELECT a FROM w) UNION ALL (SELECT a FROM s) ORDER BY a LIMIT 2;
-- differs: rows are passed on as they come, and MySQL reads them back from a temporary table
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT a FROM w INTERSECT SELECT a FROM s;
-- differs: the right side becomes a set that the left one is looked up in
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT a FROM w EXCEPT SELECT a FROM s;
-- differs: the right side becomes a set that the left one is looked up in
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT a, ROW_NUMBER() OVER (ORDER BY b DESC) FROM w;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT a, SUM(b) OVER () FROM w;
-- differs: a partition is in memory of its own
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT a, SUM(b) OVER (PARTITION BY a) FROM w;
-- differs: a partition is in memory of its own
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id = 3 FOR UPDATE;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE k = 2 FOR SHARE;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE 1 = 0;
-- differs: the condition is asked when the statement runs, and not when it is optimized
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id = 3 AND 1 = 0;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id = NULL;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
VALUES ROW(1), ROW(2);
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
TABLE w;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM JSON_TABLE('[1, 2, 3]', '$[*]' COLUMNS (n INT PATH '$')) j;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT * FROM t WHERE id = 3;
SELECT * FROM t WHERE id = 4;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT SQL_BIG_RESULT c, COUNT(*) FROM t GROUP BY c;
-- differs: groups are made by hash, whatever the hint says
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT SQL_BUFFER_RESULT * FROM w;
-- differs: rows are passed on as they come, and MySQL reads them back from a temporary table
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
SELECT nosuch FROM t;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
PREPARE p FROM 'SELECT * FROM t WHERE id = ?';
SET @i = 3;
EXECUTE p USING @i;
EXECUTE p USING @i;
DEALLOCATE PREPARE p;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
BEGIN;
SELECT * FROM t WHERE id = 3;
COMMIT;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
BEGIN;
SELECT * FROM t WHERE id = 3;
ROLLBACK;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
BEGIN;
COMMIT;
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
FLUSH STATUS;
HANDLER t OPEN;
HANDLER t READ FIRST;
HANDLER t READ NEXT;
HANDLER t READ k = (2);
HANDLER t READ k NEXT;
HANDLER t READ k PREV;
HANDLER t READ k LAST;
HANDLER t READ NEXT;
HANDLER t CLOSE;
-- differs: each step looks for its place by key
-- sort
SHOW SESSION STATUS WHERE Variable_name RLIKE '^(Handler|Select|Sort|Created)_' AND Value > 0;
