-- FLOAT and DOUBLE: text of values, comparison, overflow
CREATE TABLE f (id INT PRIMARY KEY, a FLOAT, b DOUBLE, c FLOAT(10), e FLOAT(30), u DOUBLE UNSIGNED, g REAL, h DOUBLE PRECISION);
SHOW CREATE TABLE f;
INSERT INTO f VALUES (1, 1.1, 1.1, 0.1, 0.1, 1.5, 2.5, 3.5);
INSERT INTO f VALUES (2, 3.4e38, 1.7e308, -1e-30, 1e-300, 0, 1e15, 1e16);
INSERT INTO f VALUES (3, 123456789, 123456789012345678, 16777217, 9007199254740993, 1e14, 123456.789e3, -0.0);
SELECT * FROM f ORDER BY id;
INSERT INTO f (id, a) VALUES (4, 3.5e38);
INSERT INTO f (id, a) VALUES (4, 1e39);
-- differs: error 1264 instead of 1367
INSERT INTO f (id, b) VALUES (4, 1e309);
INSERT INTO f (id, b) VALUES (4, '1e400');
INSERT INTO f (id, u) VALUES (4, -1);
INSERT INTO f (id, b) VALUES (4, 'abc');
INSERT INTO f (id, b) VALUES (4, '1.5x');
INSERT INTO f (id, a, b) VALUES (4, '1.5', ' 2.5 '), (5, TRUE, NULL), (6, '1e3', '-1e-3');
SET sql_mode = '';
INSERT INTO f (id, a, b, u) VALUES (10, 1e39, '1e400', -5), (11, 'x', '5x', '-0');
SELECT id, a, b, u FROM f WHERE id >= 4 ORDER BY id;
SET sql_mode = DEFAULT;
SELECT id FROM f WHERE a = 1.1;
SELECT id FROM f WHERE b = 1.1;
SELECT id FROM f WHERE a = CAST(1.1 AS FLOAT);
SELECT a + 0, a * 1.0, a + b, a = b, a < b, a - 1.1, ROUND(a, 1), FORMAT(a, 3), CONCAT(a), CAST(a AS DOUBLE), CAST(a AS DECIMAL(10,5)), CAST(a AS CHAR) FROM f WHERE id = 1;
SELECT SUM(a), AVG(a), MIN(a), MAX(a), SUM(b), STD(c) FROM f WHERE id IN (1, 4);
SELECT 1e0, 1.5e0, 1e15, 1e16, 1e17, 1e-4, 1e-5, 1.0e-10, 123456789e5, 1e14 + 0.1e0, 1e22, 1e23, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324;
SELECT 1e308 * 10;
-- differs: values instead of names in the message
SELECT EXP(1000);
SELECT POW(10, 400);
-- differs: values instead of names in the message
SELECT -1e308 - 1e308;
SELECT 0e0 / 0e0, 1e0 / 0, LN(0), LN(-1), LOG(0), LOG2(-1), LOG10(0), LOG(1, 5), LOG(-2, 4), SQRT(-1), ACOS(2), ASIN(-2), MOD(5e0, 0);
-- differs: values instead of names in the message
SELECT SIN(0), COS(0), TAN(0), ASIN(1), ACOS(1), ATAN(1), ATAN(1, 2), ATAN2(-1, -1), COT(1), PI(), DEGREES(PI()), RADIANS(90), EXP(1), LN(EXP(2)), LOG2(8), LOG10(1000), LOG(2, 65536), POWER(2, 0.5), POW(-8, 1e0 / 3);
-- differs: values instead of names in the message
SELECT COT(0);
SELECT CAST(1.5 AS FLOAT), CAST('1.5abc' AS DOUBLE), CAST(1 AS REAL), CAST(123456789 AS FLOAT), CAST(1e39 AS FLOAT), CAST('x' AS FLOAT), CAST(1.1 AS FLOAT(24)), CAST(1.1 AS FLOAT(25));
SELECT CAST(1 AS FLOAT(54));
-- differs: no error 1690
SELECT CAST(1e300 AS SIGNED), CAST(-1e300 AS SIGNED), CAST(1.5e0 AS SIGNED), CAST(2.5e0 AS SIGNED), CAST(-0.5e0 AS SIGNED), CAST(1e19 AS UNSIGNED), CAST(1e20 AS UNSIGNED);
SELECT FLOOR(1.5e0), CEIL(-1.5e0), ROUND(1e20), ROUND(12345.6789e0, 2), ROUND(12345.6789e0, -2), TRUNCATE(1.999e0, 2), TRUNCATE(-1e20, 2), ABS(-1e0), SIGN(-1e-300), MOD(10.5e0, 3), 10.5e0 DIV 3, -10.5e0 % 3;
CREATE TABLE g AS SELECT a + 1 AS a1, a + a AS aa, b * 2 AS b2, SUM(a) OVER () AS s, ROUND(a, 2) AS r, IF(1, a, b) AS i, IF(1, a, 1) AS i2, CAST(a AS FLOAT) AS c, COALESCE(a, 1.5) AS co, MAX(a) OVER () AS mx, 1e0 AS l FROM f WHERE FALSE;
-- differs: another value
SHOW CREATE TABLE g;
CREATE TABLE bad (a FLOAT(54));
CREATE TABLE bad (a FLOAT(256,1));
CREATE TABLE bad (a DOUBLE(10));
CREATE TABLE k (a DOUBLE PRIMARY KEY, b FLOAT, KEY (b));
INSERT INTO k VALUES (0.1, 0.1), (-0.0, -0.0), (1e300, 1e30), (-1e300, -1e30), (1e-300, 1e-30);
INSERT INTO k VALUES (0, 5);
SELECT a, b FROM k ORDER BY a;
SELECT a FROM k ORDER BY b DESC;
SELECT a FROM k WHERE a > 0 ORDER BY a;
SELECT b FROM k WHERE b <= 0.1 ORDER BY b;
SELECT a FROM k WHERE a = '0.1';
