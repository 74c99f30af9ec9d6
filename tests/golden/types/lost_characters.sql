-- Literals with characters that the other side's character set lacks: no row is taken for another one.
CREATE TABLE l (a VARCHAR(20) CHARACTER SET latin1, b VARCHAR(20) CHARACTER SET utf8mb3, KEY (a));
INSERT INTO l VALUES ('ab', 'ab'), ('??', '??'), ('é', '?');
SELECT a FROM l WHERE a = '日本';
SELECT a FROM l WHERE a IN ('日本', 'ab');
SELECT a FROM l WHERE a LIKE '日%';
SELECT a FROM l WHERE a BETWEEN 'a' AND '日本';
SELECT a FROM l WHERE (a, 1) = ('日', 1);
SELECT a FROM l WHERE a = CONCAT('日', '本');
SELECT a FROM l WHERE a <=> 'é';
SELECT b FROM l WHERE b = '😀';
SELECT 1 FROM l WHERE b <> '😀';
SELECT CONCAT(a, '日本') FROM l;
SELECT CONCAT(b, '😀') FROM l;
SELECT COALESCE(a, '日本') FROM l;
SELECT IF(1, a, '日本') FROM l;
SELECT CASE a WHEN '日' THEN 1 ELSE 0 END FROM l;
SELECT REPLACE(a, '日', 'x') FROM l;
SELECT GREATEST(a, '日本'), LPAD(a, 9, '日') FROM l;
SELECT a FROM l UNION SELECT '日本';
SELECT a FROM l HAVING a = '日';
SELECT GROUP_CONCAT(a ORDER BY a SEPARATOR '日') FROM l;
UPDATE l SET a = 'x' WHERE a = '日本';
DELETE FROM l WHERE a = '日本';
SET @v = '日本';
SELECT a FROM l WHERE a = @v;
-- sort
SELECT a, b FROM l;
DROP TABLE l;
