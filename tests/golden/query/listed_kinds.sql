-- Texts among dates, times and years: what they are compared as.
CREATE TABLE k (id INT PRIMARY KEY, d DATETIME, dt DATE, tm TIME, y YEAR, s VARCHAR(20), i INT);
INSERT INTO k VALUES (1, '2024-01-01 00:00:00', '2024-01-01', '10:00:00', 2001, 'a', 1);
INSERT INTO k VALUES (2, '2024-02-29 12:00:00', '2024-02-29', '11:00:00', 2024, '10:00', 120000);
INSERT INTO k VALUES (3, NULL, NULL, '-10:00:00', 0, '1', 20240101), (4, NULL, NULL, NULL, NULL, NULL, NULL);
-- hide warnings
SELECT id, '2024-1-1' IN (d, 'x'), '2024-1-1' IN (d, dt), '20240101' IN (d, 1), '2024-01-01' IN ('a', d) FROM k;
-- hide warnings
SELECT id, s IN (d, '2024'), s IN (d, dt), s NOT IN (d, '10:00') FROM k;
-- hide warnings
SELECT id FROM k WHERE '2024-1-1' IN (d, 'a');
-- hide warnings
SELECT id, s IN (tm, '10:00:00'), '10:00' IN (tm, 'x'), '10:00' IN (tm, 5), s IN (tm, i) FROM k;
SELECT TIME'10:00:00' BETWEEN '10:00:00' AND 120000, TIME'10:00:00' BETWEEN 1 AND '11:00', TIME'10:00:00.5' BETWEEN 1 AND '11:00';
-- hide warnings
SELECT id, tm BETWEEN '9:00' AND 110000, tm BETWEEN s AND i, tm BETWEEN '09:00:00' AND '10:30:00' FROM k;
-- hide warnings
SELECT id FROM k WHERE y <> 'a';
-- hide warnings
SELECT id FROM k WHERE y = 'a';
-- hide warnings
SELECT id FROM k WHERE y < 'a';
SELECT id FROM k WHERE y <> '';
-- hide warnings
SELECT id FROM k WHERE NOT y <> 'a' OR y > '5a';
-- hide warnings
SELECT id FROM k WHERE y BETWEEN 'a' AND '24';
SELECT id FROM k WHERE y IN ('24');
SELECT id FROM k WHERE y IN ('24', '2001');
SELECT id FROM k WHERE y NOT IN ('a', 'b');
SELECT id FROM k WHERE y IN ('0000', 'a');
SELECT id, y IN ('24', 'a'), y IN ('2024', 'a'), y IN ('24'), y IN (24, 1) FROM k;
SELECT id, GREATEST(dt, i) + 0, GREATEST(d, i) + 0 FROM k WHERE id <> 1;
