-- A BIT among strings is a string of bytes.
CREATE TABLE u (id INT, b5 BIT(5), ta VARCHAR(10), x VARBINARY(4));
INSERT INTO u VALUES (1, 65 & 31, 'x', 'q'), (2, 30, 'y', 'r');
SELECT HEX(CONCAT(b5)), HEX(CONCAT(b5, 'x')), HEX(CONCAT_WS(',', b5, ta)), HEX(GROUP_CONCAT(b5)), HEX(UPPER(b5)) FROM u GROUP BY id, b5, ta;
SELECT CONCAT(b5, ta), CONCAT(ta, x), GROUP_CONCAT(b5), IFNULL(b5, 'x'), LEFT(b5, 1), LPAD(b5, 3, 'x'), REPLACE(ta, 'x', b5) FROM u WHERE id > 5 GROUP BY id, b5, ta, x;
SELECT COLLATION(CONCAT(b5, ta)), COLLATION(CONCAT(ta, x)), COLLATION(REPLACE(ta, 'x', b5)), COLLATION(LPAD(b5, 3, 'x')) FROM u;
CREATE TABLE made SELECT CONCAT(b5, ta) a, CONCAT(ta, x) b, GROUP_CONCAT(b5) c, SPACE(NULL) d FROM u GROUP BY id, b5, ta, x;
SHOW CREATE TABLE made;
-- Names of outputs are cut.
SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' = 'b';
SELECT 'éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé' = 'b';
SELECT 'éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé';
-- Changes in place of a duplicate that break a CHECK, under IGNORE.
CREATE TABLE ch (id INT PRIMARY KEY, uc INT UNIQUE, CHECK (uc < 4));
INSERT INTO ch VALUES (1, 3), (2, 1);
INSERT IGNORE INTO ch VALUES (5, 3), (6, 1), (7, 9), (8, 0) ON DUPLICATE KEY UPDATE uc = uc + 1;
SELECT * FROM ch;
INSERT INTO ch VALUES (5, 3) ON DUPLICATE KEY UPDATE uc = uc + 1;
