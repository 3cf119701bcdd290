#!/bin/sh
# example.sh program expected: an example prints what is expected, with a new store and with
# one that has all of it already.
folder=$(mktemp -d /tmp/grouperfish-test-XXXXXX) || exit 1
trap 'rm -rf "$folder"' EXIT
for run in first second; do
    "$1" "$folder/texts.store" >"$folder/$run" || exit 1
    diff -u "$2" "$folder/$run" || { echo "the $run run prints something else"; exit 1; }
done
if "$1" /dev/null 2>"$folder/error"; then echo "a store in /dev/null?"; exit 1; fi
[ -s "$folder/error" ]
