"""Every route of /openapi.json is answered by the operation that it documents."""
import re
import time
import unittest

from served import Served, feed

COUNTED = re.compile(rb'^grouperfish_http_requests_total\{route="([^"]*)",method="([A-Z]*)",status="\d+"\} (\d+)$',
                     re.MULTILINE)


class Routes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Served().__enter__()
        feed(cls.server)
        cls.description = cls.server.get("/openapi.json").json()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def counts(self):
        """Requests by route and method, other than those that ask for this."""
        counts = {}
        for route, method, n in COUNTED.findall(self.server.get("/metrics").body):
            key = re.sub("[^A-Za-z0-9]", "_", route.decode()), method.decode()
            counts[key] = counts.get(key, 0) + int(n)
        return counts

    def answered_by(self, method, path, before, last):
        """(route, method) that the request was counted for; a request counts once it has ended."""
        self.server.ask(method, path)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            now = self.counts()
            own = [key for key, n in now.items() if n != before.get(key, 0) and key != ("metrics", "GET")]
            if own:
                return own, now
            time.sleep(0.01)
        if last == ("metrics", "GET"):
            return [last], now
        self.fail(f"{method} {path} is counted nowhere")

    def walk(self, value):
        """(operation, method, path with a value for each parameter)"""
        values = {"ns": "default", "operation": "clusters"}
        for path, methods in self.description["paths"].items():
            for method, route in methods.items():
                filled = re.sub(r"\{([^}]*)\}", lambda m: values.get(m[1], value), path)
                yield route["operationId"], method.upper(), filled

    def test_every_route(self):
        for value in ("x", "feedback"):
            before, walked = self.counts(), 0
            for operation, method, path in self.walk(value):
                with self.subTest(method=method, path=path):
                    answered, before = self.answered_by(method, path, before, (operation, method))
                    self.assertEqual(answered, [(operation, method)])
                    walked += 1
            self.assertGreater(walked, 80)

    def test_no_two_are_the_same(self):
        """Operations have names of their own, and of two paths no method is there twice."""
        names = [name for name, _, _ in self.walk("x")]
        self.assertEqual(len(names), len(set(names)))
        shapes = [(re.sub(r"\{[^}]*\}", "{}", path), method)
                  for path, methods in self.description["paths"].items() for method in methods]
        self.assertEqual(len(shapes), len(set(shapes)))

    def test_all_beside_a_collection(self):
        """Which of them is meant nobody can tell: also of a rebuild, which would become a task."""
        walked = 0
        for path, methods in self.description["paths"].items():
            for method, route in methods.items():
                # Those that take a pattern, whose description is of one collection.
                if not any("pattern" in p["schema"] for p in route["parameters"]):
                    continue
                filled = re.sub(r"\{([^}]*)\}", lambda m: {"collection": "feedback"}.get(m[1], "default"), path)
                query = "&".join(f"{p['name']}=k%3D2" for p in route["parameters"]
                                 if p.get("required") and p["in"] == "query")
                for all_of_them in ("all=true", "all", "all=false&all=true"):
                    with self.subTest(method=method, path=path, query=all_of_them):
                        body = b"{}" if method == "put" and "requestBody" in route else None
                        answer = self.server.ask(method.upper(), f"{filled}?{query}&{all_of_them}", body,
                                                 **({"Content-Type": "application/json"} if body else {}))
                        self.assertEqual(answer.status, 400, answer.body)
                        self.assertIn("either a collection, or --all", answer.json()["detail"])
                        walked += 1
        self.assertGreater(walked, 20)
        answer = self.server.get("/v1/collections/feedback?all=true&all=false")
        self.assertIsInstance(answer.json(), dict)  # it is of one collection

    def test_words_win(self):
        """A word of a path is not taken for a name; that can be given in the query."""
        self.assertEqual(self.server.get("/v1/papers/counts").status, 200)
        before = self.counts()
        answered, before = self.answered_by("GET", "/v1/papers/?sha1=counts", before, None)
        self.assertEqual(answered, [("papers_show", "GET")])


if __name__ == "__main__":
    unittest.main()
