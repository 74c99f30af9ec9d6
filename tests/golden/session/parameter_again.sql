-- A parameter in the place of a text is one again after it was a number.
PREPARE s FROM 'SELECT UPPER(?), SUBSTR(?, 2), LENGTH(?), STRCMP(?, "x")';
SET @a = -1;
EXECUTE s USING @a, @a, @a, @a;
SET @a = 'abc';
EXECUTE s USING @a, @a, @a, @a;
SET @a = 1.5;
EXECUTE s USING @a, @a, @a, @a;
SET @a = 7;
EXECUTE s USING @a, @a, @a, @a;
SET @a = 'xyz';
EXECUTE s USING @a, @a, @a, @a;
-- What a column was when a statement was prepared says nothing of what it is.
CREATE TABLE t (c INT, s VARCHAR(10));
INSERT INTO t VALUES (0, 'x'), (5, '5'), (7, 'abc');
PREPARE s FROM 'SELECT c, s FROM t WHERE c = ?';
SET @a = 5;
EXECUTE s USING @a;
ALTER TABLE t DROP COLUMN c, CHANGE s c VARCHAR(10), ADD s INT;
SET @a = 'abc';
EXECUTE s USING @a;
ALTER TABLE t DROP COLUMN s, CHANGE c s VARCHAR(10), ADD c INT FIRST;
-- hide warnings
EXECUTE s USING @a;
UPDATE t SET c = 5;
SET @a = 5;
EXECUTE s USING @a;
ALTER TABLE t DROP COLUMN c, CHANGE s c VARCHAR(10), ADD s INT;
EXECUTE s USING @a;
