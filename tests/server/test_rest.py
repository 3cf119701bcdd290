"""The routes of v0.2."""
import json
import unittest

from served import Served, quote

WORDS = {"general": ["thou art a general", "the general rides"],
         "macbeth": ["macbeth murders sleep", "macbeth does murder", "sleep no more macbeth"],
         "caesar": ["caesar bleeds rome", "rome mourns caesar"]}


class Rest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Served().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def post(self, path, body):
        return self.server.ask("POST", path, body if isinstance(body, str) else json.dumps(body))

    def test_rest__check_2(self):
        """Three clusters by their labels; 404 for what is not there."""
        documents, expected, n = [], {}, 0
        for label, texts in WORDS.items():
            for text in texts:
                n += 1
                documents.append({"id": f"doc{n}", "text": text})
                expected.setdefault(label, []).append(f"doc{n}")
        self.assertEqual(expected["macbeth"], ["doc3", "doc4", "doc5"])
        self.assertEqual(self.post("/collections/will/mid", {"bulk": documents}).status, 201)
        collection = "/v1/collections/mid"
        self.server.json("PATCH", collection + "/configurations/default?set=k=3&namespace=will")
        asked = self.server.ask("POST", collection + "/builds?namespace=will")
        self.assertEqual(self.server.wait(asked.headers["Location"])["state"], "done")
        for cluster in self.server.json("GET", collection + "/clusters?namespace=will"):
            best = self.server.json(
                "GET", f"{collection}/clusters/{cluster['cluster']}?namespace=will")["documents"][0]
            label = next(w for w, ids in expected.items() if best["id"] in ids)
            if cluster["label"] != label:
                self.server.json("PUT", f"{collection}/clusters/{cluster['cluster']}/label"
                                        f"?namespace=will&text={label}")
        given = self.server.json("GET", "/clusters/will/mid")
        self.assertEqual({label: sorted(ids) for label, ids in given.items()}, expected)
        for label, ids in expected.items():
            self.assertEqual(sorted(self.server.json("GET", f"/clusters/will/mid/{label}")), ids)
        self.assertEqual(self.server.get("/clusters/will/mid/avenue-q").status, 404)
        self.assertEqual(self.server.get("/clusters/will/no-such").status, 404)

    def test_rest__check_3(self):
        """A numeric id becomes a string, and names the document."""
        text = "Have more than thou showest"
        answer = self.post("/collections/will/lear", '{"id":10,"text":"%s"}' % text)
        self.assertEqual(answer.status, 201)
        self.assertEqual(answer.json(), "/docs/will/lear/10")
        self.assertEqual(answer.headers["Location"], "/docs/will/lear/10")
        document = self.server.json("GET", "/docs/will/lear/10")
        self.assertEqual((document["id"], document["text"]), ("10", text))
        self.assertEqual(document["memberships"], [])

    def test_bad_posts(self):
        for body in ("", "{", "[]", "7", '{"text":"a"}', '{"id":"1"}', '{"id":1.5,"text":"a"}',
                     '{"id":"","text":"a"}', '{"id":"1","text":7}', '{"id":null,"text":"a"}',
                     '{"bulk":7}'):
            with self.subTest(body=body):
                answer = self.post("/collections/will/bad", body)
                self.assertEqual(answer.status, 400, answer.body)
                self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        self.assertEqual(self.server.get("/docs/will/bad/1").status, 404)

    def test_bulk(self):
        answer = self.post("/collections/will/bulk", {"bulk": [
            {"id": "a/b", "text": "one"}, {"text": "two"}, {"id": 3, "text": "three"}, 7]})
        self.assertEqual(answer.status, 201)
        results = answer.json()
        self.assertEqual((results[0], results[2]),
                         ("/docs/will/bulk/a%2Fb", "/docs/will/bulk/3"))
        self.assertIn("no id", results[1]["error"])
        self.assertIn("object", results[3]["error"])
        for path in (results[0], results[2]):
            self.assertEqual(self.server.get(path).status, 200)
        self.assertEqual(self.post("/collections/will/bulk", {"bulk": []}).json(), [])

    def test_names(self):
        """Collections that a put would take for patterns, and any other characters."""
        for name in ("{type}", "a/b", "*", "ü {", "a%2Fb"):
            with self.subTest(name=name):
                answer = self.post(f"/collections/{quote('n/' + name)}/{quote(name)}",
                                   {"id": name, "text": "words"})
                self.assertEqual(answer.status, 201, answer.body)
                document = self.server.json("GET", answer.json())
                self.assertEqual((document["collection"], document["id"]), (name, name))

    def test_ranges_of_rows(self):
        """A range of rows goes by one request; a page of a wide row comes with what is next."""
        server = self.server
        server.json("PUT", "/v1/tables/range?key=id&family=main&family=list:wide")
        rows = "".join(json.dumps({"key": [f"r{i:04}"], "cells": {"main": {"n": str(i)}}}) + "\n"
                       for i in range(2500))
        self.assertEqual(server.ask("POST", "/v1/tables/range/rows", rows).status, 200)
        row = "/v1/tables/range/row"
        count = lambda: len(server.ask("GET", "/v1/tables/range/rows", None,
                                       Accept="application/x-ndjson").lines())
        self.assertEqual(server.ask("DELETE", row + "?from=r0100&to=r2400&dry-run=true").json(),
                         [{"table": "range", "rows": 2300, "dry_run": True}])
        self.assertEqual(count(), 2500)
        self.assertEqual(server.ask("DELETE", row + "?from=r0100&to=r2400").json(),
                         [{"table": "range", "rows": 2300}])
        self.assertEqual(server.ask("DELETE", row + "?prefix=r00").json()[0]["rows"], 100)
        self.assertEqual(count(), 100)
        self.assertEqual(server.ask("DELETE", row + "?rows=true").status, 400)
        self.assertEqual(server.ask("DELETE", row).status, 400)

        server.ask("PUT", row + "?key=wide&" + "&".join(f"set=list:c{i}={i}" for i in range(9)))
        page = server.ask("GET", row + "?key=wide&family=list&limit=4&from-column=c3").json()[0]
        self.assertEqual(list(page["cells"]["list"]), ["c3", "c4", "c5", "c6"])
        page = server.ask("GET", row + "?key=wide&family=list&limit=4&cursor=" + page["next"]).json()[0]
        self.assertEqual(list(page["cells"]["list"]), ["c7", "c8"])
        self.assertNotIn("next", page)
        empty = server.ask("GET", row + "?key=wide&family=main")
        self.assertEqual((empty.status, empty.json()[0]["cells"]), (200, {}))
        self.assertEqual(server.ask("GET", row + "?key=nobody&family=main").status, 404)

    def test_too_large(self):
        answer = self.post("/collections/will/large", {"id": 1, "text": "x" * (17 << 20)})
        self.assertEqual(answer.status, 413)
        told = self.server.raw(b"POST /collections/will/large HTTP/1.1\r\nHost: localhost\r\n"
                               b"Content-Length: 70000000\r\n\r\n{")
        self.assertIn(b" 413 ", told.split(b"\r\n")[0])


if __name__ == "__main__":
    unittest.main()
