-- Values, types and warnings that differed where statements were compared with MySQL's.
SELECT SOUNDEX('Banana'), SOUNDEX('Quadratically'), SOUNDEX('Hello'), SOUNDEX('Pfister'), SOUNDEX('a'), SOUNDEX('aeiou'), SOUNDEX('Tymczak'), SOUNDEX('hh11nn'), SOUNDEX('bab'), SOUNDEX('BaBaBo'), SOUNDEX('cherry pie'), SOUNDEX('Ashcraft'), SOUNDEX('日本'), SOUNDEX(''), 'bab' SOUNDS LIKE 'bib';
SELECT MAKETIME(2, 1, -0.0000000001), MAKETIME(2, 1, -0.0000004), MAKETIME(2, 1, -1e-9), MAKETIME(2, 1, 59.9999999);
SELECT RPAD('é', 2, ''), LPAD('abc', 10, ''), RPAD('é', 1, ''), RPAD('é', 0, ''), LPAD('', 2, ''), RPAD(_binary'é', 3, ''), RPAD('a', 2, NULL);
SELECT JSON_LENGTH('{"a":1,"b":[1,2,{"c":"x"}]}', '$.b[*]'), JSON_LENGTH('{"a":1}', '$.b[*]'), JSON_LENGTH('[1,2,3]', '$[*]'), JSON_LENGTH('[1,2,3]', '$[0 to 1]'), JSON_LENGTH('[[1,2]]', '$[*]'), JSON_LENGTH('{"a":[1,2,3]}', '$.*');
SELECT JSON_LENGTH('[1,[2,3]]', '$**[0]'), JSON_LENGTH('{"a":{"b":1}}', '$**.b'), JSON_LENGTH('[[1,2],[3]]', '$[1 to 1]'), JSON_LENGTH('{"a":{"x":1,"y":2}}', '$.*'), JSON_LENGTH('[1,[2]]', '$[last]'), JSON_LENGTH('[1,2]', '$[5]'), JSON_LENGTH('1', '$'), JSON_LENGTH('{"a":1}', NULL), JSON_LENGTH(NULL, '$.a'), JSON_LENGTH('null', '$.*');
CREATE TABLE t (id INT PRIMARY KEY, d DECIMAL(10,2), i INT, f DOUBLE, s VARCHAR(10));
INSERT INTO t VALUES (1, 1, 1, 1, 'a'), (2, 2, 2, 2, 'b');
-- what CASE gives of decimals has all digits where it is kept
SELECT FIRST_VALUE(CASE WHEN FALSE THEN 0.1 ELSE id END) OVER w, LAST_VALUE(CASE WHEN FALSE THEN 0.1 ELSE id END) OVER w, NTH_VALUE(CASE WHEN FALSE THEN 0.1 ELSE id END, 1) OVER w, LAG(CASE WHEN FALSE THEN 0.1 ELSE id END) OVER w, LAG(IF(0, 0.1, id), 1, 7) OVER w, LEAD(IFNULL(id, 0.25)) OVER w, MAX(CASE WHEN FALSE THEN 0.1 ELSE id END) OVER w FROM t WINDOW w AS (ORDER BY id);
SELECT (SELECT IF(0, 0.001, id) FROM t LIMIT 1), IF(0, 0.001, id), (SELECT CASE WHEN t.id THEN t.id ELSE 0.5 END) FROM t;
SELECT id FROM t WHERE (d, 1.00) = (SELECT IF(0, 0.001, 1), 1);
-- a text without digits is no DECIMAL
SELECT d > '', d = '', f > '', i > '', d > ' ', d > '-', d > '1 ', d IN ('', '1'), d BETWEEN '' AND '2', d + 0 > '', COALESCE(d, 1) > '', d <=> '', '' < d, 1.5 > '', i / 2 > '' FROM t WHERE id = 1;
SELECT id FROM t WHERE d > '';
SELECT id FROM t WHERE d > '' AND d = ' ';
SELECT 1 FROM t HAVING SUM(d) > '';
UPDATE t SET i = 4 WHERE d > '';
UPDATE t SET i = 4 WHERE f > '';
DELETE FROM t WHERE d = '';
DELETE FROM t WHERE d + 0 = '';
DELETE FROM t WHERE i = '';
-- columns made of BITs
CREATE TABLE b (b8 BIT(8), b20 BIT(20), n INT);
CREATE TABLE made AS SELECT NULLIF(b8, 1) c1, COALESCE(b8, b8) c2, IF(n, b8, b8) c3, CASE WHEN n THEN b20 END c4, GREATEST(b20, b8) c5, IFNULL(b20, b8) c6, MAX(b8) OVER () c7, b8 c8, COALESCE(b20, n) c9 FROM b;
SHOW CREATE TABLE made;
-- doubles beyond all DECIMALs
-- hide warnings
SELECT 1e100 DIV 1e99, 1e300 DIV 1e295, 1e100 DIV 1e100, 0e0 DIV 1e100, 1 DIV 1e-100, 1e18 DIV 1;
-- hide warnings
SELECT 1e100 DIV 1;
-- hide warnings
SELECT -1e100 DIV 1;
CREATE TABLE large (f DOUBLE, v VARCHAR(10));
INSERT INTO large VALUES (1e100, '1e100');
-- hide warnings
SELECT f DIV 1 FROM large;
-- hide warnings
SELECT v DIV 1 FROM large;
-- hide warnings
SELECT f DIV 1e90 FROM large;
