#!/usr/bin/env bash
# Writes with the binary log and without it, on two servers that are equal otherwise, in turns: queries a second and their ratio.
#   bench/binlog.sh [TEST...]         oltp_write_only unless told otherwise
# Environment: ROUNDS (3), SECONDS_EACH (8), THREADS (16), TABLES (4), ROWS of a table (100000).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb python3
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=(oltp_write_only)
size=(--tables="${TABLES:-4}" --table-size="${ROWS:-100000}")
data=$work
ports=()
for options in --skip-log-bin --log-bin; do
  work=$data/server${#ports[@]}
  mkdir "$work"
  start_clearway 512M $options
  ports+=("$clearway_port")
  sql "$clearway_port" 'CREATE DATABASE sbtest'
  sysbench_on "$clearway_port" oltp_write_only "${size[@]}" --threads=4 prepare >"$data/sysbench.log" 2>&1 || die "$(tail -2 "$data/sysbench.log")"
done
work=$data
rate() { # rate PORT TEST
  sysbench_on "$1" "$2" "${size[@]}" --threads="${THREADS:-16}" --time="${SECONDS_EACH:-8}" run >"$work/sysbench.log" 2>&1 || die "$(tail -2 "$work/sysbench.log")"
  awk '/queries:/ { sub(/.*\(/, ""); print $1 + 0 }' "$work/sysbench.log"
}
provenance
echo "| test | round | off, q/s | on, q/s | ratio |"
echo "| --- | --- | ---: | ---: | ---: |"
for test in "${tests[@]}"; do
  for round in $(seq "${ROUNDS:-3}"); do
    off=$(rate "${ports[0]}" "$test")
    on=$(rate "${ports[1]}" "$test")
    awk -v test="$test" -v round="$round" -v a="$off" -v b="$on" 'BEGIN { printf "| %s | %d | %d | %d | %.2f |\n", test, round, a, b, b / a }'
  done
done
