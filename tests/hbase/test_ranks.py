#!/usr/bin/env python3
"""rebuild --ranks of a collection in HBase: the build that ranks make in a folder, to the byte, and after a rank was killed.

Environment: GROUPERFISH_PROGRAM, GROUPERFISH_SOURCE; GROUPERFISH_RANK_BUILT, the program grouperfish-rank, or empty.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import namespaces
from command import PROGRAM, check

SOURCE, RANK = (os.environ.get(name, "") for name in ("GROUPERFISH_SOURCE", "GROUPERFISH_RANK_BUILT"))
JOB = f"hbase-{os.getpid()}"
if not RANK or not shutil.which("mpirun"):
    print("skipped: built without Open MPI, or there is no mpirun")
    sys.exit(77)
ENVIRON = {**os.environ, "GROUPERFISH_RANK": RANK, "GROUPERFISH_TEST_JOB": JOB, "ASAN_OPTIONS": "detect_leaks=0"}  # of Open MPI's own
REBUILD = ("rebuild", "c", "--force", "--start", "fresh", "-k", "12", "--ranks")


def run(store, *words):
    told = subprocess.run([PROGRAM, *words, "--store", store, "--format", "jsonl", "--progress", "none"] if words[0] == "rebuild" else
                          [PROGRAM, *words, "--store", store, "--format", "jsonl"],
                          capture_output=True, text=True, timeout=600, check=False, env=ENVIRON)
    if told.returncode:
        sys.exit(f"{words}: {told.returncode}: {told.stdout}{told.stderr}")
    return told.stdout


def content(store):
    """All that a build gives but for its number, with what search and similar read."""
    first = json.loads(run(store, "export", "c").splitlines()[0])["id"]
    return [re.sub(r'"(build|next)":(\d+|"[^"]*")', "", run(store, *words)) for words in (("export", "c"), ("clusters", "c"), ("terms", "c"), ("members", "c", "1"),
                                             ("search", "c", "the -guitar", "--limit", "20"), ("similar", "c", first))]


def many_posts():
    """Posts, of which each is there twenty times, with some other words."""
    with open(os.path.join(SOURCE, "tests", "engine", "data", "posts.jsonl"), encoding="utf-8") as posts:
        rows = [json.loads(line) for line in posts]
    return "".join(json.dumps({"id": f"{row['id']}-{i}", "text": f"{row['text']} w{i}ng"}) + "\n" for i in range(20) for row in rows)


def a_rank():
    """The process of a rank of ours, if there is one."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as words, open(f"/proc/{entry}/environ", "rb") as environ:
                if b"grouperfish-rank" in words.read().split(b"\0")[0] and f"GROUPERFISH_TEST_JOB={JOB}".encode() in environ.read().split(b"\0"):
                    return int(entry)
        except OSError:
            continue
    return None


def killed_rebuild(store, folder):
    """A rebuild one of whose ranks is killed while texts are handed out; its outcome, and how often its job was started."""
    script, starts = os.path.join(folder, "rank"), os.path.join(folder, "starts")
    with open(script, "w", encoding="utf-8") as f:
        f.write(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 0 ] || echo started >>{starts}\nexec {RANK} "$@"\n')
    os.chmod(script, 0o755)
    p = subprocess.Popen([PROGRAM, *REBUILD, "3", "--store", store, "--progress", "jsonl", "--format", "jsonl"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**ENVIRON, "GROUPERFISH_RANK": script})
    killed = None
    for line in p.stderr:
        if killed is None and '"reading"' in line:
            killed = a_rank()
            if killed:
                os.kill(killed, signal.SIGKILL)
    outcome = json.loads(p.communicate(timeout=600)[0])["outcome"]
    with open(starts, encoding="utf-8") as f:
        return outcome, len(f.readlines())


def main():
    url = namespaces.make("gfranks")
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        posts = many_posts()
        for at in url, store:
            subprocess.run([PROGRAM, "put", "c", "-", "--from", "jsonl", "--store", at], input=posts, text=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run(store, *REBUILD, "3")
        want = content(store)
        for n in 1, 2, 3:
            run(url, *REBUILD, str(n))
            check(f"{n} ranks give the build of a folder", content(url) == want)
        outcome, starts = killed_rebuild(url, folder)
        check(f"a job whose rank was killed begins again: {outcome}, {starts} starts", (outcome, starts) == ("rebuilt", 2))
        check("and gives the same build", content(url) == want)


if __name__ == "__main__":
    main()
