-- Versioned comments in what the dictionary keeps: their text, without their marks.
create function v8() returns int no sql return /*!80000 8 */;
select v8();
show create function v8;
create function v9(a /*!80000 int */) returns int no sql return /*!80000 a + */ 1 /*!99999 + 100 */;
select v9(3);
show create function v9;
create table t(a int, w int /*!80000 default 5 */, c int generated always as (a /*!80000 + 1 */) virtual);
show create table t;
create trigger g before insert on t for each row set new.w=/*!80000 9 */;
insert into t(a) values(1);
select * from t;
create trigger g2 before update on t for each row begin /*!50000 set new.w=1; */ set @x='it\'s /*!80000 x */ -- no'; end;
update t set a=2;
select *, @x from t;
-- differs: MySQL shows texts without their backslashes
select action_statement from information_schema.triggers where trigger_schema='golden';
create procedure vp() select /*!80000 7 */;
call vp();
/*!80000 create procedure vq() select 'a' */;
call vq();
show create procedure vq;
create view vv as select 1 /*!80000 + 1 */;
select `1  + 1` + 0 from vv;
show create view vv;
create event ev on schedule every 1 hour do insert into t(a) values(1) /*! , (7) */;
select event_definition from information_schema.events where event_schema='golden';
/*!50003 create */ /*!50017 definer=`root`@`localhost` */ /*!50003 trigger g3 after insert on t for each row begin set @z = 5; end */;
insert into t(a) values(4);
select @z;
-- differs: MySQL shows texts without their backslashes
select action_statement from information_schema.triggers where trigger_schema='golden' order by 1;
/*!50003 create procedure c1() begin -- it's
 select 1; /* don't */ end */;
call c1();
