-- Strings: lengths, padding, cutting, binary ones, comparison by collation
CREATE TABLE s (id INT PRIMARY KEY, c CHAR(5), v VARCHAR(5), b BINARY(5), vb VARBINARY(5), t TINYTEXT, tb TINYBLOB, l CHAR(5) CHARACTER SET latin1, u VARCHAR(5) CHARACTER SET utf8mb3, bn VARCHAR(5) COLLATE utf8mb4_bin);
SHOW CREATE TABLE s;
INSERT INTO s VALUES (1, 'ab', 'ab', 'ab', 'ab', 'ab', 'ab', 'ab', 'ab', 'ab'), (2, 'ab  ', 'ab  ', 'ab  ', 'ab  ', 'ab  ', 'ab  ', 'ab  ', 'ab  ', 'ab  '), (3, 'é€', 'é€', 'é', 'é', 'é', 'é', 'é€', 'é€', 'é€'), (4, '', '', '', '', '', '', '', '', '');
SELECT id, LENGTH(c), LENGTH(v), LENGTH(b), LENGTH(vb), LENGTH(t), LENGTH(l), LENGTH(u), CHAR_LENGTH(c), CHAR_LENGTH(l), HEX(b), HEX(l), HEX(c) FROM s ORDER BY id;
SELECT id FROM s WHERE c = 'ab' ORDER BY id;
SELECT id FROM s WHERE v = 'ab' ORDER BY id;
SELECT id FROM s WHERE v = 'AB  ' ORDER BY id;
SELECT id FROM s WHERE b = 'ab' ORDER BY id;
SELECT id FROM s WHERE b = CONCAT('ab', x'000000') ORDER BY id;
SELECT id FROM s WHERE bn = 'ab   ' ORDER BY id;
SELECT id FROM s WHERE l = 'AB ' ORDER BY id;
SELECT id FROM s WHERE v LIKE 'ab' ORDER BY id;
SELECT id FROM s WHERE v LIKE 'ab%' ORDER BY id;
INSERT INTO s (id, c) VALUES (10, 'abcdef');
INSERT INTO s (id, c) VALUES (10, 'abcde   ');
INSERT INTO s (id, v) VALUES (11, 'abcde   ');
INSERT INTO s (id, v) VALUES (12, 'abcdef');
INSERT INTO s (id, b) VALUES (12, 'abcdef');
INSERT INTO s (id, vb) VALUES (12, 'abcde ');
INSERT INTO s (id, l) VALUES (12, '日本');
INSERT INTO s (id, u) VALUES (12, '😀');
INSERT INTO s (id, t) VALUES (12, REPEAT('a', 256));
INSERT INTO s (id, t) VALUES (12, REPEAT('é', 127));
INSERT INTO s (id, v) VALUES (13, 12345), (14, 1.5), (15, DATE'2024-01-01' = 1), (16, TRUE), (17, x'616263'), (18, NULL);
INSERT INTO s (id, v) VALUES (19, 123456);
INSERT INTO s (id, v) VALUES (19, NOW());
SELECT id, v FROM s WHERE id > 9 ORDER BY id;
SET sql_mode = '';
INSERT INTO s (id, c, v, b, vb, l, u) VALUES (20, 'abcdef', 'abcdef', 'abcdef', 'abcdef', 'a日b', 'x😀y');
INSERT INTO s (id, v) VALUES (21, x'FF41');
SELECT id, c, v, b, vb, l, u FROM s WHERE id IN (20, 21) ORDER BY id;
-- differs: refused, 1231
SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH';
-- differs: another value
SELECT id, CONCAT('<', c, '>'), LENGTH(c), c = 'ab' FROM s WHERE id < 3 ORDER BY id;
SET sql_mode = DEFAULT;
CREATE TABLE bad (a CHAR(256));
CREATE TABLE bad (a VARCHAR(65536));
CREATE TABLE bad (a VARCHAR(20000));
CREATE TABLE bad (a VARCHAR(16383), b VARCHAR(10));
CREATE TABLE bad (a VARCHAR);
CREATE TABLE bad (a TEXT DEFAULT 'x');
CREATE TABLE bad (a BLOB DEFAULT 'x');
CREATE TABLE bad (a VARCHAR(5) DEFAULT 'abcdef');
CREATE TABLE bad (a CHAR(0) NOT NULL, b TEXT PRIMARY KEY);
CREATE TABLE bad (a VARCHAR(1000) PRIMARY KEY);
CREATE TABLE bad (a TEXT, KEY (a));
CREATE TABLE bad (a INT, KEY (a(3)));
CREATE TABLE bad (a VARCHAR(10), KEY (a(11)));
CREATE TABLE bad (a VARCHAR(5) CHARACTER SET klingon);
CREATE TABLE bad (a VARCHAR(5) COLLATE klingon_ci);
CREATE TABLE bad (a VARCHAR(5) CHARACTER SET latin1 COLLATE utf8mb4_bin);
CREATE TABLE sized (a TEXT(10), b TEXT(256), c TEXT(70000), d BLOB(100), e BLOB(17000000), f CHAR, g BINARY, h NCHAR(3), i NATIONAL VARCHAR(4), j CHAR(3) BINARY, k LONG, m LONG VARBINARY, n CHARACTER VARYING(7), o CHAR(0), p TEXT CHARACTER SET binary, q CHAR(4) CHARACTER SET binary, r VARCHAR(5) COLLATE utf8mb4_0900_as_cs);
SHOW CREATE TABLE sized;
SELECT 'a' = 'A', 'a' = 'á', 'a' = 'a ', 'ß' = 'ss', 'ae' = 'æ', 'a' COLLATE utf8mb4_bin = 'A', 'a' COLLATE utf8mb4_general_ci = 'á', 'a' COLLATE utf8mb4_general_ci = 'a ', 'ß' COLLATE utf8mb4_general_ci = 's', 'ß' COLLATE utf8mb4_unicode_ci = 'ss', 'a' COLLATE utf8mb4_0900_as_ci = 'á', 'a' COLLATE utf8mb4_0900_as_ci = 'A', 'a' COLLATE utf8mb4_0900_as_cs = 'A', 'a' COLLATE utf8mb4_0900_bin = 'a ';
SELECT _latin1'a' = _utf8mb4'A', _latin1 x'E9' = 'é', _latin1 x'E9' = 'É', _binary'a' = 'A', BINARY 'a' = 'A', CAST('a' AS BINARY) = 'a', x'61' = 'A', N'a' = 'A';
SELECT 'a' < 'b', 'B' < 'a', 'a' < 'B', 'Z' COLLATE utf8mb4_bin < 'a', '10' < '9', 10 < '9', 'a' < '', ' a' < 'a', 'é' BETWEEN 'e' AND 'f', 'z' < 'ä', 'abc' < 'abcd';
SELECT 'a' COLLATE utf8mb4_bin = 'a' COLLATE utf8mb4_general_ci;
-- differs: no error 1267
SELECT _latin1'a' COLLATE latin1_bin = _utf8mb4'a' COLLATE utf8mb4_bin;
SELECT 'a' COLLATE latin1_bin;
SELECT c = bn FROM s WHERE id = 1;
SELECT c = bn COLLATE utf8mb4_bin FROM s WHERE id = 1;
SELECT CONCAT(v, bn) FROM s WHERE id = 1;
SELECT CONCAT(c, l), CHARSET(CONCAT(c, l)), COLLATION(CONCAT(c, 'x')), COLLATION(CONCAT(bn, 'x')), COLLATION(l), COLLATION(CONCAT(l, 1)), CHARSET(b), COLLATION(CONCAT(b, 'x')) FROM s WHERE id = 1;
SELECT id FROM s WHERE c IN ('AB', 'x') ORDER BY id;
SELECT DISTINCT v FROM s WHERE id < 5 ORDER BY v;
SELECT v, COUNT(*) FROM s WHERE id < 5 GROUP BY v ORDER BY v;
SELECT MIN(v), MAX(v), GROUP_CONCAT(v ORDER BY v SEPARATOR '|'), COUNT(DISTINCT v) FROM s WHERE id < 5;
-- differs: name of a column
SELECT 'a' 'b' "c", "it's", 'it''s', 'it\'s', "say ""x""", '\0\b\n\r\t\Z\\\%\_\q', 'a\
b';
SELECT LENGTH('\0'), HEX('\Z'), '\%' LIKE '\%', '%' LIKE '\%', '\\' LIKE '\\\\', 'a_b' LIKE 'a\_b', 'axb' LIKE 'a\_b';
-- differs: name of a column
SELECT 'abc' LIKE 'A%', 'abc' LIKE BINARY 'A%', 'a%c' LIKE 'a|%c' ESCAPE '|', 'abc' LIKE '', '' LIKE '%', NULL LIKE 'a', 'a' LIKE NULL, 5 LIKE '5', 15 LIKE '1%', 'é' LIKE 'e', 'ß' LIKE 'ss', 'a' LIKE 'a ', 'é' LIKE '_', '😀' LIKE '_';
SELECT 'a' LIKE 'b' ESCAPE 'ab';
SELECT 'abc' RLIKE '^A', 'abc' REGEXP BINARY '^A', 'abc' NOT REGEXP 'b', REGEXP_LIKE('abc', 'B', 'c'), 'a\nb' REGEXP '^b', REGEXP_LIKE('a\nb', '^b', 'm');
SELECT STRCMP('a', 'A'), STRCMP('a', 'b'), STRCMP('b', 'a'), STRCMP('a', NULL), STRCMP('a' COLLATE utf8mb4_bin, 'A');
SELECT HEX(CAST('é' AS CHAR CHARACTER SET latin1)), HEX(CONVERT('é' USING latin1)), HEX(CONVERT('日' USING latin1)), HEX(CONVERT(_latin1 x'80' USING utf8mb4)), HEX(CONVERT('a' USING binary)), CONVERT('abc', CHAR(2)), CAST('abc' AS CHAR(2) CHARACTER SET ascii), CAST(x'C3A9' AS CHAR), CAST(1.50 AS CHAR), CAST('é' AS BINARY(3));
-- differs: name of a column
SELECT _latin1 x'FF', _ascii'a', _binary'é', HEX(_utf8mb3'é'), _utf8'é';
SET NAMES latin1;
SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection;
-- differs: another value
SELECT CHARSET('a'), COLLATION('a'), CHARSET(1), CHARSET(USER()), COLLATION(CONCAT(1, 2));
SET NAMES utf8mb4 COLLATE utf8mb4_bin;
SELECT 'a' = 'A', COLLATION('a'), @@collation_connection;
SET NAMES klingon;
SET NAMES latin1 COLLATE utf8mb4_bin;
SET NAMES utf8mb4;
SET CHARACTER SET latin1;
SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection;
SET NAMES DEFAULT;
