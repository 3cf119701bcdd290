"""Results as tables: columns, which other libraries take over as they are."""

from __future__ import annotations

import html
from typing import Any, Iterator

from . import _arrow

SHOWN_ROWS, SHOWN_CHARACTERS = 20, 80


def _code_of(values: Any) -> str:
    return values.format if isinstance(values, memoryview) else ""


class Table:
    """Rows and columns of a result.

    A column is a list, or a numpy-compatible buffer of numbers, which other libraries take without a
    copy. Iterating gives a dictionary for each row.

    Parameters
    ----------
    columns : dict
        By name; all of one length.
    name : str
        What the rows are, for the heading in a notebook.

    Examples
    --------
    >>> t = Table({"cluster": [1, 2], "name": ["bees", "lock"]})
    >>> len(t), t.columns, t["name"]
    (2, ['cluster', 'name'], ['bees', 'lock'])
    >>> [row["name"] for row in t if row["cluster"] == 2]
    ['lock']
    """

    def __init__(self, columns: dict, name: str = "") -> None:
        self._columns = dict(columns)
        self._name = name
        lengths = {len(values) for values in self._columns.values()}
        if len(lengths) > 1:
            raise ValueError("columns of several lengths")
        self._rows = lengths.pop() if lengths else 0

    @classmethod
    def from_rows(cls, rows: list, name: str = "", first: tuple = ()) -> "Table":
        """A table of dictionaries; a member that a row lacks is None there."""
        names = {key: None for key in first if any(key in row for row in rows)}
        for row in rows:
            for key in row:
                names.setdefault(key)
        return cls({key: [row.get(key) for row in rows] for key in names}, name)

    # ---- looking -------------------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._rows, len(self._columns)

    def __len__(self) -> int:
        return self._rows

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __getitem__(self, key: Any) -> Any:
        """A column by its name as a list; a row by its number as a dictionary; rows by a slice."""
        if isinstance(key, str):
            values = self._columns[key]
            return values if isinstance(values, list) else values.tolist()
        if isinstance(key, slice):
            return Table({n: list(self[n][key]) for n in self._columns}, self._name)
        if not -self._rows <= key < self._rows:
            raise IndexError(f"row {key} of {self._rows}")
        return {name: values[key] for name, values in self._columns.items()}

    def __iter__(self) -> Iterator[dict]:
        columns = [self[name] for name in self._columns]
        for values in zip(*columns):
            yield dict(zip(self._columns, values))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.columns == other.columns and all(self[n] == other[n] for n in self._columns)

    __hash__ = None  # type: ignore[assignment]

    # ---- handing over --------------------------------------------------------------------------

    def to_dict(self) -> dict[str, list]:
        """A list for each column."""
        return {name: self[name] for name in self._columns}

    def to_numpy(self, name: str) -> Any:
        """A column as a numpy array; of numbers without a copy."""
        import numpy

        values = self._columns[name]
        if isinstance(values, memoryview):
            return numpy.asarray(values)
        return numpy.array(values, dtype=object if _is_mixed(values) else None)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        import pandas

        data = {}
        for name, values in self._columns.items():
            if isinstance(values, memoryview):
                data[name] = self.to_numpy(name)
            elif _is_of(values, int) and None in values:
                data[name] = pandas.array(values, dtype="Int64")
            else:
                data[name] = values
        return pandas.DataFrame(data)

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        import polars

        return polars.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for any library that takes Arrow's PyCapsules."""
        batch = [(name, _as_column(values)) for name, values in self._columns.items()]
        like = [(name, column) for name, column in batch]
        stream = _arrow.make_stream(_arrow.Maker(like, iter([batch])))
        return _arrow.capsule_of(stream)

    # ---- showing -------------------------------------------------------------------------------

    def __repr__(self) -> str:
        shown = [{n: _short(v, 30) for n, v in self[i].items()} for i in self._shown()]
        widths = {n: max([len(n), *(len(row[n]) for row in shown)]) for n in self._columns}
        lines = ["  ".join(n.ljust(w) for n, w in widths.items()).rstrip()]
        lines += ["  ".join(row[n].ljust(w) for n, w in widths.items()).rstrip() for row in shown]
        if self._rows > len(shown):
            lines.append(f"... {self._rows:,} rows")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self._columns)
        body = []
        for i in self._shown():
            cells = "".join(
                f"<td{_align(value)}>{html.escape(_short(value, SHOWN_CHARACTERS))}</td>"
                for value in self[i].values()
            )
            body.append(f"<tr>{cells}</tr>")
        more = f"{self._rows:,} rows" + (f", {self._name}" if self._name else "")
        return (
            f"<table><caption>{html.escape(more)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        )

    def _shown(self) -> range:
        return range(min(self._rows, SHOWN_ROWS))


def _is_mixed(values: list) -> bool:
    return len({type(v) for v in values}) > 1 or any(isinstance(v, (list, dict)) for v in values)


def _is_of(values: list, kind: type) -> bool:
    return {type(v) for v in values if v is not None} == {kind}


def _short(value: Any, most: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:.3g}"
    if isinstance(value, list):
        value = ", ".join(_short(one, most) for one in value[:20])
    elif isinstance(value, dict):
        value = next((value[n] for n in ("label", "term", "text", "id") if n in value), value)
    text = " ".join(str(value).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def _align(value: Any) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return ' style="text-align:right"' if number else ' style="text-align:left"'


def _as_column(values: Any) -> _arrow.Column:
    if not isinstance(values, memoryview):
        return _arrow.column_of(values)
    format = {"i": "i", "I": "I", "q": "l", "Q": "L", "f": "f", "d": "g"}[_code_of(values)]
    return _arrow.Column(format, len(values), 0, [None, bytes(values)])


def optional(values: memoryview) -> Any:
    """Numbers in which 0 means none: as they are where all are there, else a list with None."""
    listed = values.tolist()
    return [v or None for v in listed] if 0 in listed else values


__all__ = ["Table", "optional"]
