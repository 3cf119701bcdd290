#!/bin/sh
# Runs a script of this folder in a folder of the build, with what package-lock.json names installed
# there. Ends with 77 (skipped) where there is no Node.js, npm or Chromium, or npm cannot get the
# packages.
#
#     run.sh FOLDER SCRIPT [ARGUMENT...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
script=$2
shift 2
for tool in node npm zstd; do
    command -v "$tool" >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || [ -n "${CHROMIUM:-}" ] || {
    echo "skipped: there is no Chromium"
    exit 77
}
mkdir -p "$folder"
cp "$here"/*.mjs "$here"/package.json "$here"/package-lock.json "$folder"
cd "$folder"
cmp -s package-lock.json node_modules/.installed || {
    npm ci --no-audit --no-fund --ignore-scripts >npm.log 2>&1 || {
        tail -n 3 npm.log
        echo "skipped: npm cannot get the packages"
        exit 77
    }
    cp package-lock.json node_modules/.installed
}
exec node "$script" "$@"
