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
