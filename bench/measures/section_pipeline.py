"""From a file of documents to clusters, with the defaults of each: time, memory, agreement with the
classes.
"""
import ours
from process import run_python
from tables import number, table, times
from turns import take_turns

NAME = "pipeline"
TITLE = "From a file to clusters"
NEEDS = USES = ()
OURS = "Grouperfish, `put` and `rebuild`"
OURS_LSA = "Grouperfish, with `lsa=100`"
PEERS = {
    "kmeans": "TF-IDF and `KMeans`",
    "minibatch": "TF-IDF and `MiniBatchKMeans`",
    "lsa": "TF-IDF, `TruncatedSVD(100)`, `KMeans`",
}


def cases(collections, quick):
    return [(one, k) for one in collections for k in (one.clusters[:1] if quick else one.clusters)]


def measure(collection, k, plan, _work):
    def peer(system):
        task = {"measure": NAME, "system": system, "texts": collection.path, "k": k}
        return lambda seed: run_python("peers.py", {**task, "seed": seed}, plan.limit)

    systems = {
        OURS: lambda seed: ours.pipeline(collection, k, seed, plan.limit),
        OURS_LSA: lambda seed: ours.pipeline(collection, k, seed, plan.limit, lsa=100),
    }
    systems.update({title: peer(system) for system, title in PEERS.items()})
    return take_turns(plan, systems)


def row(system, one, base):
    if not one:
        return [system, "stopped at the limit", "", "", "", ""]
    return [system, number(one["seconds"]), times(one["seconds"], base["seconds"]) if base else "-",
            number(one["mib"]), f"{one['nmi']:.3f}", f"{one['ari']:.3f}"]


def show(results):
    parts = []
    for (collection, k), figures in results.items():
        head = [f"{collection}, k = {k}", "seconds", "times", "peak MiB", "NMI", "ARI"]
        base = figures[OURS]
        parts.append(table(head, [row(system, one, base) for system, one in figures.items()]))
    return "\n\n".join(parts)
