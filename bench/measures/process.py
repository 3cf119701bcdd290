"""Programs as processes of their own: how long each took and the most memory that it held.

The kernel counts the memory of the process that started another one as the other's for a moment, so
whoever imports this stays small: texts and matrices are read by child processes alone.
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RELEASE = os.path.join(ROOT, "build", "release")
PROGRAM = os.path.join(RELEASE, "grouperfish")
HERE = os.path.dirname(os.path.abspath(__file__))


class Failed(Exception):
    """A program failed; its words are the message."""


class TooLong(Failed):
    """A program was stopped at the limit."""


class Run:
    """What a program printed, its wall seconds, its peak memory in MiB, and its processor seconds."""

    def __init__(self, out, seconds, mib, processor):
        self.out, self.seconds, self.mib, self.processor = out, seconds, mib, processor


def stop_on_signals():
    """Let SIGTERM and SIGHUP end this program as Ctrl-C does: children stopped, folders removed. A
    shell that starts it in the background would have Ctrl-C ignored.
    """
    def stop(number, _frame):
        sys.exit(128 + number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def end(process):
    """Kill a process, and wait until it is gone. One that was waited for already is left alone."""
    if process.returncode is None:
        process.kill()
        process.returncode = os.waitstatus_to_exitcode(os.wait4(process.pid, 0)[1])


def wait(process, limit):
    """What the process printed, with its exit code and use of resources; killed at the limit."""
    late = threading.Event()

    def kill():
        late.set()
        process.kill()

    timer = threading.Timer(limit, kill) if limit else None
    if timer:
        timer.start()
    try:
        out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        if timer:
            timer.cancel()
        end(process)
    if late.is_set():
        raise TooLong(f"stopped after {limit:.0f} s")
    return out, used


def run(words, limit=None):
    """Run a program to its end. Raises Failed with what it wrote to standard error, TooLong at the
    limit in seconds.
    """
    begin = time.perf_counter()
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        said = []
        reader = threading.Thread(target=lambda: said.append(process.stderr.read()), daemon=True)
        reader.start()
        out, used = wait(process, limit)
        seconds = time.perf_counter() - begin
        reader.join()
    if process.returncode != 0:
        lines = said[0].decode(errors="replace").strip().splitlines()
        raise Failed(f"{' '.join(words)}\n"
                     f"  ended with {process.returncode}: {' / '.join(lines[-3:])}")
    return Run(out, seconds, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)


def run_python(module, task, limit=None):
    """Run a program of this folder on a task, which it gets and answers as JSON."""
    program = [sys.executable, "-B", os.path.join(HERE, module)]
    return json.loads(run([*program, json.dumps(task)], limit).out)


def shell(commands):
    """Run shell commands of the project's root; what they print is for the user."""
    told = subprocess.run(["sh", "-euc", commands], cwd=ROOT, stdout=sys.stderr, check=False)
    if told.returncode != 0:
        raise Failed(f"failed: {commands}")


def has_program(name):
    """Whether this source has the benchmark program bench_NAME."""
    return os.path.exists(os.path.join(ROOT, "bench", name + ".c"))


def bench_program(name):
    return os.path.join(RELEASE, "bench", "bench_" + name)


def build(names):
    """Bring the release and the benchmark programs bench_NAME up to date."""
    targets = " ".join(["grouperfish"] + ["bench_" + name for name in names])
    if not os.path.exists(os.path.join(RELEASE, "CMakeCache.txt")):
        shell(". cmake/packages.sh; need_packages $build_packages; "
              "cmake --preset release -G Ninja -DGROUPERFISH_TESTS=OFF >build.log || "
              "{ cat build.log; exit 1; }; rm -f build.log")
    shell(f"cmake --build --preset release --target {targets} >build.log || "
          "{ tail -n 30 build.log; exit 1; }; rm -f build.log")


def need_peers():
    """Install scikit-learn where it is missing, with numpy and scipy, which come with it."""
    told = subprocess.run([sys.executable, "-c", "import sklearn"], stderr=subprocess.DEVNULL,
                          check=False)
    if told.returncode != 0:
        shell(". cmake/packages.sh; need_packages python3-sklearn")
