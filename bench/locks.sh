#!/usr/bin/env bash
# The lock kinds of crate sync against each other: throughput, longest wait, context switches by threads and share of writers.
# Prints the tables for bench/RESULTS.md, draws bench/locks.svg, leaves target/bench/locks.tsv. Options of the program may
# follow (--rounds 1 --threads 1,16).
#   bench/locks.sh --coherence [--tool PATH/coherence.c]    instead: cache lines passed between threads per operation, by
#     simulation, at 8 and 32 threads, for readers only and for 1 % writers; fails when a read under the lane lock, the
#     optimistic latch or a snapshot passes any. Needs Debian's qemu-user and gcc. The tool is
#     shared/tools/coherence beside the checkout; without it: "not measured".
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
locks=${CARGO_TARGET_DIR:-$top/target}/release/locks
(cd "$top" && cargo build --release --quiet --locked -p locks)

if [ "${1:-}" != --coherence ]; then
  mkdir -p "$top/target/bench"
  exec "$locks" --svg "$top/bench/locks.svg" --tsv "$top/target/bench/locks.tsv" "$@"
fi

tool=$top/../shared/tools/coherence/coherence.c
[ "${2:-}" != --tool ] || tool=$3
[ -f "$tool" ] || { echo "not measured: tool missing ($tool)"; exit 0; }
for program in qemu-x86_64 gcc; do
  command -v "$program" >/dev/null || { echo "missing: $program (Debian packages qemu-user gcc)" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -O2 -shared -fPIC -o "$work/coherence.so" "$tool" -lpthread

# Lines passed for each operation. Those of the kind "nothing" are the loop's own.
lines() { # lines KIND THREADS PER_MILLE
  local done
  rm -f "$work/out"
  done=$(qemu-x86_64 -plugin "$work/coherence.so,gate=$work/gate,out=$work/out,top=0" \
    "$locks" --gate "$work/gate" --kinds "$1" --threads "$2" --writers "$3" --operations 500)
  awk -v n="$done" '/^loads/ { l = ($6 + $8) / n } END { printf "%.3f", l }' "$work/out"
}
echo "| kind | readers only, 8 threads | 32 threads | 1 % writers, 8 threads | 32 threads |"
echo "| --- | ---: | ---: | ---: | ---: |"
status=0
for kind in nothing lane prefer-reader prefer-writer parking system optimistic snapshot; do
  row="| $kind |"
  for writers in 0 10; do
    for threads in 8 32; do
      count=$(lines "$kind" "$threads" "$writers")
      row+=" $count |"
      # Readers of these kinds promise to share nothing. The loop's own start and end are some hundredths.
      case $kind-$writers in
        lane-0 | optimistic-0 | snapshot-0)
          awk -v c="$count" 'BEGIN { exit !(c > 0.1) }' && echo "$kind: a read passes $count lines" >&2 && status=1 ;;
      esac
    done
  done
  echo "$row"
done
exit "$status"
