-- sysbench: every thread updates the same row, in autocommit.

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE hot (id INT PRIMARY KEY, n BIGINT NOT NULL, pad CHAR(60) NOT NULL)")
  con:query("INSERT INTO hot VALUES (1, 0, '')")
end

function thread_init()
  con = sysbench.sql.driver():connect()
  stmt = con:prepare("UPDATE hot SET n = n + 1 WHERE id = 1")
end

function event()
  stmt:execute()
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE IF EXISTS hot")
end
