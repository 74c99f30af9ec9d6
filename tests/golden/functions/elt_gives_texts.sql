-- ELT gives a text, whatever it chooses from.
CREATE TABLE t (a INT, b BIGINT UNSIGNED, d DECIMAL(10,2), f DOUBLE, c VARCHAR(5), da DATE, y YEAR, vb VARBINARY(3), bt BIT(5));
INSERT INTO t VALUES (1, 2, 3.5, 4.5, 'c', '2024-01-01', 2024, 'x', 3);
CREATE TABLE z AS SELECT ELT(1, a) x, ELT(1, d, a) y, ELT(1, da) w, ELT(1, f) q, ELT(1, vb) r FROM t;
SHOW COLUMNS FROM z;
-- metadata
SELECT ELT(1, a), ELT(1, b), ELT(1, a, b), ELT(1, d), ELT(1, a, d), ELT(1, f), ELT(1, a, f), ELT(1, a, c), ELT(1, da), ELT(1, da, a), ELT(1, y) FROM t;
SELECT ELT(1, vb), ELT(1, vb, a), ELT(1, bt), ELT(1, NULL), ELT(1, a, NULL), ELT(1, 1, 22) FROM t;
SELECT MIN(ELT(1, a)), MAX(ELT(1, a, b)), SUM(ELT(1, a, d)), ELT(1, a) + 0, ELT(1, a, d) * 2, IFNULL(ELT(1, a), 'x'), GREATEST(ELT(1, a), 'b'), ELT(1, a) < 10 FROM t;
SELECT ELT(1, a) FROM t UNION SELECT 1;
SELECT ELT(1, 10) > ELT(1, 9), ELT(1, 10) > '9', ELT(1, 10) > 9;
