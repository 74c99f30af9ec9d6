-- RANGE frames whose bounds are dates that there are not; MySQL 9 warns of them by another number than 8.4.
CREATE TABLE dd (a DATE);
INSERT INTO dd VALUES ('9999-12-31'), ('9999-06-01'), ('2020-01-01'), ('0001-01-01'), ('0001-06-01'), (NULL);
-- hide warnings
SELECT a, COUNT(*) OVER (ORDER BY a RANGE BETWEEN INTERVAL 1 YEAR PRECEDING AND INTERVAL 1 YEAR FOLLOWING) AS c FROM dd ORDER BY a;
-- hide warnings
SELECT a, COUNT(*) OVER (ORDER BY a RANGE BETWEEN INTERVAL 1 MONTH FOLLOWING AND INTERVAL 1 YEAR FOLLOWING) AS c FROM dd ORDER BY a;
-- hide warnings
SELECT a, COUNT(*) OVER (ORDER BY a RANGE BETWEEN INTERVAL 1 YEAR FOLLOWING AND UNBOUNDED FOLLOWING) AS c FROM dd ORDER BY a;
-- differs: a frame of MySQL moves on only, and past a date that there is not it does not come back
-- hide warnings
SELECT a, COUNT(*) OVER (ORDER BY a RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 2 YEAR PRECEDING) AS c FROM dd ORDER BY a;
-- differs: a frame of MySQL moves on only, and past a date that there is not it does not come back
-- hide warnings
SELECT a, COUNT(*) OVER (ORDER BY a RANGE BETWEEN INTERVAL 3 YEAR PRECEDING AND CURRENT ROW) AS c FROM dd ORDER BY a;
-- hide warnings
SELECT a, COUNT(*) OVER (ORDER BY a DESC RANGE BETWEEN INTERVAL 1 YEAR PRECEDING AND INTERVAL 1 YEAR FOLLOWING) AS c FROM dd ORDER BY a;
-- hide warnings
SELECT a, COUNT(*) OVER (ORDER BY a DESC RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 2 YEAR PRECEDING) AS c FROM dd ORDER BY a;
-- differs: a frame of MySQL moves on only, and stays where it was at a date that there is not
-- hide warnings
SELECT a, COUNT(*) OVER (ORDER BY a DESC RANGE BETWEEN INTERVAL 3 YEAR FOLLOWING AND UNBOUNDED FOLLOWING) AS c FROM dd ORDER BY a;
SELECT HEX(DATE_FORMAT('2024-02-29', '%é%Y')) AS a, HEX(DATE_FORMAT('2024-02-29', '%日')) AS b, HEX(TIME_FORMAT('10:00:00', '%é%H')) AS c;
SELECT DATE_FORMAT('2024-02-29', '') AS a, TIME_FORMAT('10:00:00', '') AS b;
DROP TABLE dd;
