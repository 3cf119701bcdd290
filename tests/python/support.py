"""What the tests of the package share: where it lies, modules that may be missing, texts."""

import importlib
import os
import sys
import unittest

SOURCE = os.environ.get("GROUPERFISH_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)
sys.path.insert(0, os.path.join(SOURCE, "python"))
try:
    import grouperfish  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def module(name):
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def skip_without(name, test):
    """The module; the test is skipped, and says so, where it is not installed."""
    found = module(name)
    if found is None:
        test.skipTest(f"{name} is not installed")
    return found


def posts(n):
    """300 posts of five groups, again and again with a number behind them, until there are n."""
    import json

    path = os.path.join(SOURCE, "tests", "engine", "data", "posts.jsonl")
    with open(path, encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    return [texts[i % len(texts)] + (f" {i}" if i >= len(texts) else "") for i in range(n)]


def resident():
    """Bytes of memory that this process holds."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main():
    unittest.main(verbosity=2)
