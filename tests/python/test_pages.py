"""What a notebook shows of results: small pages of HTML, in which text is text."""

import html.parser
import unittest

import support
import grouperfish
from grouperfish import Grouperfish

HARD = '<b>x</b><script>alert("1")</script> & <img src=x onerror=y>'
ALLOWED = {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "i", "p", "br"}


class Reader(html.parser.HTMLParser):
    """Tags that are open, all tags, and the text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes = attributes
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data


class Pages(unittest.TestCase):
    def read(self, of):
        reader = Reader()
        reader.feed(of._repr_html_())
        reader.close()
        self.assertEqual(reader.open, [])
        self.assertLessEqual(reader.tags, ALLOWED)
        return reader.text

    def setUp(self):
        rows = [{"id": f"{i}<i>", "text": f"bees hive {HARD}" if i % 2 else "guitar chord", "time": 1700000000,
                 HARD[:12]: HARD} for i in range(20)]
        self.c = grouperfish.Store(None)["<c>"].put(rows, id="id", time="time").rebuild(k=2)
        self.c.label(1, HARD[:60])

    def test_of_each_result(self):
        c = self.c
        for of, words in (
            (c.clusters(), [HARD[:60], "2 rows, clusters"]),
            (c.clusters(tree=True), ["node"]),
            (c.clusters(by="day"), ["trend"]),
            (c.members(), ["1<i>", "20 rows, documents"]),
            (c.builds(), ["build", "1 rows, builds"]),
            (c.build(), ["served", "yes", "objective", "k=2"]),
            (c.cluster(1, docs=3), [HARD[:60], "10 documents", "that fit it best"]),
            (c.cluster(2, docs=0), ["10 documents"]),
            (c.doc("1<i>"), ["1<i>", "bees hive " + HARD, "2023-11-14T22:13:20Z", HARD[:12], "score"]),
            (c.doc("1<i>", why=True), ["terms that put it into"]),
            (c.search("bees"), ["bees hive"]),
            (c.config(), ["ngrams"]),
            (c, ["<c>", "20 documents"]),
            (c.store, ["in memory"]),
            (c.store["<new>"], ["<new>", "not clustered yet"]),
        ):
            with self.subTest(of=type(of).__name__):
                text = self.read(of)
                for one in words:
                    self.assertIn(one, text)

    def test_of_an_estimator(self):
        g = Grouperfish(k=2, stop_words=[HARD])
        self.assertIn("Grouperfish(k=2", self.read(g))
        g.fit(["bees hive " + HARD] * 3 + ["guitar chord"] * 3)
        self.assertIn("2 rows, clusters", self.read(g))

    def test_of_much_text(self):
        c = grouperfish.Store(None)["c"].put([{"id": 1, "text": "bees " * 100000}])
        self.assertLess(len(c.doc(1)._repr_html_()), 5000)
        c.put([{"id": 2, "text": "x", "time": 10**17}], time="time")
        self.assertIn("x", self.read(c.doc(2)))


if __name__ == "__main__":
    support.main()
