-- Columns of the tables about replication channels.
SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLLATION_NAME, COLUMN_DEFAULT FROM information_schema.COLUMNS
  WHERE TABLE_SCHEMA = 'performance_schema' AND TABLE_NAME LIKE 'replication%' ORDER BY TABLE_NAME, ORDINAL_POSITION;
SELECT * FROM performance_schema.replication_group_member_stats;
