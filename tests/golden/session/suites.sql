-- What Django's and mysql2's own tests have found, and what was found beside it.
CREATE TABLE moments (id INT PRIMARY KEY, s DATETIME(6), e DATETIME(6));
INSERT INTO moments VALUES (1, '2015-06-15 14:30:26', '2015-06-15 14:30:26.000321');

-- A time beside a string is compared as one, with all the digits of its type.
SELECT TIME(s) = '14:30:26', TIME(s) = '14:30:26.000000', TIME(e) = '14:30:26.000321', CAST(s AS TIME(6)) = '14:30:26' FROM moments;
SELECT id FROM moments WHERE TIME(e) = '14:30:26.000321' AND TIME(s) = '14:30:26.000000';
SELECT MAKETIME(14, 30, 26) = '14:30:26.0', MAKETIME(14, 30, 26.00) = '14:30:26', TIMEDIFF(s, '2015-06-15 00:00:00') = '14:30:26.000000' FROM moments;
SELECT TIME(s) BETWEEN '14:30:26' AND '14:30:26', TIME(s) BETWEEN '14:30:26' AND '14:30:26.000000', TIME(s) BETWEEN '14:30:26' AND TIME'14:30:26' FROM moments;
SELECT TIME(s) <=> '14:30:26', TIME(s) > '14:30:26', (TIME(s), 1) = ('14:30:26.000000', 1) FROM moments;
CREATE TABLE times (t TIME(6), t0 TIME, v VARCHAR(20));
INSERT INTO times VALUES ('14:30:26', '14:30:26', '14:30:26'), ('14:30:26.5', '14:30:27', '14:30:26.500000');
SELECT t = v, t0 = v, t = CONCAT('14:30:26', ''), t = CONCAT(v, ''), t = '14:30:26', t = (SELECT '14:30:26'), v = t FROM times;

-- DISTINCT: an order by a subquery that reads what is selected.
CREATE TABLE author (id INT PRIMARY KEY, name VARCHAR(9));
CREATE TABLE article (id INT PRIMARY KEY, author INT, headline VARCHAR(9), d DATETIME(6));
INSERT INTO author VALUES (1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO article VALUES (1, 1, 'Article 1', '2020-01-01'), (2, 1, 'Article 2', '2020-01-02'), (3, 2, 'Article 4', '2020-01-04');
SELECT DISTINCT a.id, (SELECT MAX(u.d) FROM article u WHERE u.author = (a.id) GROUP BY u.author) AS l FROM author a ORDER BY (SELECT MAX(u.d) FROM article u WHERE u.author = (a.id) GROUP BY u.author) IS NOT NULL, l;
SELECT DISTINCT a.id FROM author a ORDER BY (SELECT MAX(u.d) FROM article u WHERE u.author = a.id);
SELECT DISTINCT name FROM author ORDER BY (SELECT MAX(u.d) FROM article u WHERE u.author = author.id);
SELECT DISTINCT name FROM author ORDER BY EXISTS (SELECT 1 FROM article u WHERE u.headline = name), name;
SELECT DISTINCT name FROM author ORDER BY 1 IN (SELECT 1 FROM article u WHERE u.author = author.id);
SELECT DISTINCT name FROM author ORDER BY (SELECT (SELECT author.id));
SELECT DISTINCT name FROM author ORDER BY (SELECT (SELECT author.name));

-- Names are utf8mb3.
SET @`b💩` = 2;
SELECT '💩' AS `x💩`, 1 AS ä💩, @`b?`;
SELECT '💩';
SELECT CONCAT('💩', 1), UPPER('ä💩') AS q;
SELECT `a💩` FROM (SELECT 1 AS `a?`) d;
CREATE TABLE `t💩` (`c💩` INT, KEY `k💩` (`c💩`));
SHOW CREATE TABLE `t?`;
CREATE TABLE taken SELECT '💩', 1 AS `b💩`;
SHOW CREATE TABLE taken;
CREATE VIEW seen AS SELECT UPPER('a'), 2 AS `b💩`;
SHOW CREATE VIEW seen;
WITH `💩` AS (SELECT 1 AS one) SELECT `💩`.one FROM `💩`;
