"""A wheel is built, installed in a clean environment that knows of nothing else, and clusters."""

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

import support

EXAMPLE = """
import grouperfish, os, sys
assert os.path.dirname(grouperfish.__file__).startswith(sys.prefix), grouperfish.__file__
g = grouperfish.Grouperfish(k=2, language="english")
g.fit(["the cat sat", "a cat purrs", "cats purr", "stocks fell", "stocks rose", "a stock split"])
with open("/proc/self/maps") as maps:
    found = {line.split()[-1] for line in maps if "libleveldb" in line or "libgrouperfish" in line}
assert len(found) == 2 and all(path.startswith(sys.prefix) for path in found), found
print(sorted(g.cluster_names_))
"""


class Wheel(unittest.TestCase):
    def test_built_and_installed(self):
        if support.module("scikit_build_core") is None:
            self.skipTest("scikit-build-core is not installed")
        # The environment is clean: the library and the package come from the wheel alone.
        clean = {n: v for n, v in os.environ.items() if not n.startswith(("GROUPERFISH", "PYTHON"))}
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps",
                 "-w", folder, support.SOURCE + "/python"],
                check=True, env=clean)
            (name,) = os.listdir(folder)
            self.assertRegex(name, r"^grouperfish-[0-9.]+-py3-none-\w+\.whl$")
            with zipfile.ZipFile(os.path.join(folder, name)) as wheel:
                files = wheel.namelist()
            for file in ("grouperfish/__init__.py", "grouperfish/py.typed",
                         "grouperfish/libgrouperfish.so.0", "grouperfish/libs/libleveldb.so.1d"):
                self.assertIn(file, files)
            place = os.path.join(folder, "venv")
            subprocess.run([sys.executable, "-m", "venv", place], check=True, env=clean)
            python = os.path.join(place, "bin", "python")
            subprocess.run([python, "-m", "pip", "install", "-q", "--no-index",
                            os.path.join(folder, name)], check=True, env=clean)
            told = subprocess.run([python, "-c", EXAMPLE], check=True, env=clean, cwd=folder,
                                  capture_output=True, text=True)
            self.assertEqual(told.stdout, "['cat purrs', 'stocks']\n")


if __name__ == "__main__":
    support.main()
