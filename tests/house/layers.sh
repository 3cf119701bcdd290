#!/bin/sh
# The layers run one way: a file includes headers of its own folder and of folders of lower rank.
# So do the rooms of engine/: each includes itself and the rooms before it.
# layers.sh [root of the tree] prints the lines that break this, and those that name what lies
# beside the tree, where only .ci/run may look.
cd "${1:-$(dirname "$0")/../..}" || exit 2
ranks='base 0 storage 1 vectorize 1 cluster 1 formats 1 engine 2 api 3 apps 4 server 5 cli 6'
# The public headers, by the layer that each describes; the others are the engine's.
public='status 0 slice 0 buffer 0 cancel 0 archive 0 csr 0 export 0 calendar 0 document 0 key 1 table 1'
rooms='rows 0 store 1 config 2 text 3 put 4 index 4 user_tables 5 ranks 5 build 6 view 7 edit 8 watch 9 search 10 titles 11 upkeep 12 copy 13 arrow 14'
beside=$(printf '%s/shared' ..) # written so that this file does not name it

wrong=$(
    grep -srnIE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' \
        base storage vectorize cluster formats engine api apps server cli include |
        awk -v ranks="$ranks" -v public="$public" -v rooms="$rooms" '
        BEGIN {
            n = split(ranks, r); for (i = 1; i < n; i += 2) rank[r[i]] = r[i + 1]
            n = split(rooms, r); for (i = 1; i < n; i += 2) room["engine/" r[i]] = r[i + 1]
            n = split(public, r); for (i = 1; i < n; i += 2) of[r[i] ".h"] = r[i + 1]
        }
        # The rank of a header or source; -1: it is none of ours.
        function rank_of(path,    part) {
            sub(/^include\//, "", path)
            if (path == "grouperfish.h") return rank["engine"]
            split(path, part, "/")
            if (part[1] == "grouperfish") return part[2] in of ? of[part[2]] : rank["engine"]
            return part[1] in rank ? rank[part[1]] : -1
        }
        # The rank of the room in engine that a file is in; -1: it is in none of them.
        function room_of(path,    part) {
            split(path, part, "/")
            path = part[1] "/" part[2]
            return path in room ? room[path] : -1
        }
        function folder_of(path) { sub(/^include\//, "", path); sub(/\/.*/, "", path); return path }
        {
            split($0, part, /["<>]/); from = $0; sub(/:.*/, "", from); to = part[2]
            if (to ~ /^\.\.?\//) { print; next }
            if (room_of(from) >= 0 && room_of(to) > room_of(from)) { print; next }
            if (rank_of(to) < 0 || folder_of(from) == folder_of(to)) next
            # A public header belongs to its layer, so that layer may include it.
            limit = rank_of(from) + (to ~ /^grouperfish/)
            if (rank_of(to) >= limit) print
        }'
    grep -rnIF --exclude-dir=.git --exclude-dir=build -- "$beside" . | grep -v '^\./\.ci/run:'
)
[ -z "$wrong" ] || { printf '%s\n' "$wrong"; exit 1; }
