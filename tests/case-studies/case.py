"""What the checks of the case studies share: a new store in a new folder, and who runs in it."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM, PROGRAMS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SOURCE = os.environ.get("GROUPERFISH_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = os.path.join(SOURCE, "examples", "case-studies")
STORE = "grouperfish.store"
ENV = {k: v for k, v in os.environ.items() if not k.startswith("GROUPERFISH_")}


def data(*path):
    """A data set's path; the check ends as skipped where there is none."""
    folder = os.environ.get("GROUPERFISH_DATA")
    if not folder:
        print("skipped: GROUPERFISH_DATA is unset")
        sys.exit(77)
    return os.path.join(folder, *path)


def run(command, *arguments, stdin=None, code=0):
    """The output of the command, or of a program of the case studies; its exit code must be `code`."""
    path = PROGRAM if command == "grouperfish" else os.path.join(PROGRAMS, command)
    done = subprocess.run([path, *arguments], input=stdin, capture_output=True, text=True, env=ENV)
    equal(done.returncode, code, "%s %s: %s" % (command, " ".join(arguments)[:200], done.stderr[:2000]))
    return done.stdout


def rows(table, *arguments):
    """The rows of a scan: {first key part: cells}."""
    scanned = json.loads(run("grouperfish", "table", "scan", table, *arguments, "--format", "json"))
    return {row["key"][0]: row["cells"] for row in scanned}


def batch(lines):
    run("grouperfish", "table", "batch", "-", stdin="\n".join(map(json.dumps, lines)) + "\n")


def create(table, folder):
    schema = os.path.join(CASES, folder, table + ".json")
    run("grouperfish", "table", "create", table, "--schema", schema)


def equal(got, wanted, what):
    if got != wanted:
        sys.exit("%s:\n got    %s\n wanted %s" % (what, str(got)[:2000], str(wanted)[:2000]))


def main(check):
    folder = tempfile.mkdtemp(prefix="case-")
    os.chdir(folder)
    try:
        check()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
