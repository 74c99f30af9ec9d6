-- Arguments of functions that are numbers: hexadecimal literals are theirs, documents have their number's type.
-- hide warnings
select sqrt(cast('[1,2]' as json)), sqrt(cast('"4"' as json)), sqrt(cast('4' as json));
-- hide warnings
select abs(cast('[1,2]' as json)), abs(cast('"4"' as json)), abs(cast('-4' as json)), abs(cast('true' as json)), abs(cast('null' as json));
-- hide warnings
select floor(cast('2.7' as json)), round(cast('"x"' as json)), truncate(cast('2.77' as json),1), ceil(cast('1.1' as json)), -cast('[1]' as json), sign(cast('-3' as json));
select 5 % x'02', x'09' % 4, mod(9, x'02'), x'09' div x'02', 9 div x'02', x'09'-1, 1.5 * x'02', -x'41', x'09' mod 2.5;
-- hide warnings
select bin(x'41'), bin(2.5), bin('12abc'), bin(''), bin(' 7'), bin(-1), oct('9'), oct(8.9), bin(18446744073709551616), bin(date'2021-03-04'), bin(1e3), bin('-3'), oct(cast('12' as json)), bin(null), bin(0x0F), bin(b'101');
select char(x'4142'), char(65.6), format(x'4142',2), from_unixtime(x'4142'), inet_ntoa(x'4142'), left('abc',x'02'), substr('abcdef',x'02',x'03'), repeat('a',x'03'), lpad('a',x'03','b'), space(x'02'), insert('abcdef',x'02',x'01','zz'), elt(x'02','a','b'), make_set(x'03','a','b','c'), export_set(x'05','Y','N','',x'04'), substring_index('a.b.c','.',x'02'), interval(x'05',1,4,9), sec_to_time(x'0100'), makedate(2020,x'20'), maketime(x'01',2,3), period_add(202001,x'02'), period_diff(202003,x'031517'), format_bytes(x'4142'), last_insert_id(x'05'), sha2('a',x'0100'), week('2020-01-01',x'03'), locate('b','abcb',x'03');
select atan2(2), atan2(1,1), atan(1), atan(1,2), collation(left('abc',x'02')), collation(rpad('a',x'03','b'));
-- hide warnings
select field('$[0]',cast('[1,2]' as json),2.5), field('3', 3.0), field('a', 0), field('a','b',0), field(1,'1'), field('1a', 1), field(2,'2','2.0'), field('2', '2.0'), field(null, 1);
select interval('$[0]',x'4142',1), interval(3,'1','x',4), interval(5,1,null,4,9), interval(2.5,1,2,3), interval(null,1,2);
select ltrim('  a'), rtrim('a  '), trim(leading 'x' from 'xa');
select ltrim('a','b');
select rtrim('a','b');
select json_unquote(x'4142');
select json_object(x'4142',1);
select json_objectagg(x'4142',1);
select json_merge(-3,'3');
select regexp_substr('abc','b',0);
select regexp_substr('abc','b',9);
select regexp_instr('','a',3), regexp_instr('abc','b',4);
select regexp_instr('abc','b',5);
select regexp_replace('abc','b','x',0);
select regexp_replace('abc','b','x',5);
select regexp_like('a','a','q');
select regexp_like('a','');
select json_quote(cast('[1]' as json));
create table t (b bit(9), e enum('x','y','z'), s varchar(10) character set latin1);
insert into t values (b'101000001', 'z', _latin1 x'e4');
select bin(b), oct(b), conv(b, 10, 16), left('abcd', e), repeat('a', e) from t;
select json_objectagg(s, 1), json_object(s, 2) from t;
