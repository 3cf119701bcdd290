#!/bin/sh
# Requests a second over HTTP, with wrk (Debian: wrk): single documents posted, each synced before it
# is answered, and memberships read, from 64 connections.
#
#     bench/http.sh [program [seconds [connections]]]
#
# The server and wrk share the machine. The store is in a folder that is removed; TMPDIR says where,
# and so on which disk the posts are synced.
set -eu
program=${1:-build/release/grouperfish} seconds=${2:-10} connections=${3:-64}
folder=$(mktemp -d) server=
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -r "$folder"' EXIT
"$program" serve --store "$folder/store" --listen 127.0.0.1:0 2>"$folder/log" &
server=$!
until grep -q listening "$folder/log"; do
    kill -0 $server 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
    sleep 0.1
done
url=http://$(sed -n 's/.*listening address=\([^ ]*\).*/\1/p' "$folder/log")

documents=20000
awk -v n=$documents 'BEGIN { srand(1); for (i = 0; i < n; i++) {
    printf "{\"id\":\"%d\",\"text\":\"", i
    for (k = 0; k < 12; k++) printf "word%d ", int(rand() * rand() * 3000)
    print "\"}" } }' >"$folder/documents.jsonl"
curl -s --data-binary "@$folder/documents.jsonl" "$url/v1/collections/bench/documents" >/dev/null
curl -s -X PATCH "$url/v1/collections/bench/configurations/default?set=k=50" >/dev/null
curl -s -X POST "$url/v1/collections/bench/builds" >/dev/null
until curl -s "$url/v1/tasks" | grep -q '"state":"done"'; do sleep 0.2; done

cat >"$folder/get.lua" <<LUA
local n = 0
request = function()
    n = n + 7919
    return wrk.format("GET", "/v1/collections/bench/documents/" .. n % $documents)
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
echo "memberships, GET"
wrk -t2 -c"$connections" -d"$seconds" -s "$folder/get.lua" "$url" | grep -E 'Requests/sec|Non-2xx|Socket'
echo "documents, POST"
wrk -t2 -c"$connections" -d"$seconds" -s "$folder/post.lua" "$url" | grep -E 'Requests/sec|Non-2xx|Socket'
