-- Columns that * leaves out, in a view.
CREATE TABLE q (a INT, i INT INVISIBLE);
CREATE VIEW qv AS SELECT a, i FROM q WHERE i IS NULL;
SHOW CREATE VIEW qv;
SELECT * FROM qv;
