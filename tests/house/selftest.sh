#!/bin/sh
# What layers.sh and headers.sh must refuse, and what they must let pass, on a small tree made here.
# selftest.sh tests-folder compiler
tests=$1
compiler=$2
tree=$(mktemp -d) || exit 2
trap 'rm -rf "$tree"' EXIT
beside=$(printf '%s/shared' ..)
bad=0

# check status file line command...: with that file of one line the command ends with that status,
# and names the file where it refuses it.
check() {
    expected=$1 file=$2 line=$3
    shift 3
    mkdir -p "$tree/$(dirname "$file")"
    printf '%s\n' "$line" >"$tree/$file"
    said=$("$@" 2>&1)
    got=$?
    [ $got -eq 0 ] || printf '%s' "$said" | grep -q "$file" || got="$got without its name"
    [ "$got" = "$expected" ] || { echo "$file with '$line': $got, not $expected: $said"; bad=1; }
    rm "$tree/$file"
}

for case in 'base base' 'storage base' 'engine storage' 'engine formats' 'api engine' \
    'apps api' 'server apps' 'cli server' 'cli base' 'cluster cluster'; do
    check 0 "${case% *}/a.c" "#include \"${case#* }/b.h\"" "$tests/layers.sh" "$tree"
done
for case in 'base storage' 'storage vectorize' 'vectorize cluster' 'cluster storage' \
    'storage engine' 'formats storage' 'formats engine' 'engine api' 'api apps' 'apps server' 'server cli' 'base cli'; do
    check 1 "${case% *}/a.c" "#include \"${case#* }/b.h\"" "$tests/layers.sh" "$tree"
done
for case in 'rows rows' 'store rows' 'config store' 'text config' 'put store' 'user_tables rows' \
    'build put' 'view build' 'search view' 'upkeep search' 'upkeep rows'; do
    check 0 "engine/${case% *}/a.c" "#include \"engine/${case#* }/b.h\"" "$tests/layers.sh" "$tree"
done
for case in 'rows store' 'store config' 'store put' 'store user_tables' 'config text' 'text put' \
    'put user_tables' 'user_tables build' 'build view' 'build search' 'view search' 'search upkeep'; do
    check 1 "engine/${case% *}/a.h" "#include \"engine/${case#* }/b.h\"" "$tests/layers.sh" "$tree"
done
check 0 base/a.c '#include "grouperfish/status.h"' "$tests/layers.sh" "$tree"
check 1 base/a.c '#include "grouperfish/table.h"' "$tests/layers.sh" "$tree"
check 1 storage/a.c '#include "grouperfish/store.h"' "$tests/layers.sh" "$tree"
check 0 engine/a.c '#include <grouperfish.h>' "$tests/layers.sh" "$tree"
check 1 formats/a.c '#include "grouperfish.h"' "$tests/layers.sh" "$tree"
check 1 base/deep/a.h '  #  include "cluster/b.h"' "$tests/layers.sh" "$tree"
check 1 base/a.cpp '#include <engine/b.h>' "$tests/layers.sh" "$tree"
check 1 engine/a.c '#include "../base/b.h"' "$tests/layers.sh" "$tree"
check 0 base/a.c '#include <sys/stat.h>' "$tests/layers.sh" "$tree"
check 0 base/a.c '// #include "cli/b.h"' "$tests/layers.sh" "$tree"
check 1 docs/a.md "see $beside/notes" "$tests/layers.sh" "$tree"
check 1 run "cat $beside/notes" "$tests/layers.sh" "$tree"
check 0 .ci/run "cat $beside/notes" "$tests/layers.sh" "$tree"
check 0 build/log "cat $beside/notes" "$tests/layers.sh" "$tree"

check 0 base/a.h 'struct a;' "$tests/headers.sh" "$tree" "$compiler"
check 1 base/a.h 'uint32_t a;' "$tests/headers.sh" "$tree" "$compiler"
check 1 base/a.h '#include "base/absent.h"' "$tests/headers.sh" "$tree" "$compiler"
exit $bad
