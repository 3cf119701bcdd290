"""Quality of groupings: the systems that are compared, and their figures, of which each is made once.
A run is one system on one collection with one number of clusters and one seed.
"""
import hashlib
import json
import os
import time

import ours
from labelled import documents_of, write_documents
from process import Failed, bench_program, build, run, run_python
from results import write_file
from scores import scores

AUTO = "auto"


class Results:
    """Figures of runs on disk, {collection: {system: {clusters: {seed: figures}}}}: what was measured
    is not measured again. A line for each run, so that changes of the file can be read.
    """

    def __init__(self, path, about=None):
        self.path, self.about, self.runs = path, about, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.runs = json.load(file)
            self.about = self.runs.pop("about", about)

    def of(self, collection, system, clusters):
        """{seed: figures} of all runs that there are."""
        return self.runs.get(collection, {}).get(system, {}).get(str(clusters), {})

    def add(self, collection, system, clusters, seed, figures):
        by_system = self.runs.setdefault(collection, {}).setdefault(system, {})
        by_system.setdefault(str(clusters), {})[str(seed)] = {
            name: round(value, 4) for name, value in figures.items()}
        self.write()

    def write(self):
        levels = [f' "about": {json.dumps(self.about)}'] if self.about else []
        levels += [f" {json.dumps(name)}: {lines(one, 2)}" for name, one in sorted(self.runs.items())]
        write_file(self.path, "{\n" + ",\n".join(levels) + "\n}\n")


def lines(tree, depth):
    """JSON of a tree of runs, indented as deep as that, a run a line."""
    if "nmi" in tree:
        return json.dumps(tree)
    inner = [" " * depth + f"{json.dumps(name)}: {lines(one, depth + 1)}" for name, one in tree.items()]
    return "{\n" + ",\n".join(inner) + "}"


class Documents:
    """The documents of a collection, at most so many (0: all); read when they are needed first."""

    def __init__(self, collection, most, work):
        self.collection, self.most, self.work = collection, most, work
        self.name = collection.short if most == collection.most else f"{collection.short}/{most or 'all'}"
        self.read = None

    def all(self):
        if self.read is None:
            self.read = documents_of(self.collection, self.most)
        return self.read

    def classes(self):
        return [one["class"] for one in self.all()]

    def file(self):
        """A file of them without their classes."""
        path = os.path.join(self.work, self.collection.short + ".jsonl")
        if not os.path.exists(path):
            write_documents(self.all(), path)
        return path

    def wanted_clusters(self):
        return self.collection.clusters or (len(set(self.classes())),)

    def add(self, results, system, clusters, seed, labels, seconds):
        asked = None if clusters == AUTO else clusters
        figures = {**scores(self.classes(), labels, asked), "seconds": seconds}
        results.add(self.name, system.key, clusters, seed, figures)
        return (f"  {clusters}, seed {seed}: NMI {figures['nmi']:.3f}, "
                f"{figures['k']} clusters, {seconds:.1f} s")


class Program:
    """A Grouperfish with settings. It is known by its bytes, so that one built anew is measured anew."""

    def __init__(self, path, title, settings):
        self.path, self.settings = os.path.abspath(path), settings
        with open(path, "rb") as file:
            known = hashlib.sha256(file.read()).hexdigest()[:12]
        self.key = " ".join(["grouperfish", known, *settings])
        self.title = " ".join([title, *settings])

    def measure(self, documents, todo, results, say):
        """Runs of (clusters, seed), each in a copy of a store with the documents."""
        with ours.Store(self.path) as filled:
            filled.put(documents.file())
            for clusters, seed in todo:
                with ours.Store(self.path) as store:
                    store.copy(filled)
                    settings = dict(one.split("=", 1) for one in self.settings)
                    store.set(**{"k": clusters, "seed": seed, **settings})
                    begin = time.perf_counter()
                    store.rebuild()
                    seconds = time.perf_counter() - begin
                    place = store.clusters()
                labels = [place[one["id"]] for one in documents.all()]
                say(documents.add(results, self, clusters, seed, labels, seconds))


class Peer:
    """A method of scikit-learn; seeds: of how many the results differ, None: of all."""

    def __init__(self, key, title, seeds=None):
        self.key, self.title, self.seeds = key, title, seeds

    def measure(self, documents, todo, results, say):
        for clusters in {clusters for clusters, _ in todo}:
            seeds = [seed for k, seed in todo if k == clusters]
            task = {"measure": "groups", "texts": documents.file(), "system": self.key, "k": clusters,
                    "seeds": seeds, "characters": documents.collection.characters}
            for seed, found in run_python("quality_peers.py", task).items():
                say(documents.add(results, self, clusters, int(seed), found["labels"], found["seconds"]))


class Mixture:
    """bench_gsdmm, on the words that scikit-learn's methods have."""

    key, title = "gsdmm", "GSDMM"

    def measure(self, documents, todo, results, say):
        build(["gsdmm"])
        counts = documents.file() + ".counts"
        run_python("quality_peers.py", {"measure": "counts", "texts": documents.file(), "counts": counts,
                                        "characters": documents.collection.characters})
        for clusters, seed in todo:
            told = run([bench_program("gsdmm"), counts, str(clusters), str(seed)])
            labels = [int(line) for line in told.out.split()]
            say(documents.add(results, self, clusters, seed, labels, told.seconds))


PEERS = (Peer("kmeans", "k-means"), Peer("lsa", "LSA 100 and k-means"), Peer("nmf", "NMF", 1), Mixture())


def measure(system, documents, wanted, results, say):
    """Those of the wanted (clusters, seed) that were not measured before."""
    most = getattr(system, "seeds", None)
    todo = [(clusters, seed) for clusters, seed in wanted if not most or seed <= most
            if str(seed) not in results.of(documents.name, system.key, clusters)]
    if todo:
        say(f"{documents.collection.title}: {system.title}")
        system.measure(documents, todo, results, say)


def programs(words, settings, own):
    """Of FILE or TITLE=FILE each; own: the program where none is named."""
    found = []
    for word in words or [f"Grouperfish={own}"]:
        title, _, path = word.rpartition("=")
        if not os.path.isfile(path):
            raise Failed(f"there is no program {path}")
        found.append(Program(path, title or path, settings))
    return found
