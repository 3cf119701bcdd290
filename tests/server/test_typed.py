"""A client that a generator makes of /openapi.json: it is typed, compiles, and runs against a server.

openapi-typescript and openapi-fetch come from npm's registry, as does TypeScript. Where npm is not, or gets
nothing, the test is skipped (77), and says so. GROUPERFISH_TYPED names a folder whose node_modules has them.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from served import Served

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "typed")
SECONDS = 240


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def take_tools(folder):
    """The generator and the compiler, in the folder's node_modules."""
    ready = os.environ.get("GROUPERFISH_TYPED")
    if ready:
        os.symlink(os.path.join(os.path.abspath(ready), "node_modules"), os.path.join(folder, "node_modules"))
        return
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        skip("there is no npm, and so no generator of clients")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0",
               "--fetch-timeout=20000", "--loglevel=error"]
    try:
        told = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        skip("npm gets no generator of clients in time")
    if told.returncode:
        skip("npm gets no generator of clients: " + (told.stderr.strip().splitlines() or ["?"])[0])


class Typed(unittest.TestCase):
    def run_tool(self, *words):
        told = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        return told.stdout

    def tool(self, name):
        return os.path.join("node_modules", ".bin", name)

    def test_client(self):
        with Served() as server:
            with open(os.path.join(FOLDER, "openapi.json"), "wb") as file:
                file.write(server.get("/openapi.json").body)
            self.run_tool(self.tool("openapi-typescript"), "openapi.json", "-o", "grouperfish.d.ts")
            # What is right compiles, and each line of wrong.ts that is to be wrong is.
            self.run_tool(self.tool("tsc"), "-p", ".")
            told = json.loads(self.run_tool("node", "out/client.js", f"http://127.0.0.1:{server.port}"))
        self.assertEqual((told["stored"], told["size"], told["state"]), (60, 60, "done"))
        self.assertEqual((len(told["sizes"]), sum(told["sizes"])), (3, 60))
        self.assertEqual(len(set(told["labels"])), 3)
        self.assertTrue(0 < told["heaviest"] <= 1)
        self.assertEqual(told["settings"], {"k": "3", "ngrams": "1-2", "stem": "off"})
        self.assertIs(told["pinned"], False)
        self.assertEqual(told["status"], 404)
        self.assertIn("none", told["problem"])

    def test_validator(self):
        """By openapi-spec-validator, where Python has it."""
        try:
            import openapi_spec_validator
        except ImportError:
            self.skipTest("there is no openapi-spec-validator")
        with Served() as server:
            openapi_spec_validator.validate(server.get("/openapi.json").json())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="grouperfish-typed-") as FOLDER:
        for name in os.listdir(SOURCES):
            shutil.copy(os.path.join(SOURCES, name), FOLDER)
        take_tools(FOLDER)
        unittest.main()
