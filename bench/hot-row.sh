#!/usr/bin/env bash
# All clients update one row, both servers flush at each commit: commits a second, interleaved, and their ratio.
#   hot-row.sh [THREADS...]      environment: ROUNDS (3), SECONDS_EACH (5)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need sysbench mariadb mariadbd
threads=("$@")
[ ${#threads[@]} -gt 0 ] || threads=(16 256)
start_clearway 64M
start_mariadb 64M

bench() { # bench PORT THREADS COMMAND [OPTION...]: sysbench's output
  local port=$1 n=$2 command=$3
  shift 3
  sysbench "$top/bench/hot_row.lua" --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=root \
    --mysql-db=hot --threads="$n" --report-interval=0 "$@" "$command"
}

for port in "$clearway_port" "$mariadb_port"; do
  sql "$port" 'CREATE DATABASE hot'
  bench "$port" 1 prepare >/dev/null
done
printf 'threads\tround\tclearway\tmariadb\tratio\n'
for n in "${threads[@]}"; do
  for round in $(seq "${ROUNDS:-3}"); do
    results=()
    for port in "$clearway_port" "$mariadb_port"; do
      before=$(sql "$port" 'SELECT n FROM hot.hot')
      out=$(bench "$port" "$n" run --time="${SECONDS_EACH:-5}")
      after=$(sql "$port" 'SELECT n FROM hot.hot')
      total=$(awk '/total time:/ { sub("s", "", $3); print $3 }' <<<"$out")
      results+=("$(awk -v n=$((after - before)) -v s="$total" 'BEGIN { printf "%.0f", n / s }')")
    done
    printf '%s\t%s\t%s\t%s\t%s\n' "$n" "$round" "${results[0]}" "${results[1]}" \
      "$(awk -v a="${results[0]}" -v b="${results[1]}" 'BEGIN { printf "%.2f", a / b }')"
  done
done
