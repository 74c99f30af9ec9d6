-- sql_quote_show_create = OFF: names stand in backticks where they have to
SET sql_quote_show_create = 0;
CREATE TABLE `t1` (`a` INT, `a-b` INT, `date` INT, `Key1` INT, `order` INT, `count` INT, `12` INT, `1e` INT, `user` INT, `_x` INT, `comment` INT, `t` VARCHAR(9) DEFAULT '`q`' COMMENT '`a`');
SHOW CREATE TABLE t1;
CREATE TABLE `select` (id INT PRIMARY KEY, `from` INT, `a b` INT, `ok` INT, `a$` INT, `é` INT, KEY `key` (`from`), KEY k (ok), CONSTRAINT `chk` CHECK (ok > 1), gen INT AS (`from` + ok) VIRTUAL, UNIQUE `a-b` (`a$`));
SHOW CREATE TABLE `select`;
CREATE TABLE ch (a INT, b VARCHAR(9) DEFAULT 'x', PRIMARY KEY (a), KEY b (b(3) DESC), CONSTRAINT fk FOREIGN KEY (a) REFERENCES `select` (id) ON DELETE CASCADE) COMMENT 'it''s `x`';
SHOW CREATE TABLE ch;
CREATE PROCEDURE `p1`(`x` INT) SELECT `a` FROM `t1`;
SHOW CREATE PROCEDURE p1;
CREATE FUNCTION `f1`(`x` INT) RETURNS INT DETERMINISTIC RETURN `x`;
SHOW CREATE FUNCTION f1;
CREATE TRIGGER `tr` BEFORE INSERT ON `t1` FOR EACH ROW SET NEW.`a` = 1;
-- hide Created
SHOW CREATE TRIGGER tr;
CREATE VIEW vv AS SELECT `t1`.`a` AS `x`, `t1`.`a-b`, '`' AS `z z` FROM `t1`;
SHOW CREATE VIEW vv;
SHOW CREATE DATABASE golden;
CREATE TEMPORARY TABLE `tmp` (`a` INT, KEY `ka` (`a`));
SHOW CREATE TABLE tmp;
SELECT @@sql_quote_show_create, @@global.sql_quote_show_create;
SET sql_quote_show_create = DEFAULT;
SHOW CREATE TABLE tmp;
