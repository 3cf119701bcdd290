"""The door for commands: who may use it, for what, and what becomes of callers that misbehave."""
import json
import os
import re
import shutil
import socket
import struct
import tempfile
import time
import unittest

from served import FEEDBACK, Served, feed, quote
from sharing import frame

WRITE, READ, ALL, OTHER = ("writer-0123456789", "reader-0123456789", "admin-0123456789a", "other-0123456789a")
TOKENS = f"{WRITE} write default\n{READ} read default\n{ALL} write *\n{OTHER} write elsewhere\n"
HELLO, CALL, STREAM, BYTES, END, CANCEL = 1, 2, 3, 4, 5, 7
ACCEPTED, ROW, NOTICE, PROGRESS, WANT_STREAM, WANT_BYTES, RESULT = 16, 19, 22, 23, 24, 25, 26
INPUT = 1
OK, NOT_FOUND, INVALID, CANCELLED = 0, 1, 2, 6


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return varint(len(data)) + data


def call(operation, *arguments, namespace="default", flags=31, path="somewhere"):
    body = varint(flags) + string(operation) + string(namespace) + string(path) + varint(len(arguments))
    return frame(CALL, body + b"".join(string(name) + string(value) for name, value in arguments))


class Conversation:
    """A connection that was switched over, or the answer that it was not."""

    def __init__(self, server, operation, token=None, namespace=None, extra=b"", headers="", method="POST",
                 upgrade="grouperfish/1"):
        query = "?namespace=" + quote(namespace) if namespace else ""
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        request = (f"{method} /v1/operations/{quote(operation)}{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                   f"Connection: Upgrade\r\n" + (f"Upgrade: {upgrade}\r\n" if upgrade else "") + headers)
        if token:
            request += f"Authorization: Bearer {token}\r\n"
        self.socket.sendall(request.encode() + b"\r\n" + extra)
        self.got = b""
        head = self.until(b"\r\n\r\n").decode()
        self.status = int(head.split()[1]) if head else 0
        self.head = head
        self.body = b""
        if self.status and self.status != 101:
            length = int(re.search(r"(?i)content-length: (\d+)", head)[1])
            self.body = self.take(length)
            self.close()

    def more(self):
        part = self.socket.recv(65536)
        self.got += part
        return bool(part)

    def until(self, mark):
        while mark not in self.got:
            if not self.more():
                return b""
        head, self.got = self.got.split(mark, 1)
        return head

    def take(self, n):
        while len(self.got) < n:
            if not self.more():
                raise EOFError
        taken, self.got = self.got[:n], self.got[n:]
        return taken

    def frame(self):
        length, kind = struct.unpack(">IB", self.take(5))
        return kind, self.take(length)

    def send(self, *frames):
        self.socket.sendall(b"".join(frames))

    def greet(self, *frames):
        kind, data = self.frame()
        assert kind == HELLO and data[:4] == b"GFSH", (kind, data)
        self.send(frame(HELLO, data[:8]), *frames)

    def run(self, request, input=b""):
        """Rows and the result (status, message) of a call."""
        rows = []
        self.greet(request)
        given = [input, b""]
        while True:
            kind, data = self.frame()
            if kind == ROW:
                rows.append(json.loads(data))
            elif kind == WANT_STREAM:
                self.send(frame(STREAM, b"\0in.jsonl") if len(given) == 2 else frame(END))
            elif kind == WANT_BYTES:
                self.send(frame(BYTES, given.pop(0) if given else b""))
            elif kind == RESULT:
                self.socket.close()
                return rows, (data[0], data[3:].decode())

    def close(self):
        self.socket.close()

    def ended(self):
        try:
            while self.more():
                pass
        except ConnectionError:
            pass
        return True


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        path = os.path.join(cls.folder, "tokens")
        with open(path, "w") as file:
            file.write(TOKENS)
        os.chmod(path, 0o600)
        cls.server = Served("--tokens", path).__enter__()
        Conversation(cls.server, "put", ALL).run(call("put", ("collection", "x")),
                                                 b'{"id":"1","text":"honey"}\n')

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        shutil.rmtree(cls.folder)

    def status(self, operation, token, namespace=None):
        c = Conversation(self.server, operation, token, namespace)
        c.close()
        return c.status

    def test_every_operation(self):
        """As its own route has it: the door lets nobody in whom that route keeps out."""
        refused = {"backup", "restore", "repair", "papers extract"}
        description = self.server.json("GET", "/openapi.json")
        names = {route["summary"]: None for methods in description["paths"].values() for route in methods.values()}
        self.assertIn("List collections", names)
        checked = 0
        for path, methods in description["paths"].items():
            for method, route in methods.items():
                name = route["operationId"].replace("_", " ")
                name = {"papers import cdx": "papers import-cdx", "papers import tei": "papers import-tei",
                        "table check and put": "table check-and-put"}.get(name, name)
                if not path.startswith("/v1/") or self.status(name, ALL) == 404:
                    continue
                checked += 1
                filled = re.sub(r"\{\w+\}", "x", path)
                for token in (None, "nonsense-0123456789", READ, WRITE, OTHER, ALL):
                    for space in ("default", "elsewhere"):
                        with self.subTest(name=name, token=token, space=space):
                            headers = {"Authorization": "Bearer " + token} if token else {}
                            own = self.server.ask(method.upper(), f"{filled}?namespace={space}&nonsense=1",
                                                  **headers).status
                            door = self.status(name, token, space)
                            if own in (401, 403) or name in refused:
                                self.assertEqual(door, own)
                            else:
                                self.assertEqual(door, 101)
        self.assertGreater(checked, 60)

    def test_by_hand(self):
        expected = {("doc", None): 401, ("doc", "wrong-0123456789a"): 401, ("doc", READ): 101, ("doc", OTHER): 403,
                    ("put", None): 401, ("put", READ): 403, ("put", WRITE): 101, ("put", OTHER): 403,
                    ("assign", READ): 101, ("rebuild", READ): 403, ("search", READ): 101,
                    ("collection list", READ): 101, ("table put", READ): 403,
                    ("status", WRITE): 403, ("status", ALL): 101, ("verify", READ): 403,
                    ("backup", ALL): 403, ("restore", ALL): 403, ("repair", ALL): 403, ("papers extract", ALL): 403,
                    ("nonsense", None): 401, ("nonsense", READ): 403, ("nonsense", ALL): 404}
        for (operation, token), status in expected.items():
            with self.subTest(operation=operation, token=token):
                self.assertEqual(self.status(operation, token), status)

    def test_nothing_else_is_called(self):
        """What was let in for reading one namespace changes nothing, and reads no other."""
        c = Conversation(self.server, "doc", READ)
        _, (status, message) = c.run(call("put", ("collection", "x")), b'{"id":"2","text":"wax"}\n')
        self.assertEqual(status, INVALID, message)
        self.assertIn('does not do "put" for others', message)
        rows, (status, _) = Conversation(self.server, "collection list", OTHER, "elsewhere").run(
            call("collection list", namespace="default"))
        self.assertEqual((rows, status), ([], OK))
        rows, _ = Conversation(self.server, "collection list", READ).run(call("collection list", namespace="elsewhere"))
        self.assertEqual([row["collection"] for row in rows], ["x"])

    def test_a_store_elsewhere_is_not_opened(self):
        rows, (status, message) = Conversation(self.server, "verify", ALL).run(call("verify", path=self.folder))
        self.assertEqual(rows, [])
        self.assertIn(self.server.store, message)
        self.assertIn("is held by process", message)


class Door(unittest.TestCase):
    def setUp(self):
        self.server = Served().__enter__()
        self.addCleanup(self.server.__exit__)

    def test_not_without_switching(self):
        self.assertEqual(self.server.ask("POST", "/v1/operations/status").status, 426)
        self.assertEqual(Conversation(self.server, "status", upgrade="websocket").status, 426)
        self.assertEqual(Conversation(self.server, "status", upgrade="").status, 426)
        body = self.server.ask("POST", "/v1/operations/status", b"x" * 100, Connection="Upgrade",
                               Upgrade="grouperfish/1")
        self.assertEqual(body.status, 426)
        self.assertEqual(self.server.get("/v1/operations/status").status, 405)
        foreign = Conversation(self.server, "status", headers="Origin: http://evil.example\r\n")
        self.assertEqual(foreign.status, 403)
        named = Conversation(self.server, "no such").status
        self.assertEqual(named, 404)

    def test_who_speaks_too_early(self):
        c = Conversation(self.server, "status", extra=frame(HELLO, b"GFSH\0\0\0\1") + call("status"))
        self.assertTrue(c.ended())
        self.assertEqual(self.server.get("/healthz").status, 200)

    def test_bad_messages(self):
        """Whatever comes, the server goes on answering."""
        hello = frame(HELLO, b"GFSH\0\0\0\1")
        good = call("put", ("collection", "x"))
        for data in (b"", b"\0", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 70000, frame(HELLO, b"nonsense"),
                     struct.pack(">IB", 1 << 31, 1), hello + b"\xff\xff\xff\xff\x02", hello + frame(CALL),
                     hello + frame(99, b"x"), hello + good[:-1], hello + good + frame(BYTES, b"never asked") * 3,
                     hello + good + good, hello + good + frame(CANCEL) * 1000,
                     hello + frame(0x80 | CALL, b"x" * 65536) * 200):
            with self.subTest(data=data[:40]):
                c = Conversation(self.server, "put")
                self.assertEqual(c.status, 101)
                try:
                    c.send(data)
                    c.socket.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                c.ended()
                c.close()
                self.assertEqual(self.server.get("/healthz").status, 200)
        rows, (status, message) = Conversation(self.server, "put").run(good, b'{"id":"1","text":"a bee"}\n')
        self.assertEqual((status, rows[0]["read"]), (OK, 1), message)

    def test_room_is_kept_for_others(self):
        """Those that come in and say nothing are too many at some time; commands of this machine are answered."""
        silent = []
        while len(silent) < 100:
            c = Conversation(self.server, "status")
            silent.append(c)
            if c.status != 101:
                break
        self.assertEqual(c.status, 503)
        self.assertRegex(c.head, "Retry-After: 1")
        self.assertEqual(len(silent), 33)
        self.assertEqual(self.server.get("/v1/status").status, 200)
        for c in silent:
            c.close()
        end = time.monotonic() + 120
        while Conversation(self.server, "status").status != 101:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_drips(self):
        """Who says what it wants byte by byte does not keep a place for longer than who says nothing."""
        c = Conversation(self.server, "status")
        self.assertEqual(c.status, 101)
        whole = frame(HELLO, b"GFSH\0\0\0\1") + call("status", ("x", "y" * 60000))
        sent, began = 0, time.monotonic()
        with self.assertRaises(ConnectionError):
            for sent in range(len(whole)):
                c.send(whole[sent:sent + 1])
                time.sleep(0.02)
        self.assertLess(time.monotonic() - began, 60)
        c.close()

    def test_limit_of_a_document(self):
        with Served("--max-document", "100") as server:
            long = json.dumps({"id": "1", "text": "honey " * 40}).encode() + b"\n"
            rows, _ = Conversation(server, "put").run(call("put", ("collection", "x")), long)
            self.assertEqual((rows[0]["refused"], rows[0]["reasons"]), (1, {"too_long": 1}))
            _, (status, message) = Conversation(server, "put").run(
                call("put", ("collection", "x"), ("max-document", "1000")), long)
        self.assertEqual(status, INVALID)
        self.assertIn("takes 100 bytes at most", message)

    def test_a_caller_that_goes(self):
        """A put that breaks off is over, and what came of it whole is stored; the server ends in time."""
        c = Conversation(self.server, "put")
        c.greet(call("put", ("collection", "x"), ("from", "jsonl")))
        while c.frame()[0] != WANT_STREAM:
            pass
        c.send(frame(STREAM, b"\0in.jsonl"))
        while c.frame()[0] != WANT_BYTES:
            pass
        c.send(frame(BYTES, b'{"id":"1","text":"honey"}\n{"id":"2","te'))
        while c.frame()[0] != WANT_BYTES:
            pass
        c.close()
        end = time.monotonic() + 120
        while self.server.json("GET", "/v1/stats")["calls_running"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.assertEqual(self.server.json("GET", "/v1/collections/x")["size"], 1)

    def test_the_server_ends(self):
        """Whoever is talked with when the server ends is cut off after what it grants."""
        feed(self.server)
        rebuilding = Conversation(self.server, "rebuild")
        rebuilding.greet(call("rebuild", ("collection", "feedback"), ("force", "true")))
        rebuilding.ended()
        began = time.monotonic()
        silent = Conversation(self.server, "put")
        self.server.stop()
        silent.ended()
        silent.close()
        rebuilding.close()
        self.assertLess(time.monotonic() - began, 110)

    def test_a_rebuild_is_a_task(self):
        self.server.put("feedback", FEEDBACK)
        rows, (status, _) = Conversation(self.server, "rebuild").run(call("rebuild", ("collection", "feedback")))
        tasks = self.server.json("GET", "/v1/tasks")
        self.assertEqual((status, [r["outcome"] for r in rows]), (OK, ["rebuilt"]))
        self.assertEqual([t["state"] for t in tasks], ["done"])
        self.assertEqual(tasks[0]["rows"], rows)
        rows, (status, message) = Conversation(self.server, "rebuild").run(call("rebuild", ("collection", "feedbac")))
        self.assertEqual((rows, status), ([], NOT_FOUND))
        self.assertIn('did you mean "feedback"', message)

    def test_a_rebuild_outlives_its_connection(self):
        self.server.put("feedback", FEEDBACK)
        c = Conversation(self.server, "rebuild")
        c.greet(call("rebuild", ("collection", "feedback")))
        while c.frame()[0] != ACCEPTED:
            pass
        c.close()
        end = time.monotonic() + 120
        while [t["state"] for t in self.server.json("GET", "/v1/tasks")] != ["done"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main(verbosity=2)
