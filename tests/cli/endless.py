#!/usr/bin/env python3
"""Every command that can run for long ends within two seconds of SIGTERM or SIGINT, whatever it is
about: much data, input that never ends, a GROBID that never ends.

Environment: GROUPERFISH_PROGRAM, GROUPERFISH_SOURCE.
"""
import gzip
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
from sharing import LONG, Store, documents, waits_until

MIB = 1 << 20
WITHIN = 2  # seconds in which it is not kept from a processor by others
AT_ONCE = 0.02  # seconds after its start, in which a command may not have begun
LIMITS = "--layers", "4", "--max-unpacked", "1000000G"


def bomb(unit, start=b""):
    once = gzip.compress(start) + gzip.compress(unit * (16 * MIB // len(unit))) * 1024
    return gzip.compress(gzip.compress(once) * 64)


class Grobid(threading.Thread):
    """Answers for ever: `say` is given the connection, and whether to go on."""

    def __init__(self, say):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.say, self.going, self.sent = say, True, 0
        self.start()

    def run(self):
        while True:
            s, _ = self.listener.accept()
            threading.Thread(target=self.answer, args=(s,), daemon=True).start()

    def answer(self, s):
        try:
            s.recv(65536)
            for piece, pause in self.say():
                s.sendall(piece)
                self.sent += len(piece)
                time.sleep(pause)
        except OSError:
            pass
        s.close()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n"


def endless_body():
    yield HEAD + b"\r\n<TEI>", 0
    while True:
        yield b"<p>word</p>" * 1000, 0


def endless_chunks():
    yield HEAD + b"Transfer-Encoding: chunked\r\n\r\n", 0
    while True:
        yield b"2710\r\n" + b"x" * 10000 + b"\r\n", 0


def endless_headers():
    yield HEAD, 0
    while True:
        yield b"X-More: and more\r\n" * 100, 0


def endless_continues():
    while True:
        yield b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0


def dripping_body():
    yield HEAD + b"\r\n<TEI>", 0
    while True:
        yield b" ", 1


def dripping_headers():
    yield HEAD, 0
    while True:
        yield b"X", 1


def silence():
    while True:
        yield b"", 1


def busy():
    yield b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", 0


def kept_waiting(p):
    """Seconds that a process's threads, that one of them that waited longest, could run and did not."""
    most = 0
    try:
        for thread in os.listdir(f"/proc/{p.pid}/task"):
            with open(f"/proc/{p.pid}/task/{thread}/schedstat") as f:
                most = max(most, int(f.read().split()[1]) / 1e9)
    except (OSError, IndexError, ValueError):
        pass
    return most


def catches(p, number):
    try:
        with open(f"/proc/{p.pid}/status") as f:
            caught = next(int(line.split()[1], 16) for line in f if line.startswith("SigCgt"))
        return caught >> (number - 1) & 1
    except (OSError, StopIteration):
        return False


class Endless(Store):
    def file(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return path

    def stop(self, p, after, number=signal.SIGTERM, others=(0,)):
        """Signal it; true where it was stopped, false where it had ended by itself before."""
        if after > AT_ONCE:  # from where it has begun
            waits_until(lambda: p.poll() is not None or catches(p, number))
        try:
            p.wait(after)
        except subprocess.TimeoutExpired:
            pass
        waited = kept_waiting(p)
        ended = p.poll() is not None
        p.send_signal(number)
        begun = time.monotonic()
        said = []
        readers = [threading.Thread(target=lambda f=f: said.append(f.read()), daemon=True) for f in (p.stdout, p.stderr)]
        for r in readers:
            r.start()
        extra = 0
        while p.poll() is None and time.monotonic() - begun < WITHIN + extra:
            extra = max(extra, kept_waiting(p) - waited)
            time.sleep(0.01)
        if p.poll() is None:
            p.wait(LONG)
            self.fail(f"{p.args[1:]} ended {time.monotonic() - begun:.1f} s after the signal, {extra:.1f} s of which "
                      "it was kept from a processor")
        code = p.returncode
        for r in readers:
            r.join()
        for f in (p.stdin, p.stdout, p.stderr):
            f.close()
        self.running.remove(p)
        if code == -number and after <= AT_ONCE:
            return False  # it had not begun
        self.assertIn(code, others if ended else (128 + number, *others), (p.args[1:], [s[:300] for s in said]))
        return code == 128 + number

    def test_readers_that_do_not_read(self):
        """A pipe that is full: what is interrupted is the writing."""
        self.fill_quickly()
        for words in (("export", "posts", "--documents"), ("search", "posts", "bees", "--limit", "100000")):
            for number in (signal.SIGTERM, signal.SIGINT):
                self.assertTrue(self.stop(self.start(*words, "--format", "jsonl"), 1.5, number))

    def fill_quickly(self):
        self.good("put", "posts", "-", "--from", "jsonl", given=documents(0, 5000))
        self.good("rebuild", "posts", "--progress", "none")

    def test_input_that_never_ends(self):
        bombs = {"newlines": bomb(b"\n"), "white space": bomb(b" "), "brackets": bomb(b"["), "braces": bomb(b'{"a":'),
                 "a quoted cell": bomb(b"x", b'id,text\r\n1,"'),
                 "empty members": gzip.compress(gzip.compress(gzip.compress(b"") * 400_000) * 1000)}
        self.good("table", "create", "rows", "--key", "id", "--family", "f")
        commands = [("put", "posts", "--from", kind) for kind in ("jsonl", "json", "csv", "tsv", "dir", "input-tsv")]
        commands += [("table", "import", "rows", "--from", kind) for kind in ("jsonl", "csv")]
        commands += [("table", "batch"), ("log", "import", "web"), ("tweets", "import"), ("papers", "import-cdx"),
                     ("papers", "import-tei"), ("papers", "match"), ("papers", "extract", "--grobid", "http://x")]
        for name, data in bombs.items():
            path = self.file("bomb", data)
            for words in commands:
                if words[-1] == "dir" and name != "newlines":
                    continue
                with self.subTest(bomb=name, words=words):
                    # One value that is too large, or of no known format, may be refused at once.
                    if not self.stop(self.start(*words, path, *LIMITS), 0.7, others=(0, 2, 3)):
                        self.assertFalse(name == "newlines" and "jsonl" in words)

    def test_pipes(self):
        """One that nobody opens, and one that nobody writes to."""
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        for number in (signal.SIGTERM, signal.SIGINT):
            self.assertTrue(self.stop(self.start("put", "posts", pipe, "--from", "jsonl"), 0.5, number))
            self.assertTrue(self.stop(self.start("put", "posts", "-", "--from", "jsonl"), 0.5, number))

    def test_grobid(self):
        pdf = self.file("a.pdf", b"%PDF-1.4\n" + random.randbytes(5000))
        for say in (endless_body, endless_chunks, endless_headers, endless_continues, dripping_body, dripping_headers,
                    silence, busy):
            with self.subTest(say=say.__name__):
                words = "papers", "extract", pdf, "--force", "--format", "json", "--grobid", Grobid(say).url
                # A body is cut off at what can be stored, headers at 64 KiB.
                quick = {endless_body: 0, endless_chunks: 0, endless_headers: 6, endless_continues: 6}.get(say)
                if quick is not None:
                    code, out, err = self.run_command(*words)
                    self.assertEqual(code, quick, err)
                    if code == 0:
                        self.assertEqual(json.loads(out)["reasons"], {"oversize": 1})
                    else:
                        self.assertIn("more than 64 KiB", err)
                    continue
                self.assertTrue(self.stop(self.start(*words), 1.5))
                if say is busy:
                    continue
                begun = time.monotonic()
                code, out, err = self.run_command(*words, "--timeout", "3")
                self.assertEqual(code, 6, err)
                self.assertIn("no whole answer came within 3 seconds (--timeout)", err)
                self.assertLess(time.monotonic() - begun, 30)

    def test_titles_that_are_alike(self):
        """Each is compared with all of its slug: here one with 3,000, each as long as is compared."""
        tei = "<TEI><teiHeader><fileDesc><titleStmt><title>%s</title></titleStmt></fileDesc></teiHeader></TEI>"
        title = "ab" * 600
        path = self.file("A" * 32 + ".tei.xml", tei % title)
        self.good("papers", "import-tei", path)
        alike = lambda i: title[:i % 900] + "-" + title[i % 900:]  # of one slug, and not the same
        works = self.file("works.jsonl", "".join(json.dumps({"id": str(i), "title": alike(i), "authors": []}) + "\n"
                                                 for i in range(3000)))
        self.assertTrue(self.stop(self.start("papers", "match", works), 1.5))

    def test_servers_that_do_not_answer(self):
        """A server that was asked for with --server, and says nothing."""
        quiet = Grobid(silence)
        self.assertTrue(self.stop(self.start("status", "--server", quiet.url), 1))

    # ---- much data -------------------------------------------------------------------------------

    def fill(self, n):
        r = random.Random(3)
        words = ["w%d" % i for i in range(20000)]
        text = lambda: " ".join(words[min(int(r.paretovariate(0.6)), 19999)] for _ in range(60))
        docs = "".join(json.dumps({"id": str(i), "text": text(), "time": 1300000000 + i * 60, "kind": i % 7}) + "\n"
                       for i in range(n))
        tweet = lambda i: {"created_at": "Fri Apr 29 09:05:55 +0000 2016", "id_str": str(i), "lang": "en",
                           "text": f"bees number {i} and more", "user": {"id": 1, "name": "B", "screen_name": "bee"}}
        self.file("docs.jsonl", docs)
        self.file("tweets.jsonl", "".join(json.dumps(tweet(i)) + "\n" for i in range(n)))
        self.file("web.log", "".join(f'10.0.0.{i % 99} - - [13/Jul/2009:00:00:01 +0000] "GET /{i} HTTP/1.1" 200 {i}\n'
                                     for i in range(3 * n)))
        self.file("rows.jsonl", "".join(json.dumps({"key": [str(i)], "cells": {"f": {"c": "w%d " % i * 60}}}) + "\n"
                                           for i in range(6 * n)))
        self.good("table", "create", "rows", "--key", "id", "--family", "f")
        self.good("put", "posts", "docs.jsonl")
        self.good("put", "other", "docs.jsonl")
        self.good("config", "set", "posts", "k=20")
        self.good("config", "set", "other", "k=20")
        self.good("rebuild", "posts", "--progress", "none")
        self.good("rebuild", "other", "--progress", "none")
        self.good("config", "set", "posts", "k=300", "restarts=100", "tolerance=0", "max_passes=10000", "start=fresh")
        self.good("backup", "saved")

    def test_commands(self):
        n = int(os.environ.get("GROUPERFISH_ENDLESS", 12000))
        self.fill(n)
        one = 0, 1, 2, 3
        commands = [("put posts docs.jsonl", (0,)), ("put more docs.jsonl", (0,)), ("rebuild posts --force", (0,)),
                    ("export posts -o out.jsonl --force", (0,)), ("export posts --matrix rows.npz --force", (0, 2)),
                    ("verify", (0,)), ("evaluate posts --label-field kind", (0,)),
                    ("assign other docs.jsonl", (0,)), ("diff posts", (0, 1)),
                    ("search posts w1 --limit 10000", (0, 1, 2)), ("clusters posts --by day", (0,)),
                    ("members posts 1", (0, 1)), ("report other -o report.html --force", (0, 2)),
                    ("tweets import tweets.jsonl", (0,)), ("tweets search bees --limit 100000", (0, 1)),
                    ("log import web web.log", (0,)), ("log report web", (0, 1)),
                    ("table import rows rows.jsonl", (0,)), ("table batch rows.jsonl", (0, 2)),
                    ("table scan rows --format jsonl", (0,)), ("table export rows -o out.jsonl --force", (0, 2)),
                    ("papers match docs.jsonl", (0, 1, 2)), ("collection list", (0,)),
                    ("delete posts --where kind=3", (0,)), ("collection delete more --purge", (0, 1))]
        stopped = {}
        for after, number in ((AT_ONCE, signal.SIGTERM), (0.03, signal.SIGTERM), (0.06, signal.SIGTERM),
                              (0.1, signal.SIGINT), (0.3, signal.SIGTERM), (1, signal.SIGTERM)):
            for words, ends in commands:
                with self.subTest(words=words, after=after):
                    stopped.setdefault(words, 0)
                    stopped[words] += self.stop(self.start(*words.split()), after, number, ends)
            for words in ("backup to-%s", "archive to-%s.tar", "repair --to to-%s-mended", "restore saved --store to-%s-back"):
                words = words % after
                with self.subTest(words=words):
                    stopped.setdefault(words.split()[0], 0)
                    stopped[words.split()[0]] += self.stop(self.start(*words.split()), after, number, one)
        for words in ("put posts docs.jsonl", "rebuild posts --force", "assign other docs.jsonl", "tweets import tweets.jsonl",
                      "table import rows rows.jsonl"):
            self.assertGreater(stopped[words], 0, stopped)
        print(stopped, file=sys.stderr)
        self.good("verify")


if __name__ == "__main__":
    unittest.main()
