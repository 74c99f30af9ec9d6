-- A TIME column between constants: one that is no time is an integer, as the times are.
CREATE TABLE t (id INT PRIMARY KEY, ta TIME, td TINYINT, ti INT, b BIGINT, d DECIMAL(10,2), f DOUBLE, v VARCHAR(5), j JSON);
INSERT INTO t VALUES (1, '00:00:00', 1, 5, 5, 5, 5, '5', '"7"'), (2, '-01:02:03', 1, 6, 6, 6, 6, '6', '7'), (3, '10:11:12', NULL, 8, 8, 8, 8, '8', '[7]');
SELECT id FROM t WHERE ta BETWEEN '' AND FALSE;
SELECT id FROM t WHERE ta BETWEEN '' AND 0;
SELECT id FROM t WHERE ta BETWEEN '-1' AND 0;
SELECT id FROM t WHERE ta BETWEEN '-02:00:00' AND 101112;
SELECT id FROM t WHERE ta BETWEEN -20000 AND '10:11:12';
-- hide warnings
SELECT id FROM t WHERE ta BETWEEN 'abc' AND 101112;
-- hide warnings
SELECT id FROM t WHERE ta BETWEEN -20000 AND 'abc';
SELECT id FROM t WHERE ta BETWEEN '' AND '10:11:12';
SELECT id FROM t WHERE ta BETWEEN '' AND 1.5;
SELECT id FROM t WHERE ta NOT BETWEEN '' AND 1;
SELECT id FROM t WHERE ta = '';
-- A document among the bounds is the number that it is, and not the one that its text begins with.
SELECT id, ti BETWEEN 1 AND CAST('"7"' AS JSON), b BETWEEN 1 AND CAST('"7"' AS JSON), d BETWEEN 1 AND CAST('"7"' AS JSON), f BETWEEN 1 AND CAST('"7"' AS JSON) FROM t;
-- hide warnings
SELECT id, ti BETWEEN 1 AND JSON_EXTRACT(j, '$'), b BETWEEN 1 AND j, ti NOT BETWEEN CAST(v AS JSON) AND 9 FROM t;
SELECT id, f BETWEEN CAST('true' AS JSON) AND CAST('1e3' AS JSON) FROM t;
