-- ASC and DESC in indexes that have no order: refused before the table and its columns are looked at.
CREATE TABLE t (a INT, KEY k (a ASC) USING HASH) ENGINE = MEMORY;
CREATE TABLE t (a INT, KEY k (a DESC) USING HASH);
CREATE TABLE t (a INT, KEY k USING HASH (nosuch DESC));
CREATE TABLE t (a INT, KEY k USING HASH (nosuch));
CREATE TABLE t (a TEXT, FULLTEXT KEY k (a DESC));
CREATE TABLE t (a POINT NOT NULL, SPATIAL KEY k (a ASC));
CREATE INDEX k USING HASH ON nosuch (a DESC);
ALTER TABLE nosuch ADD b POINT NOT NULL, ADD SPATIAL INDEX k (b DESC);
CREATE TABLE t (a INT, KEY k (a DESC) USING BTREE);
