#!/usr/bin/env python3
"""Posts that come and go: 10,000 at first, then 5 % of them at a time, the oldest for new ones.

    churn.py reddit-posts.jsonl.zst TIMES    put-00.jsonl, then put-01.jsonl with gone-01.txt, the
                                             ids of those that go, and so on
"""
import itertools
import json
import subprocess
import sys

FIRST, EACH = 10000, 500

with subprocess.Popen(["zstd", "-dc", sys.argv[1]], stdout=subprocess.PIPE) as source:
    # Every fifth: the file is in the order of the subreddits.
    posts = list(itertools.islice(source.stdout, 0, 5 * (FIRST + EACH * int(sys.argv[2])), 5))
    source.terminate()
ids = [json.loads(post)["id"] for post in posts]
for time in range(int(sys.argv[2]) + 1):
    end = FIRST + time * EACH
    with open("put-%02d.jsonl" % time, "wb") as out:
        out.writelines(posts[end - EACH if time else 0:end])
    with open("gone-%02d.txt" % time, "w", encoding="utf-8") as out:
        out.writelines(i + "\n" for i in ids[end - FIRST - EACH:end - FIRST] if time)
