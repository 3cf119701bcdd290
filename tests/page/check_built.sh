#!/bin/sh
# The page's built files, which are committed, are what its sources give. Ends with 77 (skipped) where
# there is no Node.js or npm, or npm cannot get the packages.
#
#     check_built.sh FOLDER        (a folder of the build, to work in)
set -eu
page=$(cd "$(dirname "$0")/../../server/page" && pwd)
folder=$1
for tool in node npm; do
    command -v "$tool" >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
mkdir -p "$folder"
rm -rf "$folder/src" "$folder/map" "$folder/made"
cp -R "$page/src" "$page/map" "$page/build.mjs" "$page/package.json" "$page/package-lock.json" "$folder"
cd "$folder"
cmp -s package-lock.json node_modules/.installed || {
    npm ci --no-audit --no-fund --ignore-scripts >npm.log 2>&1 || {
        tail -n 3 npm.log
        echo "skipped: npm cannot get the packages"
        exit 77
    }
    cp package-lock.json node_modules/.installed
}
node build.mjs made
diff -r "$page/built" made >difference || {
    echo "server/page/built is not what server/page/src gives: run \"npm ci && npm run build\" in server/page"
    cut -c1-200 difference
    exit 1
}
echo "server/page/built is what the sources give"
