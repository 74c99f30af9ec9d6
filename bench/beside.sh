#!/usr/bin/env bash
# One table of four times the buffer pool (256 MiB): a cold full scan and CREATE INDEX, then point selects on small tables at 16
# threads while the large one is scanned, rebuilt and dropped: p99 and throughput against undisturbed, on Clearway and MariaDB.
#   bench/beside.sh [ROWS of the large table: 4500000] [SECONDS a run: 10] [THREADS: 16]
# "Cold": the server was restarted and the kernel's page cache dropped, where that is allowed.
# SERVERS="clearway" leaves the peer out. MYSQL_PORT=P adds a running server, whose scan is then not cold.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb mariadbd python3

rows=${1:-4500000} seconds=${2:-10} threads=${3:-16} pool=256M
small=(--tables=4 --table-size=50000 --threads="$threads")

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.2f", b - a }'; }

restart() { # restart SERVER: cleanly, with a cold page cache
  local pid=${1}_pid
  kill "${!pid}" && wait "${!pid}" 2>/dev/null || true
  sync
  echo 3 >/proc/sys/vm/drop_caches 2>/dev/null || echo "$1: the page cache stays warm" >&2
  "start_$1" "$pool"
}

measure() { # measure PORT: "queries/s p99-ms"
  sysbench_on "$1" oltp_point_select "${small[@]}" --percentile=99 --time="$seconds" run >"$work/run.log" 2>&1 || die "$(tail -3 "$work/run.log")"
  awk '/queries:/ { gsub(/[(]/, "", $3); rate = $3 } /99th percentile:/ { p99 = $3 } END { printf "%.0f %s", rate, p99 }' "$work/run.log"
}

beside() { # beside SERVER PORT NAME STATEMENT: repeated while the point selects run
  { while sql "$2" "$4"; do :; done; } >"$work/beside.log" 2>&1 &
  local loop=$!
  sleep 0.5
  echo "$1: while $3: $(measure "$2")"
  kill "$loop" 2>/dev/null && wait "$loop" 2>/dev/null || true
  # What the client left running ends before the next measure.
  sql "$2" "SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist WHERE info LIKE '%large%' AND id <> CONNECTION_ID()" |
    mariadb --no-defaults --skip-ssl -h127.0.0.1 -P"$2" -uroot >/dev/null 2>&1 || true
  sleep 1
}

measure_server() { # measure_server SERVER
  local server=$1 port=${1}_port at
  sql "${!port}" 'CREATE DATABASE sbtest; CREATE DATABASE large'
  sysbench_on "${!port}" oltp_point_select "${small[@]}" prepare >"$work/prepare.log" 2>&1 || die "$server: $(tail -2 "$work/prepare.log")"
  sysbench oltp_point_select --mysql-host=127.0.0.1 --mysql-port="${!port}" --mysql-user=root --mysql-db=large --tables=1 \
    --table-size="$rows" prepare >"$work/prepare.log" 2>&1 || die "$server: $(tail -2 "$work/prepare.log")"
  [ -z "${1##peer*}" ] || restart "$server"
  at=$(now)
  sql "${!port}" 'SELECT SUM(LENGTH(c)) FROM large.sbtest1' >/dev/null
  echo "$server: cold scan $(since "$at") s"
  [ -z "${1##peer*}" ] || restart "$server"
  at=$(now)
  sql "${!port}" 'CREATE INDEX pad ON large.sbtest1 (pad)'
  echo "$server: cold CREATE INDEX $(since "$at") s"
  measure "${!port}" >/dev/null
  echo "$server: undisturbed: $(measure "${!port}")"
  beside "$server" "${!port}" "scanned" 'SELECT SUM(LENGTH(c)) FROM large.sbtest1'
  beside "$server" "${!port}" "rebuilt" 'ALTER TABLE large.sbtest1 ENGINE=InnoDB, ALGORITHM=INPLACE'
  measure "${!port}" >"$work/dropped" &
  local run=$!
  sleep 1
  at=$(now)
  sql "${!port}" 'DROP TABLE large.sbtest1'
  at=$(since "$at")
  wait "$run"
  echo "$server: while dropped: $(cat "$work/dropped"), DROP TABLE took $at s"
}

provenance
echo "queries a second and p99 in milliseconds"
for server in ${SERVERS:-clearway mariadb}; do
  "start_$server" "$pool"
  measure_server "$server"
done
if [ -n "${MYSQL_PORT:-}" ]; then
  peer_port=$MYSQL_PORT
  measure_server peer
  sql "$MYSQL_PORT" 'DROP DATABASE sbtest; DROP DATABASE large'
fi
