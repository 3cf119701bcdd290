"""The site of the documentation: made without a broken link, and a broken link is told of."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["GROUPERFISH_PROGRAM"]
SOURCE = os.environ["GROUPERFISH_SOURCE"]


def build(source, out):
    return subprocess.run([sys.executable, os.path.join(source, "docs", "build"), "--program", PROGRAM, "--out", out],
                          capture_output=True, text=True, timeout=300)


class Site(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="grouperfish-site-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.out = os.path.join(self.folder, "site", "html")

    def copy(self):
        """The pages in a folder where they may be changed."""
        source = os.path.join(self.folder, "source")
        shutil.copytree(SOURCE, source, ignore=lambda place, names: [
            n for n in names if place == SOURCE and os.path.isdir(os.path.join(place, n))
            and n not in ("bench", "docs", "examples", "python")])
        return source

    def test_it_is_whole(self):
        made = build(SOURCE, self.out)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        for page in ("index.html", "docs/quick-start.html", "docs/how-to/behind-nginx.html", "docs/operations.html",
                     "docs/commands/grouperfish.html", "docs/commands/grouperfish-collection-list.html",
                     "docs/page-light.png", "CHANGELOG.html", "search/search_index.json"):
            self.assertTrue(os.path.exists(os.path.join(self.out, page)), page)
        with open(os.path.join(self.out, "docs", "commands", "grouperfish-clusters.html"), encoding="utf-8") as f:
            text = f.read()
        for words in "<code>--sort size|label|id</code>", 'href="../operations.html#clusters"':
            self.assertTrue(words in text, words)

    def test_broken_links_are_told(self):
        source = self.copy()
        with open(os.path.join(source, "docs", "search.md"), "a", encoding="utf-8") as f:
            f.write("\n[a](no-such.md) [b](operations.md#no-such-place) ![c](no-such.png)\n")
        os.remove(os.path.join(source, "docs", "page.md"))
        made = build(source, self.out)
        self.assertEqual(made.returncode, 1)
        for words in ("docs/search.md: no-such.md is not there", "docs/search.md: no-such.png is not there",
                      "docs/mkdocs.yml: docs/page.md is not there"):
            self.assertIn(words, made.stderr)

    def test_a_page_that_is_in_no_list_comes_last(self):
        source = self.copy()
        with open(os.path.join(source, "docs", "unlisted.md"), "w", encoding="utf-8") as f:
            f.write("# A new page\n\n[back](search.md)\n")
        made = build(source, self.out)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        with open(os.path.join(self.out, "index.html"), encoding="utf-8") as f:
            self.assertRegex(f.read(), r'(?s)>Further<.*href="docs/unlisted.html">A new page<')

    def test_places_in_pages_are_looked_up(self):
        source = self.copy()
        with open(os.path.join(source, "docs", "search.md"), "a", encoding="utf-8") as f:
            f.write("\n[b](operations.md#no-such-place) ![](https://example.com/x.png)\n")
        made = build(source, self.out)
        self.assertEqual(made.returncode, 1)
        self.assertIn("docs/search.html: operations.html#no-such-place: that page has no such place", made.stderr)
        self.assertIn("docs/search.html: loads https://example.com/x.png", made.stderr)


if __name__ == "__main__":
    if not shutil.which("mkdocs"):
        print("skipped: mkdocs is not installed")
        sys.exit(77)
    unittest.main()
