-- EXPLAIN: what both planners decide alike
CREATE TABLE a (id INT PRIMARY KEY, x INT, name VARCHAR(10), u INT NOT NULL, KEY (x), UNIQUE (u), KEY xn (name, x));
CREATE TABLE b (id INT PRIMARY KEY, a_id INT, y DECIMAL(6,2), KEY (a_id));
INSERT INTO a WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, i % 100, CONCAT('n', i % 50), i FROM n;
INSERT INTO b WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, i % 200, i FROM n;
ANALYZE TABLE a, b;
-- hide warnings
EXPLAIN FORMAT=TRADITIONAL SELECT 1;
-- hide warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a WHERE id = 5;
-- hide warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a WHERE u = 5;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a WHERE x = 5;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a WHERE name = 'n1' AND x = 1;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT x FROM a;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a WHERE id BETWEEN 5 AND 8;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a WHERE id IN (1, 2, 3);
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a ORDER BY name;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a ORDER BY id;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT name, COUNT(*) FROM a IGNORE INDEX (xn) GROUP BY name;
-- hide rows, filtered, warnings
-- differs: a hash join where MySQL looks up
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a STRAIGHT_JOIN b ON b.a_id = a.id;
-- hide rows, filtered, warnings
-- differs: a hash join where MySQL looks up
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM b STRAIGHT_JOIN a ON b.a_id = a.id;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a LEFT JOIN b ON b.id = a.id;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT id FROM a UNION SELECT id FROM b;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT id FROM a UNION ALL SELECT id FROM b;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a WHERE id = (SELECT MAX(id) FROM b);
-- hide rows, filtered, warnings
-- differs: groups are hashed, not read in index order
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM (SELECT x, COUNT(*) c FROM a GROUP BY x LIMIT 5) d;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL UPDATE a SET x = 1 WHERE id = 5;
-- hide rows, filtered, warnings
EXPLAIN FORMAT=TRADITIONAL DELETE FROM a WHERE id < 5;
-- hide warnings
EXPLAIN FORMAT=TRADITIONAL INSERT INTO a VALUES (2000, 1, 'q', 2000);
-- hide rows, filtered, warnings
-- differs: the clustered key behind an index is no range of it
EXPLAIN FORMAT=TRADITIONAL INSERT INTO b SELECT id + 5000, x, 1 FROM a WHERE id < 3;
-- hide warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM nowhere;
-- hide rows, filtered, warnings
-- differs: conditions beside the range are checked on the row
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a FORCE INDEX (x) WHERE id > 3 AND x > 5;
-- hide warnings
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a USE INDEX (nothing);
