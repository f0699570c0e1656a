#!/bin/bash
# corpora.sh ASMEVO FILE[:KERNEL]...: what `asmevo infer` makes of kernels without any hint, one row each, as in
# docs/inference.md: pointers, how many of them by confidence, how many nothing accessed, and how it ended.
set -euo pipefail
asmevo=$1
shift
for argument in "$@"; do
  file=${argument%%:*}
  kernel=() label=$(basename "$file" .co)
  if [[ $argument == *:* ]]; then
    kernel=(--kernel "${argument#*:}")
    label=$(c++filt "${argument#*:}" | sed 's/^void //; s/[<(].*//')
  fi
  { "$asmevo" infer "$file" "${kernel[@]}" 2>&1 || true; } | awk -v label="$label" '
    $3 ~ /^(in|out|inout|workspace)$/ && $1 ~ /^[0-9]+$/ { pointers++; sure[$5]++; if (/\(unused\)/) unused++ }
    /^kernel / { split($0, head, ":"); probes = $(NF - 2) }
    { last = $0 }
    END {
      sub(/^ +/, "", last); sub(/^the launch /, "", last)
      printf "| %s | %d | %d | %d | %d | %d | %d | %s |\n", label, pointers, sure["high"], sure["medium"],
             sure["low"], unused, probes, substr(last, 1, 90)
    }'
done
