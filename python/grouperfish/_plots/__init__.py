"""Charts of clusters, by matplotlib or plotly: the methods that collections, builds and estimators share.

``charts`` reads what a chart shows, without a word of how it is drawn; ``by_matplotlib`` and
``by_plotly`` draw it. Neither library is needed before a chart is asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any, Optional, Sequence

from .._errors import Invalid
from . import charts

BACKENDS = ("matplotlib", "plotly")


class Plots:
    """The charts. A figure comes back, and is not shown by itself: a notebook shows what a cell ends with.

    All take ``backend``: ``"matplotlib"`` or ``"plotly"``; without, what is imported already, else what
    is installed. With matplotlib ``ax`` draws into axes of yours.
    """

    def _charted(self) -> charts.Subject:
        raise NotImplementedError

    def plot_sizes(self, top: int = 30, *, backend: Optional[str] = None, ax: Any = None) -> Any:
        """Bars of the clusters, by their names, in the order of ``clusters()``: by size, leftovers last.

        Parameters
        ----------
        top : int
            So many; what the others hold is told below.
        backend, ax : optional
            As of all charts.

        Returns
        -------
        matplotlib.figure.Figure or plotly.graph_objects.Figure

        Raises
        ------
        ImportError
            Neither library is installed, or not the one that is asked for.
        NotFound
            Nothing is clustered yet.
        """
        drawer = _drawer(backend, ax)
        return drawer.draw_sizes(charts.read_sizes(self._charted(), _count("top", top)), ax)

    def plot_terms(
        self,
        top: int = 8,
        *,
        terms: int = 8,
        clusters: Optional[Sequence] = None,
        backend: Optional[str] = None,
    ) -> Any:
        """The heaviest terms of the largest clusters, or of those that are given: bars, a field for each.

        Parameters
        ----------
        top, terms : int
            Clusters; terms of each, 10 at most.
        clusters : sequence of int or str, optional
            These instead, by their numbers or names.
        backend : optional
            As of all charts.
        """
        drawer = _drawer(backend, None)
        subject = self._charted()
        chart = charts.read_terms(subject, _count("top", top), _count("terms", terms), clusters)
        return drawer.draw_terms(chart)

    def plot_trends(
        self,
        by: str = "auto",
        *,
        periods: Optional[int] = None,
        top: int = 8,
        clusters: Optional[Sequence] = None,
        share: bool = False,
        times: Any = None,
        backend: Optional[str] = None,
        ax: Any = None,
    ) -> Any:
        """Documents of the clusters over time: a line for each.

        Parameters
        ----------
        by : {"auto", "hour", "day", "week", "month", "quarter", "year"}
            auto is what suits the time that the documents span.
        periods : int, optional
            The latest so many.
        top : int
            So many clusters have a colour and a name: those whose share changed most. The others are
            grey.
        clusters : sequence of int or str, optional
            These have one instead, by their numbers or names.
        share : bool
            The share of a period's documents, in place of their number.
        times : sequence, optional
            Of an estimator: the time of each text that was fitted (timestamps, ISO 8601, Unix time). The
            documents of a collection have theirs.
        backend, ax : optional
            As of all charts.

        Raises
        ------
        Invalid
            No document has a time; the times are not as many as the texts.
        """
        drawer = _drawer(backend, ax)
        subject = self._charted()
        periods = None if periods is None else _count("periods", periods)
        rows = charts.read_periods(subject, by, periods, times)
        return drawer.draw_trends(charts.trends_of(subject, rows, _count("top", top), clusters, share), ax)

    def plot_map(self, top: int = 100, *, backend: Optional[str] = None, ax: Any = None) -> Any:
        """A map of the largest clusters: those that are alike lie near, circles are as large as clusters.

        Positions come from the cosines of the centres (t-SNE from a start without chance, so that the same
        build has the same map); circles are moved apart until each name can be read. Distances between
        far ones mean little. Colours are of the groups that the hierarchy names.

        Parameters
        ----------
        top : int
            So many clusters.
        backend, ax : optional
            As of all charts.
        """
        drawer = _drawer(backend, ax)
        return drawer.draw_map(charts.read_map(self._charted(), _count("top", top)), ax)

    def plot_tree(self, *, backend: Optional[str] = None, ax: Any = None) -> Any:
        """The hierarchy over the clusters, with the names of its groups."""
        drawer = _drawer(backend, ax)
        return drawer.draw_tree(charts.read_tree(self._charted()), ax)

    def plot_k(self, *, backend: Optional[str] = None, ax: Any = None) -> Any:
        """How well so many clusters would be separated, and which number ``k="auto"`` chooses.

        The numbers are tried on the documents as they are now, which takes about as long as clustering
        them.

        Raises
        ------
        Invalid
            There is nothing to choose by: rows of numbers have no words.
        """
        drawer = _drawer(backend, ax)
        return drawer.draw_k(charts.read_k(self._charted()), ax)


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
        raise Invalid(f"{name} is a whole number from 1 on, not {value!r}")
    return value.__index__()


def _drawer(backend: Optional[str], ax: Any) -> Any:
    """The module that draws."""
    if backend is None:
        backend = "matplotlib" if ax is not None else _usual_backend()
    if backend not in BACKENDS:
        raise Invalid(f'backend is "matplotlib" or "plotly", not {backend!r}')
    if ax is not None and backend != "matplotlib":
        raise Invalid("ax is matplotlib's: plotly has none")
    try:
        importlib.import_module(backend)
    except ImportError as missing:
        raise ImportError(
            f"this chart needs {backend}, which is not installed: pip install {backend}"
        ) from missing
    return importlib.import_module(f".by_{backend}", __name__)


def _usual_backend() -> str:
    for name in BACKENDS:
        if sys.modules.get(name) is not None:
            return name
    for name in BACKENDS:
        if name not in sys.modules and importlib.util.find_spec(name) is not None:
            return name
    raise ImportError(
        "charts need matplotlib or plotly, and neither is installed: pip install matplotlib"
    )


__all__ = ["Plots"]
