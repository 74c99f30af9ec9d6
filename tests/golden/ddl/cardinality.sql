-- How many different keys an index has, as ANALYZE TABLE finds them in tables small enough to be counted.
CREATE TABLE c (id INT PRIMARY KEY, kind INT, name VARCHAR(20), note TEXT, UNIQUE KEY u (name), KEY k (kind), KEY kn (kind, name), KEY p (note(2)), KEY d (kind DESC, id));
INSERT INTO c VALUES (1, 1, 'a', 'aab'), (2, 1, 'b', 'aac'), (3, 2, 'c', 'bbb'), (4, 2, 'd', 'bbc'), (5, NULL, 'e', NULL), (6, NULL, 'f', 'bb'), (7, 3, 'g', 'aa'), (8, 3, 'h', 'aa');
ANALYZE TABLE c;
SHOW INDEX FROM c;
SELECT INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, CARDINALITY FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'c' ORDER BY 1, 2;
SELECT index_name, stat_name, stat_value, stat_description FROM mysql.innodb_index_stats WHERE database_name = DATABASE() AND table_name = 'c' AND stat_name = 'n_leaf_pages' ORDER BY 1, 2;
SELECT index_name, stat_name, stat_value FROM mysql.innodb_index_stats WHERE database_name = DATABASE() AND table_name = 'c' AND index_name IN ('PRIMARY', 'k') AND stat_name = 'n_diff_pfx01' ORDER BY 1, 2;
SELECT n_rows, clustered_index_size FROM mysql.innodb_table_stats WHERE database_name = DATABASE() AND table_name = 'c';
CREATE TABLE e (a INT, b INT, KEY ab (a, b));
ANALYZE TABLE e;
SHOW INDEX FROM e;
INSERT INTO e VALUES (1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2);
ANALYZE TABLE e;
SHOW INDEX FROM e;
SELECT n_rows FROM mysql.innodb_table_stats WHERE database_name = DATABASE() AND table_name = 'e';
DELETE FROM e WHERE a < 3;
ANALYZE TABLE e;
SHOW INDEX FROM e;
