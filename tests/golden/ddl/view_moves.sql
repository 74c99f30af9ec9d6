-- A view stays in its schema.
CREATE DATABASE golden_other;
CREATE VIEW v AS SELECT 1 AS a;
RENAME TABLE v TO golden_other.v;
ALTER TABLE v RENAME TO golden_other.v;
RENAME TABLE v TO w;
SHOW TABLES;
DROP DATABASE golden_other;
