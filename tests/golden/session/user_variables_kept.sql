-- What user variables keep: integers, decimals, doubles and strings. Moments and documents become texts.
SET @d=DATE'2020-01-01';
SELECT @d+0;
SELECT @d;
SELECT @d, @d=20200101, @d='2020-01-01', @d=DATE'2020-01-01', YEAR(@d), @d + INTERVAL 1 DAY;
SET @t=TIME'10:20:30.5';
SELECT @t, @t+0, HOUR(@t), ADDTIME(@t,'1');
SET @dt=TIMESTAMP'2020-01-01 10:20:30.25';
SELECT @dt, @dt+0, DATE(@dt), @dt + INTERVAL 1 SECOND;
SET @j=CAST('[1,2]' AS JSON);
SELECT @j, JSON_ARRAY(@j), JSON_EXTRACT(@j,'$[0]'), JSON_TYPE(@j), CHARSET(@j), COLLATION(@j), COERCIBILITY(@j);
SELECT @j=CAST('[1,2]' AS JSON), @j='[1, 2]';
SELECT @a:=DATE'2020-01-01', @a+0;
SELECT @a:=CAST('[1]' AS JSON);
SELECT JSON_ARRAY(@a:=CAST('[1]' AS JSON));
SELECT JSON_ARRAY(@a);
SELECT (@a:=DATE'2020-01-01')+0;
SELECT (@a:=TIME'10:00:00')+0, @a+0;
SELECT DATE'2020-01-02' INTO @i;
SELECT @i+0, @i, CHARSET(@i), COLLATION(@i);
CREATE TABLE t(d DATE, t TIME(2), dt DATETIME(3), ts TIMESTAMP, j JSON, e ENUM('a','b'), s SET('x','y'), b BIT(9), y YEAR, f FLOAT, dc DECIMAL(10,3), g BLOB, l LONGTEXT, c CHAR(5) CHARACTER SET latin1);
INSERT INTO t VALUES('2020-01-01','1:2:3.45','2020-01-01 1:2:3.456','2020-01-01 1:2:3','{"a":1}','b','x,y',b'101',2020,1.1,2.345,x'0102','long','abc');
SELECT d,t,dt,ts,j,e,s,b,y,f,dc,g,l,c INTO @d,@t,@dt,@ts,@j,@e,@s,@b,@y,@f,@dc,@g,@l,@c FROM t;
SELECT @d,@t,@dt,@ts,@j;
SELECT @e,@s,@y,@f,@dc;
SELECT @b,@g,@l,@c;
SELECT @d+0,@t+0,@dt+0,@ts+0;
-- differs: digits behind the point of a decimal variable
SELECT @e+0,@s+0,@b+0,@y+0,@f+0,@dc+0;
SELECT CHARSET(@d),CHARSET(@t),CHARSET(@j),CHARSET(@e),CHARSET(@b),CHARSET(@g),CHARSET(@y),CHARSET(@c);
SELECT COLLATION(@d),COLLATION(@t),COLLATION(@j),COLLATION(@e),COLLATION(@b),COLLATION(@g),COLLATION(@y),COLLATION(@c);
CREATE TABLE u AS SELECT @d d,@t t,@dt dt,@j j,@e e,@b b,@y y,@f f,@dc dc,@g g,@l l,@c c;
SHOW CREATE TABLE u;
CREATE TABLE u2 AS SELECT @q:=d d,@q:=t t,@q:=dt dt,@q:=j j,@q:=e e,@q:=b b,@q:=y y,@q:=f f,@q:=dc dc,@q:=g g,@q:=l l,@q:=c c FROM t;
-- differs: a BLOB that is assigned in an expression is a LONGBLOB in a table made of it
SHOW CREATE TABLE u2;
SELECT * FROM u2;
SELECT d FROM t WHERE d=@d;
SELECT d FROM t WHERE t=@t AND dt=@dt;
SELECT MAX(@m:=d) FROM t;
SELECT @m+0;
SELECT JSON_CONTAINS(j,@j), j=@j FROM t;
SELECT JSON_MERGE_PATCH(@j,'{"b":2}');
SELECT JSON_OBJECT('k',@j);
PREPARE p FROM 'SELECT ?, ?+0, JSON_ARRAY(?)';
EXECUTE p USING @d,@d,@j;
EXECUTE p USING @y,@y,@f;
SET @z=NULL;
SELECT @z, CHARSET(@z);
SET @b=b'1000001';
SELECT @b, @b+0, CHARSET(@b);
SET @x=x'41';
SELECT @x, @x+0, CHARSET(@x);
SELECT CONCAT(@j), UPPER(@j), LENGTH(@j);
SET @tt=CAST('10:11:12' AS TIME(3));
SELECT @tt;
SET @y=CAST(2001 AS YEAR);
SELECT @y, @y+1;
SELECT MAX(@d), MIN(@t), @d<@dt;
SELECT @d BETWEEN '2019-01-01' AND '2021-01-01', @d IN ('2020-01-01'), LEAST(@d,'2019-01-01');
SELECT IF(1,@d,0), COALESCE(@d,1), CASE WHEN 1 THEN @d ELSE DATE'2020-01-01' END;
SELECT @d UNION SELECT 1;
SELECT CAST(@j AS JSON), JSON_ARRAY(CAST(@j AS JSON));
-- differs: the character set of a variable that nothing was assigned to
SELECT IFNULL(@undef,1), COALESCE(@undef,2.5), @undef+1, SUM(@undef), CONCAT(@undef,'a'), CHARSET(@undef), COERCIBILITY(@undef);
SELECT IF(1,@undef2,1), CASE WHEN 1 THEN @undef2 ELSE 1 END, NULLIF(@undef2,1), @undef2 UNION SELECT 1,1,1,1;
SELECT @n:=IFNULL(@n,0)+1;
SELECT @n:=IFNULL(@n,0)+1;
SELECT @undef3 < 5, @undef3 + INTERVAL 1 DAY, DATE(@undef3), -@undef3, ABS(@undef3), ROUND(@undef3), NOT @undef3;
CREATE TABLE n AS SELECT @undef4 a, IFNULL(@undef4,1) b, @undef4+1 c, COALESCE(@undef4,'x') d;
-- differs: a variable that nothing was assigned to becomes a LONGTEXT
SHOW CREATE TABLE n;
SET @dc=2.345;
-- differs: digits behind the point of a decimal variable
SELECT @dc, @dc+0;
-- differs: digits behind the point of a decimal variable
SELECT @dc*1;
-- differs: digits behind the point of a decimal variable
SELECT @dc-0, -@dc, ABS(@dc), ROUND(@dc,2), @dc/2, @dc%2, @dc DIV 2, TRUNCATE(@dc,1), CEIL(@dc), FLOOR(@dc);
SELECT SUM(@dc), MAX(@dc), AVG(@dc), MIN(@dc), GREATEST(@dc,1), IFNULL(@dc,1), COALESCE(@dc,1.5), IF(1,@dc,2), CASE WHEN 1 THEN @dc END;
SELECT CAST(@dc AS DECIMAL(10,2)), CONCAT(@dc), CAST(@dc AS CHAR), CAST(@dc AS DOUBLE), CAST(@dc AS JSON), JSON_ARRAY(@dc);
SELECT @dc UNION SELECT 1;
SELECT @dc:=@dc+1, @dc;
-- differs: digits behind the point of a decimal variable
SELECT @dc+@dc, @dc+1.5, @dc*2.5, (SELECT @dc), (SELECT @dc+1);
-- differs: digits behind the point of a decimal variable
SELECT DISTINCT @dc;
-- differs: digits behind the point of a decimal variable
SELECT @dc FROM (SELECT 1 UNION SELECT 2) x GROUP BY @dc;
SELECT x.v FROM (SELECT @dc v) x;
SELECT x.v FROM (SELECT @dc v LIMIT 1) x;
CREATE TABLE x1 AS SELECT REPEAT('a',70000) r, CONCAT(REPEAT('a',20000),'b') c, CAST('a' AS CHAR(70000)) k, REPEAT(_latin1'a',70000) l, REPEAT(_binary'a',70000) b;
-- differs: CAST to a long CHAR becomes a MEDIUMTEXT
SHOW CREATE TABLE x1;
CREATE TABLE x2 AS SELECT CONCAT(r) r, CONCAT(c) c, SUBSTR(k,1,3) k, UPPER(l) l, IFNULL(r,'') i, r q FROM x1;
SHOW CREATE TABLE x2;
CREATE TABLE mt(m MEDIUMTEXT, t TEXT, ti TINYTEXT, mb MEDIUMBLOB, tb TINYBLOB);
CREATE TABLE x3 AS SELECT CONCAT(m) m, CONCAT(t) t, CONCAT(ti) ti, UPPER(m) um, m mm, IFNULL(m,'') i, IFNULL(t,'') it, IF(1,ti,ti) iff, COALESCE(mb,mb) mb, MAX(m) mx, MAX(ti) mxti, (SELECT m FROM mt LIMIT 1) s FROM mt GROUP BY 1,2,3,4,5,6,7,8,9;
-- differs: functions of a TINYTEXT are a TEXT
SHOW CREATE TABLE x3;
PREPARE p FROM 'SELECT ?+0';
SET @d='2020-01-01';
EXECUTE p USING @d;
SET @d='abcdefghijkl';
EXECUTE p USING @d;
SET @d=b'101';
-- differs: bytes in the message are not escaped
SELECT @d, @d+0;
SET @f=CAST(1.1 AS FLOAT);
SELECT @f, @f=1.1;
SET @m=LAST_INSERT_ID();
SELECT @m;
SET @i=1=1;
SELECT @i;
SET @i=9223372036854775808;
SELECT @i, @i+0, @i-1;
SET @i=-5;
SELECT @i, @i+0;
SET @g=_latin1'abc' COLLATE latin1_bin;
SELECT CHARSET(@g), COLLATION(@g), COERCIBILITY(@g);
SELECT @g:=_latin1'abc' COLLATE latin1_general_ci, COLLATION(@g:=_latin1'abc' COLLATE latin1_bin);
SELECT @v:=CAST('2020-01-01' AS DATE) + INTERVAL 1 DAY, @v;
SELECT @v, CHARSET(@v);
SELECT COLLATION(@v:=DATE'2020-01-01'), COERCIBILITY(@v:=DATE'2020-01-01'), COERCIBILITY(@v), COLLATION(@v:=5), COLLATION(@v);
SELECT @v:=CAST(3 AS YEAR), @v:=b'11', @v:=CAST(1 AS FLOAT), @v:=TRUE;
SELECT @v:=NULL;
SELECT @v, CHARSET(@v);
SET @z=NULL;
SELECT IFNULL(@z,1), @z+1, COALESCE(@z,2.5), IF(1,@z,1), @z, MAX(@z), SUM(@z);
SELECT @z UNION SELECT 1;
CREATE TABLE z1 AS SELECT @z z, IFNULL(@z,1) i, @z+1 p;
SHOW CREATE TABLE z1;
SET @z=5;
SET @z=NULL;
SELECT IFNULL(@z,1), @z+1, @z;
SET @z='x';
SET @z=NULL;
SELECT IFNULL(@z,1), @z+1, @z;
CREATE TABLE g1(a VARCHAR(10), b TEXT);
-- differs: the warning comes for each use
CREATE TABLE g2 AS SELECT GROUP_CONCAT(a) a, GROUP_CONCAT(b) b, UPPER(b) c, MAX(UPPER(b)) d, CONCAT(b,b) e FROM g1 GROUP BY b;
SHOW CREATE TABLE g2;
CREATE TABLE g3 AS SELECT UPPER(b) c FROM g1 UNION SELECT 'a';
SHOW CREATE TABLE g3;
CREATE TABLE g4 AS SELECT x.* FROM (SELECT UPPER(b) c, GROUP_CONCAT(a) d, REPEAT('a',70000) e FROM g1 GROUP BY b) x;
SHOW CREATE TABLE g4;
CREATE VIEW v1 AS SELECT UPPER(b) c, REPEAT('a',70000) e, REPEAT(x'41',70000) f FROM g1;
SHOW COLUMNS FROM v1;
CREATE TABLE g5 AS SELECT * FROM v1;
SHOW CREATE TABLE g5;
SET @dc=2.345;
SET @x=@dc+0;
SELECT @x;
SET @x=@x+1.5, @y=-@x, @z=@x*2.5, @w=@x/2;
-- differs: digits behind the point of a decimal variable
SELECT @x,@y,@z,@w;
SELECT @dc+1.5 INTO @x;
SELECT @x;
DROP TABLE t;
CREATE TABLE t(a DECIMAL(10,2), b DECIMAL(65,30));
INSERT INTO t VALUES(1.25, 2);
SET @s=0;
SELECT @s:=@s+a FROM t;
SELECT @s;
SET @s=0.0;
SELECT @s:=@s+a FROM t;
SELECT @s;
SET @s=1.50;
-- differs: digits behind the point of a decimal variable
SELECT @s+a, CONCAT(@s+a), CONCAT(@s) FROM t;
UPDATE t SET a=(@s:=@s+1);
SELECT @s;
