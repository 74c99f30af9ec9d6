-- Texts that are too long for what SIGNAL says: cut off without a strict mode.
SET sql_mode = '';
SET @a = REPEAT('a', 65), @b = REPEAT('b', 129);
CREATE PROCEDURE p() SIGNAL SQLSTATE '01000' SET CLASS_ORIGIN = @a, MESSAGE_TEXT = @b;
CALL p();
SET sql_mode = DEFAULT;
CREATE PROCEDURE q() SIGNAL SQLSTATE '01000' SET CLASS_ORIGIN = @a, MESSAGE_TEXT = @b;
CALL q();
