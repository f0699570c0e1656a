#!/bin/bash
# The round-trip gate over one corpus: roundtrip.sh PROGRAM CORPORA folder DIR | library NAME | full-library NAME | aiter
# CORPORA is a folder to unpack to, and where ./check --full has put what it downloaded.
set -euo pipefail
program=$1 corpora=$2 kind=$3 name=${4:-}

skip() { echo "skipped: $*"; exit 77; }
full() { [ "${ASMEVO_FULL:-0}" = 1 ] || skip "only with ./check --full"; }

# Unpacks the gfx90a objects of a library: what Debian's carry of the three targets.
unpack() {
  folder=$corpora/$1
  rm -rf "$folder"
  "$program" extract "$2" --target gfx90a -o "$folder"
}

case $kind in
  folder) folder=$name ;;
  library)
    library=$(ldconfig -p | awk -v name="$name" '$1 == name && !path { path = $NF } END { print path }')
    [ -n "$library" ] || { echo "$name is not installed (tools/install.sh test)"; exit 1; }
    unpack "$name" "$library" ;;
  full-library)
    full
    library=$(find -L "$corpora/downloaded" -name "$name" -print -quit)
    [ -n "$library" ] || { echo "$name is not in $corpora/downloaded"; exit 1; }
    unpack "$name" "$library" ;;
  aiter)
    full
    folder=${ASMEVO_AITER_DIR:-}
    [ -n "$folder" ] || skip "ASMEVO_AITER_DIR is not set (hsa/ of the public repository ROCm/aiter)"
    folders=()
    for target in gfx942 gfx950; do [ -d "$folder/$target" ] && folders+=("$folder/$target"); done
    [ "${#folders[@]}" -gt 0 ] || { echo "$folder holds neither gfx942 nor gfx950"; exit 1; } ;;
  *) echo "unknown corpus: $kind"; exit 2 ;;
esac
[ "$kind" = aiter ] || folders=("$folder")

# Every *.co must be among the objects; there may be others, under other names.
least=$(find "${folders[@]}" -name '*.co' | wc -l)
[ "$least" -gt 0 ] || { echo "no code objects in ${folders[*]}"; exit 1; }
for route in direct assembly; do
  echo "== route $route over $least code objects or more"
  output=$("$program" roundtrip --route "$route" "${folders[@]}") && status=0 || status=$?
  tail -n 50 <<<"$output"
  result=${output##*$'\n'}
  objects=${result%% *}
  [[ $status == 0 && $result == "$objects objects, $objects identical, 0 failed" && $objects -ge $least ]] ||
    { echo "exit code $status, and the last line is: $result"; exit 1; }
done
