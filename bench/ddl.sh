#!/usr/bin/env bash
# Point select while one session creates, alters and drops other tables in a loop, against the same undisturbed, in turns, on
# Clearway and MariaDB: bench/ddl.sh [THREADS: 16] [SECONDS a run: 10] [ROUNDS: 3]. Wanted: 0.9 of undisturbed.
# The loop pauses for PAUSE seconds (0.05) between statements: what it takes of the processors is not the server's doing.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
need sysbench mariadb mariadbd python3

threads=${1:-16} seconds=${2:-10} rounds=${3:-3} pause=${PAUSE:-0.05}
start_clearway 512M
start_mariadb 512M
provenance
for server in clearway mariadb; do
  port=${server}_port
  sql "${!port}" 'CREATE DATABASE sbtest'
  sysbench_on "${!port}" oltp_point_select --tables=4 --table-size=20000 --threads=4 prepare >"$work/prepare.log" 2>&1 ||
    die "$server: $(tail -2 "$work/prepare.log")"
done

define_on() { # one connection that says DDL for ever; ended by its pid
  {
    while :; do
      echo 'CREATE TABLE other (id INT PRIMARY KEY, a INT);'
      sleep "$pause"
      echo 'ALTER TABLE other ADD COLUMN b VARCHAR(20) DEFAULT "x", ADD INDEX (a);'
      sleep "$pause"
      echo 'DROP TABLE other;'
      sleep "$pause"
    done
  } | mariadb --no-defaults --skip-ssl -N -h127.0.0.1 -P"$1" -uroot sbtest
}

rate() { # rate PORT: queries a second
  sysbench_on "$1" oltp_point_select --tables=4 --table-size=20000 --threads="$threads" --time="$seconds" run >"$work/run.log" 2>&1 ||
    die "$(tail -3 "$work/run.log")"
  sed -n 's/.*queries: .*(\([0-9.]*\) per sec.).*/\1/p' "$work/run.log"
}

for ((round = 1; round <= rounds; round++)); do
  for server in clearway mariadb; do
    port=${server}_port
    calm=$(rate "${!port}")
    define_on "${!port}" >"$work/ddl.log" 2>&1 &
    ddl=$!
    busy=$(rate "${!port}")
    kill -0 "$ddl" 2>/dev/null || die "$server: data definition ended: $(tail -2 "$work/ddl.log")"
    pkill -P "$ddl" 2>/dev/null || true
    kill "$ddl" 2>/dev/null || true
    wait "$ddl" 2>/dev/null || true
    sql "${!port}" 'DROP TABLE IF EXISTS sbtest.other'
    awk -v r="$round" -v s="$server" -v a="$calm" -v b="$busy" \
      'BEGIN { printf "round %d: %s undisturbed %.0f/s, with DDL %.0f/s, ratio %.3f\n", r, s, a, b, b / a }'
  done
done
