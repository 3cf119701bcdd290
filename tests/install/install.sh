#!/bin/sh
# cmake --install gives a program, a library (static and shared), headers, a .pc file, a CMake package
# and a unit of systemd that work away from the tree: install.sh BUILD SOURCE [option of the compiler...]
set -eu
build=$1 source=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$build" --prefix "$folder/usr" >"$folder/log" || { cat "$folder/log"; exit 1; }

version=$("$folder/usr/bin/grouperfish" version --format plain | sed -n 1p)
PKG_CONFIG_PATH=$(dirname "$(find "$folder/usr" -name grouperfish.pc)")
export PKG_CONFIG_PATH
lib=$(pkg-config --variable=libdir grouperfish)
cp "$source/examples/cluster_texts.c" "$folder"
cd "$folder"

# check program: it prints what the example is to print
check() {
    "$@" >printed
    diff "$source/tests/engine/example.expected" printed
}

# By pkg-config, shared and static.
# shellcheck disable=SC2046 # lists of words
cc -Wall -Wextra -Werror "$@" cluster_texts.c $(pkg-config --cflags --libs grouperfish) -o shared
check env LD_LIBRARY_PATH="$lib" ./shared
cc -Wall -Wextra -Werror "$@" cluster_texts.c $(pkg-config --cflags grouperfish) \
    $(pkg-config --static --libs grouperfish | sed 's/-lgrouperfish/-l:libgrouperfish.a/') -o static
check ./static

printf '#include <grouperfish.h>\n#include <cstdio>\nint main() { std::puts(gf_version()); }\n' >from_cpp.cpp
# shellcheck disable=SC2046
c++ -Wall -Wextra -Werror "$@" from_cpp.cpp $(pkg-config --cflags --libs grouperfish) -o from_cpp
LD_LIBRARY_PATH=$lib ./from_cpp | grep -qx "$(pkg-config --modversion grouperfish)"

# By CMake's package, shared and static.
mkdir by_cmake
cat >by_cmake/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.21)
project(by_cmake C CXX)
find_package(grouperfish $(pkg-config --modversion grouperfish) REQUIRED)
foreach(kind grouperfish static)
    add_executable(of_\${kind} ../cluster_texts.c)
    target_link_libraries(of_\${kind} grouperfish::\${kind})
    set_target_properties(of_\${kind} PROPERTIES LINKER_LANGUAGE CXX)
endforeach()
END
CFLAGS="$*" CXXFLAGS="$*" cmake -S by_cmake -B by_cmake/build -DCMAKE_PREFIX_PATH="$folder/usr" >log &&
    cmake --build by_cmake/build >>log || { cat log; exit 1; }
check by_cmake/build/of_grouperfish
check by_cmake/build/of_static

# The shared library's name, and the functions that it exports: those that the headers declare.
readelf -d "$lib/libgrouperfish.so" | grep -q 'soname: \[libgrouperfish.so.0\]'
cat usr/include/grouperfish.h usr/include/grouperfish/*.h | tr '\n' ' ' | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/| |g' |
    grep -oE '\bgf_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >declared
nm -D --defined-only "$lib/libgrouperfish.so" | awk '{print $3}' | grep -v '^_' | sed 's/@.*//' | sort -u >exported
if comm -13 declared exported | grep .; then
    echo "these functions are exported, and no public header declares them"
    exit 1
fi
[ "$(grep -c . exported)" -gt 100 ] || { echo "too few functions are exported"; exit 1; }

# The units: their programs, and what systemd itself finds wrong, where it is installed.
units=usr/lib/systemd/system
grep -q "^ExecStart=$folder/usr/bin/grouperfish serve" $units/grouperfish.service
grep -q "^ExecStart=$folder/usr/bin/grouperfish backup" $units/grouperfish-backup.service
if command -v systemd-analyze >/dev/null; then
    systemd-analyze verify --man=no "$PWD/$units/grouperfish.service" \
        "$PWD/$units/grouperfish-backup.timer" 2>found || true
    if grep -E "^$PWD|grouperfish" found; then exit 1; fi
fi
# What the backup's unit runs, with what it sets; and the options file, with all its lines in force.
"$folder/usr/bin/grouperfish" init --store store >/dev/null
command=$(sed -n 's/^ExecStart=//p' $units/grouperfish-backup.service)
for i in 1 2 3; do
    env GROUPERFISH_OPTIONS= GROUPERFISH_STORE=store GROUPERFISH_BACKUPS=backups GROUPERFISH_BACKUPS_KEPT=2 \
        sh -c "$command" >/dev/null
    [ $i = 3 ] || sleep 1.1
done
[ "$(ls backups | wc -l)" = 2 ]
"$folder/usr/bin/grouperfish" verify --store "backups/$(ls backups | tail -1)" >/dev/null
conf=$(find usr/share/doc -name grouperfish.conf)
sed "s|^#store = .*|store = $PWD/store|; s/^#\([a-z]\)/\1/; s|^tokens = .*|listen = bad|" "$conf" >options
env GROUPERFISH_OPTIONS=options "$folder/usr/bin/grouperfish" status >/dev/null
env GROUPERFISH_OPTIONS=options "$folder/usr/bin/grouperfish" serve 2>found && exit 1
grep -q 'bad' found
[ -n "$version" ]
echo "the installed program, libraries, headers, .pc file, CMake package and unit work"
