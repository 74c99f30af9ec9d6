#!/usr/bin/env bash
# How long the unlucky wait: rate, mean, 99th and 99.9th percentile and maximum of sysbench's events with many clients.
# Servers take turns: Clearway, MariaDB, MySQL where MYSQLD names its server, and another build of Clearway where BEFORE does.
#   bench/tail.sh [TEST...]        the four tests of the table in RESULTS.md unless told otherwise
# Environment: CLIENTS ("64 256 1000"), ROUNDS (3), SECONDS_EACH (10), TABLES (4), ROWS of a table (100000), PEERS ("mariadb").
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb mariadbd python3
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=(oltp_point_select oltp_read_only oltp_read_write oltp_write_only)
size=(--tables="${TABLES:-4}" --table-size="${ROWS:-100000}")
read -ra servers <<<"clearway ${PEERS-mariadb}"
[ -z "${MYSQLD:-}" ] || servers+=(mysql)
[ -z "${BEFORE:-}" ] || servers+=(before)

start_before() {
  (
    trap - EXIT
    exec "$BEFORE" serve --datadir="$work/before" --port="$before_port" --socket="$work/b.sock" --bind-address=127.0.0.1 \
      --initialize-insecure --skip-log-bin --innodb-buffer-pool-size="$1" --innodb-flush-log-at-trx-commit=1 --max-connections=2000 \
      --max-prepared-stmt-count=1000000
  ) >"$work/before.log" 2>&1 &
  pids+=("$!")
  await "$before_port" "$!" "$work/before.log" 120
}
before_port=$(free_port)

for server in "${servers[@]}"; do
  "start_$server" 1G
  port=${server}_port
  sql "${!port}" 'CREATE DATABASE IF NOT EXISTS sbtest'
  sysbench_on "${!port}" oltp_read_write "${size[@]}" --threads=4 prepare >"$work/sysbench.log" 2>&1 || die "$(tail -2 "$work/sysbench.log")"
done

# Of the rounds' rows of one test, one number of clients and one server: the median of each column.
medians() {
  sort -n "$work/rows" | awk '{ for (i = 1; i <= NF; i++) v[i, NR] = $i } END {
    for (i = 1; i <= 5; i++) { n = 0; for (r = 1; r <= NR; r++) a[++n] = v[i, r]
      for (x = 2; x <= n; x++) for (y = x; y > 1 && a[y - 1] + 0 > a[y] + 0; y--) { t = a[y]; a[y] = a[y - 1]; a[y - 1] = t }
      m[i] = a[int((n + 1) / 2)] }
    printf "%d | %.1f | %.1f | %.1f | %.1f", m[1], m[2], m[3], m[4], m[5] }'
}

provenance
echo "| test | clients | server | events/s | mean ms | p99 | p99.9 | max |"
echo "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |"
for test in "${tests[@]}"; do
  for clients in ${CLIENTS:-64 256 1000}; do
    for round in $(seq "${ROUNDS:-3}"); do
      for server in "${servers[@]}"; do
        port=${server}_port
        sysbench_on "${!port}" "$test" "${size[@]}" --threads="$clients" --time="${SECONDS_EACH:-10}" --histogram=on run \
          >"$work/sysbench.log" 2>&1 || die "$server: $(tail -2 "$work/sysbench.log")"
        awk '/ \|/ { at[++n] = $1; count[n] = $NF; all += $NF }
          /^ *transactions:/ { sub(/^\(/, "", $3); rate = $3 }
          /^ *avg:/ { mean = $2 } /^ *max:/ { max = $2 }
          END { for (i = 1; i <= n; i++) { sum += count[i]
              if (!p99 && sum >= all * 0.99) p99 = at[i]
              if (!p999 && sum >= all * 0.999) p999 = at[i] }
            print rate, mean, p99, p999, max }' "$work/sysbench.log" >>"$work/$test.$clients.$server"
      done
    done
    for server in "${servers[@]}"; do
      cp "$work/$test.$clients.$server" "$work/rows"
      echo "| ${test#oltp_} | $clients | $server | $(medians) |"
    done
  done
done
