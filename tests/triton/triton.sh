#!/bin/bash
# The Triton kernels: triton.sh FOLDER build | agree PROGRAM KERNEL | tools PROGRAM VERB
# FOLDER is where Python's environment and the objects are. A test that lacks them because they cannot be made here is skipped.
set -euo pipefail
folder=$1 kind=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
python=$folder/venv/bin/python
missing=$folder/missing # holds the reason

skip() { echo "skipped: $*"; exit 77; }

build() {
  local reason
  mkdir -p "$folder"
  rm -rf "$missing" "$folder/objects"
  if ! reason=$("$source/tools/triton_env.sh" "$folder/venv" 2>&1); then
    echo "$reason" >"$missing"
    skip "$reason"
  fi
  "$python" "$source/kernels/triton/build.py" "$folder/objects"
}

need_objects() {
  [ ! -e "$missing" ] || skip "$(cat "$missing")"
  [ -d "$folder/objects" ] || { echo "$folder/objects is not there; test triton.build makes it"; exit 1; }
}

case $kind in
  build) build ;;
  agree)
    need_objects
    shapes=(--shape tiny --shape odd)
    [ "${ASMEVO_FULL:-0}" != 1 ] || shapes+=(--shape search)
    "$python" "$source/tests/triton/check_triton.py" "$3" "$folder/objects" --kernel "$4" "${shapes[@]}" ;;
  tools)
    need_objects
    "$python" -B "$source/tests/triton/check_tools.py" "$3" "$folder/objects" "$4" ;;
  *) echo "unknown: $kind"; exit 2 ;;
esac
