-- A parameter may not say how a regular expression is matched.
PREPARE s FROM 'SELECT REGEXP_LIKE(''a'', ''b'', ?)';
PREPARE s FROM 'SELECT REGEXP_INSTR(''a'', ''b'', ?, ?, ?, ?)';
PREPARE s FROM 'SELECT REGEXP_SUBSTR(''a'', ''b'', ?, ?, ?)';
PREPARE s FROM 'SELECT REGEXP_REPLACE(''a'', ''b'', ''c'', ?, ?, ?)';
PREPARE s FROM 'SELECT REGEXP_LIKE(?, ?, ''c''), REGEXP_SUBSTR(?, ?, ?, ?), REGEXP_REPLACE(?, ?, ?, ?, ?)';
PREPARE s FROM 'SELECT REGEXP_LIKE(''A'', ''a'', CONCAT(?))';
SET @c = 'c';
EXECUTE s USING @c;
