-- Values and types that the differential runner found to be others than MySQL's.

-- ENUM and SET in the working table of a recursive expression keep their members.
CREATE TABLE m (id INT, e ENUM('a','b'), s SET('x','y'), l ENUM('é','b') CHARACTER SET latin1);
INSERT INTO m VALUES (1, 'a', 'x,y', 'é'), (2, 'b', '', 'b'), (3, NULL, NULL, NULL);
WITH RECURSIVE r AS (SELECT id, 1 AS d, e, s, l FROM m UNION ALL SELECT r.id, d + 1, r.e, r.s, r.l FROM r WHERE d < 2) SELECT * FROM r;
WITH RECURSIVE r AS (SELECT id, 1 AS d, e FROM m UNION ALL SELECT r.id, d + 1, 'new' FROM r WHERE d < 2) SELECT * FROM r;
WITH RECURSIVE r AS (SELECT id, 1 AS d, e FROM m UNION ALL SELECT r.id, d + 1, 'B' FROM r WHERE d < 2) SELECT * FROM r;
CREATE TABLE mm WITH RECURSIVE r AS (SELECT id, 1 AS d, e, s, l FROM m UNION ALL SELECT r.id, d + 1, r.e, r.s, r.l FROM r WHERE d < 2) SELECT * FROM r;
SHOW CREATE TABLE mm;
