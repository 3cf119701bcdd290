#!/bin/sh
# cmake --install gives a program, a library, a header and a .pc file that work away from the tree:
# install.sh BUILD SOURCE [option of the compiler...]
set -eu
build=$1 source=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$build" --prefix "$folder/usr" >"$folder/log" || { cat "$folder/log"; exit 1; }

"$folder/usr/bin/grouperfish" version >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$folder/usr" -name grouperfish.pc)")
export PKG_CONFIG_PATH
cp "$source/examples/cluster_texts.c" "$folder"
cd "$folder"

cc -Wall -Wextra -Werror "$@" cluster_texts.c $(pkg-config --cflags --libs grouperfish) -o cluster_texts
./cluster_texts >printed
diff "$source/tests/engine/example.expected" printed

printf '#include <grouperfish.h>\n#include <cstdio>\nint main() { std::puts(gf_version()); }\n' >from_cpp.cpp
c++ -Wall -Wextra -Werror "$@" from_cpp.cpp $(pkg-config --cflags --libs grouperfish) -o from_cpp
./from_cpp | grep -qx "$(pkg-config --modversion grouperfish)"
echo "the installed program, library, header and .pc file work"
