#!/usr/bin/env python3
"""Run the console examples of a file and compare what they print with what the file says.

    run.py [--update] FILE...

An example is "$ command", the output under it (standard output and standard error as they come),
and "[exit N]" where the exit code is not 0. In Markdown they stand in ```console fences; any other
file is one example after another, with comments ("# ...") between. The commands of a file run in
one new, empty folder, with bash, on a terminal of 100 columns in Markdown and through a pipe
elsewhere ("#! terminal 60" and "#! pipe" switch). `examples` and `data` there are the folders of
the repository and of the file; <!-- data: FOLDER --> in a page of Markdown names another than `data`.

In a page with <!-- port: N --> the number N stands for a port that is free: commands get that, and what
they print is taken back. What a command leaves running ends with the file. <!-- needs: PROGRAM... -->
names what else has to be installed, and <!-- modules: NAME... --> what python3 has to know; where
it is not there, the run ends with 77.

A line "..." of the file stands for any lines. Times, durations, sizes in MB and build numbers are
taken as equal; runs of spaces too. --update writes what was printed into the file.

A file with the line "#! datasets" needs GROUPERFISH_DATA, the folder of the data sets, which is
`datasets` there; where that is unset the run ends with 77. So does a file with the line "#! hbase"
without GROUPERFISH_HBASE, the URL of a running HBase, which is the store of its commands. Further environment:
GROUPERFISH_PROGRAM, the program; GROUPERFISH_PROGRAMS, a folder of further ones; GROUPERFISH_SOURCE,
the repository.
"""
import difflib
import fcntl
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

SOURCE = os.environ.get("GROUPERFISH_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("GROUPERFISH_PROGRAM") or os.path.join(
    SOURCE, "build", "release", "grouperfish")
PROGRAMS = os.environ.get("GROUPERFISH_PROGRAMS")
DATA = os.environ.get("GROUPERFISH_DATA")
HBASE = os.environ.get("GROUPERFISH_HBASE")
SECONDS, SKIPPED = 900, 77

PATTERNS = [
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?", "TIME"),
    (r"\b1[0-9]{12}\b", "BUILD"),
    (r"\b\d+(\.\d+)? s\b", "SECONDS"),
    (r'"seconds":[0-9.e-]+', '"seconds":SECONDS'),
    (r"\b\d+\.\d MB\b", "SIZE"),
    (r'"bytes":\d+', '"bytes":BYTES'),
    (r"/tmp/[A-Za-z0-9_./-]*folder", "FOLDER"),
    (r" +", " "),
]


def normal(line):
    for pattern, name in PATTERNS:
        line = re.sub(pattern, name, line)
    return line.rstrip()


class Example:
    def __init__(self, command, terminal):
        self.command, self.terminal, self.expected = command, terminal, []


def parse(lines, markdown):
    """The file as a list of plain lines and Examples."""
    parts, example, inside, terminal = [], None, not markdown, 100 if markdown else None
    for line in lines:
        fence = markdown and line.startswith("```")
        if fence:
            inside, example = line.startswith("```console"), None
        switch = re.match(r"#! (terminal (\d+)|pipe)$", line)
        if inside and switch:
            terminal = int(switch.group(2)) if switch.group(2) else None
        if inside and not fence and line.startswith("$ "):
            example = Example(line[2:], terminal)
            parts.append(example)
        elif example and not fence and not (not markdown and line.startswith("#")):
            example.expected.append(line)
        else:
            example = None
            parts.append(line)
    return parts


def trailing(example):
    """Empty lines before the next comment are the file's, not the output's."""
    n = 0
    while n < len(example.expected) and example.expected[-1 - n] == "":
        n += 1
    return n


def read_all(fd):
    out = b""
    while True:
        try:
            block = os.read(fd, 65536)
        except OSError:  # the other end of a terminal has closed
            return out
        if not block:
            return out
        out += block


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def mark(lines, name):
    """What a page says of itself: <!-- name: value -->."""
    found = re.search(r"<!-- %s: ([^>]*\S) -->" % name, "\n".join(lines))
    return found.group(1) if found else ""


def find_python(modules):
    """A python3 that has the modules: the first of PATH, else the system's; None where neither has."""
    for python in filter(None, [shutil.which("python3"), "/usr/bin/python3"] if modules else []):
        try:
            if subprocess.run([python, "-c", "import " + ", ".join(modules)], stderr=subprocess.DEVNULL).returncode == 0:
                return python
        except OSError:
            pass
    return None


def end_all(groups):
    """End what the commands left running, and wait for it, so that their folder can go."""
    for group in groups:
        for number in signal.SIGTERM, signal.SIGKILL:
            try:
                os.killpg(group, number)
                for _ in range(1000):
                    os.killpg(group, 0)
                    time.sleep(0.01)
            except (ProcessLookupError, PermissionError):
                break


def run(example, folder, env, port, groups):
    if example.terminal:
        reader, writer = pty.openpty()
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 40, example.terminal, 0, 0))
    else:
        reader, writer = os.pipe()
    command = re.sub(r"\b%s\b" % port[0], port[1], example.command) if port[0] else example.command
    child = subprocess.Popen(["bash", "-c", command], cwd=folder, env=env, start_new_session=True,
                             stdin=subprocess.DEVNULL, stdout=writer, stderr=writer)
    groups.append(child.pid)
    os.close(writer)
    out = read_all(reader)
    os.close(reader)
    code = child.wait(SECONDS)
    text = out.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    if port[0]:
        text = re.sub(r"\b%s\b" % port[1], port[0], text)
    lines = [line.rpartition("\x1b[K")[2] for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    if code:
        lines.append("[exit %d]" % code)
    return lines


def matches(expected, got):
    """Whether the lines are equal, "..." standing for any number of them."""
    if not expected:
        return not got
    if expected[0] == "...":
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and normal(expected[0]) == normal(got[0]) and matches(expected[1:], got[1:])


def check(path, update):
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        lines = f.read().split("\n")
    needs_data = "#! datasets" in lines
    if needs_data and not DATA:
        print("%s: skipped, GROUPERFISH_DATA is unset" % path)
        sys.exit(SKIPPED)
    needs_hbase = "#! hbase" in lines
    if needs_hbase and not HBASE:
        print("%s: skipped, GROUPERFISH_HBASE is unset" % path)
        sys.exit(SKIPPED)
    if needs_data and not os.access(PROGRAM, os.X_OK):
        print("%s: skipped, there is no %s yet" % (path, PROGRAM))
        sys.exit(SKIPPED)
    absent = [program for program in mark(lines, "needs").split() if not shutil.which(program)]
    modules = mark(lines, "modules").split()
    python = find_python(modules)
    if modules and not python:
        absent.append("Python with " + " and ".join(modules))
    if absent:
        print("%s: skipped, there is no %s" % (path, ", no ".join(absent)))
        sys.exit(SKIPPED)
    parts = parse(lines, path.endswith(".md"))
    port, groups = (mark(lines, "port"), free_port()), []
    top = tempfile.mkdtemp(prefix="console-")
    folder = os.path.join(top, "folder")
    os.makedirs(os.path.join(top, "bin"))
    os.makedirs(folder)
    os.symlink(PROGRAM, os.path.join(top, "bin", "grouperfish"))
    if python:
        os.symlink(python, os.path.join(top, "bin", "python3"))
    if PROGRAMS:
        for name in os.listdir(PROGRAMS):
            os.symlink(os.path.join(PROGRAMS, name), os.path.join(top, "bin", name))
    os.symlink(os.path.join(SOURCE, "examples"), os.path.join(folder, "examples"))
    if needs_data:
        os.symlink(os.path.abspath(DATA), os.path.join(folder, "datasets"))
    data = os.path.join(os.path.dirname(os.path.abspath(path)), mark(lines, "data") or "data")
    if os.path.isdir(data):
        os.symlink(data, os.path.join(folder, "data"))
    env = {k: v for k, v in os.environ.items() if not k.startswith("GROUPERFISH_") and k != "COLUMNS"}
    env["GROUPERFISH_OPTIONS"] = ""  # this machine's options are not the examples'
    if needs_hbase:
        env["GROUPERFISH_STORE"] = HBASE
    env.update(PATH=os.path.join(top, "bin") + ":" + env["PATH"], LC_ALL="C.UTF-8")
    failed, out, n = 0, [], 0
    for part in parts:
        if not isinstance(part, Example):
            out.append(part)
            continue
        n += 1
        got, blank = run(part, folder, env, port, groups), trailing(part)
        expected = part.expected[:len(part.expected) - blank]
        good = matches(expected, got)
        out += ["$ " + part.command] + (expected if good else got) + [""] * blank
        if not good and not update:
            failed += 1
            print("%s: $ %s" % (path, part.command))
            for line in difflib.unified_diff(expected, got, "expected", "printed", lineterm=""):
                print("    " + line.encode("utf-8", "backslashreplace").decode())
    end_all(groups)
    shutil.rmtree(top)
    if update:
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write("\n".join(out))
    print("%s: %d examples, %d failed" % (path, n, failed))
    if n == 0:
        print("%s: there is no example in it" % path)
    return failed or n == 0


def main():
    paths = [a for a in sys.argv[1:] if a != "--update"]
    results = [check(path, "--update" in sys.argv) for path in paths]
    sys.exit(1 if any(results) or not results else 0)


main()
