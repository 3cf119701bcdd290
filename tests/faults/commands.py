"""A small store with a bit of everything, and every command that writes to one.

A command has its words (STORE, IN and TO stand for the store, the folder of inputs and a path that
is not there yet), the probes that show what it changes, and what it promises: `whole` ones leave the
state before or the state behind them, others may stop between two of their records.
"""
import gzip
import json
import os
import random
import shutil
import tarfile
import zipfile

import injected

WORDS = [line.split() for line in (
    "engine wheel brake tyre road motor gear clutch petrol garage driver lane",
    "guitar chord string melody band song drum bass tune concert piano choir",
    "bread flour oven dough yeast crust butter salt sugar baker cake recipe")]
TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>Bees, and how they dance</title></titleStmt>
<sourceDesc><biblStruct><analytic><author><persName><forename>Karl</forename><surname>Frisch</surname></persName></author></analytic>
</biblStruct></sourceDesc></fileDesc></teiHeader><text><body><p>Round and waggle %d.</p></body></text></TEI>"""
DIGESTS = "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J", "VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N", "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
VOLATILE = {"build", "time", "modified", "seconds", "processed", "rebuilt", "store", "to", "backup", "bytes", "from_build"}

PROBES = {
    "documents": ["export", "--all", "--documents"],
    "collections": ["collection", "list"],
    "clusters": ["clusters", "feedback"],
    "members": ["export", "feedback"],
    "all members": ["export", "--all"],
    "builds": ["builds", "feedback"],
    "configuration": ["config", "show", "feedback"],
    "configurations": ["config", "list", "feedback"],
    "tables": ["table", "list"],
    "users": ["table", "scan", "users"],
    "others": ["table", "scan", "others"],
    "tweets": ["tweets", "search", "rain", "--limit", "0"],
    "papers": ["papers", "dump"],
    "lines": ["table", "scan", "web"],
}


class Command:
    """again: whether the same once more comes to the same; to: it makes a store of what is in TO."""

    def __init__(self, name, words, *probes, whole=True, again=True, to=None, good=(0,), store="store"):
        self.name, self.words, self.probes = name, words, ("documents", *probes) if store else probes
        self.whole, self.again, self.to, self.good, self.store = whole, again, to, good, store

    def line(self, folder):
        put = {"STORE": os.path.join(folder, self.store or "none"), "IN": os.path.join(folder, "in"), "TO": os.path.join(folder, "to")}
        words = self.words.split()
        for name, value in put.items():
            words = [value + word[len(name):] if word == name or word.startswith(name + "/") else word for word in words]
        with_store = [] if "--store" in words else ["--store", put["STORE"]]
        return [*words, *with_store, "--format", "jsonl"]


COMMANDS = [
    Command("put", "put feedback IN/more.jsonl", whole=False),
    Command("put, results of each", "put feedback IN/more.jsonl --results each", whole=False),
    Command("put, archive", "put archived IN/texts.zip", "collections", whole=False),
    Command("put, several collections", "put {type}-x IN/more.jsonl.gz --also all-x", "collections", whole=False),
    Command("put, rejects", "put feedback IN/refused.jsonl --rejects TO --force", whole=False, good=(3,)),
    Command("put from tweets", "put rain --from tweets", "collections", whole=False),
    Command("put from papers", "put papers --from papers --text title,abstract", "collections", whole=False, good=(0, 3)),
    Command("put, new store", "put first IN/more.jsonl --store TO", store=None, whole=False, to="new"),
    Command("delete", "delete feedback 1 2 3 40", "members", whole=False),
    Command("delete, chosen", "delete feedback --where type=b", "members", whole=False),
    Command("delete, purge", "delete feedback 5 6 --purge", whole=False),
    Command("collection create", "collection create empty", "collections"),
    Command("collection delete", "collection delete feedback", "collections"),
    Command("config set", "config set feedback k=4 min_df=2", "configuration"),
    Command("config set, all", "config set --all seed=7", "configuration"),
    Command("config delete", "config delete feedback fine", "configurations"),
    Command("rebuild", "rebuild feedback --force", "members", again=False),
    Command("rebuild, all", "rebuild --all --force", "all members", whole=False, again=False),
    Command("rebuild, one configuration", "rebuild feedback --config fine --force", "members"),
    Command("publish", "publish feedback FIRST", "members", "builds"),
    Command("pin", "pin feedback FIRST", "builds"),
    Command("unpin", "unpin feedback SECOND", "builds"),
    Command("label", "label feedback 2 named", "clusters"),
    Command("label, unpin", "label feedback 1 --unpin", "clusters"),
    Command("table create", "table create more --key id --family main --column main:n=int64", "tables"),
    Command("table alter", "table alter users --add-family extra:wide", "tables"),
    Command("table drop", "table drop users", "tables", whole=False),
    Command("table put", "table put users u1 --set info:age=40 --set friend:u9=new", "users"),
    Command("table delete", "table delete users u1", "users"),
    Command("table incr", "table incr users u1 --column info:age --by 3", "users", again=False),
    Command("table check-and-put", "table check-and-put users u1 --if info:age=34 --set info:age=35", "users", good=(0, 1), again=False),
    Command("table batch", "table batch IN/batch.jsonl", "users", "others"),
    Command("table import", "table import users IN/rows.jsonl", "users", whole=False),
    Command("tweets import", "tweets import IN/tweets.jsonl", "tweets", whole=False),
    Command("tweets import, deletions", "tweets import IN/stream.jsonl", "tweets", whole=False),
    Command("tweets delete", "tweets delete --from 1970-01-01", "tweets", whole=False),
    Command("papers import-cdx", "papers import-cdx IN/more.cdx", "papers", whole=False),
    Command("papers import-tei", "papers import-tei IN/tei.tar.gz", "papers", whole=False),
    Command("log import", "log import web IN/more.log", "lines", whole=False),
    Command("log delete", "log delete web --keep 30d", "lines", whole=False),
    Command("log rollup", "log rollup web", "lines", whole=False),
    Command("init", "init --store TO", store=None, to="new"),
    Command("upgrade", "upgrade"),
    Command("backup", "backup TO", to="copy"),
    Command("restore", "restore IN/backup --to TO", to="copy"),
    Command("copy", "copy STORE TO", to="copy"),
    Command("repair", "repair --to TO", to="copy"),
    Command("repair, damaged", "repair --to TO", store="damaged", to="repaired", good=(5,)),
    Command("export to a file", "export feedback --documents -o TO", again=False),
    Command("export, matrix", "export feedback --matrix TO", again=False),
    Command("report to a file", "report feedback -o TO", again=False),
    # commands that read
    Command("doc", "doc feedback 7 --why"),
    Command("search", "search feedback guitar"),
    Command("similar", "similar feedback 7"),
    Command("duplicates", "duplicates feedback --min 0.3"),
    Command("assign", "assign feedback IN/more.jsonl"),
    Command("evaluate", "evaluate feedback --label-field type"),
    Command("evaluate figures", "evaluate feedback"),
    Command("status", "status"),
    Command("verify", "verify"),
    Command("tweets top", "tweets top"),
    Command("tweets export", "tweets export -o TO", again=False),
    Command("log report", "log report web"),
]


# ---- the store, and the inputs --------------------------------------------------------------------

def document(n, version, r):
    words = WORDS[n % 3]
    text = " ".join(r.choice(words if r.random() < 0.8 else r.choice(WORDS)) for _ in range(12))
    return json.dumps({"id": str(n), "text": f"{text} {version}", "time": 1277293943 + 3600 * n, "type": "abc"[n % 3]}) + "\n"


def tweet(n):
    return json.dumps({"created_at": f"Thu May 05 14:{n % 60:02}:07 +0000 2016", "id_str": str(n), "text": f"Rain in #Leipzig {n}", "lang": "en",
                       "user": {"name": "Ada", "screen_name": f"ada{n % 3}"}, "coordinates": {"coordinates": [12.3 + n / 100, 51.3]}}) + "\n"


def cdx(n):
    return (f"org,example)/{n}.pdf 20170706005950 http://example.org/{n}.pdf application/pdf 200 {DIGESTS[n]} - - 361006 {n}20058 item/a.warc.gz\n")


def log_line(n):
    return f'10.0.0.{n % 9} - - [13/Jul/2009:00:{n // 60 % 60:02}:{n % 60:02} +0000] "GET /{n} HTTP/1.1" 200 {n}\n'


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_inputs(to):
    r = random.Random(1)
    os.mkdir(to)
    more = "".join(document(n, "as it is now" if n % 2 else "anew", r) for n in range(30, 90))
    write(f"{to}/first.jsonl", "".join(document(n, "as it was", r) for n in range(60)))
    write(f"{to}/more.jsonl", more)
    with gzip.open(f"{to}/more.jsonl.gz", "wt") as file:
        file.write(more)
    write(f"{to}/refused.jsonl", '{"id":"r1","text":"good"}\n{"id":"r2"}\n{"id":"r3","text":"good, too"}\n')
    write(f"{to}/big.jsonl", "".join(json.dumps({"id": f"big {n}", "text": " ".join(r.choices(r.choice(WORDS), k=400))}) + "\n" for n in range(150)))
    with zipfile.ZipFile(f"{to}/texts.zip", "w") as file:
        for n in range(12):
            file.writestr(f"{n}.txt", " ".join(r.choices(WORDS[n % 3], k=30)))
    with tarfile.open(f"{to}/tei.tar.gz", "w:gz") as file:
        for n in range(3):
            write(f"{to}/{n}.tei.xml", TEI % n)
            file.add(f"{to}/{n}.tei.xml", f"{n:040x}.tei.xml")
    write(f"{to}/rows.jsonl", "".join(json.dumps({"key": [f"u{n}"], "cells": {"info": {"name": f"N{n}", "age": 30 + n}, "friend": {"u0": "x"}}}) + "\n" for n in range(1, 40)))
    write(f"{to}/batch.jsonl", '{"table":"users","key":["u1"],"cells":{"friend":{"u7":"new"}}}\n{"table":"others","key":["o1"],"cells":{"main":{"n":7}}}\n')
    write(f"{to}/tweets.jsonl", "".join(map(tweet, range(8, 40))))
    gone = '{"delete":{"status":{"id_str":"%d"}}}\n'
    write(f"{to}/stream.jsonl", "".join(gone % n if n % 3 == 0 else tweet(n) for n in range(4, 20)))
    write(f"{to}/more.cdx", cdx(1) + cdx(2))
    write(f"{to}/more.log", "".join(map(log_line, range(20, 120))))


def make_template(to):
    """The store with its inputs, a backup, and a damaged one; words that stand for its builds."""
    where = os.path.join(to, "in")
    make_inputs(where)
    store = os.path.join(to, "store")

    def good(*words, codes=(0,)):
        told = injected.run([*words, "--store", store, "--format", "jsonl"])
        if told.code not in codes:
            raise RuntimeError(f"{words}: {told.code}: {told.err}")
        return [json.loads(line) for line in told.out.splitlines()]

    def given(name, text):
        write(f"{to}/given-{name}", text)
        return f"{to}/given-{name}"

    good("put", "big", f"{where}/big.jsonl")
    good("put", "feedback", f"{where}/first.jsonl")
    good("config", "set", "feedback", "k=3", "language=english")
    good("config", "set", "feedback", "k=2", "--config", "fine")
    good("config", "set", "big", "k=3")
    good("rebuild", "--all")
    good("tweets", "import", given("tweets", "".join(map(tweet, range(10)))))
    good("papers", "import-cdx", given("cdx", cdx(0) + cdx(1)))
    good("log", "import", "web", given("log", "".join(map(log_line, range(40)))))
    good("table", "create", "users", "--key", "id", "--family", "info", "--column", "info:name=text", "--column", "info:age=int64", "--family", "friend:wide")
    good("table", "create", "others", "--key", "id", "--family", "main", "--column", "main:n=int64")
    good("table", "import", "users", given("rows", '{"key":["u1"],"cells":{"info":{"name":"Ann","age":34},"friend":{"u2":"close"}}}\n{"key":["u2"],"cells":{"info":{"name":"Bo","age":17}}}\n'))
    good("put", "feedback", given("changes", '{"id":"7","text":"a new guitar for the band","type":"b"}\n{"id":"100","text":"an engine without a gear"}\n'))
    good("rebuild", "feedback")
    good("label", "feedback", "1", "pinned label")
    builds = [row["build"] for row in good("builds", "feedback")]
    good("pin", "feedback", str(max(builds)))
    good("backup", os.path.join(where, "backup"))
    shutil.copytree(store, os.path.join(to, "damaged"))
    table = max((os.path.join(to, "damaged", "db", name) for name in os.listdir(os.path.join(to, "damaged", "db"))), key=os.path.getsize)
    with open(table, "r+b") as file:
        file.seek(5000)
        byte = file.read(1)[0]
        file.seek(5000)
        file.write(bytes([byte ^ 4]))
    for command in COMMANDS:
        command.words = command.words.replace("FIRST", str(min(builds))).replace("SECOND", str(max(builds)))


# ---- what a store holds ---------------------------------------------------------------------------

def steady(value):
    """Without what differs from one run to the next."""
    if isinstance(value, dict):
        return {key: steady(v) for key, v in value.items() if key not in VOLATILE or key == "time" and isinstance(v, int)}
    return [steady(v) for v in value] if isinstance(value, list) else value


def probe(name, store):
    """The rows of a probe, as sorted lines without what changes by itself; a message where it fails."""
    told = injected.run([*PROBES[name], "--store", store, "--format", "jsonl"])
    if told.code not in (0, 1) or told.crash():
        return [f"exit code {told.code}: {told.err}"]
    return sorted(json.dumps(steady(json.loads(line)), sort_keys=True) for line in told.out.splitlines())
