"""Examples in Python of pages that are about more than Python; those of docs/python.md have a test of their own."""
import doctest
import os
import sys

SOURCE = os.environ["GROUPERFISH_SOURCE"]
PAGES = ["docs/quick-start.md"]

sys.path.insert(0, os.path.join(SOURCE, "python"))
try:
    import grouperfish  # noqa: F401
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)
failed = 0
for page in PAGES:
    result = doctest.testfile(os.path.join(SOURCE, page), module_relative=False, encoding="utf-8")
    print(f"{page}: {result.attempted} examples, {result.failed} failed")
    failed += result.failed or not result.attempted
sys.exit(1 if failed else 0)
