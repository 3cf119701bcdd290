"""Grouperfish: its command in a store of its own, its benchmark programs, and what they told."""
import json
import os
import re
import shutil
import tempfile

from process import PROGRAM, Failed, bench_program, run


class Store:
    """A store in a folder of its own, which goes when the block ends. The collection is c. Another
    program than this source's release may work on it.
    """

    def __init__(self, program=PROGRAM):
        self.program = program

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="grouperfish-bench-")
        self.path = os.path.join(self.folder.name, "store")
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def command(self, *words, limit=None):
        return run([self.program, *words, "--store", self.path, "--format", "json"], limit)

    def put(self, path):
        return self.command("put", "c", path, "--progress", "none")

    def set(self, **keys):
        pairs = [f"{key}={value}" for key, value in keys.items()]
        return self.command("config", "set", "c", "default", *pairs)

    def copy(self, other):
        """What another store holds, in place of nothing."""
        shutil.copytree(other.path, self.path)

    def clusters(self):
        """The cluster of each document that the build has, by id; None without terms."""
        return {one["id"]: one["cluster"] for one in json.loads(self.command("export", "c").out)}

    def set_rows_alone(self):
        """Settings for whoever wants the rows and no clusters: the least that can be asked for."""
        return self.set(k=2, restarts=1, max_passes=1, polish="off")

    def rebuild(self, limit=None):
        return self.command("rebuild", "c", "--progress", "none", limit=limit)

    def phases(self, threads=0, limit=None, words=()):
        """A rebuild by bench_rebuild: what it told, and the run; words: of its command, behind."""
        told = run([bench_program("rebuild"), self.path, "c", "default", str(threads), *words],
                   limit)
        return json.loads(told.out), told


def export_rows(collection, path):
    """The TF-IDF rows of a collection, by default settings, as a matrix that scipy reads."""
    with Store() as store:
        store.put(collection.path)
        store.set_rows_alone()
        store.rebuild()
        store.command("export", "c", "--matrix", path)


def pipeline(collection, k, seed, limit, **keys):
    """From the file to published clusters, and how well they meet the classes; keys are settings."""
    with Store() as store:
        runs = [store.put(collection.path), store.set(k=k, seed=seed, **keys),
                store.rebuild(limit)]
        classes = json.loads(store.command("evaluate", "c", "--label-field", "label").out)
    return {"seconds": sum(one.seconds for one in runs), "mib": max(one.mib for one in runs),
            "nmi": classes["nmi"], "ari": classes["ari"]}


def told_seconds(told, line):
    """The seconds that a benchmark program printed after the words that such a line begins with."""
    found = re.search(rf"^{line} +([0-9.]+) s\b", told.out.decode(errors="replace"), re.MULTILINE)
    if not found:
        raise Failed(f"the benchmark program printed no line such as '{line} N s', "
                     f"but: {told.out[-300:]!r}")
    return float(found[1])


def kmeans(rows, k, seed, options, labels, limit):
    """bench_kmeans: from rows in memory to labels, which are written to a file."""
    told = run([bench_program("kmeans"), rows, "-k", str(k), "--seed", str(seed),
                "--labels", labels, *options], limit)
    return {"seconds": told_seconds(told, r"seed +\d+"), "mib": told.mib}


def text_from_memory(path, threads, limit):
    """bench_vectorize: texts in memory to TF-IDF rows."""
    told = run([bench_program("vectorize"), path, str(threads), "1"], limit)
    return {"seconds": told_seconds(told, rf"{threads} threads?:"), "mib": told.mib}


def text_from_store(store, threads, limit):
    """What a rebuild does up to its rows: texts are read from the store as well. The memory is the
    whole rebuild's.
    """
    told, used = store.phases(threads, limit)
    phases = told["phases"]
    return {"seconds": phases["reading"] + phases.get("weighing", 0), "mib": used.mib}
