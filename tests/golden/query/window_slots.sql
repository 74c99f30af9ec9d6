-- What is read of the tables' rows behind windows: by outputs, by the order, by other windows, and by subqueries.
CREATE TABLE t (id INT PRIMARY KEY, g INT, v INT, s VARCHAR(20), long_text TEXT, twice INT AS (v * 2), KEY (g));
CREATE TABLE u (id INT PRIMARY KEY, t INT, w INT);
INSERT INTO t (id, g, v, s, long_text) VALUES (1, 1, 10, 'one', REPEAT('a', 9000)), (2, 1, NULL, 'two', NULL), (3, 2, 5, 'three', 'c'),
  (4, 2, 5, NULL, REPEAT('d', 20000)), (5, NULL, 7, 'five', 'e'), (6, 3, -1, 'six', '');
INSERT INTO u VALUES (1, 1, 100), (2, 1, 200), (3, 3, 300), (4, 9, 400);
SELECT ROW_NUMBER() OVER (ORDER BY v, id) AS n FROM t ORDER BY n;
SELECT MAX(n) FROM (SELECT ROW_NUMBER() OVER (ORDER BY v) AS n FROM t) x;
SELECT SUM(r) FROM (SELECT RANK() OVER (PARTITION BY g ORDER BY v) AS r FROM t) x;
SELECT id, RANK() OVER (ORDER BY v) AS r FROM t ORDER BY s;
SELECT RANK() OVER (ORDER BY v) AS r FROM t ORDER BY s, id;
SELECT twice, LENGTH(long_text), DENSE_RANK() OVER (ORDER BY v) AS r FROM t ORDER BY id;
SELECT RANK() OVER (ORDER BY v) AS r, (SELECT SUM(u.w) FROM u WHERE u.t = t.id) AS w FROM t ORDER BY t.id;
SELECT RANK() OVER (ORDER BY v) AS r FROM t ORDER BY (SELECT SUM(u.w) FROM u WHERE u.t = t.id), t.id;
SELECT ROW_NUMBER() OVER (ORDER BY t.id, u.id) AS n, u.w FROM t LEFT JOIN u ON u.t = t.id ORDER BY n;
SELECT ROW_NUMBER() OVER (ORDER BY u.id DESC, t.id) AS n, t.s FROM t LEFT JOIN u ON u.t = t.id ORDER BY n;
SELECT ROW_NUMBER() OVER (ORDER BY t.id, u.id) AS n, EXISTS (SELECT 1 FROM u x WHERE x.w > u.w) AS more FROM t LEFT JOIN u ON u.t = t.id ORDER BY n;
SELECT SUM(v) OVER (ORDER BY id ROWS 1 PRECEDING) AS a, COUNT(s) OVER (PARTITION BY g) AS b, MAX(s) OVER (ORDER BY v DESC, id) AS c FROM t ORDER BY t.id;
SELECT ROW_NUMBER() OVER (ORDER BY SUM(v), g) AS n, COUNT(*) FROM t GROUP BY g ORDER BY n;
SELECT ROW_NUMBER() OVER (ORDER BY SUM(v), g) AS n FROM t GROUP BY g ORDER BY g;
SELECT SUM(SUM(v)) OVER (ORDER BY g) AS s, RANK() OVER (ORDER BY COUNT(*)) AS r, (SELECT MAX(w) FROM u WHERE u.t = t.g) AS w FROM t GROUP BY g ORDER BY g;
SELECT id, (SELECT ROW_NUMBER() OVER (ORDER BY u.w) FROM u WHERE u.t = t.id ORDER BY u.id DESC LIMIT 1) AS n FROM t ORDER BY id;
SELECT id, (SELECT SUM(t.v + u.w) OVER () FROM u WHERE u.t = t.id LIMIT 1) AS n FROM t ORDER BY id;
SELECT DISTINCT COUNT(*) OVER (PARTITION BY g) AS n FROM t ORDER BY n;
SELECT NTH_VALUE(v, 2) OVER w AS a, LEAD(s, 1, 'none') OVER w AS b, NTILE(2) OVER w AS c FROM t WINDOW w AS (ORDER BY id) ORDER BY id;
INSERT INTO u (id, t, w) SELECT id, v, ROW_NUMBER() OVER (ORDER BY id) FROM t WHERE id < 3 ON DUPLICATE KEY UPDATE w = u.w + 1000;
SELECT * FROM u ORDER BY id;
-- Rows that found no room in memory.
SET tmp_table_size = 1024, sort_buffer_size = 32768;
CREATE TABLE many (id INT PRIMARY KEY, g INT, v INT, pad VARCHAR(100));
INSERT INTO many WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, i % 7, i * 7919 % 1000, REPEAT('x', i % 90) FROM n;
SELECT COUNT(*), SUM(r), SUM(r * g), SUM(n * id), SUM(LENGTH(pad) * d) FROM
  (SELECT id, g, pad, RANK() OVER (PARTITION BY g ORDER BY v) AS r, ROW_NUMBER() OVER (ORDER BY v DESC, id) AS n, DENSE_RANK() OVER (ORDER BY v DIV 10) AS d FROM many) x;
SELECT SUM(r) FROM (SELECT RANK() OVER (PARTITION BY g ORDER BY v) AS r FROM many) x;
SELECT SUM(s * 3) FROM (SELECT SUM(v) OVER (ORDER BY id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS s FROM many) x;
