-- RENAME TABLE looks at the new name first.
CREATE TABLE t1 (a INT, b INT, KEY x (a), KEY y (b));
CREATE TABLE t2 (a INT);
RENAME TABLE t3 TO t1;
RENAME TABLE t3 TO nosuch.t1;
RENAME TABLE t3 TO t4;
RENAME TABLE t1 TO nosuch.x;
RENAME TABLE t1 TO t9, t9 TO t2;
-- Indexes are renamed all at once: names can be swapped, and a name means the index that has it before.
ALTER TABLE t1 RENAME INDEX x TO z, RENAME INDEX z TO x;
-- differs: InnoDB's tables of statistics warn of each name (1025), which counts in the info string
ALTER TABLE t1 RENAME INDEX x TO y, RENAME INDEX y TO x;
SHOW CREATE TABLE t1;
ALTER TABLE t1 RENAME INDEX x TO z, ALTER INDEX z INVISIBLE;
ALTER TABLE t1 RENAME INDEX x TO z, ALTER INDEX x INVISIBLE;
ALTER TABLE t1 ALTER INDEX x INVISIBLE, RENAME INDEX x TO z;
ALTER TABLE t1 RENAME INDEX x TO z, DROP INDEX z;
ALTER TABLE t1 RENAME INDEX x TO y;
ALTER TABLE t1 ADD FULLTEXT INDEX f (a DESC);
ALTER TABLE t1 ADD FULLTEXT INDEX f (a ASC);
