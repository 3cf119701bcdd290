#!/usr/bin/env python3
"""Damaged stores: each is repaired, verified, rebuilt and counted.

    damage.py [--damages N] [--seed S] [--only I]

Two stores are made with everything that a store can hold: collections with builds, of two
configurations and in two namespaces; deleted and replaced documents; tables of users with long
values; tweets; papers. One is left as a killed process leaves it, in several tables and a log; the
other is compacted into as few files as there may be. A copy of one is then damaged, by a way and a
place that the seed chooses, and

    repair   ends with 0 or 5, with nothing under --to where it refuses, and then with
             --drop-unreadable; with 0 nothing differs from the sound store
    verify   of what it made finds nothing
    rebuild  --all --force works, and verify finds nothing again
    counts   each collection has as many documents as it says, each of them as it once was put; each
             clustering as many as its collection. What there is less, or more, of anything than in
             the sound store, repair ended with 5 and said why. A log that lost its end is the one
             thing that no file tells of: that is what a loss of power leaves

A repair that may have too few descriptors, or whose calls of the system fail (with strace, where
there is one), ends with 6 and nothing is made, or it has made the same.

GROUPERFISH_PROGRAM names the program.
"""
import argparse
import collections
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ["GROUPERFISH_PROGRAM"]
SOURCE = os.environ["GROUPERFISH_SOURCE"]
WORDS = """river stone winter apple engine silver garden music letter window summer bridge candle
forest market doctor island mirror orange pepper rabbit saddle tunnel valley yellow zipper anchor
basket copper desert falcon guitar hammer jacket kettle lemon magnet needle oyster pillow""".split()


class Failed(Exception):
    pass


def run(*words, store=None, stdin=None, codes=(0,)):
    command = [PROGRAM, *map(str, words)]
    if store:
        command += ["--store", store]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, errors="replace", timeout=600)
    if codes and done.returncode not in codes:
        raise Failed("%s\nexit %d\n%s" % (" ".join(command), done.returncode, done.stderr[-3000:]))
    return done


# ---- the stores ----------------------------------------------------------------------------------

def document(r, i, version):
    topic = WORDS[4 * (i % 8):4 * (i % 8) + 8]
    text = " ".join(r.choice(topic if r.random() < 0.8 else WORDS) for _ in range(90))
    return {"id": "%05d" % i, "text": "%s %d.%d" % (text, i, version), "time": 1400000000 + 3600 * i, "of": str(i % 7)}


class Puts:
    """Puts documents, and keeps every text that an id ever had."""

    def __init__(self, store, r):
        self.store, self.r, self.ever, self.version = store, r, {}, 0

    def put(self, collection, ids, *words):
        self.version += 1
        lines = []
        for i in ids:
            d = document(self.r, i, self.version)
            self.ever.setdefault((collection, d["id"]), set()).add(d["text"])
            lines.append(json.dumps(d))
        run("put", collection, "-", *words, store=self.store, stdin="\n".join(lines) + "\n")


def put_tweets(store, r, first, n):
    lines = []
    for i in range(first, first + n):
        tweet = {"created_at": time.strftime("%a %b %d %H:%M:%S +0000 %Y", time.gmtime(1462458607 + 37 * i)),
                 "id_str": str(i), "text": " ".join(r.choices(WORDS, k=12)) + " #" + r.choice(WORDS),
                 "lang": r.choice(["en", "de", "fr"]), "user": {"name": "Ada", "screen_name": "ada%d" % (i % 5)}}
        if i % 2:
            tweet["coordinates"] = {"coordinates": [12 + i / 100, 51 + i / 200]}
        lines.append(json.dumps(tweet))
    run("tweets", "import", "-", store=store, stdin="\n".join(lines) + "\n")


def put_papers(store, folder, first, n):
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    lines, papers = [], os.path.join(folder, "papers-%d" % first)
    os.mkdir(papers)
    with open(os.path.join(SOURCE, "tests/cli/data/papers/MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J.tei.xml")) as f:
        tei = f.read()
    for i in range(first, first + n):
        sha1 = "".join(digits[(i * 7 + 3 * k * k + i // 32) % 32] for k in range(32))
        lines.append("org,example)/%d.pdf 20170706005950 http://example.org/%d.pdf application/pdf 200 %s - - 361006 %d "
                     "item/a.warc.gz" % (i, i, sha1, 1000 + i))
        if i % 3:
            with open(os.path.join(papers, sha1 + ".tei.xml"), "w") as f:
                f.write(tei.replace("Bees", "Bees %d" % i))
    run("papers", "import-cdx", "-", store=store, stdin="\n".join(lines) + "\n")
    run("papers", "import-tei", papers, store=store)


def put_tables(store, r, first, n):
    lines = []
    for i in range(first, first + n):
        cells = {"info": {"name": "n%d" % i, "age": i}, "friend": {"u%d" % k: "close" for k in range(i % 5)}}
        if i % 20 == 0:
            cells["friend"]["long"] = "".join(r.choices("0123456789abcdef", k=150000))
        lines.append(json.dumps({"key": ["u%04d" % i], "cells": cells}))
    run("table", "import", "users", "-", store=store, stdin="\n".join(lines) + "\n")


def make_store(folder):
    """The store as it was in between, as a killed process leaves it, and compacted: their paths."""
    r = random.Random(7)
    store, early, layered, compacted = (os.path.join(folder, n) for n in ("store", "early", "layered", "compacted"))
    p = Puts(store, r)
    p.put("a", range(0, 500))
    run("config", "set", "a", "k=6", store=store)
    run("rebuild", "a", store=store)
    p.put("gone", range(0, 40))
    run("table", "create", "users", "--key", "id", "--family", "info", "--column", "info:age=int64", "--family",
        "friend:wide", store=store)
    put_tables(store, r, 0, 60)
    run("table", "create", "dropped", "--key", "id", "--family", "info", store=store)
    run("table", "drop", "dropped", store=store)
    put_tweets(store, r, 0, 150)
    p.put("a", range(480, 520))
    shutil.copytree(store, early)
    p.put("a", range(400, 900))
    run("collection", "delete", "gone", store=store)
    run("config", "set", "a", "fine", "k=12", store=store)
    p.put("b", range(0, 250), "--namespace", "other")
    run("config", "set", "b", "k=5", "keep=3", "--namespace", "other", store=store)
    run("rebuild", "--all", store=store)
    run("rebuild", "--all", "--namespace", "other", store=store)
    put_papers(store, folder, 0, 40)
    put_tweets(store, r, 150, 120)
    run("delete", "a", *["%05d" % i for i in range(100, 168)], store=store)
    run("rebuild", "b", "--force", "--namespace", "other", store=store)
    p.put("c", range(0, 300))
    put_tables(store, r, 60, 30)
    put_papers(store, folder, 40, 20)
    run("table", "create", "small", "--key", "n:int64", "--family", "f", store=store)
    run("table", "put", "small", "7", "--set", "f:x=y", store=store)
    p.put("a", range(880, 920))
    run("delete", "a", "00001", "00002", store=store)
    shutil.copytree(store, layered)
    run("delete", "a", "00003", "--purge", store=store)
    os.rename(store, compacted)
    return early, {"layered": layered, "compacted": compacted}, p.ever


# ---- what a store holds --------------------------------------------------------------------------

SPACES = ((), ("--namespace", "other"))


def rows_of(*words, store):
    return [json.loads(line) for line in run(*words, store=store).stdout.splitlines()]


def holds(store, ever=None):
    """Counts of everything. With `ever` each document is one that once was put."""
    found = collections.Counter()
    for space in SPACES:
        listed = rows_of("collection", "list", "--format", "jsonl", *space, store=store)
        for c in listed:
            found["collection " + c["collection"]] = c["size"]
        documents = collections.Counter()
        if listed:
            for d in rows_of("export", "--all", "--documents", "--format", "jsonl", *space, store=store):
                documents[d["collection"]] += 1
                if ever is not None and d["text"] not in ever.get((d["collection"], d["id"]), ()):
                    raise Failed("document %s of %s was never put so" % (d["id"], d["collection"]))
        for c in listed:
            if documents[c["collection"]] != c["size"]:
                raise Failed("collection %s says %d documents and has %d" % (c["collection"], c["size"], documents[c["collection"]]))
    for t in rows_of("table", "list", "--format", "jsonl", store=store):
        rows = rows_of("table", "export", t["table"], store=store)
        found["table " + t["table"]] = len(rows)
        found["cells of " + t["table"]] = sum(len(c) for row in rows for c in row["cells"].values())
    status = json.loads(run("status", "--format", "jsonl", store=store).stdout)
    found["tweets"] = status.get("tweets", 0)
    found["builds"] = status["builds"]
    # Words, minutes and places are derived from the tweets.
    tweets = run("tweets", "search", "ada*", "--field", "user", "--limit", 0, store=store, codes=(0, 1))
    if len(tweets.stdout.splitlines()) != found["tweets"]:
        raise Failed("%d tweets, %d found by their users" % (found["tweets"], len(tweets.stdout.splitlines())))
    papers = run("papers", "dump", "--fields", "c,cdx,tei_xml,tei_json,metadata", "--format", "jsonl", store=store, codes=(0, 1)).stdout.splitlines()
    found["papers"] = len(papers)
    found["texts of papers"] = sum("tei_xml" in line for line in papers)
    return found


def clustered(store):
    """Every clustering has the documents of its collection."""
    for space in SPACES:
        for c in rows_of("collection", "list", "--format", "jsonl", *space, store=store):
            if c["size"] == 0:
                continue
            lines = rows_of("export", c["collection"], "--format", "jsonl", *space, store=store)
            if len(lines) != c["size"]:
                raise Failed("collection %s has %d documents, its clustering %d" % (c["collection"], c["size"], len(lines)))


ENDS = " (a log's end)"


# ---- damages -------------------------------------------------------------------------------------

def is_log_end(path, at):
    """From there on nothing of the log is left: what a loss of power looks like."""
    with open(path, "rb") as f:
        return path.endswith(".log") and not f.read()[at:].strip(b"\0")


def files_of(store, *endings):
    db = os.path.join(store, "db")
    found = [os.path.join(db, n) for n in sorted(os.listdir(db)) if n.endswith(endings)]
    return [f for f in found if os.path.getsize(f)]


def named(store, start):
    db = os.path.join(store, "db")
    return [os.path.join(db, n) for n in sorted(os.listdir(db)) if n.startswith(start)]


def any_file(r, store):
    """By its bytes, but now and then any."""
    every = files_of(store, ".ldb", ".log") + named(store, "MANIFEST") + named(store, "CURRENT") + \
        [os.path.join(store, "grouperfish.store")]
    if r.random() < 0.3:
        return r.choice(every)
    return r.choices(every, [os.path.getsize(f) for f in every])[0]


def flip(r, store, early, n=1):
    f = any_file(r, store)
    with open(f, "r+b") as file:
        content = bytearray(file.read())
        at = [r.randrange(len(content)) for _ in range(n)]
        for i in at:
            content[i] ^= 1 << r.randrange(8)
        file.seek(0)
        file.write(content)
    return "%s: %d bits, at %s" % (os.path.basename(f), n, at[:4])


def flip_many(r, store, early):
    return flip(r, store, early, r.choice([2, 5, 40]))


def zero_page(r, store, early):
    f = r.choice(files_of(store, ".ldb", ".log") + named(store, "MANIFEST"))
    at = r.randrange(0, os.path.getsize(f), 4096)
    n = min(4096, os.path.getsize(f) - at)
    with open(f, "r+b") as file:
        file.seek(at)
        file.write(b"\0" * n)
    return "%s: %d zeros at %d%s" % (os.path.basename(f), n, at, ENDS if is_log_end(f, at) else "")


def cut(r, store, early):
    f = r.choice(files_of(store, ".ldb", ".log") + named(store, "MANIFEST"))
    n = r.randrange(os.path.getsize(f))
    os.truncate(f, n)
    return "%s: cut to %d bytes%s" % (os.path.basename(f), n, ENDS if f.endswith(".log") else "")


def lose(r, store, early):
    f = r.choice(files_of(store, ".ldb", ".ldb", ".log") + named(store, "MANIFEST") + named(store, "CURRENT") +
                 [os.path.join(store, "grouperfish.store")])
    os.remove(f)
    return "%s: lost" % os.path.basename(f)


def lose_tables(r, store, early):
    tables = files_of(store, ".ldb")
    lost = r.sample(tables, r.randint(1, max(1, len(tables) // 2)))
    for f in lost:
        os.remove(f)
    return "%s: lost" % " ".join(map(os.path.basename, lost))


def odd_current(r, store, early):
    text = r.choice(["", "nonsense\n", "MANIFEST-999999\n", "MANIFEST-000002", "LOG\n", "../../CURRENT\n"])
    with open(os.path.join(store, "db", "CURRENT"), "w") as f:
        f.write(text)
    return "CURRENT: %r" % text


def old_manifest(r, store, early):
    [theirs], [ours] = named(early, "MANIFEST"), named(store, "MANIFEST")
    shutil.copy(theirs, ours if r.random() < 0.5 else os.path.join(store, "db"))
    if r.random() < 0.5:
        shutil.copy(os.path.join(early, "db", "CURRENT"), os.path.join(store, "db"))
    return "MANIFEST of another time"


def foreign_log(r, store, early):
    logs = named(early, "0")
    theirs = r.choice([f for f in logs if f.endswith(".log")])
    highest = max(int(re.match(r"\d+", os.path.basename(f)).group()) for f in named(store, "0"))
    ours = r.choice([f for f in named(store, "0") if f.endswith(".log")] +
                    [os.path.join(store, "db", "%06d.log" % (highest + 1))])
    shutil.copy(theirs, ours)
    return "%s: a log of another time" % os.path.basename(ours)


def foreign_table(r, store, early):
    ours, theirs = r.choice(files_of(store, ".ldb")), r.choice(files_of(early, ".ldb"))
    shutil.copy(theirs, ours)
    return "%s: a table of another time" % os.path.basename(ours)


def garbage(r, store, early):
    f = r.choice(files_of(store, ".ldb", ".log") + named(store, "MANIFEST") + named(store, "CURRENT"))
    with open(f, "wb") as file:
        file.write(r.randbytes(r.choice([0, 1, 47, 48, 5000])))
    return "%s: garbage" % os.path.basename(f)


def several(r, store, early):
    return "; ".join(r.choice([flip, zero_page, cut, lose, odd_current])(r, store, early) for _ in range(2))


WAYS = [flip] * 8 + [flip_many] * 2 + [zero_page] * 3 + [cut] * 3 + [lose] * 2 + [lose_tables] * 2 + \
    [odd_current, old_manifest, foreign_log, foreign_log, foreign_table, garbage, several, several]


# ---- one damage ----------------------------------------------------------------------------------

class Trial:
    def __init__(self, folder, seed):
        self.folder, self.seed = folder, seed
        self.early, self.stores, self.ever = make_store(folder)
        self.sound = {name: holds(store, self.ever) for name, store in self.stores.items()}
        self.found = collections.Counter()

    def repair(self, store, to):
        """Its exit code, and what it told."""
        done = run("repair", "--to", to, store=store, codes=(0, 5))
        if done.returncode == 0 or os.path.exists(to):
            return done.returncode, done.stderr
        if "--drop-unreadable" not in done.stderr:
            raise Failed("repair refuses without a way on:\n" + done.stderr[-2000:])
        self.found["with --drop-unreadable"] += 1
        done = run("repair", "--to", to, "--drop-unreadable", store=store, codes=(5,))
        if not os.path.exists(to):
            raise Failed("repair --drop-unreadable makes nothing:\n" + done.stderr[-2000:])
        return done.returncode, done.stderr

    def check(self, name, to, code, told, is_end=False):
        run("verify", store=to)
        now, before = holds(to, self.ever), self.sound[name]
        self.found["documents lost"] += max(0, sum(before[k] - now[k] for k in before if k.startswith("coll")))
        if code == 0 and now != before and not is_end:
            raise Failed("exit code 0, but %s" % {k: (before[k], now[k]) for k in before | now if before[k] != now[k]})
        if code == 5 and not told.strip():
            raise Failed("exit code 5 without a word")
        for space in SPACES:
            run("rebuild", "--all", "--force", *space, store=to)
        clustered(to)
        run("verify", store=to)

    def one(self, i):
        r = random.Random(self.seed * 1000003 + i)
        name = r.choice(sorted(self.stores))
        store, to = os.path.join(self.folder, "damaged"), os.path.join(self.folder, "repaired")
        for path in (store, to, to + ".new"):
            shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.stores[name], store)
        way = WAYS[i % len(WAYS)]
        what = "%s, %s" % (name, way(r, store, self.early))
        try:
            code, told = self.repair(store, to)
            if os.path.exists(to + ".new"):
                raise Failed("something is left beside it")
            self.check(name, to, code, told, ENDS in what)
        except Failed as e:
            print("damage %d (%s)\n%s\n" % (i, what, e), flush=True)
            self.found["failed"] += 1
            return False
        self.found["exit %d" % code] += 1
        if i % 50 == 49:
            print("%d damages" % (i + 1), flush=True)
        return True


    # ---- failing calls

    def faulty(self, what, begin):
        """A repair of a sound store that began in an odd way."""
        store, to = self.stores["layered"], os.path.join(self.folder, "repaired")
        for path in (to, to + ".new"):
            shutil.rmtree(path, ignore_errors=True)
        done = begin([PROGRAM, "repair", "--to", to, "--store", store])
        try:
            if "SanitizerTool: CHECK failed" in done.stderr: # it writes to see what memory is there
                self.found["fault of the sanitizer's own calls"] += 1
            elif done.returncode in (0, 5) and holds(to, self.ever) == self.sound["layered"]:
                self.found["fault, exit %d" % done.returncode] += 1
            elif done.returncode in (0, 5):
                raise Failed("it ended with %d, and is not the same" % done.returncode)
            elif os.path.exists(to):
                raise Failed("it ended with %d, and there is something" % done.returncode)
            elif done.returncode == 127 and "error while loading shared libraries" in done.stderr:
                self.found["fault before the program began"] += 1
            elif done.returncode != 6:
                raise Failed("it ended with %d\n%s" % (done.returncode, done.stderr[-2000:]))
            else:
                self.found["fault, exit 6"] += 1
        except Failed as e:
            print("%s\n%s\n" % (what, e), flush=True)
            self.found["failed"] += 1
            return False
        return True

    def few_descriptors(self, most):
        def begin(command):
            return subprocess.run(command, capture_output=True, text=True, timeout=600,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
        return self.faulty("%d descriptors" % most, begin)

    def failing_call(self, call, error, path=None, when=None):
        strace = ["strace", "-f", "-qqq", "-o", "/dev/null"] + (["-P", path] if path else [])
        strace += ["-e", "inject=%s:error=%s%s" % (call, error, ":when=%d" % when if when else "")]

        # The leak sanitizer does not work below a tracer.
        options = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")

        def begin(command):
            return subprocess.run(strace + command, capture_output=True, text=True, timeout=600, env=options)
        return self.faulty("%s of %s: %s%s" % (call, path or "any", error, ", call %d" % when if when else ""), begin)

    def faults(self, n):
        r = random.Random(self.seed)
        good = [self.few_descriptors(most) for most in sorted(r.sample(range(7, 40), min(n, 33)))]
        if not shutil.which("strace") or subprocess.run(["strace", "-o", "/dev/null", "true"]).returncode:
            print("no call fails: strace is not there, or may not trace")
            return good
        db = os.path.join(self.stores["layered"], "db")
        files = [os.path.join(db, f) for f in sorted(os.listdir(db)) if not f.startswith("LO")]
        for _ in range(n):
            good.append(self.failing_call(r.choice(["openat", "pread64", "read"]), r.choice(["EIO", "EMFILE", "ENOMEM"]),
                                          path=r.choice(files)))
            good.append(self.failing_call(r.choice(["write", "fdatasync", "fsync", "rename", "openat", "pread64"]),
                                          r.choice(["EIO", "ENOSPC"]), when=r.randint(1, 60)))
        return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--damages", type=int, default=28)
    parser.add_argument("--faults", type=int, help="of each kind (an eighth of the damages)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", action="store_true", help="the folder, of --only")
    o = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="grouperfish-damage-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    begin = time.time()
    try:
        trial = Trial(folder, o.seed)
        wanted = [o.only] if o.only is not None else range(o.damages)
        good = [trial.one(i) for i in wanted]
        if o.only is None:
            good += trial.faults(o.faults if o.faults is not None else o.damages // 8)
        print("%d damages and faults in %.0f s: %s" % (len(good), time.time() - begin,
                                            ", ".join("%s %d" % kv for kv in sorted(trial.found.items()))))
        return 0 if all(good) else 1
    finally:
        if o.keep:
            print(folder)
        else:
            shutil.rmtree(folder)


sys.exit(main())
