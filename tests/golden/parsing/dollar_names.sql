-- Names that begin with a dollar and have no quotes.
CREATE TABLE $t (id INT, $a INT, `$b` INT, c$ INT);
SELECT $a, $t.$a, `$b`, c$ FROM $t;
SELECT 1 AS $x, '$y';
PREPARE $s FROM 'SELECT 1 AS $q, 1 && 1';
EXECUTE $s;
DEALLOCATE PREPARE $s;
DROP TABLE $t;
