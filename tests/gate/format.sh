#!/bin/bash
# Every source file is as clang-format leaves it.
set -euo pipefail
cd "$1"
folders=(src tests bench kernels)
mapfile -t files < <(find "${folders[@]}" -name '*.h' -o -name '*.cpp' -o -name '*.hip')
[ "${#files[@]}" -gt 0 ] || { echo "no source files in $PWD"; exit 1; }
clang-format-22 --dry-run -Werror "${files[@]}"
echo "${#files[@]} files are formatted"
