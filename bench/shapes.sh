#!/usr/bin/env bash
# Shapes of statement at three sizes each, on Clearway and its peers: server CPU (ms, median), the ratio to the better peer at the
# largest size, and the exponent of growth from the middle size to the largest. The shapes stand in bench/shapes.sql.
#   bench/shapes.sh [PATTERN of names: all] [REPETITIONS: 3]
# CLEARWAY names another binary, SERVERS="clearway mariadb mysql" chooses (mysql needs MYSQLD, see lib.sh). ROWS="3000 30000 300000"
# are the sizes of the tables. SECONDS_EACH (20) ends a statement; what took longer is not run at the sizes above.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need mariadb mariadbd python3

servers=${SERVERS:-clearway mariadb ${MYSQLD:+mysql}}
files=$work/files
mkdir -p "$files"
chmod 755 "$work"
for server in $servers; do
  case $server in
    clearway) start_clearway 1G --secure-file-priv="$files" ;;
    # Its collation by the same rules as utf8mb4_0900_ai_ci.
    mariadb) start_mariadb 1G --secure-file-priv="$files" --character-set-server=utf8mb4 --collation-server=utf8mb4_uca1400_nopad_ai_ci ;;
    mysql) start_mysql 1G --secure-file-priv="$files" ;;
  esac
  port=${server}_port pid=${server}_pid
  targets+=("$server=${!port},${!pid}")
done
provenance
python3 "$top/bench/shapes.py" "$top/bench/shapes.sql" "$files" "${1:-}" "${2:-3}" "${targets[@]}"
