#!/bin/bash
# Installs the Debian packages of the named groups of tools/packages.txt, as far as they are missing:
#   tools/install.sh build test
# Needs root or sudo only when something is missing, so it also works offline on a machine that is set up.
set -euo pipefail

list=$(dirname "$0")/packages.txt
[ $# -gt 0 ] || { echo "usage: tools/install.sh GROUP..." >&2; exit 2; }

wanted=()
for group in "$@"; do
  mapfile -t -O "${#wanted[@]}" wanted < <(awk -v group="$group" '$1 == group { print $2 }' "$list")
done
[ "${#wanted[@]}" -gt 0 ] || { echo "tools/install.sh: no such group: $*" >&2; exit 2; }

missing=()
for package in "${wanted[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "missing packages, and neither root nor sudo to install them: ${missing[*]}" >&2; exit 3; }
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Dpkg::Use-Pty=0 "$@" </dev/null >>"$log" 2>&1; }
# The package lists may be old or, in a fresh container, not there at all.
if ! { apt update && apt install --no-install-recommends "${missing[@]}"; }; then
  tail -n 20 "$log" >&2
  echo "apt-get could not install: ${missing[*]}" >&2
  exit 3
fi
