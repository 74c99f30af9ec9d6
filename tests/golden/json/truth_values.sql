-- Truth values in documents are true and false.
SELECT JSON_ARRAY(JSON_VALID('1'), JSON_CONTAINS('1', '1'), JSON_CONTAINS_PATH('{}', 'one', '$.a'), ISNULL(1), REGEXP_LIKE('a', 'a'), IS_IPV4('1'), IS_UUID('x'), 1 MEMBER OF ('[1]'), JSON_OVERLAPS('1', '1'));
SELECT JSON_ARRAY(NOT 1, 1 AND 1, 1 IS NULL, 'a' LIKE 'a', 1 IN (1, 2), 1 XOR 0, 1 BETWEEN 0 AND 2);
