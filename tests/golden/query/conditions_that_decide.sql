-- Behind NULL in a conjunction nothing is looked at, nor behind what is true in a disjunction.
CREATE TABLE t (i INT, j INT);
INSERT INTO t VALUES (1, 1), (2, 2);
UPDATE t SET i = i WHERE NULL AND 'a';
UPDATE t SET i = i WHERE 'a' AND NULL;
UPDATE t SET i = i WHERE (NULL AND 'a') OR i = 7;
UPDATE t SET i = i WHERE i = 1 AND NULL AND 'a';
UPDATE t SET i = i WHERE i = 1 AND 0 AND 'a';
UPDATE t SET i = i WHERE MAKETIME(2, 2, 1) OR 'a';
UPDATE t JOIN t u ON NULL AND 'a' SET t.i = 1;
DELETE t FROM t LEFT JOIN t u ON NULL AND 'a' WHERE u.i = 4;
DELETE FROM t WHERE NULL AND 'a';
INSERT INTO t (i) SELECT 1 FROM t WHERE NULL AND 'a';
SELECT 1 FROM t WHERE NULL AND 'a' AND i;
SELECT i FROM t WHERE TIME'-01:02:03' OR 'a' ORDER BY i;
