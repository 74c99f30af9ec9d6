-- One row needs no order: what stands in ORDER BY need not be grouped.
CREATE TABLE o (a INT, b INT);
INSERT INTO o VALUES (1, 2), (3, 4);
select count(*) from o order by a;
select count(*) from o order by a+b;
select count(*) from o order by nosuch;
select count(*), max(a) from o order by sum(b), a desc;
select a, count(*) from o order by b;
select count(*) from o having count(*)>0 order by a limit 1;
select count(*) over () from o order by a;
select sum(count(*)) over () from o order by a;
select count(*) from o union select 5 order by a;
DROP TABLE o;
