-- SET of a column of NEW whose value cannot be computed, where a handler goes on: the column stays as it is, a variable becomes NULL.
CREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY, a TINYINT, b VARCHAR(4), c INT UNSIGNED);
CREATE TRIGGER g BEFORE INSERT ON u FOR EACH ROW BEGIN DECLARE v BIGINT UNSIGNED DEFAULT 5; DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET @h = @h + 1; SET NEW.b = 'q', NEW.a = 1; SET NEW.b = CONCAT('x', 0 - v); SET v = 0 - v; SET @v = v; END;
SET @h = 0;
INSERT INTO u (b, a, c) VALUES ('p', 2, 3);
SELECT * FROM u;
SELECT @h, @v IS NULL;
