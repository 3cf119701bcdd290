"""The collections that are measured: those of GROUPERFISH_DATA, else the posts that come with the
source.
"""
import json
import os
import subprocess
import sys

from process import ROOT, Failed

POSTS = os.path.join(ROOT, "examples", "reddit-posts-20.jsonl.zst")
CLUSTERS = {  # name: how many clusters are asked for; mostly the number of classes comes first
    "20newsgroups": (20, 100, 1000),
    "reddit-posts": (100, 1000),
    "ag-news-test": (4,),
    "search-snippets": (8,),
    "event-tweets": (269,),
    "bug-report-titles": (5,),
    "zh-shopping-reviews": (10,),
}
LARGE = ("20newsgroups", "reddit-posts")  # long enough to measure megabytes a second


class Collection:
    """A file of documents with classes."""

    def __init__(self, name, path, clusters):
        self.name, self.path, self.clusters = name, path, clusters


def find(folder, name):
    """The file of a collection in the folder of the data sets; None where it is not there."""
    for end in (".jsonl.zst", ".jsonl.gz", ".jsonl"):
        path = os.path.join(folder, name, name + end)
        if os.path.exists(path):
            return path
    return None


def collections(quick):
    """All that there are; with quick, or without GROUPERFISH_DATA, the posts alone."""
    folder = os.environ.get("GROUPERFISH_DATA")
    if quick or not folder:
        return [Collection("posts", POSTS, (20, 100))]
    if not os.path.isdir(folder):
        raise Failed(f"GROUPERFISH_DATA is {folder}, which is no folder: "
                     "set it to that of the data sets, or unset it")
    found = [(name, find(folder, name), clusters) for name, clusters in CLUSTERS.items()]
    if not any(path for _, path, _ in found):
        raise Failed(f"no data set in {folder}, such as 20newsgroups/20newsgroups.jsonl.gz; "
                     "without GROUPERFISH_DATA the posts that come with the source are measured")
    return [Collection(*one) for one in found if one[1]]


def make_posts(folder, n):
    """A file of n posts."""
    data = os.environ.get("GROUPERFISH_DATA")
    source = (data and find(data, "reddit-posts")) or POSTS
    path = os.path.join(folder, "posts.jsonl")
    program = os.path.join(ROOT, "bench", "posts.py")
    with open(path, "wb") as out:
        made = subprocess.run([sys.executable, program, source, str(n)], stdout=out,
                              stderr=subprocess.PIPE, check=False)
    if made.returncode:
        raise Failed(f"bench/posts.py {source} {n}: {made.stderr.decode(errors='replace').strip()}")
    return path


def own_documents(path, clusters):
    """A file that the user names, as the only collection, with the numbers of clusters in words."""
    if not os.path.isfile(path):
        raise Failed(f"there is no file {path}")
    name = os.path.basename(path).split(".")[0]
    return [Collection(name, os.path.abspath(path), tuple(int(k) for k in clusters.split(",")))]


def records(path):
    """The records of a file of JSON Lines, plain or packed by zstd or gzip, one after the other."""
    unpack = {".zst": "zstd", ".gz": "gzip"}.get(os.path.splitext(path)[1])
    packed = subprocess.Popen([unpack, "-dc", path], stdout=subprocess.PIPE) if unpack else None
    with packed.stdout if packed else open(path, "rb") as lines:
        for line in lines:
            yield json.loads(line)
    if packed and packed.wait() != 0:
        raise Failed(f"{path}: {unpack} failed")


def texts_and_classes(path):
    """All texts of a file, and the class of each: None where it has none."""
    texts, classes = [], []
    for record in records(path):
        texts.append(record["text"])
        classes.append(record.get("label"))
    return texts, classes
