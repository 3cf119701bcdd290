#!/usr/bin/env python3
"""Commands that ask a server (--server): the same as at home, and what is said where that fails.

Environment: GROUPERFISH_PROGRAM, GROUPERFISH_SOURCE.
"""
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
import sharing
from fakes import Answers, Between
from sharing import Store, documents, waits_until
from served import Served

for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
             "GROUPERFISH_SERVER", "GROUPERFISH_TOKEN_FILE"):
    os.environ.pop(name, None)
TIMES = re.compile(r"20\d\d-\d\d-\d\d[T ][0-9:.]+Z?|\b1[0-9]{12}\b")


class Remote(Store):
    def setUp(self):
        super().setUp()
        self.server = None

    def tearDown(self):
        super().tearDown()
        if self.server:
            self.server.__exit__()

    def serve(self, *options):
        self.server = Served(*options).__enter__()
        self.url = f"http://127.0.0.1:{self.server.port}"
        return self.url

    def write(self, name, text, mode=0o600):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def fails(self, code, pattern, *words, **options):
        got, out, err = self.run_command(*words, **options)
        self.assertEqual((got, out), (code, ""), err)
        self.assertRegex(err, pattern)
        return err


class AtHomeAndAway(Remote):
    def run_all(self, *which):
        """Every command's exit code, standard output, standard error and files."""
        commands = [
            ["put", "posts", "some.jsonl"], ["put", "more", "mixed.jsonl", "--rejects", "refused.jsonl", "--force"],
            ["put", "more", "mixed.jsonl"], ["put", "more", "mixed.jsonl", "--results", "each"],
            ["put", "noted", "notes"], ["put", "{kind}-posts", "mixed.jsonl"], ["put", "more", "absent.jsonl"],
            ["put", "packed", "some.csv.gz", "--text", "text"], ["put", "more", "mixed.jsonl", "--from", "nonsense"],
            ["rebuild", "posts"], ["rebuild", "posts"], ["rebuild", "posts", "--dry-run"], ["rebuild", "nosuch"],
            ["rebuild", "--all"], ["rebuild", "post*"], ["rebuild", "posts", "--explain-k"],
            ["config", "set", "more", "k=3"], ["config", "set", "more", "k=many"], ["config", "show", "more"],
            ["config", "list", "more"], ["config", "keys"], ["collection", "create", "empty"],
            ["collection", "list"], ["collection", "show", "--all"], ["collection", "show", "more", "--columns"],
            ["collection", "delete", "empty"], ["delete", "more", "401", "nosuch"],
            ["delete", "more", "--where", "id=9", "--dry-run"], ["label", "posts", "1", "Named"],
            ["builds", "posts"], ["clusters", "posts"], ["clusters", "posts", "--tree"], ["clusters", "nosuch"],
            ["clusters", "post"], ["clusters", "posts", "--nonsense"], ["cluster", "posts", "1"],
            ["cluster", "posts", "99999"], ["doc", "posts", "7", "--why"], ["doc", "posts", "nosuch"],
            ["search", "posts", "honey -wax"], ["similar", "posts", "7"], ["duplicates", "posts", "--min", "0.4"], ["export", "posts"],
            ["export", "*", "--documents"], ["export", "posts", "-o", "out.csv", "--force"],
            ["export", "posts", "--matrix", "out.npz", "--force"], ["assign", "posts", "mixed.jsonl"],
            ["rebuild", "posts", "--config", "rows", "--matrix", "out2.npz", "--force"],
            ["assign", "posts", "notes"], ["report", "posts", "-o", "report.html", "--force"], ["diff", "posts"],
            ["table", "create", "t", "--key", "id:text", "--family", "f"], ["table", "put", "t", "a", "f:x=1"],
            ["table", "get", "t", "a"], ["table", "scan", "t"], ["table", "list"],
            ["log", "import", "web", "access.log"], ["log", "report", "web"],
            ["version"], ["collection", "list", "--namespace", "other"], ["init"],
        ]
        results = []
        for words in commands:
            code, out, err = self.run_command(*words, *which)
            files = []
            for name in ("refused.jsonl", "out.csv", "out.npz", "report.html"):
                path = os.path.join(self.folder, name)
                if os.path.exists(path):
                    with open(path, "rb") as file:
                        files.append(re.sub(TIMES.pattern.encode(), b"TIME", file.read()))
                    if name == "out.npz":
                        shutil.copy(path, os.path.join(self.folder, "out2.npz"))
                    os.unlink(path)
            out = TIMES.sub("TIME", out)
            if words[0] in ("rebuild", "collection", "builds"):
                out = re.sub(r"\d\.\d+(e-\d+)?", "N", out)  # seconds
            results.append((words, code, out, TIMES.sub("TIME", err).replace(f"made a store at {self.store}\n", ""), files))
        return results

    def test_the_same(self):
        self.write("some.jsonl", documents(0, 300))
        self.write("mixed.jsonl", documents(400, 420) + '{"id": "x"}\nno json\n' + documents(420, 440))
        self.write("some.csv", "id,text\n" + "".join(f'{i},"honey, wax {i}"\n' for i in range(50)))
        subprocess.run(["gzip", "some.csv"], cwd=self.folder, check=True)
        os.mkdir(os.path.join(self.folder, "notes"))
        for name in ("a", "b.txt"):
            self.write(os.path.join("notes", name), f"honey and {name}")
        self.write("access.log", '1.2.3.4 - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.0" 200 9\n')
        home = self.run_all()
        self.serve()
        for at_home, asked in zip(home, self.run_all("--server", self.url)):
            told = [text.replace(self.url, self.store) if isinstance(text, str) else text for text in asked]
            if at_home[0] == ["init"]:
                continue  # tells the store's name
            told[2] = told[2].replace(f" --server {self.store}", "")
            self.assertEqual(list(at_home), told)


class Working(Remote):
    def test_environment(self):
        url = self.serve()
        os.environ["GROUPERFISH_SERVER"] = url
        self.addCleanup(os.environ.pop, "GROUPERFISH_SERVER", None)
        self.good("put", "posts", "-", "--from", "jsonl", given=documents(0, 5))
        self.assertFalse(os.path.exists(self.store))
        self.assertEqual(self.size("posts"), 5)
        self.assertEqual(self.size("posts", "--store", self.server.store), 5)  # an option counts more
        self.fails(2, "either --store or --server", "status", "--store", "x", "--server", url)
        self.fails(2, "--server is not for this command", "serve", "--server", url)

    def test_init(self):
        """A store that the server made is there already for all others."""
        url = self.serve()
        self.assertEqual(self.good("init", "--server", url), f"{url}\tfalse\n")
        self.assertEqual(self.good("init", "--store", self.server.store).split("\t")[1], "false\n")

    def test_suggestions(self):
        url = self.serve()
        out = self.good("put", "posts", "-", "--from", "jsonl", "--server", url, "--format", "table",
                        given=documents(0, 5))
        self.assertIn(f"grouperfish rebuild posts --server {url}\n", out)

    def test_large(self):
        """Many times what buffers hold, both ways."""
        url = self.serve()
        text = "".join(json.dumps({"id": str(i), "text": f"honey {i} " + "x" * 2000}) + "\n" for i in range(4000))
        rows = self.good("put", "posts", "-", "--from", "jsonl", "--results", "each", "--server", url,
                         "--format", "jsonl", given=text)
        self.assertEqual(rows.count('"result":"stored"'), 4000)
        back = self.good("export", "posts", "--documents", "--server", url, "--format", "jsonl")
        self.assertEqual(len(back.splitlines()), 4000)
        self.assertEqual(json.loads(back.splitlines()[0])["text"], "honey 0 " + "x" * 2000)

    def test_who_reads_only_the_first_line(self):
        url = self.serve()
        self.good("put", "posts", "-", "--from", "jsonl", "--server", url, given=documents(0, 3000))
        p = self.start("export", "posts", "--documents", "--server", url)
        self.assertTrue(p.stdout.readline())
        p.stdout.close()
        p.stdout = open(os.devnull)
        self.assertEqual((p.wait(sharing.LONG), p.stderr.read()), (0, ""))

    def test_a_path_before(self):
        """A proxy may have the server at a path of its own; a / at the end means nothing."""
        fake = Answers(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        self.fails(6, "no Grouperfish", "status", "--server", fake.url + "/fish/")
        self.assertTrue(fake.asked[0].startswith(b"POST /fish/v1/operations/status?namespace=default HTTP/1.1\r\n"))


class Tokens(Remote):
    def test_all(self):
        write, read, other = "writer-0123456789", "reader-0123456789", "other-0123456789a"
        tokens = self.write("tokens", f"{write} write default\n{read} read default\n{other} write elsewhere\n")
        at = ["--server", self.serve("--tokens", tokens), "--wait", "0"]
        files = {name: self.write(name, text + "\n") for name, text in
                 (("write", write), ("read", read), ("other", other), ("wrong", "nonsense-0123456789"))}
        put = ["put", "posts", "-", "--from", "jsonl", *at]
        given = documents(0, 3)
        self.fails(2, "wants a token: --token-file or GROUPERFISH_TOKEN_FILE", *put, given=given)
        self.fails(2, "no such token", *put, "--token-file", files["wrong"], given=given)
        self.fails(2, "the token may only read", *put, "--token-file", files["read"], given=given)
        self.fails(2, "not for this namespace", *put, "--token-file", files["other"], given=given)
        self.assertEqual(self.size("posts", *at, "--token-file", files["read"]), 0)
        self.good(*put, "--token-file", files["write"], given=given)
        os.environ["GROUPERFISH_TOKEN_FILE"] = files["read"]
        self.addCleanup(os.environ.pop, "GROUPERFISH_TOKEN_FILE")
        self.assertEqual(self.size("posts", *at), 3)
        self.fails(2, "needs a token for all namespaces", "status", *at)
        os.chmod(files["read"], 0o640)
        self.fails(2, "others may look at it; chmod 600", "doc", "posts", "1", *at)
        self.fails(2, "does not begin with a token", "doc", "posts", "1", *at, "--token-file", self.write("empty", "\n"))
        self.fails(1, "there is no ", "doc", "posts", "1", *at, "--token-file", "absent")
        self.fails(2, "--token-file goes with --server", "status", "--token-file", files["write"])


class Refused(Remote):
    def test_what_only_the_machine_does(self):
        at = ["--server", self.serve()]
        for words in (["restore", "from", "--to", "to"], ["repair", "--to", "x"],
                      ["papers", "extract", "--grobid", "http://x", "f.pdf"]):
            self.write("f.pdf", "x")
            self.fails(2, "only the command does it", *words, *at)
        self.fails(4, "is held by process", "verify", *at)

    def test_backup(self):
        """The copy is made where the command runs, whole or not at all."""
        self.good("put", "posts", "-", "--from", "jsonl", given=documents(0, 300))
        self.good("rebuild", "posts")
        at = ["--server", self.serve("--store", self.store)]
        self.good("backup", "copy", *at)
        kept = self.good("clusters", "posts", "--store", os.path.join(self.folder, "copy"))
        self.assertEqual(kept, self.good("clusters", "posts", *at))
        for _ in range(2):
            self.good("backup", "copies", "--keep", "1", *at)
            time.sleep(1.1)
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "copies"))), 1)
        self.fails(2, "is there already", "backup", "copy", *at)
        self.good("archive", "copy.gfa", *at)
        self.good("restore", "copy.gfa", "--to", "again")
        self.server.__exit__()
        self.server = None
        self.fails(6, "nothing answers there", "backup", "other", *at)
        self.assertFalse([name for name in os.listdir(self.folder) if name.startswith("other")])

    def test_nobody(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = s.getsockname()[1]
        self.fails(6, f"cannot reach http://127.0.0.1:{port}: nothing answers there", "status", "--server", f"http://127.0.0.1:{port}")
        self.fails(6, "cannot reach http://nosuch.invalid", "status", "--server", "http://nosuch.invalid")
        for url in ("127.0.0.1:61732", "ftp://127.0.0.1", "http://a b", "http://x/?q", "http://u:p@x/", "http://x/#f", "/a"):
            self.fails(2, "is not the URL of a server", "status", "--server", url)

    def test_strangers(self):
        for answer, pattern in (
                (b"", "hung up without an answer"), (b"220 mail.example ESMTP\r\n", "no Grouperfish"),
                (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", r"no Grouperfish \(HTTP status 200"),
                (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", r"no Grouperfish \(HTTP status 404"),
                (b"HTTP/1.1 301 Moved\r\nLocation: https://x.example/\r\nContent-Length: 0\r\n\r\n",
                 "sends on to https://x.example/"),
                (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "does not reach a server"),
                (b"HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x05hello, web socket", "no frame|no Grouperfish"),
                (b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + sharing.frame(1, b"GFSH\0\0\0\x63x"),
                 "is of another version"),
                (b"x" * 100000, "no Grouperfish"), (b"HTTP/1.1 9\r\n\r\n", "no Grouperfish"),
                (b'HTTP/1.1 404 Not Found\r\nContent-Type: application/problem+json\r\nContent-Length: 14\r\n\r\n'
                 b'{"detail":"x"}', "it is of another version"),
                (b'HTTP/1.1 413 Large\r\nContent-Type: application/problem+json\r\nContent-Length: 21\r\n\r\n'
                 b'{"detail":"too large"', "no Grouperfish"),
                (b'HTTP/1.1 413 Large\r\nContent-Type: application/problem+json\r\nContent-Length: 22\r\n\r\n'
                 b'{"detail":"too large"}', "too large"),
                (b'HTTP/1.1 426 Upgrade Required\r\nContent-Type: application/problem+json\r\n\r\n{"detail":"x"}',
                 "a proxy before it does not let the connection be upgraded")):
            with self.subTest(answer=answer[:40]):
                code, out, err = self.run_command("status", "--server", Answers(answer, keep=b" 101 " in answer).url,
                                                  "--wait", "1")
                self.assertIn(code, (2, 4, 6), err)
                self.assertEqual(out, "")
                self.assertRegex(err, pattern)

    def test_strangers_that_keep_the_connection(self):
        """The status is told also where a body comes in chunks, or not as it was said."""
        for head, status in ((b"404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 404),
                             (b"204 No Content\r\n\r\n", 204), (b"304 Not Modified\r\n\r\n", 304),
                             (b"200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", 200), (b"200 OK\r\n\r\n", 200)):
            with self.subTest(head=head):
                self.fails(6, rf"no Grouperfish \(HTTP status {status}\)", "status", "--wait", "1", "--server",
                           Answers(b"HTTP/1.1 " + head, keep=True).url)

    def test_what_asks_for_more_than_there_is(self):
        """A server that was switched to says what it likes: the command neither ends badly nor reads for it."""
        self.write("a.jsonl", documents(0, 1))
        begun = b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + sharing.frame(1, b"GFSH\0\0\0\1") + sharing.frame(16)
        stream, bytes_, ended = sharing.frame(24), sharing.frame(25, b"\x05"), sharing.frame(26, b"\0\0\0")
        put, question = ("put", "x", "a.jsonl"), "what came is no question"
        for words, said, expected, pattern in (
                (["status"], stream, 2, question), (["status"], bytes_, 2, question), (put, bytes_, 2, question),
                (put, stream + stream + bytes_, 2, question),
                (["clusters", "x", "--tree", "--format", "table"],
                 sharing.frame(19, b'{"depth":1e300,"label":[]}') + sharing.frame(19, b'{"depth":-1}') + ended, 0, "^$")):
            with self.subTest(words=words, said=said[:40]):
                code, _, err = self.run_command(*words, "--server", Answers(begun + said, keep=True).url)
                self.assertEqual(code, expected, err)
                self.assertRegex(err, pattern)

    def test_busy(self):
        """Retry-After is waited for, where --wait is long enough."""
        busy = b"HTTP/1.1 %d Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
        gone = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        for status in (429, 503):
            server = Answers(busy % status, busy % status, gone)
            self.fails(6, "no Grouperfish", "status", "--server", server.url, "--wait", "60")
            self.assertEqual(len(server.times), 3)
            self.assertGreater(server.times[2] - server.times[0], 1.9)
        said = b'{"detail":"red \\u001b[31m and gone"}'
        server = Answers(b"HTTP/1.1 503 Busy\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
                         b"Content-Length: %d\r\n\r\n%s" % (len(said), said), gone)
        err = self.fails(6, r"waiting: \S+: red \[31m and gone", "put", "x", "-", "--from", "jsonl", "--server",
                         server.url, "--wait", "60", "--progress", "jsonl")
        self.assertNotIn("\x1b", err)
        server = Answers(b"HTTP/1.1 503 Busy\r\nRetry-After: 100\r\nContent-Length: 0\r\n\r\n")
        began = time.monotonic()
        self.fails(4, r"is busy \(HTTP status 503\)", "status", "--server", server.url, "--wait", "20")
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(len(server.times), 1)

    def test_one_that_says_nothing(self):
        server = Answers(b"", keep=True)
        self.fails(4, "does not answer", "status", "--server", server.url, "--wait", "1")


class Stopped(Remote):
    def test_put_is_interrupted(self):
        url = self.serve()
        p = self.start("put", "posts", "-", "--from", "jsonl", "--format", "json", "--server", url)
        p.stdin.write(documents(0, 9000))
        p.stdin.flush()
        waits_until(lambda: self.size("posts", "--server", url))
        p.send_signal(signal.SIGINT)
        code, out, err = self.end(p, documents(9000, 9001))
        self.assertEqual(code, 130, err)
        self.assertIn("stopped on request; what was stored stays", err)
        self.assertGreaterEqual(self.size("posts", "--server", url), json.loads(out)["new"])

    def slow(self, url):
        self.good("put", "posts", "-", "--from", "jsonl", "--server", url, given=sharing.slow_documents())
        self.good("config", "set", "posts", *sharing.SLOWLY, "--server", url)
        return self.start("rebuild", "posts", "--progress", "jsonl", "--server", url)

    def task(self):
        return self.server.json("GET", "/v1/tasks")[0]["state"]

    def test_rebuild_is_interrupted(self):
        p = self.slow(self.serve())
        self.assertIn('"phase"', p.stderr.readline())
        self.assertEqual(self.task(), "running")
        p.send_signal(signal.SIGINT)
        code, out, err = self.end(p)
        self.assertEqual((code, out), (130, ""), err)
        self.assertIn("stopped on request; what was served is served on", err)
        self.assertEqual(self.task(), "cancelled")

    def test_the_connection_is_lost(self):
        self.serve()
        between = Between(self.server.port)
        url = f"http://127.0.0.1:{between.port}"
        p = self.slow(url)
        self.assertIn('"phase"', p.stderr.readline())
        put = self.start("put", "more", "-", "--from", "jsonl", "--server", url)
        put.stdin.write(documents(0, 5000))
        put.stdin.flush()
        waits_until(lambda: self.size("more", "--server", self.url))
        between.cut()
        code, out, err = self.end(p)
        self.assertEqual((code, out), (6, ""), err)
        self.assertIn(f"the connection to {url} was lost in the middle of this; a rebuild that has begun goes on", err)
        code, out, err = self.end(put, documents(5000, 5001))
        self.assertEqual((code, out), (6, ""), err)
        self.assertIn("what was stored stays, and the same command goes on", err)
        self.assertEqual(self.task(), "running")
        again = self.start("rebuild", "posts", "--progress", "jsonl", "--server", self.url)
        self.assertIn('"phase"', again.stderr.readline())
        self.assertEqual(len(self.server.json("GET", "/v1/tasks")), 1)  # the same task
        again.send_signal(signal.SIGINT)
        self.assertIn("asked for by others too, and goes on", self.end(again)[2])
        self.assertEqual(self.task(), "running")

    def test_the_server_is_killed(self):
        url = self.serve()
        put = self.start("put", "more", "-", "--from", "jsonl", "--results", "each", "--server", url, "--format", "jsonl")
        put.stdin.write(documents(0, 1200))  # whose rows a pipe holds
        put.stdin.flush()
        told = [put.stdout.readline() for _ in range(100)]
        self.server.stop(signal.SIGKILL)
        folder, self.server = self.server, None
        code, out, err = self.end(put, documents(1200, 1201))
        self.assertEqual(code, 6, err)
        self.assertIn(f"the connection to {url} was lost", err)
        stored = {json.loads(line)["id"] for line in
                  self.good("export", "more", "--documents", "--store", folder.store, "--format", "jsonl").splitlines()}
        for line in told:
            self.assertIn(json.loads(line)["id"], stored)  # what was acknowledged is there
        shutil.rmtree(folder.folder)


class Https(Remote):
    def certificate(self):
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                               "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem",
                               "-out", "cert.pem"], cwd=self.folder, capture_output=True, text=True)
        if made.returncode:
            self.skipTest(made.stderr)
        subprocess.run("cat key.pem cert.pem > both.pem", shell=True, cwd=self.folder, check=True)
        return os.path.join(self.folder, "both.pem")

    def trust(self):
        os.environ["SSL_CERT_FILE"] = os.path.join(self.folder, "cert.pem")
        self.addCleanup(os.environ.pop, "SSL_CERT_FILE")

    def test_all(self):
        both = self.certificate()
        self.serve()
        url = f"https://127.0.0.1:{Between(self.server.port, both).port}"
        self.fails(6, f"cannot reach {url}: SSL certificate problem", "status", "--server", url)
        self.trust()
        self.good("put", "posts", "-", "--from", "jsonl", "--server", url, given=documents(0, 3000))
        self.assertIn("rebuilt", self.good("rebuild", "posts", "--server", url))
        self.assertEqual(len(self.good("export", "posts", "--server", url).splitlines()), 3000)
        wrong = url.replace("127.0.0.1", "localhost")
        self.fails(6, "SSL", "status", "--server", wrong)

    def test_what_tls_holds_is_heard(self):
        """A row that was decrypted with what came before it is told, though the input gives nothing."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate())
        self.trust()
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        large = b'{"id":"%s"}' % (b"x" * (65536 - 9))  # a whole frame, which ends within a record of TLS

        def answer():
            with context.wrap_socket(listener.accept()[0], server_side=True) as s:
                s.recv(65536)
                s.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + sharing.frame(1, b"GFSH\0\0\0\1"))
                s.sendall(sharing.frame(16) + sharing.frame(24))
                got = b""
                while b"standard input" not in got:  # the stream's name
                    got += s.recv(65536)
                s.sendall(sharing.frame(25, b"\x05") + sharing.frame(19, large) + sharing.frame(19, b'{"id":"small"}'))
                while b"\x04more\n" not in got:  # bytes of it
                    got += s.recv(65536)
                s.sendall(sharing.frame(26, b"\0\0\0"))

        threading.Thread(target=answer, daemon=True).start()
        p = self.start("put", "x", "-", "--from", "jsonl", "--results", "each", "--format", "jsonl",
                       "--server", "https://127.0.0.1:%d" % listener.getsockname()[1])
        lines = []
        reading = threading.Thread(target=lambda: [lines.append(line) for line in p.stdout])
        reading.start()
        waits_until(lambda: len(lines) == 2, 30)
        self.assertEqual(lines, [large.decode() + "\n", '{"id":"small"}\n'])
        p.stdin.write("more\n")
        p.stdin.close()
        self.assertEqual((p.wait(sharing.LONG), p.stderr.read()), (0, ""))
        reading.join()
        p.stdin = p.stdout = p.stderr = None


if __name__ == "__main__":
    unittest.main(verbosity=2)
