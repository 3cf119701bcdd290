"""Under what conditions something was measured: machine, versions, how often."""
import datetime
import hashlib
import os
import platform
import subprocess
import sys

from process import PROGRAM, ROOT, run


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            models = [line.split(":", 1)[1].strip() for line in file
                      if line.startswith("model name")]
    except OSError:
        models = []
    return models[0] if models else platform.machine()


def memory_gib():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def commit():
    """The source's commit, with a + where files were changed since; empty where there is no git."""
    told = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--exclude=*", "--dirty=+"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return told.stdout.decode().strip()


def peers():
    told = run([sys.executable, "-c", "import sklearn, numpy, scipy\n"
                "for one in sklearn, numpy, scipy: print(one.__version__)"])
    return "scikit-learn {} (numpy {}, scipy {})".format(*told.out.decode().split())


def program(path):
    """A short name for the very program that is measured."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


def conditions(path=PROGRAM, **more):
    """What measurements of one table have in common; more: what was asked for."""
    version = run([path, "version"]).out.decode().split()[0]
    return {"processor": processor(), "processors": os.cpu_count(),
            "memory_gib": round(memory_gib()), "version": version, "program": program(path), **more}


def now(path=PROGRAM):
    """What is no condition, but to be told: day, commit, and how busy the machine was with other
    work at the start. Of another program than this source's release the commit is not known: it is told
    by its bytes.
    """
    own = os.path.realpath(path) == os.path.realpath(PROGRAM)
    return {"date": datetime.date.today().isoformat(), "load": round(os.getloadavg()[0], 1),
            "commit": commit() if own else f"the program {program(path)}"}


def in_words(c, whens):
    """One sentence of conditions; whens: one or several of now()."""
    when = max(whens, key=lambda one: one["date"])
    load = max(one["load"] for one in whens)
    source = f" ({when['commit']})" if when["commit"] else ""
    beside = f" beside {c['peers']}" if "peers" in c else ""
    runs = "one run" if c["runs"] == 1 else f"medians of {c['runs']} runs"
    return (f"Grouperfish {c['version']}{source}{beside}, {when['date']}: {runs}, "
            f"{c['processors']} processors ({c['processor']}), {c['memory_gib']} GiB; "
            f"load average before {load}{'; --quick' if c['quick'] else ''}.")
