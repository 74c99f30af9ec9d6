-- ENUM, SET and BIT: members, numbers, order, bad values
CREATE TABLE e (id INT PRIMARY KEY AUTO_INCREMENT, e ENUM('small', 'Medium', 'large', ''), s SET('a', 'b', 'c', 'd'), b BIT(10), b1 BIT, n ENUM('x', 'y') NOT NULL DEFAULT 'y', KEY (e), KEY (s));
SHOW CREATE TABLE e;
INSERT INTO e (e, s, b, b1) VALUES ('small', 'a,b', b'1010', 1), ('MEDIUM', 'd,a', 1023, 0), (3, 5, x'3ff', b'1'), ('2', '3', '1', NULL), ('', '', 0, 0), (NULL, NULL, NULL, NULL);
SELECT id, e, s, b + 0, BIN(b), HEX(b), b1 + 0, n FROM e ORDER BY id;
SELECT id, e + 0, s + 0, e = 'SMALL', e = 1, s = 'a,b', s = 3, FIND_IN_SET('a', s), s & 1, LENGTH(e), CONCAT(e, '!'), e LIKE 's%', UPPER(s), b & 2, b = 10, CAST(e AS UNSIGNED), CAST(s AS CHAR) FROM e ORDER BY id;
SELECT e FROM e ORDER BY e, id;
SELECT s FROM e ORDER BY s DESC, id;
SELECT MIN(e), MAX(e), MIN(s), MAX(s), SUM(e), AVG(s), COUNT(DISTINCT e), BIT_OR(b), SUM(b), MAX(b) + 0, GROUP_CONCAT(e ORDER BY e) FROM e;
SELECT e, COUNT(*) FROM e GROUP BY e ORDER BY e;
SELECT id FROM e WHERE e IN ('large', 'small') ORDER BY id;
SELECT id FROM e WHERE e > 1 ORDER BY id;
SELECT id FROM e WHERE e > 'medium' ORDER BY id;
SELECT id FROM e WHERE s = 'b,a' ORDER BY id;
SELECT id FROM e WHERE b1 ORDER BY id;
SELECT id FROM e WHERE e = 'nothing';
INSERT INTO e (e) VALUES ('huge');
INSERT INTO e (e) VALUES (5);
INSERT INTO e (e) VALUES (0);
INSERT INTO e (s) VALUES ('a,x');
INSERT INTO e (s) VALUES (16);
INSERT INTO e (b) VALUES (1024);
INSERT INTO e (b) VALUES ('ab');
INSERT INTO e (b) VALUES ('abc');
INSERT INTO e (b) VALUES (-1);
INSERT INTO e (n) VALUES (NULL);
INSERT INTO e (s) VALUES ('a,a,b');
SET sql_mode = '';
INSERT INTO e (e, s, b) VALUES ('huge', 'a,x', 5000), (9, 99, -1);
SELECT id, e, e + 0, s, b + 0 FROM e WHERE id > 6 ORDER BY id;
SET sql_mode = DEFAULT;
UPDATE e SET e = e + 1 WHERE id = 1;
SELECT e FROM e WHERE id = 1;
UPDATE e SET s = s | 8, b = b + 1 WHERE id = 1;
SELECT s, b + 0 FROM e WHERE id = 1;
ALTER TABLE e MODIFY e ENUM('large', 'Medium', 'small', '', 'new');
SELECT id, e, e + 0 FROM e ORDER BY id;
ALTER TABLE e MODIFY e ENUM('large', 'Medium');
ALTER TABLE e MODIFY n VARCHAR(3);
SELECT id, n FROM e ORDER BY id LIMIT 2;
CREATE TABLE bad (a ENUM('a', 'A'));
-- differs: no error 1367
CREATE TABLE bad (a SET('a', 'b,c'));
CREATE TABLE bad (a ENUM());
CREATE TABLE bad (a ENUM('a') DEFAULT 'b');
CREATE TABLE bad (a BIT(65));
CREATE TABLE bad (a BIT(2) DEFAULT b'111');
-- differs: no error 3013
CREATE TABLE sp (a ENUM('a  ', 'b'), b ENUM('A', 'a') COLLATE utf8mb4_bin, c SET('x''y', "q\\z"), d BIT(0), e BIT(64) DEFAULT b'1');
-- differs: no error 1146
SHOW CREATE TABLE sp;
-- differs: another value
SELECT COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, COLUMN_DEFAULT FROM information_schema.COLUMNS WHERE TABLE_NAME = 'sp' ORDER BY ORDINAL_POSITION;
SELECT CASE WHEN e = 'new' THEN e ELSE s END, IFNULL(e, s), COALESCE(e, 1), e <=> NULL, e IS NULL FROM e ORDER BY id LIMIT 3;
SELECT b'0101', b'0101' + 0, HEX(b'11111111'), x'4D7953514C', 0x41, 0x0a + 0, X'41' = 'A', b'1' | b'10', 0b11 + 1, CHARSET(x'41'), HEX(b''), LENGTH(0x);
SELECT x'123';
SELECT 0x1G;
SELECT HEX(0x123), b'2';
