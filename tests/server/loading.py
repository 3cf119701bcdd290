"""Requests at a fixed pace (load.c), and what they got.

    with Load(server, paths, connections=64, rate=2000) as load:
        ...                         # meanwhile
    load.p99, load.errors, load.answers, load.others

GROUPERFISH_LOAD names the program.
"""
import collections
import json
import os
import signal
import subprocess
import time

PROGRAM = os.environ["GROUPERFISH_LOAD"]
LONGEST = 600  # seconds; far more than anything here takes

# seen: (connection, when the answer was first asked for, when it was last), in seconds
Answer = collections.namedtuple("Answer", "path status count seen body")


def ticks_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))


def ticks_of_all():
    """(busy or stolen, all) ticks of the machine's processors so far."""
    with open("/proc/stat") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return sum(times) - times[3] - times[4], sum(times)


def kept_away():
    """Seconds in which the group of processes had used up its share of the processors (cgroup v2)."""
    try:
        with open("/sys/fs/cgroup/cpu.stat") as file:
            return next(int(line.split()[1]) / 1e6 for line in file if line.startswith("throttled_usec "))
    except (OSError, StopIteration):
        return 0


class Load:
    """others: the share of the machine's processors that neither load, server nor test had, or the
    share of the time in which they were kept from them."""

    def __init__(self, server, paths, connections, rate, seconds=LONGEST, from_address="127.0.0.1"):
        self.server = server
        self.paths = list(paths)
        self.command = [PROGRAM, str(server.port), str(connections), str(rate), str(seconds),
                        from_address]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write("".join(path + "\n" for path in self.paths).encode())
        self.process.stdin.close()
        self.process.stdin = None
        self.begun = ticks_of_all(), self.own_ticks(), time.monotonic(), kept_away()
        return self

    def own_ticks(self):
        """Of the server, of this process, and of those that it waited for."""
        with open("/proc/self/stat") as file:
            mine = sum(map(int, file.read().rpartition(")")[2].split()[11:15]))
        return mine + ticks_of(self.server.process.pid)

    def measure_others(self):
        (busy, whole), own, began, away = self.begun
        busy, whole = ticks_of_all()[0] - busy, ticks_of_all()[1] - whole
        own = self.own_ticks() - own
        seconds = max(time.monotonic() - began, 0.001)
        self.others = max(max(busy - own, 0) / max(whole, 1), min((kept_away() - away) / seconds, 1))

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.read()

    def run(self):
        """For the seconds that were given."""
        self.__enter__()
        self.read()
        return self

    def read(self):
        out, _ = self.process.communicate(timeout=LONGEST)
        self.measure_others()
        if self.process.returncode != 0:
            raise AssertionError(f"load ended with {self.process.returncode}")
        head, _, rest = out.partition(b"\n")
        self.__dict__.update(json.loads(head))
        self.answers = []
        while rest:
            head, _, rest = rest.partition(b"\n")
            told = json.loads(head)
            seen = [(i, *times) for i, times in enumerate(told["seen"]) if times]
            self.answers.append(Answer(self.paths[told["path"]], told["status"], told["count"], seen,
                                       rest[:told["bytes"]]))
            rest = rest[told["bytes"]:]
