#!/usr/bin/env bash
# TPC-C's transactions on Clearway and Debian's MariaDB, both flushing at each commit: transactions a second, interleaved.
#   bench/tpcc.sh [THREADS...]        16 unless told otherwise
# Environment: ROUNDS (3), SECONDS_EACH (20), WAREHOUSES (10), ITEMS (100000), CUSTOMERS of a district (3000).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb mariadbd
threads=("$@")
[ ${#threads[@]} -gt 0 ] || threads=(16)
start_clearway 2G
start_mariadb 2G

bench() { # bench PORT THREADS COMMAND [OPTION...]
  local port=$1 n=$2 command=$3
  shift 3
  sysbench "$top/bench/tpcc.lua" --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=root --mysql-db=tpcc \
    --threads="$n" --report-interval=0 --warehouses="${WAREHOUSES:-10}" --items="${ITEMS:-100000}" --customers="${CUSTOMERS:-3000}" \
    "$@" "$command"
}

# Two facts that every transaction keeps: a district's next order follows its last one, and an order has its lines.
check() { # check PORT
  local wrong
  wrong=$(sql "$1" "SELECT COUNT(*) FROM tpcc.district WHERE d_next_o_id - 1 <>
    (SELECT MAX(o_id) FROM tpcc.orders WHERE o_w_id = d_w_id AND o_d_id = d_id)")
  [ "$wrong" = 0 ] || die "$wrong districts disagree with their orders on port $1"
  wrong=$(sql "$1" "SELECT (SELECT SUM(o_ol_cnt) FROM tpcc.orders) - (SELECT COUNT(*) FROM tpcc.order_line)")
  [ "$wrong" = 0 ] || die "$wrong order lines too few on port $1"
}

for port in "$clearway_port" "$mariadb_port"; do
  sql "$port" 'CREATE DATABASE tpcc'
  bench "$port" 1 prepare >/dev/null
done
provenance
echo "| threads | round | Clearway tps | MariaDB tps | ratio | 95 % ms, Clearway | MariaDB |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
for n in "${threads[@]}"; do
  for round in $(seq "${ROUNDS:-3}"); do
    rates=() latencies=()
    for port in "$clearway_port" "$mariadb_port"; do
      out=$(bench "$port" "$n" run --time="${SECONDS_EACH:-20}")
      rates+=("$(awk '/transactions:/ { gsub("[(]", "", $3); print $3; exit }' <<<"$out")")
      latencies+=("$(awk '/95th percentile/ { print $3 }' <<<"$out")")
    done
    awk -v t="$n" -v r="$round" -v a="${rates[0]}" -v b="${rates[1]}" -v x="${latencies[0]}" -v y="${latencies[1]}" \
      'BEGIN { printf "| %s | %s | %.0f | %.0f | %.2f | %s | %s |\n", t, r, a, b, a / b, x, y }'
  done
done
check "$clearway_port"
check "$mariadb_port"
