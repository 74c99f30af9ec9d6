-- What 1062 shows of a key with prefixes
CREATE TABLE u (id INT PRIMARY KEY, n INT UNIQUE, b LONGBLOB, c VARCHAR(3000), d TEXT, e VARBINARY(20), UNIQUE KEY b (b(3)), UNIQUE KEY c (c(3)), UNIQUE KEY d (d(2)), UNIQUE KEY e (n, e(2)));
INSERT INTO u VALUES (1, 1, REPEAT('x', 20000), REPEAT('é', 200), REPEAT('é', 200), 'abc');
INSERT INTO u VALUES (2, 3, REPEAT('x', 4), 'a', 'z', 'abc');
INSERT INTO u VALUES (2, 3, 'b', REPEAT('é', 10), 'z', 'abc');
INSERT INTO u VALUES (2, 3, 'b', 'aa', REPEAT('é', 10), 'abc');
INSERT INTO u VALUES (2, 2, 'b', 'aa', 'aa', 'abc');
UPDATE u SET b = REPEAT('x', 10000) WHERE id = 2;
UPDATE u SET n = 1 WHERE id = 2;
ALTER TABLE u DROP KEY n;
UPDATE u SET n = 1 WHERE id = 2;
ALTER TABLE u DROP KEY b;
UPDATE u SET b = 'xxx' WHERE id = 2;
ALTER TABLE u ADD UNIQUE KEY b (b(3)), ALGORITHM=COPY;
SELECT id, n, LENGTH(b), c, d, e FROM u WHERE id = 2;
