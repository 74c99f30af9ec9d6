-- Comments, literals, names, operators and their precedence
SELECT 1 /* comment */ + /* another */ 2;
SELECT 1 -- to the end
+ 2;
SELECT 1 # to the end
+ 2;
SELECT 1 --1;
-- differs: name of a column
SELECT /*! 1 + */ 2, /*!80000 3 + */ 4, /*!99999 5 + */ 6, /*!50000 7*/;
SELECT /*+ MAX_EXECUTION_TIME(1000) */ 1;
SELECT 1.5e3, 1e-2, .5, 5., 0x1F, 0b11, TRUE, FALSE, NULL, \N;
-- differs: name of a column
SELECT -1, +1, - -1, -+-1, !1, ~1 & 3, NOT 0;
SELECT 1 + 2 * 3, (1 + 2) * 3, 2 - 3 - 4, 8 / 4 / 2, 7 DIV 2 * 2, 1 | 2 & 3, 1 << 2 + 1, 5 & 4 = 4, 1 = 1 = 1, 3 > 2 > 1, 1 < 2 = 1, -2 ^ 1, 2 * 3 % 4;
SELECT 1 OR 0 AND 0, (1 OR 0) AND 0, NOT 1 OR 1, NOT 1 = 0, 1 XOR 1 OR 1, 1 BETWEEN 0 AND 2 AND 0, 1 IN (1) = 1, 'a' LIKE 'a' = 1, NULL IS NULL = 1, 1 IS TRUE IS TRUE;
SELECT 1 && 0, 1 || 0, 5 MOD 3, 5 % 3, 1 <> 2, 1 != 2, 1 <=> 1, 3 := 3;
-- differs: type of a column: MySQL's is VARBINARY
SELECT @a := 5, @a + 1, @a := @a * 2, @b;
SELECT @a, @A, @`a`, @'a', @"a";
SET @x = 1, @y = @x + 1, @`odd name` = 'v';
-- differs: type of a column: MySQL's is TEXT, VARBINARY
SELECT @x, @y, @`odd name`, @undefined;
SELECT CASE 1 WHEN 1 THEN 'one' WHEN 2 THEN 'two' END, CASE WHEN NULL THEN 1 END, CASE NULL WHEN NULL THEN 1 ELSE 2 END, IF(NULL, 1, 2), IFNULL(NULL, NULL), NULLIF(NULL, 1);
SELECT (1, 2) = (1, 2), (1, 2) < (1, 3), (1, NULL) = (1, 2), (1, 2) <=> (1, NULL), ROW(1, 2) IN ((1, 2), (3, 4)), (1, 2) <> (1, 2);
SELECT (1, 2) = (1, 2, 3);
SELECT (1, 2);
SELECT 1 IN (1, 2), 1 IN (NULL, 2), 1 NOT IN (2, NULL), NULL IN (1), 'a' IN ('A'), 1 IN ('1', 'x'), 1 IN ();
SELECT 1 BETWEEN 2 AND NULL, 1 BETWEEN NULL AND 0, NULL BETWEEN 1 AND 2, 'b' BETWEEN 'a' AND 'c', 2 NOT BETWEEN 1 AND 3;
SELECT 1 IS TRUE, NULL IS UNKNOWN, 0 IS NOT FALSE, 2 IS TRUE, 'a' IS TRUE, NULL IS NOT NULL;
-- differs: name of a column
SELECT 'a' AS `x y`, 'b' `z`, 'c' 'lit', 'd' "dbl", 'e' AS select_;
-- differs: name of a column
SELECT 1 AS `a``b`, 2 AS '', 3 AS ` `;
SELECT 1 AS select;
SELECT `a`.`b` FROM (SELECT 1 AS b) a;
SELECT b FROM (SELECT 1 AS b) AS a WHERE a.b = 1;
SELECT c FROM (SELECT 1 AS b) AS a;
SELECT * FROM (SELECT 1);
SELECT * FROM (SELECT 1 AS a, 2 AS a) d;
SELECT 1 FROM DUAL WHERE 1 = 0;
SELECT 1 WHERE 1;
SELECT 1 LIMIT 0;
SELECT 1 LIMIT -1;
SELECT 1 LIMIT 1.5;
SELECT 1 LIMIT 1 OFFSET 0;
SELECT 1 ORDER BY 2;
SELECT 1 GROUP BY 2;
SELECT 1 HAVING 0;
SELECT *;
SELECT 1,;
SELECT FROM t;
SELECT 1 1;
SELEC 1;
SELECT 'unclosed;
';
SELECT (1;
SELECT 1);
SELECT NOW(1, 2);
SELECT NOSUCH(1);
SELECT nosuch.f(1);
SELECT ABS();
SELECT ABS(1, 2);
SELECT CONCAT();
SELECT COUNT(), 1;
SELECT COUNT(DISTINCT);
SELECT SUM(SUM(1));
SELECT MAX(1) WHERE MAX(1) = 1;
SELECT 1 UNION SELECT 1, 2;
SELECT 1 UNION SELECT 2 ORDER BY 3;
-- differs: type of a column: MySQL's is LONGLONG
SELECT 1 AS a UNION SELECT 2 ORDER BY a DESC;
SELECT 1 AS a UNION SELECT 2 ORDER BY b;
-- differs: type of a column: MySQL's is LONGLONG
(SELECT 2) UNION (SELECT 1) ORDER BY 1 LIMIT 1;
SELECT 1 UNION ALL SELECT 'a' UNION ALL SELECT NULL;
-- differs: type of a column: MySQL's is LONGLONG
SELECT 1 INTERSECT SELECT 1;
-- differs: type of a column: MySQL's is LONGLONG
SELECT 1 EXCEPT SELECT 1;
VALUES ROW(1, 2), ROW(3, 4);
DO 1, SLEEP(0);
DO nosuch();
SELECT 18446744073709551616, 1e308, 123456789012345678901234567890, 0.000000000000000000000000000000000001, 1.0e0, 100000000000000000000e0;
-- differs: another value
SELECT 0xFFFFFFFFFFFFFFFFFF + 0;
SELECT DATE'2024-01-01' + 0, TIMESTAMP'2024-01-01 00:00:00.5' + 0, INTERVAL 1 DAY + '2024-01-01', '2024-01-01' + INTERVAL '1' DAY;
SELECT INTERVAL 1 DAY;
SELECT INTERVAL(5, 1, 3, 7), INTERVAL(NULL, 1), INTERVAL(5, 1, NULL);
SELECT EXTRACT(YEAR FROM '2024-01-01'), POSITION('b' IN 'abc'), SUBSTRING('abc' FROM 2 FOR 1), SUBSTR('abc', -2), TRIM(LEADING 'a' FROM 'aab'), MID('abc', 2, 1), OVERLAY;
SELECT CURRENT_USER, CURRENT_DATE IS NOT NULL, CURRENT_TIME() IS NOT NULL, LOCALTIME IS NOT NULL, UTC_DATE IS NOT NULL;
USE nosuch;
SELECT DATABASE(), SCHEMA();
SELECT * FROM nosuch.t;
SELECT * FROM `golden`.`nosuch`;
CREATE DATABASE ``;
CREATE TABLE `a/b.c` (`x.y` INT, `é` INT, `a b` INT);
SHOW CREATE TABLE `a/b.c`;
INSERT INTO `a/b.c` VALUES (1, 2, 3);
SELECT `a/b.c`.`x.y`, é, `a b` FROM `a/b.c`;
DROP TABLE `a/b.c`;
CREATE TABLE `trailing ` (a INT);
CREATE TABLE aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa (a INT);
CREATE TABLE t1 (a INT, A INT);
CREATE TABLE 1t (a INT);
SHOW TABLES;
SELECT 1 AS a FROM 1t;
DROP TABLE 1t;
SELECT 1e;
SELECT 1 AS 1a;
SELECT .1.2;
