-- WITH CHECK OPTION of views that are joins or show more than columns, and views with a subquery among their columns.
CREATE TABLE a (id INT PRIMARY KEY, x INT, nn INT NOT NULL DEFAULT 5);
CREATE TABLE b (id INT PRIMARY KEY, y INT);
INSERT INTO a (id, x) VALUES (1, 1), (2, 2), (3, 3), (4, 4);
INSERT INTO b VALUES (1, 10), (2, 20), (3, 30);
CREATE VIEW joined AS SELECT a.id, a.x, b.id AS bid, b.y FROM a JOIN b ON a.id = b.id WHERE a.x < 30 WITH CHECK OPTION;
UPDATE joined SET x = 90 WHERE id = 1;
UPDATE joined SET x = 20 WHERE id = 1;
UPDATE joined SET id = 70 WHERE id = 1;
UPDATE joined SET bid = 70 WHERE id = 1;
UPDATE joined SET y = 100 WHERE id = 1;
UPDATE joined SET x = y WHERE id > 0;
UPDATE IGNORE joined SET x = y WHERE id > 0;
SHOW WARNINGS;
UPDATE joined, b AS other SET joined.x = other.y + 5 WHERE other.id = 2 AND joined.id = 2;
UPDATE b LEFT JOIN joined ON joined.id = b.id SET b.y = b.y + 1;
-- sort
SELECT * FROM joined;
CREATE VIEW outer_joined AS SELECT a.id, a.x FROM a LEFT JOIN b ON a.id = b.id WHERE b.y < 1000 WITH CHECK OPTION;
CREATE VIEW computed AS SELECT id, x + 1 AS x1, x FROM a WHERE x < 100 WITH CHECK OPTION;
UPDATE computed SET x = 200;
UPDATE computed SET x = 50 WHERE x1 = 21;
UPDATE computed SET x1 = 5;
CREATE VIEW beside AS SELECT a.id, x FROM a, (SELECT 1) AS d WITH CHECK OPTION;
CREATE VIEW grouped AS SELECT COUNT(*) FROM a WITH CHECK OPTION;
CREATE VIEW different AS SELECT DISTINCT id FROM a WITH CHECK OPTION;
-- The name is that of the view that the statement names.
CREATE VIEW checked AS SELECT id, x FROM a WHERE x < 60 WITH CHECK OPTION;
CREATE VIEW over_checked AS SELECT checked.id, checked.x, b.y FROM checked JOIN b ON checked.id = b.id;
UPDATE over_checked SET x = 70 WHERE id = 1;
UPDATE over_checked SET x = 55 WHERE id = 1;
CREATE VIEW both_checked AS SELECT checked.id, checked.x, b.y FROM checked JOIN b ON checked.id = b.id WITH CHECK OPTION;
UPDATE both_checked SET x = 70 WHERE id = 1;
CREATE VIEW free AS SELECT id, x FROM a WHERE x < 60;
CREATE VIEW locally AS SELECT free.id, free.x, b.y FROM free JOIN b ON free.id = b.id WHERE b.y > 5 WITH LOCAL CHECK OPTION;
UPDATE locally SET x = 70 WHERE id = 1;
UPDATE locally SET y = 1 WHERE id = 2;
CREATE VIEW cascading AS SELECT free.id, free.x, b.y FROM free JOIN b ON free.id = b.id WHERE b.y > 5 WITH CHECK OPTION;
UPDATE cascading SET x = 70 WHERE id = 2;
UPDATE cascading SET y = 1 WHERE id = 2;
CREATE VIEW over_cascading AS SELECT id, x, y FROM cascading;
UPDATE over_cascading SET x = 70 WHERE id = 2;
UPDATE IGNORE over_cascading SET x = 70 WHERE id = 2;
UPDATE over_cascading SET x = 7 WHERE id = 2;
-- sort
SELECT * FROM a;
-- A subquery among the columns: the others are written, unless it reads the row.
CREATE VIEW with_most AS SELECT id, x, (SELECT MAX(y) FROM b) AS most FROM a WHERE x < 90 WITH CHECK OPTION;
UPDATE with_most SET x = 8 WHERE id = 2;
UPDATE with_most SET x = 95 WHERE id = 2;
UPDATE with_most SET most = 1;
UPDATE with_most SET x = 9 WHERE most > 5 AND id = 2;
UPDATE with_most JOIN b ON with_most.id = b.id SET with_most.x = 12 WHERE b.id = 3;
INSERT INTO with_most (id, x) VALUES (5, 5);
DELETE FROM with_most WHERE id = 4;
CREATE VIEW with_count AS SELECT id, x, (SELECT COUNT(*) FROM b WHERE b.id <= a.id) AS fewer FROM a;
UPDATE with_count SET x = 1;
DELETE FROM with_count;
CREATE VIEW of_some AS SELECT a.id, a.x, b.y FROM a JOIN b ON a.id = b.id WHERE a.id IN (SELECT 2 UNION SELECT 3) WITH CHECK OPTION;
UPDATE of_some SET x = 5;
UPDATE of_some SET x = 6 WHERE id = 2;
-- sort
SELECT * FROM a;
SELECT table_name, is_updatable, check_option FROM information_schema.views WHERE table_schema = 'golden' ORDER BY table_name;
