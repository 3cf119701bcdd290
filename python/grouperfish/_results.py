"""Single results: a document, a cluster and a build, dictionaries that a notebook shows as small pages.

All text in them is somebody's: it is escaped, and cut.
"""

from __future__ import annotations

import datetime
import html
from typing import Any

from ._errors import Invalid
from ._plots import Plots
from ._plots.charts import Subject
from ._table import Table

SHOWN_CHARACTERS = 1200


class Document(dict):
    """A document as ``Collection.doc`` gives it."""

    def _repr_html_(self) -> str:
        facts = {name: self[name] for name in ("id", "lang") if self.get(name) is not None}
        if self.get("time") is not None:
            facts["time"] = _time(self["time"])
        facts.update(self.get("fields") or {})
        memberships = self.get("memberships", [])
        page = _facts(facts) + f"<p>{_text(self.get('text', ''))}</p>"
        page += _table(memberships, "places", ("configuration", "cluster", "label", "score", "runner_up_label", "margin"))
        for place in memberships:
            terms = (place.get("why") or {}).get("terms", [])
            page += _table(terms, f"terms that put it into {place.get('label')}", ("term", "part")) if terms else ""
        return page


class Cluster(dict):
    """A cluster as ``Collection.cluster`` gives it."""

    def _repr_html_(self) -> str:
        share = f", {100 * self['share']:.1f} %" if self.get("share") is not None else ""
        page = f"<b>{_line(self.get('label', ''))}</b>"
        page += f" (cluster {_line(self.get('cluster', ''))}), {self.get('size', 0):,} documents{share}"
        terms = ", ".join(term["term"] for term in self.get("terms", []))
        page += f"<p>{_text(terms)}</p>" if terms else ""
        page += f"<p><i>{_text(self['sentence'])}</i></p>" if self.get("sentence") else ""
        documents = self.get("documents", [])
        columns = ("id", "score", "text", "runner_up_label")
        return page + (_table(documents, "that fit it best", columns) if documents else "")


class Build(dict, Plots):
    """A build as ``Collection.build`` gives it; its charts are of this build, also when another is served."""

    def __init__(self, row: dict, collection: Any = None) -> None:
        super().__init__(row)
        self._collection = collection

    def _charted(self) -> Subject:
        if self._collection is None:
            raise Invalid(f"this build was pickled: ask its collection, c.build({self['build']})")
        return Subject(self._collection, self["build"])

    def __reduce__(self) -> Any:
        return Build, (dict(self),)

    def _repr_html_(self) -> str:
        facts = dict(self)
        if isinstance(facts.get("settings"), dict):
            pairs = [f"{key}={value}" for key, value in facts["settings"].items()]
            facts["settings"] = ", ".join(pairs) or "those of the configuration"
        return _facts(facts)


# ---- help ------------------------------------------------------------------------------------------


def _line(value: Any) -> str:
    return html.escape(" ".join(str(value).split()))


def _text(value: Any) -> str:
    """Several lines of text, not without end."""
    text = str(value)
    if len(text) > SHOWN_CHARACTERS:
        text = text[:SHOWN_CHARACTERS].rstrip() + "…"
    return html.escape(text).replace("\n", "<br>")


def _time(value: Any) -> str:
    """Seconds of Unix time as ISO 8601, where a calendar has them."""
    try:
        return datetime.datetime.fromtimestamp(value, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (TypeError, ValueError, OverflowError, OSError):
        return str(value)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(_shown(one) for one in value)
    return str(value)


def _facts(facts: dict) -> str:
    left = ' style="text-align:left"'
    rows = "".join(
        f"<tr><th{left}>{_line(name)}</th><td{left}>{_text(_shown(value))}</td></tr>" for name, value in facts.items()
    )
    return f"<table>{rows}</table>" if rows else ""


def _table(rows: list, name: str, columns: tuple) -> str:
    kept = [{column: row[column] for column in columns if column in row} for row in rows]
    return Table.from_rows(kept, name, columns)._repr_html_()


__all__ = ["Build", "Cluster", "Document"]
