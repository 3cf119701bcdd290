"""The label files of test_quality.c, and what scikit-learn says of them.

    GROUPERFISH_DATA=... python3 tests/cluster/data/quality.py labels
    python3 tests/cluster/data/quality.py expected

The first writes quality/<case>.labels, a line "cluster class" per document; the second writes
quality/expected.txt from those files alone. Run with scikit-learn 1.2.1 and NumPy 1.24.2 of
Debian 12. The two udhr cases are a k-means run over the articles of the Universal Declaration of
Human Rights (public domain) in twenty languages, once against the languages and once against the
articles.
"""
import gzip
import json
import os
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent / "quality"
LANGUAGES = ("ces dan deu_1901 eng fin fra hin hun ind ita jpn kor nld pol por_PT rus spa swe "
             "tur vie").split()


def udhr():
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfVectorizer

    path = pathlib.Path(os.environ["GROUPERFISH_DATA"]) / "udhr-articles/udhr-articles.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    records = [r for r in records if r["variant"] in LANGUAGES]
    texts = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 2)).fit_transform(
        r["text"] for r in records)
    clusters = KMeans(n_clusters=16, n_init=1, random_state=1).fit_predict(texts)
    language = {name: i for i, name in enumerate(LANGUAGES)}
    article = {name: i for i, name in enumerate(sorted({r["label"] for r in records}))}
    yield "udhr-languages", clusters, [language[r["variant"]] for r in records]
    yield "udhr-articles", clusters, [article[r["label"]] for r in records]


def made():
    random = np.random.RandomState(7)
    classes = random.randint(0, 7, 500)
    yield "random", random.randint(0, 10, 500), classes
    skewed = np.minimum(random.zipf(1.6, 800), 200)
    yield "skewed", np.where(random.rand(800) < 0.7, skewed * 3, random.randint(0, 50, 800)), skewed
    yield "split", 2 * classes + random.randint(0, 2, 500), classes
    yield "merged", classes // 2, classes
    names = random.randint(0, 1 << 32, 7, dtype=np.uint64)
    names[3], names[5] = 0, (1 << 32) - 1
    yield "renamed", names[classes], classes
    yield "one-off", np.where(np.arange(500) == 9, 77, classes), classes
    yield "independent", np.arange(60) % 5, np.arange(60) // 5 % 4
    yield "one-cluster", np.zeros(100, int), classes[:100]
    yield "one-class", classes[:100], np.zeros(100, int)
    yield "one-of-each", np.full(50, 3), np.full(50, 4)
    yield "all-distinct", random.permutation(100), classes[:100]
    yield "distinct-twice", random.permutation(100), np.arange(100)
    yield "distinct-in-one", random.permutation(100), np.zeros(100, int)
    yield "two", [1, 2], [5, 5]
    yield "single", [8], [9]
    yield "empty", [], []


def write_labels():
    for cases in udhr(), made():
        for name, clusters, classes in cases:
            with open(HERE / f"{name}.labels", "w") as out:
                out.writelines(f"{k} {c}\n" for k, c in zip(clusters, classes))


def write_expected():
    from sklearn import metrics
    from sklearn.metrics.cluster import contingency_matrix

    with open(HERE / "expected.txt", "w") as out:
        out.write("# case nmi ari homogeneity completeness v_measure purity\n")
        for path in sorted(HERE.glob("*.labels")):
            labels = np.array([line.split() for line in open(path)], dtype=np.int64).reshape(-1, 2)
            clusters, classes = labels[:, 0], labels[:, 1]
            values = [metrics.normalized_mutual_info_score(classes, clusters),
                      metrics.adjusted_rand_score(classes, clusters),
                      *metrics.homogeneity_completeness_v_measure(classes, clusters),
                      contingency_matrix(classes, clusters).max(axis=0).sum() / len(labels)
                      if len(labels) else 1.0]
            out.write(" ".join([path.stem, *(repr(float(v)) for v in values)]) + "\n")


if __name__ == "__main__":
    {"labels": write_labels, "expected": write_expected}[sys.argv[1]]()
