"""Files of tables: Parquet, Arrow and Feather by pyarrow, workbooks by openpyxl, CSV and JSON by Python.

All else that is read (CSV, JSON Lines, workbooks, packed and archived files, folders' archives) is read by
the engine, as the command reads it. What is written is whole or not at all: it grows beside its place
under a name that ends in ``.part``, and takes its name once it is on disk.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
import warnings
from contextlib import contextmanager
from typing import Any, BinaryIO, Iterator, Optional

from ._errors import Invalid
from ._table import Table

COLUMNAR = {".parquet": "Parquet", ".pq": "Parquet", ".feather": "Feather", ".arrow": "Arrow",
            ".arrows": "Arrow", ".ipc": "Arrow"}
# What the engine reads, of which a missing file is told rather than taken for a text.
READ = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".xlsx", ".xlsm", ".gz", ".zst", ".xz",
        ".bz2", ".zip", ".tar", ".tgz")

# Of a sheet: rows, and UTF-16 units of a cell (ECMA-376; Excel's specifications and limits).
SHEET_ROWS, CELL_UNITS = 1048576, 32767
# Whole numbers beyond it lose digits in a spreadsheet, whose numbers are doubles.
EXACT = 2**53


def path_of(data: Any) -> Optional[str]:
    """The path where data names a file; else None: a string is a text, as a rule."""
    if isinstance(data, os.PathLike):
        path = os.fspath(data)
        return os.fsdecode(path)
    if not isinstance(data, str) or "\n" in data or len(data) > 4096:
        return None
    return data if ending_of(data) in {*COLUMNAR, *READ} or os.path.isfile(data) else None


def ending_of(path: str) -> str:
    """Of its name, in lower case, such as ``.parquet``."""
    return os.path.splitext(path)[1].lower()


def is_columnar(path: str) -> bool:
    """Whether it is read by another library, in place of the engine."""
    return ending_of(path) in COLUMNAR


# ---- reading -------------------------------------------------------------------------------------


def _check_there(path: str) -> None:
    if os.path.isdir(path):
        raise Invalid(f"{path} is a folder; the command puts folders: grouperfish put NAME {path}")
    with open(path, "rb"):  # FileNotFoundError, PermissionError
        pass


def read_columnar(path: str) -> Any:
    """Rows of a Parquet, Arrow or Feather file: something with ``__arrow_c_stream__``, else a DataFrame.

    By pyarrow batch by batch, so that the file may be larger than the memory.

    Raises
    ------
    OSError
        It is not there, or cannot be read.
    ImportError
        No library that reads it is installed; the message says which do.
    Invalid
        It is damaged, or no such file.
    """
    _check_there(path)
    kind = COLUMNAR[ending_of(path)]
    try:
        import pyarrow
    except ImportError:
        return _read_by_pandas(path, kind)
    try:
        return _read_by_pyarrow(path, kind, pyarrow)
    except pyarrow.ArrowInvalid as bad:
        raise Invalid(f"{path}: no {kind} file, or a damaged one: {bad}") from None


def _read_by_pyarrow(path: str, kind: str, pyarrow: Any) -> Any:
    if kind == "Parquet":
        from pyarrow import parquet

        file = parquet.ParquetFile(path)
        return pyarrow.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
    from pyarrow import feather, ipc

    with open(path, "rb") as file:
        first = file.read(6)
    if first.startswith(b"FEA1"):  # Feather's first version
        return feather.read_table(path)
    if first == b"ARROW1":
        file = ipc.open_file(pyarrow.memory_map(path))
        batches = (file.get_batch(i) for i in range(file.num_record_batches))
        return pyarrow.RecordBatchReader.from_batches(file.schema, batches)
    return ipc.open_stream(pyarrow.memory_map(path))


def _read_by_pandas(path: str, kind: str) -> Any:
    if kind == "Parquet":
        try:
            import fastparquet  # noqa: F401
            import pandas
        except ImportError:
            pass
        else:
            try:
                return pandas.read_parquet(path, engine="fastparquet")
            except Exception as bad:
                raise Invalid(f"{path}: no {kind} file, or a damaged one: {bad}") from None
    raise ImportError(f"{path}: {_needs(kind)}")


def _needs(kind: str) -> str:
    also = ", or pandas with fastparquet" if kind == "Parquet" else ""
    return f"{kind} needs pyarrow{also}: pip install pyarrow"


def pieces_of(path: str) -> Iterator[bytes]:
    """Bytes of a file, for the engine to read."""
    _check_there(path)
    return _pieces(path)


def _pieces(path: str) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            yield piece


# ---- writing -------------------------------------------------------------------------------------


@contextmanager
def whole_file(path: str) -> Iterator[BinaryIO]:
    """A file that is there under its name once all of it is on disk, and else not at all."""
    place = os.path.realpath(path)
    if os.path.exists(place) and not stat.S_ISREG(os.stat(place).st_mode):
        raise Invalid(f"{path} is there already, and is no file")
    if os.path.exists(place):  # replacing it needs no right to write it: one that is read-only stays
        os.close(os.open(place, os.O_WRONLY))
    folder, name = os.path.split(place)
    number, part = tempfile.mkstemp(prefix=name + ".", suffix=".part", dir=folder)
    try:
        with os.fdopen(number, "wb") as file:
            mode = os.stat(place).st_mode & 0o777 if os.path.exists(place) else 0o666 & ~_mask()
            os.fchmod(number, mode)
            yield file
            file.flush()
            os.fsync(number)
        os.replace(part, place)
    except BaseException:
        os.unlink(part)
        raise


def _mask() -> int:
    """The process's umask, which is not told without being set."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o022


# The columns of export's rows before those of the records, as the command's CSV has them.
_PLACES = ("id", "cluster", "label", "score", "runner_up", "runner_up_label", "runner_up_score", "margin",
           "replaced", "language", "time", "lang")
_DOCUMENT = ("id", "time", "lang", "text")


def flat(rows: list, documents: bool = False) -> Table:
    """Rows of ``export`` as columns: its own, then a column for each field that any document has.

    A field that is called as one of export's own columns is ``field:NAME``, as in the command's CSV.
    """
    own = [*(_DOCUMENT if documents else _PLACES)]
    if any("collection" in row for row in rows):
        own.insert(0, "collection")
    if any("text" in row for row in rows) and "text" not in own:
        own.append("text")
    known = {*own, "fields", "text"}
    if documents:  # its fields stand beside the rest
        known.remove("fields")
        rows = [{**row, "fields": {n: v for n, v in row.items() if n not in known}} for row in rows]
    columns: dict = {name: [row.get(name) for row in rows] for name in own}
    names: dict = {}
    for row in rows:
        for name in row.get("fields") or ():
            names.setdefault(name)
    for name in names:
        taken = not documents and (name in known or name.startswith("field:"))
        key = f"field:{name}" if taken else name
        columns[key] = [(row.get("fields") or {}).get(name) for row in rows]
    return Table(columns, "documents")


def check_writable(path: str, bom: bool = False, defuse: Optional[bool] = None) -> None:
    """Find what stands in the way of ``write`` before anything is worked out.

    Raises
    ------
    Invalid
        The name's ending is of no format that is written, or bom and defuse are not of it.
    ImportError
        What writes it is not installed; the message says what does.
    OSError
        There is no such folder.
    """
    ending = ending_of(path)
    if ending not in _WRITERS:
        raise Invalid(f"{path}: the name's ending says the format: {', '.join(_WRITERS)}")
    if ending != ".csv" and (bom or defuse is not None):
        raise Invalid(f"{path}: bom and defuse are of CSV")
    if ending == ".xlsx" and not _is_installed("openpyxl"):
        raise ImportError(f"{path}: a workbook needs openpyxl: pip install openpyxl")
    by_pandas = ending in (".parquet", ".pq") and _is_installed("pandas") and _is_installed("fastparquet")
    if ending in COLUMNAR and not by_pandas and not _is_installed("pyarrow"):
        raise ImportError(f"{path}: {_needs(COLUMNAR[ending])}")
    os.stat(os.path.dirname(os.path.realpath(path)))


def _is_installed(module: str) -> bool:
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def write(
    path: str,
    rows: list,
    *,
    documents: bool = False,
    bom: bool = False,
    defuse: Optional[bool] = None,
) -> None:
    """Write rows of ``export`` into a file, in the format that its name ends in; fails as check_writable.

    Raises
    ------
    Invalid
        A sheet cannot have so many rows.
    OSError
        The file cannot be written; what was there is as it was.
    """
    check_writable(path, bom, defuse)
    ending = ending_of(path)
    options: dict = {} if ending in _OF_ROWS else {"documents": documents}
    if ending == ".csv":
        options.update(bom=bom, defuse=bom if defuse is None else defuse)
    with whole_file(path) as file:
        _WRITERS[ending](file, rows, path, **options)


def _write_lines(file: BinaryIO, rows: list, path: str) -> None:
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _write_json(file: BinaryIO, rows: list, path: str) -> None:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    file.write(("[" + ",\n".join(lines) + "]\n").encode())


def _text(value: Any) -> str:
    """A value in a cell: a text as it is, all else as its JSON, null as nothing."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would work a cell out: as the command decides it."""
    if text[:1] in ("\t", "\r", "\n") and text:
        return True
    text = text.lstrip(" \t")
    if not text or text[0] not in "=+-@":
        return False
    return not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text)


_BLANK = (" ", "\t")


def _write_csv(
    file: BinaryIO, rows: list, path: str, documents: bool, bom: bool, defuse: bool
) -> None:
    table = flat(rows, documents)

    def cell(value: Any) -> str:
        text = _text(value)
        defused = defuse and is_formula(text)
        if defused or text[:1] in _BLANK or text[-1:] in _BLANK or any(c in text for c in ',"\r\n'):
            return '"' + "'" * defused + text.replace('"', '""') + '"'
        return text

    if bom:
        file.write(b"\xef\xbb\xbf")
    file.write((",".join(map(cell, table.columns)) + "\r\n").encode())
    for values in zip(*(table[name] for name in table.columns)):
        file.write((",".join(map(cell, values)) + "\r\n").encode())


def _with_types(table: Table) -> Table:
    """Scores as floats, also where all of them are whole; `replaced` as it is, true or false."""
    columns = table.to_dict()
    for name in ("score", "runner_up_score", "margin"):
        if name in columns:
            columns[name] = [None if v is None else float(v) for v in columns[name]]
    if "replaced" in columns:
        columns["replaced"] = [v is True for v in columns["replaced"]]
    return Table(columns, "documents")


def _write_columnar(file: BinaryIO, rows: list, path: str, documents: bool) -> None:
    table = flat(rows, documents)
    if not documents:  # whose columns are the users' own
        table = _with_types(table)
    if not _is_installed("pyarrow"):
        # By the file's number: fastparquet opens what it writes by itself, and closes it.
        name = f"/proc/self/fd/{file.fileno()}"
        table.to_pandas().to_parquet(name, engine="fastparquet", index=False)
        return
    import pyarrow

    columns = table.to_arrow()
    if COLUMNAR[ending_of(path)] == "Parquet":
        from pyarrow import parquet

        parquet.write_table(columns, file)
    elif ending_of(path) == ".arrows":
        with pyarrow.ipc.new_stream(file, columns.schema) as writer:
            writer.write_table(columns)
    else:
        with pyarrow.ipc.new_file(file, columns.schema) as writer:
            writer.write_table(columns)


# ---- workbooks -----------------------------------------------------------------------------------

# What XML cannot have, or would change; and what reads as the writing of such (ECMA-376, ST_Xstring).
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def _sheet_text(text: str) -> tuple[str, bool]:
    """A text as a cell has it, and whether it had to be cut."""
    cut = len(text) * 2 > CELL_UNITS and len(text.encode("utf-16-le", "replace")) // 2 > CELL_UNITS
    if cut:
        text = text.encode("utf-16-le", "replace")[: CELL_UNITS * 2].decode("utf-16-le", "ignore")
    return _ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", text), cut


def _write_workbook(file: BinaryIO, rows: list, path: str, documents: bool) -> None:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    if len(rows) >= SHEET_ROWS:
        raise Invalid(
            f"{path}: a sheet has {SHEET_ROWS - 1:,} rows below its header, not {len(rows):,}; "
            "write .parquet or .csv"
        )
    table = flat(rows, documents)
    book = Workbook(write_only=True)
    sheet = book.create_sheet("documents")
    sheet.freeze_panes = "A2"
    n_cut = 0

    def cell(value: Any) -> Any:
        nonlocal n_cut
        if value is None or isinstance(value, (bool, float)):
            return value
        if isinstance(value, int) and abs(value) <= EXACT:
            return value
        text, cut = _sheet_text(_text(value))
        n_cut += cut
        made = WriteOnlyCell(sheet)
        # Set as what it is: openpyxl takes a text that begins with = for a formula.
        made._value, made.data_type = text, "s"
        return made

    sheet.append([cell(name) for name in table.columns])
    for values in zip(*(table[name] for name in table.columns)):
        sheet.append([cell(value) for value in values])
    book.save(file)
    if n_cut:
        warnings.warn(
            f"{path}: {n_cut:,} texts were cut: a cell has {CELL_UNITS:,} characters; .parquet and .csv have all",
            stacklevel=4,
        )


_OF_ROWS = {".json": _write_json, ".jsonl": _write_lines, ".ndjson": _write_lines}
_WRITERS = {".csv": _write_csv, **_OF_ROWS, ".xlsx": _write_workbook, **dict.fromkeys(COLUMNAR, _write_columnar)}

__all__ = ["check_writable", "flat", "is_columnar", "path_of", "pieces_of", "read_columnar", "whole_file", "write"]
