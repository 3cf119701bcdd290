"""Who takes an answer slowly: below 1 KiB a second for long it is cut off, above it is not.

The pace itself is tested by a clock of its own (test_taker.c); here the connections are real, and so
are the seconds: three quarters of a minute, in which all of them go on side by side.
"""
import re
import socket
import threading
import time
import unittest

from served import Served

LONG = 300  # seconds; three quarters of a minute are enough, but machines are slow
DOCUMENTS, BYTES = 400, 100_000  # far more than sockets and rings hold


class Taker(threading.Thread):
    """Asks for all documents and takes so many bytes a second, beginning after a pause."""

    def __init__(self, server, rate, pause=0):
        super().__init__(daemon=True)
        self.rate, self.pause = rate, pause
        self.taken, self.ended, self.quick = b"", None, threading.Event()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(LONG)
        self.socket.connect(("127.0.0.1", server.port))
        self.socket.sendall(b"GET /v1/collections/large/memberships?documents HTTP/1.1\r\nHost: localhost\r\n"
                            b"Accept: application/x-ndjson\r\nConnection: close\r\n\r\n")
        self.begun = time.monotonic()
        self.start()

    def run(self):
        time.sleep(self.pause)
        parts, n = [], 0
        while True:
            behind = 1 << 16
            if not self.quick.is_set():
                behind = int((time.monotonic() - self.begun) * self.rate) - n
            if behind <= 0:
                self.quick.wait(0.1)
                continue
            try:
                part = self.socket.recv(min(behind, 1 << 16))
            except ConnectionError:
                part = b""
            if not part:
                break
            parts.append(part)
            n += len(part)
        self.ended = time.monotonic() - self.begun
        self.taken = b"".join(parts)
        self.socket.close()

    def is_whole(self):
        return self.taken.endswith(b"0\r\n\r\n")


class Takers(unittest.TestCase):
    SLOW = 12

    def memory(self, server):
        """Without the store's files, which are mapped."""
        with open(f"/proc/{server.process.pid}/status") as file:
            return int(re.search(r"RssAnon:\s+(\d+) kB", file.read())[1]) * 1024

    def requests_ended(self, server):
        return sum(" request route=export" in line for line in server.log)

    def wait_for(self, what, seconds=LONG):
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.2)

    def test_slow_takers(self):
        text = "honey and smoke " * (BYTES // 16)
        with Served("--log-level", "debug") as server:
            for first in range(0, DOCUMENTS, 50):
                server.put("large", [{"id": str(i), "text": f"{i} {text}"}
                                     for i in range(first, first + 50)])
            self.assertEqual(server.get("/v1/collections/large").status, 200)
            before = self.memory(server)
            slow = [Taker(server, rate=100) for _ in range(self.SLOW)]
            steady = Taker(server, rate=32 << 10)
            pausing = Taker(server, rate=128 << 10, pause=20)
            answers = 0
            while any(taker.is_alive() for taker in slow):
                self.assertLess(time.monotonic() - slow[0].begun, LONG, "slow takers are still there")
                # Far less than what was asked for; with a sanitizer's shadows, too.
                self.assertLess(self.memory(server) - before, self.SLOW * DOCUMENTS * BYTES // 2)
                self.assertEqual(server.get("/v1/collections/large").status, 200)
                answers += 1
                time.sleep(1)
            self.assertGreater(answers, 0)
            for taker in slow:
                self.assertGreater(taker.ended, 40)
                self.assertIn(b"200 OK", taker.taken[:100])
                self.assertFalse(taker.is_whole())
            # Nobody works for them any more; the others go on to the end, and get all.
            self.wait_for(lambda: self.requests_ended(server) >= self.SLOW)
            self.assertTrue(steady.is_alive())
            for taker in (steady, pausing):
                taker.quick.set()
                taker.join(LONG)
                self.assertTrue(taker.is_whole())
                self.assertGreater(len(taker.taken), DOCUMENTS * BYTES * 0.99)
            self.assertEqual(server.json("GET", "/v1/collections/large")["size"], DOCUMENTS)


if __name__ == "__main__":
    unittest.main()
