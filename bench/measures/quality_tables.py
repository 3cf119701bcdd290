"""Tables of what bench/quality measured, and the place of them in docs/quality.md."""
import os
import statistics

import conditions
import published
from process import ROOT
from quality import AUTO
from scores import NAMES
from tables import place, table

DOCUMENT = os.path.join(ROOT, "docs", "quality.md")


class Measured:
    """All runs on a collection."""

    def __init__(self, documents, clusters, seeds, systems):
        self.documents, self.clusters, self.seeds, self.systems = documents, clusters, seeds, systems
        self.collection = documents.collection

    def runs(self, system, k):
        kept = self.systems[system].of(self.documents.name, system.key, k) if system in self.systems else {}
        return [kept[str(seed)] for seed in self.seeds if str(seed) in kept]

    def mean(self, system, k, name="nmi"):
        """None where there is no run."""
        runs = self.runs(system, k)
        return statistics.mean(one[name] for one in runs) if runs else None


def figure(name, values):
    """Mean of several runs, of NMI with the standard deviation; the smallest and largest count."""
    if name in ("k", "empty"):
        return f"{min(values)}" + (f" to {max(values)}" if min(values) < max(values) else "")
    spread = f" ±{statistics.stdev(values):.3f}" if name == "nmi" and len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{spread}"


def collection_table(one):
    """All systems at all numbers of clusters; those of which there are no runs are left out."""
    rows = []
    for k in one.clusters:
        for system in one.systems:
            runs = one.runs(system, k)
            if runs:
                rows.append([f"k = {k}: {system.title}"] +
                            [figure(name, [run[name] for run in runs]) for name in NAMES])
    classes = len(set(one.documents.classes()))
    head = [f"{one.collection.title}: {len(one.documents.all()):,} documents, {classes} classes", *NAMES.values()]
    return "\n".join([table(head, rows)] + [""] * bool(published.in_words(one.collection.short, NAMES)) +
                     published.in_words(one.collection.short, NAMES))


def short(value):
    return "" if value is None else f"{value:.3f}"


def all_systems(measured):
    """Each once, in the order in which they come."""
    return list(dict.fromkeys(system for one in measured for system in one.systems))


def summary(measured):
    """NMI of everything: a line for each collection and number of clusters."""
    systems = all_systems(measured)
    choosing = [system for system in systems if any(one.runs(system, AUTO) for one in measured)]
    head = ["NMI, mean", "k", *[system.title for system in systems],
            *[f"{system.title}, k=auto" for system in choosing], "published"]
    rows = []
    for one in measured:
        for k in [k for k in one.clusters if k != AUTO] or [AUTO]:
            means = [one.mean(system, k) for system in systems]
            best = max((mean for mean in means if mean is not None), default=None)
            cells = [f"**{short(mean)}**" if mean is not None and mean == best else short(mean) for mean in means]
            rows.append([one.collection.title, str(k), *cells,
                         *[short(one.mean(system, AUTO)) for system in choosing],
                         short(published.best(one.collection.short))])
    return table(head, rows)


def auto_lines(measured):
    """How much of the NMI at as many clusters as classes k=auto keeps, of each program."""
    lines = []
    for system in all_systems(measured):
        kept = {}
        for one in measured:
            at_classes, at_auto = one.mean(system, one.clusters[0]), one.mean(system, AUTO)
            if at_classes and at_auto and one.clusters[0] != AUTO and not one.collection.clusters:
                kept[one.collection.title] = at_auto / at_classes
        if kept:
            worst = min(kept, key=kept.get)
            lines.append(f"{system.title}: NMI at k=auto is {statistics.mean(kept.values()):.3f} of that at "
                         f"k = classes, mean of {len(kept)} collections; least {kept[worst]:.3f} ({worst}).")
    return lines


def goal_lines(measured):
    """What is aimed at, and what is there."""
    lines = []
    for one in measured:
        if one.collection.goal:
            k = [k for k in one.clusters if k != AUTO][-1:] or [AUTO]
            found = [f"{system.title} {short(mean)}" for system in one.systems
                     for mean in [one.mean(system, k[0])] if mean is not None and hasattr(system, "settings")]
            lines.append(f"{one.collection.short}, k = {k[0]}: aim {one.collection.goal:.2f}; {', '.join(found)}")
    return lines


def conditions_line(measured):
    seeds = sorted({len(one.seeds) for one in measured}, reverse=True)
    about = {kept.about for one in measured for kept in one.systems.values() if kept.about}
    beside = f", beside {' and '.join(sorted(about))}" if about else ""
    means = f"means of {seeds[0]} seed{'s' * (seeds[0] > 1)}"
    few = f" ({seeds[-1]} of those that are taken whole)" if len(seeds) > 1 else ""
    return f"Source {conditions.commit()}{beside}, {conditions.now()['date']}: {means}{few}."


def show(measured, document):
    """Print all tables; with document, put them into docs/quality.md."""
    measured = [Measured(*one) for one in measured]
    if not measured:
        return
    head = "\n\n".join([summary(measured), *auto_lines(measured), conditions_line(measured)])
    details = "\n\n".join(collection_table(one) for one in measured)
    print("\n\n".join([head, details, "\n".join(goal_lines(measured))]))
    if document:
        place(DOCUMENT, "quality", head)
        place(DOCUMENT, "quality of each", details)
