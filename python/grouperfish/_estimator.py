"""The estimator: texts (or rows of numbers) in, labels out, by scikit-learn's conventions."""

from __future__ import annotations

import html
import inspect
import sys
from typing import Any, Optional, Sequence

from . import _data, _matrix
from ._calls import Answer
from ._errors import Invalid
from ._plots import Plots
from ._plots.charts import Subject
from ._store import Centers, Collection, Store
from ._table import Table

_NAME = "fit"


class NotFittedError(ValueError, AttributeError):
    """The estimator was not fitted yet. Where scikit-learn is loaded, its own exception is raised."""


class Grouperfish(Plots):
    """Cluster texts, and name the clusters.

    It keeps what it works with in memory, and leaves no file behind. Documents become TF-IDF rows,
    which spherical k-means groups; how many clusters there are it finds by itself.

    Parameters
    ----------
    k : int or "auto"
        Clusters; at most so many.
    max_k : int, optional
        With k="auto" at most so many.
    language : str, optional
        Of stop words and stems: a name, an ISO 639 code, or "none"; without, it is detected.
    ngrams : int, str or tuple, optional
        Words in a row that make a term: 1, "1-2" or (1, 2).
    min_df, max_df : int or float, optional
        Terms of fewer or more documents are dropped; a float is a share.
    stop_words : bool or sequence of str
        Leave out the words of the language's list; further words to leave out.
    stem : bool
        Count "connected" and "connection" as one term.
    effort : {"full", "quick", "thorough"}
        Time for quality.
    random_state : int, optional
        Start of the random numbers; the same one gives the same clusters.
    n_jobs : int, optional
        Threads; one per processor.
    settings : dict, optional
        Further settings by their keys (docs/configuration.md), such as ``{"mentions": "skip"}``.
    progress : bool or callable, optional
        None shows tqdm's bar on a terminal and in a notebook; a function gets (phase, done, total).

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of each text, from 0 on; -1 for a text without any term.
    scores_ : array of shape (n,)
        Similarity to the centre of its cluster, 0 to 1.
    cluster_names_ : list of str
        What each cluster is called.
    cluster_centers_ : sparse matrix of shape (k, terms)
        Unit rows; of scipy's where that is there, else ``Centers``. Of dense rows a dense array.
    n_clusters_ : int
    terms_ : list of str
        What the columns of cluster_centers_ are; of rows of numbers None.
    objective_ : float
        Mean similarity of a text to its centre.
    n_features_in_ : int
        Of rows of numbers: columns.

    Examples
    --------
    >>> texts = ["the cat sat", "a cat purrs", "cats purr", "stocks fell", "stocks rose", "a stock split"]
    >>> g = Grouperfish(k=2, language="english").fit(texts)
    >>> [g.cluster_names_[label] for label in g.predict(["my cat", "buy stocks"])]
    ['cat purrs', 'stocks']
    """

    _estimator_type = "clusterer"

    def __init__(
        self,
        k: Any = "auto",
        *,
        max_k: Optional[int] = None,
        language: Optional[str] = None,
        ngrams: Any = None,
        min_df: Any = None,
        max_df: Any = None,
        stop_words: Any = True,
        stem: bool = True,
        effort: str = "full",
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        settings: Optional[dict] = None,
        progress: Any = None,
    ) -> None:
        self.k = k
        self.max_k = max_k
        self.language = language
        self.ngrams = ngrams
        self.min_df = min_df
        self.max_df = max_df
        self.stop_words = stop_words
        self.stem = stem
        self.effort = effort
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.settings = settings
        self.progress = progress

    # ---- parameters ----------------------------------------------------------------------------

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(n for n in inspect.signature(cls.__init__).parameters if n != "self")

    def get_params(self, deep: bool = True) -> dict:
        """The parameters by their names."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> "Grouperfish":
        """Set parameters; ValueError where there is none of that name."""
        known = self._get_param_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}."
                )
            setattr(self, name, value)
        return self

    def _settings(self) -> dict:
        """The parameters as the engine's settings."""
        found: dict = {"k": _count("k", self.k)}
        if self.max_k is not None:
            found["max_k"] = _count("max_k", self.max_k)
        for key in ("language", "ngrams", "min_df", "max_df", "effort"):
            value = getattr(self, key)
            if value is not None:
                found[key] = f"{value[0]}-{value[1]}" if isinstance(value, tuple) else value
        found["stem"] = bool(self.stem)
        if isinstance(self.stop_words, str):
            raise Invalid("stop_words is True, False or a list of words; the list is of `language`")
        if isinstance(self.stop_words, bool) or self.stop_words is None:
            found["stop_words"] = bool(self.stop_words)
        else:
            found["more_stop_words"] = " ".join(self.stop_words)
        if self.random_state is not None:
            found["seed"] = _seed(self.random_state)
        found["store_index"] = "off"  # nobody searches
        found.update(self.settings or {})
        return found

    # ---- fitting -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> "Grouperfish":
        """Cluster texts, or rows of numbers.

        Parameters
        ----------
        X : texts (list, array, Series, Arrow column), or array or sparse matrix (rows, columns)
        y : ignored

        Returns
        -------
        Grouperfish
            This estimator.

        Raises
        ------
        Invalid
            A text is missing or is no string (its row is named), a parameter is not acceptable, a value is
            not finite. It is a ValueError.
        """
        X = _as_array(X)
        return self._fit_rows(X) if _is_rows(X) else self._fit_texts(X)

    def _begin(self) -> Collection:
        collection = Store(None)[_NAME]
        collection.run("collection create")
        collection.config(**self._settings())
        return collection

    def _forget(self) -> None:
        for name in [n for n in self.__dict__ if n.endswith("_") and not n.startswith("_")]:
            del self.__dict__[name]
        self.__dict__.pop("_fitted", None)

    def _fit_texts(self, X: Any) -> "Grouperfish":
        source, n = _data.source_of_texts(X)
        if n == 0:
            raise Invalid("there are no texts: Found array with 0 sample(s) while a minimum of 1 is required.")
        self._forget()
        collection = self._begin()
        counts = collection._put(source, progress=self.progress)
        self._rebuild(collection)
        self._read(collection, counts["rows"])
        return self

    def _fit_rows(self, X: Any) -> "Grouperfish":
        X = self._check_rows(X, reset=True)
        collection = self._begin()
        n = X.shape[0]
        source, _ = _data.source_of_texts([""] * n)
        collection._put(source)
        collection._rebuild_matrix(
            X, [f"{i:010d}" for i in range(n)], self.n_jobs, "fresh", self.progress, {}
        )
        self._read(collection, n)
        return self

    def _rebuild(self, collection: Collection) -> None:
        collection.rebuild(threads=_threads(self.n_jobs), progress=self.progress)

    def _read(self, collection: Collection, rows: int) -> None:
        members = collection.members()
        build = collection.build()
        centers = collection.centers()
        self._fitted = collection
        self._ids = centers.ids
        self._collect(members, rows)
        self.cluster_names_ = centers.names
        self.n_clusters_ = len(centers.ids)
        self.terms_ = centers.terms
        self.objective_ = build["objective"]
        self.cluster_centers_ = _matrix_of(centers, dense=build.get("matrix") == "dense")

    def _collect(self, members: Table, rows: int) -> None:
        """Labels and scores in the order of the texts: ids are their numbers, and so are in order."""
        places = {id: i for i, id in enumerate(self._ids)}
        clusters, scores = members._columns["cluster"], members._columns["score"]
        numpy = _numpy()
        if numpy is not None and isinstance(clusters, memoryview) and len(members) == rows:
            table = numpy.full(max(self._ids, default=0) + 1, -1, dtype="int32")
            table[self._ids] = numpy.arange(len(self._ids), dtype="int32")
            self.labels_ = table[numpy.asarray(clusters)]
            self.scores_ = numpy.array(scores)
            return
        labels, listed = [-1] * rows, [0.0] * rows
        for id, cluster, score in zip(members["id"], clusters, scores):
            labels[int(id)] = places.get(cluster, -1)
            listed[int(id)] = score
        self.labels_ = labels if numpy is None else numpy.array(labels, dtype="int32")
        self.scores_ = listed if numpy is None else numpy.array(listed, dtype="float32")

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """``fit`` and its labels_."""
        return self.fit(X).labels_

    # ---- asking --------------------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """The cluster of each text or row, from 0 on; -1 where it has no term of the build.

        Returns
        -------
        array of int, of shape (n,)
        """
        self._check_fitted()
        X = _as_array(X)
        if self._takes_rows():
            X = self._check_rows(X, reset=False)
        elif _is_rows(X):
            raise Invalid("this estimator was fitted with texts: rows of numbers have no place in it")
        places = self._fitted.assign(X, threads=_threads(self.n_jobs) or 0)["cluster"]
        order = {id: i for i, id in enumerate(self._ids)}
        labels = [order.get(place, -1) for place in places]
        numpy = _numpy()
        return labels if numpy is None else numpy.array(labels, dtype="int32")

    def transform(self, X: Any) -> Any:
        """The similarity (cosine) of each text or row to each centre.

        Returns
        -------
        array of float, of shape (n, n_clusters_)
            Of texts 0 to 1, of rows of numbers -1 to 1. A list of lists where numpy is not there.
        """
        self._check_fitted()
        X = _as_array(X)
        if self._takes_rows():
            return self._transform_rows(self._check_rows(X, reset=False))
        if _is_rows(X):
            raise Invalid("this estimator was fitted with texts: rows of numbers have no place in it")
        values, k = self._fitted.similarities(X, threads=_threads(self.n_jobs) or 0)
        numpy = _numpy()
        if numpy is not None:
            return numpy.array(values).reshape(-1, self.n_clusters_)
        return [values[i : i + k].tolist() for i in range(0, len(values), k)] if k else []

    def _transform_rows(self, X: Any) -> Any:
        import numpy

        if _matrix.is_sparse(X):
            lengths = numpy.sqrt(numpy.asarray(X.multiply(X).sum(axis=1))).reshape(-1, 1)
        else:
            lengths = numpy.linalg.norm(X, axis=1).reshape(-1, 1)
        lengths[lengths == 0] = 1
        products = X @ self.cluster_centers_.T
        if hasattr(products, "toarray"):
            products = products.toarray()
        return numpy.asarray(products) / lengths

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """``fit`` and ``transform`` of the same."""
        return self.fit(X).transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean similarity of texts or rows to their own centres: more is better."""
        self._check_fitted()
        rows = self.transform(X)
        best = [max(row) if len(row) else 0.0 for row in rows]
        return float(sum(best) / len(best)) if best else 0.0

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that ``transform`` gives: ``grouperfish0`` and so on."""
        self._check_fitted()
        names = [f"grouperfish{i}" for i in range(self.n_clusters_)]
        numpy = _numpy()
        return names if numpy is None else numpy.array(names, dtype=object)

    def clusters(self) -> Table:
        """A table of the clusters, largest first.

        Returns
        -------
        Table
            label (the number that labels_ has), name, size, share, terms, documents (of texts: the
            best few, as numbers of rows).
        """
        self._check_fitted()
        order = {id: i for i, id in enumerate(self._ids)}
        total = len(self.labels_)
        rows = []
        for row in self._fitted.clusters():
            best = self._fitted.cluster(row["cluster"], docs=3)
            rows.append(
                {
                    "label": order[row["cluster"]],
                    "name": row["label"],
                    "size": row["size"],
                    "share": row["size"] / total if total else 0.0,
                    "terms": [term["term"] for term in row.get("terms", [])],
                    "documents": [int(d["id"]) for d in best.get("documents", [])],
                    "texts": [d.get("text", "") for d in best.get("documents", [])],
                }
            )
        return Table.from_rows(rows, "clusters")

    def explain_k(self) -> Answer:
        """The numbers of clusters that k="auto" tries on these texts, and why it takes one."""
        self._check_fitted()
        return self._fitted._by_config("rebuild", explain_k=True)

    def _charted(self) -> Subject:
        self._check_fitted()
        numbers = {id: i for i, id in enumerate(self._ids)}
        return Subject(self._fitted, numbers=numbers, labels=self.labels_)

    # ---- checking ------------------------------------------------------------------------------

    def _takes_rows(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    def _check_fitted(self) -> None:
        if "_fitted" in self.__dict__:
            return
        words = (
            "This Grouperfish instance is not fitted yet. Call 'fit' with appropriate arguments before "
            "using this estimator."
        )
        if "sklearn" in sys.modules:
            from sklearn.exceptions import NotFittedError as theirs

            raise theirs(words)
        raise NotFittedError(words)

    def _check_rows(self, X: Any, reset: bool) -> Any:
        """Rows as float32, checked as scikit-learn does where it is there."""
        X_names = _names_of(X)
        if hasattr(X, "shape") and not _matrix.is_sparse(X) and getattr(X, "ndim", 2) != 2:
            raise Invalid("Expected 2D array, got an array of other dimensions. Reshape your data.")
        if "sklearn" in sys.modules:
            from sklearn.utils import check_array

            X = check_array(X, accept_sparse="csr", dtype=["float32", "float64"])
        elif not _matrix.is_sparse(X):
            import numpy

            X = numpy.asarray(X, dtype="float32")
        n, width = X.shape
        if reset:
            self._forget()
            self.n_features_in_ = width
            if X_names is not None:
                self.feature_names_in_ = X_names
        elif width != self.n_features_in_:
            raise Invalid(
                f"X has {width} features, but Grouperfish is expecting {self.n_features_in_} features "
                "as input"
            )
        return X

    # ---- beside scikit-learn -------------------------------------------------------------------

    def _more_tags(self) -> dict:
        return {"X_types": ["2darray", "sparse", "string"]}

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(two_d_array=True, sparse=True, string=True),
        )

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        initial = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not initial[name].default and value != initial[name].default
        ]
        return f"Grouperfish({', '.join(changed)})"[:N_CHAR_MAX]

    def _repr_html_(self) -> str:
        head = f"<b>{html.escape(repr(self))}</b>"
        return head + self.clusters()._repr_html_() if "_fitted" in self.__dict__ else head

    def __getstate__(self) -> dict:
        state = dict(self.__dict__)
        if "_fitted" in state:
            state["_fitted"] = state["_fitted"].store._archive()
        return state

    def __setstate__(self, state: dict) -> None:
        state = dict(state)
        if "_fitted" in state:
            state["_fitted"] = Store(None, archive=state["_fitted"])[_NAME]
        self.__dict__.update(state)


# ---- help ----------------------------------------------------------------------------------------


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _count(name: str, value: Any) -> Any:
    if value == "auto" and isinstance(value, str):
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
        raise Invalid(f'{name} is "auto" or a whole number from 1 on, not {value!r}')
    return value.__index__()


def _seed(random_state: Any) -> int:
    if hasattr(random_state, "__index__"):
        return random_state.__index__() % 2**64
    if hasattr(random_state, "randint"):  # a numpy.random.RandomState
        return int(random_state.randint(2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31 - 1))
    raise Invalid(f"random_state is a whole number or a generator, not {random_state!r}")


def _threads(n_jobs: Optional[int]) -> Optional[int]:
    """By scikit-learn's rule, but that None is one for each processor."""
    return None if n_jobs is None or n_jobs < 1 else n_jobs


def _as_array(X: Any) -> Any:
    """What only says that it can become an array, as one."""
    if hasattr(X, "__array__") and not hasattr(X, "shape") and not hasattr(X, "__arrow_c_stream__"):
        import numpy

        return numpy.asarray(X)
    return X


def _is_rows(X: Any) -> bool:
    """Whether X is rows of numbers rather than texts."""
    if _matrix.is_sparse(X):
        return True
    dtype = getattr(X, "dtype", None)
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) >= 2:
        return True
    kind = getattr(dtype, "kind", "")
    if shape is not None and kind in ("f", "i", "u", "b", "c"):
        return True
    first = X[0] if isinstance(X, (list, tuple)) and X else None
    return isinstance(first, (list, tuple)) or (
        hasattr(first, "__len__") and not isinstance(first, (str, bytes, dict))
    )


def _names_of(X: Any) -> Any:
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    numpy = _numpy()
    names: Sequence = list(columns)
    return names if numpy is None else numpy.array(names, dtype=object)


def _matrix_of(centers: Centers, dense: bool) -> Any:
    if _numpy() is None:
        return centers
    if dense:
        return centers.to_numpy()
    try:
        return centers.to_scipy()
    except ImportError:
        return centers


__all__ = ["Grouperfish", "NotFittedError"]
