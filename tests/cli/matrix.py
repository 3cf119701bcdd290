#!/usr/bin/env python3
"""Matrices with those who made the format: numpy, scipy and scikit-learn.

    matrix.py PROGRAM...   the first program that is there; ends with 77 where numpy or scipy is missing

- what export writes is read by scipy.sparse.load_npz and numpy.load, and fits together;
- the example of docs/formats.md runs, and its rows cluster;
- embeddings of 384 columns reach the objective of scikit-learn's KMeans (if it is there).

The texts are the search snippets of GROUPERFISH_DATA, where that is set, else those of tests/engine/data.
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    import scipy.sparse
    import scipy.sparse.linalg
except ImportError:
    print("skipped: numpy or scipy is missing")
    sys.exit(77)

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = next(os.path.abspath(p) for p in sys.argv[1:] if os.access(p, os.X_OK))
DATA = os.environ.get("GROUPERFISH_DATA")


def run(*words, fails=None):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    if fails:
        assert done.returncode and fails in done.stderr, (words, done.stderr)
        return None
    assert done.returncode == 0, (words, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def one(*words):
    return run(*words, "--format", "jsonl")[0]


def texts(path):
    if DATA:
        with gzip.open(DATA + "/search-snippets/search-snippets.jsonl.gz") as source:
            data = source.read()
    else:
        with open(SOURCE + "/tests/engine/data/posts.jsonl", "rb") as source:
            data = source.read()
    with open(path, "wb") as target:
        target.write(data)
    return len(data.splitlines())


def unit(rows):
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def csr(arrays, prefix):
    parts = [arrays[prefix + name] for name in ("data", "indices", "indptr", "shape")]
    return scipy.sparse.csr_matrix(tuple(parts[:3]), shape=parts[3])


def check_export():
    """The rows are unit rows, their labels the most similar centroids, names as clusters has them."""
    rows = scipy.sparse.load_npz("texts.npz")
    arrays = numpy.load("texts.npz", allow_pickle=False)
    again = csr(arrays, "")
    assert (again != rows).nnz == 0 and rows.has_canonical_format
    members = {m["id"]: m for m in run("export", "news", "--format", "jsonl")}
    assert rows.shape == (len(members), len(arrays["terms"]))
    assert len(set(arrays["terms"])) == len(arrays["terms"]) == len(arrays["surfaces"])
    lengths = numpy.sqrt(rows.multiply(rows).sum(axis=1)).A1
    labels, scores = arrays["labels"], arrays["scores"]
    assert numpy.allclose(lengths[labels > 0], 1, atol=1e-5)
    assert not lengths[labels == 0].any()
    similar = (rows @ csr(arrays, "centroids_").T).toarray()
    own = similar[numpy.arange(len(labels)), numpy.searchsorted(arrays["clusters"], labels)
                  .clip(max=len(arrays["clusters"]) - 1)]
    placed = labels > 0
    assert numpy.allclose(own[placed], scores[placed], atol=1e-6)
    assert (own[placed] >= similar.max(axis=1)[placed] - 1e-6).all()
    for name, label in zip(arrays["ids"].tolist(), labels.tolist()):
        assert (members[name]["cluster"] or 0) == label, name
    names = dict(zip(arrays["clusters"].tolist(), arrays["names"].tolist()))
    for row in run("clusters", "news", "--format", "jsonl"):
        assert names[row["cluster"]] == row["label"]
        assert (labels == row["cluster"]).sum() == row["size"]
    assert not arrays["replaced"].any()
    return rows, arrays


def check_example():
    with open(SOURCE + "/docs/formats.md", encoding="utf-8") as document:
        code = re.search(r"```python\n(.*?)```", document.read(), re.S).group(1)
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    run("config", "set", "news", "--config", "lsa", "k=8")
    row = one("rebuild", "news", "--config", "lsa", "--matrix", "lsa.npz")
    assert row["matrix"] == "dense" and row["terms"] == 50 and row["unknown"] == 0


def check_kinds(rows, arrays):
    """Every way of writing the same rows gives the same build."""
    ids = arrays["ids"]
    run("config", "set", "news", "--config", "kinds", "k=4", "restarts=1")
    unsorted = rows.copy()
    for i in range(0, rows.shape[0], 7):
        part = slice(unsorted.indptr[i], unsorted.indptr[i + 1])
        unsorted.indices[part] = unsorted.indices[part][::-1].copy()
        unsorted.data[part] = unsorted.data[part][::-1].copy()
    long = scipy.sparse.csr_matrix(rows, dtype="f8")
    forms = [dict(data=rows.data, indices=rows.indices, indptr=rows.indptr, shape=rows.shape),
             dict(data=unsorted.data, indices=unsorted.indices, indptr=unsorted.indptr,
                  shape=rows.shape, format=b"csr"),
             dict(data=long.data * 3, indices=long.indices.astype("i8"),
                  indptr=long.indptr.astype("u4"), shape=rows.shape, format="csr")]
    objectives = []
    for form in forms:
        for save in numpy.savez, numpy.savez_compressed:
            save("kinds.npz", ids=numpy.char.encode(ids, "utf-8"), **form)
            objectives.append(one("rebuild", "news", "--config", "kinds", "--start", "fresh", "--matrix",
                                  "kinds.npz")["objective"])
    assert max(objectives) - min(objectives) < 1e-6, objectives
    dense = numpy.random.default_rng(1).normal(size=(len(ids), 5))
    for kind, fails in ((dense.astype("f2"), "float32"), (dense.astype(">f8"), "big-endian"),
                        (dense.astype("c16"), "not read"), (dense.astype(object), "pickle"),
                        (dense[:5], "each of 5 rows"), (dense * numpy.inf, "not finite"),
                        (dense[0], "1 dimensions")):
        numpy.savez("kinds.npz", rows=kind, ids=ids)
        run("rebuild", "news", "--config", "kinds", "--matrix", "kinds.npz", fails=fails)
    same = []
    for kind in dense, numpy.asfortranarray(dense), dense.astype("f4"):
        numpy.savez("kinds.npz", vectors=kind, ids=ids)
        same.append(one("rebuild", "news", "--config", "kinds", "--start", "fresh", "--matrix",
                        "kinds.npz")["objective"])
    assert max(same) - min(same) < 1e-6, same
    scipy.sparse.save_npz("kinds.npz", rows)
    run("rebuild", "news", "--config", "kinds", "--matrix", "kinds.npz", fails='no array "ids"')
    numpy.savez("kinds.npz", rows=dense, ids=ids.astype(object))
    run("rebuild", "news", "--config", "kinds", "--matrix", "kinds.npz", fails="pickle")


def cosines(rows, labels):
    return sum(numpy.linalg.norm(rows[labels == c].sum(axis=0)) for c in set(labels.tolist()))


def check_embeddings(rows, arrays):
    """384 columns of a truncated SVD; objective: sum of cosines to unit centroids."""
    columns = min(384, min(rows.shape) - 1)
    placed = arrays["labels"] > 0
    u, s, _ = scipy.sparse.linalg.svds(rows[placed].astype("f8"), k=columns, random_state=0)
    # Rows that the decomposition leaves nothing of have no direction, for anybody.
    kept = numpy.linalg.norm(u * s, axis=1) > 1e-6
    ids = arrays["ids"][placed][kept]
    embeddings = unit((u * s)[kept]).astype("f4")
    numpy.savez("embeddings.npz", rows=embeddings, ids=ids)
    try:
        from sklearn.cluster import KMeans
    except ImportError:
        KMeans = None
    for k in (8, 50) if DATA else (5,):
        run("config", "set", "news", "--config", "dense", "k=%d" % k)
        begun = time.time()
        row = one("rebuild", "news", "--config", "dense", "--matrix", "embeddings.npz")
        seconds = time.time() - begun
        members = {m["id"]: m["cluster"]
                   for m in run("export", "news", "--config", "dense", "--format", "jsonl")}
        ours = cosines(embeddings.astype("f8"), numpy.array([members[i] for i in ids.tolist()]))
        assert abs(ours - row["objective"] * len(ids)) < 1e-3 * ours, (ours, row)
        if not KMeans:
            continue
        begun = time.time()
        theirs = cosines(embeddings.astype("f8"),
                         KMeans(k, n_init=10, random_state=0).fit(embeddings).labels_)
        print("%d rows, %d columns, k=%d: ours %.2f (rebuild %.1f s), scikit-learn %.2f (%.1f s)"
              % (len(ids), columns, k, ours, seconds, theirs, time.time() - begun))
        assert ours >= theirs * 0.9999, (ours, theirs)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        n = texts("texts.jsonl")
        assert one("put", "news", "texts.jsonl")["new"] == n
        run("config", "set", "news", "k=8")
        run("rebuild", "news")
        assert one("export", "news", "--matrix", "texts.npz")["rows"] == n
        rows, arrays = check_export()
        check_example()
        check_kinds(rows, arrays)
        check_embeddings(rows, arrays)
        assert one("verify")["faults"] == 0
        os.chdir("/")


main()
