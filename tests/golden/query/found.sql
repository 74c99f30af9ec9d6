-- What the differential runner found (tests/differential): a few statements of each cause.
CREATE TABLE t (id INT PRIMARY KEY, i TINYINT, u TINYINT UNSIGNED, b BIT(6), y YEAR, f FLOAT, d DECIMAL(10,2), c CHAR(8), v VARCHAR(20), x BINARY(4), tt TINYTEXT, tx TEXT, e ENUM('one','two','three'), s SET('a','b'), da DATE, dt DATETIME(3), ti TIME(2));
INSERT INTO t VALUES (1, -5, 5, 5, 2006, 0.1, 1.5, 'ab', '12', 'ab', 'tiny', 'text', 'two', 'a,b', '2024-01-02', '2024-01-02 03:04:05.678', '-10:11:12.25'), (2, NULL, 200, 63, 0, 2.5, -3, 'B', 'x', '', '', 'T', 'one', '', '2000-12-31', '1999-12-31 23:59:59.999', '12:00:00');
-- Common types.
SELECT i FROM t UNION ALL SELECT u FROM t;
-- sort
SELECT b FROM t UNION ALL SELECT i FROM t;
-- sort
SELECT b FROM t UNION ALL SELECT u FROM t;
-- sort
SELECT y FROM t UNION ALL SELECT y FROM t;
-- sort
SELECT y FROM t UNION ALL SELECT i FROM t;
-- sort
SELECT f FROM t UNION SELECT i FROM t;
-- sort
SELECT f FROM t EXCEPT SELECT d FROM t;
-- sort
SELECT c FROM t UNION SELECT x FROM t;
-- sort
SELECT c FROM t UNION SELECT e FROM t;
-- sort
SELECT x FROM t UNION SELECT y FROM t;
-- sort
SELECT tt FROM t UNION SELECT tx FROM t;
-- sort
SELECT e FROM t UNION SELECT NULL;
SELECT IFNULL(i, u), IFNULL(b, i), COALESCE(y, i), IFNULL(f, y), IFNULL(f, i), COALESCE(c, e), IFNULL(x, 5), IFNULL(NULL, e), IF(FALSE, s, NULL) FROM t ORDER BY id;
SELECT ELT(2, 'q', s), ELT(1, e) FROM t ORDER BY id;
SELECT v COLLATE utf8mb4_general_ci FROM t EXCEPT SELECT v COLLATE utf8mb4_bin FROM t;
-- Numbers of dates, years, bits and enumerations.
SELECT -da, ABS(dt), FLOOR(ti), -ti, ROUND(dt), TRUNCATE(dt, 1), CEILING(ti) FROM t ORDER BY id;
SELECT ABS(b), ABS(y), MOD(b, 4), y + 1, y DIV 2, b * 2, ROUND(y, -1), TRUNCATE(b, -1), FLOOR(y) FROM t ORDER BY id;
SELECT ABS(e), -e, ROUND(s), SUM(e), AVG(e), STDDEV_POP(e), VAR_SAMP(s), BIT_OR(e) FROM t GROUP BY id ORDER BY id;
SELECT CAST(y AS DATE), CAST(y AS DATETIME), CAST(y AS TIME), DATE(y), TIME(y) FROM t WHERE id = 1;
SELECT WEEK('2024-01-02', -1), WEEK('2024-01-02', 7), WEEK('2024-01-02', -3);
SELECT INET_NTOA(4294967296);
SELECT SEC_TO_TIME(9999999), SEC_TO_TIME(-9999999.5);
SELECT MAKETIME(9999, 2, 3);
SELECT REGEXP_REPLACE('abc', 'b', x'4142');
SELECT QUOTE(tx), QUOTE(x), QUOTE(v) FROM t ORDER BY id;
SELECT REPEAT('a', -1), LPAD('a', -1, 'b'), RPAD(v, 5, 'z'), LPAD(v, NULL, 'a') FROM t ORDER BY id;
-- Digits behind the point.
SELECT MAX(IF(FALSE, 1.5, id)), MIN(IFNULL(i, 2.25)) FROM t;
SELECT id, LAG(d, 1, 5) OVER (ORDER BY id), SUM(d) OVER (ORDER BY id DESC), LEAD(i, 1, 0.5) OVER (ORDER BY id) FROM t ORDER BY id;
-- Windows keep their values in a temporary table.
SELECT LAG(c) OVER w, LAG(x) OVER w, LAG(tt) OVER w, LAG(tx) OVER w, LAG(e) OVER w, LAG(y) OVER w, FIRST_VALUE(s) OVER w, MAX(e) OVER w, STDDEV_POP(e) OVER w, SUM(e) OVER w FROM t WINDOW w AS (ORDER BY id) ORDER BY id;
-- A number among the bounds makes numbers of all.
SELECT id FROM t WHERE 'null' BETWEEN FALSE AND v ORDER BY id;
SELECT id FROM t WHERE v BETWEEN 3 AND '7' ORDER BY id;
SELECT id FROM t WHERE v BETWEEN '1' AND 20 ORDER BY id;
-- Constants order nothing.
SELECT id FROM t ORDER BY '2023-01-31' + 0, id;
SELECT id FROM t ORDER BY CAST('x' AS SIGNED), id DESC;
-- hide warnings
SELECT id FROM t WHERE ti > '99:99' AND id = 2;
-- INSERT: the order of conditions, NULL in columns that cannot be.
CREATE TABLE n (id INT NOT NULL PRIMARY KEY, a INT NOT NULL, e ENUM('one','two') NOT NULL, j JSON NOT NULL, v VARCHAR(3) NOT NULL);
INSERT INTO n (id, a) VALUES (1, 'x'), (2, 3);
INSERT INTO n (id, a, v) VALUES (1, 2, 'long'), (2, 3, 'x');
INSERT INTO n (id, a, v) VALUES (1, NULL, 'long'), (2, 3, 'x');
INSERT INTO n (v, id, a) VALUES ('long', NULL, 3);
INSERT IGNORE INTO n (id, a, e, v) VALUES (1, NULL, NULL, 'long'), (2, NULL, 'two', NULL), (3, 'x', NULL, 'a');
SELECT id, a, e, e + 0, j, v FROM n ORDER BY id;
UPDATE IGNORE n SET e = NULL, j = NULL WHERE id = 2;
SELECT id, a, e, e + 0, j, v FROM n ORDER BY id;
SET sql_mode = '';
INSERT INTO n (id, a, e) VALUES (4, NULL, NULL), (5, NULL, NULL);
INSERT INTO n (id, a) VALUES (6, NULL);
INSERT INTO n (id, v) VALUES (7, 'abc');
SELECT id, a, e, e + 0, j, v FROM n WHERE id > 3 ORDER BY id;
SET sql_mode = DEFAULT;
-- A warning of an expression is an error in a strict change.
INSERT INTO n (id, a, e, j, v) VALUES (8, CAST('1x' AS SIGNED), 'one', '1', 'a');
INSERT INTO n (id, a, e, j, v) VALUES (8, 1, 'one', '1', 'a'), (9, LN(0), 'one', '1', 'a');
UPDATE n SET a = 'y' + 1;
UPDATE n SET a = 5 WHERE '7z' = id;
DELETE FROM n WHERE 'a' >= TRUE;
-- hide warnings
DELETE IGNORE FROM n WHERE 'a' >= TRUE;
INSERT IGNORE INTO n (id, a, e, j, v) VALUES (8, CAST('1x' AS SIGNED), 'one', '1', INET_NTOA(4294967296));
-- Duplicates that IGNORE counts, and REPLACE of a row by itself.
INSERT IGNORE INTO n (id, a, e, j, v) VALUES (1, 1, 'one', '1', 'a'), (20, 1, 'one', '1', 'a'), (20, 1, 'one', '1', 'b') ON DUPLICATE KEY UPDATE a = 77;
CREATE TABLE r (id INT PRIMARY KEY, a INT, UNIQUE (a));
REPLACE INTO r VALUES (1, 1), (2, 2), (1, 1), (2, 3);
CREATE TABLE q (id INT PRIMARY KEY, a INT);
REPLACE INTO q VALUES (1, 1), (2, 2), (1, 1), (2, 3);
-- A row that breaks a check takes no number; a negative number is told as it is.
CREATE TABLE g (id INT AUTO_INCREMENT PRIMARY KEY, a INT, CHECK (a < 10));
INSERT IGNORE INTO g (a) VALUES (50), (1), (60), (2);
INSERT INTO g (a) VALUES (3);
INSERT INTO g VALUES (-120, 5);
SELECT id, a FROM g ORDER BY id;
-- Out of range, and no time at all.
CREATE TABLE m (t TIME, b BIT(6));
INSERT IGNORE INTO m VALUES ('99:99', 64), ('x', 1);
INSERT INTO m VALUES ('99:99', 1);
UPDATE m SET t = '1:1' WHERE !(1);
SELECT t, b + 0 FROM m;
-- Zero dates where a real one is asked for.
SET sql_mode = '';
CREATE TABLE z (d DATE, t DATETIME, p DATE, ti TIME(2));
INSERT INTO z VALUES ('0000-00-00', '0000-00-00', '2024-00-10', '10:00:00');
SELECT DAYOFWEEK(d), TO_DAYS(p), WEEK(d, 1), DATEDIFF(d, '2024-01-01'), DATEDIFF('2024-01-01', p), TO_SECONDS(p), TIMESTAMPDIFF(MONTH, d, '2024-01-01'), TIMESTAMPDIFF(DAY, '2024-01-01', p), d + INTERVAL 1 DAY FROM z;
SELECT DAYOFWEEK('0000-00-00');
SELECT TO_DAYS('0000-00-00'), DATEDIFF('2024-01-01', '0000-00-00');
SELECT TO_SECONDS('0000-00-00');
SELECT TIMESTAMPDIFF(MONTH, '0000-00-00', '2024-01-01');
SELECT LAST_DAY(d), LAST_DAY(p), LAST_DAY('0000-00-00') FROM z;
SELECT SUM(ti), SUM(ti) OVER () FROM z GROUP BY ti;
SET sql_mode = DEFAULT;
-- A SET becomes text as an ENUM does, and a number where one is asked for.
CREATE TABLE w (id INT PRIMARY KEY, s SET('a','b','c'), e ENUM('x','y'));
INSERT INTO w VALUES (1, 'a,c', 'y'), (2, '', 'x'), (3, NULL, NULL);
ALTER TABLE w MODIFY s VARBINARY(16), MODIFY e INT;
SELECT id, s, e FROM w ORDER BY id;
-- Rows of different signs, strings under two collations, binary strings in regular expressions.
SELECT LAG(x, 1, 5) OVER (ORDER BY id), LEAD(u, 1, 1) OVER (ORDER BY id) FROM t ORDER BY id;
SELECT CAST(5 AS UNSIGNED) % 1.5, -5 % 1.5;
SELECT v COLLATE utf8mb4_general_ci AS a FROM t UNION SELECT v COLLATE utf8mb4_bin FROM t;
CREATE TABLE k (a VARCHAR(5) COLLATE utf8mb4_general_ci, b VARCHAR(5) COLLATE utf8mb4_0900_ai_ci);
SELECT a FROM k UNION SELECT b FROM k;
SELECT a FROM k INTERSECT SELECT b FROM k;
SELECT REGEXP_LIKE(NULL, x'41'), REGEXP_LIKE(x'41', NULL);
SELECT REGEXP_LIKE('a', x'41');
