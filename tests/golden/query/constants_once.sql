-- Constants that MySQL computes once while it plans: what it says of them comes once, and also where no row does.
CREATE TABLE t (id INT PRIMARY KEY, a DATE, b DATETIME, c TIME, d INT, e BIGINT, f VARCHAR(20), g DOUBLE, j JSON);
CREATE TABLE r (id INT PRIMARY KEY, a DATE, b DATETIME, c TIME, d INT, e BIGINT, f VARCHAR(20), g DOUBLE, j JSON);
INSERT INTO r VALUES (1, '2020-01-01', '2020-01-01', '10:00:00', 1, 1, 'a', 1, '1'), (2, '2020-01-02', '2020-01-02', '10:00:02', 2, 2, 'b', 2, '2'), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
-- literals that a condition compares with a column of numbers
SELECT id FROM t WHERE d = 'x';
SELECT id FROM r WHERE d = 'x';
SELECT id FROM r WHERE d < '1x';
SELECT id FROM r WHERE 'x' <> g;
SELECT id FROM t WHERE NOT (d <=> 'x');
SELECT id FROM t WHERE d = 'x' OR d = 3;
SELECT id FROM t WHERE IF(d = 'x', 1, 0);
SELECT id FROM t WHERE (d = 'x') IS TRUE;
SELECT id FROM t WHERE (d, g) = ('x', 1);
SELECT id FROM t GROUP BY id HAVING id = 'x';
SELECT t.id FROM t JOIN r ON r.d = 'x';
SELECT (SELECT MAX(id) FROM t WHERE d = 'x') FROM r;
SELECT id FROM r WHERE EXISTS (SELECT 1 FROM t WHERE d = 'x');
SELECT id FROM t WHERE d = '12' AND g = ' 5 ';
UPDATE t SET d = 1 WHERE d = 'z';
DELETE FROM t WHERE d = 'z';
INSERT INTO t (id) SELECT id FROM r WHERE d = 'z';
INSERT IGNORE INTO t (id) SELECT id FROM r WHERE d = 'z';
-- not where a constant beside it has decided the condition
SELECT id FROM t WHERE FALSE AND d = 'x';
SELECT id FROM t WHERE d = 'x' AND NULL;
SELECT id FROM r WHERE g = 'z' AND 1 = 2;
SELECT id FROM r WHERE g = 'z' OR 1 = 1;
SELECT id FROM r WHERE (1 = 2 AND g = 'z') OR id = 2;
-- nor those of an outer join, of the select list, and of operations
SELECT t.id FROM t LEFT JOIN r ON r.d = 'x';
SELECT r.id FROM r LEFT JOIN r s ON s.d = 'x';
SELECT d = 'x', 1 + 'x' FROM t;
SELECT id FROM t WHERE d = 1 + 'x';
-- what a BIGINT, a date or a time would hold, wherever it stands
SELECT e = 'x' FROM t;
SELECT id FROM t WHERE e = 'x' AND FALSE;
SELECT e BETWEEN NULL AND 'x' FROM t;
SELECT e BETWEEN NULL AND 'x' FROM r;
SELECT a FROM r WHERE a <> -3;
SELECT b < -3 FROM r;
SELECT a FROM r WHERE b BETWEEN NULL AND -2;
SELECT JSON_TYPE(j) FROM r WHERE c < CAST('"10:00:01"' AS JSON);
-- hide warnings
SELECT id FROM r WHERE c > JSON_ARRAY(1, 2);
-- the values of an IN that has nothing but texts
SELECT d IN ('x', 'y') FROM t;
SELECT d IN ('x', 'y') FROM r;
SELECT id FROM t WHERE d IN ('x', NULL);
SELECT id FROM t WHERE d IN ('x', 3);
-- once for each text, in whichever query it stands
CREATE VIEW v AS SELECT id, d FROM r WHERE d <> '1a' AND '2b' = 2;
SELECT id FROM v WHERE '4d' = 4;
SELECT id FROM v WHERE '4d' = 5 OR d = 2;
CREATE TABLE checked (d INT, e INT, CHECK (d IN (1, 2)), CHECK (e IN (3, 4)));
INSERT INTO checked VALUES (1, 3), (2, 4);
-- PREPARE says what is known by then, EXECUTE the rest
PREPARE p FROM 'SELECT id FROM t WHERE e = ''x'' AND 1 = ''1a''';
EXECUTE p;
PREPARE p FROM 'SELECT id FROM t WHERE d = ''x'' AND (1 = ''1a'' OR d)';
EXECUTE p;
EXECUTE p;
PREPARE p FROM 'SELECT id FROM r WHERE d IN (''1x'', ''y'') AND 1 = ''1a''';
EXECUTE p;
EXECUTE p;
PREPARE p FROM 'SELECT id FROM r WHERE REGEXP_LIKE(''a'', ''('')';
-- documents in BETWEEN
SELECT j BETWEEN 1 AND 2 FROM r;
DELETE FROM t WHERE 1 BETWEEN 0 AND j;
-- under no strict mode nothing is said of the rest that a time leaves out
SET sql_mode = '';
SELECT c = '2021-03-14 15:09:26.535' FROM r;
SELECT a < 20210314150926 FROM r;
SELECT c = '99:99' FROM r;
SELECT b < -3 FROM r;
SET sql_mode = DEFAULT;
UPDATE IGNORE r SET d = 1 WHERE a <= 20190314150926;
-- an operand that is NULL leaves what follows it unasked
SELECT f < ('x' + d) FROM r WHERE f IS NULL;
SELECT d DIV ('x' + id), e | ('x' + id), e << ('x' + id), POW(g, 'x'), STRCMP(f, 'x' + id), f LIKE ('x' + id) FROM r WHERE f IS NULL;
SELECT TIMEDIFF(NULL, STR_TO_DATE('a', '%H:%i:%s.%f')), TIMESTAMPDIFF(DAY, NULL, 'abc'), ('x' + 1) REGEXP NULL;
SELECT DATE_FORMAT('abc', NULL);
SELECT '00:00:00.000001' + INTERVAL (-1) HOUR;
-- numbers
SELECT CAST(12345678901234567890.123 AS SIGNED), HEX(12345678901234567890.123), x'4142' IN (1e0, 16706);
-- where a constant does not hold no row is read, and what LIMIT leaves out of sorted rows is not computed
SELECT COUNT(*) FROM r JOIN r s ON r.f WHERE 1 = 2;
SELECT COUNT(*) FROM r JOIN (SELECT id FROM r WHERE FALSE) q ON r.f;
SELECT r.id FROM r LEFT JOIN r s ON s.f WHERE NULL;
SELECT COUNT(*) FROM r WHERE REGEXP_LIKE(f, CONCAT(f, '(')) AND 2 < 1;
SELECT f + 0 FROM r ORDER BY g DESC LIMIT 1;
SELECT f + 0, f FROM r ORDER BY g DESC, id LIMIT 1 OFFSET 1;
SELECT id FROM r ORDER BY f + 0, id LIMIT 1 OFFSET 2;
