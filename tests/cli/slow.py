#!/usr/bin/env python3
"""put from a pipe that pauses: what came is stored and told of meanwhile, whoever stores it.

Environment: GROUPERFISH_PROGRAM, GROUPERFISH_SOURCE.
"""
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
from sharing import LONG, Store, document, documents
from served import Served

TRIES = 4


class Lines(threading.Thread):
    """Lines of a pipe as they come, each with its time."""

    def __init__(self, pipe):
        super().__init__(daemon=True)
        self.pipe, self.lines = pipe, queue.Queue()
        self.start()

    def run(self):
        for line in self.pipe:
            self.lines.put((time.monotonic(), line))

    def next(self):
        return self.lines.get(timeout=LONG)


class Slow(Store):
    def put(self, *words, **options):
        return self.start("put", "slow", "-", "--results", "each", "--format", "jsonl", *words, **options)

    def check(self, *words, reads=()):
        """A line is acknowledged though no other follows, and then others read it; the fastest of
        several within the time that is promised, on a machine that has other things to do."""
        p = self.put(*words)
        lines, times = Lines(p.stdout), []
        for i in range(TRIES):
            p.stdin.write(document(i))
            p.stdin.flush()
            began = time.monotonic()
            at, line = lines.next()
            times.append(at - began)
            self.assertEqual(json.loads(line), {"line": i + 1, "id": str(i), "result": "stored"})
            self.assertIn(f"number {i}", self.good("doc", "slow", str(i), "--format", "json", *reads))
        self.assertIsNone(p.poll())
        self.assertLess(min(times), 1.5)
        return p, lines

    def ends(self, p):
        p.stdin.close()
        self.assertEqual(p.wait(LONG), 0)
        self.assertEqual(p.stderr.read().replace(f"made a store at {self.store}\n", ""), "")
        p.stderr.close()
        p.stdin = p.stderr = None
        self.running.remove(p)

    def test_at_home(self):
        self.ends(self.check("--from", "jsonl")[0])
        self.assertTrue(self.good("verify"))

    def test_format_is_found_out(self):
        self.ends(self.check()[0])

    def test_blank_lines_come_first(self):
        """A stream begins with the blank lines by which it is kept alive."""
        p = self.put()
        p.stdin.write("\r\n \r\n")
        p.stdin.write(document(1))
        p.stdin.flush()
        self.assertEqual(json.loads(Lines(p.stdout).next()[1])["result"], "stored")
        self.ends(p)

    def test_to_a_holder(self):
        self.good("put", "held", "-", given=document(1))
        holder = self.holder()
        time.sleep(1.2)  # a holder takes no input before
        self.ends(self.check("--from", "jsonl")[0])
        self.assertEqual(self.end(holder)[0], 0)

    def test_to_a_server(self):
        with Served() as server:
            at = ["--server", f"http://127.0.0.1:{server.port}"]
            self.ends(self.check("--from", "jsonl", *at, reads=at)[0])

    def test_a_trickle(self):
        """Where records come one by one without a pause, they are stored all the same."""
        p = self.put("--from", "jsonl")
        lines, told = Lines(p.stdout), threading.Event()

        def write():
            for i in range(100000):
                if told.wait(0.1):
                    return
                p.stdin.write(document(i))
                p.stdin.flush()

        writer = threading.Thread(target=write)
        writer.start()
        lines.next()
        told.set()
        writer.join()
        self.ends(p)

    def test_by_http(self):
        """A body that pauses is stored meanwhile, too; its answer comes at its end."""
        with Served() as server, socket.create_connection(("127.0.0.1", server.port)) as s:
            data = document(1).encode()
            s.sendall(b"POST /v1/collections/slow/documents?from=jsonl HTTP/1.1\r\nHost: localhost\r\n"
                      b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(data), data))
            end = time.monotonic() + 8  # a body that waits for longer is too slow
            while server.get("/v1/collections/slow/documents/1").status != 200:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
            s.sendall(b"0\r\n\r\n")
            self.assertIn(b"200 OK", s.recv(65536))

    def test_interrupted_while_nothing_comes(self):
        """Ctrl-C ends it though the pipe gives nothing."""
        with Served() as server:
            for at in ([], ["--server", f"http://127.0.0.1:{server.port}"]):
                with self.subTest(at=at):
                    p, _ = self.check("--from", "jsonl", *at, reads=at)
                    p.send_signal(signal.SIGINT)
                    self.assertEqual(p.wait(LONG), 130)
                    self.assertIn("stopped on request; what was stored stays", p.stderr.read())
                    p.stdin.close()
                    p.stderr.close()
                    p.stdin = p.stderr = None
                    self.running.remove(p)

    def test_fast_ones_are_not_slowed(self):
        """What comes at once is stored at once: as before, in batches."""
        self.good("put", "fast", "-", "--from", "jsonl", given=documents(0, 9000))
        self.assertEqual(self.size("fast"), 9000)

    def test_a_killed_one_has_stored_what_it_told(self):
        p, _ = self.check("--from", "jsonl")
        p.kill()
        p.wait()
        p.stdin.close()
        p.stderr.close()
        p.stdin = p.stderr = None
        self.running.remove(p)
        self.assertEqual(self.size("slow"), TRIES)


if __name__ == "__main__":
    unittest.main(verbosity=2)
