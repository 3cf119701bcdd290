"""Bodies that are small and become very large, or never end; and bodies that end too early."""
import gzip
import io
import json
import random
import signal
import socket
import tarfile
import time
import unittest
import zipfile

from served import Served

MIB = 1 << 20
HUGE = "&max-unpacked=1000000G"
SOON = 60  # seconds; what does not end takes hours, and machines have other things to do


def bomb(unit, start=b""):
    """gzip of gzip of gzip of 1 TiB: files of gzip may stand one behind the other."""
    once = gzip.compress(start) + gzip.compress(unit * (16 * MIB // len(unit))) * 1024
    return gzip.compress(gzip.compress(once) * 64)


def bombs():
    """Each is less than 100 KB, and would take hours to read to its end."""
    return {"newlines": bomb(b"\n"), "white space": bomb(b" "), "brackets": bomb(b"["),
            "a quoted cell": bomb(b"x", b'id,text\r\n1,"'),
            "empty members": gzip.compress(gzip.compress(gzip.compress(b"") * 400_000) * 1000)}


def tree(records, **kinds):
    """The same bytes, compressed and in archives."""
    tar, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as t:
        for i in range(2):
            info = tarfile.TarInfo(f"{i}.jsonl")
            info.size = len(records)
            t.addfile(info, io.BytesIO(records))
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as z:
        for i in range(2):
            z.writestr(f"{i}.jsonl", records)
    return {"gzip": gzip.compress(records), "tar.gz": tar.getvalue(), "zip": zipped.getvalue()}


def lines(write, n=20_000):
    """Lines that compress badly, so that there are some before a cut."""
    noise = random.Random(7)
    return "".join(write(i, "%032x" % noise.getrandbits(128)) + "\n" for i in range(n)).encode()


class Endless(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bombs = bombs()
        cls.server = Served().__enter__()
        cls.server.put("posts", [{"id": str(i), "text": f"bees in hive {i}"} for i in range(50)])
        cls.server.rebuild("posts")
        cls.server.json("PUT", "/v1/tables/rows?key=id&family=f")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def running(self, server=None):
        return (server or self.server).json("GET", "/v1/stats")["calls_running"]

    def begin(self, server, path, body):
        """Ask and do not wait."""
        s = socket.create_connection(("127.0.0.1", server.port))
        s.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        return s

    def waits_until(self, condition, seconds):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "it goes on")
            time.sleep(0.05)

    def test_bombs_are_refused(self):
        for name, bomb in self.bombs.items():
            with self.subTest(bomb=name):
                self.assertLess(len(bomb), 100_000)
                begun = time.monotonic()
                answer = self.server.ask("POST", "/v1/collections/bomb/documents?from=jsonl", bomb)
                self.assertEqual((answer.status, answer.headers["Content-Type"]), (400, "application/problem+json"))
                self.assertIn("--layers 2", answer.json()["detail"])
                self.assertLess(time.monotonic() - begun, SOON)
        for name in ("newlines", "white space", "a quoted cell"):
            with self.subTest(bomb=name):
                answer = self.server.ask("POST", "/v1/collections/bomb/documents?from=csv&layers=3", self.bombs[name])
                self.assertEqual(answer.status, 413, answer.body)
                self.assertIn("--max-unpacked", answer.json()["detail"])

    def test_what_nobody_waits_for_ends(self):
        for name, bomb in self.bombs.items():
            with self.subTest(bomb=name):
                held = [self.begin(self.server, f"/v1/collections/bomb/documents?layers=4&from={kind}{HUGE}", bomb)
                        for kind in ("jsonl", "json", "csv", "tsv")]
                self.waits_until(lambda: self.running() > 0, SOON)
                for s in held:
                    s.close()
                self.waits_until(lambda: self.running() == 0, SOON)

    def test_a_client_that_has_closed_its_half_gets_its_answer(self):
        s = self.begin(self.server, "/v1/collections/half/documents", b'{"id":"1","text":"one"}\n' * 1000)
        s.shutdown(socket.SHUT_WR)
        self.assertIn(b" 200 ", s.recv(4096).split(b"\r\n")[0])
        s.close()

    def test_the_server_ends(self):
        """Within the 30 seconds that requests have, though none of these would end."""
        with Served() as server:
            paths = ["/v1/collections/bomb/documents?from=jsonl", "/v1/tweets?", "/v1/logs/web?",
                     "/v1/papers/cdx?", "/v1/papers/tei?"]
            held = [self.begin(server, path + "&layers=4" + HUGE, bomb) for path, bomb in zip(paths, self.bombs.values())]
            self.waits_until(lambda: self.running(server) > 0, SOON)
            begun = time.monotonic()
            server.stop(signal.SIGTERM)
            self.assertLess(time.monotonic() - begun, 30 + SOON)
            for s in held:
                s.close()

    def test_cut_bodies_are_bad_requests(self):
        """The records in front of the cut stay, and are counted."""
        tweet = lambda i, text: json.dumps({"created_at": "Fri Apr 29 09:05:55 +0000 2016", "id_str": str(i),
                                            "text": text, "user": {"id": 1, "name": "B", "screen_name": "bee"}})
        log = lambda i, text: f'10.0.0.1 - - [13/Jul/2009:00:00:01 +0000] "GET /{text} HTTP/1.1" 200 {i}'
        record = lambda i, text: json.dumps({"id": str(i), "text": text})
        work = lambda i, text: json.dumps({"id": str(i), "title": text, "authors": []})
        row = lambda i, text: json.dumps({"table": "rows", "key": [str(i)], "cells": {"f": {"c": text}}})
        routes = {"/v1/collections/cut-%s/documents": (record, "stored"),
                  "/v1/tweets?": (tweet, "read"),
                  "/v1/logs/log-%s": (log, "lines"),
                  "/v1/tables/rows/rows?": (row, "rows"),
                  "/v1/tables?": (row, None),
                  "/v1/papers/tei?": (record, None),
                  "/v1/papers/matches?": (work, None)}
        for path, (write, counted) in routes.items():
            for kind, body in tree(lines(write)).items():
                with self.subTest(path=path, kind=kind):
                    path_of_it = path % kind.replace(".", "-") if "%s" in path else path
                    answer = self.server.ask("POST", path_of_it, body[:len(body) * 3 // 4])
                    self.assertEqual(answer.status, 400, answer.body)
                    self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
                    problem = answer.json()
                    self.assertIn("cannot read body", problem["detail"])
                    if counted:
                        self.assertGreater(problem["counts"][counted], 5000)
                    if counted == "stored":
                        there = self.server.json("GET", f"/v1/collections/{path_of_it.split('/')[3]}")
                        self.assertEqual(there["size"], problem["counts"]["stored"])

    def test_rows_of_a_cut_body_that_have_gone_out(self):
        """The status is said already, so the answer breaks off; the kept rows of a long one are dropped."""
        body = tree(lines(lambda i, text: json.dumps({"id": str(i), "text": text})))["zip"]
        path = "/v1/collections/posts/assignments"
        answer = self.server.ask("POST", path, body[:len(body) * 3 // 4])
        self.assertEqual((answer.status, answer.json()["status"]), (400, 400), answer.body)

    def test_cut_matrices_are_bad_requests(self):
        body = tree(lines(lambda i, text: text))["zip"]
        answer = self.server.ask("POST", "/v1/collections/posts/builds?matrix=true", body[:len(body) // 2])
        self.assertEqual(answer.status, 400, answer.body)


if __name__ == "__main__":
    unittest.main()
