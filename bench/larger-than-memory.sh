#!/usr/bin/env bash
# Data eight times the buffer pool (64 MiB): 4 tables of 550,000 rows are about 512 MiB. Point select and read write
# against MariaDB with the same pool, and the server's peak memory. Options of `clearway sweep` may follow.
# Exits non-zero when Clearway's peak is beyond the pool and 300 MiB.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb mariadbd python3

pool_mib=64 room_mib=300
start_clearway ${pool_mib}M
start_mariadb ${pool_mib}M
mkdir -p "$top/target/bench"
provenance
"$clearway" sweep --target "clearway=127.0.0.1:$clearway_port" --target "mariadb=127.0.0.1:$mariadb_port" \
  --tests oltp_point_select,oltp_read_write --threads 16,64 --tables 4 --table-size 550000 --time 20 --warmup 10 --no-cleanup \
  --json "$top/target/bench/larger-than-memory.json" --html "$top/target/bench/larger-than-memory.html" "$@"
for server in clearway mariadb; do
  pid=${server}_pid
  peak=$(awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/${!pid}/status")
  echo "$server: peak memory $peak MiB, data $(du -sm "$work/$server" | cut -f1) MiB, pool $pool_mib MiB"
  if [ "$server" = clearway ] && [ "$peak" -gt $((pool_mib + room_mib)) ]; then die "more than pool + $room_mib MiB"; fi
done
