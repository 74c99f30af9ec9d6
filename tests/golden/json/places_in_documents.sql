-- What paths lead to in stored documents, small and large, and the same in texts.
CREATE TABLE t (id INT PRIMARY KEY, j JSON, x LONGTEXT);
INSERT INTO t VALUES (1, '{"a": 1, "b": {"c": [1, 2, {"d": "e\\"f"}], "": null}, "é": true, "n": -5000000000, "u": 18446744073709551615, "f": 1.5}', NULL),
  (2, '[1, [2, 3], {"a": [4]}, "s", 70000, -40000]', NULL), (3, '"scalar"', NULL), (4, '{}', NULL), (5, '[]', NULL), (6, 'null', NULL), (7, NULL, NULL);
INSERT INTO t SELECT 8, JSON_OBJECT('pad', REPEAT('x', 70000), 'a', 70000, 'b', JSON_OBJECT('c', JSON_ARRAY(1, 2, JSON_OBJECT('d', 'deep'))), 'l', JSON_ARRAY(1, NULL, 100000)), NULL;
INSERT INTO t SELECT 9, JSON_ARRAY(CAST(1.25 AS DECIMAL(5, 2)), CAST('2020-01-02' AS DATE), CAST('10:11:12.5' AS TIME(1)), CAST('2020-01-02 03:04:05' AS DATETIME), x'00ff', b'101'), NULL;
UPDATE t SET x = j WHERE id < 8;
SELECT id, JSON_EXTRACT(j, '$.a'), JSON_EXTRACT(j, '$.b.c[last].d'), JSON_EXTRACT(j, '$.b.c'), JSON_EXTRACT(x, '$.b.c[1]') FROM t ORDER BY id;
SELECT id, JSON_EXTRACT(j, '$.b'), JSON_EXTRACT(j, '$.b.""'), JSON_EXTRACT(j, '$."é"'), JSON_EXTRACT(j, '$.n'), JSON_EXTRACT(j, '$.u'), JSON_EXTRACT(j, '$.f') FROM t ORDER BY id;
SELECT id, JSON_EXTRACT(j, '$[0]'), JSON_EXTRACT(j, '$[1]'), JSON_EXTRACT(j, '$[last]'), JSON_EXTRACT(j, '$[last-9]'), JSON_EXTRACT(j, '$[0][0][0]') FROM t WHERE id <> 8 ORDER BY id;
SELECT id, JSON_EXTRACT(j, '$.a', '$.b.c[0]'), JSON_EXTRACT(j, '$**.d'), JSON_EXTRACT(j, '$.b.*') FROM t ORDER BY id;
SELECT id, j ->> '$.b.c[2].d', JSON_UNQUOTE(JSON_EXTRACT(j, '$.l[2]')), JSON_TYPE(JSON_EXTRACT(j, '$.l')) FROM t ORDER BY id;
SELECT id, JSON_LENGTH(j), JSON_LENGTH(j, '$.b'), JSON_LENGTH(j, '$.b.c'), JSON_LENGTH(x), JSON_LENGTH(j, '$.*') FROM t ORDER BY id;
SELECT id, JSON_CONTAINS(j, '2', '$.b.c'), JSON_CONTAINS(j, '{"d": "deep"}', '$.b.c[2]'), JSON_CONTAINS(j, '1', '$.none'), JSON_CONTAINS(x, '[2, 1]', '$.b.c') FROM t ORDER BY id;
SELECT id, JSON_CONTAINS_PATH(j, 'one', '$.a', '$.z'), JSON_CONTAINS_PATH(j, 'all', '$.a', '$.b.c[2]'), JSON_CONTAINS_PATH(j, 'all', '$.a', NULL) FROM t ORDER BY id;
SELECT id, JSON_VALUE(j, '$.a' RETURNING SIGNED), JSON_VALUE(j, '$.b.c[2].d'), JSON_VALUE(j, '$.b.c[0]' RETURNING DECIMAL(5, 2)), JSON_VALUE(j, '$.b') FROM t ORDER BY id;
SELECT id, JSON_EXTRACT(j, NULL), JSON_LENGTH(j, NULL), JSON_CONTAINS(j, '1', NULL) FROM t WHERE id < 3 ORDER BY id;
SELECT JSON_EXTRACT(j, '$.') FROM t WHERE id = 1;
SELECT JSON_CONTAINS(j, '1', '$.*') FROM t WHERE id = 1;
SELECT JSON_EXTRACT('{"a": ', '$.a');
SELECT JSON_EXTRACT(1, '$.a');
SELECT id, JSON_EXTRACT(j, '$[0]') + 0.5, JSON_UNQUOTE(JSON_EXTRACT(j, '$[1]')), JSON_EXTRACT(j, '$[2]'), JSON_EXTRACT(j, '$[3]'), JSON_EXTRACT(j, '$[4]'), JSON_TYPE(JSON_EXTRACT(j, '$[4]')) FROM t WHERE id = 9;
SELECT id, JSON_STORAGE_SIZE(JSON_EXTRACT(j, '$.b')), JSON_STORAGE_SIZE(JSON_EXTRACT(j, '$.l')) FROM t WHERE id IN (1, 8) ORDER BY id;
SELECT JSON_OBJECT('q', 'a"b\\c\td\n\re\b\f', 'z', CHAR(1 USING utf8mb4)), JSON_QUOTE('"\\'), JSON_OBJECT('k"y', JSON_ARRAY());
