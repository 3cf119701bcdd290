"""Edits over HTTP: what could not be kept is told, any number of clusters merges, and who did it is known."""
import json
import os
import subprocess
import tempfile
import time
import unittest

from served import PROGRAM, Served, feed


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

    def test_many_clusters_merge(self):
        """More than a request had parameters once: in a body, and in the address with or without commas."""
        where = "/v1/collections/many"
        self.server.put("many", [{"id": f"{i}-{k}", "text": f"word{i} other{i}"} for i in range(110) for k in range(2)])
        self.server.json("PATCH", where + "/configurations/default?set=k=110&set=min_df=1&set=language=none")
        self.server.rebuild("many")
        clusters = self.server.json("GET", where + "/clusters")
        self.assertEqual(len(clusters), 110)
        first, *others = sorted(c["cluster"] for c in clusters)
        for body, query in ((json.dumps({"others": others}), ""),
                            (json.dumps({"others": ",".join(map(str, others))}), ""),
                            (None, "?" + "&".join(f"others={o}" for o in others)),
                            (None, "?others=" + ",".join(map(str, others)))):
            row = self.server.json("POST", f"{where}/clusters/{first}/merge{query}", body,
                                   **({"Content_Type": "application/json"} if body else {}))
            self.assertEqual(row["others"], others)
            self.assertEqual([c["size"] for c in self.server.json("GET", where + "/clusters")], [220])
            self.server.json("POST", where + "/undo")
        self.assertEqual(len(self.server.json("GET", where + "/clusters")), 110)
        answer = self.server.ask("POST", f"{where}/clusters/{first}/merge", json.dumps({"others": [1] * 5000}),
                                 Content_Type="application/json")
        self.assertEqual(answer.status, 400)
        self.assertIn("more than 4096 parameters", answer.json()["detail"])


class Who(unittest.TestCase):
    """Where nobody says who, it is the token's name."""

    def test_token_is_who(self):
        token, nameless = "0123456789abcdef-ann", "0123456789abcdef-none"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tokens")
            with open(path, "w", opener=lambda p, flags: os.open(p, flags, 0o600)) as f:
                f.write(f"{token} write * ann\n{nameless} write *\n")
            with Served("--tokens", path) as server:
                def ask(method, what, body=None, by=token):
                    return server.json(method, "/v1/collections/whose" + what, body, Authorization="Bearer " + by)

                ask("POST", "/documents", "\n".join(
                    json.dumps({"id": str(i), "text": t}) for i, t in enumerate(("tabs fast", "fast tabs", "video crash"))))
                ask("PATCH", "/configurations/default?set=k=2&set=min_df=1")
                task = ask("POST", "/builds")
                while task["state"] in ("queued", "running"):
                    time.sleep(0.02)
                    task = server.json("GET", "/v1/tasks/" + task["task"], Authorization="Bearer " + token)
                first = ask("GET", "/clusters")[0]["cluster"]
                hidden = f"/clusters/{first}/hidden"
                self.assertEqual(ask("PUT", hidden)["by"], "ann")
                self.assertEqual(ask("DELETE", hidden + "?by=bob&reason=again")["by"], "bob")
                self.assertNotIn("by", ask("PUT", hidden, by=nameless))
                keyfile = os.path.join(folder, "token")
                with open(keyfile, "w", opener=lambda p, flags: os.open(p, flags, 0o600)) as f:
                    f.write(token + "\n")
                subprocess.run([PROGRAM, "cluster", "show", "whose", str(first), "--server",
                                f"http://127.0.0.1:{server.port}", "--token-file", keyfile], check=True,
                               stdout=subprocess.DEVNULL)
                self.assertEqual([e.get("by") for e in ask("GET", "/edits")], ["ann", "bob", None, "ann"])


if __name__ == "__main__":
    unittest.main()
