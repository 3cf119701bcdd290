"""Rebuilds as tasks."""
import glob
import gzip
import json
import os
import threading
import time
import unittest

from served import DATA, FEEDBACK, SOURCE, Served, feed, quote


def grow(server, collection, n):
    server.put(collection, [
        {"id": str(i), "text": " ".join(f"w{(i * 7 + k * k) % 997}" for k in range(30))}
        for i in range(n)])


class Tasks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Served("--workers", "1").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_asked_and_done(self):
        self.server.put("one", FEEDBACK)
        answer = self.server.ask("POST", "/v1/collections/one/builds")
        self.assertEqual(answer.status, 202)
        task = answer.json()
        self.assertEqual(answer.headers["Location"], "/v1/tasks/" + task["task"])
        self.assertEqual((task["collection"], task["namespace"]), ("one", "default"))
        ended = self.server.wait(answer.headers["Location"])
        self.assertEqual((ended["state"], ended["rows"][0]["outcome"]), ("done", "rebuilt"))
        self.assertLessEqual(ended["asked"], ended["ended"])
        again = self.server.rebuild("one")
        self.assertEqual(again["rows"][0]["outcome"], "unmodified")
        listed = self.server.json("GET", "/v1/tasks")
        self.assertEqual([listed[0]["task"], listed[1]["task"]], [again["task"], ended["task"]])
        self.assertEqual(self.server.json("GET", "/v1/tasks?namespace=other"), [])

    def test_refused_at_once(self):
        for path, status in (("/v1/collections/none/builds", 404),
                             ("/v1/collections/one/builds?start=cold", 400),
                             ("/v1/collections/one/builds?no=1", 400),
                             ("/v1/tasks/none", 404)):
            method = "GET" if "tasks" in path else "POST"
            self.assertEqual(self.server.ask(method, path).status, status, path)
        self.assertEqual(self.server.ask("DELETE", "/v1/tasks/none").status, 404)

    def test_answered_now(self):
        self.server.put("now", FEEDBACK)
        rows = self.server.json("POST", "/v1/collections/now/builds?dry-run")
        self.assertEqual(rows[0]["outcome"], "would be rebuilt")
        rows = self.server.json("POST", "/v1/collections/now/builds?explain-k")
        self.assertIn("separation", rows[0])

    def test_twice_is_once(self):
        """Asked for by many at once, a rebuild is one task."""
        grow(self.server, "twice", 3000)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(
            self.server.ask("POST", "/v1/collections/twice/builds"))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual({a.status for a in answers}, {202})
        self.assertEqual(len({a.json()["task"] for a in answers}), 1)
        other = self.server.ask("POST", "/v1/collections/twice/builds?start=fresh")
        self.assertNotEqual(other.json()["task"], answers[0].json()["task"])
        self.assertEqual(self.server.wait(answers[0].headers["Location"])["state"], "done")
        self.assertEqual(self.server.wait(other.headers["Location"])["state"], "done")
        builds = self.server.json("GET", "/v1/collections/twice/builds")
        self.assertEqual(len(builds), 1)

    def test_cancelled(self):
        grow(self.server, "cancelled", 8000)
        grow(self.server, "queued", 10)
        running = self.server.ask("POST", "/v1/collections/cancelled/builds").headers["Location"]
        end = time.monotonic() + 60
        while self.server.json("GET", running)["state"] == "queued" and time.monotonic() < end:
            time.sleep(0.005)
        queued = self.server.ask("POST", "/v1/collections/queued/builds").headers["Location"]
        self.assertEqual(self.server.json("GET", queued)["state"], "queued")
        self.assertEqual(self.server.ask("DELETE", queued).status, 202)
        self.assertEqual(self.server.wait(queued)["state"], "cancelled")
        self.assertEqual(self.server.ask("DELETE", running).status, 202)
        self.assertEqual(self.server.wait(running)["state"], "cancelled")
        self.assertEqual(self.server.ask("DELETE", running).status, 409)
        self.assertEqual(self.server.get("/v1/collections/cancelled/clusters").status, 404)

    def test_events(self):
        grow(self.server, "followed", 3000)
        asked = self.server.ask("POST", "/v1/collections/followed/builds")
        connection = self.server.connect()
        connection.request("GET", asked.headers["Location"] + "/events")
        response = connection.getresponse()
        self.assertEqual(response.headers["Content-Type"], "text/event-stream")
        events = []
        for block in response.read().decode().split("\n\n"):
            if not block or block.startswith(":"):
                continue
            name, data = block.split("\n")
            events.append((name, json.loads(data.removeprefix("data: "))))
        connection.close()
        self.assertEqual([name for name, _ in events[:-1]], ["event: progress"] * (len(events) - 1))
        self.assertEqual((events[-1][0], events[-1][1]["state"]), ("event: end", "done"))
        phases = [data["phase"] for _, data in events if "phase" in data]
        self.assertGreater(len(set(phases)), 1)
        late = self.server.get(asked.headers["Location"] + "/events")
        self.assertEqual(late.body.count(b"event: end"), 1)
        self.assertEqual(self.server.get("/v1/tasks/none/events").status, 404)

    def test_namespace(self):
        space = quote("ü/n")
        self.server.put("named", FEEDBACK, namespace="ü/n")
        asked = self.server.ask("POST", f"/v1/collections/named/builds?namespace={space}")
        self.assertEqual(self.server.wait(asked.headers["Location"])["state"], "done")
        self.assertEqual(self.server.get(asked.headers["Location"].split("?")[0]).status, 404)


class Readers(unittest.TestCase):
    """While collections are rebuilt, whoever reads sees one build, whole."""

    def read_while_rebuilding(self, server, path, n_documents, readers=16, rebuilds=3):
        errors, stop, reads = [], threading.Event(), []

        def read():
            connection, count = server.connect(), 0
            while not stop.is_set() and not errors:
                answer = server.ask("GET", f"{path}/memberships", connection=connection,
                                    Accept="application/x-ndjson")
                rows = answer.lines() if answer.status == 200 else []
                by_cluster = {}
                for row in rows:
                    by_cluster.setdefault(row["cluster"], set()).add(row["label"])
                if answer.status != 200 or len(rows) != n_documents:
                    errors.append((answer.status, len(rows), answer.body[:200]))
                if any(len(labels) > 1 for labels in by_cluster.values()):
                    errors.append(("two labels of one cluster", by_cluster))
                clusters = server.ask("GET", f"{path}/clusters", connection=connection)
                if clusters.status != 200:
                    errors.append((clusters.status, clusters.body[:200]))
                elif sum(c["size"] for c in clusters.json()) > n_documents:
                    errors.append("sizes of two builds")
                one = server.ask("GET", f"{path}/clusters/{clusters.json()[0]['cluster']}",
                                 connection=connection)
                if one.status not in (200, 404):
                    errors.append((one.status, one.body[:200]))
                count += 1
                time.sleep(0.05)
            connection.close()
            reads.append(count)

        threads = [threading.Thread(target=read) for _ in range(readers)]
        for thread in threads:
            thread.start()
        states = [server.wait(server.ask("POST", f"{path}/builds?force&start=fresh")
                              .headers["Location"], 600)["state"] for _ in range(rebuilds)]
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(errors[:3], [])
        self.assertEqual(states, ["done"] * rebuilds)
        self.assertGreater(sum(reads), 0)

    def test_readers(self):
        with Served() as server:
            grow(server, "read", 600)
            server.rebuild("read")
            self.read_while_rebuilding(server, "/v1/collections/read", 600, rebuilds=2)

    @unittest.skipUnless(DATA, "GROUPERFISH_DATA is not set")
    def test_newsgroups(self):
        names = sorted(glob.glob(os.path.join(DATA, "20newsgroups", "*.jsonl*")))
        self.assertTrue(names, "20newsgroups is not there")
        release = os.path.join(SOURCE, "build", "release", "grouperfish")
        with Served(program=release if os.path.exists(release) else None) as server:
            count, limit = 0, 20000 if os.path.exists(release) else 500

            def records():
                nonlocal count
                for name in names:
                    opened = gzip.open(name) if name.endswith(".gz") else open(name, "rb")
                    with opened as lines:
                        for line in lines:
                            count += 1
                            if count <= limit:
                                yield line

            connection = server.connect(600)
            connection.request("POST", "/v1/collections/news/documents", body=records(),
                               encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
            answer = connection.getresponse()
            told = json.loads(answer.read())
            connection.close()
            self.assertEqual(answer.status, 200, told)
            self.assertEqual(server.rebuild("news")["state"], "done")
            self.read_while_rebuilding(server, "/v1/collections/news", told["new"], rebuilds=1)


if __name__ == "__main__":
    unittest.main()
