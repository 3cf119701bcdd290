"""The examples of docs/python.md and of the README, and those of the docstrings, are run."""

import doctest
import importlib
import os
import re
import unittest

import support

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


class Examples(unittest.TestCase):
    def test_of_the_manual(self):
        support.skip_without("numpy", self)
        support.skip_without("matplotlib", self)
        result = doctest.testfile(
            os.path.join(support.SOURCE, "docs", "python.md"),
            module_relative=False,
            optionflags=OPTIONS,
        )
        self.assertGreater(result.attempted, 15)
        self.assertEqual(result.failed, 0)

    def test_of_the_tasks(self):
        for name in ("pandas", "sklearn", "matplotlib"):
            support.skip_without(name, self)
        here = os.getcwd()
        os.chdir(support.SOURCE)
        try:
            page = os.path.join(support.SOURCE, "docs", "how-to", "data-frames.md")
            result = doctest.testfile(page, module_relative=False, optionflags=OPTIONS)
        finally:
            os.chdir(here)
        self.assertGreater(result.attempted, 30)
        self.assertEqual(result.failed, 0)

    def test_of_the_readme(self):
        with open(os.path.join(support.SOURCE, "README.md"), encoding="utf-8") as file:
            pieces = re.findall(r"```python\n(.*?)```", file.read(), re.S)
        self.assertGreater(len(pieces), 0)
        test = doctest.DocTestParser().get_doctest("\n".join(pieces), {}, "README.md", None, 0)
        self.assertGreater(len(test.examples), 2)
        here = os.getcwd()
        os.chdir(support.SOURCE)
        try:
            result = doctest.DocTestRunner(optionflags=OPTIONS).run(test)
        finally:
            os.chdir(here)
        self.assertEqual(result.failed, 0)

    def test_of_the_docstrings(self):
        support.skip_without("numpy", self)
        attempted = 0
        for name in ("__init__", "_estimator", "_store", "_table"):
            module = importlib.import_module("grouperfish" + ("" if name == "__init__" else "." + name))
            result = doctest.testmod(module, optionflags=OPTIONS)
            self.assertEqual(result.failed, 0, name)
            attempted += result.attempted
        self.assertGreater(attempted, 5)

    def test_version_is_the_library_s(self):
        from grouperfish import _library

        with open(os.path.join(support.SOURCE, "include", "grouperfish.h"), encoding="utf-8") as file:
            self.assertIn(f'#define GF_VERSION "{_library.VERSION}"', file.read())


if __name__ == "__main__":
    support.main()
