-- Headings are as written, but for columns of the dictionary's views.
SELECT sTatus FROM information_schema.innodb_metrics WHERE 0;
SELECT m.sTatus, x.table_nAme FROM information_schema.innodb_metrics m JOIN information_schema.tables x WHERE 0;
-- hide warnings
SELECT usEr FROM information_schema.processlist WHERE 0;
SELECT trX_id FROM information_schema.innodb_trx WHERE 0;
SELECT grantEe FROM information_schema.user_privileges WHERE 0;
SELECT plugin_nAme FROM information_schema.plugins WHERE 0;
SELECT engIne FROM information_schema.engines WHERE 0;
SELECT collatIon_name FROM information_schema.collations WHERE 0;
SELECT character_sEt_name FROM information_schema.character_sets WHERE 0;
SELECT constraint_nAme FROM information_schema.table_constraints WHERE 0;
SELECT spAce FROM information_schema.innodb_datafiles WHERE 0;
SELECT pOol_id FROM information_schema.innodb_buffer_pool_stats WHERE 0;
SELECT thread_Id FROM performance_schema.threads WHERE 0;
