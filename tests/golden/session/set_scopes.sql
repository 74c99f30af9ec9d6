-- The scope that one item of SET is given holds for those behind it, unless they are written with @@.
SET GLOBAL auto_increment_offset = 3, auto_increment_increment = 5;
SELECT @@global.auto_increment_offset, @@auto_increment_offset, @@global.auto_increment_increment, @@auto_increment_increment;
SET SESSION auto_increment_offset = 2, auto_increment_increment = 4;
SELECT @@global.auto_increment_offset, @@auto_increment_offset, @@global.auto_increment_increment, @@auto_increment_increment;
SET GLOBAL auto_increment_offset = 1, @@auto_increment_increment = 6, @a = 1, auto_increment_increment = 1;
SELECT @@global.auto_increment_offset, @@auto_increment_offset, @@global.auto_increment_increment, @@auto_increment_increment;
SET LOCAL auto_increment_offset = 1, GLOBAL auto_increment_increment = 1, auto_increment_offset = 1;
SET SESSION auto_increment_offset = 1, max_connections = 7;
SET @a = 1, max_connections = 7;
SET GLOBAL auto_increment_offset = 1, timestamp = 1;
SET GLOBAL auto_increment_offset = 1, NAMES utf8mb4, auto_increment_increment = 1;
SELECT @@global.auto_increment_increment, @@auto_increment_increment;
