-- What monitors read, and what comes of it when it is kept.
CREATE TABLE x SELECT * FROM information_schema.processlist WHERE id = 0;
SHOW CREATE TABLE x;
CREATE TABLE z SELECT trx_id, trx_state, trx_query FROM information_schema.innodb_trx WHERE trx_id = 0;
SHOW CREATE TABLE z;
SELECT * FROM information_schema.innodb_cmp;
SELECT * FROM information_schema.innodb_cmpmem_reset;
SELECT COUNT(*) FROM information_schema.innodb_cmp_per_index;
SELECT COUNT(*) FROM information_schema.innodb_ft_config;
SELECT POOL_ID, POOL_SIZE > 0, DATABASE_PAGES > 0, FREE_BUFFERS <= POOL_SIZE, PENDING_DECOMPRESS, UNCOMPRESS_TOTAL FROM information_schema.innodb_buffer_pool_stats;
SELECT NAME, SUBSYSTEM, COUNT > 0, STATUS, TYPE FROM information_schema.innodb_metrics WHERE name IN ('buffer_pool_pages_total', 'buffer_pool_reads', 'dml_inserts', 'innodb_page_size', 'log_writes') ORDER BY name;
SELECT table_name, column_name, column_type FROM information_schema.columns WHERE table_schema = 'information_schema' AND data_type IN ('set', 'enum') AND table_name NOT LIKE 'JSON%' AND table_name NOT IN ('LIBRARIES', 'ROUTINE_LIBRARIES', 'RESOURCE_GROUPS') ORDER BY table_name, ordinal_position;
SELECT table_name, column_name, column_default, is_nullable, column_type FROM information_schema.columns WHERE table_schema = 'information_schema' AND table_name IN ('ENGINES', 'PROCESSLIST', 'INNODB_TRX', 'COLLATIONS', 'STATISTICS', 'ROUTINES', 'INNODB_METRICS') AND column_default IS NOT NULL AND data_type <> 'float' ORDER BY table_name, ordinal_position;
