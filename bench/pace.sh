#!/usr/bin/env bash
# Writes on data eight times the buffer pool, minute after minute: does the server keep its pace while pages have to be written?
# The rate of each second on Clearway, MariaDB and, where MYSQLD names its server, MySQL; servers take turns.
# The first ten seconds of each run do not count, but for p99.
#   bench/pace.sh [TEST...]           oltp_update_index and oltp_read_write unless told otherwise
# Environment: ROUNDS (2), SECONDS_EACH (150), THREADS (16), TABLES (4), ROWS of a table (550000), POOL in MiB (64).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb mariadbd python3
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=(oltp_update_index oltp_read_write)
WARMUP=10
size=(--tables="${TABLES:-4}" --table-size="${ROWS:-550000}")
servers=(clearway mariadb)
[ -z "${MYSQLD:-}" ] || servers+=(mysql)

for server in "${servers[@]}"; do
  "start_$server" "${POOL:-64}M"
  port=${server}_port
  sql "${!port}" 'CREATE DATABASE IF NOT EXISTS sbtest'
  sysbench_on "${!port}" oltp_write_only "${size[@]}" --threads=4 prepare >"$work/sysbench.log" 2>&1 || die "$(tail -2 "$work/sysbench.log")"
done
provenance
echo "| test | round | server | q/s | slowest second, of the mean | p99 ms |"
echo "| --- | --- | --- | ---: | ---: | ---: |"
for test in "${tests[@]}"; do
  for round in $(seq "${ROUNDS:-2}"); do
    for server in "${servers[@]}"; do
      port=${server}_port
      sysbench_on "${!port}" "$test" "${size[@]}" --threads="${THREADS:-16}" --time="$((${SECONDS_EACH:-150} + WARMUP))" \
        --report-interval=1 --percentile=99 run >"$work/sysbench.log" 2>&1 || die "$server: $(tail -2 "$work/sysbench.log")"
      awk -v warmup="$WARMUP" -v test="$test" -v round="$round" -v server="$server" '
        /^\[ [0-9]+s \]/ { for (i = 1; i < NF; i++) if ($i == "qps:" && ++seconds > warmup) { rate = $(i + 1) + 0; sum += rate; if (!counted++ || rate < slowest) slowest = rate } }
        /99th percentile:/ { p99 = $3 }
        END { printf "| %s | %d | %s | %d | %.2f | %s |\n", test, round, server, sum / counted, slowest * counted / sum, p99 }' "$work/sysbench.log"
    done
  done
done
