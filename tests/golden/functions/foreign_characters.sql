-- A text beside a column whose character set lacks its characters.
CREATE TABLE t (l VARCHAR(20) CHARACTER SET latin1, u VARCHAR(20) CHARACTER SET utf8mb4, k VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_bin, KEY (l));
INSERT INTO t VALUES ('abc', 'abc', 'abc'), ('??', '日本', '??');
SELECT INSTR(l, '日本') FROM t;
SELECT LOCATE('日', l) FROM t;
SELECT POSITION('日' IN l) FROM t;
SELECT FIELD(l, 'abc', '日本') FROM t;
-- differs: MySQL does not look at the first argument
SELECT FIELD('日本', l, 'abc') FROM t;
SELECT FIND_IN_SET('日', l) FROM t;
SELECT FIND_IN_SET(l, 'abc,日') FROM t;
SELECT NULLIF(l, '日本') FROM t;
SELECT NULLIF('日本', l) FROM t;
SELECT STRCMP(l, '日本') FROM t;
SELECT REPLACE(l, 'a', '日') FROM t;
SELECT REPLACE(l, '日', 'a') FROM t;
SELECT CONCAT(l, '日本') FROM t;
SELECT CONCAT_WS('日', l, 'x') FROM t;
SELECT INSERT(l, 1, 1, '日') FROM t;
SELECT LPAD(l, 6, '日') FROM t;
SELECT RPAD(l, 6, '日') FROM t;
SELECT TRIM('日' FROM l) FROM t;
SELECT SUBSTRING_INDEX(l, '日', 1) FROM t;
SELECT IFNULL(l, '日') FROM t;
SELECT COALESCE(l, '日') FROM t;
SELECT IF(l = 'abc', l, '日') FROM t;
SELECT CASE l WHEN 'abc' THEN 1 WHEN '日本' THEN 2 END FROM t;
SELECT CASE WHEN l = 'abc' THEN l ELSE '日' END FROM t;
SELECT GREATEST(l, '日') FROM t;
SELECT LEAST('日', l) FROM t;
SELECT MAKE_SET(3, l, '日') FROM t;
SELECT ELT(2, l, '日') FROM t;
SELECT EXPORT_SET(3, l, '日') FROM t;
SELECT l LIKE '日%' FROM t;
SELECT l REGEXP '日' FROM t;
SELECT l BETWEEN 'a' AND '日' FROM t;
SELECT l IN ('abc', '日本') FROM t;
SELECT l FROM t WHERE l IN ('abc', '日本');
SELECT u FROM t WHERE u IN (l, '日本');
SELECT l FROM t WHERE l = u;
SELECT l FROM t UNION SELECT '日本';
SELECT l FROM t GROUP BY l HAVING l = '日';
SET @j = '日本', @a = 'abc';
SELECT l FROM t WHERE l = @a;
SELECT l FROM t WHERE l = @j;
PREPARE p FROM 'SELECT l FROM t WHERE l = ?';
EXECUTE p USING @a;
EXECUTE p USING @j;
EXECUTE p USING @a;
PREPARE p FROM 'SELECT l FROM t WHERE l IN (?, ?)';
EXECUTE p USING @a, @j;
PREPARE p FROM 'SELECT l FROM t WHERE l BETWEEN ? AND ?';
EXECUTE p USING @a, @j;
PREPARE p FROM 'SELECT l FROM t WHERE l LIKE ?';
EXECUTE p USING @a;
EXECUTE p USING @j;
PREPARE p FROM 'SELECT CONCAT(l, ?) FROM t';
-- sort
EXECUTE p USING @a;
-- sort
EXECUTE p USING @j;
PREPARE p FROM 'SELECT INSTR(l, ?), LOCATE(?, l) FROM t';
-- sort
EXECUTE p USING @a, @a;
-- sort
-- differs: 3988
EXECUTE p USING @j, @a;
PREPARE p FROM 'SELECT FIELD(l, ?), NULLIF(l, ?) FROM t';
-- sort
EXECUTE p USING @a, @a;
-- sort
EXECUTE p USING @j, @a;
-- sort
EXECUTE p USING @a, @j;
PREPARE p FROM 'SELECT IFNULL(l, ?) FROM t';
-- differs: only what is compared with a parameter says which characters it may have
EXECUTE p USING @j;
PREPARE p FROM 'SELECT k FROM t WHERE k = ?';
EXECUTE p USING @a;
EXECUTE p USING @j;
PREPARE p FROM 'UPDATE t SET l = ?';
-- differs: 1366
EXECUTE p USING @j;
PREPARE p FROM 'DELETE FROM t WHERE l = ?';
EXECUTE p USING @j;
SELECT l FROM t ORDER BY l;
CREATE TABLE e (l VARCHAR(20) CHARACTER SET latin1, u VARCHAR(20), g VARCHAR(20) COLLATE utf8mb4_general_ci, b VARCHAR(20) COLLATE utf8mb4_bin);
INSERT INTO e VALUES ('é', 'é', 'É', 'é'), ('aéb', 'É', 'é', 'b');
SELECT NULLIF(l, u), NULLIF(u, l), FIELD(l, u), FIELD(u, 'x', l), INSTR(l, u), LOCATE(u, l), STRCMP(l, u), STRCMP(u, l) FROM e;
SELECT NULLIF(u, b), FIELD(u, b), FIND_IN_SET(u, b), INSTR(u, b), STRCMP(u, b) FROM e;
SELECT NULLIF(u, g) FROM e;
SELECT FIELD(u, g) FROM e;
SELECT FIELD(u, g, b) FROM e;
SELECT FIND_IN_SET(u, g) FROM e;
SELECT INSTR(u, g) FROM e;
SELECT LOCATE(u, g) FROM e;
SELECT STRCMP(u, g) FROM e;
SELECT FIELD(1, '1x', '1'), FIELD('1', 1, '1x'), FIELD('a', NULL, 'A'), NULLIF(1, '1'), NULLIF('1', 1.0), NULLIF('a', 'A '), NULLIF(NULL, 1), NULLIF(1, NULL), NULLIF(CAST('{}' AS JSON), '{}');
SELECT NULLIF(DATE '2024-01-01', '2024-01-01 00:00:00'), NULLIF(TIME '10:00:00', 100000), NULLIF('x', 0);
select hex(convert(convert(_tis620 x'A0DBFC41' using utf8mb4) using tis620));
create table wide (a varchar(10) character set utf32);
create table narrow (a varchar(10) character set ucs2);
insert into wide values (0x12345);
set sql_mode = '';
insert into narrow select * from wide;
