"""What a chart shows: numbers, names and places, of whatever library draws it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import Any, Optional, Sequence

from .._errors import Invalid, NotFound
from . import periods as _periods

LONGEST_NAME = 40  # in the width of Latin letters, of which Chinese ones have two
GROUPS = 8  # of the hierarchy that have a colour of their own


@dataclass
class Subject:
    """Clusters that are shown: of a collection, of one of its builds, or of an estimator."""

    collection: Any
    build: Optional[int] = None
    numbers: Optional[dict] = None  # of an estimator: the label of each cluster's id
    labels: Any = None  # likewise: of each text

    def rows(self, **arguments: Any) -> list:
        rows = self.collection._by_config("clusters", build=self.build, **arguments)
        if not rows:
            raise NotFound("there are no clusters: the build has no documents")
        return rows

    def number(self, cluster: int) -> int:
        return cluster if self.numbers is None else self.numbers[cluster]

    def centers(self) -> Any:
        return self.collection.centers(self.build or 0)

    def chosen(self, rows: list, wanted: Sequence) -> list:
        """The rows that numbers or names mean, in their order."""
        if isinstance(wanted, (str, int)):
            wanted = [wanted]
        by_name = {row["label"]: row for row in rows}
        by_number = {self.number(row["cluster"]): row for row in rows}
        found = []
        for one in wanted:
            row = by_name.get(one) if isinstance(one, str) else by_number.get(one)
            if row is None:
                raise NotFound(f"there is no cluster {one!r}")
            found.append(row)
        return found


# ---- text ------------------------------------------------------------------------------------------


def width_of(text: str) -> int:
    """In Latin letters."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, most: int = LONGEST_NAME) -> str:
    """On one line, and with an ellipsis where it would be wider than most letters."""
    text = " ".join(text.split())
    if width_of(text) <= most:
        return text
    while width_of(text) > most - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def lines_of(text: str, most: int = 16) -> list:
    """On two lines at most, cut between words where there are some."""
    text = " ".join(text.split())
    if width_of(text) <= most:
        return [text]
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if width_of(longer) > most:
            break
        line = longer
    if not line:
        while width_of(line) < most - 1:
            line += text[len(line)]
    return [line, cut(text[len(line) :], most)]


def plural(n: int, word: str) -> str:
    return f"{n:,} {word}" if n != 1 else f"one {word[:-1]}"


# ---- sizes and terms -------------------------------------------------------------------------------


@dataclass
class Bars:
    """A bar for each cluster, the largest first."""

    title: str
    names: list
    full_names: list
    values: list
    hovers: list
    note: str = ""


def read_sizes(subject: Subject, top: int) -> Bars:
    rows = subject.rows()
    shown, others = rows[:top], rows[top:]
    total = sum(row["size"] for row in rows)
    title = plural(len(rows), "clusters") if not others else f"{len(shown)} of {len(rows):,} clusters"
    note = ""
    if others:
        rest = sum(row["size"] for row in others)
        share = 100 * rest / total if total else 0
        note = f"{plural(len(others), 'more clusters')} of {plural(rest, 'documents')}, {share:.0f} %"
    return Bars(
        f"{title[0].upper()}{title[1:]}, {plural(total, 'documents')}",
        [cut(row["label"]) for row in shown],
        [row["label"] for row in shown],
        [row["size"] for row in shown],
        [_hover(subject, row) for row in shown],
        note,
    )


def _hover(subject: Subject, row: dict) -> list:
    """Lines about a cluster: name, number and size, terms."""
    terms = ", ".join(term["term"] for term in row.get("terms", [])[:8])
    word = "cluster" if subject.numbers is None else "label"
    lines = [row["label"], f"{word} {subject.number(row['cluster'])}, {plural(row['size'], 'documents')}"]
    return lines + ([cut(terms, 80)] if terms else [])


def read_terms(subject: Subject, top: int, n_terms: int, clusters: Optional[Sequence]) -> list:
    """A Bars for each cluster."""
    rows = subject.rows()
    rows = rows[:top] if clusters is None else subject.chosen(rows, clusters)
    if not any(row.get("terms") for row in rows):
        raise Invalid("these clusters have no terms: they are of rows of numbers")
    found = []
    for row in rows:
        terms = row.get("terms", [])[:n_terms]
        names = [term["term"] for term in terms]
        weights = [term["weight"] for term in terms]
        found.append(Bars(cut(row["label"], 28), [cut(name, 18) for name in names], names, weights, []))
    return found


# ---- trends ----------------------------------------------------------------------------------------


@dataclass
class Line:
    name: str
    full_name: str
    values: list
    trend: str


@dataclass
class Trends:
    title: str
    periods: list
    lines: list  # those with a colour, the highest at the end first
    others: list
    y_title: str
    note: str


def read_periods(subject: Subject, by: str, periods: Optional[int], times: Any) -> list:
    """Rows as ``clusters by`` has them."""
    if subject.labels is None:
        if times is not None:
            raise Invalid("times are of an estimator's texts; documents of a collection have theirs: put(time=...)")
        rows = subject.rows(by=by, periods=periods, hidden=True)  # a share is of all documents
        if not any(row.get("periods") for row in rows):
            raise Invalid("no document has a time: put(..., time=COLUMN) brings them")
        shown = {row["cluster"] for row in subject.rows()}
        return [{**row, "hidden": row["cluster"] not in shown} for row in rows]
    if times is None:
        raise Invalid("an estimator keeps no times: plot_trends(times=...), one for each text that was fitted")
    plain = subject.rows()
    names = {subject.number(row["cluster"]): row for row in plain}
    counted = _periods.count(subject.labels, times, by, periods)
    return [{**row, **counted[number]} for number, row in names.items() if number in counted]


def trends_of(subject: Subject, rows: list, top: int, clusters: Optional[Sequence], share: bool) -> Trends:
    names = [period["period"] for period in rows[0]["periods"]]
    values = {id(row): [period["documents"] for period in row["periods"]] for row in rows}
    totals = [sum(column) for column in zip(*values.values())]
    rows = [row for row in rows if not row.get("hidden")]
    if not rows:
        raise NotFound("there are no clusters: all are hidden")
    if share:
        for row in rows:
            values[id(row)] = [100 * v / t if t else 0.0 for v, t in zip(values[id(row)], totals)]
    if clusters is not None:
        bold = subject.chosen(rows, clusters)
    else:
        bold = sorted(rows, key=lambda row: -abs(row["z"]))[:top]
    kept = {id(row) for row in bold}
    lines = [Line(cut(row["label"], 28), row["label"], values[id(row)], row["trend"]) for row in bold]
    lines.sort(key=lambda line: -line.values[-1])
    rest = [
        Line(cut(row["label"], 28), row["label"], values[id(row)], row["trend"])
        for row in rows
        if id(row) not in kept
    ]
    unit = rows[0]["unit"]
    undated = sum(row.get("undated", 0) for row in rows)
    before = sum(row.get("before", 0) for row in rows)
    notes = [f"{plural(before, 'documents')} of before {names[0]}"] if before else []
    notes += [f"{plural(undated, 'documents')} without a time"] if undated else []
    which = "" if clusters is not None or not rest else f": the {len(lines)} whose share changed most"
    return Trends(
        f"Documents of clusters by {unit}{which}",
        names,
        lines,
        rest,
        f"% of the {unit}'s documents" if share else f"documents per {unit}",
        "; ".join(["Not shown: " + notes[0]] + notes[1:]) if notes else "",
    )


# ---- map -------------------------------------------------------------------------------------------


@dataclass
class Circle:
    x: float
    y: float
    radius: float
    lines: list  # of its name
    hover: list
    group: int  # a colour, or -1


@dataclass
class Map:
    title: str
    width: float  # inches, as are places and radii
    height: float
    circles: list
    groups: list = field(default_factory=list)  # names, by colour


def read_map(subject: Subject, top: int) -> Map:
    try:
        from . import positions
    except ImportError as missing:
        raise ImportError("a map needs numpy: pip install numpy") from missing
    rows = subject.rows()
    shown = rows[:top]
    centers = subject.centers()
    place = {id: i for i, id in enumerate(centers.ids)}
    near = positions.cosines(centers, [place[row["cluster"]] for row in shown])
    names = [lines_of(row["label"]) for row in shown]
    layout = positions.lay_out(near, [row["size"] for row in shown], names, width_of)
    of_group, groups = _groups(subject)
    used = sorted({of_group[row["cluster"]] for row in shown if row["cluster"] in of_group})
    circles = [
        Circle(
            layout.x[i],
            layout.y[i],
            layout.radius[i],
            names[i],
            _hover(subject, row),
            used.index(of_group[row["cluster"]]) if row["cluster"] in of_group else -1,
        )
        for i, row in enumerate(shown)
    ]
    title = "Map of " + (
        plural(len(rows), "clusters") if len(shown) == len(rows) else f"{len(shown)} of {len(rows):,} clusters"
    )
    return Map(title, layout.width, layout.height, circles, [groups[g] for g in used])


def _groups(subject: Subject) -> tuple:
    """({cluster: its colour}, names of the colours): the groups of the hierarchy that are coloured."""
    try:
        rows = {row["node"]: row for row in subject.rows(tree=True)}
    except NotFound:  # this build has no hierarchy
        return {}, []
    chosen = _chosen_groups(rows)
    color = {row["node"]: i for i, row in enumerate(chosen)}
    found: dict = {}
    for row in rows.values():
        at = row
        while at["node"] not in color and "parent" in at:
            at = rows[at["parent"]]
        if "cluster" in row and at["node"] in color:
            found[row["cluster"]] = color[at["node"]]
    return found, [cut(row["label"], 28) for row in chosen]


def _chosen_groups(rows: dict) -> list:
    """Those below the root; of one with more than a fifth of the clusters the groups in it instead."""

    def inner(row: dict) -> list:
        below = [rows[child] for child in row["children"]]
        return [one for one in below if one["clusters"] > 1 and one.get("label")]

    root = next(row for row in rows.values() if row["depth"] == 0)
    groups = inner(root)
    while True:
        large = [one for one in groups if one["clusters"] * 5 > root["clusters"] and len(inner(one)) > 1]
        if not large or len(groups) >= GROUPS:
            break
        widest = max(large, key=lambda row: row["clusters"])
        groups = [one for one in groups if one is not widest] + inner(widest)
    return sorted(groups, key=lambda row: -row["size"])[:GROUPS]


# ---- tree ------------------------------------------------------------------------------------------


@dataclass
class Node:
    x: float  # height: 1 - the similarity of what is joined there
    y: float  # row
    name: str
    hover: list
    children: list
    is_leaf: bool


@dataclass
class Tree:
    title: str
    nodes: list
    n_leaves: int


def read_tree(subject: Subject) -> Tree:
    """Clusters in rows, the first at the top, each inner node between its first and its last."""
    rows = subject.rows(tree=True)
    at = {row["node"]: i for i, row in enumerate(rows)}
    place: list = [0.0] * len(rows)
    leaf = 0
    for i, row in enumerate(rows):  # depth first: clusters come in the order of the rows
        if not row["children"]:
            place[i] = float(leaf)
            leaf += 1
    for i in range(len(rows) - 1, -1, -1):
        below = [place[at[child]] for child in rows[i]["children"]]
        if below:
            place[i] = (min(below) + max(below)) / 2
    nodes = []
    for i, row in enumerate(rows):
        name = row.get("label") or ""
        hover = [name or "all", f"{plural(row['size'], 'documents')}, {plural(row['clusters'], 'clusters')}"]
        children = [at[child] for child in row["children"]]
        nodes.append(Node(row["height"] if children else 0.0, place[i], cut(name), hover, children, not children))
    return Tree(f"Hierarchy of {plural(leaf, 'clusters')}", nodes, leaf)


# ---- k ---------------------------------------------------------------------------------------------


@dataclass
class Curve:
    title: str
    k: list
    separation: list
    worth: list
    plateau: list  # whether about as good as the best
    chosen: int  # place in k
    floor: Optional[float]  # what more clusters than one must exceed
    why: str


def read_k(subject: Subject) -> Curve:
    rows = list(subject.collection._by_config("rebuild", explain_k=True))
    tried = [row for row in rows if row["k"] > 1]
    if not tried:
        raise Invalid("there is nothing to choose a number of clusters by: too few documents, or none with words")
    floor = next((row["separation"] for row in rows if row["k"] == 1), None)
    chosen = next((row for row in rows if row["chosen"]), None)
    k = [row["k"] for row in tried]
    picked = chosen["k"] if chosen else 0
    return Curve(
        f"How many clusters: k=auto chooses {picked}" if chosen else "How many clusters",
        k,
        [row["separation"] for row in tried],
        [row["worth"] for row in tried],
        [bool(row["plateau"]) for row in tried],
        k.index(picked) if picked in k else -1,
        floor,
        (chosen or {}).get("why", ""),
    )
