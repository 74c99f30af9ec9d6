#!/usr/bin/env bash
# Point select on 200 tables of 10 rows (the later workload of MySQL's report #72829) against MariaDB, in turns:
# bench/many-tables.sh [sweep options]. Wanted at 256 threads: twice MariaDB's.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb mariadbd python3

start_clearway 512M
start_mariadb 512M
mkdir -p "$top/target/bench"
provenance
"$clearway" sweep --target "clearway=127.0.0.1:$clearway_port" --target "mariadb=127.0.0.1:$mariadb_port" \
  --tests oltp_point_select --threads 16,64,256 --tables 200 --table-size 10 --time 15 --warmup 5 \
  --json "$top/target/bench/many-tables.json" --html "$top/target/bench/many-tables.html" "$@"
