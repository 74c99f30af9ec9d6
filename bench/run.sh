#!/usr/bin/env bash
# The paired sweep: Clearway, Debian's MariaDB and the canned-reply server with equal settings, on throw-away data.
#   bench/run.sh [--quick] [--tests A,B] [--threads 4,16] [--time S] [--repeat N] [--html FILE] [--json FILE] ...
# Every option of `clearway sweep` may follow and wins over the ones here. --quick: one round of 3-second cells.
# SERVERS="clearway mariadb" leaves one out. The JSON and HTML reports go to target/bench unless told otherwise.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb mariadbd python3

words=(--tables 4 --table-size 100000 --rand-type uniform --threads 4,16,64,128,256
  --tests oltp_point_select,oltp_read_only,oltp_read_write,oltp_write_only,oltp_insert,oltp_delete,oltp_update_index,oltp_update_non_index)
mkdir -p "$top/target/bench"
words+=(--json "$top/target/bench/sweep.json" --html "$top/target/bench/sweep.html")
if [ "${1:-}" = --quick ]; then
  shift
  words+=(--time 3 --warmup 1 --repeat 1 --threads 16,64)
fi

targets=()
for server in ${SERVERS:-clearway mariadb canned}; do
  case $server in
    clearway) start_clearway 1G && targets+=(--target "clearway=127.0.0.1:$clearway_port") ;;
    mariadb) start_mariadb 1G && targets+=(--target "mariadb=127.0.0.1:$mariadb_port") ;;
    canned) start_canned && targets+=(--target "canned=127.0.0.1:$canned_port") ;;
    *) die "unknown server $server" ;;
  esac
done
provenance
"$clearway" sweep "${targets[@]}" "${words[@]}" "$@"
