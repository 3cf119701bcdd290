"""A person who edits clusters by hand, as a careful one would: who looks at the clusters, knows to which
class a document belongs, and joins what is one, parts what is two, and puts documents where they belong.
"""
import collections
import json
import random

ALIKE = .5       # of a cluster that is called by a class at least this share is of it
SECOND = .25     # of a cluster that looks like two, the share of its second class
FEWEST = 20      # documents of that second class
BETTER = .05     # by so much a split must raise the share of documents in the class of their part
KEEPS = 5        # one in so many edits of a document keeps one that is right


class Clusters:
    """The clusters that are served, and how many documents of each class are in each."""

    def __init__(self, store, classes):
        self.store, self.classes = store, classes
        self.look()

    def look(self):
        self.place = {one: cluster for one, cluster in self.store.clusters().items() if cluster}
        self.of = collections.defaultdict(collections.Counter)
        for document, cluster in self.place.items():
            self.of[cluster][self.classes[document]] += 1

    def first(self, cluster):
        """The class that most of a cluster is of, and its share."""
        name, n = min(self.of[cluster].items(), key=lambda one: (-one[1], one[0]))
        return name, n / sum(self.of[cluster].values())

    def put(self, document, cluster):
        name = self.classes[document]
        self.of[self.place[document]][name] -= 1
        self.of[cluster][name] += 1
        self.place[document] = cluster


class Person:
    def __init__(self, store, classes, seed):
        self.random = random.Random(seed)
        self.store = store
        self.clusters = Clusters(store, classes)
        self.tried = set()      # clusters that could not be parted
        self.named = set()      # documents that an edit is about
        self.made = collections.Counter()

    def edit(self, n):
        """Make so many edits, or as many as there is need of. A split that parts nothing is taken
        back, and not counted.
        """
        while sum(self.made.values()) < n:
            if not (self.merge() or self.split() or self.place()):
                return

    def merge(self):
        """Two clusters of one class: those with most documents first."""
        by_class = collections.defaultdict(list)
        for cluster in self.clusters.of:
            name, share = self.clusters.first(cluster)
            if share >= ALIKE:
                by_class[name].append((sum(self.clusters.of[cluster].values()), cluster))
        pairs = [sorted(some)[-2:] for some in by_class.values() if len(some) > 1]
        if not pairs:
            return False
        second, first = max(pairs, key=lambda pair: (pair[0][0], pair[0][1]))
        self.store.command("cluster", "merge", "c", str(first[1]), str(second[1]))
        self.clusters.look()
        self.made["merges"] += 1
        return True

    def split(self):
        """A cluster of two classes, of which the second is nowhere else at home."""
        homes = {self.clusters.first(cluster)[0] for cluster in self.clusters.of}
        mixed = []
        for cluster, of in self.clusters.of.items():
            if cluster in self.tried or len(of) < 2:
                continue
            name, n = of.most_common(2)[1]
            if n >= FEWEST and n >= SECOND * sum(of.values()) and name not in homes:
                mixed.append((n, cluster))
        for _, cluster in sorted(mixed, reverse=True):
            self.tried.add(cluster)
            if self.part(cluster):
                self.made["splits"] += 1
                return True
        return False

    def part(self, cluster):
        size = sum(self.clusters.of[cluster].values())
        before, there = max(self.clusters.of[cluster].values()), set(self.clusters.of)
        self.store.command("cluster", "split", "c", str(cluster))
        self.clusters.look()
        parts = [cluster, *(set(self.clusters.of) - there)]
        after = sum(max(self.clusters.of[part].values()) for part in parts)
        if after - before >= BETTER * size:
            return True
        self.store.command("undo", "c")
        self.clusters.look()
        return False

    def place(self):
        """A document that is in a cluster of another class, or is right and shall stay."""
        home = {}
        for cluster in sorted(self.clusters.of):
            name, share = self.clusters.first(cluster)
            if share >= ALIKE:
                home[name] = cluster
        wrong, right = [], []
        for document, cluster in self.clusters.place.items():
            goal = home.get(self.clusters.classes[document])
            if goal and document not in self.named:
                (right if goal == cluster else wrong).append(document)
        moves = wrong and (not right or self.random.randrange(KEEPS))
        if not wrong and not right:
            return False
        document = self.random.choice(sorted(wrong if moves else right))
        self.named.add(document)
        if moves:
            goal = home[self.clusters.classes[document]]
            self.store.command("doc", "move", "c", document, str(goal))
            self.clusters.put(document, goal)
        else:
            self.store.command("doc", "keep", "c", document)
        self.made["moves" if moves else "keeps"] += 1
        return True

    def lost(self):
        """How many edits the last rebuild could not keep."""
        return sum(bool(one.get("lost")) for one in json.loads(self.store.command("edits", "c").out))
