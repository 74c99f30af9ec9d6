# Sourced by the benchmark scripts: throw-away servers on free ports, ended by process id when the script ends.
# Needs Debian's sysbench, mariadb-client and mariadb-server.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
clearway=${CLEARWAY:-$top/target/release/clearway}
canned=$top/target/release/canned
work=$(mktemp -d "${BENCH_DIR:-/var/tmp}/clearway-bench.XXXXXX")
pids=()

finish() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

die() { echo "$*" >&2; exit 1; }

need() {
  local program
  for program in "$@"; do
    PATH="$PATH:/usr/sbin" command -v "$program" >/dev/null || die "missing: $program (Debian packages sysbench mariadb-client mariadb-server valgrind)"
  done
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

sql() { # sql PORT STATEMENT...
  local port=$1
  shift
  mariadb --no-defaults --skip-ssl -N -h127.0.0.1 -P"$port" -uroot -e "$*"
}

await() { # await PORT PID LOG SECONDS
  local port=$1 pid=$2 log=$3 tries=$(($4 * 10))
  while [ "$tries" -gt 0 ]; do
    sql "$port" 'SELECT 1' >/dev/null 2>&1 && return
    kill -0 "$pid" 2>/dev/null || die "a server ended: $(tail -5 "$log")"
    tries=$((tries - 1))
    sleep 0.1
  done
  die "a server does not answer on port $port: $(tail -5 "$log")"
}

# Equal settings: POOL bytes with suffix, flush at each commit, no binlog, room for the connections. Extra words follow.
# Each sets the global variables NAME_port and NAME_pid.
start_clearway() { # start_clearway POOL [OPTION...]
  local pool=$1
  shift
  [ -x "$clearway" ] || die "no $clearway: make build"
  clearway_port=$(free_port)
  "$clearway" serve --datadir="$work/clearway" --port="$clearway_port" --socket="$work/c.sock" --bind-address=127.0.0.1 \
    --initialize-insecure --skip-log-bin --innodb-buffer-pool-size="$pool" --innodb-flush-log-at-trx-commit=1 --max-connections=2000 --max-prepared-stmt-count=1000000 \
    "$@" >>"$work/clearway.log" 2>&1 &
  clearway_pid=$!
  pids+=("$clearway_pid")
  await "$clearway_port" "$clearway_pid" "$work/clearway.log" 120
}

start_mariadb() { # start_mariadb POOL [OPTION...]
  local pool=$1
  shift
  mariadb_port=$(free_port)
  [ -d "$work/mariadb" ] || mariadb-install-db --no-defaults --user="$(id -un)" --auth-root-authentication-method=normal \
    --skip-test-db --datadir="$work/mariadb" >"$work/mariadb.log" 2>&1 || die "mariadb-install-db: $(tail -3 "$work/mariadb.log")"
  PATH="$PATH:/usr/sbin" mariadbd --no-defaults --user="$(id -un)" --datadir="$work/mariadb" --port="$mariadb_port" \
    --socket="$work/m.sock" --bind-address=127.0.0.1 --skip-log-bin --innodb-buffer-pool-size="$pool" \
    --innodb-flush-log-at-trx-commit=1 --innodb-log-file-size=1G --max-connections=2000 \
    --max-prepared-stmt-count=1000000 "$@" >>"$work/mariadb.log" 2>&1 &
  mariadb_pid=$!
  pids+=("$mariadb_pid")
  await "$mariadb_port" "$mariadb_pid" "$work/mariadb.log" 120
}

# A real MySQL with the same settings, where the environment names its server: MYSQLD="/usr/sbin/mysqld", words may follow.
start_mysql() { # start_mysql POOL [OPTION...]
  local pool=$1 words
  shift
  read -ra words <<<"${MYSQLD:?the command that runs mysqld}"
  mysql_port=$(free_port)
  [ -d "$work/mysql" ] || "${words[@]}" --no-defaults --user="$(id -un)" --initialize-insecure --datadir="$work/mysql" >"$work/mysql.log" 2>&1 ||
    die "mysqld --initialize-insecure: $(tail -3 "$work/mysql.log")"
  "${words[@]}" --no-defaults --user="$(id -un)" --datadir="$work/mysql" --port="$mysql_port" --socket="$work/y.sock" \
    --bind-address=127.0.0.1 --mysqlx=OFF --skip-log-bin --innodb-buffer-pool-size="$pool" --innodb-flush-log-at-trx-commit=1 \
    --innodb-redo-log-capacity=1G --max-connections=2000 --max-prepared-stmt-count=1000000 "$@" >>"$work/mysql.log" 2>&1 &
  mysql_pid=$!
  pids+=("$mysql_pid")
  await "$mysql_port" "$mysql_pid" "$work/mysql.log" 120
}

start_canned() {
  [ -x "$canned" ] || (cd "$top" && cargo build --release --quiet -p canned) || die "cannot build the canned-reply server"
  canned_port=$(free_port)
  "$canned" --port "$canned_port" >"$work/canned.log" 2>&1 &
  canned_pid=$!
  pids+=("$canned_pid")
  await "$canned_port" "$canned_pid" "$work/canned.log" 20
}

sysbench_on() { # sysbench_on PORT SCRIPT WORDS... ACTION
  local port=$1 script=$2
  shift 2
  sysbench "$script" --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=root --mysql-db=sbtest --rand-type=uniform "$@"
}

# Where and when a figure was taken: three columns of bench/RESULTS.md.
provenance() {
  local cpu commit
  cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
  commit=$(git -C "$top" rev-parse --short HEAD)
  git -C "$top" diff --quiet HEAD -- crates src Cargo.lock || commit+=+
  echo "$(date -u +%F) | $(nproc) x $cpu, Linux $(uname -r | cut -d- -f1) | $commit"
}
