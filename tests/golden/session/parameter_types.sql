-- Parameters take their types from where they stand; a value of another type has the statement prepared anew.
CREATE TABLE t (i INT, u INT UNSIGNED, d DECIMAL(10,2), f DOUBLE, s VARCHAR(20), da DATE, dt DATETIME(3), j JSON);
INSERT INTO t VALUES (5, 5, 1.25, 1.5, 'abc', '2024-02-29', '2024-02-29 12:30:45.123', '[1]');
SET @int = 5, @negative = -5, @double = 1.5e0, @decimal = 1.25, @large = 9007199254740993, @null = NULL;
SET @digits = '7', @fraction = '1.5', @word = 'abc', @date = DATE'2024-02-29', @document = '[1]';

PREPARE p FROM 'SELECT ? + 0';
EXECUTE p USING @large;
EXECUTE p USING @digits;
EXECUTE p USING @decimal;
EXECUTE p USING @double;
EXECUTE p USING @digits;
EXECUTE p USING @null;
PREPARE p FROM 'SELECT ? + 0';
EXECUTE p USING @fraction;
PREPARE p FROM 'SELECT ? + 0';
EXECUTE p USING @word;
PREPARE p FROM 'SELECT ? + ?, -?';
EXECUTE p USING @int, @int, @int;
EXECUTE p USING @null, @decimal, @digits;

PREPARE p FROM 'SELECT d * ? FROM t';
EXECUTE p USING @decimal;
EXECUTE p USING @int;
EXECUTE p USING @fraction;

PREPARE p FROM 'SELECT CAST(? AS CHAR), CONVERT(?, CHAR), CAST(? AS SIGNED), CAST(? AS JSON)';
EXECUTE p USING @word, @word, @fraction, @document;
EXECUTE p USING @int, @double, @word, @int;

PREPARE p FROM 'SELECT IFNULL(?, 7)';
EXECUTE p USING @double;
PREPARE p FROM 'SELECT IFNULL(?, 7)';
EXECUTE p USING @decimal;
PREPARE p FROM 'SELECT IFNULL(?, 7)';
EXECUTE p USING @null;
EXECUTE p USING @int;
PREPARE p FROM 'SELECT IFNULL(i, ?) FROM t';
EXECUTE p USING @fraction;
EXECUTE p USING @int;

PREPARE p FROM 'WITH RECURSIVE r AS (SELECT ? n UNION ALL SELECT n + 1 FROM r WHERE n < 7) SELECT n FROM r';
EXECUTE p USING @int;

PREPARE p FROM 'SELECT i = ?, u = ?, d = ?, s = ? FROM t';
EXECUTE p USING @int, @int, @decimal, @word;
EXECUTE p USING @word, @negative, @word, @word;
PREPARE p FROM 'SELECT da = ?, dt > ? FROM t';
EXECUTE p USING @date, @date;
EXECUTE p USING @null, @date;
PREPARE p FROM 'SELECT i IN (?, ?), i BETWEEN ? AND ? FROM t';
EXECUTE p USING @int, @digits, @int, @digits;
PREPARE p FROM 'SELECT CASE ? WHEN 5 THEN ''five'' ELSE ? END';
EXECUTE p USING @int, @word;

PREPARE p FROM 'SELECT ?, ?';
EXECUTE p USING @int, @decimal;
-- differs: MySQL sends a text in a column of decimals
EXECUTE p USING @word, @word;
PREPARE p FROM 'SELECT ROUND(?), YEAR(?), CHAR_LENGTH(?), LEFT(?, ?)';
EXECUTE p USING @decimal, @date, @word, @word, @int;

PREPARE p FROM 'CREATE TABLE made AS SELECT ? a, ? b, ? c';
EXECUTE p USING @int, @decimal, @double;
SHOW CREATE TABLE made;
SELECT * FROM made;
PREPARE p FROM 'INSERT INTO t (i, s) VALUES (?, ?)';
EXECUTE p USING @fraction, @int;
EXECUTE p USING @word, @word;
PREPARE p FROM 'UPDATE t SET d = ?, dt = ? WHERE i = ?';
EXECUTE p USING @fraction, @date, @int;
SELECT i, s, d, dt FROM t;
PREPARE p FROM 'SELECT i FROM t ORDER BY i LIMIT ?';
EXECUTE p USING @int;

SET NAMES latin1;
SET @text = _latin1 x'E9';
PREPARE p FROM 'SELECT HEX(?), CHARSET(?), HEX(CONVERT(? USING utf8mb4))';
EXECUTE p USING @text, @text, @text;
