#!/bin/sh
# All C sources are as clang-format 14 with .clang-format writes them: format.sh root. Other versions
# write some lines otherwise, so with none of version 14 this ends with 77, skipped.
cd "$1" || exit 2
for formatter in clang-format-14 clang-format; do
    "$formatter" --version 2>/dev/null | grep -q 'version 14\.' && break
    formatter=
done
[ -n "$formatter" ] || { echo "skipped: there is no clang-format 14 (package clang-format-14)"; exit 77; }
find . '(' -name .git -o -name build -o -name node_modules ')' -prune -o \
    '(' -name '*.[ch]' -o -name '*.cpp' ')' -print | sort | xargs "$formatter" --dry-run --Werror
