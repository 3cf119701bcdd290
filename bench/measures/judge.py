"""How good a clustering is, told from labels alone, by the same function whoever made them. A
program of its own:

    judge.py '{"rows": "rows.npz", "labels": "labels.txt", "classes": "classes.txt"}'

prints the mean cosine (1/N) * sum over clusters of |sum of the cluster's unit rows|, which is what
spherical k-means raises, and NMI and ARI against the classes. Rows without entries count nowhere.
With "texts" in place of "labels" it writes the classes of the rows' documents, one whole number a
line.
"""
import json
import sys

import numpy
import scipy.sparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from data import records


def mean_cosine(rows, labels):
    """Of unit rows [n x terms], CSR, with a label each."""
    _, label = numpy.unique(labels, return_inverse=True)
    n = len(label)
    by_cluster = scipy.sparse.csr_matrix((numpy.ones(n), (label, numpy.arange(n))))
    sums = by_cluster @ rows.astype(numpy.float64)
    return float(numpy.sqrt(sums.multiply(sums).sum(axis=1)).sum() / n)


def judge(task):
    rows = scipy.sparse.load_npz(task["rows"]).tocsr()
    filled = numpy.diff(rows.indptr) > 0
    labels = numpy.loadtxt(task["labels"], dtype=numpy.int64)[filled]
    classes = numpy.loadtxt(task["classes"], dtype=numpy.int64)[filled]
    return {"cosine": mean_cosine(rows[filled], labels),
            "nmi": float(normalized_mutual_info_score(classes, labels)),
            "ari": float(adjusted_rand_score(classes, labels))}


def ids_of(arrays):
    """The ids of a matrix that `export --matrix` wrote, as docs/formats.md has them."""
    if "ids" in arrays:
        return arrays["ids"].tolist()
    start, text = arrays["ids_offsets"], arrays["ids_utf8"].tobytes()
    return [text[a:b].decode() for a, b in zip(start, start[1:])]


def write_classes(task):
    class_of = {str(record["id"]): record.get("label") for record in records(task["texts"])}
    ids = ids_of(numpy.load(task["rows"]))
    _, numbers = numpy.unique([str(class_of[one]) for one in ids], return_inverse=True)
    numpy.savetxt(task["classes"], numbers, fmt="%d")
    return {"rows": len(ids)}


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(write_classes(asked) if "texts" in asked else judge(asked)))
