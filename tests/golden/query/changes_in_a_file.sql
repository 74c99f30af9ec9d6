-- Rows of a joined UPDATE or DELETE that find no room in memory.
SET cte_max_recursion_depth = 10000;
CREATE TABLE a (id INT PRIMARY KEY, v INT, w VARCHAR(40), KEY (v));
CREATE TABLE b (id INT PRIMARY KEY, a INT, v INT, KEY (a));
INSERT INTO a WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 4000) SELECT n, n % 100, CONCAT('row ', n) FROM n;
INSERT INTO b SELECT id, id % 2000 + 1, v FROM a;
ANALYZE TABLE a, b;
SET tmp_table_size = 1024;
UPDATE a JOIN b ON b.a = a.id SET a.v = a.v + 1, a.w = CONCAT(a.w, ' and more');
SELECT COUNT(*), SUM(v), SUM(id), COUNT(DISTINCT w), SUM(LENGTH(w)) FROM a;
UPDATE a JOIN b ON b.a = a.id SET b.v = a.id, a.v = 7 WHERE a.id > 10;
SELECT COUNT(*), SUM(v) FROM a;
SELECT COUNT(*), SUM(v) FROM b;
UPDATE IGNORE a JOIN b ON b.a = a.id SET a.id = a.id + 4000 WHERE a.id <= 1500;
SELECT COUNT(*), SUM(id), MAX(id) FROM a;
DELETE a, b FROM a JOIN b ON b.v = a.id WHERE a.id > 5;
SELECT COUNT(*), SUM(id) FROM a;
SELECT COUNT(*), SUM(id) FROM b;
