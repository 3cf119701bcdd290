"""A disk that gets full under the server: what it tells, and that it goes on once there is room."""
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from served import Served

PATH = "/v1/collections/posts"
MOUNTED = 'mount -t tmpfs -o size=48m tmpfs "$0" && exec "$@"'  # in a namespace of the server's own


def may_mount():
    return subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(may_mount(), "this process may not mount a file system")
class FullDisk(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="grouperfish-disk-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.server = Served(folder=self.folder,
                             within=["unshare", "--mount", "sh", "-c", MOUNTED, self.folder])
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        disk = f"/proc/{self.server.process.pid}/root{self.folder}"
        self.ballast = os.path.join(disk, "ballast")

    def fill(self, leave):
        """Leave so many bytes of the disk."""
        disk = os.statvfs(os.path.dirname(self.ballast))
        with open(self.ballast, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - leave)

    def document(self, i):
        return json.dumps({"id": f"d{i}", "text": f"word{i} bees honey " + "y" * 1000}).encode()

    def post(self, i):
        return self.server.ask("POST", PATH + "/documents", self.document(i))

    def posted_until_full(self, start):
        """Numbers of the documents that were acknowledged, and the first problem."""
        posted = []
        for i in range(start, start + 20000):
            answer = self.post(i)
            if answer.status != 200:
                return posted, answer
            posted.append(i)
        self.fail("the disk does not get full")

    def check_all_there(self, posted):
        rows = self.server.ask("GET", PATH + "/memberships?documents", Accept="application/x-ndjson")
        there = {row["id"]: row["text"] for row in rows.lines()}
        for i in posted:
            self.assertEqual(there.get(f"d{i}"), json.loads(self.document(i))["text"])
        self.assertGreaterEqual(self.server.json("GET", PATH)["size"], len(posted))

    def wait_for_writes(self, i, seconds=120):
        end = time.monotonic() + seconds
        while (answer := self.post(i)).status != 200:
            self.assertIn(answer.status, (503, 507), answer.body)
            self.assertLess(time.monotonic(), end, answer.body)
            time.sleep(0.1)

    def check_full(self, problem):
        self.assertEqual(problem.status, 507, problem.body)
        self.assertEqual(problem.headers["Content-Type"], "application/problem+json")
        self.assertIn("No space left on device", problem.json()["detail"])
        again = self.post(0)
        self.assertEqual(again.status, 507, again.body)
        ready = self.server.get("/readyz")
        self.assertEqual(ready.status, 503)
        self.assertIn("takes no writes", ready.json()["detail"])
        self.assertEqual(self.server.get("/healthz").status, 200)

    def test_it_goes_on_without_a_restart(self):
        posted = list(range(50))
        for i in posted:
            self.assertEqual(self.post(i).status, 200)
        self.assertEqual(self.server.rebuild("posts")["state"], "done")
        served = self.server.json("GET", PATH + "/clusters")
        for round in (1, 2):  # and once more
            self.fill(1 << 20)
            more, problem = self.posted_until_full(round * 100000)
            posted += more
            self.check_full(problem)
            time.sleep(2)  # it tries meanwhile
            self.check_full(self.post(0))
            self.check_all_there(posted)
            self.assertEqual(self.server.json("GET", PATH + "/clusters"), served)
            os.unlink(self.ballast)
            self.wait_for_writes(round * 100000 + 50000)
            posted.append(round * 100000 + 50000)
            self.assertEqual(self.server.get("/readyz").status, 200)
            self.check_all_there(posted)
        self.assertEqual(self.server.rebuild("posts", "?force")["state"], "done")
        self.assertEqual(self.server.stop(), 0)

    def test_others_read_meanwhile(self):
        """Readers without a pause see every document that was there before, or are told to wait."""
        for i in range(50):
            self.assertEqual(self.post(i).status, 200)
        stop, wrong, refused = threading.Event(), [], [0]

        def read(n):
            connection = self.server.connect()
            while not stop.is_set():
                answer = self.server.ask("GET", f"{PATH}/documents/d{n}", connection=connection)
                refused[0] += answer.status == 503
                if answer.status not in (200, 503):
                    wrong.append((answer.status, answer.body))
            connection.close()

        readers = [threading.Thread(target=read, args=(n,)) for n in range(4)]
        for reader in readers:
            reader.start()
        self.fill(1 << 20)
        posted, problem = self.posted_until_full(1000)
        self.assertEqual(problem.status, 507, problem.body)
        os.unlink(self.ballast)
        self.wait_for_writes(999)
        stop.set()
        for reader in readers:
            reader.join()
        self.assertEqual(wrong[:3], [])
        self.check_all_there([*range(50), *posted, 999])


if __name__ == "__main__":
    unittest.main()
