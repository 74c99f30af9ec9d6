#!/usr/bin/env bash
# TPC-H on Clearway and on Debian's MariaDB: the same tables, the 22 queries in turn on both, results compared row by row.
#   bench/tpch.sh [SCALE [ROUNDS]]       scale 0.1 and 3 rounds unless told otherwise
# Needs a python with duckdb==1.5.5, duckdb-extension-tpch==1.5.5 and pymysql: PYTHON=... names it.
# TPCH_DATA=DIRECTORY keeps the generated statements there.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need mariadb mariadbd python3
python=${PYTHON:-python3}
data=${TPCH_DATA:-$work/tpch}
mkdir -p "$data"
[ -s "$data/queries.sql" ] || "$python" "$top/bench/tpch/generate.py" "${1:-0.1}" "$data"

start_clearway 1G
start_mariadb 1G
for port in "$clearway_port" "$mariadb_port"; do
  client=(mariadb --no-defaults --skip-ssl --default-character-set=utf8mb4 -h127.0.0.1 -P"$port" -uroot)
  "${client[@]}" -e 'CREATE DATABASE tpch'
  "${client[@]}" tpch <"$top/bench/tpch/schema.sql"
  for table in region nation part supplier partsupp customer orders lineitem; do
    "${client[@]}" tpch <"$data/$table.sql"
    "${client[@]}" tpch -e "ANALYZE TABLE $table" >/dev/null
  done
done
provenance
"$python" "$top/bench/tpch/compare.py" "$data/queries.sql" "$clearway_port" "$mariadb_port" "${2:-3}"
