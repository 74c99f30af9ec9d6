#!/usr/bin/env bash
# Instructions of a prepared point select and of an indexed update, against the counts that are kept in bench/gate.counts.
#   bench/gate.sh            fails when one takes over 1 % more
#   bench/gate.sh --keep     writes what was counted as the counts to keep
# Callgrind counts what one client's commands take on the thread that serves them, from the packet to its answer, in user space:
# so neither the machine's load nor the work of the background changes a count. Each run is so many statements, with the login and
# the prepare in front. The log is not flushed at a commit, whose wait would go by the clock. Libraries choose code by the
# processor (memcpy), so counts are of one kind of machine; take new ones (--keep) on another before a change, not after.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb valgrind callgrind_control python3

counts=$top/bench/gate.counts
statements=${STATEMENTS:-20000}
tolerance=1.01
[ -x "$clearway" ] || die "no $clearway: make build"

port=$(free_port)
(cd "$work" && exec valgrind --tool=callgrind --instr-atstart=no --separate-threads=no \
  --toggle-collect='*worker::serve_packet*' --callgrind-out-file="$work/callgrind.out" \
  "$clearway" serve --datadir="$work/clearway" --port="$port" --socket="$work/c.sock" --bind-address=127.0.0.1 \
  --initialize-insecure --innodb-buffer-pool-size=64M --clearway-address-space-size=2G \
  --innodb-flush-log-at-trx-commit=0) >"$work/clearway.log" 2>&1 &
pid=$!
pids+=("$pid")
await "$port" "$pid" "$work/clearway.log" 300
control() { callgrind_control "$@" "$pid" >"$work/control.log" 2>&1 || die "callgrind_control $*: $(cat "$work/control.log")"; }
load() { # load SCRIPT STATEMENTS
  sysbench_on "$port" "$1" "${size[@]}" --db-ps-mode=auto --rand-seed=1 --events="$2" --time=0 run >"$work/sysbench.log" 2>&1 ||
    die "$(tail -2 "$work/sysbench.log")"
}
sql "$port" 'CREATE DATABASE sbtest'
size=(--tables=1 --table-size=10000 --threads=1)
sysbench_on "$port" oltp_point_select "${size[@]}" prepare >"$work/sysbench.log" 2>&1 || die "$(tail -2 "$work/sysbench.log")"

control -i on
dumps=0 failed=0 lines=
while read -r script kept; do
  [ -n "$script" ] && [ "${script#\#}" = "$script" ] || continue
  load "$script" 1000
  control -z
  load "$script" "$statements"
  control -d
  dumps=$((dumps + 1))
  total=$(awk '/^(summary|totals):/ { print $2; exit }' "$work/callgrind.out.$dumps")
  [ -n "$total" ] || die "no total in callgrind's output"
  now=$((total / statements))
  lines+="$script $now"$'\n'
  awk -v s="$script" -v n="$now" -v k="${kept:-0}" 'BEGIN {
    printf "%s: %d instructions a statement, kept %s\n", s, n, k ? sprintf("%d (%+.2f %%)", k, (n / k - 1) * 100) : "none" }'
  if [ "${1:-}" != --keep ]; then
    [ -n "$kept" ] || die "$script has no count in $counts: bench/gate.sh --keep"
    awk -v n="$now" -v k="$kept" -v t="$tolerance" 'BEGIN { exit !(n <= k * t) }' || failed=1
  fi
done <"$counts"
if [ "${1:-}" = --keep ]; then
  { grep '^#' "$counts"; printf '%s' "$lines"; } >"$work/counts" && cp "$work/counts" "$counts"
fi
[ "$failed" = 0 ] || die "over 1 % more instructions than kept"
