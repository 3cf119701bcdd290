"""Edits over HTTP: what could not be kept is told, any number of clusters merges, and who did it is known."""
import functools
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

    def test_state_comes_with_the_place(self):
        """Whoever posts a document is told which cluster it joins, and what is noted of that."""
        feed(self.server, "told")
        where = "/v1/collections/told"
        ask = functools.partial(self.server.json, "POST", where + "/documents")
        here = self.server.json("GET", where + "/documents/3")
        cluster, text = here["memberships"][0]["cluster"], here["text"]
        state = {"status": "planned", "owner": "ann", "link": "https://desk.example/7", "note": "soon"}
        self.server.json("PATCH", f"{where}/clusters/{cluster}", json.dumps(state), Content_Type="application/json")
        size = next(c["size"] for c in self.server.json("GET", where + "/clusters") if c["cluster"] == cluster)
        place = {"cluster": cluster, "size": size, "provisional": True, **state}

        def same(row, **more):
            self.assertEqual({key: row.get(key) for key in {**place, **more}}, {**place, **more})

        one = json.dumps({"id": "one", "text": text})
        same(ask(one), id="one", new=1, stored=1)
        same(ask(one), id="one", new=0, stored=0)
        same(ask(json.dumps({"text": text})), id=ask(json.dumps({"text": text}))["id"])
        in_build = ask(json.dumps({"id": "3", "text": text, **here.get("fields", {})}))
        self.assertEqual((in_build["id"], in_build["cluster"], in_build["unchanged"]), ("3", cluster, 1))
        self.assertNotIn("provisional", in_build)
        # Several documents, a refused one and an unclustered collection have counts alone.
        for body in (one + "\n" + one.replace("one", "two"), one + '\n{"id": "no"}'):
            counts = ask(body)
            self.assertNotIn("cluster", counts)
            self.assertNotIn("id", counts)
        self.assertNotIn("id", self.server.json("POST", "/v1/collections/untold/documents", one))
        rows = self.server.json("POST", where + "/documents?results=places", one + '\n{"id": "no"}')
        same(rows[0], id="one", result="stored")
        self.assertEqual((rows[1]["result"], rows[1]["reason"], len(rows)), ("refused", "no_text", 2))
        (row,) = self.server.json("POST", where + "/documents?results=each", one)
        self.assertEqual(row, {"line": 1, "id": "one", "result": "stored"})
        # The place follows an edit, and a rebuild, at once.
        other = next(c["cluster"] for c in self.server.json("GET", where + "/clusters") if c["cluster"] != cluster)
        self.server.json("POST", f"{where}/clusters/{other}/merge?others={cluster}")
        self.assertEqual(ask(one)["cluster"], other)
        self.assertNotIn("status", ask(one))
        (assigned,) = self.server.json("POST", where + "/assignments", one)
        self.assertEqual(assigned["cluster"], other)
        self.server.rebuild("told")
        self.assertNotIn("provisional", ask(one))

    def test_near_duplicates_count_once(self):
        where = "/v1/collections/copied"
        self.server.put("copied", [{"id": str(i), "text": "a weekly digest of headlines"} for i in range(20)]
                        + [{"id": f"{i}-{k}", "text": f"word{i} other{i} third{k}"} for i in range(2) for k in range(4)])
        self.server.json("PATCH", where + "/configurations/default?set=near_duplicates=once&set=k=2&set=min_df=1")
        self.server.rebuild("copied")
        self.assertEqual([b["distinct"] for b in self.server.json("GET", where + "/builds")], [9])
        self.assertEqual(sum(c["size"] for c in self.server.json("GET", where + "/clusters")), 28)
        self.assertEqual(len({self.server.json("GET", f"{where}/documents/{i}")["memberships"][0]["cluster"]
                              for i in range(20)}), 1)
        refused = self.server.ask("PATCH", where + "/configurations/default?set=near_min=0")
        self.assertEqual((refused.status, refused.json()["detail"]), (400, 'near_min: "0" is not one of: 0.1 to 1'))

    def test_what_is_near_is_told(self):
        feed(self.server, "alike")
        where = "/v1/collections/alike/documents"
        text = self.server.json("GET", where + "/3")["text"]
        one = json.dumps({"id": "again", "text": text + "!"})
        row = self.server.json("POST", where + "?near=.9", one)
        self.assertEqual((row["new"], row["near_duplicates"], row["id"], row["near"]), (1, 1, "again", "3"))
        self.assertAlmostEqual(row["near_score"], 1)
        two = one + "\n" + json.dumps({"id": "once more", "text": text})
        rows = self.server.json("POST", where + "?near=.9&results=each", two)
        self.assertEqual([(r["id"], r["near"]) for r in rows], [("again", "3"), ("once more", "3")])
        counts = self.server.json("POST", where + "?near=.9", two)
        self.assertEqual(counts["near_duplicates"], 2)
        self.assertNotIn("near", counts)
        many = "\n".join(json.dumps({"id": f"copy{i:02}", "text": text}) for i in range(20))
        rows = self.server.json("POST", where + "?near=.9&results=each", many)
        self.assertEqual({r["near"] for r in rows}, {"3"})
        self.assertNotIn("near", self.server.json("POST", where, one))
        for bad, why in (("0", "near: a similarity above 0 and at most 1, such as 0.8"),
                         ("2", 'near: "2" is not a number from 0 to 1')):
            refused = self.server.ask("POST", where + "?near=" + bad, one)
            self.assertEqual((refused.status, refused.json()["detail"]), (400, why))

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
