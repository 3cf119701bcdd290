"""Groupings by scikit-learn, and word counts for bench_gsdmm. A program of its own, which gets its
task and answers as JSON:

    quality_peers.py '{"measure": "groups", "texts": FILE, "system": NAME, "k": K, "seeds": [S, ...],
                       "characters": false}'
    quality_peers.py '{"measure": "counts", "texts": FILE, "counts": FILE, "characters": false}'

The answers are the group of each document for each seed, with the seconds from rows to groups, and
how many words were counted. With characters, words are single characters and pairs of them: for
texts that have no spaces between words.
"""
import json
import sys
import time
import warnings

from data import records

DIMENSIONS = 100  # of LSA


def words_of(task):
    """Options of scikit-learn's vectorizers; as those of peers.py, where texts have words."""
    if task["characters"]:
        return {"analyzer": "char", "ngram_range": (1, 2), "min_df": 2, "max_df": 0.5}
    return {"stop_words": "english", "min_df": 2, "max_df": 0.5}


def rows_by(vectorizer, task):
    return vectorizer.fit_transform(one["text"] for one in records(task["texts"]))


def rows_of(system, tfidf, seed):
    """What k-means works on: TF-IDF, or as many dimensions of it as asked for."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize
    if system != "lsa":
        return tfidf
    return normalize(TruncatedSVD(min(DIMENSIONS, tfidf.shape[1] - 1), random_state=seed).fit_transform(tfidf))


def groups(task):
    from sklearn.cluster import KMeans
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfVectorizer
    tfidf = rows_by(TfidfVectorizer(sublinear_tf=True, **words_of(task)), task)
    found = {}
    for seed in task["seeds"]:
        begin = time.perf_counter()
        if task["system"] == "nmf":
            labels = NMF(task["k"], random_state=seed).fit_transform(tfidf).argmax(axis=1)
        else:
            method = KMeans(task["k"], random_state=seed, n_init=1)
            labels = method.fit_predict(rows_of(task["system"], tfidf, seed))
        found[seed] = {"labels": labels.tolist(), "seconds": time.perf_counter() - begin}
    return found


def counts(task):
    """Written as bench_gsdmm reads them, of the words that the rows of the others have."""
    from sklearn.feature_extraction.text import CountVectorizer
    rows = rows_by(CountVectorizer(**words_of(task)), task).tocsr()
    with open(task["counts"], "w", encoding="ascii") as file:
        file.write(f"{rows.shape[0]} {rows.shape[1]}\n")
        for begin, end in zip(rows.indptr, rows.indptr[1:]):
            pairs = zip(rows.indices[begin:end], rows.data[begin:end])
            file.write(" ".join([str(end - begin), *(f"{word} {count}" for word, count in pairs)]) + "\n")
    return {"words": rows.shape[1]}


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # NMF stops at its default of 200 rounds
    asked = json.loads(sys.argv[1])
    print(json.dumps({"groups": groups, "counts": counts}[asked["measure"]](asked)))
