#!/usr/bin/env python3
"""Memory of rebuilds on real collections: what --dry-run says is 0.7 to 1.3 times the largest
anonymous resident memory that a rebuild then has, and one with --memory 150M stays below that, with
at least 0.93 of the mean cosine. Ends with 77 without GROUPERFISH_DATA. Environment:
GROUPERFISH_PROGRAM."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

DATA, PROGRAM = os.environ.get("GROUPERFISH_DATA"), os.environ.get("GROUPERFISH_PROGRAM")
COLLECTIONS = [("20newsgroups/20newsgroups.jsonl.gz", (20, 100, 1000), None),
               ("reddit-posts/reddit-posts.jsonl.zst", (20, 100), 150)]


def run(*words):
    return subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()


def rebuild(store, *words):
    """The row of a rebuild, and the most MiB of anonymous memory that it was seen with."""
    peak = 0
    with subprocess.Popen([PROGRAM, "rebuild", "c", "--store", store, "--force", "--start", "fresh",
                           "--threads", "2", "--format", "jsonl", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                    found = re.search(r"RssAnon:\s+(\d+)", file.read())
            except OSError:
                break
            peak = max(peak, int(found.group(1)) if found else 0)
            time.sleep(0.001)
        row = process.stdout.read()
    if process.returncode:
        sys.exit(f"rebuild {' '.join(words)} failed")
    return json.loads(row), peak / 1024


def main():
    if not DATA or not PROGRAM or not os.path.exists(PROGRAM):
        sys.exit(77)
    faults = 0
    for name, ks, bound in COLLECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "store")
            run("put", "--store", store, "c", os.path.join(DATA, name))
            for k in ks:
                run("config", "set", "--store", store, "c", f"k={k}")
                said = rebuild(store, "--dry-run")[0]["memory"] / 2**20
                built, peak = rebuild(store)
                good = 0.7 <= said / peak <= 1.3
                faults += not good
                print(f"{name} k={k}: said {said:.0f}M, was {peak:.0f}M, {said / peak:.2f}"
                      f"{'' if good else '  WRONG'}", flush=True)
                if not bound:
                    continue
                some, peak = rebuild(store, "--memory", f"{bound}M")
                share = some["objective"] / built["objective"]
                good = peak <= bound and share >= 0.93
                faults += not good
                print(f"  --memory {bound}M: {peak:.0f}M, {share:.4f} of the mean cosine"
                      f"{'' if good else '  WRONG'}", flush=True)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
