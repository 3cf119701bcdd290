"""Several processes and one store: whoever holds it answers the others on its socket.

    class Something(Store):
        def test(self):
            holder = self.start("put", ...)
            code, out, err = self.run_command("doc", ...)

Environment: GROUPERFISH_PROGRAM, the program.
"""
import json
import os
import random
import shutil
import struct
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["GROUPERFISH_PROGRAM"]
LONG = 300  # seconds; far more than anything here takes, also with sanitizers on a machine with much else to do
HELD = 1200  # documents after which a put has surely begun to store
WORDS = "bees hives honey queens wax nectar swarm drones pollen brood comb smoke sting meadow".split()


def document(i, words=12):
    text = " ".join(WORDS[(i * 7 + j * j * (i % 5 + 1)) % len(WORDS)] for j in range(words))
    return json.dumps({"id": str(i), "text": f"{text} number {i}"}) + "\n"


def frame(kind, data=b""):
    """A frame of the wire, as server/socket/wire.h has it."""
    return struct.pack(">IB", len(data), kind) + data


def documents(first, last):
    return "".join(document(i) for i in range(first, last))


def waits_until(what, seconds=LONG):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


def slow_documents():
    """Documents that take seconds to cluster by SLOWLY."""
    r = random.Random(1)
    texts = (" ".join(f"w{int(r.paretovariate(0.5)) % 4000}" for _ in range(40)) for _ in range(4000))
    return "".join(json.dumps({"id": f"long {i}", "text": t}) + "\n" for i, t in enumerate(texts))


SLOWLY = "k=1000", "restarts=100", "tolerance=0", "max_passes=10000"


class Store(unittest.TestCase):
    name = "grouperfish.store"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="grouperfish-socket-")
        self.store = os.path.join(self.folder, self.name)
        self.running = []

    def tearDown(self):
        for p in self.running:
            if p.poll() is None:
                p.kill()
            p.communicate()
        shutil.rmtree(self.folder)

    def start(self, *words, **options):
        p = subprocess.Popen([PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, cwd=self.folder,
                             env=dict(os.environ, GROUPERFISH_STORE=self.store), **options)
        self.running.append(p)
        return p

    def end(self, p, given=None):
        """(exit code, standard output, standard error)"""
        out, err = p.communicate(given, timeout=LONG)
        return p.returncode, out, err

    def run_command(self, *words, given="", **options):
        return self.end(self.start(*words, **options), given)

    def good(self, *words, given=""):
        code, out, err = self.run_command(*words, given=given)
        self.assertEqual(code, 0, (words, out, err))
        return out

    def lock(self):
        with open(os.path.join(self.store, "lock")) as f:
            return f.read()

    def has_socket(self):
        return os.path.exists(os.path.join(self.store, "socket"))

    def holder(self, *words):
        """A put that holds the store until its standard input ends."""
        p = self.start(*(words or ("put", "held", "-", "--from", "jsonl")))
        p.stdin.write(documents(0, HELD))
        p.stdin.flush()
        waits_until(self.has_socket)
        return p

    def size(self, collection, *words):
        code, out, _ = self.run_command("collection", "list", "--format", "csv", *words)
        self.assertEqual(code, 0)
        return {row.split(",")[0]: int(row.split(",")[1]) for row in out.splitlines()[1:]}.get(collection, 0)

    def fill(self, n=300):
        self.good("put", "posts", "-", "--from", "jsonl", given=documents(0, n))
        self.good("rebuild", "posts", "--progress", "none")

    def slow_rebuild(self):
        """A rebuild that takes seconds, holding the store."""
        self.good("put", "posts", "-", "--from", "jsonl", given=slow_documents())
        self.good("config", "set", "posts", *SLOWLY)
        p = self.start("rebuild", "posts", "--progress", "jsonl")
        waits_until(self.has_socket)
        return p
