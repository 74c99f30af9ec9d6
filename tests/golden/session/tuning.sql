-- Variables of things that size or time what has no counterpart, and some that have one value.
SET innodb_parallel_read_threads = 16;
SET innodb_parallel_read_threads = DEFAULT;
-- differs: latches spin in their own way
SET GLOBAL innodb_spin_wait_delay = 7;
SET GLOBAL innodb_spin_wait_delay = DEFAULT;
-- differs: there is no change buffer
SET GLOBAL innodb_change_buffering = 'all';
SET GLOBAL innodb_change_buffering = 'none';
SET GLOBAL innodb_commit_concurrency = 0;
SET GLOBAL innodb_commit_concurrency = 1;
SET innodb_commit_concurrency = 0;
SET GLOBAL innodb_max_dirty_pages_pct = 50.5;
SELECT @@innodb_max_dirty_pages_pct;
SET GLOBAL innodb_max_dirty_pages_pct = DEFAULT;
SELECT @@innodb_max_dirty_pages_pct, @@innodb_old_blocks_pct, @@innodb_read_io_threads > 0;
SET GLOBAL innodb_read_io_threads = 4;
SET GLOBAL innodb_stats_method = 'no';
SELECT @@optimizer_trace, @@optimizer_trace_features, @@optimizer_trace_offset;
SET optimizer_trace_offset = -2, optimizer_trace_limit = 2;
SELECT @@optimizer_trace_offset, @@optimizer_trace_limit;
SELECT @@binlog_cache_size, @@binlog_checksum, @@binlog_row_metadata, @@range_alloc_block_size;
SET GLOBAL binlog_cache_size = 5000;
SELECT @@binlog_cache_size;
SET GLOBAL binlog_cache_size = DEFAULT;
SELECT @@pseudo_replica_mode, @@use_secondary_engine, @@restrict_fk_on_non_standard_key;
SET GLOBAL use_secondary_engine = OFF;
SELECT @@admin_address, @@ssl_cipher, @@innodb_ft_aux_table;
