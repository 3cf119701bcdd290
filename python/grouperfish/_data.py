"""Data of users as Arrow streams: lists, dictionaries, numpy, pandas, and whatever has Arrow itself.

Values are looked at before anything is stored: what is no text, no id, or twice the same id is told by
its row. Columns are then handed over some thousand rows at a time, so that no second copy of all texts
is made.
"""

from __future__ import annotations

import ctypes
import datetime
from typing import Any, Callable, Iterator, Optional, Sequence

from . import _arrow
from ._arrow import Column
from ._errors import Invalid

CHUNK = 16384

# A column as it is handed over: the part from row a to row b.
Part = Callable[[int, int], Column]


def is_null(value: Any) -> bool:
    """None, NaN, NaT or pandas.NA."""
    if value is None:
        return True
    if isinstance(value, float):
        return value != value
    return type(value).__name__ in ("NAType", "NaTType")


def _kind(value: Any) -> str:
    name = type(value).__name__
    shown = repr(value)
    return f"{name} ({shown if len(shown) <= 40 else shown[:39] + '…'})"


class Source:
    """Rows to be read by the library, as a stream.

    Attributes
    ----------
    stream : ArrowArrayStream
    options : dict
        Names of columns for gf_arrow_options: ``id``, ``text``, ``time``, ``language``.
    id_kind : type or None
        ``int`` or ``str``: what ids are; None where the rows have none.
    refused : dict
        Rows that are known to be no documents, and why.
    ids : list or None
        Those of the rows, where they are at hand.
    """

    def __init__(self, stream, options, id_kind=None, held=None, maker=None) -> None:
        self.stream = stream
        self.options = options
        self.id_kind = id_kind
        self.held = held
        self.maker = maker
        self.refused: dict[int, str] = {}
        self.ids: Optional[list] = None

    def release(self) -> None:
        """Release a stream that nobody has read."""
        if self.stream.release:
            self.stream.release(ctypes.pointer(self.stream))

    def __del__(self) -> None:
        self.release()


# ---- columns -------------------------------------------------------------------------------------


def _listed(values: Any) -> list:
    """Any sequence as a list of Python's values, nulls as None."""
    if hasattr(values, "to_numpy") and hasattr(values, "dtype"):  # a pandas.Series or Index
        values = values.astype(object).tolist()
    elif hasattr(values, "tolist") and not isinstance(values, (list, tuple)):
        values = values.tolist()
    else:
        values = list(values)
    if all(type(value) is str for value in values):
        return values
    return [None if is_null(value) else value for value in values]


def _texts(values: list, name: str, refuse: Callable[[int, str], None]) -> list:
    """Strings and None; what is neither is told of, and None."""
    if set(map(type, values)) <= {str}:
        bad = []
    else:
        bad = [i for i, value in enumerate(values) if not isinstance(value, str)]
    where = f"column {name!r}: " if name else ""
    if bad:
        values = list(values)
    for i in bad:
        what = "is null" if values[i] is None else f"a text is a string, not {_kind(values[i])}"
        refuse(i, where + what)
        values[i] = None
    return values


def _text_part(values: list) -> Part:
    def part(a: int, b: int) -> Column:
        some = values[a:b]
        try:
            return _arrow.text_column(some)
        except UnicodeEncodeError:
            # Lone surrogates, as files that were read with surrogateescape have.
            return _arrow.text_column(
                [v if v is None else v.encode("utf-8", "replace").decode() for v in some]
            )

    return part


def _whole_part(make: Callable[[list], Column], values: list) -> Part:
    return lambda a, b: make(values[a:b])


def _ids(values: Any, name: str, refuse: Callable[[int, str], None]) -> tuple[list, type]:
    """Ids of one kind, each once."""
    listed = [v.item() if hasattr(v, "item") else v for v in _listed(values)]
    kinds = {type(v) for v in listed if v is not None}
    for i, v in enumerate(listed):
        if v is None:
            refuse(i, f"column {name!r}: the id is null")
        elif isinstance(v, bool) or not isinstance(v, (int, str)):
            hint = "; df[...].astype('Int64') makes whole numbers of floats" * isinstance(v, float)
            raise Invalid(f"row {i}: an id is a string or a whole number, not {_kind(v)}{hint}")
        elif v == "":
            refuse(i, f"column {name!r}: the id is empty")
        elif isinstance(v, str) and not _is_utf8(v):
            raise Invalid(f"column {name!r}: the id {v!r} of row {i} cannot be written as UTF-8")
    kinds = {str if issubclass(k, str) else int for k in kinds}
    if len(kinds) > 1:
        one = next(i for i, v in enumerate(listed) if isinstance(v, int))
        other = next(i for i, v in enumerate(listed) if isinstance(v, str))
        raise Invalid(
            f"column {name!r} mixes ids: row {one} has {_kind(listed[one])}, row {other} "
            f"{_kind(listed[other])}; make them one type, such as by .astype(str)"
        )
    _check_twice(listed, name)
    return listed, kinds.pop() if kinds else str


def _is_utf8(text: str) -> bool:
    """Whether it has no lone surrogates, as names of files may have."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_twice(listed: list, name: str) -> None:
    present = [v for v in listed if v is not None]
    if len(set(present)) == len(present):
        return
    first: dict = {}
    for i, v in enumerate(listed):
        if v is not None and first.setdefault(v, i) != i:
            raise Invalid(
                f"column {name!r}: id {v!r} stands in row {first[v]} and in row {i}; "
                "an id names one document"
            )


def _id_part(values: list, kind: type) -> Part:
    if kind is str:
        return _text_part(values)
    if all(v is None or -(2**63) <= v < 2**63 for v in values):
        return _whole_part(lambda some: _arrow.number_column(some, "l"), values)
    return _text_part([None if v is None else str(v) for v in values])


def _numpy_part(values: Any) -> Optional[Part]:
    """A column of numbers or times that numpy holds; None where it is of another type."""
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if hasattr(values, "to_numpy") or not isinstance(kind, str) or len(kind) != 1:
        return None
    if kind in "iu" and values.dtype.itemsize <= 8:
        format = "l" if kind == "i" else "L"
        return lambda a, b: Column(
            format, b - a, 0, [None, values[a:b].astype("int64" if kind == "i" else "uint64")]
        )
    if kind == "f":
        return lambda a, b: Column("g", b - a, 0, [None, values[a:b].astype("float64")])
    if kind == "M":

        def times(a: int, b: int) -> Column:
            # NaT is the least number there is.
            ms = values[a:b].astype("datetime64[ms]").astype("int64")
            nat = ms == -(2**63)
            bits = _arrow._bits((~nat).tolist(), b - a)
            return Column("tsm:", b - a, int(nat.sum()), [bits, ms])

        return times
    return None


def _plain(values: Any) -> Any:
    """A pandas column as numpy's where that has its type."""
    dtype = getattr(values, "dtype", None)
    if not hasattr(values, "to_numpy"):
        return values
    if getattr(dtype, "tz", None) is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
        dtype = values.dtype
    return values.to_numpy() if type(dtype).__module__.startswith("numpy") else values


def _time_text(value: Any) -> Any:
    if isinstance(value, (datetime.datetime, datetime.date)):
        if isinstance(value, datetime.datetime) and value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
            return value.isoformat(timespec="milliseconds") + "Z"
        return value.isoformat()
    return value


def _field_part(values: Any, name: str) -> Part:
    values = _plain(values)
    part = _numpy_part(values)
    if part:
        return part
    listed = [
        value.item() if hasattr(value, "item") and getattr(value, "shape", None) == () else value
        for value in _listed(values)
    ]
    listed = [_time_text(value) for value in listed]
    listed = [
        value.tolist() if hasattr(value, "tolist") else list(value)
        if isinstance(value, (tuple, set, frozenset)) else value
        for value in listed
    ]
    try:
        whole = _arrow.column_of(listed)
    except (TypeError, ValueError, OverflowError) as bad:
        raise Invalid(f"column {name!r} cannot be a field: {bad}; leave it out by fields=[...]") from None
    kinds = {type(v) for v in listed if v is not None}
    if kinds <= {str}:
        return _text_part(listed)
    # A part of mixed values could look like another type: it takes that of the whole.
    if whole.format == "U":
        import json

        return _text_part(
            [v if v is None or isinstance(v, str) else json.dumps(v, default=str) for v in listed]
        )
    if whole.format == "g":
        return _whole_part(lambda some: _arrow.number_column(some, "g"), [
            None if v is None else float(v) for v in listed])
    if whole.format == "l":
        return _whole_part(lambda some: _arrow.number_column(some, "l"), listed)
    if whole.format == "b":
        return _whole_part(_arrow.bool_column, listed)
    inner = whole.child.format
    item = {"l": lambda v: _arrow.number_column(v, "l"),
            "g": lambda v: _arrow.number_column([float(x) for x in v], "g"),
            "b": _arrow.bool_column}.get(
                inner, lambda v: _arrow.text_column([x if isinstance(x, str) else str(x) for x in v]))
    return _whole_part(lambda some: _arrow.list_column(some, item), listed)


def _vector_part(values: Any, n: int) -> Part:
    """Rows of an array of two dimensions, as lists of numbers."""
    import numpy

    rows = numpy.ascontiguousarray(values, dtype="float32")
    width = rows.shape[1]

    def part(a: int, b: int) -> Column:
        child = Column("f", (b - a) * width, 0, [None, rows[a:b].reshape(-1)])
        return Column(f"+w:{width}", b - a, 0, [None], child=child)

    return part


# ---- frames --------------------------------------------------------------------------------------


class Frame:
    """Columns by name, all of one length."""

    def __init__(self, columns: dict, rows: int, index: Any = None) -> None:
        self.columns = columns
        self.rows = rows
        self.index = index  # of pandas, where it says more than the number of the row


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.split(".")[0] == "pandas"


def frame_of(data: Any) -> Optional[Frame]:
    """A frame of pandas, a dictionary of columns, or a list of dictionaries; else None."""
    if _is_pandas(data) and hasattr(data, "columns"):
        names = [str(name) for name in data.columns]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise Invalid(f"two columns are called {twice!r}")
        columns = {name: data.iloc[:, i] for i, name in enumerate(names)}
        counted = type(data.index).__name__ == "RangeIndex" and data.index.name is None
        return Frame(columns, len(data), None if counted else data.index)
    if isinstance(data, dict):
        columns = {str(name): values for name, values in data.items()}
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            raise Invalid(f"columns of several lengths: {lengths}")
        return Frame(columns, next(iter(lengths.values()), 0))
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], dict):
        names = {}
        for i, row in enumerate(data):
            if not isinstance(row, dict):
                raise Invalid(f"row {i} is no dictionary, but {_kind(row)}")
            for name in row:
                names.setdefault(str(name))
        return Frame({n: [row.get(n) for row in data] for n in names}, len(data))
    return None


def texts_of(data: Any) -> list:
    """Texts that stand for themselves, as a list of Python's values."""
    if isinstance(data, (str, bytes)):
        raise Invalid(
            "one string is given where several texts are wanted: put it into a list; no file is called so"
        )
    if getattr(data, "ndim", 1) != 1:
        raise Invalid(f"texts are of one dimension, not of {data.ndim}")
    try:
        return _listed(data)
    except TypeError:
        raise Invalid(f"texts are a list, an array or a column of strings, not {_kind(data)}") from None


def _batches(parts: list, rows: int) -> Iterator[list]:
    for a in range(0, rows, CHUNK):
        b = min(a + CHUNK, rows)
        yield [(name, part(a, b)) for name, part in parts]


def _make(parts: list, rows: int, options: dict, id_kind=None) -> Source:
    maker = _arrow.Maker([(name, part(0, 0)) for name, part in parts], _batches(parts, rows))
    return Source(_arrow.make_stream(maker), options, id_kind, maker=maker)


def source_of_texts(data: Any, errors: str = "raise", languages: Any = None) -> tuple[Source, int]:
    """Texts without ids, as a stream and how many they are (-1: not known)."""
    if _arrow.is_arrow(data) and not _is_pandas(data) and not _is_table(data):
        stream, held = _arrow.stream_of(data)
        return Source(stream, {}, held=held), -1
    refused: dict[int, str] = {}
    values = _texts(texts_of(data), "", _refusing(refused, errors))
    parts = [("text", _text_part(values))]
    options = {"text": "text"}
    if languages is not None:
        parts.append(("language", _text_part(_same_length(languages, len(values), "languages"))))
        options["language"] = "language"
    source = _make(parts, len(values), options)
    source.refused = refused
    return source, len(values)


def _is_table(data: Any) -> bool:
    """Whether it has columns, which a plain column of texts has not."""
    return hasattr(data, "column_names") or (hasattr(data, "columns") and hasattr(data, "schema"))


def _same_length(values: Any, rows: int, what: str) -> list:
    listed = _listed(values)
    if len(listed) != rows:
        raise Invalid(f"{len(listed)} {what} for {rows} rows")
    return listed


def _refusing(refused: dict, errors: str) -> Callable[[int, str], None]:
    if errors not in ("raise", "skip"):
        raise Invalid(f'errors is "raise" or "skip", not {errors!r}')

    def refuse(row: int, why: str) -> None:
        if errors == "raise":
            raise Invalid(f'row {row}: {why}; errors="skip" leaves such rows out')
        refused.setdefault(row, why)

    return refuse


def source_of_documents(
    data: Any,
    *,
    id: Any,
    text: str,
    time: Optional[str],
    lang: Optional[str],
    fields: Optional[Sequence[str]],
    errors: str,
    vectors: Any = None,
) -> Source:
    """Documents with ids, as a stream."""
    refused: dict[int, str] = {}
    refuse = _refusing(refused, errors)
    check_fields(fields)
    frame = frame_of(data)
    if frame is None and _arrow.is_arrow(data) and not _is_pandas(data):
        return _source_of_arrow(data, id, text, time, lang, vectors)
    if frame is None:
        values = texts_of(data)
        frame = Frame({text: values}, len(values), getattr(data, "index", None) if _is_pandas(data) else None)
    if text not in frame.columns:
        found = ", ".join(frame.columns) or "none"
        raise Invalid(f"there is no column {text!r}; columns found: {found}; choose with text=")
    ids, id_name = _choose_ids(frame, id)
    listed, kind = _ids(ids, id_name, refuse)
    texts = _texts(_listed(frame.columns[text]), text, refuse)
    for i in refused:
        texts[i] = None
    of_frame = isinstance(id, str) or (id is None and "id" in frame.columns)
    # Ids that stand beside the columns leave a column that is called as they are a field.
    id_column = id_name if of_frame else _free_name(id_name, frame.columns)
    parts = {id_column: _id_part(listed, kind)}
    parts.setdefault(text, _text_part(texts))
    options = {"id": id_column, "text": text}
    for role, name in (("time", time), ("language", lang)):
        if name is None:
            continue
        column = _column(frame, name)
        if name not in parts:
            parts[name] = (
                _field_part(column, name)
                if role == "time"
                else _text_part(_texts(_listed(column), name, _pass_over))
            )
        options[role] = name
    for name in frame.columns if fields is None else fields:
        column = _column(frame, name)
        if name not in parts:
            parts[name] = _field_part(column, name)
    if vectors is not None:
        if getattr(vectors, "shape", (None,))[0] != frame.rows:
            raise Invalid(f"vectors are an array of {frame.rows} rows")
        if "vector" in parts:
            raise Invalid("vectors are kept as the field 'vector', and there is a column of that name")
        parts["vector"] = _vector_part(vectors, frame.rows)
    source = _make(list(parts.items()), frame.rows, options, kind)
    source.refused = refused
    source.ids = listed
    return source


def _column(frame: Frame, name: str) -> Any:
    if name not in frame.columns:
        raise Invalid(f"there is no column {name!r}; columns found: {', '.join(frame.columns)}")
    return frame.columns[name]


def _free_name(name: str, taken: Any) -> str:
    while name in taken:
        name += "_"
    return name


def check_fields(fields: Any) -> None:
    """Raise Invalid where they are no list of names, each once."""
    if fields is None:
        return
    if isinstance(fields, str) or not all(isinstance(name, str) for name in fields):
        raise Invalid(f"fields is a list of names of columns, not {_kind(fields)}")
    if len(set(fields)) != len(fields):
        twice = next(name for name in fields if list(fields).count(name) > 1)
        raise Invalid(f"fields names {twice!r} twice: {list(fields)}")


def _pass_over(row: int, why: str) -> None:
    """A value that is none counts as null."""


def _choose_ids(frame: Frame, id: Any) -> tuple[Any, str]:
    if isinstance(id, str):
        if id not in frame.columns:
            found = ", ".join(frame.columns) or "none"
            raise Invalid(f"there is no column {id!r}; columns found: {found}; choose with id=")
        return frame.columns[id], id
    if id is not None:
        if len(id) != frame.rows:
            raise Invalid(f"{len(id)} ids for {frame.rows} rows")
        return id, "id"
    if "id" in frame.columns:
        return frame.columns["id"], "id"
    if frame.index is not None:
        return frame.index, str(frame.index.name or "index")
    raise Invalid(
        "documents need ids, by which they are found again: say which column has them (id=\"ticket\"), "
        "or give as many (id=range(len(df)))"
    )


def _source_of_arrow(data, id, text, time, lang, vectors) -> Source:
    if vectors is not None or not (id is None or isinstance(id, str)):
        raise Invalid("ids and vectors of an Arrow table are columns of it")
    stream, held = _arrow.stream_of(data)
    kind: Optional[type] = None
    with _arrow.schema_of(stream) as schema:
        for i in range(schema.n_children):
            child = schema.children[i].contents
            if child.name == (id or "id").encode():
                inner = child.dictionary.contents if child.dictionary else child
                kind = str if inner.format in (b"u", b"U", b"vu") else int
    options = {"id": id or "id", "text": text}
    if time:
        options["time"] = time
    if lang:
        options["language"] = lang
    return Source(stream, options, kind, held)
