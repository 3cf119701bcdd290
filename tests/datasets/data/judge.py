#!/usr/bin/env python3
"""Judge the builds of many small collections: the rows of rebuild --format jsonl come as input."""
import json
import sys

builds = [json.loads(line) for line in sys.stdin]
documents = sum(b["documents"] for b in builds)
without = sum(b["without_terms"] for b in builds)
several = sum(1 for b in builds if 2 <= b["k"] <= b["documents"] // 2)
print("all rebuilt" if all(b["outcome"] == "rebuilt" for b in builds) else "some not rebuilt")
print("under 5 % without terms" if without < 0.05 * documents else
      "%d of %d without terms" % (without, documents))
print("2 to 10 clusters in at least 9 of 10" if several >= 0.9 * len(builds) else
      "2 to 10 clusters in %d only" % several)
