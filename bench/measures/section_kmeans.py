"""K-means from the same matrix, to convergence and short of it.

Everyone gets the rows that Grouperfish exported, from an .npz file that is read before the clock
starts. The measure is the mean cosine, worked out from the labels by judge.py for all. Each system
has a curve of (seconds, mean cosine): the peers by `max_iter`, Grouperfish by effort, passes, polish and
restarts. Of Grouperfish's points the fastest that is no worse than a peer at convergence tells the
time to the peer's objective, and the best that took no longer than the peer the objective at the
peer's time. Nothing is interpolated.
"""
import os

import ours
from process import run_python
from tables import number, table, times
from turns import take_turns

NAME = "kmeans"
TITLE = "K-means from the same rows"
NEEDS = ("kmeans",)
USES = ()
PEERS = {"lloyd": "KMeans, Lloyd", "elkan": "KMeans, Elkan", "minibatch": "MiniBatchKMeans",
         "bisecting": "BisectingKMeans"}
# Short of convergence; Elkan goes the way of Lloyd.
ITERATIONS = {"lloyd": (3, 10), "minibatch": (3, 10)}
DEFAULT = "Grouperfish, defaults"
POINTS = {
    "Grouperfish, quick": ("--quick",),
    "Grouperfish, 1 pass": ("--passes", "1", "--rounds", "0", "--restarts", "1"),
    "Grouperfish, 3 passes": ("--passes", "3", "--rounds", "0", "--restarts", "1"),
    "Grouperfish, 10 passes": ("--passes", "10", "--rounds", "0", "--restarts", "1"),
    "Grouperfish, converged, no polish": ("--rounds", "0", "--restarts", "1"),
    "Grouperfish, 3 passes, polished once": ("--passes", "3", "--rounds", "1", "--restarts", "1"),
    "Grouperfish, one start": ("--restarts", "1"),
    DEFAULT: (),
    "Grouperfish, 8 starts": ("--restarts", "8"),
}
QUICK_POINTS = ("Grouperfish, quick", "Grouperfish, 3 passes", "Grouperfish, one start", DEFAULT)


def cases(collections, quick):
    return [(one, k) for one in collections for k in (one.clusters[-1:] if quick else one.clusters)]


def rows_and_classes(collection, plan, work):
    """The files of the collection's matrix and of its rows' classes, made once for all k."""
    rows, classes = (os.path.join(work, collection.name + end) for end in (".npz", ".classes"))
    if not os.path.exists(classes):
        plan.say("  exporting the rows")
        ours.export_rows(collection, rows)
        run_python("judge.py", {"rows": rows, "texts": collection.path, "classes": classes})
    return rows, classes


def systems_of(plan, rows, k, labels):
    """{name: function of a seed that writes the labels and returns seconds and memory}"""
    def peer(system, iterations):
        task = {"measure": NAME, "system": system, "rows": rows, "k": k, "labels": labels,
                "iterations": iterations}
        return lambda seed: run_python("peers.py", {**task, "seed": seed}, plan.limit)

    def own(options):
        return lambda seed: ours.kmeans(rows, k, seed, options, labels, plan.limit)

    systems = {}
    for system, title in PEERS.items():
        for iterations in () if plan.quick else ITERATIONS.get(system, ()):
            systems[f"{title}, max_iter={iterations}"] = peer(system, iterations)
        systems[title] = peer(system, None)
    for title, options in POINTS.items():
        if not plan.quick or title in QUICK_POINTS:
            systems[title] = own(options)
    return systems


def measure(collection, k, plan, work):
    rows, classes = rows_and_classes(collection, plan, work)
    labels = os.path.join(work, "labels")
    task = {"rows": rows, "labels": labels, "classes": classes}

    def judged(system):
        return lambda seed: {**system(seed), **run_python("judge.py", task)}

    systems = systems_of(plan, rows, k, labels)
    return take_turns(plan, {name: judged(system) for name, system in systems.items()})


def own_points(figures):
    return {name: one for name, one in figures.items() if name in POINTS and one}


def to_objective(figures, peer):
    """The fastest of our points that is no worse than the peer; None where there is none."""
    points = own_points(figures).values()
    return min((one["seconds"] for one in points if one["cosine"] >= peer["cosine"]), default=None)


def at_time(figures, peer):
    """The best mean cosine of our points that took no longer than the peer; None where there is
    none.
    """
    points = own_points(figures).values()
    return max((one["cosine"] for one in points if one["seconds"] <= peer["seconds"]), default=None)


def cells(name, one):
    """What is shown of every system; one is None where it was stopped."""
    if not one:
        return [name, "stopped at the limit", "", "", "", ""]
    return [name, number(one["seconds"]), f"{one['cosine']:.4f}", f"{one['nmi']:.3f}",
            f"{one['ari']:.3f}", number(one["mib"])]


def beside(peer, figures):
    """Our seconds to the peer's objective, and our objective at the peer's time."""
    if not peer:
        return [""] * 4
    ready, best = to_objective(figures, peer), at_time(figures, peer)
    return [number(ready) if ready else "not reached", times(peer["seconds"], ready),
            f"{best:.4f}" if best else "nothing yet",
            f"{100 * (best / peer['cosine'] - 1):+.1f} %" if best else "-"]


def comparison(case, figures):
    head = [case, "seconds", "mean cosine", "NMI", "ARI", "peak MiB", "ours to its cosine, s",
            "times as fast", "ours at its time", "gain"]
    rows = [cells(DEFAULT, figures[DEFAULT]) + [""] * 4]
    rows += [cells(title, figures[title]) + beside(figures[title], figures)
             for title in PEERS.values()]
    return table(head, rows)


def curve(case, figures):
    head = [f"{case}: every point", "seconds", "mean cosine", "NMI", "ARI", "peak MiB"]
    return table(head, [cells(name, one) for name, one in figures.items()])


def show(results):
    cases = {f"{collection}, k = {k}": figures for (collection, k), figures in results.items()}
    return "\n\n".join([comparison(*one) for one in cases.items()] +
                       [curve(*one) for one in cases.items()])
