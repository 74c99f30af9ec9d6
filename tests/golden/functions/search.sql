-- Long repetitive texts are searched in time that grows with their lengths, and the places found are the same.
SELECT LOCATE(CONCAT(REPEAT('a', 2000), 'b'), REPEAT('a', 40000));
SELECT LOCATE(CONCAT(REPEAT('A', 2000), 'b'), CONCAT(REPEAT('a', 40000), 'B'));
SELECT LOCATE('abab', 'abacabababab'), LOCATE('ABAB', 'abacabababab', 6), LOCATE('abab', 'abacabababab', 7), LOCATE('aab', 'aaaaab');
SELECT LOCATE('', 'abc'), LOCATE('', 'abc', 4), LOCATE('', 'abc', 5), LOCATE('', ''), LOCATE('a', ''), LOCATE('abc', 'ab');
SELECT INSTR('áÁaA', 'AAA'), INSTR(BINARY 'aAaA', 'Aa'), LOCATE('ñ', 'ON' COLLATE utf8mb4_0900_ai_ci), LOCATE('漢字', '字漢字');
SELECT LENGTH(REPLACE(REPEAT('a', 40000), CONCAT(REPEAT('a', 2000), 'b'), 'c'));
SELECT REPLACE('aaaaa', 'aa', 'b'), REPLACE('aaaa', 'a', ''), REPLACE('', 'a', 'b'), REPLACE('abc', '', 'x'), REPLACE('ababab', 'abab', 'x');
SELECT LENGTH(SUBSTRING_INDEX(REPEAT('a', 40000), CONCAT(REPEAT('a', 2000), 'b'), -3));
SELECT SUBSTRING_INDEX('aaaaa', 'aa', 1), SUBSTRING_INDEX('aaaaa', 'aa', 2), SUBSTRING_INDEX('aaaaa', 'aa', -1), SUBSTRING_INDEX('a.b.c', '.', -2);
SELECT 'abcabcabd' LIKE '%abcabd', 'aaaa' LIKE '%aa_', 'ab' LIKE '%a%b%', REPEAT('a', 2000) LIKE CONCAT('%', REPEAT('a', 1000), 'b%');
SELECT JSON_CONTAINS('[1, [2, 3], {"a": [4, 5]}]', '[2, 1]'), JSON_CONTAINS('[1, [2, 3], {"a": [4, 5]}]', '[{"a": 5}]'), JSON_CONTAINS('[[1, 2]]', '[1]');
SELECT JSON_OVERLAPS('[1, 2, [3]]', '[[3]]'), JSON_OVERLAPS('[1, 2]', '3'), JSON_OVERLAPS('{"a": 1}', '{"a": 1, "b": 2}'), JSON_OVERLAPS('1', '[0, 1]');
