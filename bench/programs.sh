#!/usr/bin/env bash
# Stored programs beside MariaDB: a function for each row, a loop, SELECT INTO, INSERT and FETCH in a procedure, and what triggers add to
# INSERT ... SELECT. Both servers in turn; medians of the rounds, in milliseconds by the servers' own clocks.
#   bench/programs.sh [ROUNDS: 5] [ROWS: 100000]
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need mariadb mariadbd python3

rounds=${1:-5} rows=${2:-100000}
start_clearway 512M
start_mariadb 512M

client() { mariadb --no-defaults --skip-ssl -N -h127.0.0.1 -P"$1" -uroot; } # client PORT <STATEMENTS

setup() {
  cat <<SQL
CREATE DATABASE p; USE p;
CREATE TABLE digit (n INT PRIMARY KEY); INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE s (id INT PRIMARY KEY, v INT);
INSERT INTO s SELECT id, 7 FROM (SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n AS id
  FROM digit a, digit b, digit c, digit d, digit e) number WHERE id < $rows ORDER BY id;
CREATE TABLE plain (id INT PRIMARY KEY, v INT); CREATE TABLE before_t LIKE plain; CREATE TABLE after_t LIKE plain;
CREATE TABLE audit (id INT AUTO_INCREMENT PRIMARY KEY, row_id INT, v INT); CREATE TABLE written LIKE plain;
DELIMITER //
CREATE FUNCTION f(x INT) RETURNS INT DETERMINISTIC NO SQL RETURN x * 2 + 1//
CREATE TRIGGER b BEFORE INSERT ON before_t FOR EACH ROW SET NEW.v = NEW.v + 1//
CREATE TRIGGER a AFTER INSERT ON after_t FOR EACH ROW INSERT INTO audit (row_id, v) VALUES (NEW.id, NEW.v)//
CREATE PROCEDURE looping(n INT) BEGIN DECLARE i, j INT DEFAULT 0; WHILE i < n DO SET j = j + 1; SET i = i + 1; END WHILE; END//
CREATE PROCEDURE reading(n INT) BEGIN DECLARE i, x INT DEFAULT 0; WHILE i < n DO SELECT v INTO x FROM s WHERE id = i; SET i = i + 1; END WHILE; END//
CREATE PROCEDURE writing(n INT) BEGIN DECLARE i INT DEFAULT 0; START TRANSACTION;
  WHILE i < n DO INSERT INTO written VALUES (i, i); SET i = i + 1; END WHILE; COMMIT; END//
CREATE PROCEDURE fetching() BEGIN DECLARE x INT; DECLARE done INT DEFAULT 0; DECLARE c CURSOR FOR SELECT id FROM s;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; OPEN c; REPEAT FETCH c INTO x; UNTIL done END REPEAT; CLOSE c; END//
DELIMITER ;
SQL
}

timed() { # timed NAME STATEMENT: prints the name and the microseconds that the statement took
  echo "SET @began = SYSDATE(6);"
  echo "$2;"
  echo "SELECT '$1', TIMESTAMPDIFF(MICROSECOND, @began, SYSDATE(6)) AS took;"
}

round() {
  echo "USE p;"
  timed function "SELECT SUM(f(id)) INTO @x FROM s"
  timed loop "CALL looping(10 * $rows)"
  timed select "CALL reading($rows)"
  timed insert "CALL writing($rows)"
  timed fetch "CALL fetching()"
  timed plain "INSERT INTO plain SELECT * FROM s"
  timed before "INSERT INTO before_t SELECT * FROM s"
  timed after "INSERT INTO after_t SELECT * FROM s"
  echo "TRUNCATE TABLE plain; TRUNCATE TABLE before_t; TRUNCATE TABLE after_t; TRUNCATE TABLE audit; TRUNCATE TABLE written;"
}

for port in "$clearway_port" "$mariadb_port"; do setup | client "$port"; done
for ((n = 0; n < rounds; n++)); do
  round | client "$clearway_port" | sed 's/^/clearway\t/' >>"$work/took"
  round | client "$mariadb_port" | sed 's/^/mariadb\t/' >>"$work/took"
done
provenance
python3 - "$work/took" <<'EOP'
import statistics, sys
took = {}
for line in open(sys.argv[1]):
    server, name, us = line.split()
    took.setdefault((server, name), []).append(int(us) / 1000)
median = {key: statistics.median(values) for key, values in took.items()}
for name in ("before", "after"):  # what a trigger adds
    for server in ("clearway", "mariadb"):
        median[server, name] -= median[server, "plain"]
print(f"{'':10} {'Clearway':>9} {'MariaDB':>9}  ratio")
for name in ("function", "loop", "select", "insert", "fetch", "plain", "before", "after"):
    a, b = median["clearway", name], median["mariadb", name]
    print(f"{name:10} {a:9.1f} {b:9.1f} {a / b:6.2f}")
EOP
