-- What SQLAlchemy's and Django's own tests have found.
CREATE TABLE names (a INT, CONSTRAINT `ck quote " two ` CHECK (a > 1), CONSTRAINT `` CHECK (a < 9));
SHOW CREATE TABLE names;
ALTER TABLE names DROP CHECK `ck quote " two `;
CREATE TABLE long_name (a INT, CONSTRAINT c1234567890123456789012345678901234567890123456789012345678901234 CHECK (a > 1));

-- The dictionary's texts are utf8mb3.
CREATE TABLE said (a INT COMMENT '☁️🐍x', KEY k (a) COMMENT '🁰') COMMENT 'the 🐍 that bit';
SHOW CREATE TABLE said;
ALTER TABLE said COMMENT 'a🐍', MODIFY a INT COMMENT 'é€';
SHOW CREATE TABLE said;

-- CASE compares documents as their texts.
CREATE TABLE docs (a INT, b JSON);
INSERT INTO docs VALUES (1, '{"a":null,"b":1.5,"s":"x","t":true,"o":{"k":1}}');
SELECT CASE b->'$.a' WHEN 'null' THEN NULL ELSE b->'$.a' END AS absent, CASE b->'$.s' WHEN 'x' THEN 'plain' WHEN '"x"' THEN 'quoted' ELSE 'none' END AS quoted FROM docs;
SELECT CASE b->'$.b' WHEN '1.5' THEN 1 ELSE 2 END AS text, CASE b->'$.b' WHEN 1.5 THEN 1 ELSE 2 END AS number, CASE b->'$.t' WHEN TRUE THEN 'T' WHEN 'true' THEN 't' ELSE 'n' END AS boolean, CASE b->'$.o' WHEN b->'$.o' THEN 1 ELSE 2 END AS same, CASE 'null' WHEN b->'$.a' THEN 1 ELSE 2 END AS turned, CASE b->'$.s' WHEN '"X"' THEN 1 ELSE 2 END AS upper_case FROM docs;
SELECT b->'$.a' = 'null' AS equals, b->'$.s' = 'x' AS scalar, b->'$.a' IS NULL AS is_null FROM docs;

-- A view outlives its table.
CREATE TABLE under (id INT, n INT);
CREATE VIEW over_it AS SELECT id FROM under;
CREATE VIEW over_that AS SELECT id FROM over_it WHERE id > 1;
CREATE VIEW with_one AS WITH w AS (SELECT n AS m FROM under) SELECT m FROM w;
SHOW COLUMNS FROM over_that;
ALTER TABLE under DROP COLUMN n;
SHOW COLUMNS FROM over_that;
SHOW COLUMNS FROM with_one;
DROP TABLE under;
DESCRIBE over_it;
SHOW FULL COLUMNS FROM over_that;
SHOW CREATE VIEW over_it;
SHOW CREATE TABLE over_that;
-- hide warnings
SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'golden' AND TABLE_TYPE = 'VIEW' ORDER BY TABLE_NAME;
-- hide warnings
SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'golden' AND TABLE_NAME LIKE 'over%';
CREATE TABLE under (id INT);
SHOW COLUMNS FROM over_that;
-- mysqldump begins with this.
SET SESSION information_schema_stats_expiry = 0;
SELECT @@information_schema_stats_expiry;
