-- In front of an integer blanks and tabs are passed over, and nothing else.
SELECT CAST('\n12' AS SIGNED), CAST('\t 12' AS SIGNED), CAST('\r12' AS UNSIGNED), CAST(' \n12' AS DECIMAL), '\n12' + 0;
-- hide warnings
SELECT '\n12' | 0, LEFT('abc', '\n2'), CHAR('\n65'), BIT_COUNT('\n3'), ELT('\n1', 'a'), '\n12' DIV 1, CAST('12\n' AS SIGNED);
-- hide warnings
SELECT '\n12' = 12, -'\n12', INTERVAL('\n2', 1, 3), DATE'2024-01-01' + INTERVAL '\n12' DAY;
CREATE TABLE t (i INT, d DECIMAL(5));
INSERT INTO t VALUES ('\n12', 1);
INSERT INTO t VALUES ('\t12', '\n1');
SELECT * FROM t;
