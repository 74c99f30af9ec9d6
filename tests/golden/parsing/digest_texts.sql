CREATE TABLE t (a INT, b INT, c INT, d TEXT);
-- Values, signs, lists, rows
SELECT STATEMENT_DIGEST_TEXT('select 1, -1, - -1, ''a'', null, 0x1f, 1.5e3, n''x'', _latin1''x''');
SELECT STATEMENT_DIGEST_TEXT('select a-1, a - -1, (-1), -a, -(1), a*-1, a=-1, a<=>-1, case when -1 then -1 else -1 end from t having -1');
SELECT STATEMENT_DIGEST_TEXT('select distinct -1, ~ -1, binary -1, interval(-1, -2), a like ''x'' escape -1 from t where -1');
SELECT STATEMENT_DIGEST_TEXT('insert into t values (1,2),(3,4),(5),(a),(default)');
SELECT STATEMENT_DIGEST_TEXT('select * from t where a in (null, 1) and b in (1) and a in (b,1) and (a,b) in ((1,2),(3,4)) and a not in (1,2)');
SELECT STATEMENT_DIGEST_TEXT('select a from t limit 1, 2');
-- NULL as a value and as a word
SELECT STATEMENT_DIGEST_TEXT('select null + null, null is null, a is not null, not null, not a is null from t where null');
SELECT STATEMENT_DIGEST_TEXT('create table u (a int null, b int not null, c int default null, g int as (null), foreign key (a) references t (a) on delete set null)');
SELECT STATEMENT_DIGEST_TEXT('select * from json_table(''[]'', ''$[*]'' columns (a int path ''$.a'' null on empty default ''1'' on error)) x');
-- Columns by number
SELECT STATEMENT_DIGEST_TEXT('select a, rank() over (partition by 1 order by 1, 2) from t group by 1, a, 2 with rollup having 1 order by 1 desc, 2 limit 3, 4');
SELECT STATEMENT_DIGEST_TEXT('select a from t order by 1 is null, 1 + 1, (1), ''a'', 1, 007, true, 2');
-- Keywords that mean the same
SELECT STATEMENT_DIGEST_TEXT('create table u (a int4, b int, d dec(10,2), e character varying(10), f nchar(10), g middleint, h float, i double)');
SELECT STATEMENT_DIGEST_TEXT('select now(), current_timestamp, curdate(), substr(d, 1), mid(d, 1), std(a), variance(a), schema(), user(), session_user() from t');
SELECT STATEMENT_DIGEST_TEXT('select a <> b, a != b, a rlike b, a regexp b, a || b, a or b, a && b, !!a, interval 1 day + a from t');
SELECT STATEMENT_DIGEST_TEXT('show fields from t');
-- Names and variables
SELECT STATEMENT_DIGEST_TEXT('select status, user.host, `a``b`, max(a), max (a), t.select, end from t');
SELECT STATEMENT_DIGEST_TEXT('select @a, @`b c`, @''d'', @@sql_mode, @@global.port, @a := -1');
SELECT STATEMENT_DIGEST_TEXT('create user a@b identified by ''x'', `c`@''%'', ''d''@localhost');
SELECT STATEMENT_DIGEST_TEXT('select 1 as `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` from dual');
SELECT STATEMENT_DIGEST_TEXT('select 1 as `😀`, 2 as `é`');
-- Comments and hints
SELECT STATEMENT_DIGEST_TEXT('select /*!80000 a, */ /*!999999 b, */ c /* comment */ from t -- x');
SELECT STATEMENT_DIGEST_TEXT('select /*+ max_execution_time(1000) no_merge(t@qb1) bka(@a t, `u`) set_var(sql_mode = ''x'') foo(1, 2) */ 1');
SELECT STATEMENT_DIGEST_TEXT('select a /*+ bka(t) */ from t');
SELECT STATEMENT_DIGEST_TEXT('select /*+ */ /* x */ 1;  ');
-- Programs
SELECT STATEMENT_DIGEST_TEXT('create procedure p() begin declare a int default null; if -1 then set a = -1; end if; select a from t order by 2, 1; end');
-- The length
SET @long = CONCAT('select ', REPEAT('a+', 200), 'a from t');
SELECT STATEMENT_DIGEST_TEXT(@long);
SELECT LENGTH(STATEMENT_DIGEST_TEXT(CONCAT('select ', REPEAT('1,', 5000), '1 from t')));
-- Errors
SELECT STATEMENT_DIGEST_TEXT('select from');
SET @wrong = 'select from';
SELECT STATEMENT_DIGEST_TEXT(@wrong);
SELECT STATEMENT_DIGEST('select from');
SELECT STATEMENT_DIGEST_TEXT('');
SELECT STATEMENT_DIGEST_TEXT('select 1; select 2');
INSERT INTO t (a) VALUES (1);
SELECT STATEMENT_DIGEST_TEXT(d), STATEMENT_DIGEST(d) FROM t;
SELECT STATEMENT_DIGEST('select 1') = STATEMENT_DIGEST('SELECT  2 -- x'), LENGTH(STATEMENT_DIGEST('select 1')), STATEMENT_DIGEST('select 1') = STATEMENT_DIGEST('select a');
-- Modes
SET sql_mode = 'ANSI_QUOTES';
SELECT STATEMENT_DIGEST_TEXT('select "a", @"x"');
SET sql_mode = 'PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE';
SELECT STATEMENT_DIGEST_TEXT('select a || -1, not -1, a not in (1), a is not null from t');
SET sql_mode = 'IGNORE_SPACE';
SELECT STATEMENT_DIGEST_TEXT('select max (a), now (), count from t');
SET sql_mode = DEFAULT;
-- Two exclamation marks are one
SELECT !!0, !!1, ! !0, !!!1, !!!0;
