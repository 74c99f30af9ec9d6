-- Values and types that the differential runner found to be others than MySQL's.

-- ENUM and SET in the working table of a recursive expression keep their members.
CREATE TABLE m (id INT, e ENUM('a','b'), s SET('x','y'), l ENUM('é','b') CHARACTER SET latin1);
INSERT INTO m VALUES (1, 'a', 'x,y', 'é'), (2, 'b', '', 'b'), (3, NULL, NULL, NULL);
WITH RECURSIVE r AS (SELECT id, 1 AS d, e, s, l FROM m UNION ALL SELECT r.id, d + 1, r.e, r.s, r.l FROM r WHERE d < 2) SELECT * FROM r;
WITH RECURSIVE r AS (SELECT id, 1 AS d, e FROM m UNION ALL SELECT r.id, d + 1, 'new' FROM r WHERE d < 2) SELECT * FROM r;
WITH RECURSIVE r AS (SELECT id, 1 AS d, e FROM m UNION ALL SELECT r.id, d + 1, 'B' FROM r WHERE d < 2) SELECT * FROM r;
CREATE TABLE mm WITH RECURSIVE r AS (SELECT id, 1 AS d, e, s, l FROM m UNION ALL SELECT r.id, d + 1, r.e, r.s, r.l FROM r WHERE d < 2) SELECT * FROM r;
SHOW CREATE TABLE mm;

-- Members of ENUM and SET in other character sets than UTF-8, from texts in others.
CREATE TABLE n (id INT, l ENUM('é','b') CHARACTER SET latin1, k SET('é','z'));
INSERT INTO n VALUES (1, 'É', 'É');
INSERT INTO n SELECT 2, l, l FROM n;
INSERT INTO n SELECT 3, k, k FROM n WHERE id = 1;
INSERT INTO n VALUES (4, _latin1 0xe9, _utf16 0x00e9), (5, CHARSET(1) = 'x', CONVERT('é' USING utf8mb3));
SELECT * FROM n;
ALTER TABLE n MODIFY k SET('é','z') CHARACTER SET latin1;
SELECT * FROM n;
CREATE TABLE n2 (l ENUM('é','É') CHARACTER SET latin1);

-- A long text beside bit operators is an integer, as any text is.
CREATE TABLE b (id INT PRIMARY KEY, tx TEXT, vc VARCHAR(9));
INSERT INTO b VALUES (1, '1.5e1', '1.5e1'), (2, '12', '12'), (3, NULL, NULL);
SELECT tx | 0, vc | 0, tx & 255, tx << 1, ~tx FROM b;
SELECT BIT_OR(tx), BIT_OR(vc), BIT_AND(tx), BIT_XOR(tx) FROM b WHERE id < 3;
SELECT BIT_OR(tx) OVER (ORDER BY id) FROM b;

-- The YEAR 0000 is 0 where it is computed.
CREATE TABLE y (id INT PRIMARY KEY, y YEAR);
INSERT INTO y VALUES (1, 0), (2, 2001);
SELECT MIN(y), MAX(y) FROM y;
SELECT y, IFNULL(y, y), COALESCE(y), IF(id, y, y), GREATEST(y, y), (SELECT y FROM y AS s WHERE s.id = 1), CONCAT(y), CONCAT(IFNULL(y, y)) FROM y;
SELECT y FROM y GROUP BY y WITH ROLLUP;
SELECT y FROM y UNION SELECT y FROM y;
SELECT FIRST_VALUE(y) OVER (ORDER BY id), LAG(y) OVER (ORDER BY id) FROM y;
CREATE TABLE y2 SELECT MIN(y) AS a, IFNULL(y, y) AS b FROM y GROUP BY y;
SELECT * FROM y2;
SHOW CREATE TABLE y2;

-- A DATE takes a moment rounded to its second.
CREATE TABLE d (id INT PRIMARY KEY, d DATE);
INSERT INTO d VALUES (1, '1999-12-31 23:59:59.9999'), (2, '1999-12-31 23:59:59.4'), (3, 19991231235959.9999);
SET sql_mode = CONCAT(@@sql_mode, ',TIME_TRUNCATE_FRACTIONAL');
INSERT INTO d VALUES (4, '1999-12-31 23:59:59.9999');
SET sql_mode = DEFAULT;
SELECT * FROM d;

-- Moments keep the digits of texts beside them.
SELECT GREATEST('2021-03-14 15:09:26.535', TIMESTAMP'1999-12-31 23:59:59'), LEAST('2021-03-14 15:09:26.5', TIMESTAMP'2999-12-31 23:59:59.25');
CREATE TABLE g (vc VARCHAR(40), d DATE, dt DATETIME, dt3 DATETIME(3));
INSERT INTO g VALUES ('2021-03-14 15:09:26.5', '2020-01-01', '2030-01-01 01:01:01', '2020-01-01 01:01:01.123');
SELECT GREATEST(vc, dt3), GREATEST(vc, dt), LEAST(vc, dt), GREATEST(dt, dt3), GREATEST(vc, d), LEAST('2001-01-01 00:00:00.12', dt) FROM g;

-- What is no time in a list beside a TIME is midnight.
CREATE TABLE tm (t TIME);
INSERT INTO tm VALUES ('10:00:00'), ('00:00:00'), (NULL);
-- hide warnings
SELECT t FROM tm WHERE t NOT IN ('%', '838:59:59');
-- hide warnings
SELECT t FROM tm WHERE t IN ('%', '838:59:59');
SELECT TIME'-01:02:03.5' NOT IN ('%', '838:59:59'), TIME'00:00:00' IN ('%', '838:59:59'), TIME'10:00:00' IN ('%', NULL), TIME'10:00:00' NOT IN ('%', '10:00');

-- REPLACE by the same row counts once, also where rows have rules.
CREATE TABLE rc (id INT PRIMARY KEY, a INT, g INT AS (a + 1), CHECK (a < 20));
REPLACE INTO rc (id, a) VALUES (1, 1), (1, 1), (1, 1);
REPLACE INTO rc (id, a) VALUES (1, 1), (1, 2), (1, 2);
CREATE TABLE rp (id INT PRIMARY KEY, a INT);
CREATE TABLE rq (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES rp (id));
REPLACE INTO rp VALUES (1, 1), (1, 1);
REPLACE INTO rq VALUES (1, 1), (1, 1), (2, 1), (2, NULL);

-- Operands and columns of subqueries in different character sets.
CREATE TABLE cs (a VARCHAR(5) CHARACTER SET latin1, b VARCHAR(5), c VARCHAR(5) COLLATE utf8mb4_bin);
INSERT INTO cs VALUES ('é', 'é', 'é'), ('x', 'x', 'x');
SELECT a, a IN (SELECT b FROM cs), b IN (SELECT a FROM cs), a = ANY (SELECT c FROM cs), a <= ALL (SELECT b FROM cs), b <= ALL (SELECT a FROM cs), b >= ALL (SELECT a FROM cs), a < ANY (SELECT b FROM cs), b < ANY (SELECT a FROM cs), a NOT IN (SELECT c FROM cs), (a, b) IN (SELECT b, a FROM cs), c <> ALL (SELECT a FROM cs) FROM cs;
SELECT a FROM cs WHERE b NOT IN (SELECT a FROM cs);
SELECT a FROM cs WHERE b IN (SELECT a FROM cs GROUP BY a HAVING COUNT(*) = 1);
SELECT a FROM cs WHERE b IN (SELECT a FROM cs UNION SELECT b FROM cs);
SELECT a FROM cs WHERE (a, b) = (SELECT b, a FROM cs LIMIT 1);
SELECT a FROM cs WHERE _latin1 0xe9 IN (SELECT b FROM cs);

-- Texts of wide characters beside bit operators.
CREATE TABLE wide (a VARCHAR(9) CHARACTER SET utf16, tx TEXT CHARACTER SET utf16);
INSERT INTO wide VALUES ('15', '3'), (NULL, NULL), ('7', '-2');
SELECT a | 0, BIT_OR(a) OVER (), ~a, a & 7, a << 1, tx | 0, BIT_XOR(tx) OVER () FROM wide;
SELECT BIT_AND(a), BIT_OR(tx) FROM wide;
