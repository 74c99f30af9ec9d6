-- Strings of one character set under different collations, together: none of these holds, and the binary one is used.
CREATE TABLE c (a VARCHAR(10) COLLATE utf8mb4_0900_ai_ci, b VARCHAR(10) COLLATE utf8mb4_general_ci, c VARCHAR(10) COLLATE utf8mb4_bin, l VARCHAR(10) CHARACTER SET latin1, g VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_general_ci, m VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_bin, x VARBINARY(10), i INT);
INSERT INTO c VALUES ('a', 'b', 'c', 'l', 'g', 'm', 'x', 1);
SELECT CONCAT(a, b), CONCAT(a, b, c), CONCAT(a, b, 'x'), CONCAT_WS(a, b, c), CONCAT(CONCAT(a, b), 'x') FROM c;
SELECT COLLATION(CONCAT(a, b)), COLLATION(CONCAT(a, c)), COLLATION(CONCAT(l, g)), COLLATION(CONCAT(l, m)), COLLATION(CONCAT(a, l)), COLLATION(CONCAT(b, l)) FROM c;
SELECT COERCIBILITY(CONCAT(a, c)), COERCIBILITY(CONCAT(l, m)), COERCIBILITY(CONCAT(a, l)) FROM c;
SELECT COALESCE(a, b), IFNULL(a, b), IF(1, a, b), CASE WHEN 1 THEN a ELSE b END, GREATEST(a, b), LEAST(a, b), ELT(1, a, b) FROM c;
SELECT COLLATION(COALESCE(a, b)), COLLATION(IF(1, a, b)), COLLATION(CASE WHEN 1 THEN a ELSE b END), COLLATION(GREATEST(a, b)), COLLATION(ELT(1, a, b)), COLLATION(MAKE_SET(1, a, b)) FROM c;
SELECT MAKE_SET(3, a, b), UPPER(CONCAT(a, b)), LEFT(CONCAT(a, b), 1), HEX(CONCAT(a, b)), FIELD(a, b), INSTR(a, b), LOCATE(a, b), POSITION(a IN b) FROM c;
SELECT GROUP_CONCAT(a, b), GROUP_CONCAT(CONCAT(a, b)) FROM c;
SELECT CONCAT(a, b) FROM c ORDER BY 1;
SELECT CONCAT(a COLLATE utf8mb4_bin, b) FROM c;
SELECT CONCAT(a COLLATE utf8mb4_bin, b COLLATE utf8mb4_general_ci) FROM c;
SELECT NULLIF(a, b) FROM c;
SELECT FIND_IN_SET(a, b) FROM c;
SELECT STRCMP(a, b) FROM c;
SELECT a LIKE b FROM c;
SELECT a = b FROM c;
SELECT a IN (b) FROM c;
SELECT a IN (b, c) FROM c;
SELECT a BETWEEN b AND c FROM c;
SELECT MAX(CONCAT(a, b)) FROM c;
SELECT a FROM c UNION SELECT b FROM c;
-- The first argument says what the result is under.
SELECT COLLATION(LPAD(a, 5, b)), COLLATION(RPAD(a, 5, b)), COLLATION(INSERT(a, 1, 1, b)), COLLATION(REPLACE(a, b, c)), COLLATION(SUBSTRING_INDEX(a, b, 1)), COLLATION(TRIM(a FROM b)), COLLATION(LTRIM(b)) FROM c;
SELECT LPAD(a, 5, b), RPAD(a, 5, b), INSERT(a, 1, 1, b), REPLACE(a, 'a', b), SUBSTRING_INDEX(a, b, 1), TRIM(a FROM b) FROM c;
SELECT COLLATION(INSERT('x', 1, 1, b)), COLLATION(LPAD('x', 2, b)), COLLATION(TRIM('x' FROM b)), COLLATION(TRIM(b FROM 'x')), COLLATION(LPAD(l, 5, a)), COLLATION(REPLACE(l, a, a)), COLLATION(LPAD(_latin1'a', 5, 'b')) FROM c;
SELECT COLLATION(REPLACE(i, b, 'x')), COLLATION(REPLACE(NULL, b, 'x')), COLLATION(REPLACE(x, b, 'x')), COLLATION(REPLACE(b, x, 'x')), COLLATION(LPAD(x, 5, b)), COLLATION(LPAD(b, 5, x)), COLLATION(INSERT(x, 1, 1, b)) FROM c;
SELECT COERCIBILITY(LPAD(a, 5, b)), COERCIBILITY(REPLACE(a, b, c)), COERCIBILITY(REPLACE('x', a, 'x')) FROM c;
SELECT REPLACE(a COLLATE utf8mb4_bin, b COLLATE utf8mb4_general_ci, 'x') FROM c;
CREATE TABLE made SELECT CONCAT(a, b) ab, CONCAT(l, g) lg, CONCAT(a, c) ac, LPAD(l, 5, a) la FROM c;
SHOW CREATE TABLE made;
-- Collations that compare by code points hold beside all others of their set.
SELECT JSON_VALUE('{"a":"b"}', '$.a') = 'B', COLLATION(JSON_VALUE('{"a":"b"}', '$.a')), COLLATION(JSON_VALUE('{"a":"b"}', '$.a' RETURNING CHAR(5))), JSON_TYPE('1') = 'integer', COLLATION(JSON_TYPE('1'));
CREATE TABLE nb (a VARCHAR(5) COLLATE utf8mb4_0900_bin, b VARCHAR(5) COLLATE utf8mb4_0900_ai_ci, c VARCHAR(5) COLLATE utf8mb4_bin);
INSERT INTO nb VALUES ('a', 'A', 'a');
SELECT a = b, b = a, COLLATION(CONCAT(a, b)), COLLATION(CONCAT(c, b)) FROM nb;
SELECT a = c FROM nb;
