"""The command over a running HBase, and what a test of it says."""
import json
import os
import subprocess
import sys

PROGRAM = os.environ["GROUPERFISH_PROGRAM"]


def run(*words, code=0, store=None, text=None):
    """What it prints, as rows; where it is to fail, its message."""
    told = subprocess.run([PROGRAM, *words, *(["--store", store] if store else []), "--format", "jsonl"], capture_output=True, text=True, input=text, timeout=600, check=False)
    if told.returncode != code:
        sys.exit(f"{words}: {told.returncode}, not {code}: {told.stdout}{told.stderr}")
    return told.stderr if code else [json.loads(line) for line in told.stdout.splitlines()]


def check(what, good, told=""):
    if not good:
        sys.exit(f"failed: {what} {told}")
    print("ok", what, flush=True)
