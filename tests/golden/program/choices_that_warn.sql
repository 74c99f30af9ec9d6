-- A condition that warns, and a CONTINUE handler takes the warning: what hangs from the condition is left, all branches of it.
CREATE PROCEDURE ifs(v VARCHAR(10)) BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING SELECT 'warned'; IF v THEN SELECT 1; ELSEIF v > 2 THEN SELECT 2; ELSE SELECT 3; END IF; SELECT 'after'; END;
CALL ifs('abc');
CALL ifs('1x');
CALL ifs('1');
CREATE PROCEDURE cases(v VARCHAR(10)) BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING SELECT 'warned'; CASE WHEN v > 5 THEN SELECT 1; WHEN v > 2 THEN SELECT 2; ELSE SELECT 3; END CASE; SELECT 'after one'; CASE v + 0 WHEN 1 THEN SELECT 1; ELSE SELECT 3; END CASE; SELECT 'after two'; CASE v + 0 WHEN 7 THEN SELECT 7; END CASE; SELECT 'after three'; END;
CALL cases('abc');
CALL cases('1x');
CREATE PROCEDURE loops(v VARCHAR(10)) BEGIN DECLARE n INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR SQLWARNING SELECT 'warned', n; WHILE v < 1 DO SET n = n + 1; SET v = '2'; END WHILE; SELECT n; REPEAT SET n = n + 1; SET v = '0y'; UNTIL v > 5 END REPEAT; SELECT n; END;
CALL loops('abc');
CREATE PROCEDURE operands() BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SELECT 'failed'; CASE (SELECT 1 UNION SELECT 2) WHEN 1 THEN SELECT 1; ELSE SELECT 2; END CASE; SELECT 'after'; END;
CALL operands();
-- The procedure is looked for before its arguments are computed, and they are counted.
CREATE FUNCTION told() RETURNS INT DETERMINISTIC BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'computed'; RETURN 1; END;
CALL missing(told());
CALL ifs(told(), 2);
CALL ifs(told());
CALL missing(also_missing());
CALL missing(no_column);
