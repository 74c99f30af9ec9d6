-- x'41' and b'101' are numbers where one is asked for: also where CASE, IF and NULLIF choose them, and beside a subquery's numbers
CREATE TABLE t (a INT, s VARCHAR(10), y YEAR, e ENUM('a', 'b'));
INSERT INTO t VALUES (65, 'A', 2024, 'b'), (NULL, NULL, NULL, NULL), (1, 'b', 1999, 'a');
SELECT x'41' < ALL (SELECT 1 UNION SELECT 2);
SELECT x'41' = ANY (SELECT 65), x'41' = ANY (SELECT 'A'), x'41' IN (SELECT 65);
SELECT a FROM t WHERE a IN (SELECT x'41');
SELECT a FROM t WHERE IF(1, x'41', 0);
SELECT a FROM t WHERE NULLIF(x'41', 0);
SELECT a FROM t WHERE CASE WHEN 1 THEN x'41' END;
SELECT a FROM t WHERE CASE WHEN 1 THEN x'41' ELSE 0 END;
SELECT a FROM t WHERE IF(1, b'1', 0);
SELECT IF(1, x'41', 0) + 0, COALESCE(x'41', 0) + 0, IFNULL(x'41', 0) + 0, CASE WHEN 1 THEN x'41' ELSE 0 END + 0, NULLIF(x'41', 0) + 0;
SELECT IF(a, x'41', 0) + 0, COALESCE(x'41', a) + 0, IFNULL(x'41', a) + 0, CASE WHEN a THEN x'41' ELSE 0 END + 0, NULLIF(x'41', a) + 0 FROM t;
SELECT SUM(IF(1, x'41', 0)), SUM(COALESCE(x'41')), MAX(IF(1, x'41', 0)) + 0 FROM t;
SELECT IF(1, IF(1, x'41', 0), 0) + 0, CASE WHEN 1 THEN IF(1, x'41', '1') END IS TRUE, NOT IF(1, x'41', 0), IF(1, x'41', 0) AND 1, IF(IF(1, x'41', 0), 1, 2), CASE WHEN IF(1, x'41', 0) THEN 1 ELSE 2 END, IF(1, x'41', 0) | 0;
SELECT IF(1, x'41', 0) = 65, 65 = IF(1, x'41', 0), IF(1, x'41', 0) BETWEEN 1 AND 70, IF(1, x'41', 0) IN (65, 3), IF(1, x'41', 0) IN (65), ABS(IF(1, x'41', 0)), -IF(1, x'41', 0);
SELECT IF(a, x'41', NULL), IFNULL(s, x'42'), CONCAT(IFNULL(s, x'42')), CASE a WHEN 65 THEN x'41' ELSE s END FROM t;
-- b'101' has a sign
SELECT x'41' = b'1000001', b'1' - 2, b'1' - 2.5, -b'1', ~b'1', b'1' + 0, b'1' * 2, b'1' DIV 1, b'1' / 2, b'1' & 3, ABS(b'1'), ROUND(b'11'), SUM(b'11'), b'11' % 2, SQRT(b'100');
SELECT 0b11 - 4, 0x03 - 2, b'' + 0;
SELECT 0x03 - 4.5;
SELECT b'1111111111111111111111111111111111111111111111111111111111111111' + 0;
CREATE TABLE c AS SELECT b'1' a, x'41' b, IF(1, b'1', b'0') d, COALESCE(b'1') e, CAST(b'1' AS BINARY(3)) f, MAX(b'1') g;
SHOW CREATE TABLE c;
-- Beside years
SELECT CAST(x'07E8' AS YEAR), CAST(x'41' AS YEAR);
SELECT CAST(e AS YEAR) FROM t;
SELECT CAST('12abc' AS YEAR), CAST('' AS YEAR), CAST(' 5' AS YEAR), CAST('1.9' AS YEAR), CAST('99999' AS YEAR), CAST('abc' AS YEAR), CAST('0' AS YEAR), CAST('0000' AS YEAR), CAST(1.5 AS YEAR), CAST(-1 AS YEAR);
SELECT a FROM t WHERE y IN (x'07E8', 1999);
SELECT a FROM t WHERE y IN (x'07E8');
SELECT a FROM t WHERE y IN (x'18', 1);
