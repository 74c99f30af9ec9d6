-- The shapes of bench/shapes.sh. "# name" begins one; "sizes" names sizes other than the tables'; "before" and "after" are run
-- without being measured, around each repetition, "beside" between them by a second connection, "once" once a server and size; "on" names
-- the servers that know the statement. {n} is the size, {list SEPARATOR|TEXT} and
-- {pairs SEPARATOR|TEXT} repeat TEXT (shapes.py says how). t{n} has n rows, d{n} a tenth of them.

# tables
before CREATE DATABASE IF NOT EXISTS shapes
before USE shapes
before CREATE TABLE IF NOT EXISTS digits (d INT PRIMARY KEY)
before REPLACE INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)
before CREATE TABLE t{n} (id INT PRIMARY KEY, k INT, g INT, u INT, d DECIMAL(12, 2), f DOUBLE, w VARCHAR(20), s VARCHAR(120), p CHAR(40), j JSON, dt DATETIME, KEY (k))
before INSERT INTO t{n} SELECT i, CRC32(i) % {n}, CRC32(i + 7) % 100, CRC32(i + 9) % 1000000, (CRC32(i + 1) % 1000000) / 100, CRC32(i + 2) / 977, CONCAT('w', CRC32(i + 3) % 1000), CONCAT_WS(' ', ELT(1 + CRC32(i + 4) % 8, 'amber', 'Basalt', 'cobalt', 'dune', 'ember', 'fjord', 'granite', 'harbour'), ELT(1 + CRC32(i + 5) % 8, 'under', 'over', 'near', 'along', 'Beyond', 'within', 'behind', 'across'), ELT(1 + CRC32(i + 6) % 8, 'the river', 'a quiet lake', 'old stones', 'the Meadow', 'low hills', 'tall grass', 'wet sand', 'the orchard'), i), CONCAT('prefix/', LEFT(SHA2(i, 224), 32)), CONCAT('{"id": ', i, ', "name": "n', CRC32(i) % 1000, '", "tags": ["a", "b", ', i % 10, '], "inner": {"x": ', i % 100, ', "y": "z"}}'), '2020-01-01' + INTERVAL CRC32(i + 8) % 100000000 SECOND FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d + 1 AS i FROM digits a, digits b, digits c, digits e, digits f, digits g) x WHERE i <= {n}
before CREATE TABLE d{n} (id INT PRIMARY KEY, g INT, name VARCHAR(30), nokey INT)
before INSERT INTO d{n} SELECT id, g, w, id FROM t{n} WHERE id <= {n} / 10
before ANALYZE TABLE t{n}, d{n}

# IN of constants, no key
sizes 100 1000 10000
SELECT COUNT(*) FROM t3000 WHERE u IN ({list ,|$r})

# NOT IN of ten constants
SELECT COUNT(*) FROM t{n} WHERE u NOT IN (1, 20, 300, 4000, 50000, 60001, 70002, 80003, 90004, 99999)

# IN of strings
sizes 100 1000 10000
SELECT COUNT(*) FROM t3000 WHERE s IN ({list ,|'w$r'})

# row IN, key on the first
sizes 10 100 1000
SELECT COUNT(*) FROM t30000 WHERE (k, u) IN ({list ,|($i, $r)})

# OR chain, no key
sizes 10 100 1000
SELECT COUNT(*) FROM t3000 WHERE {list OR |u = $r}

# OR chain by key
sizes 10 100 1000
SELECT COUNT(*) FROM t30000 WHERE {list OR |k = $i}

# CASE of constants
sizes 10 100 1000
SELECT SUM(CASE u {list |WHEN $r THEN $i} ELSE 0 END) FROM t3000

# EXPLAIN of a chain
sizes 2 5 8
EXPLAIN SELECT * FROM t3000 a0{list |, t3000 a$i} WHERE {list AND |a$i.id = a$p.k}

# EXPLAIN of a star
sizes 2 5 8
EXPLAIN SELECT * FROM t3000 a0{list |, d3000 a$i} WHERE {list AND |a$i.id = a0.k + $i}

# EXPLAIN of a clique
sizes 4 6 9
EXPLAIN SELECT * FROM {list , |t3000 a$i} WHERE {pairs AND |a$i.k = a$p.u}

# SUM beside long values
sizes 10 30 100
before DROP TABLE IF EXISTS lobs
before CREATE TABLE lobs (id INT PRIMARY KEY, v INT, b LONGBLOB)
before INSERT INTO lobs SELECT id, id, REPEAT('x', 100000) FROM t3000 WHERE id <= {n}
SELECT SUM(v) FROM lobs

# LIKE in the middle
SELECT COUNT(*) FROM t{n} WHERE s LIKE '%orchard 9%'

# LIKE of two parts
SELECT COUNT(*) FROM t{n} WHERE s LIKE '%near%lake%'

# LIKE of a prefix, no key
SELECT COUNT(*) FROM t{n} WHERE s LIKE 'granite near%'

# INSTR
SELECT COUNT(*) FROM t{n} WHERE INSTR(s, 'orchard') > 0

# LOCATE from a position
SELECT SUM(LOCATE('river', s, 3)) FROM t{n}

# REPLACE
SELECT SUM(LENGTH(REPLACE(s, 'the', 'that'))) FROM t{n}

# REGEXP
SELECT COUNT(*) FROM t{n} WHERE s REGEXP 'lake [0-9]+5$'

# UPPER and CONCAT
SELECT SUM(LENGTH(CONCAT(UPPER(s), '-', w))) FROM t{n}

# SUBSTRING and LEFT
SELECT SUM(CHAR_LENGTH(SUBSTRING(s, 3, 10)) + CHAR_LENGTH(LEFT(s, 4))) FROM t{n}

# equality of strings
SELECT COUNT(*) FROM t{n} WHERE w = 'W123'

# comparison of strings
SELECT COUNT(*) FROM t{n} WHERE s > 'fjord' AND s < 'granite'

# JSON_EXTRACT
SELECT SUM(JSON_EXTRACT(j, '$.inner.x')) FROM t{n}

# JSON_UNQUOTE in a condition
SELECT COUNT(*) FROM t{n} WHERE JSON_UNQUOTE(JSON_EXTRACT(j, '$.name')) = 'n123'

# JSON_CONTAINS
SELECT COUNT(*) FROM t{n} WHERE JSON_CONTAINS(j, '7', '$.tags')

# JSON_OBJECT and JSON_LENGTH
SELECT SUM(JSON_LENGTH(JSON_OBJECT('a', id, 'b', w))) FROM t{n}

# JSON_SET
SELECT SUM(LENGTH(JSON_SET(j, '$.inner.x', id))) FROM t{n}

# COUNT(*)
SELECT COUNT(*) FROM t{n}

# COUNT by a condition
SELECT COUNT(*) FROM t{n} WHERE u < 500000

# SUM and AVG of decimals
SELECT SUM(d), AVG(d), MAX(d) FROM t{n}

# arithmetic of decimals
SELECT SUM(d * 1.19 - d / 3) FROM t{n}

# functions of dates
SELECT SUM(YEAR(dt) + MONTH(dt)), MAX(dt + INTERVAL 1 MONTH) FROM t{n}

# DATE_FORMAT
SELECT COUNT(DISTINCT DATE_FORMAT(dt, '%Y-%m')) FROM t{n}

# GROUP BY, few groups
SELECT g, COUNT(*), SUM(u) FROM t{n} GROUP BY g

# GROUP BY, many groups
SELECT COUNT(*) FROM (SELECT u, COUNT(*) c FROM t{n} GROUP BY u) x

# GROUP BY a string
SELECT COUNT(*) FROM (SELECT w, SUM(u) FROM t{n} GROUP BY w) x

# GROUP BY WITH ROLLUP
SELECT COUNT(*) FROM (SELECT g, k % 10 AS m, SUM(u) FROM t{n} GROUP BY g, m WITH ROLLUP) x

# GROUP_CONCAT
SELECT g, LENGTH(GROUP_CONCAT(w ORDER BY id)) FROM t{n} GROUP BY g

# DISTINCT
SELECT COUNT(*) FROM (SELECT DISTINCT u FROM t{n}) x

# COUNT DISTINCT of a string
SELECT COUNT(DISTINCT s) FROM t{n}

# sort by an integer
SELECT MAX(x) FROM (SELECT ROW_NUMBER() OVER (ORDER BY u) x FROM t{n}) y

# sort by a string, all rows
SELECT id FROM t{n} ORDER BY s LIMIT 10 OFFSET {n}

# sort by strings of one prefix
SELECT id, p FROM t{n} ORDER BY p LIMIT 10 OFFSET {n}

# sort of whole rows
SELECT * FROM t{n} ORDER BY u LIMIT 10 OFFSET {n}

# ORDER BY LIMIT of ten
SELECT id, s FROM t{n} ORDER BY u LIMIT 10

# LIMIT with a large OFFSET, by key
SELECT id, s FROM t{n} ORDER BY id LIMIT 10 OFFSET {n}

# all rows to the client
SELECT * FROM t{n}

# join by primary key
SELECT COUNT(*), SUM(d.g) FROM t{n} t JOIN d{n} d ON d.id = t.k

# join by a secondary key
SELECT COUNT(*), SUM(t.g) FROM d{n} d JOIN t{n} t ON t.k = d.id

# join without a key
SELECT COUNT(*), SUM(d.g) FROM t{n} t JOIN d{n} d ON d.nokey = t.u

# join of strings without a key
SELECT COUNT(*) FROM t{n} t JOIN d3000 d ON d.name = t.w

# left join
SELECT COUNT(*), COUNT(d.id) FROM t{n} t LEFT JOIN d{n} d ON d.id = t.u

# semijoin
SELECT COUNT(*) FROM t{n} WHERE u IN (SELECT nokey FROM d{n})

# antijoin
SELECT COUNT(*) FROM t{n} t WHERE NOT EXISTS (SELECT 1 FROM d{n} d WHERE d.nokey = t.u)

# correlated EXISTS by key
SELECT COUNT(*) FROM d{n} d WHERE EXISTS (SELECT 1 FROM t{n} t WHERE t.k = d.id AND t.g > 50)

# correlated scalar subquery
SELECT SUM((SELECT MAX(t.u) FROM t{n} t WHERE t.k = d.id)) FROM d{n} d

# derived table joined
SELECT COUNT(*) FROM d{n} d JOIN (SELECT g, AVG(u) a FROM t{n} GROUP BY g) x ON x.g = d.g

# UNION
SELECT COUNT(*) FROM (SELECT u FROM t{n} UNION SELECT k FROM t{n}) x

# UNION ALL
SELECT COUNT(*), SUM(u) FROM (SELECT u FROM t{n} UNION ALL SELECT k FROM t{n}) x

# EXCEPT
SELECT COUNT(*) FROM (SELECT k FROM t{n} EXCEPT SELECT id FROM d{n}) x

# CTE read twice
WITH c AS (SELECT g, SUM(u) s FROM t{n} GROUP BY g) SELECT COUNT(*) FROM c a JOIN c b ON a.s < b.s

# doubling CTEs
sizes 4 7 10
WITH c0 AS (SELECT 1 AS x){list |, c$i AS (SELECT x FROM c$p UNION ALL SELECT x FROM c$p)} SELECT COUNT(*) FROM c{n}

# recursive CTE
sizes 1000 10000 100000
before SET @@cte_max_recursion_depth = 1000000
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < {n}) SELECT SUM(n) FROM r
on clearway mysql

# window, ranks by group
SELECT SUM(r) FROM (SELECT RANK() OVER (PARTITION BY g ORDER BY u) r FROM t{n}) x

# window, moving sum
SELECT SUM(m) FROM (SELECT SUM(u) OVER (ORDER BY id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) m FROM t{n}) x

# window, sum of a tenth of the rows
SELECT SUM(m) FROM (SELECT SUM(u) OVER (ORDER BY id ROWS BETWEEN {tenth} PRECEDING AND CURRENT ROW) m FROM t{n}) x

# range by a secondary key
SELECT SUM(u) FROM t{n} WHERE k BETWEEN {n} / 10 AND {n} / 5

# index only
SELECT COUNT(*) FROM t{n} WHERE k BETWEEN {n} / 10 AND {n} / 2

# MIN and MAX by group of a key
SELECT COUNT(*) FROM (SELECT k, MIN(id) FROM t{n} GROUP BY k) x

# INSERT of many rows
sizes 100 1000 10000
before DROP TABLE IF EXISTS i
before CREATE TABLE i (id INT PRIMARY KEY, a INT, b VARCHAR(30), KEY (a))
INSERT INTO i VALUES {list ,|($i, $r, 'row $r')}

# INSERT .. SELECT
before DROP TABLE IF EXISTS i
before CREATE TABLE i LIKE t{n}
INSERT INTO i SELECT * FROM t{n}

# UPDATE of many rows
before DROP TABLE IF EXISTS i
before CREATE TABLE i LIKE t{n}
before INSERT INTO i SELECT * FROM t{n}
UPDATE i SET g = g + 1, w = 'new'

# UPDATE of a key of many rows
before DROP TABLE IF EXISTS i
before CREATE TABLE i LIKE t{n}
before INSERT INTO i SELECT * FROM t{n}
UPDATE i SET k = k + 1

# DELETE of many rows
before DROP TABLE IF EXISTS i
before CREATE TABLE i LIKE t{n}
before INSERT INTO i SELECT * FROM t{n}
DELETE FROM i WHERE g < 50

# ALTER TABLE by copy
before DROP TABLE IF EXISTS i
before CREATE TABLE i LIKE t{n}
before INSERT INTO i SELECT * FROM t{n}
ALTER TABLE i FORCE, ALGORITHM=COPY

# CREATE INDEX of integers
before DROP TABLE IF EXISTS i
before CREATE TABLE i LIKE t{n}
before INSERT INTO i SELECT * FROM t{n}
CREATE INDEX iu ON i (u)

# CREATE INDEX of strings
before DROP TABLE IF EXISTS i
before CREATE TABLE i LIKE t{n}
before INSERT INTO i SELECT * FROM t{n}
CREATE INDEX iv ON i (s)

# LOAD DATA
before SELECT id, k, g, u, d, f, w, s, p, j, dt FROM t{n} INTO OUTFILE '{files}/{server}.{n}.txt'
before DROP TABLE IF EXISTS i
before CREATE TABLE i LIKE t{n}
LOAD DATA INFILE '{files}/{server}.{n}.txt' INTO TABLE i

# SELECT INTO OUTFILE
SELECT id, k, g, u, d, f, w, s, p, j, dt FROM t{n} INTO OUTFILE '{files}/{server}.{n}.txt'

# CHECK TABLE
CHECK TABLE t{n}

# CHECKSUM TABLE
CHECKSUM TABLE t{n}

# ANALYZE TABLE
ANALYZE TABLE t{n}

# scan of an old snapshot by a secondary key
sizes 300 3000 30000
before DROP TABLE IF EXISTS i
before CREATE TABLE i LIKE t30000
before INSERT INTO i SELECT * FROM t30000 WHERE id <= {n}
before START TRANSACTION WITH CONSISTENT SNAPSHOT
beside USE shapes
beside UPDATE i SET k = k + 1
beside UPDATE i SET k = k + 1
beside UPDATE i SET k = k + 1
SELECT COUNT(*), SUM(u) FROM i FORCE INDEX (k) WHERE k >= 0
after COMMIT

# information_schema.TABLES of one table
sizes 30 300 3000
once CREATE DATABASE IF NOT EXISTS many
once {list ;|CREATE TABLE IF NOT EXISTS many.m$i (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a))}
SELECT * FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'many' AND TABLE_NAME = 'm7'

# information_schema.COLUMNS of one table
sizes 30 300 3000
once CREATE DATABASE IF NOT EXISTS many
once {list ;|CREATE TABLE IF NOT EXISTS many.m$i (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a))}
SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'many' AND TABLE_NAME = 'm7'

# information_schema.STATISTICS of one table
sizes 30 300 3000
once CREATE DATABASE IF NOT EXISTS many
once {list ;|CREATE TABLE IF NOT EXISTS many.m$i (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a))}
SELECT * FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'many' AND TABLE_NAME IN ('m7', 'm9')

# information_schema.TABLES, sizes of a schema
sizes 30 300 3000
once CREATE DATABASE IF NOT EXISTS many
once {list ;|CREATE TABLE IF NOT EXISTS many.m$i (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a))}
SELECT SUM(DATA_LENGTH), COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'many'

# information_schema.COLUMNS of a type
sizes 30 300 3000
once CREATE DATABASE IF NOT EXISTS many
once {list ;|CREATE TABLE IF NOT EXISTS many.m$i (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a))}
SELECT COUNT(*) FROM information_schema.COLUMNS WHERE DATA_TYPE = 'varchar'

# SHOW TABLES
sizes 30 300 3000
once CREATE DATABASE IF NOT EXISTS many
once {list ;|CREATE TABLE IF NOT EXISTS many.m$i (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a))}
SHOW TABLES FROM many LIKE 'm1%'

# CREATE and DROP beside many tables
sizes 30 300 3000
once CREATE DATABASE IF NOT EXISTS many
once {list ;|CREATE TABLE IF NOT EXISTS many.m$i (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a))}
CREATE TABLE many.one_more (id INT PRIMARY KEY, a INT); DROP TABLE many.one_more
