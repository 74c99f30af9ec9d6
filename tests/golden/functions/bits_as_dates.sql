-- Where a date or time is asked for, a BIT is read as the text that its bytes are.
CREATE TABLE t (b BIT(5), d BIT(64), tm TIME);
INSERT INTO t VALUES (1, 0x32303234303130, '10:00:00'), (21, 0x323032343031, NULL), (NULL, NULL, NULL);
-- hide warnings
SELECT CAST(b AS TIME), CAST(b AS DATE), CAST(b AS DATETIME), CAST(b AS SIGNED) FROM t;
-- hide warnings
SELECT TIME(b), HOUR(b), YEAR(b) FROM t;
