#!/usr/bin/env python3
"""papers extract beside a GROBID that takes its time, is busy, fails, or is never done: several files at
once, a rate, what is stored when it is stopped or killed, and retries.

Environment: GROUPERFISH_PROGRAM.
"""
import hashlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

PROGRAM = os.environ["GROUPERFISH_PROGRAM"]
FILES = 16
TRIES = 4  # of what is measured by the clock: a machine may have other things to do
LONG = 300  # seconds; far more than anything here takes


def tei(title, version="0.7.2"):
    return (f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title level="a" '
            f'type="main">{title}</title></titleStmt></fileDesc><encodingDesc><appInfo><application '
            f'version="{version}" ident="GROBID" when="2026-01-01"/></appInfo></encodingDesc></teiHeader>'
            f'<text><body><p>Words of {title}</p></body></text></TEI>').encode()


class Grobid:
    """Answers by answer(name): a status and a body. `name` is the second line of the PDF."""

    def __init__(self, answer, seconds=0, workers=1000):
        self.answer, self.seconds, self.workers = answer, seconds, workers
        self.lock, self.at_once, self.most, self.times, self.busy = threading.Lock(), 0, 0, [], 0
        self.ended, self.wanted, self.gathered = [], 0, threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *arguments):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                name = body.split(b"%PDF-1.4\n")[1].split(b"\n")[0].decode()
                status, answer = outer.take(name)
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                except OSError:
                    pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 100
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, name):
        with self.lock:
            self.times.append(time.monotonic())
            if self.at_once >= self.workers:
                self.busy += 1
                return 503, b"busy"
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            if self.most >= self.wanted:
                self.gathered.set()
        self.gathered.wait(20)
        seconds = self.seconds(name) if callable(self.seconds) else self.seconds
        time.sleep(seconds)
        with self.lock:
            self.at_once -= 1
            self.ended.append(time.monotonic())
        return self.answer(name)

    def begin(self, wanted=0):
        """Forget what was; nobody is answered before so many have asked at once."""
        self.times.clear()
        self.ended.clear()
        self.gathered.clear()
        self.most, self.wanted = 0, wanted

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Extract(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="extract-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.pdf = os.path.join(self.folder, "pdf")
        os.mkdir(self.pdf)

    def write(self, *names):
        digests = {}
        for name in names:
            content = f"%PDF-1.4\n{name}\n".encode()
            with open(os.path.join(self.pdf, name + ".pdf"), "wb") as f:
                f.write(content)
            digests[name] = hashlib.sha1(content).hexdigest()
        return digests

    def grobid(self, *arguments, **options):
        g = Grobid(*arguments, **options)
        self.addCleanup(g.close)
        return g

    def command(self, store, *arguments):
        return [PROGRAM, "papers", *arguments, "--store", os.path.join(self.folder, store), "--format", "jsonl"]

    def run_it(self, store, *arguments, code=0):
        done = subprocess.run(self.command(store, *arguments), capture_output=True, text=True, timeout=LONG)
        self.assertEqual(done.returncode, code, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def extract(self, store, grobid, *options, code=0):
        return self.run_it(store, "extract", self.pdf, "--grobid", grobid.url, *options, code=code)[0]

    def dump(self, store):
        return self.run_it(store, "dump", "--fields",
                           "size,mime,meta,status_code,quality,status,tei_xml,tei_json,metadata")

    def failures(self, store):
        return {r["sha1"]: r for r in self.run_it(store, "missing", "--failed")}

    def test_several_at_once(self):
        self.write(*(f"file-{i}" for i in range(FILES)))
        grobid = self.grobid(lambda name: (500, b"no") if name.endswith("7") else (200, tei(name)), seconds=0.2)
        seconds, stores = {}, {}
        for jobs, tries in (1, 1), (8, TRIES):
            for i in range(tries):
                grobid.begin(jobs)
                stores[jobs] = f"jobs-{jobs}-{i}"
                row = self.extract(stores[jobs], grobid, "--jobs", str(jobs))
                self.assertEqual((row["new"], row["reasons"], grobid.most), (FILES, {"error": 1}, jobs))
                seconds[jobs] = grobid.ended[-1] - grobid.times[0]
                if seconds[1] / seconds[jobs] > 3:
                    break
        print(f"{FILES} files of 200 ms: {seconds[1]:.2f} s one by one, {seconds[8]:.2f} s eight at once: "
              f"{seconds[1] / seconds[8]:.1f} times as fast", flush=True)
        self.assertGreater(seconds[1] / seconds[8], 3)
        self.assertEqual(self.dump(stores[1]), self.dump(stores[8]))
        grobid.begin(min(os.cpu_count(), FILES))
        self.extract("usual", grobid)
        self.assertEqual(grobid.most, min(os.cpu_count(), FILES))

    def test_the_same_file_twice(self):
        for name in "a", "b":
            with open(os.path.join(self.pdf, name + ".pdf"), "wb") as f:
                f.write(b"%PDF-1.4\nthe same\n")
        grobid = self.grobid(lambda name: (200, tei(name)), seconds=0.2)
        row = self.extract("s", grobid, "--jobs", "4")
        self.assertEqual((row["new"], row["existing"], len(grobid.times)), (1, 1, 1))

    def test_rate(self):
        self.write(*(f"file-{i}" for i in range(6)))
        grobid, seconds = self.grobid(lambda name: (200, tei(name))), 0
        for i in range(TRIES):  # the first may be late, and the last is not
            grobid.begin()
            self.extract(f"s-{i}", grobid, "--jobs", "6", "--rate", "10")
            seconds = max(seconds, grobid.times[-1] - grobid.times[0])
            if seconds > 0.45:
                break
        self.assertGreater(seconds, 0.45)

    def test_back_off_is_shared(self):
        """Eight at once for a GROBID with two workers: each file comes through, few are turned away."""
        self.write(*(f"file-{i}" for i in range(24)))
        grobid = self.grobid(lambda name: (200, tei(name)), seconds=0.05, workers=2)
        row = self.extract("s", grobid, "--jobs", "8", "--backoff-ms", "100", "--retries", "4")
        self.assertEqual(row["new"], 24)
        self.assertLess(grobid.busy, 14)
        waited = [b - a for a, b in zip(grobid.times, grobid.times[1:])]
        self.assertGreater(max(waited), 0.09)

    def hang(self, name):
        return 0 if name.startswith("quick") else 60

    def wait_for(self, what):
        deadline = time.monotonic() + LONG
        while not what():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def start(self, grobid, jobs):
        child = subprocess.Popen(self.command("s", "extract", self.pdf, "--grobid", grobid.url, "--jobs", str(jobs)),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def test_stopped(self):
        self.write("quick-1", "quick-2", "slow-1", "slow-2", "slow-3")
        grobid = self.grobid(lambda name: (200, tei(name)), seconds=self.hang)
        child = self.start(grobid, 3)
        self.wait_for(lambda: len(grobid.times) == 5)
        self.wait_for(lambda: len(self.dump("s")) == 2)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=LONG)
        self.assertLess(time.monotonic() - start, 20)  # GROBID answers after 60
        self.assertEqual((child.returncode, json.loads(out)["new"]), (130, 2), err)
        self.assertEqual(len(self.dump("s")), 2)

    def test_killed(self):
        """What came back before is stored while others are still waited for."""
        digests = self.write("quick-1", "quick-2", "slow-1", "slow-2", "slow-3")
        grobid = self.grobid(lambda name: (200, tei(name)), seconds=self.hang)
        child = self.start(grobid, 3)
        self.wait_for(lambda: len(grobid.times) == 5)
        self.wait_for(lambda: len(self.run_it("s", "dump", "--fields", "meta")) == 2)
        child.kill()
        child.communicate()
        stored = self.run_it("s", "dump", "--fields", "meta")
        self.assertEqual({json.loads(r["meta"])["sha1"] for r in stored},
                         {digests["quick-1"], digests["quick-2"]})

    def test_one_that_fails(self):
        """A GROBID that goes away ends the command; what came back is stored, and it goes on."""
        self.write(*(f"file-{i}" for i in range(8)))
        grobid = self.grobid(lambda name: (200, tei(name)), seconds=lambda name: 30 if name == "file-5" else 0)
        done = subprocess.run(self.command("s", "extract", self.pdf, "--grobid", grobid.url, "--jobs", "3",
                                           "--timeout", "5"), capture_output=True, text=True, timeout=LONG)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("no whole answer came within 5 seconds", done.stderr)
        grobid.seconds = 0
        row = self.extract("s", grobid)
        self.assertEqual(row["new"] + row["existing"], 8)
        self.assertGreaterEqual(row["existing"], 5)

    def test_retries(self):
        self.write("good", "broken", "empty", "long", "words")
        answers = {"good": (200, tei("good", "0.5.1-SNAPSHOT")), "broken": (500, b"[GENERAL] oops"), "empty": (204, b""),
                   "long": (200, b"<TEI>" + b"x" * 4000001 + b"</TEI>"), "words": (200, b"no XML")}
        grobid = self.grobid(lambda name: answers[name])
        row = self.extract("s", grobid)
        self.assertEqual((row["new"], row["reasons"]), (5, {"error": 2, "fail": 1, "oversize": 1}))
        failed = list(self.failures("s").values())
        self.assertEqual(sorted((r["status_code"], r["status"]) for r in failed),
                         [(200, "fail"), (200, "oversize"), (204, "error"), (500, "error")])
        self.assertEqual([r["description"] for r in failed if r["status_code"] == 500], ["[GENERAL] oops"])
        self.assertTrue(all(abs(time.time() - time.mktime(time.strptime(r["time"][:19] + " UTC",
                        "%Y-%m-%dT%H:%M:%S %Z")) + time.timezone) < 600 for r in failed), failed)
        self.assertEqual(self.run_it("s", "missing"), [])

        grobid.times.clear()
        row = self.extract("s", grobid)  # kept, as before
        self.assertEqual((row["existing"], len(grobid.times)), (5, 0))
        answers["empty"] = answers["broken"] = 200, tei("now good", "0.7.2")
        row = self.extract("s", grobid, "--retry", "code:204")
        self.assertEqual((row["changed"], row["existing"], len(grobid.times)), (1, 4, 1))
        row = self.extract("s", grobid, "--retry", "failed")
        self.assertEqual((row["changed"], row["existing"], row["reasons"]), (3, 2, {"fail": 1, "oversize": 1}))
        self.assertEqual(len(self.failures("s")), 2)
        self.assertEqual(len(self.run_it("s", "missing", "--failed", "--limit", "1")), 1)

        grobid.times.clear()
        row = self.extract("s", grobid, "--retry", "older-than:0.7.0")
        self.assertEqual((row["changed"], row["existing"], len(grobid.times)), (1, 4, 1))
        answers["good"] = 500, b"worse"
        row = self.extract("s", grobid, "--retry", "version:0.5.1-SNAPSHOT")
        self.assertEqual((row["changed"], row["existing"], row["reasons"]), (0, 5, {"error": 1}))
        self.assertEqual(len(self.failures("s")), 2)  # the text is still there
        answers.update({name: (200, tei("new " + name, "0.10.1")) for name in answers})
        row = self.extract("s", grobid, "--retry", "failed,older-than:0.10")
        self.assertEqual((row["changed"], self.failures("s")), (5, {}))
        row = self.extract("s", grobid, "--retry", "older-than:0.10.1")
        self.assertEqual(row["existing"], 5)

    def test_groups(self):
        """The next GROBID's results stand beside those of the first, and are tried again by themselves."""
        self.write("a", "b")
        grobid = self.grobid(lambda name: (200, tei(name, "0.5.1")))
        self.extract("s", grobid)
        grobid.answer = lambda name: (500, b"no") if name == "b" else (200, tei(name, "0.8.0"))
        row = self.extract("s", grobid, "--group", "grobid1")
        self.assertEqual((row["new"], row["reasons"]), (2, {"error": 1}))
        self.assertEqual(self.failures("s"), {})
        self.assertEqual(len(self.run_it("s", "missing", "--failed", "--group", "grobid1")), 1)
        grobid.answer = lambda name: (200, tei(name, "0.8.0"))
        row = self.extract("s", grobid, "--group", "grobid1", "--retry", "failed,older-than:0.8.0")
        self.assertEqual((row["changed"], row["existing"]), (1, 1))
        row = self.extract("s", grobid, "--retry", "older-than:0.8.0")
        self.assertEqual((row["changed"], row["existing"]), (2, 0))

    def test_retry_of_nothing(self):
        self.write("a")
        done = subprocess.run(self.command("s", "extract", self.pdf, "--grobid", "http://127.0.0.1:1", "--retry", "all"),
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn('"all" says of no extraction', done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
