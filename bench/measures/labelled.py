"""The collections that quality is measured on: documents with a class each. Of most collections at
most MOST documents are taken, as a draw that is always the same.
"""
import json
import os
import random

from data import POSTS, find, records
from process import Failed

MOST = 8000  # documents of a collection
DRAW = 1     # seed of the draw; with it 263 of the 269 events are there


class Labelled:
    """A collection: its short name, a title, its file, the field that holds the class, and

    most        how many documents are taken at most; 0: all. Those are many: Grouperfish alone is
                measured on them, with few seeds
    clusters    numbers of clusters; None: as many as there are classes
    characters  peers take characters and pairs of them in place of words: texts without spaces
    goal        the NMI that is aimed at with the last of the numbers of clusters
    """

    def __init__(self, short, title, file, field="label", most=MOST, clusters=None, characters=False,
                 goal=None):
        self.short, self.title, self.file, self.field = short, title, file, field
        self.most, self.clusters, self.characters, self.goal = most, clusters, characters, goal

    def path(self):
        if self.file == "posts":
            return POSTS
        folder = os.environ.get("GROUPERFISH_DATA")
        return find(folder, self.file) if folder else None


EVERY = (
    Labelled("20ng", "20 Newsgroups", "20newsgroups", goal=.71),
    Labelled("ag-news", "AG News, test part", "ag-news-test", goal=.62),
    Labelled("snippets", "search snippets", "search-snippets", goal=.67),
    Labelled("bug-titles", "bug titles", "bug-report-titles", goal=.36),
    Labelled("event-tweets", "event tweets", "event-tweets", goal=.90),
    Labelled("sms-spam", "SMS spam", "sms-spam", goal=.55),
    Labelled("zh-shop", "Chinese shop reviews", "zh-shopping-reviews", characters=True, goal=.61),
    Labelled("udhr", "Human Rights, by language", "udhr-articles", field="lang"),
    Labelled("reddit20", "posts of 20 subreddits", "posts", goal=.78),
    Labelled("reddit", "reddit posts", "reddit-posts", most=0, clusters=(100, 500), goal=.47),
)
QUICK = ("ag-news", "snippets", "sms-spam", "reddit20")


def chosen(only, quick, say):
    """Those of the names in `only`, else all, without those whose files are not there."""
    by_name = {one.short: one for one in EVERY}
    unknown = [name for name in only if name not in by_name]
    if unknown:
        raise Failed(f"there is no collection {unknown[0]}: there are {', '.join(by_name)}")
    wanted = [by_name[name] for name in only] or [one for one in EVERY if not quick or one.short in QUICK]
    missing = [one.short for one in wanted if not one.path()]
    if missing:
        say(f"no files of {', '.join(missing)}: set GROUPERFISH_DATA to the folder of the data sets")
    return [one for one in wanted if one.path()]


def documents_of(collection, most):
    """The documents that are measured, as {"id", "text", "class"} and "lang" where it is known, in
    the order of the file.
    """
    found = []
    for record in records(collection.path()):
        name = record.pop(collection.field, None)
        if name is not None:
            one = {"id": str(record["id"]), "text": record["text"], "class": str(name)}
            found.append({**one, "lang": record["lang"]} if "lang" in record else one)
    if not most or len(found) <= most:
        return found
    drawn = set(random.Random(DRAW).sample(range(len(found)), most))
    return [one for i, one in enumerate(found) if i in drawn]


def write_documents(documents, path):
    """As JSON Lines without the classes: what is measured must not see them."""
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
        for one in documents:
            seen = {key: value for key, value in one.items() if key != "class"}
            file.write(json.dumps(seen) + "\n")
