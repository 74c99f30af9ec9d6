#!/usr/bin/env bash
# Cache lines passed between threads per statement, by simulation, against the kept limits in bench/coherence.limits.
#   bench/coherence.sh [--tool PATH/measure.sh] [--lower]      --lower writes limits that have become smaller
# The tool is shared/tools/coherence/measure.sh beside the checkout. Exit code: 0 within limits, or "not measured" when
# the tool is not there; 1 when a count has grown; 2 when the tool is there and cannot measure.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
tool=$top/../shared/tools/coherence/measure.sh lower=
while [ $# -gt 0 ]; do
  case $1 in
    --tool) tool=$2 && shift 2 ;;
    --lower) lower=1 && shift ;;
    *) echo "unknown option $1" >&2 && exit 2 ;;
  esac
done
limits=$top/bench/coherence.limits
if [ ! -x "$tool" ] && [ ! -f "$tool" ]; then
  echo "not measured: tool missing ($tool)"
  exit 0
fi
clearway=${CLEARWAY:-$top/target/release/clearway}
[ -x "$clearway" ] || { echo "no $clearway: make build" >&2 && exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0 kept=
while read -r script threads limit; do
  case $script in '#'* | '') kept+="$script${threads:+ $threads}${limit:+ $limit}"$'\n' && continue ;; esac
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  rm -rf "$work/data"
  # The emulator keeps an entry for each reserved page, so the range for pages is small here.
  line=$(bash "$tool" --port "$port" --user root --test "$script" --threads "$threads" --prepare -- \
    "$clearway" serve --datadir="$work/data" --port="$port" --socket="$work/s.sock" --bind-address=127.0.0.1 \
    --initialize-insecure --innodb-buffer-pool-size=64M --clearway-address-space-size=2G ${OPTIONS:-} </dev/null) || true
  # The tool ends by killing its server, so its exit code says nothing: the line does.
  echo "$line"
  count=$(sed -n 's/.* transfers \([0-9.]*\).*/\1/p' <<<"$line" | head -1)
  [ -n "$count" ] || { echo "$script: no count in the tool's output" >&2 && exit 2; }
  if awk -v c="$count" -v l="$limit" 'BEGIN { exit !(c > l) }'; then
    echo "$script, $threads threads: $count lines a statement, the limit is $limit" >&2
    status=1
  elif [ -n "$lower" ]; then
    # A tenth and 0.05 of room for the scheduler's moods.
    limit=$(awk -v c="$count" -v l="$limit" 'BEGIN { n = c * 1.1 + 0.05; printf "%.2f", n < l ? n : l }')
  fi
  kept+="$script $threads $limit"$'\n'
done <"$limits"
if [ -n "$lower" ] && [ "$status" = 0 ]; then printf '%s' "$kept" >"$limits"; fi
exit "$status"
