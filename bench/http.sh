#!/bin/sh
# Requests a second over HTTP, with wrk (Debian: wrk): memberships and clusters read, and single
# documents posted, each synced before it is answered, from 64 connections; and a put as one streamed
# body beside the command's own put of the same file.
#
#     bench/http.sh [program [seconds [connections]]]
#     bench/http.sh --document          the last run's table into docs/performance.md
#
# The server and wrk share the machine. Stores are in a folder that is removed; TMPDIR says where, and
# so on which disk posts are synced. The table goes to standard output and to build/bench/http.md.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
table=$root/build/bench/http.md
if [ "${1:-}" = --document ]; then
    [ -f "$table" ] || { echo "bench/http.sh: there is no $table: run it first" >&2; exit 1; }
    exec python3 -B -c '
import sys
sys.path.insert(0, sys.argv[1] + "/bench/measures")
from results import document
document("http", open(sys.argv[2]).read().strip())' "$root" "$table"
fi
program=${1:-$root/build/release/grouperfish} seconds=${2:-10} connections=${3:-64}
documents=20000 streamed=300000 runs=3
folder=$(mktemp -d) server=
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -r "$folder"' EXIT

say() { echo "$*" >&2; }

begin() { # store
    : >"$folder/log"
    "$program" serve --store "$folder/$1" --listen 127.0.0.1:0 2>"$folder/log" &
    server=$!
    until grep -q listening "$folder/log"; do
        kill -0 $server 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
        sleep 0.1
    done
    url=http://$(sed -n 's/.*listening address=\([^ ]*\).*/\1/p' "$folder/log")
}

end() {
    most_of $server
    kill $server
    wait $server
    server=
}

# The most memory that any server held, in MiB.
most=0
most_of() { # pid
    had=$(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$1/status")
    [ "$had" -le "$most" ] || most=$had
}

# Hundredths of a second of processor time, and of the clock.
worked() { sed 's/.*) //' "/proc/$server/stat" | awk '{ print $12 + $13 }'; }
now() { date +%s%N | cut -c1-12; }

make() { # documents
    awk -v n="$1" 'BEGIN { srand(1); for (i = 0; i < n; i++) {
        printf "{\"id\":\"%d\",\"text\":\"", i
        for (k = 0; k < 12; k++) printf "word%d ", int(rand() * rand() * 3000)
        print "\"}" } }'
}

# A row of the table: requests a second, and microseconds of the server for each.
load() { # what script
    say "$1"
    before=$(worked)
    wrk -t2 -c"$connections" -d"$seconds" -s "$folder/$2" "$url" >"$folder/told"
    after=$(worked)
    if grep -E 'Non-2xx|Socket errors' "$folder/told" >&2; then exit 1; fi
    awk -v what="$1" -v ticks=$((after - before)) '
        /requests in/ { n = $1 }
        /Requests\/sec/ { rate = $2 }
        END { printf "| %s | %d | %.0f |\n", what, rate, ticks * 10000 / n }' \
        "$folder/told" >>"$folder/rows"
}

begin store
make $documents >"$folder/documents.jsonl"
collection=$url/v1/collections/bench
curl -sf -T "$folder/documents.jsonl" -X POST "$collection/documents" >/dev/null
curl -sf -X PATCH "$collection/configurations/default?set=k=50" >/dev/null
curl -sf -X POST "$collection/builds" >/dev/null
until curl -s "$url/v1/tasks" | grep -q '"state":"done"'; do sleep 0.2; done

cat >"$folder/get.lua" <<LUA
local n = 0
request = function()
    n = n + 7919
    return wrk.format("GET", "/v1/collections/bench/documents/" .. n % $documents)
end
LUA
cat >"$folder/cluster.lua" <<'LUA'
local n = 0
request = function()
    n = n + 1
    return wrk.format("GET", "/v1/collections/bench/clusters/" .. n % 50 + 1)
end
LUA
cat >"$folder/post.lua" <<'LUA'
local counter = 0
function setup(thread) thread:set("id", counter); counter = counter + 1 end
local n = 0
request = function()
    n = n + 1
    local body = string.format('{"id":"%d-%d","text":"a short piece of feedback, number %d"}', id, n, n)
    return wrk.format("POST", "/v1/collections/posted/documents", nil, body)
end
LUA
: >"$folder/rows"
load "a document with its memberships, GET" get.lua
load "a cluster with its ten best documents, GET" cluster.lua
load "a document, POST, on disk" post.lua
end

# Hundredths of a second: of each the middle one of the runs, which take turns.
make $streamed >"$folder/streamed.jsonl"
for run in $(seq $runs); do
    say "the same file by the command and as a body, $run of $runs"
    from=$(now)
    "$program" put streamed "$folder/streamed.jsonl" --store "$folder/command" >/dev/null 2>&1
    echo $(($(now) - from)) >>"$folder/by_command"
    begin body
    from=$(now)
    curl -sf -T "$folder/streamed.jsonl" -X POST "$url/v1/collections/streamed/documents" >/dev/null
    echo $(($(now) - from)) >>"$folder/by_body"
    end
    rm -r "$folder/command" "$folder/body"
done
middle() { sort -n "$folder/$1" | sed -n "$(((runs + 1) / 2))p"; }
command=$(middle by_command) body=$(middle by_body)

mkdir -p "$(dirname "$table")"
{
    echo "| from $connections connections | a second | µs of the server's processors, each |"
    echo "|---|---:|---:|"
    cat "$folder/rows"
    echo
    echo "| $streamed documents | a second |"
    echo "|---|---:|"
    echo "| put by the command | $((streamed * 100 / command)) |"
    echo "| the same file as one body, streamed | $((streamed * 100 / body)) |"
    echo
    echo "streamed: $((command * 100 / body)) % of the command's speed, which opens and closes a store; most memory that a server held: $most MiB"
    echo
    echo "Grouperfish $("$program" version --format csv | sed -n '2s/,.*//p'), $(date -u +%F): $(nproc) processors, which wrk shares; load average" \
        "at the end $(cut -d' ' -f1 /proc/loadavg)."
} | tee "$table"
