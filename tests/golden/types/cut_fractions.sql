-- TIME_TRUNCATE_FRACTIONAL: texts with more than six digits behind the second.
set sql_mode='time_truncate_fractional,strict_all_tables';
create table t(a bigint, i int, d decimal(20), dd decimal(20,3), v varchar(30), f double, y year, b time(6), dt datetime(6), u bigint unsigned);
select time'10:10:10.9999999', time('10:10:10.9999999'), cast('10:10:10.9999999' as time(6)), cast('2001-01-01 10:10:10.9999999' as datetime(6)), extract(microsecond from '2001-01-01 00:00:00.9999995'), microsecond('10:10:10.9999999');
insert into t(b) values('10:10:10.9999999');
insert into t(dt) values('2001-01-01 10:10:10.9999999');
insert into t(b) values(101010.9999999);
insert into t(b) values('101010.9999999');
select b, dt from t;
set sql_mode='';
select time'10:10:10.9999999', time('10:10:10.9999999'), extract(microsecond from '2001-01-01 00:00:00.9999995');
