-- BETWEEN with documents: as numbers beside a number, else as their texts.
CREATE TABLE j (a JSON, i INT, s VARCHAR(20), d DATE, t DATETIME, f DOUBLE, n DECIMAL(10,2));
INSERT INTO j VALUES ('1', 1, '1', '2024-01-01', '2024-01-01 00:00:00', 1, 1), ('"a"', 2, 'a', '2024-01-02', '2024-01-02', 2, 2), ('[1]', 3, '[1]', NULL, NULL, 3, 3), ('{"a": 1}', 4, 'b', NULL, NULL, 4, 4), ('null', 5, 'null', NULL, NULL, 5, 5), ('true', 6, 'true', NULL, NULL, 1, 1), ('2.5', 7, '2.5', NULL, NULL, 2.5, 2.5), (NULL, 8, NULL, NULL, NULL, NULL, NULL);
-- hide warnings
SELECT a, a BETWEEN 0 AND 2, a BETWEEN '0' AND '2', a BETWEEN '"0"' AND '"b"', a BETWEEN 0 AND 'z', a BETWEEN i AND s, 1 BETWEEN a AND 5, '1' BETWEEN a AND 'z' FROM j;
-- hide warnings
SELECT a FROM j WHERE a BETWEEN '1' AND '3';
-- hide warnings
SELECT a FROM j WHERE a BETWEEN 1 AND 3;
-- hide warnings
SELECT a FROM j WHERE a BETWEEN 1 AND '3';
-- hide warnings
SELECT a FROM j WHERE s BETWEEN a AND a;
-- hide warnings
SELECT a FROM j WHERE i BETWEEN a AND a;
-- hide warnings
SELECT a FROM j WHERE i BETWEEN 0 AND a;
-- hide warnings
SELECT a FROM j WHERE a BETWEEN f AND n;
-- hide warnings
SELECT a FROM j WHERE a NOT BETWEEN 0 AND 2;
-- hide warnings
SELECT a FROM j WHERE a BETWEEN CAST('0' AS JSON) AND CAST('"z"' AS JSON);
