-- What is said of oneself: names of columns without a name, lengths, what is closed, how long a sleep may be.
SELECT null;
SELECT Null, 1 IS null, (null), -null, NOT null;
SELECT null UNION SELECT 1;
SELECT COUNT(`NULL`) AS n FROM (SELECT null) t;
CREATE VIEW v AS SELECT null, 1 AS a;
SELECT COUNT(`NULL`) AS n, SUM(a) AS a FROM v;
SELECT @@secure_file_priv;
SHOW VARIABLES LIKE 'secure_file_priv';
SELECT 1 INTO OUTFILE 'x';
CREATE TABLE e (a ENUM('a', 'bb', 'ccc'), b SET('x', 'yy', 'z'), c ENUM('ä', 'öö') CHARACTER SET latin1, d VARCHAR(10), e CHAR(3) CHARACTER SET utf8mb3, g ENUM('abc') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, h SET('ää', 'y') CHARACTER SET utf8mb3, i ENUM('') CHARACTER SET binary);
SELECT COLUMN_NAME AS n, CHARACTER_MAXIMUM_LENGTH AS m, CHARACTER_OCTET_LENGTH AS o FROM information_schema.COLUMNS WHERE TABLE_NAME = 'e' AND TABLE_SCHEMA = DATABASE() ORDER BY ORDINAL_POSITION;
SET max_execution_time = 100;
SELECT SLEEP(5) AS s;
SELECT SLEEP(5) AS s FROM (SELECT 1 UNION SELECT 2) t;
SET max_execution_time = 0;
SELECT PLUGIN_NAME AS n, PLUGIN_STATUS AS s, PLUGIN_TYPE AS t FROM information_schema.PLUGINS WHERE PLUGIN_NAME IN ('InnoDB', 'MEMORY', 'MyISAM', 'caching_sha2_password') ORDER BY n;
