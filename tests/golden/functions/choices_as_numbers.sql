-- Texts that functions choose, where numbers are asked for: IFNULL, COALESCE, GREATEST and LEAST say nothing of what is no number, and
-- what CASE and IF choose among dates and others is the number that it is.
CREATE TABLE n (id INT PRIMARY KEY, v VARCHAR(9), d DATE, ti TIME, u BIGINT UNSIGNED);
INSERT INTO n VALUES (1, '1x', '2024-02-29', '10:20:30', 100);
CREATE TABLE m (id INT, a DECIMAL(5,1), b DECIMAL(6,3));
INSERT INTO m VALUES (3, 1.5, 2.125), (4, -1.5, 0);
SELECT IFNULL(v, 2) + 1, IFNULL(v, 'a') + 1, COALESCE(v, d) - 1, -IFNULL(v, 2), GREATEST(v, '0') + 1, LEAST(v, 'z') + 1 FROM n;
SELECT IFNULL(v, 2) = 1, IFNULL(v, 'a') = 1, IFNULL(v, 2) IN (1, 3), IFNULL(v, 2) BETWEEN 1 AND 3, IFNULL(v, 2) AND 1 FROM n;
SELECT id FROM n WHERE IFNULL(v, 2);
SELECT IFNULL(v, 2) | 1, ABS(COALESCE(v, 'a')), ROUND(IFNULL(v, 2)), SQRT(IFNULL(v, 1)), LEFT('abc', IFNULL(v, 2)) FROM n;
SELECT SUM(IFNULL(v, 2)), AVG(COALESCE(v, 'a')) FROM n;
SELECT CAST(IFNULL(v, 2) AS SIGNED) FROM n;
SELECT IF(1, v, 2) + 1 FROM n;
SELECT CASE WHEN 1 THEN v ELSE 2 END + 1 FROM n;
SELECT NULLIF(v, 'z') + 1, CONCAT(v) + 1 FROM n;
SELECT IF(1, d, 2) + 1, CASE WHEN 1 THEN d ELSE 2 END * 2, -IF(1, d, 'a'), ABS(IF(1, d, 'a')), ROUND(IF(0, 'a', d)), IF(1, d, 2) % 7, IF(1, ti, 2) + 1, IF(0, d, '3') + 1 FROM n;
SELECT IF(1, d, 2) = 20240229, IF(1, d, 2) > 5, IF(1, d, 2) | 0, CONCAT(IF(1, d, 2), 'x') FROM n;
SELECT IF(0, d, '3x') + 1 FROM n;
SELECT IF(1, DATE'2024-02-29', 2) + 1, IFNULL(DATE'2024-02-29', 2) + 1, COALESCE(TIME'10:20:30', 2) + 1;
-- Digits behind the point of what is chosen
SELECT IF(FALSE, -0.5, id), ABS(IF(FALSE, -0.5, id)), IF(FALSE, -0.5, id) + 0, CASE WHEN id THEN id ELSE 0.25 END, CASE WHEN id THEN 0.5 ELSE 0.25 END, MOD(IF(FALSE, 0.5, id), 2), CONCAT(IF(FALSE, -0.5, id)), IF(1, 1, 0.5), IF(1, 0.5, 0.25) FROM n;
SELECT -IF(1, a, b), ABS(IF(0, b, a)), IF(1, a, b) * 2, 1 - CASE WHEN 1 THEN id ELSE b END, ROUND(IF(1, a, b), 3), CONCAT(-IF(1, a, b)), IF(1, a, b) DIV 1 FROM m;
SELECT MAX(IF(FALSE, -0.5, id)), SUM(IF(FALSE, -0.5, id)) FROM n GROUP BY IF(FALSE, -0.25, id);
-- DIV of an unsigned number
SELECT u DIV -2.5 FROM n;
SELECT u DIV '-2' FROM n;
SELECT u DIV -200.5, u DIV 2.5, u DIV 1e-15 FROM n;
