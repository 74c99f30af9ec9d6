-- A number up to 31 that is given for a DATE is that day of no month in 2000.
CREATE TABLE t (da DATE, dt DATETIME);
INSERT INTO t VALUES ('1000-01-01', '1000-01-01'), ('1999-12-31', '1999-12-31'), ('2000-01-01', '2000-01-01'), ('2020-01-01', '2020-01-01');
PREPARE less FROM 'SELECT da FROM t WHERE da < ?';
SET @n = 20;
EXECUTE less USING @n;
SET @n = 31;
EXECUTE less USING @n;
PREPARE equal FROM 'SELECT da FROM t WHERE da = ?';
EXECUTE equal USING @n;
PREPARE other FROM 'SELECT da FROM t WHERE da <> ?';
EXECUTE other USING @n;
PREPARE among FROM 'SELECT da FROM t WHERE da NOT IN (?, ?)';
SET @m = 20200101;
EXECUTE among USING @n, @m;
PREPARE bounds FROM 'SELECT da FROM t WHERE da BETWEEN ? AND ?';
EXECUTE bounds USING @n, @m;
PREPARE later FROM 'SELECT dt FROM t WHERE dt NOT IN (?, ?)';
EXECUTE later USING @n, @m;
