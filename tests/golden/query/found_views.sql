-- A view's condition reads columns that an index for the statement's own columns does not have.
create table t (id int primary key, ta int, td varchar(20), key (ta));
insert into t values (1,1,'abc'),(2,2,'b'),(3,3,null);
create view w1 as select * from t where 'abc' in (td, td);
select max(ta) from w1;
select ta from w1 order by ta limit 1;
select max(ta) from w1 where null;
select a.ta from w1 a join w1 b on a.ta = b.ta;
select count(*) from w1;
create view w2 as select id, ta from w1 where ta > 0;
select max(ta), count(ta) from w2;
update w2 set ta = ta + 10;
select * from t order by id;
delete from w2 where ta > 5;
select * from t order by id;
