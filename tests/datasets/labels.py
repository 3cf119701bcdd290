#!/usr/bin/env python3
"""Labels of clusters and of the tree's inner nodes on real collections: at least 90 % are in 10 % of
their documents and three times as frequent there as outside, counted here from the exported
documents; none repeats, has a stop word or a number at its beginning, a stop word at its end, or a
piece of an address. Ends with 77 without GROUPERFISH_DATA. Environment: GROUPERFISH_PROGRAM."""
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

DATA, PROGRAM = os.environ.get("GROUPERFISH_DATA"), os.environ.get("GROUPERFISH_PROGRAM")
COLLECTIONS = [("20newsgroups/20newsgroups.jsonl.gz", 50, False),
               ("reddit-posts/reddit-posts.jsonl.zst", 50, False),
               ("zh-shopping-reviews/zh-shopping-reviews.jsonl.gz", 30, True)]
STOPS = set("a an and are as at be but by for from has have he her his i if in is it its me my no not of on or our she so "
            "that the their them then there they this to was we were what which who will with would you your".split())
ADDRESS = re.compile(r"https?|www\.|\.(com|org|net|edu)\b|@|/")


@functools.lru_cache(1 << 20)
def stem(word):
    """Roughly: enough for the forms of a word to count as one."""
    for ending in ("ing", "ers", "er", "ies", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[:-len(ending)]
    return word


def words(text):
    return re.findall(r"\w+", text.lower())


def phrase(text, chinese):
    return text.lower() if chinese else " " + " ".join(map(stem, words(text))) + " "


def rows(*arguments):
    run = subprocess.run([PROGRAM, *arguments, "--format", "jsonl"], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.split("\n")[:-1]]


def clusters_below(nodes, node):
    below = {node["cluster"]} if "cluster" in node else set()
    return below.union(*(clusters_below(nodes, nodes[child]) for child in node["children"]))


def is_good(label, below, texts, chinese):
    wanted, inside, outside, size = phrase(label, chinese), 0, 0, 0
    for cluster, text in texts:
        size += cluster in below
        if wanted in text:
            inside += cluster in below
            outside += cluster not in below
    rest = max(1, len(texts) - size)
    return inside >= 0.1 * size and inside / size >= 3 * outside / rest


def check(path, k, chinese):
    subprocess.run([PROGRAM, "put", "c", os.path.join(DATA, path)], check=True, capture_output=True)
    subprocess.run([PROGRAM, "config", "set", "c", f"k={k}"], check=True, capture_output=True)
    subprocess.run([PROGRAM, "rebuild", "c"], check=True, capture_output=True)
    tree = rows("clusters", "c", "--tree")
    nodes = {node["node"]: node for node in tree}
    texts = [(d["cluster"], phrase(d.get("text", ""), chinese)) for d in rows("export", "c", "--with-text")]
    labelled = [node for node in tree if "label" in node]
    labels = [node["label"] for node in labelled]
    assert len({label.lower() for label in labels}) == len(labels), "a label repeats"
    for name in labels:
        for label in name.removeprefix("mixed: ").split(" / "):
            parts = words(label)
            assert not ADDRESS.search(label), name
            assert not parts or (parts[0] not in STOPS and parts[-1] not in STOPS), name
            assert not label[0].isdigit(), name
    named = [node for node in labelled if not node["label"].startswith("mixed: ")]
    bad = [node["label"] for node in named
           if not any(is_good(part, clusters_below(nodes, node), texts, chinese)
                      for part in node["label"].split(" / "))]
    inner = sum("cluster" not in node for node in labelled)
    print(f"{path}: {len(labels)} labels, {inner} of inner nodes; {len(bad)} not good: {', '.join(bad)}", flush=True)
    assert len(bad) <= 0.1 * len(labels), bad
    assert inner > 0, inner


def main():
    if not DATA:
        print("GROUPERFISH_DATA is not set: skipped")
        return 77
    for path, k, chinese in COLLECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["GROUPERFISH_STORE"] = os.path.join(folder, "store")
            check(path, k, chinese)
    return 0


if __name__ == "__main__":
    sys.exit(main())
