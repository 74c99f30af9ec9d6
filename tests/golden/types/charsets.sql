-- Character sets whose units are two or four bytes, and 8-bit ones: literals, columns, operations, conversions.
set names utf8mb4;
select hex(_ucs2 'a'), hex(_ucs2 x'61'), hex(convert('aé€' using utf16)), hex(convert('é' using koi8r)), hex(convert('я' using koi8r)), hex(convert(x'61' using utf32));
select concat(_ucs2 x'0061', 1, 'b'), hex(concat(_ucs2 x'0061', 1, 'b')), charset(concat(_ucs2 x'0061', 1, 'b')), collation(concat(_ucs2 x'0061', 1, 'b'));
select _ucs2 x'00310032' + 1, _utf16 x'00310032' = 12, cast(_utf32 x'0000003100000032' as signed), upper(_utf16 x'00610062'), length(upper(_utf16 x'00610062'));
select left(_ucs2 x'006100620063', 2), substring(_utf16 x'006100620063', 2), hex(trim(_ucs2 x'002000610020')), char_length(_utf16 x'D83DDE00'), reverse(_ucs2 x'00610062');
select locate(_ucs2 'b', _ucs2 x'006100620063'), _utf16 x'0061' like _utf16 x'0025', instr(_utf16 x'00610062', 'B'), replace(_ucs2 x'00610062', 'b', 'xy');
create table t1 (a varchar(10) character set ucs2, b char(5) character set utf16, c text character set utf32, d varchar(10) charset koi8r, e varchar(10) charset utf16le, key(a), key(b));
insert into t1 values ('abc', 'x ', 'текст', 'текст', 'e'), ('б', 'y', 'zz', 'я', 'ß');
-- sort
select a,b,c,d,e, hex(a), hex(b), hex(c), hex(d), hex(e) from t1;
-- sort
select * from t1 where a = 'ABC';
-- sort
select * from t1 where d = 'ТЕКСТ' and a like 'a%';
-- sort
select * from t1 order by a;
select count(*) from t1 where b between 'x' and 'z';
-- sort
select a+0, concat(a, d), concat(a, b), a = d from t1;
-- sort
select length(a), char_length(c), octet_length(c) from t1;
show create table t1;
-- hide Privileges
show full columns from t1;
-- sort
select coercibility(a), hex(weight_string(b)), hex(weight_string(a)) from t1;
set names ucs2;
set character_set_client=utf16;
set names utf8mb4;
insert into t1 (a) values ('0123456789a');
insert into t1 (d) values ('日');
insert into t1 (a) values (x'61'), (x'616263');
-- sort
select hex(a) from t1;
select hex(group_concat(a order by a)) from t1;
-- sort
select if(1, a, 'x'), coalesce(a, d), case when 1 then d else 'x' end from t1 order by a limit 1;
-- sort
select a from t1 union select b from t1;
select min(a), max(a), count(distinct a) from t1;
select cast(12 as char character set utf16), hex(cast(12 as char character set utf16)), hex(char(97 using ucs2)), hex(lpad(_ucs2 'a', 3, 'b')), hex(hex(_ucs2 'a'));
select format(_utf16 x'00310032', 2), date_format(_ucs2 x'0032003000320030002D00310030002D00300031', '%Y'), cast(_ucs2 x'0032003000320030002D00310030002D00300031' as date), _utf16 'a' regexp 'A', json_quote(_utf16 'a'), cast(_utf16 x'005B005D' as json);
create table t2 (a int, b datetime, c enum('a','ß') charset ucs2);
insert into t2 values (_ucs2 x'00310032', convert('2020-01-01' using utf16), 'ß'), (1, null, _ucs2 'a');
select *, hex(c), concat(c, 'x') from t2;
select * from t2 where c = 'a';
select _latin1 x'E9' = _koi8r x'D1';
select (select a from t1 order by a limit 1) = convert('x' using koi8r);
select concat(d, a) from t1 where d is not null;
select concat(d, _cp1251 x'E0') from t1;
SELECT (@a := _latin2'test' COLLATE latin2_bin) = _latin2'TEST' COLLATE latin2_general_ci AS equal, COERCIBILITY(@b := _latin2'x' COLLATE latin2_bin) AS assigned, COERCIBILITY(@c) AS unset;
