-- What information_schema.INNODB_TRX lists: who has read or written, not who asks for that table alone. MySQL shows the same picture for
-- a tenth of a second.
CREATE TABLE t (id INT PRIMARY KEY, n INT);
INSERT INTO t VALUES (1, 1), (2, 2);
DO SLEEP(0.2);
SELECT trx_state FROM information_schema.INNODB_TRX;
-- on a
START TRANSACTION READ ONLY;
SELECT id FROM t WHERE id = 1;
-- on main
DO SLEEP(0.2);
SELECT trx_state, trx_isolation_level, trx_is_read_only, trx_autocommit_non_locking, trx_rows_modified, trx_rows_locked FROM information_schema.INNODB_TRX;
-- on a
COMMIT;
BEGIN;
UPDATE t SET n = n + 1;
-- on main
DO SLEEP(0.2);
SELECT trx_state, trx_isolation_level, trx_is_read_only, trx_autocommit_non_locking, trx_rows_modified FROM information_schema.INNODB_TRX;
-- on a
DO SLEEP(0.2);
SELECT trx_state, trx_is_read_only, trx_autocommit_non_locking, trx_rows_modified FROM information_schema.INNODB_TRX;
ROLLBACK;
SET autocommit = 0;
SELECT n FROM t WHERE id = 2;
-- on main
DO SLEEP(0.2);
SELECT trx_state, trx_is_read_only, trx_autocommit_non_locking, trx_rows_modified FROM information_schema.INNODB_TRX;
-- on a
COMMIT;
-- on main
DO SLEEP(0.2);
SELECT trx_state FROM information_schema.INNODB_TRX;
