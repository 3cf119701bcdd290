"""Edits over HTTP: what could not be kept is told."""
import unittest

from served import Served, feed


class Edits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Served().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_what_is_lost_is_told(self):
        feed(self.server, "lost")
        where = "/v1/collections/lost"
        here = self.server.json("GET", where + "/documents/3")["memberships"][0]["cluster"]
        other = next(c["cluster"] for c in self.server.json("GET", where + "/clusters") if c["cluster"] != here)
        self.server.json("PUT", f"{where}/documents/3/cluster?cluster={other}")
        self.server.json("PUT", f"{where}/documents/1/kept")
        self.server.json("DELETE", where + "/documents?id=3")
        task = self.server.rebuild("lost")
        (told,) = task["notices"]
        self.assertEqual((told["reason"], told["source"]), ("lost", "lost"))
        self.assertRegex(told["message"], r"^edit 1 \(move, cluster \d+\) could not be kept: the document is gone")
        self.assertEqual([task["rows"][0]["outcome"]], ["rebuilt"])
        for path in ("/diff", "/diff?docs=true"):
            rows = self.server.json("GET", where + path)
            self.assertEqual([row["notice"] for row in rows if "notice" in row], [told])
            lines = self.server.get(where + path, Accept="application/x-ndjson").lines()
            self.assertEqual(lines, rows)
        again = self.server.rebuild("lost")
        self.assertNotIn("notices", again)  # nothing was made


if __name__ == "__main__":
    unittest.main()
