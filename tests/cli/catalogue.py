#!/usr/bin/env python3
"""papers match with 100,000 works of a made Crossref file: whole, in parts, in other parts, in any order
and twice over, it gives the same matches; with decoys, precision and recall are printed.

    catalogue.py [WORKS]

The papers are made, and, where GROUPERFISH_DATA is set, the samples of papers-tei with them.
Environment: GROUPERFISH_PROGRAM, GROUPERFISH_DATA (may be unset).
"""
import base64
import gzip
import hashlib
import html
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ["GROUPERFISH_PROGRAM"]
DATA = os.environ.get("GROUPERFISH_DATA")
WORKS = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
PAPERS, PARTS = 400, 10
chance = random.Random(7)
folder = tempfile.mkdtemp(prefix="catalogue-")
words = ["analysis", "bees", "cellular", "dance", "effects", "fields", "galaxies", "heat", "islands", "kinetics",
         "learning", "membranes", "neural", "oceans", "proteins", "quantum", "rivers", "soils", "théorie", "urban",
         "viruses", "waves", "yeast", "zinc", "growth", "networks", "models", "structure", "über", "transport"]
surnames = ["Frisch", "Müller", "Okafor", "Nguyen", "García", "O'Brien", "Sato", "Ivanova", "de Vries", "Lovelace",
            "Curie", "Noether", "Turing", "Chandra", "Hopper", "Silva", "Kowalski", "Haddad", "Eriksson", "Mbeki"]


def run(*arguments, store="s", code=0):
    done = subprocess.run([PROGRAM, *arguments, "--store", os.path.join(folder, store)],
                          capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"{arguments}: exit {done.returncode}: {done.stderr}")
    return done


def title_of(i):
    picked = chance.sample(words, chance.randint(4, 8))
    title = " ".join(picked).capitalize()
    return f"{title} of {chance.choice(words)} {i}" if chance.random() < 0.9 else f"{title}: {chance.choice(words)} & {i}"


def authors_of():
    return chance.sample(surnames, chance.randint(1, 5))


def tei(title, authors):
    people = "".join(f"<author><persName><forename>A</forename><surname>{html.escape(a)}</surname></persName></author>"
                     for a in authors)
    return (f"<TEI xmlns='http://www.tei-c.org/ns/1.0'><teiHeader><fileDesc><titleStmt><title level='a' type='main'>"
            f"{html.escape(title)}</title></titleStmt><sourceDesc><biblStruct><analytic>{people}</analytic>"
            f"</biblStruct></sourceDesc></fileDesc></teiHeader><text><body><p>Words.</p></body></text></TEI>").encode()


def written(title):
    """A title as a publisher may have sent it to Crossref: the members title and subtitle."""
    way = chance.randrange(5)
    if way == 0:
        first, rest = title.split(" ", 1)
        return {"title": [f"<i>{first}</i> {html.escape(rest)}"]}
    if way == 1 and ": " in title:
        main, sub = title.split(": ", 1)
        return {"title": [main], "subtitle": [sub]}
    if way == 2:
        return {"title": [html.escape(html.escape(title.upper()))]}
    if way == 3:
        return {"title": [f"\n   {title}.\n  "]}
    return {"title": [title]}


def work(doi, title, authors, **more):
    people = [{"given": "A.", "family": a, "sequence": "additional", "affiliation": []} for a in authors]
    if chance.random() < 0.05 and people:
        people.append({"name": "The Grand Collaboration", "sequence": "additional"})
    record = {"indexed": {"timestamp": 1700000000000}, "DOI": doi, "type": "journal-article", **written(title),
              "author": people, **more}
    return json.dumps(record, ensure_ascii=False)


def decoys(i, title, authors):
    """Near misses: none of them may become a match."""
    others = [s for s in surnames if s not in authors]
    yield work(f"10.6/other-authors-{i}", title, chance.sample(others, 2))
    yield work(f"10.6/one-more-author-{i}", title, authors + [others[0]])
    yield work(f"10.6/erratum-{i}", "Erratum: " + title, authors)
    yield work(f"10.6/reply-{i}", "Reply to: " + title, authors)
    yield work(f"10.6/part-{i}", title + " II", authors)
    yield work(f"10.6/review-{i}", title + ": a review", authors)
    yield work(f"10.6/points-{i}", ".".join(title), authors)
    yield json.dumps({"DOI": f"10.6/no-authors-{i}", "title": [title]})


# The papers: most have a work, some have two (which is ambiguous), some none.
lines, truth = [], {}
os.mkdir(os.path.join(folder, "tei"))
for i in range(PAPERS):
    title, authors = title_of(i), authors_of()
    with open(os.path.join(folder, "tei", f"{i}.tei.xml"), "wb") as f:
        f.write(tei(title, authors))
    sha1 = hashlib.sha1(tei(title, authors)).digest()
    kind = "none" if i % 8 == 0 else "two" if i % 8 == 1 else "one"
    if kind != "none":
        lines.append(work(f"10.5/WORK-{i}", title, authors))
    if kind == "two":
        lines.append(lines[-1].replace("10.5/WORK", "10.5/TWIN"))
    lines += decoys(i, title, authors)
    truth[base64.b32encode(sha1).decode()] = (kind, f"10.5/work-{i}")
run("papers", "import-tei", os.path.join(folder, "tei"), "--hash")

# The samples, each by a record of its own metadata.
samples = set()
if DATA:
    run("papers", "import-tei", os.path.join(DATA, "papers-tei", "papers-tei.tar.gz"), "--hash")
    for line in run("papers", "dump", "--fields", "metadata", "--format", "jsonl").stdout.splitlines():
        row = json.loads(line)
        paper = json.loads(row.get("metadata") or "{}")
        if row["sha1"] in truth:
            continue
        title, authors = paper.get("title", ""), [a["surname"] for a in paper.get("authors", []) if a.get("surname")]
        i = len(samples)
        samples.add(row["sha1"])
        doi = paper.get("doi") or f"10.5/sample-{i}"
        known = sum(c.isalnum() for c in title) >= 8 and len(authors) > 0
        truth[row["sha1"]] = ("one" if known else "none", doi.lower())
        if title:
            lines.append(work(doi.upper(), title, authors))
            lines += decoys(1000000 + i, title, authors or ["Nobody"])
while len(lines) < WORKS:
    i = len(lines)
    lines.append(work(f"10.7/{i}", title_of(i), authors_of()))
chance.shuffle(lines)


def write(name, part, wrapped):
    path = os.path.join(folder, name + (".json" if wrapped else ".jsonl") + ".gz")
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as f:
        f.write('{"items":[' + ",\n".join(part) + "]}" if wrapped else "\n".join(part) + "\n")
    return path


def cut(name, n):
    at = [0] + sorted(chance.sample(range(1, len(lines)), n - 1)) + [len(lines)]
    return [write(f"{name}-{i}", lines[a:b], i % 2 == 1) for i, (a, b) in enumerate(zip(at, at[1:]))]


def dump(store):
    return run("papers", "dump", "--fields", "mstatus,doi,minfo", "--format", "jsonl", store=store).stdout.splitlines()


parts, others = cut("part", PARTS), cut("other", 7)
mixed = chance.sample(parts, PARTS)
orders = {"whole": [[write("whole", lines, False)]], "together": [parts], "parts": [[p] for p in parts],
          "reversed": [[p] for p in reversed(parts)], "mixed": [[p] for p in mixed + mixed[:1]],
          "cut anew": [others[4:], others[:4]]}
if WORKS < 100000:
    orders = {name: orders[name] for name in ("whole", "mixed", "cut anew")}
results = {}
for name, commands in orders.items():
    shutil.copytree(os.path.join(folder, "s"), os.path.join(folder, name))
    start = time.monotonic()
    for files in commands:
        run("papers", "match", *files, store=name)
    results[name] = dump(name)
    print(f"{name}: {len(lines)} works in {sum(map(len, commands))} files, {len(commands)} commands: "
          f"{time.monotonic() - start:.1f} s", flush=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"largest resident memory {peak:.0f} MiB")
for name, rows in results.items():
    assert rows == results["whole"], f"{name} differs from the whole"


def measure(rows, what):
    matched = right = known = ambiguous = 0
    for row in rows:
        kind, doi = truth[row["sha1"]]
        if row.get("mstatus") == "match":
            matched += 1
            right += kind == "one" and row["doi"] == doi
        known += kind == "one"
        ambiguous += kind == "two" and row.get("mstatus") == "ambiguous"
    precision, recall = right / max(matched, 1), right / max(known, 1)
    print(f"{what}: {len(rows)} papers, {known} with one work: {matched} matched, precision {precision:.3f}, "
          f"recall {recall:.3f}", flush=True)
    return precision, recall, ambiguous


rows = [json.loads(line) for line in results["whole"]]
precision, recall, ambiguous = measure([r for r in rows if r["sha1"] not in samples], "made papers")
wrong = [(r, truth[r["sha1"]]) for r in rows if truth[r["sha1"]][0] == "one" and r.get("doi") != truth[r["sha1"]][1]]
assert precision == 1 and recall == 1, wrong[:5]
assert ambiguous == PAPERS // 8, ambiguous
if samples:
    precision, recall, _ = measure([r for r in rows if r["sha1"] in samples], "sample papers")
    assert precision == 1 and recall >= 0.95, wrong[:5]
shutil.rmtree(folder)
