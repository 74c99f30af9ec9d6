-- The row that a warning of UPDATE names: the scan's, also where WHERE refused those before it.
create table t(a decimal(10,5), b int, c varchar(10));
insert into t values(1,1,'a'),(2,2,'b'),(3,3,'c');
update t set a=1e20 where b=3;
update t set a=1e20 where c='b';
update ignore t set a=1e20 where b>=2;
set sql_mode='';
update t set a=1e20 where b=3;
update t set a=1 where 1;
update t set a=1e20 where b=3;
update t set a=1e20;
update t set a=1e21 where b>1;
create index x on t(b);
update t set a=1e21 where b=3;
update t set a=1e21 where b>1 and c='c';
update t set a=1e21 where c>'a' order by c limit 2;
update t join t s using(b) set t.a=1e20 where s.b=3;
