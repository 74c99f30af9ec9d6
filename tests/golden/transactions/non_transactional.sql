-- Tables of engines that are not transactional: what a statement changes in them stays.
CREATE TABLE m (a INT PRIMARY KEY, b INT, UNIQUE (b)) ENGINE=MyISAM;
CREATE TABLE i (a INT PRIMARY KEY, b INT);
CREATE TABLE h (a INT PRIMARY KEY) ENGINE=MEMORY;
-- Rows before the one that fails.
INSERT INTO m VALUES (1, 1), (2, 2), (1, 3), (4, 4);
-- sort
SELECT * FROM m;
-- The row that fails is not there by half.
INSERT INTO m VALUES (5, 5), (6, 1);
-- sort
SELECT * FROM m;
SELECT b FROM m ORDER BY b;
UPDATE m SET b = b + 1 ORDER BY a DESC;
UPDATE m SET b = b + 1;
-- sort
SELECT * FROM m;
UPDATE m SET a = a + 10, b = IF(a = 15, 2, b) ORDER BY a;
-- sort
SELECT * FROM m;
INSERT INTO m VALUES (20, 20), (11, 1) ON DUPLICATE KEY UPDATE b = 3;
-- sort
SELECT * FROM m;
REPLACE INTO m VALUES (11, 20), (30, 30);
-- sort
SELECT * FROM m;
DELETE FROM m;
INSERT INTO h VALUES (1), (2), (1);
-- sort
SELECT * FROM h;
-- ROLLBACK
BEGIN;
INSERT INTO m VALUES (1, 1);
ROLLBACK;
SHOW WARNINGS;
-- sort
SELECT * FROM m;
BEGIN;
INSERT INTO h VALUES (3);
ROLLBACK;
-- sort
SELECT * FROM h;
BEGIN;
-- sort
SELECT * FROM m;
UPDATE m SET b = b WHERE a = 77;
ROLLBACK;
BEGIN;
INSERT INTO m VALUES (2, 2), (2, 2);
ROLLBACK;
BEGIN;
INSERT INTO m VALUES (3, 3);
COMMIT;
ROLLBACK;
-- sort
SELECT * FROM m;
SET autocommit = 0;
DELETE FROM m WHERE a = 3;
ROLLBACK;
ROLLBACK;
SET autocommit = 1;
-- sort
SELECT * FROM m;
BEGIN;
TRUNCATE TABLE m;
ROLLBACK;
-- Savepoints
BEGIN;
-- hide warnings
INSERT INTO i VALUES (1, 1);
SAVEPOINT s;
-- hide warnings
INSERT INTO i VALUES (2, 2);
-- hide warnings
INSERT INTO m VALUES (2, 2);
ROLLBACK TO SAVEPOINT s;
-- sort
SELECT * FROM i;
-- sort
SELECT * FROM m;
ROLLBACK;
-- sort
SELECT * FROM i;
-- sort
SELECT * FROM m;
-- Both kinds in one statement
INSERT INTO i VALUES (1, 1), (2, 2), (3, 3);
-- hide warnings
INSERT INTO m SELECT a + 10, b + 10 FROM i UNION ALL SELECT 13, 5;
SHOW WARNINGS;
-- sort
SELECT * FROM m;
BEGIN;
-- hide warnings
DELETE m, i FROM m JOIN i ON m.a - 10 = i.a WHERE i.a = 1;
ROLLBACK;
-- sort
SELECT * FROM m;
-- sort
SELECT * FROM i;
BEGIN;
-- hide warnings
INSERT INTO i SELECT a, b FROM m UNION ALL SELECT 1, 1;
-- sort
SELECT * FROM i;
-- hide warnings
INSERT INTO i SELECT a, b FROM m;
SELECT i.*, (SELECT b FROM m WHERE m.a = i.a) AS mb FROM i WHERE EXISTS (SELECT * FROM m WHERE m.a = i.a) OR a < 3;
ROLLBACK;
-- sort
SELECT * FROM i;
-- sort
SELECT * FROM m;
SELECT m.a, (SELECT COUNT(*) FROM i WHERE i.a <= m.a - (SELECT COUNT(*) FROM h)) AS n FROM m WHERE m.a > (SELECT MAX(a) FROM i);
-- sort
SELECT * FROM i LEFT JOIN m ON m.a = i.a + 10 LEFT JOIN h ON h.a = i.a;
-- sort
SELECT * FROM m LEFT JOIN (SELECT a, b FROM i UNION SELECT a, a FROM h) AS u ON u.a = m.a - 10;
-- Temporary tables
CREATE TEMPORARY TABLE t (a INT PRIMARY KEY) ENGINE=MyISAM;
BEGIN;
INSERT INTO t VALUES (1), (2), (1);
ROLLBACK;
-- sort
SELECT * FROM t;
START TRANSACTION READ ONLY;
INSERT INTO t VALUES (3);
INSERT INTO m VALUES (3, 3);
ROLLBACK;
-- sort
SELECT * FROM t;
BEGIN;
-- hide warnings
CREATE TEMPORARY TABLE t2 ENGINE=MyISAM SELECT a FROM i;
-- hide warnings
ROLLBACK;
-- sort
SELECT * FROM t2;
DROP TABLE t, t2;
-- A strict mode is strict about the first row alone.
SET sql_mode = 'STRICT_TRANS_TABLES';
CREATE TABLE s (a INT NOT NULL, b INT) ENGINE=MyISAM;
INSERT INTO s VALUES (1, 1), ('x', 2), (NULL, 3), (99999999999, 4);
INSERT INTO s VALUES ('x', 5), (6, 6);
INSERT INTO s (a, b) VALUES (7, 7), (DEFAULT, 8);
INSERT INTO s (b) VALUES (9);
INSERT INTO s SELECT 10, 10 UNION ALL SELECT NULL, 11;
-- sort
SELECT * FROM s;
UPDATE s SET a = IF(b = 1, 5, 99999999999);
-- sort
SELECT * FROM s;
SET sql_mode = 'STRICT_ALL_TABLES';
INSERT INTO s VALUES (12, 12), ('x', 13), (14, 14);
-- sort
SELECT * FROM s WHERE b > 11;
SET sql_mode = DEFAULT;
DROP TABLE s;
-- Prepared statements, HANDLER
PREPARE p FROM 'INSERT INTO m VALUES (?, ?)';
SET @a = 50;
EXECUTE p USING @a, @a;
EXECUTE p USING @a, @a;
HANDLER m OPEN;
HANDLER m READ `PRIMARY` LAST;
HANDLER m CLOSE;
XA START 'x';
INSERT INTO m VALUES (51, 51);
XA END 'x';
XA ROLLBACK 'x';
-- sort
SELECT * FROM m WHERE a > 49;
-- Others see what there is now, also inside of a transaction that has its snapshot.
BEGIN;
SELECT COUNT(*) FROM m;
SELECT COUNT(*) FROM i;
-- on other
INSERT INTO m VALUES (60, 60);
-- hide warnings
INSERT INTO h VALUES (60);
-- hide warnings
INSERT INTO i VALUES (60, 60);
BEGIN;
INSERT INTO m VALUES (61, 61);
-- on main
SELECT COUNT(*) FROM i;
-- sort
SELECT * FROM m WHERE a >= 60;
-- sort
SELECT * FROM h WHERE a >= 60;
SELECT m.a, i.a FROM m LEFT JOIN i ON m.a = i.a WHERE m.a >= 60;
SELECT i.a, m.a FROM i RIGHT JOIN m ON m.a = i.a WHERE m.a >= 60;
-- sort
SELECT * FROM m WHERE a >= 60 FOR UPDATE;
-- sort
SELECT * FROM m WHERE a >= 60 FOR SHARE;
UPDATE m SET b = b + 1 WHERE a = 61;
-- on other
UPDATE m SET b = b + 1 WHERE a = 61;
ROLLBACK;
-- on main
COMMIT;
-- sort
SELECT * FROM m WHERE a >= 60;
LOCK TABLES m WRITE, i READ;
INSERT INTO m VALUES (70, 70);
SELECT COUNT(*) FROM m;
UNLOCK TABLES;
-- sort
SELECT * FROM m WHERE a = 70;
