-- What gives one of several parameters has no type of its own: it takes that of its place
SET @i = 1, @seven = '7', @n = NULL, @d = 1.5, @text = 'abc';
PREPARE p FROM 'SELECT IFNULL(?, ?) + 1, COALESCE(?, ?, ?) + 1, GREATEST(?, ?) + 1, LEAST(?, ?) + 1';
EXECUTE p USING @i, @i, @n, @n, @i, @i, @i, @i, @i;
EXECUTE p USING @seven, @i, @n, @n, @seven, @seven, @i, @i, @seven;
EXECUTE p USING @n, @seven, @n, @i, @n, @i, @seven, @seven, @i;
PREPARE p FROM 'SELECT IF(1, ?, ?) + 1, CASE WHEN 1 THEN ? ELSE ? END + 1, NULLIF(?, ?) + 1';
EXECUTE p USING @i, @i, @i, @i, @i, @d;
EXECUTE p USING @seven, @i, @seven, @i, @seven, @i;
EXECUTE p USING @n, @i, @i, @n, @i, @i;
PREPARE p FROM 'SELECT ABS(IFNULL(?, ?)), SUM(IFNULL(?, ?)), IFNULL(?, ?) = 7, CONCAT(COALESCE(?, ?), 1)';
EXECUTE p USING @seven, @i, @seven, @i, @seven, @i, @n, @seven;
DEALLOCATE PREPARE p;
