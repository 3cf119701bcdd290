"""Time and memory of rebuilds by several programs, which take turns: clustering alone, and the whole
command from an opened store to published clusters.
"""
import importlib.machinery
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile

import conditions
from data import POSTS, find
from ours import Store
from process import PROGRAM, ROOT, Failed, build, run
from quality_tables import DOCUMENT
from results import write_file
from tables import number, place, table

RESULTS = os.path.join(ROOT, "build", "bench", "quality_speed.json")
REST = ("reading", "weighing", "naming", "writing")  # how phases of a rebuild begin that are not clustering
MANY = 2_000_000
SMALL = 5000  # collections of 20 posts

CASES = {  # name: (words, data set, documents that are made from it, clusters)
    "20ng": ("20 Newsgroups, k = 20", "20newsgroups", None, 20),
    "reddit-100": ("reddit posts, k = 100", "reddit-posts", None, 100),
    "reddit-1000": ("reddit posts, k = 1,000", "reddit-posts", None, 1000),
    "millions": (f"{MANY:,} posts, k = 100", "reddit-posts", MANY, 100),
    "small": (f"{SMALL:,} collections of 20 posts", None, None, None),
}
QUICK = ("20ng", "small")


def rebuild_of(program):
    """bench_rebuild of the same build as a program."""
    path = os.path.join(os.path.dirname(os.path.abspath(program)), "bench", "bench_rebuild")
    if not os.path.exists(path):
        raise Failed(f"{program}: its folder has no bench/bench_rebuild: build the target bench_rebuild there")
    return path


def documents_of(data_set, made, work):
    """A file of documents; of as many posts as asked for, made by bench/posts.py."""
    folder = os.environ.get("GROUPERFISH_DATA")
    source = folder and find(folder, data_set)
    if not source:
        raise Failed(f"no file of {data_set}: set GROUPERFISH_DATA to the folder of the data sets")
    if not made:
        return source
    path = os.path.join(work, f"posts-{made}.jsonl")
    with open(path, "wb") as out:
        subprocess.run([sys.executable, os.path.join(ROOT, "bench", "posts.py"), source, str(made)],
                       stdout=out, check=True)
    return path


def measure_rebuilds(programs, data_set, made, k, runs, work, say):
    """{title: [figures]}, with a store for each program."""
    path = documents_of(data_set, made, work)
    stores = {title: Store(program) for title, program in programs.items()}
    told = {title: [] for title in programs}
    for store in stores.values():
        store.__enter__()
    try:
        for store in stores.values():
            store.put(path)
        for seed in range(1, runs + 1):
            for title, program in programs.items():
                stores[title].set(k=k, seed=seed)
                done = run([rebuild_of(program), stores[title].path, "c", "default"])
                phases = json.loads(done.out)["phases"]
                clustering = sum(seconds for name, seconds in phases.items() if not name.startswith(REST))
                told[title].append({"clustering": clustering, "whole": done.seconds, "mib": done.mib})
                say(f"  run {seed} of {runs}, {title}: clustering {clustering:.2f} s, "
                    f"whole {done.seconds:.2f} s, {done.mib:.0f} MiB")
    finally:
        for store in stores.values():
            store.__exit__()
        if made:
            os.remove(path)
    return told


def small_module():
    """bench/small, which is a program without an ending."""
    loader = importlib.machinery.SourceFileLoader("small", os.path.join(ROOT, "bench", "small"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("small", loader))
    loader.exec_module(module)
    return module


def measure_small(programs, runs, work, say):
    """{title: [figures]}: the processor's seconds and the clock's of `rebuild --all`."""
    small = small_module()
    texts = os.path.join(work, "small.jsonl")
    small.write_posts(POSTS, texts, SMALL)
    told = {title: [] for title in programs}
    for title, program in programs.items():
        small.run([program, "put", "{group}", texts, "--progress", "none"], os.path.join(work, "small " + title))
    for seed in range(1, runs + 1):
        for title, program in programs.items():
            user, system, seconds = small.rebuild(program, os.cpu_count(), os.path.join(work, "small " + title),
                                                  os.path.join(work, "copy"))
            told[title].append({"processor": user + system, "whole": seconds})
            say(f"  run {seed} of {runs}, {title}: {user + system:.2f} s of the processor, {seconds:.2f} s")
    return told


def medians(runs):
    return {name: statistics.median(one[name] for one in runs) for name in runs[0]}


def speed_table(results):
    """A line for each case and program; times are those of the first program."""
    rows = []
    for name, (words, *_) in CASES.items():
        of_case = results["cases"].get(name, {})
        base = None
        for title, figures in of_case.items():
            base = base or figures
            work = "processor" if "processor" in figures else "clustering"
            rows.append([f"{words}: {title}", number(figures[work]), number(figures[work] / base[work]),
                         number(figures["whole"]), number(figures["whole"] / base["whole"]),
                         number(figures["mib"]) if "mib" in figures else ""])
    return table(["", "clustering, s", "times", "whole command, s", "times", "peak MiB"], rows)


def measure(asked, say):
    """Of the cases asked for; those that were measured before with the same programs stay."""
    if asked.program:
        programs = {word.rpartition("=")[0] or word: word.rpartition("=")[2] for word in asked.program}
    else:
        build(["rebuild"])
        programs = {"Grouperfish": PROGRAM}
    names = asked.only or [name for name in CASES if not asked.quick or name in QUICK]
    unknown = [name for name in names if name not in CASES]
    if unknown:
        raise Failed(f"there is no case {unknown[0]}: there are {', '.join(CASES)}")
    runs = asked.seeds or (1 if asked.quick else 3)
    results = {"programs": list(programs), "cases": {}}
    if os.path.exists(RESULTS):
        with open(RESULTS, encoding="utf-8") as file:
            kept = json.load(file)
        results = kept if kept["programs"] == list(programs) else results
    for name in names:
        words, data_set, made, k = CASES[name]
        say(words)
        with tempfile.TemporaryDirectory(prefix="grouperfish-bench-") as work:
            told = (measure_small(programs, runs, work, say) if name == "small" else
                    measure_rebuilds(programs, data_set, made, k, runs, work, say))
        results["cases"][name] = {title: medians(figures) for title, figures in told.items()}
        results["about"] = (f"{conditions.now()['date']}, load average {os.getloadavg()[0]:.1f}: medians of {runs} "
                            f"run{'s' * (runs > 1)}, {os.cpu_count()} processors ({conditions.processor()}), "
                            f"{conditions.memory_gib():.0f} GiB.")
        write_file(RESULTS, json.dumps(results, indent=1) + "\n")
    text = speed_table(results) + "\n\n" + results["about"]
    print(text)
    if asked.document:
        place(DOCUMENT, "speed", text)
