#!/usr/bin/env bash
# Wall time of `sysbench prepare` of 4 tables against MariaDB, in turns: bench/prepare.sh [ROWS a table: 500000] [ROUNDS: 3]
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb mariadbd python3

rows=${1:-500000} rounds=${2:-3}
start_clearway 1G
start_mariadb 1G
provenance
declare -A times=([clearway]= [mariadb]=)
for ((round = 0; round < rounds; round++)); do
  order=(clearway mariadb)
  if ((round % 2)); then order=(mariadb clearway); fi
  for server in "${order[@]}"; do
    port=${server}_port
    sql "${!port}" 'DROP DATABASE IF EXISTS sbtest'
    sql "${!port}" 'CREATE DATABASE sbtest'
    begin=$(date +%s.%N)
    sysbench_on "${!port}" oltp_read_write --tables=4 --table-size="$rows" --threads=4 prepare >"$work/prepare.log" 2>&1 ||
      die "$server: $(tail -2 "$work/prepare.log")"
    took=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN { printf "%.2f", b - a }')
    times[$server]+="$took "
    echo "round $((round + 1)): $server $took s"
  done
done
median() { printf '%s\n' $1 | sort -n | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
a=$(median "${times[clearway]}") b=$(median "${times[mariadb]}")
awk -v n="$rows" -v a="$a" -v b="$b" 'BEGIN { printf "prepare 4 x %d rows: clearway %.2f s, mariadb %.2f s, clearway takes %.2f of its time\n", n, a, b, a / b }'
