#!/usr/bin/env bash
# Instructions that the server spends in user space on one prepared point select, and its ten costliest functions.
#   bench/callgrind.sh [SECONDS of load: 20] [SCRIPT: oltp_point_select]
# Callgrind counts while collection is on: it is switched on between two reads of Com_stmt_execute under steady load.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb valgrind callgrind_control python3

seconds=${1:-20} script=${2:-oltp_point_select}
[ -x "$clearway" ] || die "no $clearway: make build"
port=$(free_port)
# Valgrind cannot reserve terabytes of addresses.
(cd "$work" && exec valgrind --tool=callgrind --instr-atstart=no --separate-threads=no \
  --callgrind-out-file="$work/callgrind.out" "$clearway" serve --datadir="$work/clearway" --port="$port" --socket="$work/c.sock" \
  --bind-address=127.0.0.1 --initialize-insecure --innodb-buffer-pool-size=64M --clearway-address-space-size=2G ${OPTIONS:-}) >"$work/clearway.log" 2>&1 &
pid=$!
pids+=("$pid")
await "$port" "$pid" "$work/clearway.log" 300
sql "$port" 'CREATE DATABASE sbtest'
size=(--tables=1 --table-size=10000 --threads=4)
sysbench_on "$port" "$script" "${size[@]}" prepare >"$work/sysbench.log" 2>&1 || die "$(tail -2 "$work/sysbench.log")"

executed() { sql "$port" "SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'" | awk '{ print $2 }'; }
control() { callgrind_control "$@" "$pid" >"$work/control.log" 2>&1 || die "callgrind_control $*: $(cat "$work/control.log")"; }

sysbench_on "$port" "$script" "${size[@]}" --db-ps-mode=auto --time="$((seconds * 2))" run >"$work/sysbench.log" 2>&1 &
load=$!
control -i on # Instrumented from here; slower.
sleep "$((seconds / 2))"
control -z
before=$(executed)
sleep "$seconds"
after=$(executed)
control -d
wait "$load" || die "$(tail -2 "$work/sysbench.log")"
statements=$((after - before))
[ "$statements" -gt 0 ] || die "no statement was executed while callgrind counted"
# The reads of the counter are statements too, two among thousands.
dump=$work/callgrind.out.1
total=$(awk '/^(summary|totals):/ { print $2; exit }' "$dump")
[ -n "$total" ] || die "no total in callgrind's output"
provenance
awk -v t="$total" -v n="$statements" -v s="$script" 'BEGIN { printf "%s: %d instructions a statement (%d statements)\n", s, t / n, n }'
echo "the ten costliest functions, instructions a statement of their own:"
awk -f "$top/bench/callgrind.awk" "$dump" | sort -rn | head -"${TOP:-10}" | awk -v n="$statements" '{ c = $1; $1 = ""; printf "%9.1f %s\n", c / n, $0 }'
