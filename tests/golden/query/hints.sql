-- Optimizer hints and index hints: what is said of those that do not count, and the plans of those that do.
CREATE TABLE t1 (a INT PRIMARY KEY, b INT, c INT, d INT, KEY kb (b), KEY kc (c), KEY kbc (b, c));
CREATE TABLE t2 LIKE t1;
CREATE TABLE t3 LIKE t1;
INSERT INTO t1 VALUES (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3);
INSERT INTO t2 SELECT * FROM t1;
INSERT INTO t3 SELECT * FROM t1;
-- sort
select /*+ FOO(t1) */ a from t1;
-- sort
select /*+ JOIN_ORDER(t1, tx) */ t1.a from t1, t2 where t1.a=t2.b;
-- sort
select /*+ JOIN_ORDER(t1 t2) */ t1.a from t1, t2 where t1.a=t2.b;
-- sort
select /*+ JOIN_ORDER(t1, t2) JOIN_ORDER(t2,t1) */ t1.a from t1, t2 where t1.a=t2.b;
-- sort
select /*+ JOIN_PREFIX(t1, t2) JOIN_PREFIX(t2) */ t1.a from t1, t2 where t1.a=t2.b;
-- sort
select /*+ BKA(t1) NO_BKA(t1) */ t1.a from t1;
-- sort
select /*+ BKA(t9) */ t1.a from t1;
-- sort
select /*+ NO_ICP(t1 kx) */ t1.a from t1;
-- sort
select /*+ INDEX(t1 kx) */ t1.a from t1;
-- sort
select /*+ INDEX(t1 kb) INDEX(t1 kc) */ t1.a from t1;
-- sort
select /*+ INDEX(t1 kb) NO_INDEX(t1 kb) */ t1.a from t1;
-- sort
select /*+ INDEX(t1 kb) JOIN_INDEX(t1 kb) */ t1.a from t1;
-- sort
select /*+ INDEX(t1 kb) */ t1.a from t1 ignore index(kb);
-- sort
select /*+ QB_NAME(q1) QB_NAME(q2) */ 1;
-- sort
select /*+ QB_NAME(q1) */ 'a' union select /*+ QB_NAME(q1) */ 'b';
-- sort
select /*+ NO_ICP(t1@q9) */ a from t1;
-- sort
select /*+ NO_ICP(@q9 t1) */ a from t1;
-- sort
select /*+ MAX_EXECUTION_TIME(10) MAX_EXECUTION_TIME(20) */ a from t1;
-- sort
select /*+ MAX_EXECUTION_TIME(4294967296) */ a from t1;
-- sort
select /*+ MAX_EXECUTION_TIME(a) */ a from t1;
-- sort
select * from (select /*+ MAX_EXECUTION_TIME(10) */ a from t1) x;
-- sort
select /*+ SET_VAR(sort_buffer_size=100000) */ @@sort_buffer_size;
-- sort
select /*+ SET_VAR(sort_buffer_size=100000) SET_VAR(sort_buffer_size=200000) */ @@sort_buffer_size;
-- sort
select /*+ SET_VAR(nosuch=1) */ 1;
-- sort
select /*+ SET_VAR(character_set_client='latin1') */ 1;
-- sort
select /*+ SET_VAR(sort_buffer_size=1) */ @@sort_buffer_size;
-- sort
select /*+ SET_VAR(sql_mode='x') */ 1;
-- sort
select /*+ SET_VAR(max_heap_table_size=1G) */ @@max_heap_table_size;
-- sort
select /*+ SET_VAR(optimizer_switch = 'mrr_cost_based=off') */ 1;
-- sort
select * from (select /*+ SET_VAR(sort_buffer_size=100000) */ @@sort_buffer_size) x;
-- sort
select /*+ RESOURCE_GROUP(foo) */ 1;
-- sort
select /*+ RESOURCE_GROUP(a) RESOURCE_GROUP(b) */ 1;
-- sort
select /*+ SEMIJOIN(@s FIRSTMATCH) */ a from t1 where a in (select /*+ QB_NAME(s) */ b from t2);
-- sort
select /*+ SEMIJOIN(@s FIRSTMATCH) NO_SEMIJOIN(@s) */ a from t1 where a in (select /*+ QB_NAME(s) */ b from t2);
-- sort
select a from t1 where a in (select /*+ SUBQUERY(INTOEXISTS) SEMIJOIN(LOOSESCAN) */ b from t2);
-- sort
select a from t1 where a in (select /*+ SUBQUERY(FOO) */ b from t2);
-- sort
select /*+ SEMIJOIN(@s FOO) */ a from t1;
-- sort
select /*+ MERGE(t1) NO_MERGE(x) */ a from (select a from t1) x;
-- sort
select /*+ INDEX_MERGE(t1 kb, kc) */ a from t1 where b=1 or c=1;
-- sort
select /*+ NO_INDEX_MERGE(t1) NO_RANGE_OPTIMIZATION(t1 kb) */ a from t1 where b=1 or c=1;
-- sort
select /*+ NO_ICP(t1) , NO_MRR(t1) */ a from t1;
-- sort
select /*+ JOIN_FIXED_ORDER() */ a from t1;
-- sort
select /*+ JOIN_FIXED_ORDER(t1) */ a from t1;
-- sort
select /*+ JOIN_FIXED_ORDER(t1, t2) JOIN_ORDER(t1,t2) */ t1.a from t1,t2;
-- sort
select /*+ SKIP_SCAN(t1 kbc) HASH_JOIN(t1) NO_HASH_JOIN(t1) BNL(t1,t2) */ a from t1;
-- sort
select /*+ BNL() NO_BNL() */ a from t1;
-- sort
select /*+ ORDER_INDEX(t1 kb) NO_ORDER_INDEX(t1 kb) GROUP_INDEX(t1 kb) */ a from t1;
-- sort
select /*+ NO_INDEX(t1) */ a from t1 where b=1;
-- sort
select /*+ DERIVED_CONDITION_PUSHDOWN(x) NO_DERIVED_CONDITION_PUSHDOWN(x) */ * from (select a from t1) x;
-- sort
select /*+ INDEX(t1@`select#1` kb) */ a from t1;
-- sort
select /*+ NO_ICP(T1) */ a from t1;
-- sort
select /*+ NO_ICP(`t1`) NO_ICP("t1") */ a from t1;
-- sort
select /*+ JOIN_ORDER(t2, t1) */ * from t1 left join t2 on t1.a=t2.b;
-- sort
select /*+ JOIN_SUFFIX(t1) JOIN_ORDER(t1, t2) */ t1.a from t1 join t2 join t3;
-- sort
select /*+ INDEX(t1 kb,kc) INDEX(t1 kb,kc) */ a from t1;
-- sort
select /*+ INDEX(t1 kb,kx,ky) */ a from t1;
-- sort
select /*+ NO_ICP(t1 kb,kc) ICP(t1 kb) */ a from t1;
-- sort
select /*+ NO_ICP(t1 kb) NO_ICP(t1 kb) */ a from t1;
-- sort
select /*+ NO_ICP(t1 kb) NO_ICP(t1) */ a from t1;
-- sort
select /*+ ICP(t1) */ a from t1;
-- sort
select /*+ NO_MRR(t1@q kb) NO_MRR(@q t1 kb) */ a from (select /*+ QB_NAME(q) */ a from t1) x;
-- sort
select /*+ NO_MRR(@q t1 kb) NO_MRR(@q t1 kb) */ a from (select /*+ QB_NAME(q) */ a from t1 group by a) x;
-- sort
select /*+ BKA(@q t1, t2) BKA(@q t1) BKA(t1@q) BKA(@q) */ a from (select /*+ QB_NAME(q) */ a from t1 group by a) x;
-- sort
select /*+ BKA() BKA() BKA(t1) NO_BKA(t2) */ t1.a from t1,t2;
-- sort
select /*+ JOIN_FIXED_ORDER() JOIN_ORDER(t1,t2) */ t1.a from t1,t2;
-- sort
select /*+ JOIN_ORDER(t1,t2) JOIN_FIXED_ORDER() JOIN_FIXED_ORDER() */ t1.a from t1,t2;
-- sort
select /*+ JOIN_ORDER(t1@q,t2) */ t1.a from t1,t2;
-- sort
select /*+ JOIN_ORDER(@q t1,t2) */ t1.a from t1,t2;
-- sort
select /*+ JOIN_ORDER(t1,t1) */ t1.a from t1,t2;
-- sort
select /*+ JOIN_ORDER() */ t1.a from t1,t2;
-- sort
select /*+ JOIN_PREFIX(t2,t1) JOIN_SUFFIX(t2,t1) */ t1.a from t1,t2;
-- sort
select @@optimizer_switch;
set optimizer_switch='foo=on';
set optimizer_switch='mrr=foo';
set optimizer_switch='mrr';
set optimizer_switch='mrr=on,mrr=off';
set optimizer_switch='mrr=off,default';
set optimizer_switch='default,mrr=off';
-- sort
select @@optimizer_switch;
set optimizer_switch=default;
set optimizer_switch=5;
-- sort
select @@optimizer_switch;
set optimizer_switch=default;
set optimizer_switch='MRR=OFF';
set optimizer_switch='';
set optimizer_switch=null;
set optimizer_switch='hypergraph_optimizer=on';
set optimizer_switch=default;
-- sort
select /*+ SET_VAR(optimizer_switch='foo=on') */ 1;
-- sort
select /*+ SET_VAR(max_execution_time=1) */ 1;
-- sort
select /*+ SET_VAR(sql_mode=ANSI) */ @@sql_mode;
-- sort
select /*+ SET_VAR(tmp_table_size=16K) */ @@tmp_table_size;
-- sort
select /*+ SET_VAR(sort_buffer_size=default) */ 1;
-- sort
select /*+ SET_VAR(sort_buffer_size='abc') */ 1;
-- sort
select /*+ SET_VAR(sort_buffer_size=-1) */ 1;
-- sort
select /*+ SET_VAR(sort_buffer_size=ON) */ 1;
-- sort
select /*+ SET_VAR(foreign_key_checks=OFF) */ @@foreign_key_checks;
-- sort
select /*+ QB_NAME(q) MERGE(@q x) */ 1 from (select 1) x;
-- sort
select /*+ NO_ICP(t1) NO_ICP(t2@q) */ 1 from t1 where a in (select /*+ QB_NAME(q) NO_ICP(t1@`select#1`) BKA(t7) */ a from t2);
delete /*+ BKA(zz) */ from t1 where a=99;
-- sort
select /*+ INDEX(t1 primary, `kb`) INDEX(t1 `PRIMARY`) */ a from t1;
-- sort
select /*+ BKA(t1, t2) BKA(t1 t2) */ t1.a from t1,t2;
-- sort
select /*+ BKA(t1@q1, t1) */ a from t1;
-- sort
select /*+ MAX_EXECUTION_TIME(0) */ a from t1;
-- sort
select /*+ BKA(t1) */ /*+ BKA(t1) */ a from t1;
(select /*+ BKA(t8) */ a from t1) union (select /*+ BKA(t9) */ a from t1);
INSERT /*+ MAX_EXECUTION_TIME(10) */ INTO t3 VALUES (9, 9, 9, 9);
PREPARE s FROM 'SELECT /*+ BKA(t9) FOO */ a FROM t1';
-- sort
EXECUTE s;
SELECT NOW() = (SELECT /*+ SET_VAR(timestamp=1) */ NOW());
SELECT @@sort_buffer_size = 262144, @@timestamp > 1000000;
SELECT /*+ SET_VAR(timestamp=86400) SET_VAR(time_zone='+00:00') */ NOW();
SET explain_format = TRADITIONAL;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ NO_INDEX(t1) */ * FROM t1 WHERE b = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ INDEX(t1 kc) */ * FROM t1 WHERE b = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ NO_INDEX(t1) , FOO */ * FROM t1 WHERE b = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ JOIN_INDEX(t1 kc) */ * FROM t1 WHERE b = 1 AND c = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ NO_JOIN_INDEX(t1 kb, kbc) */ * FROM t1 WHERE b = 1 AND c = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ INDEX(t1 kb) */ * FROM t1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ INDEX(t1 kc) */ * FROM t1 ORDER BY c;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ ORDER_INDEX(t1 kc) */ * FROM t1 ORDER BY c;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ NO_ORDER_INDEX(t1) */ * FROM t1 ORDER BY c LIMIT 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT * FROM t1 ORDER BY c LIMIT 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT * FROM t1 IGNORE INDEX FOR ORDER BY (kc) ORDER BY c LIMIT 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT * FROM t1 USE INDEX FOR ORDER BY (kb) ORDER BY c LIMIT 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT * FROM t1 IGNORE INDEX FOR JOIN (kc) ORDER BY c LIMIT 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT * FROM t1 USE INDEX () WHERE b = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT * FROM t1 USE INDEX FOR JOIN () WHERE b = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT * FROM t1 USE INDEX (kb) USE INDEX FOR JOIN (kc) WHERE b = 1 AND c = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT * FROM t1 USE INDEX FOR JOIN (kb) IGNORE INDEX FOR JOIN (kb) WHERE b = 1 AND c = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT * FROM t1 USE INDEX (kb) FORCE INDEX (kc) WHERE b = 1 AND c = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT * FROM t1 USE INDEX FOR ORDER BY (kb) FORCE INDEX FOR JOIN (kc) WHERE b = 1 AND c = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ INDEX(t1 kc) */ * FROM t1 USE INDEX (kb) WHERE b = 1 AND c = 1;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ NO_RANGE_OPTIMIZATION(t1) */ * FROM t1 WHERE a < 2;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ NO_RANGE_OPTIMIZATION(t1) */ * FROM t1 WHERE a = 2;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ NO_RANGE_OPTIMIZATION(t1 kc) */ * FROM t1 WHERE c IN (1, 2);
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ JOIN_FIXED_ORDER() */ t1.d FROM t1 JOIN t2 ON t1.d = t2.d JOIN t3 ON t3.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT STRAIGHT_JOIN t1.d FROM t3 JOIN t2 ON t3.d = t2.d JOIN t1 ON t1.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ JOIN_ORDER(t3, t2, t1) */ t1.d FROM t1 JOIN t2 ON t1.d = t2.d JOIN t3 ON t3.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ JOIN_PREFIX(t2, t1) */ t1.d FROM t1 JOIN t2 ON t1.d = t2.d JOIN t3 ON t3.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ JOIN_SUFFIX(t3, t1) */ t1.d FROM t1 JOIN t2 ON t1.d = t2.d JOIN t3 ON t3.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ JOIN_SUFFIX(t1) JOIN_PREFIX(t3) */ t1.d FROM t1 JOIN t2 ON t1.d = t2.d JOIN t3 ON t3.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ JOIN_SUFFIX(t2) JOIN_PREFIX(t2) JOIN_ORDER(t3, t1) */ t1.d FROM t1 JOIN t2 ON t1.d = t2.d JOIN t3 ON t3.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ JOIN_PREFIX(t2) */ STRAIGHT_JOIN t1.d FROM t1 JOIN t2 ON t1.d = t2.d JOIN t3 ON t3.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ JOIN_ORDER(t2, t1) */ t1.d FROM t1 LEFT JOIN t2 ON t1.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT t1.d FROM t1 STRAIGHT_JOIN t2 ON t1.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT t1.d FROM t2 STRAIGHT_JOIN t1 ON t1.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ NO_BNL(t2) */ t1.d FROM t1 STRAIGHT_JOIN t2 ON t1.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ NO_BNL() */ t1.d FROM t1 LEFT JOIN t2 ON t1.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ SET_VAR(optimizer_switch='block_nested_loop=off') */ t1.d FROM t1 STRAIGHT_JOIN t2 ON t1.d = t2.d;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ SET_VAR(optimizer_switch='block_nested_loop=off') BNL(t2) */ t1.d FROM t1 STRAIGHT_JOIN t2 ON t1.d = t2.d;
ALTER TABLE t1 ALTER INDEX kb INVISIBLE, ALTER INDEX kbc INVISIBLE;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT d FROM t1 WHERE b = 2;
-- hide possible_keys, rows, filtered, partitions, warnings
EXPLAIN SELECT /*+ SET_VAR(optimizer_switch='use_invisible_indexes=on') */ d FROM t1 WHERE b = 2;
