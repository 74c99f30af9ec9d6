#!/usr/bin/env bash
# Starts the server of the image, and makes its data at the first start, by the environment variables of MySQL's official image:
#
#   MYSQL_ROOT_PASSWORD          root's password; one of the first three is needed
#   MYSQL_ALLOW_EMPTY_PASSWORD   not empty: root has none
#   MYSQL_RANDOM_ROOT_PASSWORD   not empty: one is made, and said on stdout
#   MYSQL_ROOT_HOST              where root may come from besides localhost (%); empty: from nowhere else
#   MYSQL_ONETIME_PASSWORD       not empty: root has to change it first
#   MYSQL_DATABASE               is made
#   MYSQL_USER, MYSQL_PASSWORD   is made, with all rights on MYSQL_DATABASE
#
# NAME_FILE in place of NAME names a file that has the value. Files in /docker-entrypoint-initdb.d are run in the order of their names:
# *.sh, and *.sql, also compressed by gzip, bzip2, xz or zstd, in MYSQL_DATABASE.
set -eo pipefail
shopt -s nullglob

log() { printf '%s [Entrypoint]: %s\n' "$(date --rfc-3339=seconds)" "$*"; }
die() { log "ERROR: $*" >&2; exit 1; }

# value NAME [DEFAULT]: NAME's value, or what the file that NAME_FILE names holds.
value() {
  local name=$1 file=$1_FILE text=${2-}
  [ -z "${!name-}" ] || [ -z "${!file-}" ] || die "both $name and $file are set"
  if [ -n "${!name+set}" ] && [ -z "${!file-}" ]; then
    text=${!name}
  elif [ -n "${!file-}" ]; then
    text=$(<"${!file}") || die "$file: '${!file}' cannot be read"
  fi
  export "$name"="$text"
  unset "$file"
}

# A string as SQL has it.
quoted() {
  local text=${1//\\/\\\\}
  printf "'%s'" "${text//\'/\\\'}"
}


# What the options come to, after all files: option NAME SERVER...
option() {
  local name=$1
  shift
  "$@" --help --verbose | awk -v name="$name" '$1 == name { print $2 }'
}

client() { mariadb --no-defaults --protocol=socket --socket="$socket" --user=root --skip-ssl "$@"; }

# As root, with the password that holds by now.
sql() { MYSQL_PWD=$password client --comments "$@"; }

run_file() {
  local file=$1 in=()
  [ -z "$MYSQL_DATABASE" ] || in=(--database="$MYSQL_DATABASE")
  case $file in
    *.sh)
      if [ -x "$file" ]; then
        log "running $file"
        "$file"
      else
        log "sourcing $file"
        # shellcheck disable=SC1090
        . "$file"
      fi
      ;;
    *.sql) log "running $file"; sql "${in[@]}" <"$file" ;;
    *.sql.gz) log "running $file"; gzip -dc "$file" | sql "${in[@]}" ;;
    *.sql.bz2) log "running $file"; bzip2 -dc "$file" | sql "${in[@]}" ;;
    *.sql.xz) log "running $file"; xz -dc "$file" | sql "${in[@]}" ;;
    *.sql.zst) log "running $file"; zstd -dc "$file" | sql "${in[@]}" ;;
    *) log "ignoring $file" ;;
  esac
}

check_environment() {
  value MYSQL_ROOT_PASSWORD
  value MYSQL_ROOT_HOST %
  value MYSQL_DATABASE
  value MYSQL_USER
  value MYSQL_PASSWORD
  if [ -z "$MYSQL_ROOT_PASSWORD$MYSQL_ALLOW_EMPTY_PASSWORD$MYSQL_RANDOM_ROOT_PASSWORD" ]; then
    die "there are no data, and no password is said: set MYSQL_ROOT_PASSWORD, MYSQL_ALLOW_EMPTY_PASSWORD or MYSQL_RANDOM_ROOT_PASSWORD"
  fi
  [ "$MYSQL_USER" != root ] || die "MYSQL_USER is root, who is there already: set MYSQL_ROOT_PASSWORD"
  if [ -n "$MYSQL_USER" ] && [ -z "$MYSQL_PASSWORD" ]; then
    die "MYSQL_USER is set and MYSQL_PASSWORD is not"
  elif [ -z "$MYSQL_USER" ] && [ -n "$MYSQL_PASSWORD" ]; then
    log "MYSQL_PASSWORD is not used: MYSQL_USER is not set"
  fi
}

# The statements that make accounts and the database. Nobody but root@localhost, with the first password, can log in before.
accounts() {
  printf 'SET SESSION sql_log_bin = 0;\nALTER USER root@localhost IDENTIFIED BY %s;\n' "$(quoted "$MYSQL_ROOT_PASSWORD")"
  if [ -n "$MYSQL_ROOT_HOST" ] && [ "$MYSQL_ROOT_HOST" != localhost ]; then
    local root
    root="root@$(quoted "$MYSQL_ROOT_HOST")"
    printf 'CREATE USER %s IDENTIFIED BY %s;\nGRANT ALL ON *.* TO %s WITH GRANT OPTION;\n' \
      "$root" "$(quoted "$MYSQL_ROOT_PASSWORD")" "$root"
  fi
  local database=${MYSQL_DATABASE//\`/\`\`}
  [ -z "$MYSQL_DATABASE" ] || printf 'CREATE DATABASE IF NOT EXISTS `%s`;\n' "$database"
  if [ -n "$MYSQL_USER" ]; then
    local user
    user="$(quoted "$MYSQL_USER")@'%'"
    printf 'CREATE USER %s IDENTIFIED BY %s;\n' "$user" "$(quoted "$MYSQL_PASSWORD")"
    # A name, not a pattern.
    database=${database//\\/\\\\}
    database=${database//_/\\_}
    [ -z "$MYSQL_DATABASE" ] || printf 'GRANT ALL ON `%s`.* TO %s;\n' "${database//%/\\%}" "$user"
  fi
}

# For scripts that are sourced: the name that MySQL's image has for it.
docker_process_sql() { sql "$@"; }

# Makes the data with a server that can be reached by its socket alone. It gives root a password that nobody knows: a first start that
# breaks off leaves no open door.
first_start() {
  local said pid
  said=$(mktemp)
  log "making the data in $datadir"
  "$@" --skip-networking --log-error="$said" &
  pid=$!
  # A script that fails ends this one, and the server with it.
  # shellcheck disable=SC2064 # the number of now
  trap "kill $pid 2>/dev/null && wait $pid" EXIT
  while ! grep -q 'ready for connections' "$said" 2>/dev/null; do
    kill -0 "$pid" 2>/dev/null || { cat "$said" >&2 || :; die "the server did not start"; }
    sleep 0.2
  done
  : >"$datadir/$unfinished"
  password=$(sed -n 's/.*temporary password is generated for root@localhost: //p' "$said")
  if [ -n "$MYSQL_RANDOM_ROOT_PASSWORD" ]; then
    MYSQL_ROOT_PASSWORD=$(head -c 24 /dev/urandom | base64 | tr '+/' '-_')
    export MYSQL_ROOT_PASSWORD
    log "GENERATED ROOT PASSWORD: $MYSQL_ROOT_PASSWORD"
  fi
  accounts | sql
  password=$MYSQL_ROOT_PASSWORD
  local file
  for file in "${scripts:-/docker-entrypoint-initdb.d}"/*; do
    run_file "$file"
  done
  if [ -n "$MYSQL_ONETIME_PASSWORD" ]; then
    sql --execute="ALTER USER root@$(quoted "${MYSQL_ROOT_HOST:-localhost}") PASSWORD EXPIRE"
  fi
  trap - EXIT
  kill "$pid"
  wait "$pid" || die "the server did not stop cleanly"
  rm -f "$datadir/$unfinished" "$said"
  log "the data are made"
}

main() {
  # Options alone, or MySQL's name of the server.
  case ${1-} in
    -* | '') set -- clearway serve "$@" ;;
    mysqld) shift; set -- clearway serve "$@" ;;
  esac
  local word
  [ "$1 ${2-}" = 'clearway serve' ] || exec "$@"
  for word; do
    case $word in
      --help | --verbose | --version | --validate-config | -h | '-?') exec "$@" ;;
    esac
  done
  # Files come first, so that what was said for this container wins.
  shift 2
  set -- clearway serve --defaults-file="${option_file:-/etc/mysql/my.cnf}" "$@"
  datadir=$(option datadir "$@")
  [ -n "$datadir" ] || exit 1
  socket=$(option socket "$@")
  unfinished=docker-first-start-unfinished
  if [ "$(id -u)" = 0 ]; then
    # Data of a volume that root has made become those of the user who serves.
    find "$datadir" \! -user clearway -exec chown clearway:clearway {} + 2>/dev/null || :
    exec setpriv --reuid=clearway --regid=clearway --init-groups "$0" "$@"
  fi
  if [ -e "$datadir/$unfinished" ]; then
    die "an earlier first start has not come to its end: remove what is in $datadir, or '$unfinished' if it is good enough"
  elif [ ! -e "$datadir/clearway.id" ]; then
    check_environment
    first_start "$@"
  fi
  exec "$@"
}

# Sourced by a script of one's own, it offers its functions.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  main "$@"
fi
