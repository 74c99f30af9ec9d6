-- Functions of texts that are all ASCII, and the same with other characters in front of, inside of and behind the place.
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(40), l VARCHAR(40) CHARACTER SET latin1, b VARBINARY(40), u VARCHAR(40) CHARACTER SET utf16);
INSERT INTO t (id, s) VALUES (1, 'plain text'), (2, 'é plain'), (3, 'plain é'), (4, ''), (5, NULL), (6, 'aéßİıſ'), (7, 'ab😀cd😀'), (8, 'the cat the dog'), (9, 'x'), (10, 'tththe');
UPDATE t SET l = s, b = s, u = s WHERE id < 6 OR id > 7;
SELECT id, UPPER(s), LOWER(s), UPPER(l), LOWER(UPPER(l)), HEX(UPPER(b)), UPPER(u) FROM t ORDER BY id;
SELECT id, SUBSTRING(s, 3), SUBSTRING(s, 3, 2), SUBSTRING(s, -3), SUBSTRING(s, -3, 2), SUBSTRING(s, 0, 2), SUBSTRING(s, 20, 1), SUBSTRING(s, 2, -1), SUBSTRING(s, -20, 3) FROM t ORDER BY id;
SELECT id, LEFT(s, 3), RIGHT(s, 3), LEFT(s, 0), LEFT(s, -1), LEFT(s, 100), MID(u, 2, 3), LEFT(u, 2), SUBSTRING(b, 2, 3), SUBSTRING(l, 2, 3) FROM t ORDER BY id;
SELECT id, REPLACE(s, 'the', 'that'), REPLACE(s, 't', ''), REPLACE(s, '', 'x'), REPLACE(s, 'é', 'ee'), REPLACE(s, 'tt', 't'), REPLACE(s, 'T', 'u'), REPLACE(l, 'l', 'LL'), REPLACE(u, 'p', 'P') FROM t ORDER BY id;
SELECT REPLACE(REPEAT('abcab', 40), 'ab', '-'), LENGTH(REPLACE(REPEAT('abcab', 400), 'ba', 'longer'));
SELECT id, CONCAT(s, '-', id), CONCAT(l, s), CONCAT(s, NULL), CONCAT(UPPER(s), LOWER(s)), CHARSET(CONCAT(l, s)), CONCAT(b, 'x'), CONCAT(id, 1.50) FROM t ORDER BY id;
SELECT id, s REGEXP 'ain', s REGEXP '^p.*t$', s REGEXP 'É', l REGEXP 'É', REGEXP_REPLACE(s, '[aeiou]', '*'), REGEXP_SUBSTR(s, '[a-z]+$') FROM t ORDER BY id;
SELECT id, CHAR_LENGTH(s), CHAR_LENGTH(u), INSERT(s, 2, 1, '__'), LPAD(s, 12, '.') FROM t ORDER BY id;
SELECT DATE_FORMAT('2009-01-05 03:04:05.000607', '%a|%W|%b|%M|%c|%m|%d|%e|%D|%f|%H|%k|%h|%I|%l|%i|%s|%S|%p|%r|%T|%j|%w|%Y|%y|%U|%u|%V|%v|%X|%x|%%|%q|%');
SELECT DATE_FORMAT('2010-11-23 22:14:15', '%D %H %l %r %j'), DATE_FORMAT('0000-00-00', '%j %Y %m'), DATE_FORMAT('2010-00-01', '%M'), TIME_FORMAT('-100:05:06', '%H %k %h %l %T %r');
SELECT YEAR('2010-11-23'), MONTH(20101123), DAY(101), MONTH(NULL), YEAR(CAST('2010-01-01' AS DATE)), DAY(CAST('2010-01-31 10:00:00' AS DATETIME));
