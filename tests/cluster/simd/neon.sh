#!/bin/sh
# The NEON kernels, compiled for 64-bit ARM and run by qemu-user, against the native AVX2 ones: they
# must agree bit for bit. neon.sh source-folder digest-program
# Ends with 77 where there is no cross compiler (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross), no
# qemu-user, or no AVX2.
set -eu
source=$1
native=$2
compiler=aarch64-linux-gnu-gcc
emulator=qemu-aarch64
command -v $compiler > /dev/null || { echo "skipped: no $compiler"; exit 77; }
command -v $emulator > /dev/null || { echo "skipped: no $emulator"; exit 77; }
expected=$("$native" avx2) || { echo "skipped: no AVX2 here"; exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$source"
flags="-std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -I."
kernel_flags="-O3 -fno-math-errno -fno-trapping-math"
$compiler $flags $kernel_flags -ffp-contract=fast -c cluster/passes/scoring_neon.c -o "$folder/neon.o"
$compiler $flags $kernel_flags -c cluster/passes/scoring_portable.c -o "$folder/portable.o"
$compiler $flags -static -o "$folder/digest" tests/cluster/simd/digest.c \
    cluster/passes/centre_index.c cluster/passes/centres.c cluster/passes/kept_sums.c "$folder/neon.o" "$folder/portable.o" \
    base/csr.c base/memory.c base/pool.c base/random.c base/status.c -lm -pthread

"$emulator" "$folder/digest" portable > "$folder/portable"
found=$("$emulator" "$folder/digest" neon)
if [ "$found" != "$expected" ]; then
    printf 'NEON:\n%s\nAVX2:\n%s\n' "$found" "$expected"
    exit 1
fi
if "$native" avx512 > "$folder/avx512"; then
    printf '%s\n' "$expected" | diff "$folder/avx512" -
fi
echo "NEON and AVX2 agree:"
echo "$found"
