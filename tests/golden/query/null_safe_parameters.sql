-- `<=>` of a column and a parameter that is no date or no time: it equals no row, those with NULL neither.

CREATE TABLE t (id INT PRIMARY KEY, d DATE, dt DATETIME, ts TIMESTAMP NULL, t TIME, KEY (d), KEY (dt), KEY (t));

INSERT INTO t VALUES (1, '2024-01-01', '2024-01-01 10:00:00', '2024-01-01 10:00:00', '10:00:00'), (2, NULL, NULL, NULL, NULL), (3, '9999-12-31', '9999-12-31 23:59:59.4', NULL, '838:59:59');

PREPARE p FROM 'SELECT id FROM t WHERE d <=> ? ORDER BY id';

SET @v = 'nonsense';

-- hide warnings
EXECUTE p USING @v;

SET @v = '';

-- hide warnings
EXECUTE p USING @v;

SET @v = '2024-13-01';

-- hide warnings
EXECUTE p USING @v;

SET @v = NULL;

-- hide warnings
EXECUTE p USING @v;

SET @v = '2024-01-01';

-- hide warnings
EXECUTE p USING @v;

SET @v = -1;

-- hide warnings
EXECUTE p USING @v;

PREPARE p FROM 'SELECT id FROM t WHERE NOT (? <=> d) ORDER BY id';

SET @v = 'nonsense';

-- hide warnings
EXECUTE p USING @v;

SET @v = '';

-- hide warnings
EXECUTE p USING @v;

SET @v = '2024-13-01';

-- hide warnings
EXECUTE p USING @v;

SET @v = NULL;

-- hide warnings
EXECUTE p USING @v;

SET @v = '2024-01-01';

-- hide warnings
EXECUTE p USING @v;

SET @v = -1;

-- hide warnings
EXECUTE p USING @v;

PREPARE p FROM 'SELECT id FROM t WHERE dt <=> ? ORDER BY id';

SET @v = 'nonsense';

-- hide warnings
EXECUTE p USING @v;

SET @v = '2024-02-40';

-- hide warnings
EXECUTE p USING @v;

SET @v = NULL;

-- hide warnings
EXECUTE p USING @v;

SET @v = '2024-01-01 10:00:00';

-- hide warnings
EXECUTE p USING @v;

PREPARE p FROM 'SELECT id FROM t WHERE NOT (? <=> dt) ORDER BY id';

SET @v = 'nonsense';

-- hide warnings
EXECUTE p USING @v;

SET @v = '2024-02-40';

-- hide warnings
EXECUTE p USING @v;

SET @v = NULL;

-- hide warnings
EXECUTE p USING @v;

SET @v = '2024-01-01 10:00:00';

-- hide warnings
EXECUTE p USING @v;

PREPARE p FROM 'SELECT id FROM t WHERE ts <=> ? ORDER BY id';

SET @v = 'nonsense';

-- hide warnings
EXECUTE p USING @v;

SET @v = NULL;

-- hide warnings
EXECUTE p USING @v;

SET @v = '2024-01-01 10:00:00';

-- hide warnings
EXECUTE p USING @v;

PREPARE p FROM 'SELECT id FROM t WHERE NOT (? <=> ts) ORDER BY id';

SET @v = 'nonsense';

-- hide warnings
EXECUTE p USING @v;

SET @v = NULL;

-- hide warnings
EXECUTE p USING @v;

SET @v = '2024-01-01 10:00:00';

-- hide warnings
EXECUTE p USING @v;

PREPARE p FROM 'SELECT id FROM t WHERE t <=> ? ORDER BY id';

SET @v = 'nonsense';

-- hide warnings
EXECUTE p USING @v;

SET @v = '99:99:99';

-- hide warnings
EXECUTE p USING @v;

SET @v = NULL;

-- hide warnings
EXECUTE p USING @v;

SET @v = '10:00:00';

-- hide warnings
EXECUTE p USING @v;

PREPARE p FROM 'SELECT id FROM t WHERE NOT (? <=> t) ORDER BY id';

SET @v = 'nonsense';

-- hide warnings
EXECUTE p USING @v;

SET @v = '99:99:99';

-- hide warnings
EXECUTE p USING @v;

SET @v = NULL;

-- hide warnings
EXECUTE p USING @v;

SET @v = '10:00:00';

-- hide warnings
EXECUTE p USING @v;

PREPARE p FROM 'SELECT id, d <=> ?, t <=> ? FROM t ORDER BY id';

SET @v = 'none', @w = 'neither';

-- hide warnings
EXECUTE p USING @v, @w;

PREPARE p FROM 'SELECT a.id, b.id FROM t a LEFT JOIN t b ON b.d <=> ? ORDER BY 1, 2';

-- hide warnings
EXECUTE p USING @v;
