"""The package for Python over HBase gives what it gives over a folder.

Environment: GROUPERFISH_HBASE, GROUPERFISH_SOURCE, GROUPERFISH_LIBRARY.
"""
import os
import sys
import tempfile

import namespaces

sys.path.insert(0, os.path.join(os.environ["GROUPERFISH_SOURCE"], "python"))
try:
    import grouperfish
    import numpy
except ImportError as why:
    print(f"skipped: {why}")
    sys.exit(77)

BODIES = ["the cat sat", "a cat purrs", "cats purr", "stocks fell", "stocks rose", "a stock split"]


def columns(table, *left_out):
    return {name: list(values) for name, values in table.to_dict().items() if name not in left_out}


def worked_on(path):
    """What a session of a notebook gives, without times."""
    given = []
    with grouperfish.open(path) as store:
        c = store["feedback"].put({"ticket": [11, 12, 13, 14, 15, 16], "body": BODIES}, id="ticket", text="body")
        c.rebuild(k=2, language="english")
        given += [columns(c.clusters()), columns(c.members()), columns(c.search("cats")), columns(c.assign(["my cat sat"]))]
        rows, ids = c.rows()
        given += [numpy.asarray(rows.todense()).tolist() if hasattr(rows, "todense") else rows.shape, list(ids)]
        c.rename(1, "Cats of all kinds")
        given.append(columns(c.clusters()))
        c.undo()
        c.merge([1, 2], reason="one")
        given.append(columns(c.clusters()))
        c.undo()
        c.delete([11])
        c.rebuild(k=2)
        given += [columns(c.clusters()), [b["documents"] for b in c.builds()], c.doc(12)["text"]]
        given.append([store.status()[name] for name in ("collections", "documents", "builds")])
    with grouperfish.open(path) as store:
        given.append(columns(store["feedback"].members()))
    return given


def main():
    url = namespaces.make("gfpython")
    with tempfile.TemporaryDirectory() as folder:
        want = worked_on(os.path.join(folder, "store"))
    got = worked_on(url)
    for i, (a, b) in enumerate(zip(want, got, strict=True)):
        if a != b:
            sys.exit(f"failed: answer {i} is {b}, and of a folder {a}")
    print("ok", len(want), "answers are a folder's")
    with grouperfish.open(url) as store:
        try:
            store.backup(os.path.join(tempfile.gettempdir(), "none.backup"))
        except grouperfish.Invalid as refused:
            print("ok a backup is refused:", refused)
        else:
            sys.exit("failed: a backup of a store in HBase")


if __name__ == "__main__":
    main()
