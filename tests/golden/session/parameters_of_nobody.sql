-- A parameter of a common table expression that nobody reads takes any value.
PREPARE p FROM 'WITH w AS (SELECT ?) SELECT TRUE';
SET @i = 3, @s = 'é', @d = 1.5, @n = NULL;
EXECUTE p USING @i;
EXECUTE p USING @s;
EXECUTE p USING @d;
EXECUTE p USING @n;
PREPARE p FROM 'WITH w AS (SELECT ? UNION SELECT ?) SELECT ?';
EXECUTE p USING @i, @s, @d;
EXECUTE p USING @s, @d, @i;
