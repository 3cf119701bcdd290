"""The program, with a store in a folder of its own."""
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["GROUPERFISH_PROGRAM"]
LONG = 120  # seconds: much longer than anything takes on a good machine


class Result:
    def __init__(self, process, out, err):
        self.code, self.out, self.err = process.returncode, out, err

    def row(self):
        return json.loads(self.out)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="grouperfish-source-")
        self.store = os.path.join(self.folder, "store")
        self.where = ("--store", self.store)

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def file(self, name, text, mode=0o600):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def start(self, *words, **environment):
        return subprocess.Popen([PROGRAM, *words, *self.where], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **environment})

    def run_program(self, *words, **environment):
        process = self.start(*words, **environment)
        out, err = process.communicate(timeout=LONG)
        return Result(process, out, err)

    def put(self, *words, code=0, **environment):
        """The row of a put; of another exit code what it said."""
        result = self.run_program("put", "tickets", *words, "--format", "json", **environment)
        self.assertEqual(result.code, code, result.err)
        self.said = result.err
        return result.row() if result.out and code in (0, 3) else result.err

    def documents(self):
        result = self.run_program("export", "tickets", "--documents", "--format", "jsonl")
        self.assertEqual(result.code, 0, result.err)
        return {d["id"]: d for d in map(json.loads, result.out.splitlines())}

    def places(self):
        result = self.run_program("source", "list", "tickets", "--format", "jsonl")
        self.assertEqual(result.code, 0, result.err)
        return [json.loads(line) for line in result.out.splitlines()]

    def wait_until(self, condition):
        until = time.monotonic() + LONG
        while not condition():
            self.assertLess(time.monotonic(), until, "it did not come to be so")
            time.sleep(0.02)
