-- A constant is read as a year beside a column of years alone, and where it is a number.
CREATE TABLE u (id INT PRIMARY KEY, y YEAR, g INT);
INSERT INTO u VALUES (1, 0, 1), (2, 2001, 2), (3, 2024, 3);
-- hide warnings
SELECT MAX(y) <> 'a', MAX(y) = '2001', MAX(y) = '01', MAX(y) = 1, MAX(y) < 'a' FROM u GROUP BY g;
SELECT g FROM u GROUP BY g HAVING MAX(y) = '1';
SELECT g FROM u GROUP BY g HAVING MAX(y) = 1;
SELECT id FROM u WHERE IFNULL(y, y) = '1';
SELECT id FROM u WHERE y = '1';
-- hide warnings
SELECT id, y <> 'a', y = '1' FROM u;
SELECT (SELECT MAX(y) FROM u) <> 'a', (SELECT MIN(y) FROM u) <> 'a', (SELECT MAX(y) FROM u) = '24';
