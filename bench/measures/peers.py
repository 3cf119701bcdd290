"""scikit-learn, a process for each run. A program of its own, which gets its task and answers as
JSON:

    peers.py '{"measure": "text", "texts": FILE}'
    peers.py '{"measure": "kmeans", "system": NAME, "rows": FILE.npz, "k": K, "seed": S,
               "labels": FILE, "iterations": N}'
    peers.py '{"measure": "pipeline", "system": NAME, "texts": FILE, "k": K, "seed": S}'

These are text to TF-IDF, rows to labels, which are written to a file, and texts to labels.
Seconds are those of the work named, without the imports. MiB is the most memory that the process
held when it was done.
"""
import json
import resource
import sys
import time
import warnings

from data import texts_and_classes


def vectorizer():
    """As near to Grouperfish's rows as its own options come: it has no stemmer."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    return TfidfVectorizer(stop_words="english", min_df=2, max_df=0.5, sublinear_tf=True)


def clusterer(name, k, seed, iterations):
    """One start each; iterations None is scikit-learn's default, which ends at convergence."""
    from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
    options = {"n_clusters": k, "random_state": seed, "n_init": 1}
    if iterations:
        options["max_iter"] = iterations
    if name == "minibatch":
        return MiniBatchKMeans(**options)
    if name == "bisecting":
        return BisectingKMeans(**options)
    return KMeans(algorithm="elkan" if name == "elkan" else "lloyd", **options)


def done(begin, **more):
    seconds = time.perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "mib": memory / 1024, **more}


def text(task):
    texts, _ = texts_and_classes(task["texts"])
    size = sum(len(one.encode(errors="surrogatepass")) for one in texts)
    rows = vectorizer()
    begin = time.perf_counter()
    shape = rows.fit_transform(texts).shape
    return done(begin, bytes=size, documents=shape[0], terms=shape[1])


def kmeans(task):
    import numpy
    import scipy.sparse
    rows = scipy.sparse.load_npz(task["rows"]).tocsr()
    method = clusterer(task["system"], task["k"], task["seed"], task.get("iterations"))
    begin = time.perf_counter()
    method.fit(rows)
    answer = done(begin)
    numpy.savetxt(task["labels"], method.labels_, fmt="%d")
    return answer


def pipeline(task):
    from sklearn.decomposition import TruncatedSVD
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer
    begin = time.perf_counter()
    texts, classes = texts_and_classes(task["texts"])
    rows = vectorizer().fit_transform(texts)
    if task["system"] == "lsa":
        lsa = make_pipeline(TruncatedSVD(100, random_state=task["seed"]), Normalizer(copy=False))
        rows = lsa.fit_transform(rows)
    labels = clusterer(task["system"], task["k"], task["seed"], None).fit_predict(rows)
    answer = done(begin)
    classes = [str(one) for one in classes]
    return {**answer, "nmi": float(normalized_mutual_info_score(classes, labels)),
            "ari": float(adjusted_rand_score(classes, labels))}


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # that a run of few iterations did not converge is meant
    asked = json.loads(sys.argv[1])
    measures = {"text": text, "kmeans": kmeans, "pipeline": pipeline}
    print(json.dumps(measures[asked["measure"]](asked)))
