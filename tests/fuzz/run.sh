#!/bin/sh
# Fuzz targets for a few seconds each: run.sh [seconds]. Ends with 77 where clang has no libFuzzer.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-10}
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT

echo '#include <stdint.h>
#include <stddef.h>
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) { return p && n > 9 && 0; }' >"$probe/probe.c"
if ! clang -fsanitize=fuzzer,address "$probe/probe.c" -o "$probe/probe" 2>/dev/null; then
    echo "fuzzing was skipped: there is no clang with libFuzzer (packages clang, libclang-rt-14-dev)"
    exit 77
fi

for target in user_schema:schemas search_query:queries tweet:tweets cdx:cdx tei:tei sequence_file:sequences listing:listings accesslog:lines word_vectors:words csv:csv tsv:tsv text:texts \
    table_batch:batches json:json frames:frames thrift:thrift requests:requests; do
    name=fuzz_${target%:*}
    { cmake --preset fuzz -G Ninja && cmake --build --preset fuzz --target "$name"; } \
        >"$probe/log" 2>&1 || {
        tail -n 40 "$probe/log" >&2
        exit 1
    }
    mkdir "$probe/${target#*:}"
    build/fuzz/tests/fuzz/"$name" -max_total_time="$seconds" -timeout=60 -print_final_stats=1 \
        -artifact_prefix="$probe/" "$probe/${target#*:}" "tests/fuzz/${target#*:}" \
        >"$probe/log" 2>&1 || {
        tail -n 60 "$probe/log" >&2
        for found in "$probe"/crash-* "$probe"/timeout-* "$probe"/leak-* "$probe"/oom-*; do
            [ ! -f "$found" ] || { echo "the input, in base64:" && base64 "$found"; } >&2
        done
        exit 1
    }
    grep -h '^stat::number_of_executed_units' "$probe/log"
done
