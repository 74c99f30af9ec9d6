-- CLASS_ORIGIN and SUBCLASS_ORIGIN: ISO's for all classes of its letters and digits, whatever the subclass; none where SIGNAL raised it.
CREATE TABLE t (a INT PRIMARY KEY, b INT UNSIGNED);
INSERT INTO t VALUES (1, 1);
CREATE PROCEDURE origins(query TEXT) BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN GET DIAGNOSTICS CONDITION 1 @state = RETURNED_SQLSTATE, @code = MYSQL_ERRNO, @class = CLASS_ORIGIN, @subclass = SUBCLASS_ORIGIN; SELECT @state, @code, @class, @subclass; END; SET @query = query; PREPARE s FROM @query; EXECUTE s; END;
CALL origins('SELECT missing');
CALL origins('SELECT * FROM missing');
CALL origins('CREATE TABLE t (a INT)');
CALL origins('INSERT INTO t VALUES (1, 1)');
CALL origins('INSERT INTO t VALUES (2, -1)');
CALL origins('INSERT INTO t VALUES (1, 2, 3)');
CALL origins('INSERT INTO t VALUES (2, ''x'')');
CALL origins('SET GLOBAL missing = 1');
CALL origins('KILL 99999999');
CALL origins('SELECT 1 +');
CREATE PROCEDURE of_xa() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN GET DIAGNOSTICS CONDITION 1 @state = RETURNED_SQLSTATE, @class = CLASS_ORIGIN, @subclass = SUBCLASS_ORIGIN; SELECT @state, @class, @subclass; END; XA END 'x'; END;
CALL of_xa();
CREATE PROCEDURE signalled() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN GET DIAGNOSTICS CONDITION 1 @state = RETURNED_SQLSTATE, @class = CLASS_ORIGIN, @subclass = SUBCLASS_ORIGIN; SELECT @state, @class, @subclass; END; SIGNAL SQLSTATE 'HY000'; END;
CALL signalled();
