#!/usr/bin/env python3
"""The texts of the Declaration of Human Rights in the languages that the program has a stemmer for.

    languages.py divide UDHR.jsonl.gz      told.jsonl: with their language; untold.jsonl: without
    languages.py compare TOLD.npz OTHER.npz
                                           whether 95 % of the documents have the same terms in both
                                           matrices; standard error tells who has, by translation
    languages.py labels EXPORT.jsonl       whether 90 % of the clusters have a label in the language
                                           of most of their documents
    languages.py detected EXPORT.jsonl     whether 95 % of the documents have the right `language`;
                                           standard error tells who has not, by translation

Other stop words and another stemmer give other terms: where another language is detected than is
told, a text hardly has the same ones. A label is in a language where that has it in some of
its texts, and no other in a larger share of them.
"""
import ast
import collections
import gzip
import json
import struct
import sys
import zipfile

# ISO 639-3, as the data have it; the languages of docs/analysis.md with a stemmer.
STEMMED = {
    "arb": "arabic", "hye": "armenian", "eus": "basque", "cat": "catalan", "dan": "danish",
    "nld": "dutch", "eng": "english", "fin": "finnish", "fra": "french", "deu": "german",
    "ell": "greek", "hin": "hindi", "hun": "hungarian", "ind": "indonesian", "gle": "irish",
    "ita": "italian", "lit": "lithuanian", "npi": "nepali", "nob": "norwegian",
    "nno": "norwegian", "por": "portuguese", "ron": "romanian", "rus": "russian",
    "srp": "serbian", "spa": "spanish", "swe": "swedish", "tam": "tamil", "tur": "turkish",
    "ydd": "yiddish"}
TYPES = {"<i4": "i", "<i8": "q", "<u4": "I", "<u8": "Q", "|u1": "B"}


def array(archive, name):
    """An array of the archive: a list of numbers, or of texts."""
    if name + ".npy" not in archive.namelist():
        data, offsets = bytes(array(archive, name + "_utf8")), array(archive, name + "_offsets")
        return [data[a:b].decode() for a, b in zip(offsets, offsets[1:])]
    raw = archive.read(name + ".npy")
    start = 10 + struct.unpack_from("<H", raw, 8)[0]
    header = ast.literal_eval(raw[10:start].decode())
    (n,), kind = header["shape"], header["descr"]
    if kind in TYPES:
        return struct.unpack_from("<%d%s" % (n, TYPES[kind]), raw, start)
    width = 4 * int(kind[2:])
    return [raw[start + i * width:start + (i + 1) * width].decode("utf-32-le").rstrip("\0")
            for i in range(n)]


def terms(path):
    """For each id the terms of its row."""
    with zipfile.ZipFile(path) as archive:
        names, columns, starts = (array(archive, name) for name in ("terms", "indices", "indptr"))
        return {document: {names[c] for c in columns[a:b]}
                for document, a, b in zip(array(archive, "ids"), starts, starts[1:])}


def divide(path):
    with gzip.open(path, "rt", encoding="utf-8") as source, \
            open("told.jsonl", "w", encoding="utf-8") as told, \
            open("untold.jsonl", "w", encoding="utf-8") as untold:
        for record in map(json.loads, source):
            if record["lang"] in STEMMED:
                print(json.dumps(record), file=told)
                record["language"] = record.pop("lang")
                print(json.dumps(record), file=untold)


def compare(told, untold):
    told, untold = terms(told), terms(untold)
    same = collections.Counter(i.split("-")[1] for i in told if told[i] == untold[i])
    every = collections.Counter(i.split("-")[1] for i in told)
    print({name: "%d of %d" % (same[name], n) for name, n in every.items() if same[name] < n},
          file=sys.stderr)
    share = sum(same.values()) / len(told)
    print("at least 95 % have the same terms" if share >= 0.95 else "%.1f %%" % (100 * share))


def detected(path):
    right, every = collections.Counter(), collections.Counter()
    with open(path, encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            told = row["fields"]["language"]
            every[told] += 1
            right[told] += row.get("language") == STEMMED[told]
    print({name: "%d of %d" % (right[name], n) for name, n in every.items() if right[name] < n},
          file=sys.stderr)
    share = sum(right.values()) / sum(every.values())
    print("at least 95 % have the right language" if share >= 0.95 else "%.1f %%" % (100 * share))


def labels(path):
    with open(path, encoding="utf-8") as rows:
        rows = [row for row in map(json.loads, rows) if "cluster" in row]
    texts, clusters, names = collections.defaultdict(list), collections.defaultdict(list), {}
    for row in rows:
        texts[row["fields"]["language"]].append(row["text"].lower())
        clusters[row["cluster"]].append(row["fields"]["language"])
        names[row["cluster"]] = row["label"]
    foreign = []
    for cluster, languages in clusters.items():
        language = collections.Counter(languages).most_common(1)[0][0]
        label = names[cluster].lower()
        share = {l: sum(label in t for t in texts[l]) / len(texts[l]) for l in texts}
        if share[language] == 0 or share[language] < max(share.values()):
            foreign.append((names[cluster], language))
    print("at least 90 % of the labels are in their own language"
          if len(foreign) <= 0.1 * len(clusters) else foreign)


{"divide": divide, "compare": compare, "detected": detected, "labels": labels}[sys.argv[1]](*sys.argv[2:])
