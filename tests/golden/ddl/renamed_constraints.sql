-- Names of constraints are unique in a schema after a table is renamed, too; those of temporary tables are their own.
CREATE DATABASE renamed_1;
CREATE DATABASE renamed_2;
CREATE TABLE renamed_1.p (a INT PRIMARY KEY);
CREATE TABLE renamed_1.t (a INT, CONSTRAINT c1 CHECK (a > 0), CONSTRAINT f1 FOREIGN KEY (a) REFERENCES renamed_1.p (a));
CREATE TABLE renamed_2.s (a INT, CONSTRAINT c1 CHECK (a > 0), CONSTRAINT f1 FOREIGN KEY (a) REFERENCES renamed_1.p (a));
RENAME TABLE renamed_1.t TO renamed_2.t;
ALTER TABLE renamed_1.t RENAME renamed_2.t;
CREATE TABLE renamed_1.g_1 (a INT CHECK (a > 1));
CREATE TABLE renamed_2.o (a INT, CONSTRAINT g_1_chk_1 CHECK (a > 0));
RENAME TABLE renamed_1.g_1 TO renamed_2.g_1;
RENAME TABLE renamed_1.g_1 TO renamed_2.g_2;
CREATE TABLE renamed_1.k (a INT, FOREIGN KEY (a) REFERENCES renamed_1.p (a));
CREATE TABLE renamed_1.w (a INT, CONSTRAINT k2_ibfk_1 FOREIGN KEY (a) REFERENCES renamed_1.p (a));
RENAME TABLE renamed_1.k TO renamed_1.k2;
ALTER TABLE renamed_1.k RENAME renamed_1.k2;
RENAME TABLE renamed_1.w TO renamed_1.w2, renamed_1.k TO renamed_1.k3;
SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_SCHEMA LIKE 'renamed%' ORDER BY 1, 2, 3;
CREATE TABLE renamed_1.q (a INT, CONSTRAINT e CHECK (a > 0));
CREATE TEMPORARY TABLE renamed_1.te (a INT, CONSTRAINT e CHECK (a > 0));
CREATE TEMPORARY TABLE renamed_1.te2 (a INT, CONSTRAINT e CHECK (a > 0));
INSERT INTO renamed_1.te2 VALUES (0);
ALTER TABLE renamed_1.te2 ADD CONSTRAINT e CHECK (a > 1);
-- differs: names of a temporary table's constraints are its own in ALTER TABLE, too
ALTER TABLE renamed_1.te2 ADD CONSTRAINT c1 CHECK (a > 1);
DROP DATABASE renamed_2;
DROP DATABASE renamed_1;
