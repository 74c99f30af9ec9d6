#!/usr/bin/env bash
# kill -9 with so much log since the last checkpoint and a transaction open that has changed so many rows, then the time until
# the server answers again, and until that transaction is undone.
#   bench/restart.sh [MIB of log: 1024] [SECONDS allowed: 5] [ROWS: 1000000]
# The redo log is twice as large, so that the checkpoint may stay behind; log bytes come from Innodb_os_log_written.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb python3

mib=${1:-1024} allowed=${2:-5} open_rows=${3:-1000000}
options=(--innodb-redo-log-capacity=$((mib * 2))M ${OPTIONS:-})
start_clearway 2G "${options[@]}"
sql "$clearway_port" 'CREATE DATABASE sbtest; CREATE DATABASE open'
size=(--tables=4 --table-size=100000 --threads=16)
sysbench_on "$clearway_port" oltp_write_only "${size[@]}" prepare >"$work/sysbench.log" 2>&1 || die "$(tail -2 "$work/sysbench.log")"
sysbench_on "$clearway_port" oltp_write_only --tables=1 --table-size="$open_rows" --mysql-db=open prepare >"$work/sysbench.log" 2>&1 ||
  die "$(tail -2 "$work/sysbench.log")"
written() { sql "$clearway_port" "SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'" | awk '{ print $2 }'; }
begin=$(written)
[ -n "$begin" ] || die "the server has no Innodb_os_log_written"
while log=$(($(written) - begin)) && [ "$log" -lt $((mib * 1024 * 1024)) ]; do
  sysbench_on "$clearway_port" oltp_write_only "${size[@]}" --time=5 run >"$work/sysbench.log" 2>&1 || die "$(tail -2 "$work/sysbench.log")"
  echo "$((log / 1024 / 1024)) of $mib MiB of log"
done
mkfifo "$work/open"
mariadb --no-defaults --skip-ssl -N -n -h127.0.0.1 -P"$clearway_port" -uroot open <"$work/open" >"$work/open.log" 2>&1 &
exec 9>"$work/open"
echo "BEGIN; UPDATE sbtest1 SET pad = 'not committed'; SELECT 'changed';" >&9
until grep -q changed "$work/open.log"; do sleep 0.2; done
rows=$(sql "$clearway_port" 'SELECT COUNT(*) FROM sbtest.sbtest1')
kill -9 "$clearway_pid"
wait "$clearway_pid" 2>/dev/null || true
lines=$(wc -l <"$work/clearway.log")
before=$(date +%s.%N)
start_clearway 2G "${options[@]}"
took=$(awk -v a="$before" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
[ "$(sql "$clearway_port" 'SELECT COUNT(*) FROM sbtest.sbtest1')" = "$rows" ] || die "rows differ after the restart"
until [ "$(sql "$clearway_port" "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'ROLLING BACK'")" = 0 ]; do sleep 0.2; done
undone=$(awk -v a="$before" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
[ "$(sql "$clearway_port" "SELECT COUNT(*) FROM open.sbtest1 WHERE pad = 'not committed'")" = 0 ] || die "not undone"
provenance
echo "what the server said:"
tail -n +$((lines + 1)) "$work/clearway.log" | head -40
echo "restart after kill -9 with $((log / 1024 / 1024)) MiB of log and $open_rows rows of an open transaction: $took s, undone after $undone s"
awk -v t="$took" -v a="$allowed" 'BEGIN { exit !(t <= a) }' || die "more than $allowed s"
