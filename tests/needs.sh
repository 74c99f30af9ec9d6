#!/usr/bin/env bash
# Installs what the end-to-end tests need and is missing: Debian packages when there is apt-get and the right to use it,
# Python packages into target/venv. Says what is missing otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A package=(
  [sysbench]=sysbench [mariadb]=mariadb-client [mariadbd]=mariadb-server [python3]=python3
  [mydumper]=mydumper
)
missing=()
for program in "${!package[@]}"; do
  PATH="$PATH:/usr/sbin" command -v "$program" >/dev/null || missing+=("${package[$program]}")
done
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}"
  sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  if ! command -v apt-get >/dev/null; then
    echo "missing: ${missing[*]} (names of Debian's packages); install them and try again" >&2
    exit 1
  fi
  "${sudo[@]}" apt-get update -qq
  # Debian starts a server that it installs; the tests start their own.
  printf '#!/bin/sh\nexit 101\n' >target/policy-rc.d 2>/dev/null || { mkdir -p target && printf '#!/bin/sh\nexit 101\n' >target/policy-rc.d; }
  kept=
  [ -e /usr/sbin/policy-rc.d ] || { "${sudo[@]}" install -m 755 target/policy-rc.d /usr/sbin/policy-rc.d && kept=ours; }
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >target/apt.log || { tail -20 target/apt.log >&2; exit 1; }
  [ -z "$kept" ] || "${sudo[@]}" rm -f /usr/sbin/policy-rc.d
fi

wanted=$(cat tests/requirements.txt)
if [ ! -x target/venv/bin/python ] || [ "$(cat target/venv/.wanted 2>/dev/null)" != "$wanted" ]; then
  python3 -m venv target/venv
  target/venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
  printf '%s\n' "$wanted" >target/venv/.wanted
fi
