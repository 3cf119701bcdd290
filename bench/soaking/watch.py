"""What a server's process and its store take, over time."""
import collections
import os
import re
import statistics
import threading
import time

Sample = collections.namedtuple("Sample", "second resident descriptors threads store files processor")


def store_size(folder):
    """(bytes, files) of a folder; what goes away meanwhile counts nothing."""
    size = files = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.lstat(os.path.join(where, name)).st_blocks * 512
                files += 1
            except FileNotFoundError:
                pass
    return size, files


def sample(pid, store, begun):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        told = file.read()
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        ticks = sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
    return Sample(time.monotonic() - begun, int(re.search(r"VmRSS:\s+(\d+)", told)[1]) << 10,
                  len(os.listdir(f"/proc/{pid}/fd")), int(re.search(r"Threads:\s+(\d+)", told)[1]),
                  *store_size(store), ticks / os.sysconf("SC_CLK_TCK"))


class Watch(threading.Thread):
    """A sample each few seconds, until it is ended."""

    def __init__(self, pid, store, seconds=2):
        super().__init__(daemon=True)
        self.pid, self.store, self.seconds = pid, store, seconds
        self.samples, self.ended, self.begun = [], threading.Event(), time.monotonic()

    def run(self):
        while not self.ended.wait(self.seconds):
            try:
                self.samples.append(sample(self.pid, self.store, self.begun))
            except (FileNotFoundError, ProcessLookupError):
                return  # the process has ended

    def end(self):
        self.ended.set()
        self.join()

    def quarter(self, n, name):
        """Values of the n-th quarter, from 0 on."""
        values = [getattr(s, name) for s in self.samples]
        return values[len(values) * n // 4:len(values) * (n + 1) // 4]

    def grown(self, name):
        """(median of the second quarter, median of the last)."""
        return statistics.median(self.quarter(1, name)), statistics.median(self.quarter(3, name))
