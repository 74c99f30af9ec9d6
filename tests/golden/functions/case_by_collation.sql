-- UPPER and LOWER by the table of the collation: those of latin1, of Unicode 3, 5 and 9.
SELECT HEX(UPPER(_latin1 0xff)), HEX(UPPER(_latin1 0x9c9a9e)), HEX(LOWER(_latin1 0x9f8c8a8e)), HEX(UPPER(_latin1 0xe9)), HEX(LOWER(_latin1 0xdf));
SELECT HEX(LOWER('ẞ' COLLATE utf8mb4_bin)), HEX(LOWER('ẞ' COLLATE utf8mb4_general_ci)), HEX(LOWER('ẞ' COLLATE utf8mb4_0900_ai_ci)), HEX(LOWER('ẞ' COLLATE utf8mb4_unicode_ci)), HEX(LOWER('ẞ' COLLATE utf8mb4_unicode_520_ci));
SELECT HEX(UPPER('ა' COLLATE utf8mb4_bin)), HEX(UPPER('ა' COLLATE utf8mb4_0900_ai_ci)), HEX(LOWER('Ა' COLLATE utf8mb4_0900_ai_ci)), HEX(UPPER('ꭰ' COLLATE utf8mb4_bin)), HEX(UPPER('ꭰ' COLLATE utf8mb4_0900_ai_ci)), HEX(UPPER('ꭰ' COLLATE utf8mb4_unicode_520_ci));
SELECT HEX(LOWER('Ꭰ' COLLATE utf8mb4_bin)), HEX(LOWER('Ꭰ' COLLATE utf8mb4_0900_ai_ci)), HEX(UPPER('ᏸ' COLLATE utf8mb4_bin)), HEX(UPPER('ᏸ' COLLATE utf8mb4_0900_ai_ci)), HEX(LOWER('Ᏸ' COLLATE utf8mb4_bin)), HEX(LOWER('Ᏸ' COLLATE utf8mb4_0900_ai_ci));
SELECT UPPER('straße éàñ ǆ ŉ ω ж 𐐨 i ı'), LOWER('STRASSE ÉÀÑ Ǆ Ω Ж 𐐀 I İ');
SELECT UPPER('straße éàñ ǆ ŉ ω ж 𐐨 i ı' COLLATE utf8mb4_general_ci), LOWER('STRASSE ÉÀÑ Ǆ Ω Ж 𐐀 I İ' COLLATE utf8mb4_general_ci);
SELECT HEX(UPPER(CONVERT('éǆωж' USING ucs2))), HEX(LOWER(CONVERT('ÉǄΩЖẞ' USING utf16))), HEX(LOWER(CONVERT('Ꭰ' USING utf8mb3)));
SELECT HEX(UPPER(_cp850 0x838588)), HEX(LOWER(_cp850 0xb5b6)), HEX(UPPER(_greek 0xdcdddedf)), HEX(UPPER(_macroman 0xcff5)), HEX(UPPER(_latin5 'i')), HEX(LOWER(_latin5 'I')), HEX(UPPER(_koi8r 0xc1c2)), HEX(UPPER(_cp1251 0xe09d)), HEX(UPPER(_swe7 '{|}'));
CREATE TABLE t (a VARCHAR(20) CHARACTER SET latin1, b VARCHAR(20) COLLATE utf8mb4_bin, c VARCHAR(20) COLLATE utf8mb4_unicode_520_ci);
INSERT INTO t VALUES ('ÿœš', 'ẞꭰ', 'ẞꭰ');
SELECT UPPER(a), LOWER(b), LOWER(c), UPPER(b), UPPER(c), HEX(UPPER(CONCAT(a, b))) FROM t;
DROP TABLE t;
