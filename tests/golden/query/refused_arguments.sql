-- Arguments that a function or a clause does not take, and what the error says of them.
CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL);
INSERT INTO t VALUES (1, 10), (2, 20);
PREPARE p FROM 'SELECT a FROM t ORDER BY a LIMIT ?';
SET @n = 1;
EXECUTE p USING @n;
SET @n = -1;
EXECUTE p USING @n;
SET @n = 1.5;
EXECUTE p USING @n;
SET @n = '1';
EXECUTE p USING @n;
SET @n = NULL;
EXECUTE p USING @n;
SELECT NAME_CONST('x', 1), NAME_CONST('y', -1), NAME_CONST('z', NULL), NAME_CONST('w', 'v' COLLATE utf8mb4_bin);
SELECT NAME_CONST('x', NOW());
SELECT NAME_CONST('x', UPPER('a'));
SELECT NAME_CONST('x', 1 + 1);
SELECT NAME_CONST('x', TRUE);
SELECT NAME_CONST('x', -(-1));
SELECT NAME_CONST('x', DATE'2001-01-01');
SELECT NAME_CONST('x', -a) FROM t;
SELECT NAME_CONST(a, 1) FROM t;
SELECT NAME_CONST(CONCAT('x', 'y'), 1);
SELECT STATEMENT_DIGEST('SELECT a b c');
SELECT STATEMENT_DIGEST(CONCAT('SELECT a', ' b c'));
SET @s = 'SELECT a b c';
SELECT STATEMENT_DIGEST_TEXT(@s);
SELECT a AS b, 32 AS c FROM t HAVING DEFAULT(c) IS NULL;
-- hide warnings
SELECT GREATEST(1, _utf16'.', _utf8mb3'');
-- hide warnings
SELECT GREATEST(1.5, _utf16'.', _utf8mb3'');
-- hide warnings
SELECT GREATEST(NULL, 1, _utf16'.', _utf8mb3'');
-- hide warnings
SELECT LEAST(DATE'2001-01-01', _utf16'.', _utf8mb3'');
-- hide warnings
SELECT COALESCE(1, _utf16'.', _utf8mb3'');
-- hide warnings
SELECT ELT(1, _utf16'.', _utf8mb3'');
