-- Rows in a list are compared under the collations of the row on the left.
CREATE TABLE t (id INT PRIMARY KEY, a INT, vc VARCHAR(20), vg VARCHAR(20) COLLATE utf8mb4_general_ci, vb VARCHAR(20) COLLATE utf8mb4_bin);
INSERT INTO t VALUES (1, 1, 'one', 'ONE', 'one'), (2, 1, 'straße', 'strasse', 'STRASSE'), (3, NULL, 'x', 'x', 'x');
SELECT id FROM t WHERE (a, vc) IN ((1, vg), (2, 'x')) ORDER BY id;
SELECT id FROM t WHERE (a, vg) IN ((1, vc), (2, 'x')) ORDER BY id;
SELECT id FROM t WHERE (a, vb) IN ((1, vc), (1, vg)) ORDER BY id;
SELECT id FROM t WHERE (a, vc) NOT IN ((1, vg), (2, UPPER(vg))) ORDER BY id;
SELECT id FROM t WHERE (a, vc) IN ((1, vg));
SELECT id FROM t WHERE (a, vc) IN ((1, vg COLLATE utf8mb4_bin), (2, 'x')) ORDER BY id;
DELETE FROM t WHERE (a, vc) IN ((1, vg), (2, 'x'));
SELECT id FROM t ORDER BY id;
