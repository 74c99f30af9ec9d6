-- A match of plain texts takes a shorter way than one with flags, and finds the same.
CREATE TABLE s (id INT PRIMARY KEY, s VARCHAR(60), b VARCHAR(60) COLLATE utf8mb4_bin, l VARCHAR(60) CHARACTER SET latin1, n INT);
CREATE TABLE p (id INT PRIMARY KEY, p VARCHAR(60), b VARCHAR(60) COLLATE utf8mb4_bin, l VARCHAR(60) CHARACTER SET latin1);
INSERT INTO s VALUES (1, 'a quiet lake 15', 'a quiet lake 15', 'a quiet lake 15', 15), (2, 'LAKE 25\n', 'LAKE 25\n', 'LAKE 25\n', 25), (3, '', '', '', 0),
  (4, NULL, NULL, NULL, NULL), (5, 'ünder Ärger', 'ünder Ärger', 'ünder Ärger', -5), (6, 'a\r\nlake 5', 'a\r\nlake 5', 'a\r\nlake 5', 555),
  (7, 'lake 5\nlake 6', 'lake 5\nlake 6', 'lake 5\nlake 6', 1), (8, '日本 lake 5', '日本 lake 5', 'x', 2), (9, 'aaaa', 'aaaa', 'aaaa', 3);
INSERT INTO p VALUES (1, 'lake [0-9]+5$', 'lake [0-9]+5$', 'lake [0-9]+5$'), (2, '^lake', '^lake', '^lake'), (3, 'ä', 'ä', 'ä'), (4, '.', '.', '.'),
  (5, NULL, NULL, NULL), (6, '5$', '5$', '5$'), (7, '^$', '^$', '^$'), (8, '(a)\\1', '(a)\\1', '(a)\\1'), (9, '[[:alpha:]]{2} ', '[[:alpha:]]{2} ', '[[:alpha:]]{2} ');
SELECT COUNT(*), SUM(s.s REGEXP p.p), SUM(s.b REGEXP p.b), SUM(s.l REGEXP p.l) FROM s, p;
SELECT s.id, p.id FROM s, p WHERE NOT (s.s REGEXP p.p <=> REGEXP_LIKE(s.s, p.p, '')) ORDER BY s.id, p.id;
SELECT s.id, p.id FROM s, p WHERE NOT (s.b REGEXP p.b <=> REGEXP_LIKE(s.b, p.b, '')) ORDER BY s.id, p.id;
SELECT s.id, p.id FROM s, p WHERE NOT (s.l REGEXP p.l <=> REGEXP_LIKE(s.l, p.l, '')) ORDER BY s.id, p.id;
SELECT id FROM s WHERE s REGEXP 'lake [0-9]*5$' ORDER BY id;
SELECT id FROM s WHERE b REGEXP 'lake' ORDER BY id;
SELECT id FROM s WHERE l REGEXP 'ärger' ORDER BY id;
SELECT id, n REGEXP '5$' FROM s ORDER BY id;
SELECT s REGEXP '' FROM s;
SELECT s REGEXP NULL FROM s WHERE id = 1;
SELECT s REGEXP '(' FROM s WHERE id = 4;
SELECT s REGEXP '(' FROM s WHERE id = 1;
SELECT COUNT(DISTINCT UPPER(s)), COUNT(DISTINCT s, b), SUM(DISTINCT n), MIN(DISTINCT n), MAX(s), MIN(b) FROM s;
