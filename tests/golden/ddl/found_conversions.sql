-- Found by the differential runner: values that ALTER TABLE brings to another type.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, e ENUM('a','b'), x TIME(2), y TIME);
INSERT IGNORE INTO t (e, x, y) VALUES ('a', '00:00:00', '10:00:00'), ('x', '10:00:00.25', '-10:00:00');
-- a time is one of today
ALTER TABLE t MODIFY x DATETIME(2), MODIFY y TIMESTAMP NULL;
SELECT TIMEDIFF(x, CURRENT_DATE()), TIMEDIFF(y, TIMESTAMP(CURRENT_DATE())) FROM t;
-- what is no member stays none
ALTER TABLE t MODIFY e ENUM('c','b','a');
SELECT id, e, e + 0 FROM t;
ALTER TABLE t MODIFY e ENUM('b','c');
SET sql_mode = '';
ALTER TABLE t MODIFY e ENUM('b','c');
SELECT id, e, e + 0 FROM t;
