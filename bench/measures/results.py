"""What was measured, on disk: JSON with all figures, Markdown beside it, and the tables of
docs/performance.md.
"""
import json
import os

import tables
from process import ROOT

DOCUMENT = os.path.join(ROOT, "docs", "performance.md")


def read_results(path):
    """What write_results wrote to PATH.json; None where there is nothing."""
    try:
        with open(path + ".json", encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def write_file(path, text):
    """Whole or not at all: it may be the work of an hour that is replaced."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def write_results(path, results, markdown):
    write_file(path + ".json", json.dumps(results, indent=1) + "\n")
    write_file(path + ".md", markdown)


def document(name, text):
    """Put a text into docs/performance.md, between its markers."""
    tables.place(DOCUMENT, name, text)
