"""Parameters in the body of a request, and settings by their own names."""
import json
import unittest

from served import Served

DOCUMENTS = [{"id": str(i), "text": f"word{i % 5} thing{i % 3} stuff{i % 7}"} for i in range(60)]
CONFIGURATION = "/v1/collections/c/configurations/fine"
BUILDS = "/v1/collections/c/builds"
JSON = "application/json"


class Parameters(unittest.TestCase):
    def setUp(self):
        self.server = Served()
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        self.server.put("c", DOCUMENTS)

    def send(self, method, path, body, kind=JSON):
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        return self.server.ask(method, path, text, Content_Type=kind)

    def settings(self):
        return {row["key"]: row["value"] for row in self.server.json("GET", CONFIGURATION)
                if row["from"] == "collection"}

    def refused(self, words, status, method, path, body, kind=JSON):
        answer = self.send(method, path, body, kind)
        self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        self.assertIn(words, answer.json()["detail"])

    def test_patch(self):
        answer = self.send("PATCH", CONFIGURATION, {"k": 7, "ngrams": "1-2", "stem": False})
        self.assertEqual((answer.status, answer.json()),
                         (200, {"collection": "c", "configuration": "fine", "set": True}))
        self.assertEqual(self.settings(), {"k": "7", "ngrams": "1-2", "stem": "off"})
        self.send("PATCH", CONFIGURATION, {"k": None, "set": {"seed": 5}})
        self.assertEqual(self.settings(), {"seed": "5", "ngrams": "1-2", "stem": "off"})
        answer = self.send("PATCH", CONFIGURATION, {"k": 3}, "application/merge-patch+json; charset=utf-8")
        self.assertEqual(answer.status, 200)
        self.assertEqual(self.settings()["k"], "3")

    def test_put_replaces(self):
        self.send("PATCH", CONFIGURATION, {"k": 7, "ngrams": "1-2"})
        answer = self.send("PUT", CONFIGURATION, {"k": 4})
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(self.settings(), {"k": "4"})
        self.assertEqual(self.send("PUT", CONFIGURATION, {}).status, 200)
        self.assertEqual(self.settings(), {})
        self.send("PUT", CONFIGURATION, {"k": 5})
        for body in ("", " \n"):
            self.refused("the body is empty: it has the keys that stay", 400, "PUT", CONFIGURATION, body)
        self.assertEqual(self.server.ask("PUT", CONFIGURATION).status, 400)
        self.assertEqual(self.settings(), {"k": "5"})
        self.send("PUT", CONFIGURATION, {})
        self.refused("k: ", 400, "PUT", CONFIGURATION, {"seed": 3, "k": "many"})
        self.assertEqual(self.settings(), {})
        self.assertEqual(self.server.ask("PUT", CONFIGURATION + "?k=9").status, 200)
        self.assertEqual(self.settings(), {"k": "9"})

    def test_other_puts(self):
        self.assertEqual(self.send("PUT", "/v1/collections/d", {}).status, 201)
        self.refused('no argument "size"', 400, "PUT", "/v1/collections/e", {"size": 1})
        self.server.rebuild("c", "?k=3")
        cluster = self.server.json("GET", "/v1/collections/c/clusters")[0]["cluster"]
        answer = self.send("PUT", f"/v1/collections/c/clusters/{cluster}/label", {"text": "mine"})
        self.assertEqual(answer.json()["label"], "mine")
        labels = [c["label"] for c in self.server.json("GET", "/v1/collections/c/clusters")]
        self.assertIn("mine", labels)
        made = self.send("PUT", "/v1/tables/t", '{"key":["id"],"families":{"f":{"n":"int64"}}}')
        self.assertIn(made.status, (200, 201, 400))  # its body is a schema, and no parameters
        self.assertNotIn("parameter", made.body.decode())

    def test_rebuild_once(self):
        asked = self.send("POST", BUILDS, {"k": 4, "set": {"seed": 2}})
        self.assertEqual(asked.status, 202, asked.body)
        task = self.server.wait(asked.headers["Location"])
        self.assertEqual([row["k"] for row in task["rows"]], [4])
        build = self.server.json("GET", BUILDS)[0]
        self.assertEqual(build["settings"], {"k": "4", "seed": "2"})
        rows = self.server.json("GET", "/v1/collections/c/configurations/default")
        self.assertEqual({row["from"] for row in rows}, {"default"})
        self.assertEqual(self.server.rebuild("c", "?k=4&seed=2")["rows"][0]["outcome"], "unmodified")
        self.assertEqual(self.server.rebuild("c", "?set=k=3")["rows"][0]["k"], 3)
        self.assertEqual(self.server.rebuild("c")["rows"][0]["outcome"], "rebuilt")
        self.assertEqual(self.server.json("GET", BUILDS)[0]["settings"], {})

    def test_rebuild_now(self):
        for answer in (self.send("POST", BUILDS, {"k": 5, "dry-run": True}),
                       self.server.ask("POST", BUILDS + "?k=5&dry-run"),
                       self.send("POST", BUILDS + "?dry-run", {"k": 5})):
            self.assertEqual(answer.status, 200, answer.body)
            self.assertEqual(answer.json()[0]["expected_k"], 5)
        self.assertEqual(self.server.json("GET", BUILDS), [])
        steps = self.send("POST", BUILDS, {"explain-k": True, "max_k": 4}).json()
        self.assertTrue(steps)
        self.assertLessEqual(max(step["k"] for step in steps), 4)
        # What is wrong is told at once, and not by a task that fails.
        self.refused("did you mean", 400, "POST", BUILDS, {"kk": 3})
        self.refused('k: "0"', 400, "POST", BUILDS, {"k": 0})
        self.refused("did you mean", 400, "POST", BUILDS + "?kk=3", "")
        self.refused("no setting of a single build", 400, "POST", BUILDS + "?dry-run",
                     {"rebuild": False})

    def test_refused(self):
        self.refused('did you mean "k"?', 400, "PATCH", CONFIGURATION, {"kk": 1})
        self.refused("k: it is an object", 400, "PATCH", CONFIGURATION, {"k": {"a": 1}})
        self.refused("k is given twice", 400, "PATCH", CONFIGURATION, '{"k":1,"k":2}')
        self.refused("in the address already", 400, "PATCH", CONFIGURATION + "?k=1", {"k": 2})
        self.refused('k is given twice, as "1" and as "2"', 400, "PATCH", CONFIGURATION + "?k=1&set=k=2", "")
        self.refused('k is given twice, as "1" and as "2"', 400, "PATCH", CONFIGURATION, {"set": ["k=1", "k=2"]})
        self.refused("k is given twice", 400, "PATCH", CONFIGURATION, {"set": ["k=1"], "k": 2})
        self.refused("config is in the address already", 400, "PATCH", CONFIGURATION,
                     {"config": "other"})
        self.refused("namespace is a part of the address", 400, "PATCH", CONFIGURATION,
                     {"namespace": "other", "k": 1})
        self.refused("set is missing", 400, "PATCH", CONFIGURATION, {})
        self.refused("set is missing", 400, "PATCH", CONFIGURATION, "")
        self.refused("the body is an array", 400, "PATCH", CONFIGURATION, [1])
        self.refused("no JSON", 400, "PATCH", CONFIGURATION, '{"k":1')
        self.refused("no JSON", 400, "PATCH", CONFIGURATION, b'{"k":"\xff"}')
        self.refused("no JSON", 400, "PATCH", CONFIGURATION, "[" * 100000)
        self.refused("Content-Type: application/json", 415, "PATCH", CONFIGURATION, '{"k":1}',
                     "application/x-www-form-urlencoded")
        self.refused("Content-Type: application/json", 415, "POST", BUILDS, '{"k":1}', "text/plain")
        connection = self.server.connect()
        connection.request("POST", BUILDS + "?dry-run", b'{"k":3,', {})
        self.assertEqual(connection.getresponse().status, 400)  # without a type it is JSON
        connection.close()
        self.assertEqual(self.send("GET", CONFIGURATION, "").status, 404)  # nothing was made
        self.assertEqual(self.server.json("GET", "/v1/tasks"), [])

    def test_size(self):
        words = " ".join(f"word{i}" for i in range(100000))
        self.assertGreater(len(words), 900000)
        self.assertEqual(self.send("PATCH", CONFIGURATION, {"more_stop_words": words}).status, 200)
        self.refused("more than 1048576 bytes", 413, "PATCH", CONFIGURATION,
                     {"more_stop_words": words + words})
        connection = self.server.connect()
        body = json.dumps({"k": 6}).encode()
        connection.request("PATCH", CONFIGURATION, iter([body[:3], body[3:]]),
                           {"Content-Type": JSON}, encode_chunked=True)
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        self.assertEqual(self.settings()["k"], "6")


if __name__ == "__main__":
    unittest.main()
