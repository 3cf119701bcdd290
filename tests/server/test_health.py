"""What looks after the server."""
import json
import re
import time
import unittest

import exposition
from served import Served, feed


class Collections(unittest.TestCase):
    def test_changed_since_they_were_built(self):
        with Served() as server:
            feed(server)
            self.assertEqual([server.json("GET", "/v1/stats")[n] for n in ("changed", "failed", "running")], [0, 0, 0])
            server.put("feedback", [{"id": "x", "text": "one more"}])
            self.assertEqual(server.json("GET", "/v1/stats")["changed"], 1)
            status = server.json("GET", "/v1/status?changed")
            self.assertEqual(status["changed_collections"], [{"namespace": "default", "collection": "feedback"}])
            self.assertEqual(status["holder"], f"process {server.process.pid} (grouperfish serve)")
            self.assertEqual(server.json("POST", "/v1/upgrade")["upgraded"], False)


class Rebuilds(unittest.TestCase):
    """What /metrics tells of rebuilds, and of what waits for one."""

    def read(self, server):
        families = exposition.read(server.get("/metrics").body.decode())
        return {(name, *labels): value for family in families.values()
                for (name, labels), value in family.samples.items()}

    def ended(self, values):
        return [values["grouperfish_rebuilds_total", ("result", how)] for how in ("done", "failed", "cancelled")]

    def test_rebuilds(self):
        with Served() as server:
            values = self.read(server)
            self.assertEqual(self.ended(values), [0, 0, 0])
            self.assertNotIn(("grouperfish_rebuild_last_done_seconds",), values)
            self.assertEqual(values["grouperfish_store_last_build_seconds",], 0)
            begun = int(time.time())
            feed(server)
            values = self.read(server)
            self.assertEqual(self.ended(values), [1, 0, 0])
            self.assertEqual(values["grouperfish_rebuild_seconds_count",], 1)
            self.assertGreater(values["grouperfish_rebuild_seconds_sum",], 0)
            for name in ("grouperfish_rebuild_last_done_seconds", "grouperfish_store_last_build_seconds"):
                self.assertGreaterEqual(values[name,], begun)
                self.assertLessEqual(values[name,], time.time())
            good = values["grouperfish_rebuild_last_done_seconds",]
            self.assertEqual(server.rebuild("feedback", "?config=none")["state"], "failed")
            server.json("POST", "/v1/collections/feedback/builds?dry-run")  # is none
            values = self.read(server)
            self.assertEqual(self.ended(values), [1, 1, 0])
            self.assertEqual(values["grouperfish_rebuild_last_done_seconds",], good)

    def test_pending(self):
        names = [(f"grouperfish_store_{name}",) for name in ("pending_documents", "changed_collections")]
        with Served() as server:
            for collection in ("feedback", "other"):
                feed(server, collection)
            self.assertEqual([self.read(server)[n] for n in names], [0, 0])
            server.put("feedback", [{"id": str(i), "text": f"more {i}"} for i in range(100, 105)])
            server.json("DELETE", "/v1/collections/other/documents?id=1")
            server.put("new", [{"id": "1", "text": "never built"}])
            self.assertEqual([self.read(server)[n] for n in names], [6, 2])
            server.rebuild("feedback")
            self.assertEqual([self.read(server)[n] for n in names], [1, 1])

    def test_process(self):
        with Served() as server:
            values = self.read(server)
            version = server.json("GET", "/v1/version")["version"]
            self.assertEqual(values["grouperfish_build_info", ("version", version)], 1)
            with open(f"/proc/{server.process.pid}/status") as file:
                resident = int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1]) * 1024
            self.assertLess(abs(values["process_resident_memory_bytes",] - resident), resident / 2)


class Health(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Served().__enter__()
        feed(cls.server)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_health(self):
        self.assertEqual(self.server.get("/healthz").body, b"ok\n")
        self.assertEqual(self.server.get("/readyz").body, b"ready\n")

    def metrics(self):
        answer = self.server.get("/metrics")
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"))
        exposition.read(answer.body.decode())
        values, types = {}, {}
        for line in answer.body.decode().splitlines():
            if line.startswith("# TYPE "):
                name, kind = line[7:].split(" ")
                self.assertNotIn(name, types)
                types[name] = kind
            elif not line.startswith("#"):
                found = re.fullmatch(r"([a-z_]+)(\{[^}]*\})? ([0-9.e+-]+)", line)
                self.assertTrue(found, line)
                base = re.sub(r"_(bucket|sum|count)$", "", found[1])
                self.assertTrue(base in types or found[1] in types, line)
                self.assertNotIn(line.rsplit(" ", 1)[0], values)
                values[line.rsplit(" ", 1)[0]] = float(found[3])
        return values

    def test_metrics(self):
        good = 'grouperfish_http_requests_total{route="collection show",method="GET",status="200"}'
        bad = good.replace("200", "404")
        count = 'grouperfish_http_request_seconds_count{route="collection show",method="GET"}'
        before = self.metrics()
        for name in ("feedback", "feedback", "none"):
            self.server.get("/v1/collections/" + name)
        after = self.metrics()
        self.assertEqual(after[good] - before.get(good, 0), 2)
        self.assertEqual(after[bad] - before.get(bad, 0), 1)
        self.assertEqual(after[count] - before.get(count, 0), 3)
        buckets = [after[f'grouperfish_http_request_seconds_bucket{{route="collection show",'
                         f'method="GET",le="{le}"}}'] for le in
                   ("0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.1", "1",
                    "10", "60", "+Inf")]
        self.assertEqual(buckets, sorted(buckets))
        self.assertEqual(buckets[-1], after[count])
        self.assertEqual(after["grouperfish_store_documents"], 6)
        self.assertGreater(after["grouperfish_store_bytes"], 1000)
        self.assertEqual(after["grouperfish_tasks_running"], 0)

    def test_stats(self):
        stats = self.server.json("GET", "/v1/stats")
        self.assertEqual((stats["collections"], stats["documents"], stats["builds"]), (1, 6, 1))

    def test_page(self):
        page = self.server.get("/")
        self.assertEqual(page.status, 200)
        self.assertIn(b"<title>Grouperfish</title>", page.body)

    def test_openapi(self):
        """What OpenAPI 3.1 asks of a description: by its schema where jsonschema is there, and by
        the rules that a schema cannot have."""
        description = self.server.get("/openapi.json").json()
        self.assertTrue(description["openapi"].startswith("3.1."))
        self.assertEqual(set(description["info"]), {"title", "version"})
        ids = []
        for path, methods in description["paths"].items():
            self.assertTrue(path.startswith("/"))
            in_path = re.findall(r"\{([^}]+)\}", path)
            for method, route in methods.items():
                self.assertIn(method, ("get", "put", "post", "delete", "patch"))
                ids.append(route["operationId"])
                self.assertTrue(route["summary"])
                self.assertTrue(route["responses"])
                for status, response in route["responses"].items():
                    self.assertTrue(status == "default" or re.fullmatch("[1-5][0-9]{2}", status))
                    self.assertTrue(response["description"])
                names = [(p["in"], p["name"]) for p in route["parameters"]]
                self.assertEqual(len(names), len(set(names)), (path, names))
                self.assertEqual([n for where, n in names if where == "path"], in_path)
                for parameter in route["parameters"]:
                    self.check_parameter(parameter)
        self.assertEqual(len(ids), len(set(ids)))
        rebuild = description["paths"]["/v1/collections/{collection}/builds"]["post"]
        self.assertIn("202", rebuild["responses"])
        start = next(p for p in rebuild["parameters"] if p["name"] == "start")
        self.assertEqual(start["schema"], {"type": "string", "enum": ["served", "fresh"]})

    def check_parameter(self, parameter):
        self.assertIn(parameter["in"], ("path", "query"))
        if parameter["in"] == "path":
            self.assertIs(parameter["required"], True)
        schema = parameter["schema"]
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        self.assertLessEqual(set(kinds), {"string", "integer", "number", "boolean", "array"})
        try:
            import jsonschema
        except ImportError:
            return
        jsonschema.Draft202012Validator.check_schema(schema)


if __name__ == "__main__":
    unittest.main()
