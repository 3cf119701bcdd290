"""The estimator: labels, names, scikit-learn's own checks, bad input, pickling."""

import gc
import os
import pickle
import threading
import unittest

import support
from grouperfish import Grouperfish, GrouperfishError, Invalid

CATS = ["the cat sat", "a cat purrs", "cats purr loudly"]
STOCKS = ["stocks fell", "stocks rose", "a stock split"]


def fitted(**params):
    return Grouperfish(k=2, language="english", **params).fit(CATS + STOCKS + [""])


def with_threads(work):
    """What work gives, and the most threads that this process had meanwhile."""
    ended, most = threading.Event(), [0]

    def look():
        while not ended.is_set():
            most[0] = max(most[0], len(os.listdir("/proc/self/task")))

    looker = threading.Thread(target=look)
    looker.start()
    try:
        return work(), most[0]
    finally:
        ended.set()
        looker.join()


class Labels(unittest.TestCase):
    def test_labels_names_and_scores(self):
        g = fitted()
        labels = list(g.labels_)
        self.assertEqual(len(set(labels[:3])), 1)
        self.assertEqual(len(set(labels[3:6])), 1)
        self.assertNotEqual(labels[0], labels[3])
        self.assertEqual(labels[6], -1)
        self.assertEqual(g.scores_[6], 0)
        self.assertGreater(min(g.scores_[:6]), 0.1)
        self.assertEqual(g.n_clusters_, 2)
        self.assertIn("cat", g.cluster_names_[labels[0]])
        self.assertIn("stock", g.cluster_names_[labels[3]])
        self.assertTrue(0 < g.objective_ <= 1)

    def test_texts_of_any_kind_give_the_same(self):
        texts = CATS + STOCKS
        expected = list(Grouperfish(k=2, language="english").fit_predict(texts))
        kinds = [tuple(texts), iter(texts)]
        for name, make in (
            ("numpy", lambda m: m.array(texts)),
            ("numpy", lambda m: m.array(texts, dtype=object)),
            ("pandas", lambda m: m.Series(texts, index=range(10, 16))),
            ("pyarrow", lambda m: m.array(texts)),
            ("pyarrow", lambda m: m.chunked_array([texts[:2], texts[2:]])),
            ("polars", lambda m: m.Series(texts)),
        ):
            module = support.module(name)
            if module:
                kinds.append(make(module))
        for kind in kinds:
            with self.subTest(kind=type(kind)):
                found = Grouperfish(k=2, language="english").fit_predict(kind)
                self.assertEqual(list(found), expected)

    def test_prediction_agrees_with_similarity(self):
        g = fitted()
        texts = ["my cat", "buy stocks", "zebra"]
        rows = [list(row) for row in g.transform(texts)]
        labels = list(g.predict(texts))
        self.assertEqual(labels[2], -1)
        self.assertEqual(rows[2], [0, 0])
        for label, row in zip(labels[:2], rows):
            self.assertEqual(row.index(max(row)), label)
        self.assertAlmostEqual(g.score(texts[:2]), (max(rows[0]) + max(rows[1])) / 2, places=6)
        self.assertEqual(list(g.get_feature_names_out()), ["grouperfish0", "grouperfish1"])

    def test_jobs_of_similarities(self):
        texts = support.posts(3000)
        g = Grouperfish(k=5, random_state=1).fit(texts)
        alone, threads_alone = with_threads(lambda: g.set_params(n_jobs=1).transform(texts))
        beside, threads_beside = with_threads(lambda: g.set_params(n_jobs=6).transform(texts))
        self.assertEqual([list(row) for row in alone], [list(row) for row in beside])
        self.assertGreaterEqual(threads_beside, threads_alone + 4)

    def test_scores_are_those_of_the_texts_again(self):
        g = fitted()
        best = [max(row) for row in g.transform(CATS + STOCKS)]
        for score, again in zip(g.scores_, best):
            self.assertAlmostEqual(score, again, places=5)

    def test_table_of_clusters(self):
        table = fitted().clusters()
        self.assertEqual(sorted(table["label"]), [0, 1])
        self.assertEqual(table["size"], [3, 3])
        row = next(row for row in table if "cat" in row["name"])
        self.assertIn("cat", row["terms"])
        self.assertTrue(set(row["documents"]) <= {0, 1, 2})
        self.assertIn("<table>", table._repr_html_())

    def test_centres(self):
        g = fitted()
        self.assertEqual(g.cluster_centers_.shape, (2, len(g.terms_)))
        self.assertIn("cat", " ".join(g.terms_))

    def test_pickled_and_read_again(self):
        g = fitted()
        again = pickle.loads(pickle.dumps(g))
        texts = ["my cat", "buy stocks", ""]
        self.assertEqual(list(again.predict(texts)), list(g.predict(texts)))
        self.assertEqual(again.clusters(), g.clusters())
        self.assertEqual(again.get_params(), g.get_params())

    def test_same_seed_same_clusters(self):
        texts = support.posts(400)
        first = Grouperfish(k=8, random_state=3).fit_predict(texts)
        self.assertEqual(list(first), list(Grouperfish(k=8, random_state=3).fit_predict(texts)))
        threads = Grouperfish(k=8, random_state=3, n_jobs=1).fit_predict(texts)
        self.assertEqual(list(first), list(threads))

    def test_parameters(self):
        g = Grouperfish(k=5, ngrams=(1, 2))
        self.assertEqual(repr(g), "Grouperfish(k=5, ngrams=(1, 2))")
        self.assertEqual(g.set_params(k=7).get_params()["k"], 7)
        with self.assertRaisesRegex(ValueError, "Invalid parameter 'colour'"):
            g.set_params(colour="red")
        g = Grouperfish(k=1, stop_words=["cat"], settings={"mentions": "skip"}).fit(CATS)
        self.assertNotIn("cat", g.terms_)

    def test_memory_is_given_back(self):
        support.skip_without("numpy", self)
        texts = support.posts(2000)
        Grouperfish(k=5).fit(texts)
        gc.collect()
        before = support.resident()
        for _ in range(10):
            Grouperfish(k=5).fit(texts)
        gc.collect()
        self.assertLess(support.resident() - before, 60 << 20)


class BadInput(unittest.TestCase):
    def refused(self, words, call):
        with self.assertRaisesRegex(Invalid, words) as caught:
            call()
        self.assertIsInstance(caught.exception, ValueError)
        self.assertIsInstance(caught.exception, GrouperfishError)

    def test_texts_that_are_none(self):
        for bad, words in (
            (["a", None], "row 1: is null"),
            (["a", float("nan")], "row 1: is null"),
            ([5, "a"], r"row 0: a text is a string, not int \(5\)"),
            (["a", b"b"], "row 1: a text is a string, not bytes"),
            ([], "there are no texts"),
            ("one text", "put it into a list"),
            (17, "texts are a list"),
            ([{"text": "a"}], "a text is a string, not dict"),
        ):
            with self.subTest(bad=bad):
                self.refused(words, lambda: Grouperfish().fit(bad))

    def test_lone_surrogates_become_question_marks(self):
        g = Grouperfish(k=1).fit(["caf\udce9 bar", "bar caf\udce9"])
        self.assertEqual(list(g.labels_), [0, 0])

    def test_parameters_that_are_none(self):
        for params, words in (
            ({"k": 0}, "k is"),
            ({"k": 2.5}, "k is"),
            ({"language": "klingon"}, "language"),
            ({"ngrams": 9}, "ngrams"),
            ({"settings": {"colour": "red"}}, "colour"),
            ({"stop_words": "english"}, "stop_words"),
            ({"random_state": "x"}, "random_state"),
        ):
            with self.subTest(params=params):
                self.refused(words, lambda: Grouperfish(**params).fit(CATS))

    def test_before_it_was_fitted(self):
        for call in ("predict", "transform", "score"):
            with self.assertRaisesRegex((ValueError, AttributeError), "not fitted yet"):
                getattr(Grouperfish(), call)(CATS)

    def test_rows_of_numbers_asked_of_texts(self):
        numpy = support.skip_without("numpy", self)
        self.refused("fitted with texts", lambda: fitted().predict(numpy.eye(2)))
        g = Grouperfish(k=2).fit(numpy.eye(4))
        self.refused("4 features|no numbers|numeric|could not convert|is expecting",
                     lambda: g.predict(numpy.eye(3)))


class Rows(unittest.TestCase):
    def setUp(self):
        self.numpy = support.skip_without("numpy", self)
        draw = self.numpy.random.default_rng(1)
        centres = self.numpy.eye(3, 20) * 5
        self.truth = self.numpy.repeat([0, 1, 2], 30)
        self.rows = (centres[self.truth] + draw.normal(size=(90, 20)) * 0.3).astype("float32")

    def test_dense_rows(self):
        g = Grouperfish(k=3).fit(self.rows)
        self.assertEqual(len({(a, b) for a, b in zip(g.labels_, self.truth)}), 3)
        self.assertEqual(list(g.predict(self.rows)), list(g.labels_))
        similar = g.transform(self.rows)
        self.assertEqual(list(similar.argmax(axis=1)), list(g.labels_))
        self.assertEqual(g.cluster_centers_.shape, (3, 20))
        self.assertIsNone(g.terms_)
        self.assertEqual(g.n_features_in_, 20)
        again = pickle.loads(pickle.dumps(g))
        self.assertEqual(list(again.predict(self.rows)), list(g.labels_))

    def test_sparse_rows(self):
        sparse = support.skip_without("scipy.sparse", self)
        rows = sparse.csr_matrix(self.numpy.where(abs(self.rows) > 1, self.rows, 0))
        g = Grouperfish(k=3).fit(rows)
        self.assertEqual(len({(a, b) for a, b in zip(g.labels_, self.truth)}), 3)
        self.assertEqual(list(g.predict(rows.tocoo())), list(g.labels_))
        self.assertTrue(sparse.issparse(g.cluster_centers_))

    def test_jobs_of_predictions(self):
        rows = self.numpy.random.default_rng(2).normal(size=(100000, 20)).astype("float32")
        g = Grouperfish(k=3).fit(self.rows)
        alone, threads_alone = with_threads(lambda: g.set_params(n_jobs=1).predict(rows))
        beside, threads_beside = with_threads(lambda: g.set_params(n_jobs=6).predict(rows))
        self.assertEqual(list(alone), list(beside))
        self.assertGreaterEqual(threads_beside, threads_alone + 4)

    def test_values_that_are_not_finite(self):
        self.rows[3, 4] = self.numpy.nan
        with self.assertRaisesRegex(ValueError, "NaN"):
            Grouperfish(k=3).fit(self.rows)


class Forked(unittest.TestCase):
    def in_a_child(self, work):
        """What work gives, as a string, when a forked child does it."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            told = "nothing"
            try:
                told = str(work())
            except Exception as raised:
                told = f"{type(raised).__name__}: {raised}"
            finally:
                os.write(writing, told.encode())
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            told = pipe.read()
        os.waitpid(child, 0)
        return told

    def test_a_child_cannot_use_its_parent_s(self):
        g = Grouperfish(k=2, language="english").fit(CATS + STOCKS)
        for work in (lambda: g.predict(["a cat"]), lambda: g.transform(["a cat"]), g.clusters,
                     lambda: pickle.dumps(g)):
            told = self.in_a_child(work)
            self.assertRegex(told, "^Closed: this estimator was fitted by the process .* pickle it there")
        self.assertEqual(len(g.predict(["a cat"])), 1)

    def test_a_child_fits_its_own(self):
        """Threads that the parent's fitting had are not waited for in the child."""
        texts = support.posts(2000)
        g = Grouperfish(k=5, random_state=1).fit(texts)

        def work():
            again = Grouperfish(k=5, random_state=1).fit(texts)
            return again.predict(texts[:50]).tolist() if hasattr(again.labels_, "tolist") else again.predict(texts[:50])

        self.assertEqual(self.in_a_child(work), str(list(g.predict(texts[:50]))))

    def test_a_child_has_what_was_pickled(self):
        import multiprocessing

        g = Grouperfish(k=2, language="english").fit(CATS + STOCKS)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            parts = pool.map(g.predict, [CATS, STOCKS])
        self.assertEqual([list(part) for part in parts], [list(g.predict(CATS)), list(g.predict(STOCKS))])


class BesideScikitLearn(unittest.TestCase):
    # Checks of scikit-learn's that cannot pass, with the reason.
    EXPECTED = {}

    def setUp(self):
        self.sklearn = support.skip_without("sklearn", self)

    def test_estimator_checks(self):
        from sklearn.utils import estimator_checks

        estimator = Grouperfish(k=3)
        version = tuple(int(part) for part in self.sklearn.__version__.split(".")[:2])
        if version >= (1, 6):
            found = estimator_checks.check_estimator(estimator, on_fail=None, on_skip=None)
            failed = {
                result["check_name"]: str(result["exception"])
                for result in found
                if result["status"] == "failed" and result["check_name"] not in self.EXPECTED
            }
            self.assertEqual(failed, {})
            self.assertGreater(sum(r["status"] == "passed" for r in found), 40)
            return
        ran = 0
        for instance, check in estimator_checks.check_estimator(estimator, generate_only=True):
            name = check.func.__name__
            with self.subTest(check=name):
                try:
                    check(instance)
                    ran += 1
                except unittest.SkipTest:
                    pass
        self.assertGreater(ran, 30)

    def test_in_a_pipeline_and_a_search(self):
        from sklearn.base import clone
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.model_selection import GridSearchCV, KFold
        from sklearn.pipeline import make_pipeline

        texts = CATS * 4 + STOCKS * 4
        pipeline = make_pipeline(TfidfVectorizer(), TruncatedSVD(3), Grouperfish(k=2))
        self.assertEqual(len(set(pipeline.fit_predict(texts))), 2)
        last = make_pipeline(Grouperfish(k=2, language="english"), TruncatedSVD(1))
        self.assertEqual(last.fit_transform(texts).shape, (24, 1))
        search = GridSearchCV(Grouperfish(language="english"), {"k": [1, 2]}, cv=KFold(2, shuffle=True, random_state=1))
        search.fit(texts)
        self.assertEqual(search.best_params_, {"k": 2})
        self.assertEqual(clone(Grouperfish(k=9)).k, 9)

    def test_a_search_by_several_processes(self):
        joblib = support.skip_without("joblib", self)
        from sklearn.model_selection import GridSearchCV, KFold

        texts = CATS * 4 + STOCKS * 4
        Grouperfish(k=2).fit(texts)  # the parent has had its threads
        for backend in ("loky", "multiprocessing"):
            with self.subTest(backend=backend), joblib.parallel_backend(backend):
                search = GridSearchCV(Grouperfish(language="english"), {"k": [1, 2]}, n_jobs=2,
                                      cv=KFold(2, shuffle=True, random_state=1))
                self.assertEqual(search.fit(texts).best_params_, {"k": 2})
                self.assertEqual(len(search.best_estimator_.predict(texts)), 24)


if __name__ == "__main__":
    support.main()
