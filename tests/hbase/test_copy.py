#!/usr/bin/env python3
"""copy between folders and HBase: both ways and to another HBase, with versions and times; a copy that is killed; refusals."""
import json
import os
import signal
import subprocess
import tempfile
import time

import namespaces
from command import PROGRAM, check, run

SOURCE = os.environ["GROUPERFISH_SOURCE"]


def rows(store):
    """All cells with their versions and times; those that were given no time without."""
    users = [cell for n in (1, 2, 77) for column in ("friend:u2", "log:n", "log:m", "short:x")
             for cell in run("table", "get", "users", f"u{n}", "--column", column, "--versions", "5", store=store)]
    collections = [run(*words, store=store) for words in (("collection", "list"), ("clusters", "posts"), ("export", "posts"), ("members", "posts", "1"), ("builds", "posts"), ("search", "posts", "time"), ("edits", "posts"), ("export", "posts", "--documents"))]
    return users, run("table", "scan", "users", store=store), run("table", "scan", "others", store=store), collections


def make_store(store):
    with open(os.path.join(SOURCE, "tests", "engine", "data", "posts.jsonl"), encoding="utf-8") as posts:
        subprocess.run([PROGRAM, "put", "posts", "-", "--from", "jsonl", "--store", store], stdin=posts, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run("rebuild", "posts", store=store)
    run("delete", "posts", run("export", "posts", store=store)[0]["id"], store=store)
    run("rebuild", "posts", store=store)
    run("rename", "posts", "1", "named", "--by", "me", store=store)
    run("table", "create", "users", "--key", "id", "--family", "info", "--column", "info:age=int64", "--family", "friend:wide,versions=3",
        "--family", "log:versions=3", "--family", "short:ttl=864000", store=store)
    run("table", "create", "others", "--key", "time:int64-desc", "--key", "id", "--family", "main:wide", store=store)
    lines = [{"key": [f"u{n}"], "timestamp": int(time.time() * 1000) - 9000 + k, "cells": {"log": {"n": str(k), **({"m": "x"} if k == 2 else {})}, "friend": {"u2": f"v{k}"}, "short": {"x": str(n)}}}
             for n in range(1, 3000) for k in (1, 2, 3, 4)]
    lines += [{"key": [f"u{n}"], "cells": {"info": {"age": n}}} for n in range(1, 3000)]
    subprocess.run([PROGRAM, "table", "import", "users", "-", "--store", store], input="\n".join(map(json.dumps, lines)), text=True, check=True, stdout=subprocess.DEVNULL)
    for n in range(5):
        run("table", "put", "others", str(n), f"o{n}", "--set", f"main:c{n}={n}", store=store)


def killed_copy(store, to):
    """A copy that is killed after its first rows; the state it leaves."""
    copying = subprocess.Popen([PROGRAM, "copy", store, to, "--progress", "jsonl"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    end = time.time() + 60
    while time.time() < end and "users" not in namespaces.tables("gfcopy"):
        time.sleep(0.02)
    copying.send_signal(signal.SIGKILL)
    return copying.wait()


def main():
    url, other = namespaces.make("gfcopy"), namespaces.make("gfcopytwo")
    with tempfile.TemporaryDirectory() as folder:
        store, back = os.path.join(folder, "store"), os.path.join(folder, "back")
        make_store(store)
        # a copy that is cut short is opened by nobody, and begun anew
        if killed_copy(store, url) == -signal.SIGKILL:
            said = run("table", "list", code=2, store=url)
            check("a copy that was killed is refused", "is a copy of" in said and "not whole" in said)
            check("nor is it copied from", "not whole" in run("copy", url, back, code=2) and not os.path.exists(back))
        begun = time.time()
        told = run("copy", store, url)[0]
        print(f"{told['rows']} rows, {told['bytes']} bytes in {time.time() - begun:.1f} s")
        check("all rows are told", told["tables"] == 2 and told["collections"] == 1 and told["rows"] >= 4 * 2999 + 299)
        check("all versions are there", rows(store) == rows(url))
        check("a namespace with tables is refused", "has tables already" in run("copy", store, url, code=2))
        check("one store twice", "are one store" in run("copy", url, url, code=2))
        run("copy", url, back)
        check("they come back", rows(store) == rows(back))
        check("the copy is sound", run("verify", store=back)[0]["faults"] == 0)
        run("copy", url, other)
        check("from HBase to HBase", rows(store) == rows(other))
        for place in (url, other):
            subprocess.run([PROGRAM, "put", "posts", "-", "--from", "jsonl", "--store", place], input='{"id":"late","text":"a post that came late"}\n', text=True, check=True, stdout=subprocess.DEVNULL)
            check("it is a store like any other", run("rebuild", "posts", store=place)[0]["outcome"] == "rebuilt" and run("doc", "posts", "late", store=place))
        # what HBase cannot keep is told before anything is written
        other = namespaces.make("gfcopytwo")
        run("table", "create", "mine", "--key", "id", "--family", "main", "--namespace", "mine", store=store)
        said = run("copy", store, other, code=2)
        check("tables of other namespaces", 'namespace "mine"' in said)
        check("and nothing is left", namespaces.tables("gfcopytwo") == [])
        run("table", "drop", "mine", "--namespace", "mine", store=store)
        check_applications(folder)


TWEETS = [{"created_at": f"Thu May 05 14:{n % 60:02}:07 +0000 2016", "id_str": str(900 + n), "text": f"Rain number{n % 7} in #town", "lang": "en" if n % 3 else "de",
           "user": {"name": f"A{n}", "screen_name": f"a{n}"}, **({"coordinates": {"type": "Point", "coordinates": [13.4 + n / 100, 52.5]}} if n % 2 else {})} for n in range(300)]
PAPER = os.path.join(SOURCE, "tests", "cli", "data", "papers", "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J.tei.xml")


def fill_applications(store, *where):
    run("tweets", "import", "-", *where, store=store, text="".join(json.dumps(t) + "\n" for t in TWEETS))
    run("tweets", "delete", TWEETS[5]["id_str"], *where, store=store)
    run("papers", "import-cdx", os.path.join(os.path.dirname(PAPER), "crawl.cdx"), *where, code=3, store=store)  # four lines are refused
    run("papers", "import-tei", PAPER, *where, store=store)
    run("papers", "import-tei", PAPER, "--group", "grobid1", *where, store=store)
    run("papers", "import-tei", PAPER, "--table", "7-qa", *where, store=store)


def applications(store):
    tweets = [run("tweets", *words, store=store) for words in (
        ("stats",), ("export",), ("search", "number3"), ("search", "a7"), ("frequency", "--by", "hour"), ("show", "907"), ("top",))]
    papers = [run("papers", *words, store=store) for words in (
        ("list",), ("dump",), ("counts",), ("missing",), ("list", "--table", "7-qa"), ("counts", "--group", "grobid1"))]
    return tweets + papers


def check_applications(folder):
    """Tweets and papers, whose keys have the namespace in a folder alone."""
    url, other, back = namespaces.make("gfcopy"), namespaces.make("gfcopytwo"), os.path.join(folder, "back-apps")
    store = os.path.join(folder, "apps")
    fill_applications(store)
    was = applications(store)
    check("there is something to copy", all(was), [len(rows) for rows in was])
    run("copy", store, url)
    check("tweets and papers are in HBase", applications(url) == was)
    tables = namespaces.tables("gfcopy")
    check("under the names that others know", {"RawTwitterData", "TermIndex", "wbgrp-journal-extract-0-prod", "wbgrp-journal-extract-7-qa"} <= set(tables), tables)
    run("copy", url, back)
    check("they come back", applications(back) == was)
    check("and are sound", run("verify", store=back)[0]["faults"] == 0)
    run("copy", url, other)
    check("from HBase to HBase", applications(other) == was)
    for place in (url, back):
        run("tweets", "import", "-", store=place, text=json.dumps({**TWEETS[0], "id_str": "2000", "text": "Late rain"}) + "\n")
        check("one more counts", run("tweets", "stats", store=place)[0]["tweets"] == len(TWEETS) and run("tweets", "search", "late", store=place))
    # a copy that is killed goes with all its tables
    other = namespaces.make("gfcopytwo")
    copying = subprocess.Popen([PROGRAM, "copy", store, other], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.time() + 60
    while time.time() < end and "RawTwitterData" not in namespaces.tables("gfcopytwo"):
        time.sleep(0.02)
    copying.send_signal(signal.SIGKILL)
    copying.wait()
    told = subprocess.run([PROGRAM, "tweets", "stats", "--store", other], capture_output=True, text=True)
    if "not whole" in told.stderr:
        print("killed")
        run("copy", store, other)
    check("a copy that was killed is begun anew", applications(other) == was)
    # of other namespaces there are none
    fill_applications(store, "--namespace", "mine")
    other = namespaces.make("gfcopytwo")
    said = run("copy", store, other, code=2)
    check("tweets of another namespace", 'namespace "mine"' in said and "RawTwitterData" in said, said)
    check("nothing is left of that", namespaces.tables("gfcopytwo") == [])


if __name__ == "__main__":
    main()
