#!/usr/bin/env python3
"""Several processes and one store: whoever holds it answers the others on its socket.

Environment: GROUPERFISH_PROGRAM, the program.
"""
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = os.environ["GROUPERFISH_PROGRAM"]
LONG = 120  # seconds; far more than anything here takes
HELD = 1200  # documents after which a put has surely begun to store
WORDS = "bees hives honey queens wax nectar swarm drones pollen brood comb smoke sting meadow".split()


def document(i, words=12):
    text = " ".join(WORDS[(i * 7 + j * j * (i % 5 + 1)) % len(WORDS)] for j in range(words))
    return json.dumps({"id": str(i), "text": f"{text} number {i}"}) + "\n"


def documents(first, last):
    return "".join(document(i) for i in range(first, last))


def waits_until(what, seconds=LONG):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


def slow_documents():
    """Documents that take seconds to cluster by SLOWLY."""
    r = random.Random(1)
    texts = (" ".join(f"w{int(r.paretovariate(0.5)) % 4000}" for _ in range(40)) for _ in range(4000))
    return "".join(json.dumps({"id": f"long {i}", "text": t}) + "\n" for i, t in enumerate(texts))


SLOWLY = "k=1000", "restarts=100", "tolerance=0", "max_passes=10000"


class Store(unittest.TestCase):
    name = "grouperfish.store"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="grouperfish-socket-")
        self.store = os.path.join(self.folder, self.name)
        self.running = []

    def tearDown(self):
        for p in self.running:
            if p.poll() is None:
                p.kill()
            p.communicate()
        shutil.rmtree(self.folder)

    def start(self, *words, **options):
        p = subprocess.Popen([PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, cwd=self.folder,
                             env=dict(os.environ, GROUPERFISH_STORE=self.store), **options)
        self.running.append(p)
        return p

    def end(self, p, given=None):
        """(exit code, standard output, standard error)"""
        out, err = p.communicate(given, timeout=LONG)
        return p.returncode, out, err

    def run_command(self, *words, given="", **options):
        return self.end(self.start(*words, **options), given)

    def good(self, *words, given=""):
        code, out, err = self.run_command(*words, given=given)
        self.assertEqual(code, 0, (words, out, err))
        return out

    def lock(self):
        with open(os.path.join(self.store, "lock")) as f:
            return f.read()

    def has_socket(self):
        return os.path.exists(os.path.join(self.store, "socket"))

    def holder(self, *words):
        """A put that holds the store until its standard input ends."""
        p = self.start(*(words or ("put", "held", "-", "--from", "jsonl")))
        p.stdin.write(documents(0, HELD))
        p.stdin.flush()
        waits_until(self.has_socket)
        return p

    def size(self, collection, *words):
        code, out, _ = self.run_command("collection", "list", "--format", "csv", *words)
        self.assertEqual(code, 0)
        return {row.split(",")[0]: int(row.split(",")[1]) for row in out.splitlines()[1:]}.get(collection, 0)

    def fill(self, n=300):
        self.good("put", "posts", "-", "--from", "jsonl", given=documents(0, n))
        self.good("rebuild", "posts", "--progress", "none")

    def slow_rebuild(self):
        """A rebuild that takes seconds, holding the store."""
        self.good("put", "posts", "-", "--from", "jsonl", given=slow_documents())
        self.good("config", "set", "posts", *SLOWLY)
        p = self.start("rebuild", "posts", "--progress", "jsonl")
        waits_until(self.has_socket)
        return p


class Holders(Store):
    def test_others_are_answered_while_it_rebuilds(self):
        self.fill(2000)
        served = self.good("builds", "posts").split()[0]
        rebuilding = self.slow_rebuild()
        self.assertIn('"id":"7"', self.good("doc", "posts", "7", "--format", "jsonl"))
        self.assertTrue(self.good("clusters", "posts"))
        self.assertEqual(len(self.good("export", "posts").splitlines()), 2000)
        self.assertEqual(len(self.good("clusters", "posts", "--pending", "--format", "jsonl").splitlines()), 4000)
        self.assertEqual(self.good("builds", "posts").split()[0], served)
        put = self.good("put", "posts", "-", "--from", "jsonl", "--format", "json",
                        given=documents(2000, 2100))
        self.assertEqual(json.loads(put)["new"], 100)
        self.assertEqual(self.size("posts"), 6100)
        self.assertIsNone(rebuilding.poll(), "the rebuild was to go on meanwhile")
        rebuilding.send_signal(signal.SIGINT)
        self.assertEqual(self.end(rebuilding)[0], 7)
        self.assertEqual(self.good("builds", "posts").split()[0], served)

    def test_a_second_rebuild_waits(self):
        self.fill()
        holder = self.holder()
        second = self.start("rebuild", "posts", "--force")
        told = second.stderr.readline()
        self.assertRegex(told, rf"waiting: process {holder.pid} \(grouperfish put\)")
        time.sleep(5.5)  # longer than commands wait for a holder that does not answer
        self.assertIsNone(second.poll())
        self.assertEqual(self.end(holder)[0], 0)
        code, out, err = self.end(second)
        self.assertEqual((code, out.split("\t")[2]), (0, "rebuilt"), err)

    def test_a_second_rebuild_waits_as_long_as_it_is_told(self):
        self.fill()
        holder = self.holder()
        code, _, err = self.run_command("rebuild", "posts", "--force", "--wait", "0")
        self.assertEqual(code, 4)
        self.assertRegex(err, rf"process {holder.pid} \(grouperfish put\) holds the store")
        self.assertEqual(self.run_command("delete", "posts", "1", "--purge", "--wait", "0")[0], 4)
        self.assertEqual(self.good("rebuild", "posts", "--force", "--dry-run").split("\t")[2],
                         "would be rebuilt")
        self.end(holder)

    def test_a_waiting_rebuild_can_be_stopped(self):
        self.fill()
        self.holder()
        second = self.start("rebuild", "posts", "--force")
        second.stderr.readline()
        second.send_signal(signal.SIGINT)
        self.assertEqual(self.end(second)[0], 7)

    def test_many_make_one_store(self):
        """Of a store that is not there all but one come late, with their first record read."""
        puts = [self.start("put", "posts", "-", "--from", "jsonl", "--format", "json")
                for _ in range(8)]
        for i, p in enumerate(puts):
            p.stdin.write(documents(i * 2000, i * 2000 + HELD))
            p.stdin.flush()
        time.sleep(1)
        for i, p in enumerate(puts):  # the first of them waits for the others
            p.stdin.write(documents(i * 2000 + HELD, i * 2000 + 2000))
            p.stdin.close()
            p.stdin = None
        for p in puts:
            code, out, err = self.end(p)
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["new"], 2000)
        self.assertEqual(self.size("posts"), 16000)
        self.assertTrue(self.good("verify"))

    def test_what_a_killed_holder_leaves(self):
        holder = self.holder()
        holder.kill()
        holder.wait()
        self.assertTrue(self.has_socket())
        self.good("status")  # asks, and opens
        again = self.holder("put", "held", "-", "--from", "jsonl")
        self.good("status")
        self.assertEqual(self.end(again, document(1))[0], 0)
        self.assertFalse(self.has_socket())
        self.assertEqual(self.size("held"), HELD)

    def test_an_interrupted_holder(self):
        self.fill()
        holder = self.holder()
        waiting = self.start("rebuild", "posts", "--force")
        waiting.stderr.readline()
        reading = self.start("put", "other", "-", "--from", "jsonl", "--format", "json")
        reading.stdin.write(documents(0, 9000))
        reading.stdin.flush()
        waits_until(lambda: self.size("other"))
        holder.send_signal(signal.SIGINT)
        self.assertEqual(self.end(holder, documents(1, 3))[0], 130)
        code, _, err = self.end(reading, documents(9000, 9001))
        self.assertEqual(code, 6, err)
        self.assertRegex(err, rf"process {holder.pid} .*what was stored stays")
        code, out, err = self.end(waiting)
        self.assertEqual((code, out.split("\t")[2]), (0, "rebuilt"), err)
        stored = self.size("other")
        self.assertGreater(stored, 0)
        again = self.good("put", "other", "-", "--from", "jsonl", "--format", "json", given=documents(0, 9001))
        self.assertEqual(json.loads(again)["unchanged"], stored)
        self.assertTrue(self.good("verify"))

    def test_readers_survive_the_holder(self):
        """A read that was not answered yet is asked again."""
        self.fill()
        for kill in (signal.SIGKILL, signal.SIGTERM):
            holder = self.holder()
            stop = threading.Event()
            failed = []

            def read():
                while not stop.is_set():
                    code, _, err = self.run_command("doc", "posts", "7")
                    if code:
                        failed.append(err)

            readers = [threading.Thread(target=read) for _ in range(3)]
            for r in readers:
                r.start()
            time.sleep(0.3)
            holder.send_signal(kill)
            self.end(holder, document(5))
            time.sleep(0.3)
            stop.set()
            for r in readers:
                r.join()
            self.assertEqual(failed, [])

    def test_it_ends_when_others_have(self):
        holder = self.holder()
        other = self.start("put", "other", "-", "--from", "jsonl", "--format", "json")
        other.stdin.write(documents(0, 9000))
        other.stdin.flush()
        waits_until(lambda: self.size("other"))
        holder.stdin.close()
        holder.stdin = None
        self.assertIn("made a store", holder.stderr.readline())
        self.assertIn("finishing what other commands asked", holder.stderr.readline())
        self.good("status")  # as long as it is there it answers
        self.assertIsNone(holder.poll())
        code, out, _ = self.end(other, documents(9000, 9001))
        self.assertEqual((code, json.loads(out)["new"]), (0, 9001))
        self.assertEqual(self.end(holder)[0], 0)
        self.assertFalse(self.has_socket())

    def test_a_moment_is_not_made_long(self):
        """A put that ends at once is not kept by one that goes on."""
        for i in range(10):
            holder, began = self.holder(), time.monotonic()
            feed = self.start("put", "feed", "-", "--from", "jsonl")
            feed.stdin.write(documents(0, 100))  # no more than a pipe takes
            feed.stdin.flush()
            time.sleep(0.3)
            early = time.monotonic() - began < 0.7  # by the holder's clock too
            holder.stdin.close()
            holder.stdin = None
            if early:
                self.assertEqual(self.end(holder)[0], 0)
                self.assertIsNone(feed.poll())
            self.assertEqual(self.end(feed)[0], 0)
            if early:
                return
            self.end(holder)
        self.skipTest("the machine is too slow")

    def test_fifty_at_once(self):
        self.fill()
        holder = self.holder()
        commands = []
        for i in range(10):
            commands += [self.start("doc", "posts", str(i)), self.start("export", "posts"),
                         self.start("clusters", "posts"), self.start("status")]
            put = self.start("put", "together", "-", "--from", "jsonl")
            put.stdin.write(documents(i * 100, i * 100 + 100))
            put.stdin.close()
            put.stdin = None
            commands.append(put)
        for p in commands:
            code, _, err = self.end(p)
            self.assertEqual(code, 0, (p.args, err))
        self.assertEqual(self.end(holder)[0], 0)
        self.assertEqual(self.size("together"), 1000)
        self.assertTrue(self.good("verify"))

    def test_fifty_without_a_holder(self):
        """They take the store one after the other."""
        self.fill()
        for p in [self.start("doc", "posts", str(i), "--wait", "60") for i in range(50)]:
            self.assertEqual(self.end(p)[0], 0)

    def test_a_frozen_holder(self):
        holder = self.holder()
        holder.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        code, _, err = self.run_command("status", "--wait", "1.5")
        took = time.monotonic() - began
        holder.send_signal(signal.SIGCONT)
        self.assertEqual(code, 4)
        self.assertIn(f"process {holder.pid} holds the store and does not answer", err)
        self.assertTrue(1.4 < took < 10, took)
        self.good("status")


class Serving(Store):
    """serve does everything for others."""

    def serve(self):
        p = self.start("serve", "--listen", "127.0.0.1:0", "--log-level", "error")
        waits_until(self.has_socket)
        return p

    def test_rebuilds(self):
        serving = self.serve()
        self.fill()
        for name in ("a", "b", "c"):
            self.good("put", name, "-", "--from", "jsonl", given=documents(0, 200))
        rebuilds = [self.start("rebuild", name, "--progress", "none") for name in ("a", "b", "c", "posts")]
        outcomes = [self.end(p)[:2] for p in rebuilds]
        self.assertEqual([(code, out.split("\t")[2]) for code, out in outcomes],
                         [(0, "rebuilt")] * 3 + [(0, "unmodified")])
        self.assertIn('"purged":true', self.good("delete", "a", "7", "--purge", "--format", "jsonl"))
        serving.terminate()
        self.assertEqual(self.end(serving)[0], 0)
        self.assertFalse(self.has_socket())
        self.assertTrue(self.good("verify"))

    def test_a_rebuild_that_is_stopped(self):
        serving = self.serve()
        self.fill()
        first, waiting = self.slow_rebuild(), None
        try:
            told = first.stderr.readline()  # how far it is
            self.assertIn('"phase"', told)
            waiting = self.start("rebuild", "posts", "--force", "--wait", "0", "--progress", "jsonl")
            first.send_signal(signal.SIGINT)
            code, _, err = self.end(first)
            self.assertEqual(code, 7)
            self.assertIn("stopped on request; what was served is served on", err)
            self.assertIn('"phase"', waiting.stderr.readline())
            waiting.send_signal(signal.SIGINT)
            self.assertEqual(self.end(waiting)[0], 7)
            self.assertEqual(len(self.good("builds", "posts").splitlines()), 1)
        finally:
            serving.terminate()
        self.assertEqual(self.end(serving)[0], 0)
        self.assertTrue(self.good("verify"))


class Callers(Store):
    def test_one_that_is_killed(self):
        holder = self.holder()
        caller = self.start("put", "other", "-", "--from", "jsonl")
        caller.stdin.write(documents(0, 4000))
        caller.stdin.flush()
        waits_until(lambda: self.size("other"))
        caller.kill()
        caller.communicate()
        waits_until(lambda: self.size("other") > 3000)  # what came is stored
        self.assertEqual(self.end(holder)[0], 0)
        self.assertTrue(self.good("verify"))

    def test_one_that_stops_reading(self):
        self.fill(3000)
        holder = self.holder()
        p = self.start("export", "posts", "--with-text")
        self.assertTrue(p.stdout.readline())
        p.stdout.close()
        p.stdout = open(os.devnull)
        self.assertEqual((p.wait(LONG), p.stderr.read()), (0, ""))
        self.assertEqual(self.end(holder)[0], 0)

    def test_one_that_is_interrupted(self):
        self.holder()
        p = self.start("put", "other", "-", "--from", "jsonl", "--format", "json")
        p.stdin.write(documents(0, 9000))
        p.stdin.flush()
        waits_until(lambda: self.size("other"))
        p.send_signal(signal.SIGINT)
        code, out, err = self.end(p, documents(9000, 9001))
        self.assertEqual(code, 130, err)
        self.assertIn("stopped on request; what was stored stays", err)
        self.assertGreater(json.loads(out)["new"], 0)

    def test_same_as_at_home(self):
        """Whether somebody holds the store or not: same output, same messages, same exit code."""
        self.fill()
        with open(os.path.join(self.folder, "texts.jsonl"), "w") as f:
            f.write(documents(400, 420) + '{"id": "x"}\nno json\n' + documents(420, 440))
        os.mkdir(os.path.join(self.folder, "notes"))
        for name in ("a", "b.txt"):
            with open(os.path.join(self.folder, "notes", name), "w") as f:
                f.write(f"honey and {name}")
        changing = [
            ["put", "more", "texts.jsonl", "--rejects", "refused.jsonl", "--force"],
            ["put", "more", "texts.jsonl"],
            ["put", "noted", "notes"],
            ["put", "{kind}-posts", "texts.jsonl"],
            ["put", "more", "absent.jsonl"],
            ["put", "more", "texts.jsonl", "--from", "nonsense"],
            ["config", "set", "more", "k=3"],
            ["config", "set", "more", "k=many"],
            ["config", "set", "posts-*", "k=3"],
            ["collection", "create", "empty"],
            ["delete", "more", "401", "402", "nosuch"],
            ["delete", "more", "--where", "id=9", "--dry-run"],
            ["label", "posts", "1", "Named"],
            ["collection", "delete", "empty"],
            ["init"],
        ]
        reading = [
            ["collection", "list", "--format", "csv"],
            ["collection", "show", "--all", "--format", "jsonl"],
            ["collection", "show", "more", "--columns"],
            ["config", "show", "more"], ["config", "list", "more"], ["config", "keys"],
            ["builds", "posts", "--format", "json"],
            ["clusters", "posts"], ["clusters", "posts", "--format", "json"],
            ["clusters", "posts", "--tree"], ["clusters", "nosuch"], ["clusters", "post"],
            ["clusters", "posts", "--nonsense"], ["clusters", "posts", "--sort", "nonsense"],
            ["cluster", "posts", "1"], ["cluster", "posts", "99999"],
            ["doc", "posts", "7", "--why"], ["doc", "posts", "nosuch"],
            ["export", "posts"], ["export", "*", "--documents"],
            ["export", "posts", "-o", "out.csv", "--force"],
            ["export", "posts", "--matrix", "out.npz", "--force"],
            ["assign", "posts", "texts.jsonl", "--format", "jsonl"],
            ["assign", "posts", "notes", "--format", "jsonl"],
            ["report", "posts", "-o", "report.html", "--force"],
            ["rebuild", "posts", "--dry-run"], ["rebuild", "--all", "--dry-run"],
            ["diff", "posts"], ["status"], ["version"], ["--namespace", "x"],
            ["collection", "list", "--namespace", "other"],
        ]
        home, away = [], []
        shutil.copytree(self.store, self.store + ".copy")

        def run_all(results, prepare):
            for words in changing + reading:
                prepare()
                code, out, err = self.run_command(*words)
                files = []
                for name in ("refused.jsonl", "out.csv", "out.npz", "report.html"):
                    path = os.path.join(self.folder, name)
                    if os.path.exists(path):
                        with open(path, "rb") as f:
                            files.append(re.sub(rb"20\d\d-\d\d-\d\d[T ][0-9:.]+Z?", b"TIME", f.read()))
                        os.unlink(path)
                text = re.sub(r"20\d\d-\d\d-\d\d[T ][0-9:.]+Z?|\b1[0-9]{12}\b", "TIME", out)
                if words == ["status"]:
                    text = text.rsplit("\t", 1)[0]  # bytes
                results.append((words, code, text, err, files))

        run_all(home, lambda: None)
        shutil.rmtree(self.store)
        os.rename(self.store + ".copy", self.store)
        holder = self.holder("assign", "posts", "-", "--from", "jsonl")  # which changes nothing
        run_all(away, lambda: self.assertIsNone(holder.poll()))
        self.assertEqual(self.end(holder)[0], 0)
        for at_home, asked in zip(home, away):
            self.assertEqual(at_home, asked)

    def test_a_backup(self):
        self.fill()
        holder = self.holder()
        self.good("backup", "copy")
        self.assertEqual(self.end(holder)[0], 0)
        self.assertEqual(self.size("posts", "--store", os.path.join(self.folder, "copy")), 300)

    def test_what_needs_the_store_alone(self):
        self.fill()
        holder = self.holder()
        for words in (["verify"], ["repair", "--to", "mended"]):
            code, _, err = self.run_command(*words, "--wait", "0")
            self.assertEqual(code, 4, err)
            self.assertIn(f"is held by process {holder.pid} (grouperfish put)", err)
        self.end(holder)


class Places(Store):
    def check(self, store):
        self.store = store
        self.fill()
        self.holder()
        self.assertEqual(os.stat(os.path.join(store, "socket")).st_mode & 0o7777, 0o600)
        self.assertEqual(self.size("posts"), 300)
        code, _, err = self.run_command("rebuild", "posts", "--force", "--wait", "0")
        self.assertEqual(code, 4)  # a holder that answered said so
        self.assertIn("holds the store", err)

    def test_long_path(self):
        self.check(os.path.join(self.folder, *(["a long name of a folder"] * 10), "store"))

    def test_path_of_the_limit(self):
        n = 107 - len("/socket") - len(self.folder) - 1
        for length in (n - 1, n, n + 1):
            with self.subTest(length):
                self.check(os.path.join(self.folder, "s" * length))

    def test_spaces(self):
        self.check(os.path.join(self.folder, "a store, with spaces & ümlauts"))

    def test_relative(self):
        self.fill()
        self.holder()
        os.symlink(self.store, os.path.join(self.folder, "linked"))
        for way in ("grouperfish.store", "./grouperfish.store/", "linked"):
            self.assertEqual(self.good("status", "--store", way).split("\t")[0], way)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_others_may_not(self):
        os.chmod(self.folder, 0o755)
        self.fill()
        self.holder()
        code, out, err = self.run_command("status", user=65534, group=65534, extra_groups=[])
        self.assertEqual((code, out), (6, ""), err)
        self.assertIn("Permission denied", err)
        # not even where the file lets them in
        os.chmod(os.path.join(self.store, "socket"), 0o666)
        code, out, err = self.run_command("status", user=65534, group=65534, extra_groups=[])
        self.assertNotEqual(code, 0)
        self.assertEqual(out, "")

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_no_socket_can_be_made(self):
        """A holder that cannot answer holds the store all the same."""
        self.fill(5)
        for folder, _, files in os.walk(self.store):
            for name in [folder] + [os.path.join(folder, f) for f in files]:
                os.chown(name, 65534, 65534)
        os.chmod(self.folder, 0o755)
        os.chown(self.store, 0, 0)
        self.assertEqual(os.stat(self.store).st_mode & 0o022, 0)
        holder = self.start("put", "posts", "-", "--from", "jsonl", user=65534, group=65534, extra_groups=[])
        holder.stdin.write(documents(0, HELD))
        holder.stdin.flush()
        waits_until(lambda: str(holder.pid) in self.lock())
        code, _, err = self.run_command("status", "--wait", "0.2")
        self.assertEqual(code, 4)
        self.assertIn("is held by process", err)
        self.assertEqual(self.end(holder)[0], 0)


def frame(kind, data=b""):
    return struct.pack(">IB", len(data), kind) + data


HELLO = frame(1, b"GFSH" + struct.pack(">I", 1))


def string(text):
    assert len(text) < 128
    return bytes([len(text)]) + text


class Wire(Store):
    def fake_holder(self, answer):
        """What binds the socket answers with these bytes, and then hangs up."""
        os.makedirs(self.store, exist_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.join(self.store, "socket"))
        listener.listen()

        def serve():
            while True:
                try:
                    s, _ = listener.accept()
                    s.recv(1 << 16)
                    s.sendall(answer)
                    s.close()
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        self.addCleanup(listener.close)

    def test_another_version(self):
        self.fake_holder(frame(1, b"GFSH" + struct.pack(">I", 99) + b"process 7 (grouperfish put)"))
        code, _, err = self.run_command("status")
        self.assertEqual(code, 4)
        self.assertIn("process 7 (grouperfish put) holds the store, and is of another version", err)

    def test_strangers(self):
        for answer in (b"HTTP/1.1 400 Bad Request\r\n\r\n" * 10, frame(9, b"?"), b"\xff" * 99):
            with self.subTest(answer):
                shutil.rmtree(self.store, ignore_errors=True)
                self.fake_holder(answer)
                code, _, err = self.run_command("status")
                self.assertIn(code, (2, 4), err)
                self.assertTrue(err)

    def test_one_that_hangs_up(self):
        self.fake_holder(b"")
        code, _, err = self.run_command("status", "--wait", "0.5")
        self.assertEqual(code, 4)
        self.assertIn("has ended", err)

    def test_bad_messages(self):
        """Whatever callers send, the holder goes on answering."""
        holder = self.holder()
        call = bytes([31]) + string(b"put") + string(b"default") + string(b".") + bytes([0])
        fuzz = [b"", b"\0", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 70000, frame(1, b"nonsense"),
                struct.pack(">IB", 1 << 31, 1), HELLO + b"\xff\xff\xff\xff\x02",
                HELLO + frame(2, b""), HELLO + frame(2, b"\x01"), HELLO + frame(99, b"x"),
                HELLO + frame(2, call[:-1] + b"\xff\xff\xff\xff\x0f"),
                HELLO + frame(2, call + b"more"),
                HELLO + frame(2, bytes([0]) + string(b"no such operation") + string(b"d") + b"\0\0"),
                HELLO + frame(2, bytes([0]) + string(b"repair") + string(b"d") + b"\0\0"),
                HELLO + frame(2, bytes([0]) + string(b"status") + string(b"d\0") + string(b"a\0b") + b"\0"),
                HELLO + frame(2, call) + frame(4, b"never asked for") * 3,
                HELLO + frame(2, call) + frame(2, call),
                HELLO + frame(2, call) + frame(7) * 1000,
                HELLO + frame(0x82, call) * 200 + frame(0x83),
                HELLO + frame(0x82, b"x" * 65536) * 200,
                HELLO + frame(2, call)]
        for data in fuzz:
            for hang_up in (True, False):
                s = socket.socket(socket.AF_UNIX)
                s.settimeout(LONG)
                s.connect(os.path.join(self.store, "socket"))
                try:
                    s.sendall(data)
                    if not hang_up and data != b"" and data != b"\0":
                        s.shutdown(socket.SHUT_WR)
                        while s.recv(1 << 16):
                            pass
                except (BrokenPipeError, ConnectionResetError):
                    pass
                s.close()
            self.assertIsNone(holder.poll(), data[:99])
        self.good("status")
        self.assertEqual(self.end(holder)[0], 0)
        self.assertEqual(self.size("held"), HELD)

    def test_those_that_say_nothing_do_not_keep_it(self):
        holder = self.holder()
        silent = [socket.socket(socket.AF_UNIX) for _ in range(20)]
        for s in silent:
            s.connect(os.path.join(self.store, "socket"))
        self.good("status")
        began = time.monotonic()
        self.assertEqual(self.end(holder)[0], 0)
        self.assertLess(time.monotonic() - began, 8)
        for s in silent:
            s.close()


if __name__ == "__main__":
    unittest.main(verbosity=2 if sys.stdout.isatty() else 1)
