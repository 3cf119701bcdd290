"""A wheel is built, installed in a clean environment that knows of nothing else, and clusters."""

import base64
import csv
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
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
    def check_record(self, wheel):
        """RECORD has each file with its hash, WHEEL the tag of the name."""
        (record,) = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")]
        for name, said, _ in csv.reader(wheel.read(record).decode().splitlines()):
            if said:
                found = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=")
                self.assertEqual(said, "sha256=" + found.decode(), name)
        tag = wheel.read(record.replace("RECORD", "WHEEL")).decode()
        self.assertRegex(tag, r"(?m)^Tag: py3-none-manylinux_2_\d+_\w+$")

    def check_licences(self, wheel):
        """Each library that it carries has the licence of its package, and those that this refers to."""
        carried = [name.split("/")[-1] for name in wheel.namelist() if name.startswith("grouperfish/libs/")]
        self.assertGreater(len(carried), 5)
        texts = {name.split("/")[-1]: wheel.read(name).decode("utf-8", "replace")
                 for name in wheel.namelist() if name.startswith("grouperfish/licences/")}
        for library in carried:
            places = subprocess.run(["sh", "-c", f"dpkg -S '*/{library}' | cut -d : -f 1 | sort -u"],
                                    capture_output=True, text=True, check=True).stdout.split()
            self.assertTrue({f"{package}.txt" for package in places} & set(texts), (library, places))
        for name, text in texts.items():
            for common in re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", text):
                self.assertIn(common, texts, name)

    def make_environment(self, place, clean):
        """A virtual environment without this one's packages; its Python."""
        subprocess.run([sys.executable, "-m", "venv", place], check=True, env=clean)
        return os.path.join(place, "bin", "python")

    def install_builder(self, python, clean):
        """scikit-build-core from the registry; the test is skipped, and says so, where none is reached."""
        said = subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check",
                               "--retries", "1", "--timeout", "30", "scikit-build-core>=0.10"],
                              env=clean, capture_output=True, text=True)
        if said.returncode and re.search("NewConnectionError|ConnectTimeout|Could not find a version", said.stderr):
            self.skipTest("no registry of Python's packages is reached: " + said.stderr.strip()[-300:])
        self.assertEqual(said.returncode, 0, said.stderr)

    def test_built_and_installed(self):
        # The environment is clean: the library and the package come from the wheel alone.
        clean = {n: v for n, v in os.environ.items() if not n.startswith(("GROUPERFISH", "PYTHON"))}
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as builder:
            builder_python = self.make_environment(builder, clean)
            self.install_builder(builder_python, clean)
            subprocess.run(
                [builder_python, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps",
                 "-w", folder, support.SOURCE + "/python"],
                check=True, env=clean)
            (name,) = os.listdir(folder)
            self.assertRegex(name, r"^grouperfish-[0-9.]+-py3-none-\w+\.whl$")
            # For others than this machine: what C library it needs.
            tagged = subprocess.run([sys.executable, support.SOURCE + "/packaging/wheel.py", "tag",
                                     os.path.join(folder, name)],
                                    check=True, env=clean, capture_output=True, text=True)
            (name,) = os.listdir(folder)
            self.assertEqual(tagged.stdout.strip(), os.path.join(folder, name))
            self.assertRegex(name, r"-py3-none-manylinux_2_\d+_\w+\.whl$")
            with zipfile.ZipFile(os.path.join(folder, name)) as wheel:
                files = wheel.namelist()
                self.check_record(wheel)
                self.check_licences(wheel)
            for file in ("grouperfish/__init__.py", "grouperfish/py.typed",
                         "grouperfish/libgrouperfish.so.0", "grouperfish/libs/libleveldb.so.1d"):
                self.assertIn(file, files)
            started = time.monotonic()
            python = self.make_environment(os.path.join(folder, "venv"), clean)
            subprocess.run([python, "-m", "pip", "install", "-q", "--no-index",
                            os.path.join(folder, name)], check=True, env=clean)
            told = subprocess.run([python, "-c", EXAMPLE], check=True, env=clean, cwd=folder,
                                  capture_output=True, text=True)
            taken = time.monotonic() - started
            self.assertEqual(told.stdout, "['cat purrs', 'stocks']\n")
            print(f"clean environment, install, clusters: {taken:.1f} s")
            self.assertLess(taken, 60)


if __name__ == "__main__":
    support.main()
