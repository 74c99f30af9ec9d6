-- A pattern of another collation than what it is looked for in is refused before there are rows.
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(9) COLLATE utf8mb4_general_ci, b VARCHAR(9) COLLATE utf8mb4_0900_ai_ci, l VARCHAR(5) CHARACTER SET latin1);
SELECT a REGEXP b FROM t;
SELECT REGEXP_LIKE(a, b, 'c') FROM t;
SELECT REGEXP_INSTR(a, b) FROM t;
SELECT REGEXP_SUBSTR(b, a) FROM t;
SELECT REGEXP_REPLACE(a, b, 'x') FROM t;
SELECT 1 FROM t WHERE FALSE AND a REGEXP b;
PREPARE p FROM 'SELECT a RLIKE b FROM t';
SELECT a REGEXP l, l REGEXP b, a REGEXP b COLLATE utf8mb4_bin, a REGEXP 'x', REGEXP_INSTR(a, 1) FROM t;
