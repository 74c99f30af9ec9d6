-- Texts that stand for integers: what is no integer from end to end.
-- differs: MySQL reads a constant twice, and warns twice
select left('abc','1x');
-- differs: MySQL reads a constant twice, and warns twice
select repeat('a','2x');
select format(1,'2x');
-- differs: MySQL reads a constant twice, and warns twice
select substr('abc','2x');
select elt('1x','a');
select char('65x');
select from_days('700000x');
-- differs: MySQL reads a constant twice, and warns twice
select round(1.5,'1x');
-- differs: MySQL reads a constant twice, and warns twice
select space('1x');
select insert('abc','1x',1,'z');
select makedate('2001x',1);
-- differs: MySQL reads a constant twice, and warns twice
select lpad('a','3x','b');
select conv('12',10,'16x');
select hex('1x');
select period_add('200101x',1);
-- differs: MySQL reads a decimal
select sec_to_time('10x');
select maketime('10x',1,1);
select adddate('2001-01-01','1x');
select adddate('2001-01-01',interval '1x' day);
-- differs: MySQL reads a constant twice, and warns twice
select truncate(1.55,'1x');
select substring_index('a.b.c','.','2x');
select locate('a','bab','1x');
select week('2001-01-01','1x');
select bin('1x');
select export_set('1x','a','b');
select make_set('1x','a');
select inet_ntoa('1x');
-- differs: MySQL reads a constant twice, and warns twice
select left(concat('a'),concat('1','x'));
create table t(a varchar(10));
insert into t values('1x');
select left('abc',a), repeat('a',a) from t;
-- differs: MySQL reads a constant twice, and warns twice
select sha2('a','256x');
select last_insert_id('1x');
select '1x' div 1, '1x' | 1, ~'1x', '1x' << 1, bit_count('1x');
select interval('1x',1);
select rand('1x');
select uncompressed_length('1x');
select weight_string('ab' as char(1));
select format_bytes('1x');
select crc32('1x');
select adddate('8112-06-20', repeat('1', 32));
select adddate('8112-06-20', '111111111111111111111111');
select adddate('8112-06-20', 1e30);
