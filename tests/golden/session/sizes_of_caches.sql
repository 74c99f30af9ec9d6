-- Sizes of caches, which can be changed while the server runs.
SET @threads = @@GLOBAL.thread_cache_size, @tables = @@GLOBAL.table_open_cache;
SET GLOBAL thread_cache_size = 5;
SELECT @@thread_cache_size;
SET GLOBAL thread_cache_size = 20000;
SHOW WARNINGS;
SET GLOBAL thread_cache_size = -1;
SHOW WARNINGS;
SELECT @@thread_cache_size;
SET thread_cache_size = 5;
SET GLOBAL thread_cache_size = 'many';
SET GLOBAL table_open_cache = 500;
SELECT @@table_open_cache;
SET GLOBAL table_open_cache = 0;
SHOW WARNINGS;
SELECT @@table_open_cache;
SET GLOBAL thread_cache_size = @threads, GLOBAL table_open_cache = @tables;
