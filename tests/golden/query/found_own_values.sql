-- A column that is set to itself stays as it is, whatever the mode allows; BLOB and BINARY take part in REGEXP_REPLACE.
CREATE TABLE z (id INT PRIMARY KEY, a DATETIME, b DATETIME, d DATE, ts TIMESTAMP NULL, n DATE NOT NULL, e ENUM('x','y'), t TEXT);
SET sql_mode = '';
INSERT INTO z VALUES (1, '0000-00-00', NULL, '0000-00-00', '0000-00-00', '2020-00-00', '', 'long'), (2, '2020-01-01', NULL, NULL, '2021-03-04 05:06:07', '2020-01-01', 'y', NULL);
SET sql_mode = DEFAULT, time_zone = '+02:00';
UPDATE z SET a = a;
UPDATE z SET d = d, ts = ts, n = (n), e = e, t = t;
UPDATE z SET a = z.a, b = NULL WHERE id = 1;
UPDATE z SET b = a WHERE id = 1;
UPDATE z SET a = IFNULL(a, a) WHERE id = 1;
UPDATE z x JOIN z y ON x.id = y.id SET x.a = x.a;
INSERT INTO z VALUES (1, NULL, NULL, NULL, NULL, '2020-01-01', NULL, NULL) ON DUPLICATE KEY UPDATE a = a, ts = ts;
UPDATE z SET a = '2022-02-02', a = a, ts = ts WHERE id = 2;
SELECT * FROM z ORDER BY id;
CREATE TABLE r (b BLOB, vb VARBINARY(9), bi BINARY(4), s VARCHAR(9));
INSERT INTO r VALUES ('a', 'a', 'a', 'a');
SELECT REGEXP_REPLACE('1.5', '1', b) = 'a.5', REGEXP_REPLACE(s, 'a', bi) = x'61000000', REGEXP_REPLACE(b, b, 'x'), REGEXP_REPLACE(b, b, s) FROM r;
SELECT REGEXP_REPLACE('1.5', '1', vb) FROM r;
SELECT REGEXP_REPLACE(vb, vb, s) FROM r;
