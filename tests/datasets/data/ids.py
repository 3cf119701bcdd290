#!/usr/bin/env python3
"""How ids go on from one export to the next, of the same collection and in the order of time.

    ids.py KEPT RETURNED EXPORT.jsonl EXPORT.jsonl...

Says whether at least KEPT of the documents keep their id from one export to the next, over all
steps; whether an id came back after it had been gone; and, where documents are seen more than
twice, whether at most RETURNED of them are again in a cluster that they had left for another.
"""
import json
import sys


def read(path):
    with open(path, encoding="utf-8") as rows:
        return {row["id"]: row.get("cluster") for row in map(json.loads, rows)}


def percent(share):
    return "%g %%" % (100 * share)


least, most = float(sys.argv[1]), float(sys.argv[2])
exports = [read(path) for path in sys.argv[3:]]
both = [(now[i], after[i]) for now, after in zip(exports, exports[1:]) for i in now if i in after]

seen, last, back = set(), set(), set()
for export in exports:
    ids = set(export.values()) - {None}
    back |= ids & seen - last
    seen, last = seen | ids, ids

paths = {}
for export in exports:
    for document, cluster in export.items():
        path = paths.setdefault(document, [])
        path.append(cluster)
long = [path for path in paths.values() if len(path) > 2]
returned = 0
for path in long:
    changes = [c for i, c in enumerate(path) if i == 0 or c != path[i - 1]]
    returned += len(set(changes)) < len(changes)

kept = sum(a == b for a, b in both) / len(both)
print("at least", percent(least), "keep their id" if kept >= least else "do not: " + percent(kept))
print("no id came back" if not back else "ids came back: %s" % sorted(back))
if long:
    share = returned / len(long)
    print("at most", percent(most), "went back" if share <= most else "did not: " + percent(share))
