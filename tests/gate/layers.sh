#!/bin/bash
# A folder of src/ includes only from itself and the folders above it; LLVM's headers are included only in the
# folders that are to know LLVM, and a header that brings them in is included only there: by .cpp files, or by headers
# of the same folder, so that the public ones stay free of LLVM (docs/architecture.md).
set -euo pipefail
cd "$1/src"
order=(base isa codeobject program rebuild emulator sanitizer timing device oracle infer profile gate run search report cli)
bad=0
complain() { echo "$1" >&2; bad=1; }

allowed=
for folder in "${order[@]}"; do
  allowed=${allowed:+$allowed|}$folder
  while IFS= read -r line; do
    complain "src/$line: $folder/ may include from ($allowed) only"
  done < <(grep -rnE '#include "[^"/]+/' "$folder" | grep -vE "#include \"($allowed)/" || true)
done
for folder in */; do
  [[ " ${order[*]} " == *" ${folder%/} "* ]] || complain "src/$folder is in no layer: add it to tests/gate/layers.sh"
done

# Headers that bring LLVM in, directly or through one another.
pattern='[<"](llvm|llvm-c|lld)/'
private=
while :; do
  found=$(grep -rlE --include='*.h' "#include ($pattern${private:+|\"($private)\"})" . | sed 's,^\./,,' | sort | paste -sd'|')
  [ "$found" != "$private" ] || break
  private=$found
done
while IFS=: read -r file line include; do
  folder=${file%%/*}
  case $folder in
    isa | codeobject | rebuild) [[ $file == *.cpp || $include != *'"'* || $include == *"\"$folder/"* ]] && continue ;;
  esac
  complain "src/$file:$line: $include: LLVM's headers do not belong here"
done < <(grep -rnE "#include ($pattern${private:+|\"($private)\"})" . | sed 's,^\./,,')
[ "$bad" = 0 ] && echo "layers are kept"
exit "$bad"
