-- DELETE of several tables names a view with its schema as it does a table.
CREATE TABLE t (a INT PRIMARY KEY, b INT);
CREATE TABLE s (x INT);
CREATE VIEW v AS SELECT a, b FROM t;
CREATE VIEW renamed AS SELECT a k, b l FROM t;
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);
INSERT INTO s VALUES (2), (3);
DELETE golden.v FROM golden.v WHERE a = 1;
DELETE golden.v FROM golden.v JOIN s ON x = a WHERE a = 2;
DELETE FROM golden.renamed USING golden.renamed JOIN golden.s ON x = k WHERE k = 3;
DELETE golden.w FROM golden.v AS w WHERE a = 4;
DELETE golden.t FROM golden.v;
DELETE w FROM golden.v AS w WHERE a = 4;
SELECT * FROM t;
