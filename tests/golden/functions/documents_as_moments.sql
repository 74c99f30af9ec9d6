-- A document that is a time has no day, and one that is a day no time.
-- hide warnings
SELECT CAST(CAST(TIME'10:00:00' AS JSON) AS DATE), CAST(CAST(TIME'10:00:00' AS JSON) AS DATETIME), CAST(CAST(TIME'10:00:00' AS JSON) AS TIME);
-- hide warnings
SELECT CAST(CAST(DATE'2024-01-01' AS JSON) AS TIME), CAST(CAST(DATE'2024-01-01' AS JSON) AS DATETIME), CAST(CAST(TIMESTAMP'2024-01-01 10:00:00' AS JSON) AS TIME);
-- hide warnings
SELECT YEAR(CAST(TIME'10:00:00' AS JSON)), HOUR(CAST(DATE'2024-01-01' AS JSON));
SELECT JSON_VALUE(JSON_ARRAY(TIME'10:00:00'), '$[0]' RETURNING DATE), JSON_VALUE(JSON_ARRAY(DATE'2024-01-01'), '$[0]' RETURNING TIME);
-- Truth values stay such.
SELECT CAST(JSON_VALID('two') AS JSON), CAST(JSON_VALID('2') AS JSON), JSON_TYPE(CAST(JSON_CONTAINS('1', '1') AS JSON));
-- NULL comes before what is no document.
SELECT JSON_CONTAINS(NULL, '$.b'), JSON_OVERLAPS(NULL, 'a'), JSON_MERGE_PRESERVE(NULL, 'a');
-- The type is looked at when names are resolved, that of JSON_TABLE when a row comes.
CREATE TABLE t (id INT, f FLOAT, d DATE);
INSERT INTO t VALUES (1, 1, '2024-01-01');
SELECT JSON_VALUE(f, '$.a') FROM t WHERE 0;
SELECT JSON_VALUE(1, '$') FROM t WHERE 0;
SELECT 1 FROM t JOIN JSON_TABLE(d, '$[*]' COLUMNS (o INT PATH '$')) a ON NULL;
SELECT 1 FROM t JOIN JSON_TABLE(d, '$[*]' COLUMNS (o INT PATH '$')) a ON 1;
-- JSON_VALUE: an argument has its own errors, a text that is none a warning, bytes an error.
SELECT JSON_VALUE(CAST('12:30' AS JSON), '$');
SELECT JSON_VALUE('abc', '$'), JSON_VALUE('abc', '$' DEFAULT '1' ON ERROR);
SELECT JSON_VALUE(x'61', '$');
-- What is no array is no array of one for JSON_KEYS and JSON_SEARCH.
SELECT JSON_KEYS('{"a":1}', '$[0]'), JSON_KEYS('{"a":{"b":1}}', '$.a[last]'), JSON_KEYS('[{"b":1}]', '$[0]'), JSON_LENGTH('{"a":1}', '$[0]');
SELECT JSON_SEARCH('"x"', 'one', 'x', NULL, '$[0]'), JSON_SEARCH('["x"]', 'one', 'x', NULL, '$[0]'), JSON_SEARCH('{"a":"x"}', 'all', 'x', NULL, '$[0 to 1]');
