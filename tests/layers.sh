#!/bin/sh
# The layers run one way: a file includes headers of its own folder and of folders of lower rank.
# layers.sh [root of the tree] prints the lines that break this, and those that name what lies
# beside the tree, where only .ci/run may look.
cd "${1:-$(dirname "$0")/..}" || exit 2
ranks='base 0 storage 1 vectorize 1 cluster 1 engine 2 sources 3 api 4 server 5 cli 6'
beside=$(printf '%s/shared' ..) # written so that this file does not name it

wrong=$(
    grep -srnIE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' \
        base storage vectorize cluster engine sources api server cli | awk -v ranks="$ranks" '
        BEGIN { n = split(ranks, r); for (i = 1; i < n; i += 2) rank[r[i]] = r[i + 1] }
        { split($0, part, /["<>]/); from = $0; to = part[2] }
        { sub(/\/.*/, "", from); sub(/\/.*/, "", to) }
        to ~ /^\.+$/ || ((to in rank) && from != to && rank[to] >= rank[from])'
    grep -rnIF --exclude-dir=.git --exclude-dir=build -- "$beside" . | grep -v '^\./\.ci/run:'
)
[ -z "$wrong" ] || { printf '%s\n' "$wrong"; exit 1; }
