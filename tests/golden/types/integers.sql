-- Integer types: ranges, conversions on the way in, strict and not, arithmetic and its overflow
CREATE TABLE n (id INT PRIMARY KEY, t TINYINT, tu TINYINT UNSIGNED, s SMALLINT, su SMALLINT UNSIGNED, m MEDIUMINT, mu MEDIUMINT UNSIGNED, i INT, iu INT UNSIGNED, b BIGINT, bu BIGINT UNSIGNED);
INSERT INTO n VALUES (1, -128, 0, -32768, 0, -8388608, 0, -2147483648, 0, -9223372036854775808, 0);
INSERT INTO n VALUES (2, 127, 255, 32767, 65535, 8388607, 16777215, 2147483647, 4294967295, 9223372036854775807, 18446744073709551615);
SELECT * FROM n ORDER BY id;
INSERT INTO n (id, t) VALUES (3, 128);
INSERT INTO n (id, t) VALUES (3, -129);
INSERT INTO n (id, tu) VALUES (3, -1);
INSERT INTO n (id, tu) VALUES (3, 256);
INSERT INTO n (id, s) VALUES (3, 32768);
INSERT INTO n (id, su) VALUES (3, 65536);
INSERT INTO n (id, m) VALUES (3, 8388608);
INSERT INTO n (id, mu) VALUES (3, 16777216);
INSERT INTO n (id, i) VALUES (3, 2147483648);
INSERT INTO n (id, iu) VALUES (3, 4294967296);
INSERT INTO n (id, b) VALUES (3, 9223372036854775808);
INSERT INTO n (id, bu) VALUES (3, 18446744073709551616);
INSERT INTO n (id, bu) VALUES (3, -1);
INSERT INTO n (id, i) VALUES (3, '12abc');
INSERT INTO n (id, i) VALUES (3, 'abc');
INSERT INTO n (id, i) VALUES (3, '');
INSERT INTO n (id, i) VALUES (3, 1.5), (4, 2.5), (5, '1.5'), (6, 1.4999), (7, -0.5), (8, 1e2), (9, '1e2'), (10, ' 12 '), (11, TRUE), (12, x'3132'), (13, b'101'), (14, 0x10);
SELECT id, i FROM n WHERE id BETWEEN 3 AND 14 ORDER BY id;
SET sql_mode = '';
INSERT INTO n (id, t, tu, s, su) VALUES (20, 128, -1, 99999, 99999);
INSERT INTO n (id, i, iu, b, bu) VALUES (21, 9999999999, -5, 1e30, 1e30);
INSERT INTO n (id, t, i) VALUES (22, 'abc', '12abc'), (23, '300', '');
INSERT INTO n (id, i) VALUES (24, '9999999999999999999999');
SELECT id, t, tu, s, su, i, iu, b, bu FROM n WHERE id >= 20 ORDER BY id;
UPDATE n SET t = t + 1 WHERE id = 20;
-- differs: values instead of names in the message
UPDATE n SET tu = tu - 1 WHERE id = 20;
SET sql_mode = DEFAULT;
UPDATE n SET t = t + 1 WHERE id = 2;
-- differs: values instead of names in the message
UPDATE n SET tu = tu - 1 WHERE id = 1;
-- differs: values instead of names in the message
UPDATE n SET bu = bu - 1 WHERE id = 1;
-- differs: values instead of names in the message
UPDATE n SET b = -b WHERE id = 1;
-- differs: values instead of names in the message
SELECT bu - 1 FROM n WHERE id = 1;
-- differs: values instead of names in the message
SELECT b - 1 FROM n WHERE id = 1;
-- differs: values instead of names in the message
SELECT bu + 1 FROM n WHERE id = 2;
-- differs: values instead of names in the message
SELECT b * 2 FROM n WHERE id = 2;
-- differs: values instead of names in the message
SELECT -b FROM n WHERE id = 1;
-- differs: values instead of names in the message
SELECT ABS(b) FROM n WHERE id = 1;
-- differs: values instead of names in the message
SELECT iu - 1, tu - 1 FROM n WHERE id = 1;
-- differs: values instead of names in the message
SELECT i - 1, i + iu, t + tu, t * s, m - mu FROM n WHERE id IN (1, 2) ORDER BY id;
SET sql_mode = 'NO_UNSIGNED_SUBTRACTION';
-- differs: type of a column: MySQL's is LONGLONG
SELECT tu - 1, bu - 1 FROM n WHERE id = 1;
-- differs: type of a column: MySQL's is LONGLONG
SELECT CAST(1 AS UNSIGNED) - 2;
SET sql_mode = DEFAULT;
-- differs: values instead of names in the message
SELECT CAST(1 AS UNSIGNED) - 2;
SELECT 9223372036854775807 + 1;
SELECT 9223372036854775808 - 1, -9223372036854775808, -9223372036854775809, 18446744073709551615 + 0, 18446744073709551616 + 0;
SELECT 18446744073709551615 + 1;
SELECT 9223372036854775807 * 3;
SELECT 5 DIV 2, -5 DIV 2, 5 DIV -2, 5.5 DIV 2, 5 DIV 0, 5 MOD 3, -5 MOD 3, 5 MOD -3, 5.5 % 2, 5 % 0, 5 / 0;
-- differs: values instead of names in the message
SELECT -9223372036854775808 DIV -1;
SELECT 7 / 2, 1 / 3, 2 / 3, 10 / 5, 1e0 / 3, 0.1 / 3, 1 / 7 * 7;
SELECT 1 & 3, 1 | 2, 5 ^ 1, ~0, ~5, 1 << 63, 1 << 64, 8 >> 1, -1 >> 60, 5 & -1, '5' | 2, 2.5 | 0, 2.4 & 7;
SELECT 1 + '1', '3' * '4', '3a' + 1, 'a' + 1, '' + 1, '1e1' + 1, ' 5' + 1, '0x10' + 0, '.5' + 0, '-' + 0;
-- differs: no warning 1105
SELECT CAST('12abc' AS SIGNED), CAST('-5' AS UNSIGNED), CAST(-5 AS UNSIGNED), CAST(1.5 AS SIGNED), CAST(-1.5 AS UNSIGNED), CAST(1e20 AS SIGNED), CAST('99999999999999999999' AS SIGNED), CAST('99999999999999999999' AS UNSIGNED);
SELECT CAST(18446744073709551615 AS SIGNED), CAST('18446744073709551615' AS UNSIGNED), CAST(NULL AS SIGNED), CAST(TRUE AS SIGNED), CAST(DATE'2024-02-29' AS SIGNED), CAST(TIME'10:11:12.6' AS SIGNED);
CREATE TABLE z (a INT ZEROFILL, b INT(5) ZEROFILL, c BIGINT(3) UNSIGNED ZEROFILL, d INT(4), e BOOL, f BOOLEAN);
SHOW CREATE TABLE z;
INSERT INTO z VALUES (5, 5, 5, 5, TRUE, FALSE), (123456, 123456, 12345, 123456, 2, -1);
SELECT * FROM z ORDER BY a;
SELECT a + 0, CONCAT(a), CONCAT(b), c * 1 FROM z ORDER BY a;
SELECT MIN(b), MAX(c), SUM(b), AVG(e) FROM z;
INSERT INTO z (a) VALUES (-1);
-- differs: number of warnings
CREATE TABLE z2 AS SELECT b, b + 1 AS b1, e, -e AS ne, 5 AS five, 5000000000 AS big, NULL AS nul, 1 = 1 AS t FROM z WHERE FALSE;
-- differs: another value
SHOW CREATE TABLE z2;
CREATE TABLE bad (a INT(256));
CREATE TABLE bad (a TINYINT UNSIGNED AUTO_INCREMENT);
CREATE TABLE bad (a TINYINT DEFAULT 200);
CREATE TABLE bad (a INT DEFAULT 'x');
CREATE TABLE au (a TINYINT AUTO_INCREMENT PRIMARY KEY);
INSERT INTO au VALUES (126), (NULL);
INSERT INTO au VALUES (NULL);
INSERT INTO au VALUES (0);
SELECT * FROM au ORDER BY a;
SELECT * FROM n WHERE t = '127' OR t = 127.0 OR t = 1.27e2 ORDER BY id;
SELECT id FROM n WHERE iu > -1 AND id < 3 ORDER BY id;
SELECT id FROM n WHERE bu > -1 ORDER BY id;
SELECT id FROM n WHERE i = 2147483647.4;
SELECT id FROM n WHERE i IN ('2147483647', 2.5, NULL);
SELECT id FROM n WHERE i BETWEEN '1' AND '15x' ORDER BY id;
SELECT 1 = 1.0, 1 = '1', 1 = '1x', 1 = ' 1', '1' = '1.0', 1.0 = '1.00', 18446744073709551615 = -1, 9007199254740993 = '9007199254740993', 9007199254740993 = 9007199254740992e0;
SELECT 1 <=> NULL, NULL <=> NULL, NULL = NULL, 1 <> NULL, NOT NULL, NOT 0, NOT 5, NOT 'a', !0.5, -NULL, TRUE + TRUE;
SELECT 1 AND NULL, 0 AND NULL, 1 OR NULL, 0 OR NULL, 1 XOR NULL, 1 XOR 1, 'a' OR 1, '1' AND '0.5', 0.1 AND 1;
SELECT LEAST(1, 2.5, '3'), GREATEST(1, 2.5, '3'), GREATEST(1, NULL), LEAST('a', 1), GREATEST(18446744073709551615, -1), LEAST(-1, 18446744073709551615);
SELECT COALESCE(NULL, 1, 2.5), IFNULL(NULL, 1), IFNULL(1, 2.5), NULLIF(1, 1), NULLIF(1, '1'), NULLIF(1, 2), IF(NULL, 1, 2.5), IF(1, 1, 'a');
SELECT BIT_COUNT(255), BIT_COUNT(-1), BIT_COUNT('7'), BIT_COUNT(NULL), CONV(255, 10, 2), BIN(-1), OCT(64), HEX(255), HEX(-1), HEX('255');
-- differs: values instead of names in the message
SELECT ROUND(15, -1), ROUND(-15, -1), ROUND(14, -1), TRUNCATE(19, -1), ROUND(18446744073709551615, -1), ROUND(9223372036854775807, -19), FLOOR(5), CEIL(-5), SIGN(-3), SIGN(0), MOD(10, 3), POW(2, 10), POW(2, 63);
SELECT SUM(i), AVG(i), SUM(b), AVG(bu), MAX(bu), MIN(b), COUNT(t), SUM(t) / COUNT(t), BIT_AND(tu), BIT_OR(su), BIT_XOR(iu) FROM n WHERE id < 3;
