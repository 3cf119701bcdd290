"""Putting documents and looking them up, beside bare LevelDB with the same entries: what
bench_store measures.

It lets both take turns, three times, and prints medians; so it is run once.
"""
import re
import tempfile

from data import LARGE
from process import Failed, bench_program, run
from tables import number, table

NAME = "store"
TITLE = "The store beside bare LevelDB"
NEEDS = ("store",)
USES = ()
LINE = re.compile(r"^(\S.*?) +([0-9.]+) s +([0-9.]+) /s +[0-9.]+ us$", re.MULTILINE)


def cases(collections, _quick):
    large = [one for one in collections if one.name in LARGE] or collections
    return [(one, None) for one in large]


def measure(collection, _k, plan, work):
    plan.say("  three runs of each")
    with tempfile.TemporaryDirectory(dir=work) as folder:
        told = run([bench_program("store"), collection.path, folder]).out.decode()
    lines = [{"what": what, "seconds": float(seconds), "rate": float(rate)}
             for what, seconds, rate in LINE.findall(told)]
    if not lines:
        raise Failed("bench_store printed no line such as 'put, from memory 1.0 s 1000 /s 1.0 us', "
                     f"but: {told[-300:]!r}")
    said = [line for line in told.splitlines() if not LINE.match(line)]
    return {"lines": lines, "said": said[1:]}  # the first names a folder that is gone


def show(results):
    parts = []
    for (collection, _), told in results.items():
        rows = [[one["what"], number(one["seconds"]), f"{one['rate']:,.0f}",
                 number(1e6 / one["rate"])] for one in told["lines"]]
        parts.append(table([collection, "seconds", "a second", "µs each"], rows))
        parts += told["said"]
    return "\n\n".join(parts)
