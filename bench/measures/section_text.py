"""Text to TF-IDF rows: megabytes of UTF-8 text a second, beside scikit-learn's TfidfVectorizer."""
import os

import ours
from data import LARGE
from process import has_program, run_python
from tables import number, table, times
from turns import take_turns

NAME = "text"
TITLE = "Text to TF-IDF"
NEEDS = ("rebuild",)
USES = ("vectorize",)
PEER = "scikit-learn `TfidfVectorizer`, no stemming"


def cases(collections, _quick):
    large = [one for one in collections if one.name in LARGE] or collections
    return [(one, None) for one in large]


def systems_of(path, store, limit):
    """{name: function of a seed, which has no part here}"""
    systems = {PEER: lambda _: run_python("peers.py", {"measure": NAME, "texts": path}, limit)}
    for threads in sorted({1, os.cpu_count()}):
        name = f"Grouperfish, {threads} thread{'s' if threads > 1 else ''}"
        if has_program("vectorize"):
            systems[name] = lambda _, n=threads: ours.text_from_memory(path, n, limit)
        name += ", read from a store"
        systems[name] = lambda _, n=threads: ours.text_from_store(store, n, limit)
    return systems


def measure(collection, _k, plan, _work):
    with ours.Store() as store:
        store.put(collection.path)
        store.set_rows_alone()
        return take_turns(plan, systems_of(collection.path, store, plan.limit))


def rows_of(figures):
    peer = figures[PEER]
    for system, one in figures.items():
        if one:
            yield [system, number(one["seconds"]), number(peer["bytes"] / 1e6 / one["seconds"]),
                   times(peer["seconds"], one["seconds"]), number(one["mib"])]


def show(results):
    """results: {(collection, k): figures}."""
    parts = []
    for (collection, _), figures in results.items():
        if figures[PEER]:
            size = f"{figures[PEER]['bytes'] / 1e6:.1f} MB"
            head = [f"{collection}, {size}", "seconds", "MB/s", "times as fast", "peak MiB"]
            parts.append(table(head, rows_of(figures)))
    return "\n\n".join(parts)
