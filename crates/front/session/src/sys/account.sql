-- The definer of all that follows: nobody logs in as it, and what is below asks for the rights of who calls.
CREATE DATABASE sys DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci
$$
CREATE USER IF NOT EXISTS `mysql.sys`@localhost IDENTIFIED WITH caching_sha2_password
  AS '$A$005$THISISACOMBINATIONOFINVALIDSALTANDPASSWORDTHATMUSTNEVERBRBEUSED' ACCOUNT LOCK
$$
GRANT AUDIT_ABORT_EXEMPT, FIREWALL_EXEMPT, SYSTEM_USER ON *.* TO `mysql.sys`@localhost
$$
GRANT TRIGGER ON sys.* TO `mysql.sys`@localhost
$$
USE sys
$$
