"""Arrow's C data interface, in and out, without a library of Arrow's.

Objects of other libraries (pyarrow, pandas, polars, DuckDB) hand their columns over as PyCapsules, by
``__arrow_c_stream__`` or ``__arrow_c_array__``; what comes out of here does the same. Source:
https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
"""

from __future__ import annotations

import ctypes
import itertools
from array import array
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, py_object
from typing import Any, Callable, Iterable, Iterator, Optional

from . import _library as lib
from ._errors import Invalid

ENOMEM, EIO, EINVAL = 12, 5, 22
NULLABLE = 2


class ArrowSchema(Structure):
    pass


class ArrowArray(Structure):
    pass


class ArrowArrayStream(Structure):
    pass


RELEASE_SCHEMA = CFUNCTYPE(None, POINTER(ArrowSchema))
RELEASE_ARRAY = CFUNCTYPE(None, POINTER(ArrowArray))
RELEASE_STREAM = CFUNCTYPE(None, POINTER(ArrowArrayStream))
GET_SCHEMA = CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))
GET_NEXT = CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))
# A callback that gives a char * has to keep it alive: so it gives an address.
GET_ERROR = CFUNCTYPE(c_void_p, POINTER(ArrowArrayStream))

ArrowSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)),
    ("release", RELEASE_SCHEMA),
    ("private_data", c_void_p),
]
ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", RELEASE_ARRAY),
    ("private_data", c_void_p),
]
ArrowArrayStream._fields_ = [
    ("get_schema", GET_SCHEMA),
    ("get_next", GET_NEXT),
    ("get_last_error", GET_ERROR),
    ("release", RELEASE_STREAM),
    ("private_data", c_void_p),
]

# ---- what is handed out and not yet released -----------------------------------------------------

# One step of the interpreter each, so that no lock is needed, which a collection of garbage within
# one of them would wait for.
_kept: dict[int, Any] = {}
_numbers = itertools.count(1)


def _keep(thing: Any) -> int:
    number = next(_numbers)
    _kept[number] = thing
    return number


def _drop(number: Optional[int]) -> None:
    _kept.pop(number or 0, None)


@RELEASE_SCHEMA
def _release_schema(schema):
    s = schema.contents
    for i in range(s.n_children):
        child = s.children[i]
        if child.contents.release:
            child.contents.release(child)
    if s.dictionary and s.dictionary.contents.release:
        s.dictionary.contents.release(s.dictionary)
    number, s.private_data = s.private_data, None
    ctypes.cast(ctypes.byref(s, ArrowSchema.release.offset), POINTER(c_void_p))[0] = None
    _drop(number)


@RELEASE_ARRAY
def _release_array(arrow):
    a = arrow.contents
    for i in range(a.n_children):
        child = a.children[i]
        if child.contents.release:
            child.contents.release(child)
    if a.dictionary and a.dictionary.contents.release:
        a.dictionary.contents.release(a.dictionary)
    number, a.private_data = a.private_data, None
    ctypes.cast(ctypes.byref(a, ArrowArray.release.offset), POINTER(c_void_p))[0] = None
    _drop(number)


def _clear_release(thing: Any) -> None:
    """Mark a struct whose content was moved elsewhere as released."""
    at = type(thing).release.offset
    ctypes.cast(ctypes.byref(thing, at), POINTER(c_void_p))[0] = None


def _move(source: Any, target: Any) -> None:
    ctypes.memmove(ctypes.byref(target), ctypes.byref(source), ctypes.sizeof(type(source)))
    _clear_release(source)


# ---- columns made here ---------------------------------------------------------------------------


class Column:
    """A column as buffers of Python's: its format, and what an array of it holds.

    Parameters
    ----------
    format : str
        Arrow's, such as ``"l"`` (int64), ``"g"`` (double), ``"U"`` (large_utf8), ``"b"`` (bool).
    buffers : list
        Objects of the buffer protocol, or None where there is none.
    """

    __slots__ = ("format", "length", "null_count", "buffers", "child", "dictionary")

    def __init__(self, format, length, null_count, buffers, child=None, dictionary=None):
        self.format = format
        self.length = length
        self.null_count = null_count
        self.buffers = buffers
        self.child = child
        self.dictionary = dictionary


def _bits(flags: Iterable[Any], n: int) -> bytearray:
    bits = bytearray(n // 8 + 1)
    for i, flag in enumerate(flags):
        if flag:
            bits[i >> 3] |= 1 << (i & 7)
    return bits


def _validity(values: list) -> tuple[int, Optional[bytearray]]:
    nulls = sum(value is None for value in values)
    return nulls, _bits((value is not None for value in values), len(values)) if nulls else None


def text_column(values: list) -> Column:
    """A large_utf8 column of strings and None; UnicodeEncodeError where one has lone surrogates."""
    nulls, validity = _validity(values)
    if nulls:
        pieces = [b"" if value is None else value.encode() for value in values]
    else:
        pieces = [value.encode() for value in values]
    offsets = array("q", itertools.accumulate(map(len, pieces), initial=0))
    return Column("U", len(values), nulls, [validity, offsets, b"".join(pieces)])


def number_column(values: list, format: str) -> Column:
    """An int64 ("l") or double ("g") column of numbers and None."""
    nulls, validity = _validity(values)
    code, zero = ("q", 0) if format == "l" else ("d", 0.0)
    if nulls:
        values = [zero if value is None else value for value in values]
    return Column(format, len(values), nulls, [validity, array(code, values)])


def bool_column(values: list) -> Column:
    nulls, validity = _validity(values)
    return Column("b", len(values), nulls, [validity, _bits(values, len(values))])


def list_column(values: list, item: Callable[[list], Column]) -> Column:
    nulls, validity = _validity(values)
    lists = [[] if value is None else value for value in values]
    offsets = array("q", itertools.accumulate(map(len, lists), initial=0))
    child = item([one for some in lists for one in some])
    return Column("+L", len(values), nulls, [validity, offsets], child=child)


def _address(buffer: Any, held: list) -> Optional[int]:
    if buffer is None:
        return None
    view = memoryview(buffer)
    if view.nbytes == 0:
        buffer = b"\0"  # an address, though nothing is read there
        view = memoryview(buffer)
    held.append(view)
    if isinstance(buffer, bytes):
        held.append(buffer)
        return ctypes.cast(c_char_p(buffer), c_void_p).value
    if view.readonly:  # such as numpy's of somebody else; the address is all that is wanted
        interface = getattr(buffer, "__array_interface__", None)
        if interface:
            held.append(buffer)
            return interface["data"][0]
        return _address(bytes(view), held)
    pinned = (ctypes.c_char * view.nbytes).from_buffer(buffer)
    held.append(pinned)
    return ctypes.addressof(pinned)


def _fill_schema(schema: ArrowSchema, format: str, name: str, columns: list, dictionary=None):
    held: list = [format.encode(), name.encode()]
    ctypes.memset(ctypes.byref(schema), 0, ctypes.sizeof(schema))
    schema.format, schema.name = held
    schema.flags = NULLABLE
    pointers = (POINTER(ArrowSchema) * max(len(columns), 1))()
    for i, (child_name, column) in enumerate(columns):
        child = ArrowSchema()
        _schema_of(child, child_name, column)
        pointers[i] = ctypes.pointer(child)
        held.append(child)
    held.append(pointers)
    schema.n_children = len(columns)
    schema.children = pointers
    if dictionary is not None:
        child = ArrowSchema()
        _schema_of(child, "", dictionary)
        schema.dictionary = ctypes.pointer(child)
        held.append(child)
    schema.release = _release_schema
    schema.private_data = _keep(held)


def _schema_of(schema: ArrowSchema, name: str, column: Column) -> None:
    children = [("item", column.child)] if column.child is not None else []
    _fill_schema(schema, column.format, name, children, column.dictionary)


def _fill_array(target: ArrowArray, length, null_count, buffers, children, dictionary=None):
    held: list = []
    ctypes.memset(ctypes.byref(target), 0, ctypes.sizeof(target))
    addresses = (c_void_p * max(len(buffers), 1))()
    for i, buffer in enumerate(buffers):
        addresses[i] = _address(buffer, held)
    pointers = (POINTER(ArrowArray) * max(len(children), 1))()
    for i, column in enumerate(children):
        child = ArrowArray()
        _array_of(child, column)
        pointers[i] = ctypes.pointer(child)
        held.append(child)
    held += [addresses, pointers]
    target.length, target.null_count, target.offset = length, null_count, 0
    target.n_buffers, target.n_children = len(buffers), len(children)
    target.buffers, target.children = addresses, pointers
    if dictionary is not None:
        child = ArrowArray()
        _array_of(child, dictionary)
        target.dictionary = ctypes.pointer(child)
        held.append(child)
    target.release = _release_array
    target.private_data = _keep(held)


def _array_of(target: ArrowArray, column: Column) -> None:
    children = [column.child] if column.child is not None else []
    _fill_array(
        target, column.length, column.null_count, column.buffers, children, column.dictionary
    )


# ---- streams made here ---------------------------------------------------------------------------


class Maker:
    """What a stream gives: its schema by an empty batch, then batches as they come."""

    def __init__(self, like: list, batches: Iterator[list]) -> None:
        self.like = like  # [(name, Column)]
        self.batches = batches
        self.error = ctypes.create_string_buffer(b"")
        self.raised: Optional[BaseException] = None
        self.struct: Any = None  # of a capsule, as long as the stream

    def fail(self, raised: BaseException) -> int:
        self.raised = raised
        self.error = ctypes.create_string_buffer(f"{raised}".encode())
        return ENOMEM if isinstance(raised, MemoryError) else EINVAL


@GET_SCHEMA
def _get_schema(stream, out):
    maker = _kept[stream.contents.private_data]
    try:
        _fill_schema(out.contents, "+s", "", maker.like)
    except BaseException as raised:
        return maker.fail(raised)
    return 0


@GET_NEXT
def _get_next(stream, out):
    maker = _kept[stream.contents.private_data]
    try:
        batch = next(maker.batches, None)
        if batch is None:
            ctypes.memset(out, 0, ctypes.sizeof(ArrowArray))
        else:
            rows = batch[0][1].length if batch else 0
            _fill_array(out.contents, rows, 0, [None], [column for _, column in batch])
    except BaseException as raised:
        return maker.fail(raised)
    return 0


@GET_ERROR
def _get_error(stream):
    return ctypes.addressof(_kept[stream.contents.private_data].error)


@RELEASE_STREAM
def _release_stream(stream):
    s = stream.contents
    number, s.private_data = s.private_data, None
    _clear_release(s)
    _drop(number)


def make_stream(maker: Maker) -> ArrowArrayStream:
    """A stream of batches that are made as they are asked for; released by whoever reads it."""
    return ArrowArrayStream(_get_schema, _get_next, _get_error, _release_stream, _keep(maker))


# ---- capsules ------------------------------------------------------------------------------------

_api = ctypes.pythonapi
_new_capsule = _api.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
_pointer_of = _api.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = c_void_p, [py_object, c_char_p]


def capsule_of(stream: ArrowArrayStream) -> Any:
    """A PyCapsule over the stream, for a reader that moves it out, as all do, and releases it.

    It has no destructor: one of Python's would run where an exception is under way, which Python does
    not allow. So a capsule that nobody reads keeps its columns until the process ends.
    """
    _kept[stream.private_data].struct = stream
    return _new_capsule(ctypes.addressof(stream), b"arrow_array_stream", None)


class _OneArray:
    """A single array of somebody else's, as a stream of its own."""

    def __init__(self, schema: ArrowSchema, arrow: ArrowArray) -> None:
        self.schema, self.arrow = schema, arrow
        self.error = ctypes.create_string_buffer(b"")


@GET_SCHEMA
def _get_one_schema(stream, out):
    _move(_kept[stream.contents.private_data].schema, out.contents)
    return 0


@GET_NEXT
def _get_one(stream, out):
    one = _kept[stream.contents.private_data]
    _move(one.arrow, out.contents)
    return 0


@RELEASE_STREAM
def _release_one(stream):
    s = stream.contents
    one = _kept[s.private_data]
    for thing in (one.schema, one.arrow):
        if thing.release:
            thing.release(ctypes.pointer(thing))
    number, s.private_data = s.private_data, None
    _clear_release(s)
    _drop(number)


def is_arrow(data: Any) -> bool:
    """Whether an object hands over Arrow data."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def stream_of(data: Any) -> tuple[ArrowArrayStream, Any]:
    """The stream of an object that hands over Arrow data, and what has to be held meanwhile."""
    if hasattr(data, "__arrow_c_stream__"):
        capsule = data.__arrow_c_stream__()
        address = _pointer_of(capsule, b"arrow_array_stream")
        stream = ArrowArrayStream()
        _move(ArrowArrayStream.from_address(address), stream)
        if not stream.release:
            raise Invalid("the Arrow stream was read already, or released")
        return stream, capsule
    schema_capsule, array_capsule = data.__arrow_c_array__()
    schema, arrow = ArrowSchema(), ArrowArray()
    _move(ArrowSchema.from_address(_pointer_of(schema_capsule, b"arrow_schema")), schema)
    _move(ArrowArray.from_address(_pointer_of(array_capsule, b"arrow_array")), arrow)
    if not schema.release or not arrow.release:
        raise Invalid("the Arrow array was read already, or released")
    one = _OneArray(schema, arrow)
    stream = ArrowArrayStream(_get_one_schema, _get_one, _get_error, _release_one, _keep(one))
    return stream, (schema_capsule, array_capsule)


@contextmanager
def schema_of(stream: ArrowArrayStream) -> Iterator[ArrowSchema]:
    """The schema of a stream of ``stream_of``; without a child where it cannot be had."""
    one = _kept.get(stream.private_data)
    schema = one.schema if isinstance(one, _OneArray) else ArrowSchema()
    if schema is not getattr(one, "schema", None):
        if stream.get_schema(ctypes.pointer(stream), ctypes.pointer(schema)) != 0:
            schema = ArrowSchema()
    try:
        yield schema
    finally:
        if schema is not getattr(one, "schema", None) and schema.release:
            schema.release(ctypes.pointer(schema))


# ---- batches of the library ----------------------------------------------------------------------

_WIDTHS = {"c": 1, "C": 1, "s": 2, "S": 2, "i": 4, "I": 4, "l": 8, "L": 8, "f": 4, "g": 8}
_CODES = {"i": "i", "I": "I", "l": "q", "L": "Q", "f": "f", "g": "d"}


class _Owner:
    """An array of the library's, released once nothing looks into it any more."""

    def __init__(self, arrow: ArrowArray) -> None:
        self.arrow = arrow

    def __del__(self) -> None:
        if self.arrow.release:
            self.arrow.release(ctypes.pointer(self.arrow))


class _Memory:
    """Bytes of an array, for the buffer protocol and numpy's array interface."""

    def __init__(self, owner: _Owner, address: int, size: int) -> None:
        self.owner, self.address, self.size = owner, address, size

    def view(self, code: str) -> memoryview:
        if self.size == 0:
            return memoryview(array(code))
        raw = (ctypes.c_char * self.size).from_address(self.address)
        raw._owner = self.owner  # an instance of ctypes keeps its attributes; a view keeps it
        return memoryview(raw).cast("B").cast(code)


def _bytes_of(owner: _Owner, arrow: ArrowArray, buffer: int, size: int) -> _Memory:
    return _Memory(owner, arrow.buffers[buffer] or 0, size)


class Batch:
    """The columns of one batch that the library gave, borrowed from its memory.

    ``values(name)`` is a memoryview of numbers (0 where null), ``nulls(name)`` whether there are any,
    ``texts(name)`` a list of strings, ``labels(name)`` index and dictionary.
    """

    def __init__(self, stream: ArrowArrayStream) -> None:
        schema, arrow = ArrowSchema(), ArrowArray()
        try:
            if stream.get_schema(ctypes.pointer(stream), ctypes.pointer(schema)):
                raise MemoryError("an Arrow schema")
            if stream.get_next(ctypes.pointer(stream), ctypes.pointer(arrow)):
                raise MemoryError("an Arrow array")
            self._formats = {}
            self._place = {}
            for i in range(schema.n_children):
                child = schema.children[i].contents
                name = child.name.decode()
                self._formats[name] = child.format.decode()
                self._place[name] = i
        finally:
            if schema.release:
                schema.release(ctypes.pointer(schema))
            if stream.release:
                stream.release(ctypes.pointer(stream))
        self._owner = _Owner(arrow)
        self.rows = arrow.length

    @property
    def names(self) -> list[str]:
        return list(self._formats)

    def _child(self, name: str) -> ArrowArray:
        return self._owner.arrow.children[self._place[name]].contents

    def values(self, name: str) -> memoryview:
        child, format = self._child(name), self._formats[name]
        return _bytes_of(self._owner, child, 1, child.length * _WIDTHS[format]).view(
            _CODES[format]
        )

    def validity(self, name: str) -> Optional[bytes]:
        child = self._child(name)
        if child.null_count == 0 or not child.buffers[0]:
            return None
        return ctypes.string_at(child.buffers[0], child.length // 8 + 1)

    def flags(self, name: str) -> list[bool]:
        child = self._child(name)
        bits = ctypes.string_at(child.buffers[1], child.length // 8 + 1)
        return [bool(bits[i >> 3] >> (i & 7) & 1) for i in range(child.length)]

    def inner(self, name: str) -> memoryview:
        """The numbers of a fixed list, one row behind the other."""
        child = self._child(name).children[0].contents
        return _bytes_of(self._owner, child, 1, child.length * 4).view("f")

    def texts(self, name: str) -> list[str]:
        return self._texts_of(self._child(name))

    def dictionary(self, name: str) -> list[str]:
        return self._texts_of(self._child(name).dictionary.contents)

    def _texts_of(self, child: ArrowArray) -> list[str]:
        n = child.length
        offsets = _bytes_of(self._owner, child, 1, (n + 1) * 8).view("q") if n else [0]
        if n == 0:
            return []
        data = ctypes.string_at(child.buffers[2], offsets[n]) if offsets[n] else b""
        bounds = offsets.tolist()
        if data.isascii():
            text = data.decode("ascii")
            return [text[a:b] for a, b in zip(bounds, bounds[1:])]
        return [data[a:b].decode() for a, b in zip(bounds, bounds[1:])]


# ---- Python's values as columns ------------------------------------------------------------------


def _are_exact(values: list) -> bool:
    """Whether floats hold each whole number."""
    return all(abs(value) <= 2**53 for value in values if type(value) is int)


def column_of(values: list) -> Column:
    """A column of the type that holds all of these values; what is neither is written as JSON.

    None, bool, int, float, str and lists of these have types of their own. Whole numbers are never rounded:
    those that no column of numbers holds are text.
    """
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {bool}:
        return bool_column(values) if kinds else text_column(values)
    if kinds <= {int} and all(v is None or -(2**63) <= v < 2**63 for v in values):
        return number_column(values, "l")
    if float in kinds and kinds <= {int, float} and _are_exact(values):
        return number_column([None if v is None else float(v) for v in values], "g")
    if kinds <= {str}:
        return text_column(values)
    if kinds <= {list}:
        inner = {type(one) for value in values if value is not None for one in value}
        if inner <= {str} or inner <= {int, float} or inner <= {bool}:
            return list_column(values, column_of)
    import json

    return text_column(
        [
            None if v is None else v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)
            for v in values
        ]
    )


__all__ = [
    "ArrowArrayStream",
    "Batch",
    "Column",
    "Invalid",
    "Maker",
    "capsule_of",
    "column_of",
    "is_arrow",
    "lib",
    "make_stream",
    "stream_of",
]
