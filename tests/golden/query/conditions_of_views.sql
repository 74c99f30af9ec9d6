-- A view's own condition is asked before the statement's, whose functions never see rows that are none of the view's.
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b VARCHAR(10));
INSERT INTO t (a, b) VALUES (1, 'a'), (-3, 'x'), (300, 'b');
CREATE VIEW v AS SELECT * FROM t WHERE a > 0 AND a < 100;
CREATE VIEW vv AS SELECT * FROM v WHERE b <> 'z';
CREATE FUNCTION small(p TINYINT) RETURNS INT NO SQL RETURN p;
CREATE FUNCTION positive(p INT) RETURNS INT NO SQL BEGIN IF p < 0 OR p > 100 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no row of the view'; END IF; RETURN p; END;
SELECT id, small(a) FROM v WHERE small(a) IS NOT NULL;
SELECT id FROM v WHERE positive(a);
SELECT id FROM vv WHERE positive(a) AND b = 'a';
SELECT v.id FROM v JOIN t ON t.id = v.id WHERE positive(v.a);
UPDATE v SET b = 'c' WHERE positive(a) = 1;
DELETE FROM vv WHERE positive(a) = 2;
SELECT * FROM t;
SELECT id FROM t WHERE positive(a) AND a > 0;
