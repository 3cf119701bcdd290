#!/usr/bin/env python3
"""20,000 groups of 20 posts, as JSON Lines with a field "group".

    many.py reddit-posts.jsonl.zst

The posts of each subreddit are taken 20 at a time, in the order of the file; and, until there are
enough groups, 20 at a time in the order of their ids, with ids of their own.
"""
import json
import subprocess
import sys

GROUPS, SIZE = 20000, 20

by_label = {}
with subprocess.Popen(["zstd", "-dc", sys.argv[1]], stdout=subprocess.PIPE) as source:
    for line in source.stdout:
        post = json.loads(line)
        by_label.setdefault(post["label"], []).append(post)

made = 0
for again, order in enumerate([None, lambda post: post["id"]]):
    for label, posts in by_label.items():
        posts = sorted(posts, key=order) if order else posts
        for start in range(0, len(posts) - SIZE + 1, SIZE):
            if made == GROUPS:
                sys.exit()
            for post in posts[start:start + SIZE]:
                print(json.dumps({"id": post["id"] + "+" * again, "text": post["text"],
                                  "group": "%s-%d" % (label, made)}))
            made += 1
