-- What is made of literals is refused beside a date as a literal is.
CREATE TABLE t (id INT PRIMARY KEY, dd DATE, d6 DATETIME(6), tm TIME, KEY (dd));
INSERT INTO t VALUES (1, '2024-01-01', '2024-01-01', '10:00:00'), (2, NULL, NULL, NULL);
-- hide warnings
SELECT id FROM t WHERE dd = CONCAT('x', 'y');
-- hide warnings
SELECT id FROM t WHERE dd = JSON_TYPE('[1]');
-- hide warnings
SELECT d6 = INET_NTOA(2) FROM t;
-- hide warnings
SELECT id FROM t WHERE d6 > CAST('x' AS CHAR);
-- hide warnings
SELECT TIMESTAMP'2024-01-01 00:00:00' = CONCAT('x');
SELECT id FROM t WHERE dd = CONCAT('2024', '-01-01');
SELECT id FROM t WHERE d6 = CONCAT(NULL, 'x');
-- hide warnings
UPDATE t SET id = id WHERE dd = CONCAT('x', 'y');
