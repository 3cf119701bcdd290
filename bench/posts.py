#!/usr/bin/env python3
"""Write many short posts as JSON Lines, made from a file of real ones; the same ones each time.

    bench/posts.py FILE N [SEED] > posts.jsonl

FILE is JSON Lines with "text" (and "label", which is kept), may be compressed with zstd. Each post is
some 8 to 30 words in a row of a real one, of which about one in six has been replaced by a word of
another post of the same label: so groups stay groups, and hardly two posts have the same words.
"""

import io
import json
import random
import subprocess
import sys

SHORTEST, LONGEST, REPLACED = 8, 30, 6


def read_posts(path):
    """The posts' words, and of each label all its words."""
    if path.endswith(".zst"):
        data = subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout
        lines = io.StringIO(data.decode("utf-8"))
    else:
        lines = open(path, encoding="utf-8")
    posts, words = [], {}
    for line in lines:
        record = json.loads(line)
        text = record["text"].split()
        if len(text) < SHORTEST:
            continue
        label = record.get("label", "")
        posts.append((label, text))
        words.setdefault(label, []).extend(text)
    return posts, words


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    n, seed = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    posts, words = read_posts(sys.argv[1])
    if not posts:
        sys.exit("posts.py: no post of %d words or more" % SHORTEST)
    chance = random.Random(seed).random
    out = []
    for i in range(n):
        label, text = posts[int(chance() * len(posts))]
        others = words[label]
        length = min(len(text), SHORTEST + int(chance() * (LONGEST - SHORTEST + 1)))
        at = int(chance() * (len(text) - length + 1))
        made = text[at:at + length]
        for _ in range(1 + length // REPLACED):
            made[int(chance() * length)] = others[int(chance() * len(others))]
        out.append(json.dumps({"id": "p%07d" % i, "text": " ".join(made), "label": label}) + "\n")
        if len(out) == 10000:
            sys.stdout.write("".join(out))
            out.clear()
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
