-- HELP answers what its tables hold: one topic, or names of topics and categories.
DELETE FROM mysql.help_topic WHERE help_topic_id >= 20000;
DELETE FROM mysql.help_category WHERE help_category_id >= 20000;
DELETE FROM mysql.help_keyword WHERE help_keyword_id >= 20000;
DELETE FROM mysql.help_relation WHERE help_topic_id >= 20000;
-- metadata
HELP 'golden';
INSERT INTO mysql.help_category VALUES (20000, 'Golden things', 0, ''), (20001, 'Golden inner', 20000, ''), (20002, 'golden apart', 20000, ''), (20003, 'Golden Empty', 7, '');
INSERT INTO mysql.help_topic VALUES
  (20000, 'GOLDEN ONE', 20000, 'Syntax:\nGOLDEN ONE [x]\n', 'mysql> GOLDEN ONE;', 'https://example.com/one'),
  (20001, 'golden two', 20000, 'The second.', '', ''),
  (20002, 'GOLDEN_THREE', 20001, 'Not in the outer one.', '', ''),
  (20003, 'Gölden', 20001, 'An ö.', '', '');
INSERT INTO mysql.help_keyword VALUES (20000, 'GOLDENKEY'), (20001, 'GOLDENKEYS'), (20002, 'GOLDENMANY'), (20003, 'GOLDENNOTHING');
INSERT INTO mysql.help_relation VALUES (20000, 20000), (20001, 20002), (20002, 20002), (20000, 20002), (19999, 20003);
-- metadata
HELP 'golden one';
HELP 'GOLDEN TWO';
-- metadata
HELP 'golden%';
HELP 'golden_t%';
HELP 'golden\_t%';
HELP 'gölden';
HELP 'golden__o_e';
HELP 'goldenkey';
HELP 'goldenkey%';
HELP 'goldenmany';
HELP 'goldennothing';
-- metadata
HELP 'golden things';
HELP 'golden inner';
HELP 'golden empty';
HELP '%den inner';
HELP 'golden %';
HELP goldenkey;
HELP `golden one`;
HELP '';
HELP 'nothing of it';
PREPARE p FROM 'HELP ''golden one''';
CREATE PROCEDURE helped() HELP 'golden two';
CALL helped();
START TRANSACTION;
HELP 'golden two';
ROLLBACK;
DELETE FROM mysql.help_topic WHERE help_topic_id >= 20000;
DELETE FROM mysql.help_category WHERE help_category_id >= 20000;
DELETE FROM mysql.help_keyword WHERE help_keyword_id >= 20000;
DELETE FROM mysql.help_relation WHERE help_topic_id >= 20000 OR help_keyword_id >= 20000;
