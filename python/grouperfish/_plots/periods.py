"""Texts of an estimator's clusters by hours, days, weeks, months, quarters or years of UTC.

The rows are those of ``clusters by`` of docs/operations.md, with the same names of periods, the same
choice of a unit and the same measure of change.
"""

from __future__ import annotations

import datetime
import math
import numbers
from typing import Any, Optional

import_error = None
try:
    import numpy
except ImportError as missing:  # said once somebody asks
    import_error = missing

from .._errors import Invalid

UNITS = ("hour", "day", "week", "month", "quarter", "year")
MILLISECONDS = 100_000_000_000  # a number from here on counts these, as the engine has it
MONDAY = 3  # 1 January 1970 was a Thursday: so many days behind a Monday


def count(labels: Any, times: Any, by: str, periods: Optional[int]) -> dict:
    """{label: its periods and its trend}, of all labels but -1."""
    if import_error is not None:
        raise ImportError("trends of an estimator need numpy: pip install numpy") from import_error
    seconds, known = _seconds_of(times)
    labels = numpy.asarray(labels)
    if len(seconds) != len(labels):
        raise Invalid(f"there are {len(seconds):,} times for {len(labels):,} texts")
    if by != "auto" and by not in UNITS:
        raise Invalid(f'by is "auto", {", ".join(map(repr, UNITS))}, not {by!r}')
    if not known.any():
        raise Invalid("no text has a time")
    most = periods or (48 if by == "auto" else 12)
    unit = _chosen_unit(seconds[known], most) if by == "auto" else by
    index = _numbers(seconds, unit)
    last = int(index[known].max())
    begin = last - most + 1 if by == "auto" else int(index[known].min())
    first = max(int(index[known & (index >= begin)].min()), last - most + 1)
    shown = last - first + 1
    names = [_name(unit, i) for i in range(first, last + 1)]
    table = numpy.zeros((max(int(labels.max()), 0) + 1, shown), dtype="int64")
    counted = known & (index >= first)
    totals = numpy.bincount(index[counted] - first, minlength=shown)
    counted &= labels >= 0
    numpy.add.at(table, (labels[counted], index[counted] - first), 1)
    n_recent = max(1, shown // 4)
    found = {}
    for label in range(len(table)):
        own = labels == label
        change, z = _change(table[label], totals, n_recent)
        found[label] = {
            "unit": unit,
            "periods": [{"period": n, "documents": int(v)} for n, v in zip(names, table[label])],
            "change": change,
            "z": z,
            "trend": "rising" if z >= 2 else "falling" if z <= -2 else "steady",
            "undated": int((own & ~known).sum()),
            "before": int((own & known & (index < first)).sum()),
        }
    return found


def _change(own: Any, totals: Any, n_recent: int) -> tuple:
    """Log of the ratio of odds, recent to earlier, each count plus a half; in standard errors, too."""
    recent, earlier = int(own[-n_recent:].sum()), int(own[:-n_recent].sum())
    all_recent, all_earlier = int(totals[-n_recent:].sum()), int(totals[:-n_recent].sum())
    if all_recent == 0 or all_earlier == 0:
        return 0.0, 0.0
    cells = [recent + 0.5, all_recent - recent + 0.5, earlier + 0.5, all_earlier - earlier + 0.5]
    change = math.log(cells[0] / cells[1]) - math.log(cells[2] / cells[3])
    return change, change / math.sqrt(sum(1 / cell for cell in cells))


def _chosen_unit(seconds: Any, most: int) -> str:
    """The finest whose periods reach back to the first time; one in a hundred does not decide where the
    others' is finer by two steps or more."""

    def finest(spared: int) -> int:
        for at, unit in enumerate(UNITS):
            index = _numbers(seconds, unit)
            if int((index <= index.max() - most).sum()) <= spared:
                break
        return at

    of_all, of_most = finest(0), finest(len(seconds) // 100)
    return UNITS[of_most if of_most + 2 <= of_all else of_all]


def _numbers(seconds: Any, unit: str) -> Any:
    """Units since 1970; of weeks since the Monday before."""
    if unit == "hour":
        return seconds // 3600
    days = seconds // 86400
    if unit == "day":
        return days
    if unit == "week":
        return (days + MONDAY) // 7
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype("int64")
    return months // {"month": 1, "quarter": 3, "year": 12}[unit]


def _name(unit: str, number: int) -> str:
    if unit == "hour":
        return str(numpy.datetime64(number, "h"))
    if unit == "day":
        return str(numpy.datetime64(number, "D"))
    if unit == "week":
        year, week, _ = numpy.datetime64(number * 7 - MONDAY, "D").item().isocalendar()
        return f"{year}-W{week:02d}"
    if unit == "month":
        return str(numpy.datetime64(number, "M"))
    if unit == "quarter":
        return f"{1970 + number // 4}-Q{number % 4 + 1}"
    return str(1970 + number)


def _seconds_of(times: Any) -> tuple:
    """Seconds since 1970, and where there is a time at all."""
    values = numpy.asarray(times)
    if values.ndim != 1:
        raise Invalid("times are a list, an array or a column: one for each text")
    if values.dtype.kind in "fiu":
        known = numpy.isfinite(values)
        values = numpy.where(known, values, 0)
        seconds = numpy.where(abs(values) >= MILLISECONDS, values // 1000, values)
        return seconds.astype("int64"), known
    if values.dtype.kind != "M":
        read = [_read(i, value) for i, value in enumerate(values.tolist())]
        values = numpy.array(read, dtype="datetime64[s]") if read else numpy.zeros(0, "datetime64[s]")
    known = ~numpy.isnat(values)
    seconds = values.astype("datetime64[s]").astype("int64")
    return numpy.where(known, seconds, 0), known


def _read(row: int, value: Any) -> Any:
    """A time of UTC without a zone, or None."""
    if value is None or str(value) in ("", "NaT", "nan", "<NA>"):
        return None
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        except ValueError:
            try:
                return numpy.datetime64(value.strip(), "s").item()
            except ValueError:
                raise Invalid(f"row {row}: {value!r} is no time; ISO 8601 is") from None
    elif isinstance(value, numbers.Real):
        value = value / 1000 if abs(value) >= MILLISECONDS else value
        return datetime.datetime.fromtimestamp(value, datetime.timezone.utc).replace(tzinfo=None)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if not isinstance(value, datetime.date):
        raise Invalid(f"row {row}: {value!r} is no time")
    return value
