-- How many digits FLOAT(M,D) and DOUBLE(M,D) have in expressions.
create table f(a float(10,5), d double(10,3), g float(7,2), b float, i int, e decimal(10,2));
insert into f values(22222.22222,2.3456,3.14159,1.1,2,1.5);
select a+0, a*1, a+a, a-a, a/3, a+i, a+e, a*e, a+b, d*2, d/3, d+g, -a, abs(a), a%3, a div 1 from f;
select sum(a), avg(a), min(a), max(a), sum(d), avg(d), std(a), variance(d), sum(a+1), sum(b), avg(b) from f;
select if(1,a,1), coalesce(a,1), ifnull(a,1), case when 1 then a else 2 end, greatest(a,1), least(a,d), nullif(a,1), if(1,a,d), if(1,a,i), if(1,a,e), if(1,a,b), coalesce(d,g) from f;
select a from f union select d from f;
select round(a,2), floor(a), ceil(a), truncate(a,3), sqrt(d), pow(d,2), concat(a), concat(a+0), a+0.5e0, a+'1', cast(a as char), round(a), a+1.25, a+1e0, 1.5*d from f;
select sum(a) over (), avg(d) over () from f;
