"""Collections that are rebuilt by themselves."""
import time
import unittest

from served import PROGRAM, Served, feed


def documents(start, n):
    return [{"id": str(i), "text": f"apple pear plum word{i % 7}"} for i in range(start, start + n)]


class After(unittest.TestCase):
    def build(self, server, collection, namespace="default"):
        builds = server.ask("GET", f"/v1/collections/{collection}/builds?namespace={namespace}")
        rows = builds.json() if builds.status == 200 else []
        return rows[0]["build"] if rows else 0

    def wait(self, server, collection, before, namespace="default", seconds=120):
        end = time.monotonic() + seconds
        while self.build(server, collection, namespace) == before:
            self.assertLess(time.monotonic(), end, "it was not rebuilt\n" + "".join(server.log))
            time.sleep(0.05)
        return self.build(server, collection, namespace)

    def ended(self, server, seconds=120):
        """The tasks, once all have ended: a build is served a moment before that."""
        end = time.monotonic() + seconds
        while True:
            tasks = server.json("GET", "/v1/tasks")
            if all(task["state"] == "done" for task in tasks):
                return tasks
            self.assertLess(time.monotonic(), end, tasks)
            time.sleep(0.05)

    def test_documents(self):
        with Served("--rebuild-after", "10") as server:
            server.put("few", documents(0, 9))
            server.put("many", documents(0, 10))
            server.put("many", documents(0, 10), namespace="other")
            first = self.wait(server, "many", 0)
            self.wait(server, "many", 0, "other")
            self.assertEqual(self.build(server, "few"), 0)
            server.put("many", documents(10, 9))
            server.put("many", documents(0, 19))  # nothing of it is new
            time.sleep(2.5)
            self.assertEqual(self.build(server, "many"), first)
            server.json("DELETE", "/v1/collections/many/documents?id=3")
            self.wait(server, "many", first)

    def test_share(self):
        with Served("--rebuild-after", "50%") as server:
            server.put("c", documents(0, 20))
            first = self.wait(server, "c", 0)
            server.put("c", documents(20, 15))
            time.sleep(2.5)
            self.assertEqual(self.build(server, "c"), first)
            server.put("c", documents(35, 5))
            self.wait(server, "c", first)

    def test_time(self):
        with Served("--rebuild-after", "100000,4s") as server:
            server.put("c", documents(0, 20))
            first = self.wait(server, "c", 0)
            begun = time.monotonic()
            server.put("c", documents(20, 1))
            now = self.build(server, "c")
            if time.monotonic() - begun < 3:  # else the four seconds may be over
                self.assertEqual(now, first)
            self.wait(server, "c", first)
            tasks = self.ended(server)
            time.sleep(6)  # nothing has changed: nothing is asked for
            self.assertEqual(server.json("GET", "/v1/tasks"), tasks)

    def test_most_active_first(self):
        """One worker: what changed most is built before what changed less."""
        with Served() as server:
            for i in range(6):
                server.put(f"c{i}", documents(0, 20 + 10 * i))
            server.keep = True
        try:
            with Served("--rebuild-after", "10", "--workers", "1", folder=server.folder) as again:
                for i in range(6):
                    self.wait(again, f"c{i}", 0, seconds=120)
                builds = [self.build(again, f"c{i}") for i in range(6)]
                self.assertEqual(builds, sorted(builds, reverse=True))
        finally:
            import shutil
            shutil.rmtree(server.folder)

    def test_refused(self):
        for rule in ("0", "x", "10 %", "1w", "5,", ",5", "%", "-1", "1.5h"):
            with self.assertRaises(RuntimeError) as raised:
                Served("--rebuild-after", rule).__enter__()
            self.assertIn("rebuild-after", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
