-- GROUPING of an ENUM or a SET that is grouped by.
CREATE TABLE t (id INT PRIMARY KEY, se SET('p', 'q', 'r'), en ENUM('b', 'a'));
INSERT INTO t VALUES (1, 'p', 'a'), (2, 'q,r', 'b'), (3, NULL, NULL), (4, 'p', 'b');
SELECT se, GROUPING(se), COUNT(*) FROM t GROUP BY se WITH ROLLUP;
SELECT en, GROUPING(en), COUNT(*) FROM t GROUP BY en WITH ROLLUP HAVING GROUPING(en) = 0 OR COUNT(*) = 4;
-- sort
SELECT GROUPING(se, en), GROUPING(en), COUNT(*) FROM t GROUP BY se, en WITH ROLLUP;
SELECT GROUPING(se) FROM t GROUP BY en WITH ROLLUP;
