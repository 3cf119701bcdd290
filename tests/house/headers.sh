#!/bin/sh
# Every header compiles on its own, but for those of the examples, which include the installed one:
# headers.sh root compiler [option...] names those that do not, with the first lines of what the compiler says.
cd "$1" || exit 2
shift
headers=$(find . '(' -name .git -o -name build -o -name node_modules -o -path ./examples ')' -prune -o -name '*.h' -print | sort)
[ -n "$headers" ] || { echo "there is no header here"; exit 2; }
bad=0
for header in $headers; do
    # The type keeps -Wpedantic's peace: a translation unit is not empty.
    said=$(printf '#include "%s"\ntypedef int not_empty;\n' "${header#./}" |
        "$@" -std=c11 -I. -fsyntax-only -x c - 2>&1) && continue
    echo "${header#./} does not compile on its own"
    printf '%s\n' "$said" | head -n 5
    bad=1
done
exit $bad
