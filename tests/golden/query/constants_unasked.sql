-- A constant that rows are grouped by and that nothing reads is not computed, nor one for rows that a LIMIT leaves out.
CREATE TABLE t (id INT PRIMARY KEY, td TINYINT, ti INT);
INSERT INTO t VALUES (1, 1, 5), (2, 1, 6), (3, NULL, 7);
SELECT MIN(td) FROM t GROUP BY CAST('99:99' AS SIGNED);
SELECT MIN(td) FROM t GROUP BY CAST('99:99' AS SIGNED), ti;
SELECT MIN(td) FROM t GROUP BY (-9223372036854775808) * 10;
SELECT COUNT(*) FROM t WHERE FALSE GROUP BY CAST('99:99' AS SIGNED);
SELECT STR_TO_DATE('2024-02-29', '%H:%i:%s.%f') FROM t ORDER BY ti LIMIT 5, 2;
SELECT STR_TO_DATE('2024-02-29', '%H:%i:%s.%f') FROM t ORDER BY ti LIMIT 1, 2;
SELECT STR_TO_DATE('2024-02-29', '%H:%i:%s.%f'), a.id FROM t a LEFT JOIN t b ON a.id = b.td ORDER BY a.ti, b.id LIMIT 4, 2;
SELECT DISTINCT CONCAT('a', 'b'), ti FROM t ORDER BY ti LIMIT 2;
