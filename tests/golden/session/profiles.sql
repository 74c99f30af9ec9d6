-- Profiles of a session's statements: which are kept, in which columns they are shown.
SELECT @@have_profiling, @@profiling, @@profiling_history_size;
SHOW PROFILES;
SHOW PROFILE;
SET profiling = 1;
SELECT 1;
SELECT * FROM nope;
SET @a = 3;
-- hide Duration
SHOW PROFILES;
-- hide Status, Duration
SHOW PROFILE FOR QUERY 1 LIMIT 1;
-- hide Status, Duration, CPU_user, CPU_system, Block_ops_in, Block_ops_out
SHOW PROFILE CPU, BLOCK IO FOR QUERY 1 LIMIT 1;
SHOW PROFILE FOR QUERY 99;
SELECT QUERY_ID, MIN(SEQ), SUM(DURATION) > 0, SUM(CPU_USER) >= 0, MAX(SWAPS), MAX(SOURCE_FUNCTION IS NULL) FROM information_schema.profiling WHERE QUERY_ID IN (1, 3) GROUP BY QUERY_ID ORDER BY QUERY_ID;
SET profiling_history_size = 2;
-- hide Duration
SHOW PROFILES;
SET profiling_history_size = 0;
SHOW PROFILES;
SET profiling_history_size = 101;
SELECT @@profiling_history_size;
SET profiling_history_size = 3;
SELECT 2;
SET profiling = 0;
SELECT 3;
-- hide Duration
SHOW PROFILES;
SET profiling = 2;
SET GLOBAL profiling = 1;
SET GLOBAL profiling = 0;
