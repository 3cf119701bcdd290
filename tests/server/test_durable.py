"""Single documents posted from 64 connections at once: each that was acknowledged is there after a
kill -9, and after the loss of power at any moment."""
import http.client
import itertools
import json
import os
import shutil
import tempfile
import threading
import time
import unittest
from contextlib import closing

from served import Served

CONNECTIONS = 64
ENOUGH = 3600  # acknowledged ones before the end
WATCH = os.environ.get("GROUPERFISH_POWER_LOSS")


class Posting:
    """Posts without end; `acknowledged` has the ids of those that were answered."""

    def __init__(self, server):
        self.server, self.acknowledged, self.ends, self.wrong = server, [], False, []
        self.threads = [threading.Thread(target=self.post, args=(c,), daemon=True)
                        for c in range(CONNECTIONS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ends = True
        for thread in self.threads:
            thread.join(60)

    def post(self, number):
        with closing(self.server.connect()) as connection:
            for n in itertools.count():
                if self.ends:
                    return
                document = {"id": f"{number}-{n}", "text": f"a piece of feedback, number {n}"}
                try:
                    answer = self.server.ask("POST", "/v1/collections/posted/documents",
                                             json.dumps(document), connection)
                except (OSError, http.client.HTTPException):
                    return  # the server is gone
                if answer.status != 200:
                    self.wrong.append(answer.status)
                    return
                self.acknowledged.append(document["id"])

    def wait_for(self, n):
        end = time.monotonic() + 120
        while len(self.acknowledged) < n and not self.wrong and time.monotonic() < end:
            time.sleep(0.01)


class Durable(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="grouperfish-durable-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def check(self, folder, acknowledged):
        with Served(folder=folder) as server, closing(server.connect()) as connection:
            for id in acknowledged:
                answer = server.ask("GET", f"/v1/collections/posted/documents/{id}", connection=connection)
                self.assertEqual((id, answer.status), (id, 200), answer.body[:300])

    def test_kill(self):
        with Served(folder=self.folder) as server, Posting(server) as posting:
            posting.wait_for(ENOUGH)
            server.process.kill()
            server.process.wait()
            server.reader.join()
            server.process.stderr.close()
            server.stop = lambda: 0
        self.assertEqual(posting.wrong, [])
        self.assertGreaterEqual(len(posting.acknowledged), ENOUGH)
        self.check(self.folder, posting.acknowledged)

    @unittest.skipUnless(WATCH, "GROUPERFISH_POWER_LOSS is unset")
    def test_power_loss(self):
        images = os.path.join(self.folder, "images")
        ask, done = os.path.join(images, "ask"), os.path.join(images, "done")
        options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        server = Served(folder=self.folder, within=("env", f"LD_PRELOAD={WATCH}",
                                                    f"ASAN_OPTIONS={options}",
                                                    f"POWER_LOSS_IMAGES={images}",
                                                    f"POWER_LOSS_STORE={self.folder}/store"))
        acknowledged = []
        os.mkdir(images)
        with server, Posting(server) as posting:
            for n in range(9):
                os.mkdir(os.path.join(images, str(n)))
                posting.wait_for((n + 1) * ENOUGH // 9)
                acknowledged.append(list(posting.acknowledged))
                open(ask, "w").close()
                end = time.monotonic() + 60
                while not os.path.exists(done) and time.monotonic() < end:
                    time.sleep(0.001)
                os.remove(done)
        self.assertEqual(posting.wrong, [])
        for n, ids in enumerate(acknowledged):
            self.assertGreaterEqual(len(ids), (n + 1) * ENOUGH // 9)
            self.check(os.path.join(images, str(n)), ids)


if __name__ == "__main__":
    unittest.main()
