#!/bin/bash
# Makes a Python environment with the packages of kernels/triton/requirements.txt, or leaves it if it is there already:
#   tools/triton_env.sh FOLDER
# Ends with 3 and one line where that cannot be done here. PIP_FIND_LINKS=DIR and PIP_NO_INDEX=1 do without a network.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: tools/triton_env.sh FOLDER" >&2; exit 2; }
folder=$1
wanted=$(realpath "$(dirname "$0")/../kernels/triton/requirements.txt")
done_with=$folder/requirements.txt # written last: a folder without it is half made
cmp -s "$wanted" "$done_with" && exit 0

fail() {
  local reason
  reason=$(grep -v '^\s*$' "$log" | tail -n 1 | cut -c1-200) || true
  echo "tools/triton_env.sh: $1${reason:+: $reason}" >&2
  exit 3
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
python3 -m venv "$folder" >"$log" 2>&1 || fail "python3 -m venv does not work (Debian's package is python3-venv)"
"$folder/bin/python" -m pip --disable-pip-version-check --no-input install -q --retries 2 --timeout 20 --only-binary :all: \
  -r "$wanted" >"$log" 2>&1 </dev/null || fail "pip cannot install $(paste -sd ' ' "$wanted")"
cp "$wanted" "$done_with"
