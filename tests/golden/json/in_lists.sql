-- IN with documents: one makes documents of all, not numbers.
CREATE TABLE q (a INT, s VARCHAR(10), j JSON, t TINYINT, d DATE, u INT UNSIGNED, b BIGINT, f DOUBLE, n DECIMAL(5,2));
INSERT INTO q VALUES (1, 'a', '3.5', 1, NULL, 1, 0, 3.5, 3.5), (2, 'b', '[1]', 1, NULL, 0, 0, 1, 0), (3, 'c', 'false', 0, NULL, 0, 0, 0, 0), (0, '0', '0', 0, NULL, 0, 0, 0, 0), (4, 'd', '"0"', 0, '2024-01-01', 0, 0, 0, 0), (4, 'd', NULL, 0, NULL, 0, 0, 0, 0);
SELECT j, j IN (0), j IN (0, 1), j IN (0, 3.5), j IN ('0'), j IN (0, '0'), j IN (a), j IN (a, b), j IN (f), j IN (n, 7), j IN (b), j IN (TRUE, FALSE), j NOT IN (0, 1) FROM q;
SELECT j, 0 IN (j), b IN (j), b IN (j, 1), a IN (j), f IN (j, 2), n IN (j), s IN (j), u IN (5, j), t IN (j, a), FALSE IN (j), 'd' IN (j, s), d IN (j, '2024-01-01') FROM q;
SELECT a FROM q WHERE j IN (0, 1);
SELECT a FROM q WHERE 0 NOT IN (j, 5);
