-- What a column without alias is called: a plus and parentheses around a number leave no mark.
CREATE TABLE t (a INT);
INSERT INTO t VALUES (1);
SELECT +1, +a, +(1), +(1 + 2), ++1, + 1.50, +'x', +NULL, +-1, -+1, +TRUE, +t.a, (a), (1), ((01)), ('x'), -(1), -'x', +1e3, (+2), +0x41 FROM t;
CREATE TABLE named SELECT +4294967296, (007), +(1.0);
SHOW CREATE TABLE named;
SET collation_connection = utf32_general_ci;
SELECT 'ab_def' LIKE 'ab#_def' ESCAPE '#', 'abXdef' LIKE 'ab#_def' ESCAPE '#', 'a%' LIKE 'aä%' ESCAPE 'ä';
SELECT 'a' LIKE 'a' ESCAPE '##';
SELECT interval_field, interval_value, event_type, Status FROM information_schema.EVENTS;
