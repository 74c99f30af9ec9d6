-- The component `query_attributes` and its function; tests/e2e/test_doors.py sends attributes.
SELECT mysql_query_attribute_string('a');
INSTALL COMPONENT 'file://component_query_attributes';
INSTALL COMPONENT 'file://component_query_attributes';
SELECT component_urn FROM mysql.component;
SELECT mysql_query_attribute_string('a') AS a, Mysql_Query_Attribute_String('b') IS NULL;
SELECT CHARSET(mysql_query_attribute_string('a')), COLLATION(mysql_query_attribute_string('a')), COERCIBILITY(mysql_query_attribute_string('a'));
SELECT mysql_query_attribute_string();
SELECT mysql_query_attribute_string('a', 'b');
SELECT mysql_query_attribute_string(1);
CREATE TABLE t AS SELECT mysql_query_attribute_string('a') AS a;
SHOW CREATE TABLE t;
CREATE FUNCTION f() RETURNS TEXT READS SQL DATA RETURN IFNULL(mysql_query_attribute_string('a'), 'none');
SELECT f();
CREATE VIEW v AS SELECT IFNULL(mysql_query_attribute_string('a'), 'none') AS a;
SELECT * FROM v;
UNINSTALL COMPONENT 'file://component_query_attributes';
SELECT mysql_query_attribute_string('a');
SELECT f();
-- differs: MySQL takes it for a stored function of its own and names another error
SELECT * FROM v;
UNINSTALL COMPONENT 'file://component_query_attributes';
DROP FUNCTION f;
