#!/usr/bin/env bash
# What accounts, TLS and encryption at rest cost: pairs, interleaved, and their ratios.
#   doors.sh [connects|accounts|churn|tls|encrypted...]     environment: ROUNDS (3), SECONDS_EACH (5), ROWS (100000), THREADS (64)
# `connects` is against a MySQL, too, where MYSQLD names its server (see lib.sh). NICE="nice -n -8" puts servers and clients before others.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need sysbench mariadb mariadbd
what=("$@")
[ ${#what[@]} -gt 0 ] || what=(connects accounts churn tls encrypted)
rounds=${ROUNDS:-3} seconds=${SECONDS_EACH:-5} rows=${ROWS:-100000}
[ -z "${NICE:-}" ] || renice -n -8 $$ >/dev/null

rate() { # rate PORT USER PASSWORD SCRIPT THREADS [OPTION...]: events a second
  local port=$1 user=$2 password=$3 script=$4 threads=$5
  shift 5
  [[ "$script" != oltp_* ]] || set -- --tables=1 --table-size="$rows" --rand-type=uniform "$@"
  sysbench "$script" --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user="$user" --mysql-password="$password" --mysql-db=sbtest \
    --threads="$threads" --time="$seconds" --report-interval=0 "$@" run \
    | awk '/total time:/ { sub("s", "", $3); time = $3 } /total number of events:/ { print $5 / time }'
}

pairs() { # pairs NAME COMMAND_OF_A COMMAND_OF_B: medians of both, and of their ratios
  local a b i
  for i in $(seq "$rounds"); do
    a=$($2) b=$($3)
    echo "$a $b"
  done | awk -v name="$1" '{ a[NR] = $1; b[NR] = $2; r[NR] = $1 / $2 }
    function median(v, n, i, j, t) { for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t } return v[int((n + 1) / 2)] }
    END { printf "%s | %.0f | %.0f | %.2f\n", name, median(a, NR), median(b, NR), median(r, NR) }'
}

prepare() { # prepare PORT
  sql "$1" 'CREATE DATABASE IF NOT EXISTS sbtest'
  sysbench_on "$1" oltp_read_write --tables=1 --table-size="$rows" prepare >/dev/null
}

connects() {
  start_clearway 64M --mysql-native-password=ON
  start_mariadb 64M
  sql "$clearway_port" "CREATE DATABASE sbtest; CREATE USER n IDENTIFIED WITH mysql_native_password BY 'pw'; GRANT SELECT ON sbtest.* TO n; CREATE USER s IDENTIFIED WITH caching_sha2_password BY 'pw'; GRANT SELECT ON sbtest.* TO s"
  sql "$mariadb_port" "CREATE DATABASE sbtest; CREATE USER n IDENTIFIED VIA mysql_native_password USING PASSWORD('pw'); GRANT SELECT ON sbtest.* TO n"
  door() { rate "$1" "$2" pw "$top/bench/connects.lua" "${THREADS:-16}" --db-driver=mysql; }
  native() { door "$clearway_port" n; }
  sha2() { door "$clearway_port" s; }
  mariadb_native() { door "$mariadb_port" n; }
  pairs "connects, native, MariaDB" native mariadb_native
  # The first login of a sha2 account needs TLS; later ones find its password in the cache.
  mariadb --no-defaults --ssl --skip-ssl-verify-server-cert -h127.0.0.1 -P"$clearway_port" -us -ppw -e 'DO 1'
  pairs "connects, cached sha2, MariaDB's native" sha2 mariadb_native
  if [ -n "${MYSQLD:-}" ]; then
    start_mysql 64M
    sql "$mysql_port" "CREATE DATABASE sbtest; CREATE USER s IDENTIFIED WITH caching_sha2_password BY 'pw'; GRANT SELECT ON sbtest.* TO s"
    mariadb --no-defaults --ssl --skip-ssl-verify-server-cert -h127.0.0.1 -P"$mysql_port" -us -ppw -e 'DO 1'
    mysql_sha2() { door "$mysql_port" s; }
    pairs "connects, cached sha2, MySQL" sha2 mysql_sha2
  fi
}

accounts_sql() {
  local i
  for i in $(seq 0 99); do
    echo "CREATE USER $(seq -s, -f "'u$i-%g'" 0 99);"
  done
  for i in $(seq 0 9); do
    echo "CREATE ROLE $(seq -s, -f "'r$i-%g'" 0 99);"
    echo "GRANT SELECT ON sbtest.* TO $(seq -s, -f "'r$i-%g'" 0 99);"
  done
  echo "GRANT $(seq -s, -f "'r0-%g'" 0 49) TO $(seq -s, -f "'u0-%g'" 0 99);"
  echo "CREATE USER narrow; GRANT SELECT (id, k, c, pad) ON sbtest.sbtest1 TO narrow;"
}

accounts() {
  start_clearway 256M
  local port=$clearway_port
  prepare "$port"
  sql "$port" "CREATE USER reader; GRANT SELECT ON *.* TO reader"
  one() { rate "$port" reader '' oltp_point_select "${THREADS:-64}"; }
  # The others are on a second server: they do not come and go with the rounds.
  work_before=$work work=$work/crowded
  mkdir -p "$work"
  start_clearway 256M
  work=$work_before
  crowded_port=$clearway_port
  prepare "$crowded_port"
  accounts_sql | mariadb --no-defaults --skip-ssl -h127.0.0.1 -P"$crowded_port" -uroot
  crowded() { rate "$crowded_port" narrow '' oltp_point_select "${THREADS:-64}"; }
  one >/dev/null
  crowded >/dev/null
  pairs "point select, 10,000 accounts and column grants, one account" crowded one
}

churn() {
  start_clearway 256M
  local port=$clearway_port looping
  prepare "$port"
  sql "$port" "CREATE USER narrow, other; GRANT SELECT (id, k, c, pad) ON sbtest.sbtest1 TO narrow"
  quiet() { rate "$port" narrow '' oltp_point_select "${THREADS:-64}"; }
  beside() {
    (while echo "GRANT INSERT ON sbtest.* TO other; REVOKE INSERT ON sbtest.* FROM other;"; do sleep 0.01; done) 2>/dev/null |
      mariadb --no-defaults --skip-ssl -h127.0.0.1 -P"$port" -uroot >/dev/null 2>&1 &
    looping=$!
    quiet
    kill "$looping" 2>/dev/null || true
    wait "$looping" 2>/dev/null || true
  }
  quiet >/dev/null
  pairs "point select beside GRANT and REVOKE, without" beside quiet
}

tls() {
  start_clearway 256M
  local port=$clearway_port
  prepare "$port"
  plain() { rate "$port" root '' oltp_point_select "${THREADS:-64}"; }
  # sysbench wants them here under these names.
  cd "$work"
  cp clearway/ca.pem cacert.pem
  cp clearway/client-cert.pem clearway/client-key.pem .
  secure() { rate "$port" root '' oltp_point_select "${THREADS:-64}" --mysql-ssl=on; }
  plain >/dev/null
  pairs "point select over TLS, plain" secure plain
}

encrypted() {
  local pool script
  for pool in 256M 16M; do
    mkdir -p "$work/$pool"
    work_before=$work work=$work/$pool
    mkdir -p "$work/clearway"
    echo "{\"path\": \"$work/keyring\"}" >"$work/clearway/component_keyring_file.cnf"
    local size=$rows
    # Eight times the pool.
    [ "$pool" = 256M ] || rows=500000
    start_clearway "$pool"
    local port=$clearway_port
    sql "$port" 'CREATE DATABASE sbtest; CREATE DATABASE sealed ENCRYPTION="Y"'
    sysbench_on "$port" oltp_read_write --tables=1 --table-size="$rows" prepare >/dev/null
    sysbench_on "$port" oltp_read_write --mysql-db=sealed --tables=1 --table-size="$rows" prepare >/dev/null
    for script in oltp_point_select oltp_read_write; do
      open() { rate "$port" root '' "$script" 16; }
      sealed() { rate "$port" root '' "$script" 16 --mysql-db=sealed; }
      open >/dev/null
      sealed >/dev/null
      pairs "$script, encrypted tables, pool $pool, plain" sealed open
    done
    kill "$clearway_pid"
    wait "$clearway_pid" || true
    work=$work_before rows=$size
  done
}

echo "what | first | second | ratio"
all=$work
for one in "${what[@]}"; do
  work=$all/$one
  mkdir -p "$work"
  "$one"
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  pids=()
  cd "$all"
done
work=$all
