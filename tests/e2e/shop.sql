-- A shop: thirty tables with what applications use of MySQL.
CREATE TABLE country (code CHAR(2) CHARACTER SET ascii PRIMARY KEY, name VARCHAR(60) NOT NULL, UNIQUE KEY name (name)) COMMENT='ISO 3166';
CREATE TABLE currency (code CHAR(3) CHARACTER SET ascii PRIMARY KEY, digits TINYINT UNSIGNED NOT NULL DEFAULT 2, symbol VARCHAR(4));
CREATE TABLE city (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, country CHAR(2) CHARACTER SET ascii NOT NULL, name VARCHAR(80) NOT NULL,
  lat DECIMAL(9,6), lon DECIMAL(9,6), KEY by_name (name(10)), CONSTRAINT city_country FOREIGN KEY (country) REFERENCES country (code));
CREATE TABLE customer (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, email VARCHAR(190) NOT NULL, given VARCHAR(60), family VARCHAR(60),
  born DATE, created TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, updated TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP,
  active TINYINT(1) NOT NULL DEFAULT '1', full_name VARCHAR(121) GENERATED ALWAYS AS (CONCAT(given, ' ', family)) VIRTUAL,
  year_born INT GENERATED ALWAYS AS (YEAR(born)) STORED, UNIQUE KEY email (email), KEY family (family, given), KEY year_born (year_born));
CREATE TABLE address (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, customer_id BIGINT UNSIGNED NOT NULL, city_id INT UNSIGNED NOT NULL,
  kind ENUM('home','work','it''s other') NOT NULL DEFAULT 'home', street VARCHAR(120) NOT NULL, zip VARCHAR(12),
  CONSTRAINT address_customer FOREIGN KEY (customer_id) REFERENCES customer (id) ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT address_city FOREIGN KEY (city_id) REFERENCES city (id));
CREATE TABLE phone (customer_id BIGINT UNSIGNED NOT NULL, number VARCHAR(20) CHARACTER SET latin1 NOT NULL, PRIMARY KEY (customer_id, number),
  CONSTRAINT phone_customer FOREIGN KEY (customer_id) REFERENCES customer (id) ON DELETE CASCADE);
CREATE TABLE role (id SMALLINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(30) NOT NULL UNIQUE);
CREATE TABLE customer_role (customer_id BIGINT UNSIGNED NOT NULL, role_id SMALLINT NOT NULL, granted DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (customer_id, role_id), KEY role_id (role_id), CONSTRAINT cr_customer FOREIGN KEY (customer_id) REFERENCES customer (id) ON DELETE CASCADE,
  CONSTRAINT cr_role FOREIGN KEY (role_id) REFERENCES role (id) ON DELETE RESTRICT);
CREATE TABLE category (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, parent_id INT, name VARCHAR(60) NOT NULL, path VARCHAR(255),
  CONSTRAINT category_parent FOREIGN KEY (parent_id) REFERENCES category (id) ON DELETE SET NULL);
CREATE TABLE brand (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) COLLATE utf8mb4_bin NOT NULL, logo MEDIUMBLOB, KEY name (name));
CREATE TABLE product (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, brand_id INT, sku CHAR(12) CHARACTER SET ascii NOT NULL, title VARCHAR(200) NOT NULL,
  body LONGTEXT, price DECIMAL(12,4) NOT NULL DEFAULT '0.0000', weight FLOAT, volume DOUBLE, flags SET('new','sale','last') DEFAULT 'new',
  bits BIT(6) DEFAULT b'101', made YEAR, CONSTRAINT positive CHECK (price >= 0), UNIQUE KEY sku (sku), KEY price_down (price DESC, id),
  KEY brand_id (brand_id), CONSTRAINT product_brand FOREIGN KEY (brand_id) REFERENCES brand (id) ON DELETE SET NULL ON UPDATE CASCADE)
  AUTO_INCREMENT=1000 COMMENT='what is sold; it''s "quoted"';
CREATE TABLE product_category (product_id INT NOT NULL, category_id INT NOT NULL, position SMALLINT UNSIGNED ZEROFILL, PRIMARY KEY (product_id, category_id),
  KEY category_id (category_id), CONSTRAINT pc_product FOREIGN KEY (product_id) REFERENCES product (id) ON DELETE CASCADE,
  CONSTRAINT pc_category FOREIGN KEY (category_id) REFERENCES category (id) ON DELETE CASCADE);
CREATE TABLE product_text (product_id INT NOT NULL, lang CHAR(2) CHARACTER SET ascii NOT NULL, title VARCHAR(200) NOT NULL, body TEXT, PRIMARY KEY (product_id, lang),
  CONSTRAINT pt_product FOREIGN KEY (product_id) REFERENCES product (id) ON DELETE CASCADE);
CREATE TABLE image (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, product_id INT NOT NULL, mime VARCHAR(40) CHARACTER SET ascii, data BLOB, digest BINARY(4), thumb VARBINARY(30),
  KEY product_id (product_id), CONSTRAINT image_product FOREIGN KEY (product_id) REFERENCES product (id));
CREATE TABLE tag (name VARCHAR(30) COLLATE utf8mb4_general_ci PRIMARY KEY, used INT UNSIGNED NOT NULL DEFAULT '0');
CREATE TABLE product_tag (product_id INT NOT NULL, tag VARCHAR(30) COLLATE utf8mb4_general_ci NOT NULL, PRIMARY KEY (product_id, tag), KEY tag (tag),
  CONSTRAINT ptag_tag FOREIGN KEY (tag) REFERENCES tag (name) ON UPDATE CASCADE);
CREATE TABLE warehouse (id SMALLINT UNSIGNED PRIMARY KEY, name VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_bin NOT NULL, opens TIME, closes TIME(3));
CREATE TABLE stock (warehouse_id SMALLINT UNSIGNED NOT NULL, product_id INT NOT NULL, amount MEDIUMINT NOT NULL DEFAULT '0', reserved MEDIUMINT UNSIGNED NOT NULL DEFAULT '0',
  PRIMARY KEY (warehouse_id, product_id), KEY product_id (product_id), CONSTRAINT stock_w FOREIGN KEY (warehouse_id) REFERENCES warehouse (id),
  CONSTRAINT stock_p FOREIGN KEY (product_id) REFERENCES product (id));
CREATE TABLE supplier (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name TINYTEXT NOT NULL, notes MEDIUMTEXT, KEY name (name(20)));
CREATE TABLE supply (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, supplier_id INT NOT NULL, product_id INT NOT NULL, cost DECIMAL(12,4), days TINYINT,
  UNIQUE KEY both_ids (supplier_id, product_id), KEY product_id (product_id), CONSTRAINT supply_s FOREIGN KEY (supplier_id) REFERENCES supplier (id));
CREATE TABLE cart (id BINARY(16) PRIMARY KEY, customer_id BIGINT UNSIGNED, expires DATETIME NOT NULL DEFAULT '2030-01-01 00:00:00', KEY customer_id (customer_id));
CREATE TABLE cart_item (cart_id BINARY(16) NOT NULL, line INT NOT NULL, product_id INT NOT NULL, amount INT NOT NULL DEFAULT '1', PRIMARY KEY (cart_id, line),
  CONSTRAINT ci_cart FOREIGN KEY (cart_id) REFERENCES cart (id) ON DELETE CASCADE, CONSTRAINT some CHECK (amount > 0 AND amount < 1000));
CREATE TABLE `order` (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, customer_id BIGINT UNSIGNED NOT NULL, currency CHAR(3) CHARACTER SET ascii NOT NULL, state ENUM('open','paid','sent','done') NOT NULL,
  placed DATETIME(3) NOT NULL, `group` INT, KEY customer_id (customer_id, placed DESC), KEY currency (currency),
  CONSTRAINT order_customer FOREIGN KEY (customer_id) REFERENCES customer (id), CONSTRAINT order_currency FOREIGN KEY (currency) REFERENCES currency (code));
CREATE TABLE order_item (order_id BIGINT NOT NULL, line SMALLINT NOT NULL, product_id INT NOT NULL, amount INT NOT NULL, price DECIMAL(12,4) NOT NULL,
  total DECIMAL(20,4) GENERATED ALWAYS AS (amount * price) STORED, PRIMARY KEY (order_id, line), KEY product_id (product_id), KEY total (total),
  CONSTRAINT oi_order FOREIGN KEY (order_id) REFERENCES `order` (id) ON DELETE CASCADE, CONSTRAINT oi_product FOREIGN KEY (product_id) REFERENCES product (id));
CREATE TABLE payment (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, order_id BIGINT NOT NULL, amount DECIMAL(12,4) NOT NULL, paid TIMESTAMP(6) NULL DEFAULT NULL, reference VARCHAR(40), KEY order_id (order_id));
CREATE TABLE shipment (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, order_id BIGINT NOT NULL, warehouse_id SMALLINT UNSIGNED, sent DATE, KEY order_id (order_id), KEY warehouse_id (warehouse_id));
CREATE TABLE review (product_id INT NOT NULL, customer_id BIGINT UNSIGNED NOT NULL, stars TINYINT NOT NULL, words TEXT, CONSTRAINT stars_range CHECK (stars BETWEEN 1 AND 5), PRIMARY KEY (product_id, customer_id));
CREATE TABLE coupon (code VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, percent DECIMAL(5,2), valid_from DATE, valid_to DATE);
CREATE TABLE setting (`key` VARCHAR(60) PRIMARY KEY, `value` LONGBLOB);
CREATE TABLE event_log (at DATETIME(6) NOT NULL, level TINYINT NOT NULL DEFAULT '0', message TEXT, KEY at (at));
CREATE TABLE counter (name VARCHAR(20) PRIMARY KEY, n BIGINT UNSIGNED NOT NULL DEFAULT '0', small TINYINT, ratio DOUBLE(8,3)) ;
CREATE VIEW active_customer AS SELECT id, email, full_name FROM customer WHERE active = 1;
CREATE VIEW order_total AS SELECT o.id AS id, o.customer_id AS customer_id, SUM(i.total) AS total, COUNT(0) AS items FROM `order` o JOIN order_item i ON i.order_id = o.id GROUP BY o.id, o.customer_id;
CREATE VIEW big_order AS SELECT id, total FROM order_total WHERE total > 100;
INSERT INTO country VALUES ('DE', 'Deutschland'), ('FR', 'France'), ('CI', 'Côte d''Ivoire');
INSERT INTO currency VALUES ('EUR', 2, '€'), ('JPY', 0, '¥'), ('XXX', 3, NULL);
INSERT INTO city (country, name, lat, lon) VALUES ('DE', 'Köln', 50.937531, 6.960279), ('FR', 'Nîmes', NULL, -0.5);
INSERT INTO customer (email, given, family, born, created, updated, active) VALUES ('a@example.org', 'Ann', 'O''Hara', '1980-02-29', '2020-01-01 10:00:00', NULL, 1),
  ('b@example.org', 'Bö', '日本', NULL, '2021-01-01 10:00:00', '2022-02-02 02:02:02', 0), ('c@example.org', NULL, 'back\\slash', '0001-01-01', '2021-05-01 10:00:00', NULL, 1);
INSERT INTO address (customer_id, city_id, kind, street, zip) VALUES (1, 1, 'it''s other', 'Straße 1', '50667'), (2, 2, 'work', 'rue\tde\nla paix', NULL);
INSERT INTO phone VALUES (1, '+49 221 1'), (1, '+49 221 2');
INSERT INTO role (name) VALUES ('admin'), ('buyer');
INSERT INTO customer_role VALUES (1, 1, '2020-01-01 00:00:00.123456'), (1, 2, '2020-01-01 00:00:00');
INSERT INTO category (id, parent_id, name, path) VALUES (1, NULL, 'all', '/'), (2, 1, 'things', '/things'), (3, 2, 'odd', NULL);
INSERT INTO brand (name, logo) VALUES ('Acme', x'89504E470D0A1A0A00'), ('acme', NULL);
INSERT INTO product (brand_id, sku, title, body, price, weight, volume, flags, bits, made) VALUES (1, 'A-1', 'Anvil', REPEAT('heavy ', 3000), 99.5, 12.25, 1e-10, 'new,last', b'111', 1999),
  (NULL, 'A-2', 'Feather', NULL, 0, 0.1, -1.5e300, '', b'0', 2155), (2, 'A-3', '"Quoted" \'title\' \\ %', '', 12345678.1234, NULL, NULL, NULL, NULL, NULL);
INSERT INTO product_category VALUES (1000, 2, 7), (1001, 3, NULL);
INSERT INTO product_text VALUES (1000, 'de', 'Amboß', 'schwer'), (1000, 'fr', 'Enclume', NULL);
INSERT INTO image (product_id, mime, data, digest, thumb) VALUES (1000, 'image/png', x'00FF270A5C', x'DEADBEEF', ''), (1000, NULL, NULL, x'00', x'09');
INSERT INTO tag VALUES ('Été', 1), ('new', 0);
INSERT INTO product_tag VALUES (1000, 'Été'), (1000, 'new');
INSERT INTO warehouse VALUES (1, 'Süd', '08:00:00', '838:59:59'), (2, 'Nord', '-01:30:00', '20:00:00.125');
INSERT INTO stock VALUES (1, 1000, -5, 3), (2, 1000, 8388607, 16777215);
INSERT INTO supplier (name, notes) VALUES ('S\r\nT', NULL), ('plain', 'n');
INSERT INTO supply (supplier_id, product_id, cost, days) VALUES (1, 1000, 50.0001, -128), (2, 1000, NULL, 127);
INSERT INTO cart VALUES (x'000102030405060708090A0B0C0D0E0F', 1, '2029-01-01 00:00:00'), (x'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF', NULL, '9999-12-31 23:59:59');
INSERT INTO cart_item VALUES (x'000102030405060708090A0B0C0D0E0F', 1, 1000, 2);
INSERT INTO `order` (customer_id, currency, state, placed, `group`) VALUES (1, 'EUR', 'paid', '2020-06-01 12:00:00.999', NULL), (2, 'JPY', 'open', '2020-06-02 00:00:00', 7);
INSERT INTO order_item (order_id, line, product_id, amount, price) VALUES (1, 1, 1000, 2, 99.5), (1, 2, 1001, 1, 0.0001), (2, 1, 1002, 10, 5);
INSERT INTO payment (order_id, amount, paid, reference) VALUES (1, 199.0001, '2020-06-01 12:00:01.000001', 'ref;--'), (2, 50, NULL, NULL);
INSERT INTO shipment (order_id, warehouse_id, sent) VALUES (1, 1, '2020-06-02'), (2, NULL, NULL);
INSERT INTO review VALUES (1000, 1, 5, 'très bien 👍'), (1001, 2, 1, NULL);
INSERT INTO coupon VALUES ('SPRING', 10.5, '2020-03-01', '2020-05-31'), ('spring', 5, NULL, NULL);
INSERT INTO setting VALUES ('theme', 'dark'), ('empty', ''), ('null', NULL), ('bin', x'0001027F80FF');
INSERT INTO event_log VALUES ('2020-01-01 00:00:00.000001', 1, 'first'), ('2020-01-01 00:00:00.000001', 1, 'first'), ('2020-01-02 00:00:00', -1, 'tab\there\Zzero\0end');
INSERT INTO counter VALUES ('max', 18446744073709551615, -128, 99999.999), ('zero', 0, NULL, NULL);
