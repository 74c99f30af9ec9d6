-- Tables of `mysql` that hold what is put into them: the texts of HELP, and the time zones that mysql_tzinfo_to_sql writes.
CREATE TABLE IF NOT EXISTS mysql.help_topic (
  help_topic_id int unsigned NOT NULL PRIMARY KEY,
  name char(64) NOT NULL UNIQUE KEY,
  help_category_id smallint unsigned NOT NULL,
  description text NOT NULL,
  example text NOT NULL,
  url text NOT NULL
) DEFAULT CHARSET=utf8mb3 STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='help topics'
$$
CREATE TABLE IF NOT EXISTS mysql.help_category (
  help_category_id smallint unsigned NOT NULL PRIMARY KEY,
  name char(64) NOT NULL UNIQUE KEY,
  parent_category_id smallint unsigned DEFAULT NULL,
  url text NOT NULL
) DEFAULT CHARSET=utf8mb3 STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='help categories'
$$
CREATE TABLE IF NOT EXISTS mysql.help_keyword (
  help_keyword_id int unsigned NOT NULL PRIMARY KEY,
  name char(64) NOT NULL UNIQUE KEY
) DEFAULT CHARSET=utf8mb3 STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='help keywords'
$$
CREATE TABLE IF NOT EXISTS mysql.help_relation (
  help_topic_id int unsigned NOT NULL,
  help_keyword_id int unsigned NOT NULL,
  PRIMARY KEY (help_keyword_id, help_topic_id)
) DEFAULT CHARSET=utf8mb3 STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='keyword-topic relation'
$$
CREATE TABLE IF NOT EXISTS mysql.time_zone (
  Time_zone_id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  Use_leap_seconds enum('Y','N') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N'
) DEFAULT CHARSET=utf8mb3 STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='Time zones'
$$
CREATE TABLE IF NOT EXISTS mysql.time_zone_name (
  Name char(64) NOT NULL PRIMARY KEY,
  Time_zone_id int unsigned NOT NULL
) DEFAULT CHARSET=utf8mb3 STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='Time zone names'
$$
CREATE TABLE IF NOT EXISTS mysql.time_zone_transition (
  Time_zone_id int unsigned NOT NULL,
  Transition_time bigint NOT NULL,
  Transition_type_id int unsigned NOT NULL,
  PRIMARY KEY (Time_zone_id, Transition_time)
) DEFAULT CHARSET=utf8mb3 STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='Time zone transitions'
$$
CREATE TABLE IF NOT EXISTS mysql.time_zone_transition_type (
  Time_zone_id int unsigned NOT NULL,
  Transition_type_id int unsigned NOT NULL,
  `Offset` int NOT NULL DEFAULT 0,
  Is_DST tinyint unsigned NOT NULL DEFAULT 0,
  Abbreviation char(8) NOT NULL DEFAULT '',
  PRIMARY KEY (Time_zone_id, Transition_type_id)
) DEFAULT CHARSET=utf8mb3 STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='Time zone transition types'
$$
CREATE TABLE IF NOT EXISTS mysql.time_zone_leap_second (
  Transition_time bigint NOT NULL PRIMARY KEY,
  Correction int NOT NULL
) DEFAULT CHARSET=utf8mb3 STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='Leap seconds information for time zones'
$$
