-- Tables of `mysql` that hold what is put into them.
SELECT table_name, engine, table_collation, table_comment FROM information_schema.tables
 WHERE table_schema = 'mysql' AND (table_name LIKE 'help%' OR table_name LIKE 'time_zone%') ORDER BY table_name;
SELECT table_name, column_name, column_default, is_nullable, column_type, character_set_name, collation_name, column_key, extra FROM information_schema.columns
 WHERE table_schema = 'mysql' AND (table_name LIKE 'help%' OR table_name LIKE 'time_zone%') ORDER BY table_name, ordinal_position;
-- What mysql_tzinfo_to_sql writes for a zone.
INSERT INTO mysql.time_zone (Use_leap_seconds) VALUES ('N');
SET @zone = LAST_INSERT_ID();
INSERT INTO mysql.time_zone_name (Name, Time_zone_id) VALUES ('Golden/Zone', @zone);
INSERT INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, Offset, Is_DST, Abbreviation) VALUES (@zone, 0, 3208, 0, 'LMT'), (@zone, 1, 7200, 1, 'CEST');
SELECT name, transition_type_id, `offset`, is_dst, abbreviation FROM mysql.time_zone_name JOIN mysql.time_zone_transition_type USING (time_zone_id) WHERE name = 'Golden/Zone' ORDER BY 2;
DELETE FROM mysql.time_zone_name WHERE time_zone_id = @zone;
DELETE FROM mysql.time_zone_transition_type WHERE time_zone_id = @zone;
DELETE FROM mysql.time_zone WHERE time_zone_id = @zone;
