-- A change that is carried to a child whose new key is there already: the error speaks of both tables.
CREATE TABLE p (a INT PRIMARY KEY, b VARCHAR(5));
CREATE TABLE c (x INT UNIQUE, y INT, FOREIGN KEY (x) REFERENCES p (a) ON UPDATE CASCADE);
INSERT INTO p VALUES (1, 'a'), (2, 'b'), (4, 'd');
INSERT INTO c VALUES (1, 1), (2, 2), (4, 4);
SET foreign_key_checks = 0;
INSERT INTO c VALUES (9, 3);
SET foreign_key_checks = 1;
UPDATE p SET a = 9 WHERE a = 1;
UPDATE p SET a = 9, b = 'q' WHERE b = 'a';
UPDATE p, (SELECT 1) AS one SET a = 9 WHERE a = 1;
INSERT INTO p VALUES (1, 'a') ON DUPLICATE KEY UPDATE a = 9;
SELECT * FROM p;
SELECT * FROM c;
