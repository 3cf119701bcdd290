#!/usr/bin/python3
"""From a file of documents to clusters: Grouperfish beside scikit-learn.

    bench/peers.py                                     the posts that come with the source, k = 20
    bench/peers.py news.jsonl.zst -k 20 --runs 5       documents of your own: JSON Lines with "text" and
                                                       "label", plain or packed by zstd or gzip
    bench/peers.py posts.jsonl.zst -k 100 --only grouperfish,minibatch

Needs build/release/grouperfish (./quickstart makes it) and python3-sklearn. Every run is a process of
its own with another seed; the systems take turns. Printed are medians of wall time and peak memory,
the mean NMI against the labels, and how many times as long as Grouperfish each took. Reading the file
is part of everyone's time, storing the documents and the result of Grouperfish's alone.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(ROOT, "build", "release", "grouperfish")
SYSTEMS = {
    "grouperfish": "put + rebuild, defaults",
    "kmeans": "scikit-learn TfidfVectorizer + KMeans(n_init=1)",
    "minibatch": "scikit-learn TfidfVectorizer + MiniBatchKMeans(n_init=1)",
    "lsa": "scikit-learn TfidfVectorizer + TruncatedSVD(100) + KMeans(n_init=1)",
}


def read_documents(path):
    """The texts and labels of a file of JSON Lines."""
    unpack = {".zst": "zstd", ".gz": "gzip"}.get(os.path.splitext(path)[1])
    packed = subprocess.Popen([unpack, "-dc", path], stdout=subprocess.PIPE) if unpack else None
    texts, labels = [], []
    with packed.stdout if packed else open(path, "rb") as lines:
        for line in lines:
            record = json.loads(line)
            texts.append(record["text"])
            labels.append(record.get("label"))
    return texts, labels


def grouperfish(path, k, seed):
    """NMI of one run of the program in a store of its own, and its seconds without the evaluation."""
    with tempfile.TemporaryDirectory() as folder:
        run = lambda *words: subprocess.run(
            [PROGRAM, *words, "--store", folder + "/store", "--format", "json"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        begin = time.perf_counter()
        run("put", "c", path)
        run("config", "set", "c", "default", f"k={k}", f"seed={seed}")
        run("rebuild", "c")
        seconds = time.perf_counter() - begin
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        return seconds, memory, json.loads(run("evaluate", "c", "--label-field", "label"))["nmi"]


def scikit_learn(name, path, k, seed):
    """The same of scikit-learn, in this process."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics import normalized_mutual_info_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    begin = time.perf_counter()
    texts, labels = read_documents(path)
    rows = TfidfVectorizer(stop_words="english", min_df=2, max_df=0.5, sublinear_tf=True).fit_transform(texts)
    if name == "lsa":
        rows = make_pipeline(TruncatedSVD(100, random_state=seed), Normalizer(copy=False)).fit_transform(rows)
    method = MiniBatchKMeans if name == "minibatch" else KMeans
    found = method(k, n_init=1, random_state=seed).fit_predict(rows)
    seconds = time.perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return seconds, memory, normalized_mutual_info_score(labels, found)


def one_run(name, path, k, seed):
    """Run this file again for one system, and read what it printed."""
    out = subprocess.run([sys.executable, __file__, path, "-k", str(k), "--run", name, "--seed", str(seed)],
                         check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("file", nargs="?", default=os.path.join(ROOT, "examples", "reddit-posts-20.jsonl.zst"))
    words.add_argument("-k", type=int, default=20)
    words.add_argument("--runs", type=int, default=3)
    words.add_argument("--only", default=",".join(SYSTEMS))
    words.add_argument("--run", help=argparse.SUPPRESS)
    words.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    asked = words.parse_args()
    if asked.run:
        run = grouperfish if asked.run == "grouperfish" else lambda *a: scikit_learn(asked.run, *a)
        print(json.dumps(run(asked.file, asked.k, asked.seed)))
        return
    names = asked.only.split(",")
    results = {name: [] for name in names}
    for seed in range(1, asked.runs + 1):
        for name in names:
            results[name].append(one_run(name, asked.file, asked.k, seed))
    base = statistics.median(r[0] for r in results[names[0]])
    print(f"{os.path.basename(asked.file)}, k = {asked.k}, {asked.runs} runs of each")
    print(f"{'seconds':>8} {'times':>6} {'MiB':>6} {'NMI':>6}  system")
    for name in names:
        seconds, memory, nmi = zip(*results[name])
        print(f"{statistics.median(seconds):8.1f} {statistics.median(seconds) / base:6.1f} "
              f"{statistics.median(memory) / 1024:6.0f} {statistics.mean(nmi):6.3f}  {SYSTEMS[name]}")


if __name__ == "__main__":
    main()
