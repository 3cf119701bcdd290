"""Markdown tables, and where they go: a file of their own, or between two markers of a document."""
import re

from process import Failed


def table(head, rows):
    """The first column is words, to the left; all others are figures, to the right."""
    return "\n".join(["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)] +
                     ["| " + " | ".join(row) + " |" for row in rows])


def number(value):
    """Three digits that count, and no more after the point than that takes."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def times(value, base):
    return number(value / base) if base else "-"


def markers(name):
    return f"<!-- measured: {name} -->", f"<!-- end: {name} -->"


def place(path, name, text):
    """Put a text between the markers of that name in a document, in place of what was there."""
    begin, end = markers(name)
    with open(path, encoding="utf-8") as file:
        document = file.read()
    between = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if len(between.findall(document)) != 1:
        raise Failed(f"{path} should have one place between {begin} and {end}: "
                     "put these two lines where the table belongs")
    with open(path, "w", encoding="utf-8") as file:
        file.write(between.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", document))
