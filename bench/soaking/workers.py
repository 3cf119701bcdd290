"""Those who use a server for hours: each is a thread that does one thing at a pace of its own.

A kind is a method `kind_NAME` of Load with the words and the pace that its decorator gives it. What
it does is timed; what it raises is an error, but Busy (503, exit code 4), which is counted apart.
"""
import http.client
import itertools
import json
import os
import random
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse
import zlib

from ledger import Ledger

SUBJECTS = [
    "engine wheel brake tyre road motor gear clutch petrol garage driver lane".split(),
    "guitar chord string melody band song drum bass tune concert piano choir".split(),
    "bread flour oven dough yeast crust butter salt sugar baker cake recipe".split(),
    "planet orbit comet star moon galaxy telescope rocket gravity sun mars sky".split(),
    "garden soil seed flower bloom tree leaf root spade rain bee compost".split(),
    "window browser tab page button menu crash video update password login screen".split(),
]
COMMON = "the a and it was with new old very good bad time people work again always never".split()


class Busy(Exception):
    """The server was busy, and said so."""


class Wrong(Exception):
    """An answer that should not have been given."""


class Kind:
    def __init__(self, function, words, seconds, threads):
        self.function, self.words, self.seconds, self.threads = function, words, seconds, threads
        self.times, self.errors, self.busy = [], 0, 0


def kind(words, seconds, threads=1):
    """Mark a method as a kind: its words in the report, and the mean seconds from one to the next."""
    def mark(function):
        function.kind = (words, seconds, threads)
        return function
    return mark


def quote(text):
    return urllib.parse.quote(text, safe="")


class Load:
    IDS = 3000  # documents of each writer

    def __init__(self, server, program, folder, seed, pace=1.0):
        self.server, self.program, self.folder, self.pace = server, program, folder, pace
        self.seed, self.ended, self.first_errors = seed, threading.Event(), []
        self.ledgers = {"posts": Ledger(), "news": Ledger()}  # by collection: id, text
        self.rows = Ledger()                                  # of the table: key, number
        self.tweets, self.log_lines, self.papers = 0, 0, 0
        self.backups, self.backup = 0, None                   # the last that was whole
        self.lock, self.local = threading.Lock(), threading.local()
        self.kinds, self.threads = [], []
        for name in sorted(dir(type(self))):
            function = getattr(self, name)
            if hasattr(function, "kind"):
                self.kinds.append(Kind(function, *function.kind))

    # ---- threads ---------------------------------------------------------------------------------

    def begin(self):
        for k in self.kinds:
            for n in range(k.threads):
                self.threads.append(threading.Thread(target=self.work, args=(k, n), daemon=True))
        for thread in self.threads:
            thread.start()

    def end(self, seconds=120):
        """Those that have not ended in that time."""
        self.ended.set()
        until = time.monotonic() + seconds
        for thread in self.threads:
            thread.join(max(until - time.monotonic(), 0))
        return sum(thread.is_alive() for thread in self.threads)

    def work(self, k, n):
        self.local.random = random.Random(f"{self.seed} {k.words} {n}")
        self.local.name, self.local.n = f"{k.function.__name__}-{n}", itertools.count()
        self.local.connection = None
        while not self.ended.wait(self.random().expovariate(self.pace / k.seconds)):
            begun = time.perf_counter()
            try:
                k.function()
                k.times.append(time.perf_counter() - begun)
            except Busy:
                k.busy += 1
            except Exception as error:  # pylint: disable=broad-except # counted, and told
                k.errors += 1
                self.drop_connection()
                if len(self.first_errors) < 100:
                    told = " ".join(str(error).split())
                    self.first_errors.append(f"{time.strftime('%T')} {k.words}: {type(error).__name__}: {told[:400]}")
        self.drop_connection()

    def random(self):
        return self.local.random

    def text(self):
        """Some twenty words, most of them of one subject."""
        r = self.random()
        subject = r.choice(SUBJECTS)
        return " ".join(r.choice(COMMON if r.random() < 0.4 else subject if r.random() < 0.9
                                 else r.choice(SUBJECTS)) for _ in range(r.randint(6, 34)))

    # ---- requests --------------------------------------------------------------------------------

    def drop_connection(self):
        if self.local.connection:
            self.local.connection.close()
        self.local.connection = None

    def ask(self, method, path, body=None, good=(200, 201, 202), **headers):
        """An answer's body, over a connection that is kept."""
        for again in (False, True):
            if not self.local.connection:
                self.local.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
            fresh = self.local.connection.sock is None
            try:
                self.local.connection.request(method, path, body=body, headers=headers)
                answer = self.local.connection.getresponse()
                told = answer.read()
                break
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.drop_connection()  # the server may close one that has waited for a minute
                if fresh or again:
                    raise
        if answer.status == 503:
            raise Busy
        if answer.status not in good:
            raise Wrong(f"{method} {path}: {answer.status} {told[:300]!r}")
        return told

    def json(self, method, path, body=None, good=(200, 201, 202), **headers):
        return json.loads(self.ask(method, path, body, good, **headers))

    def run(self, *words, given="", good=(0,)):
        """A command's standard output; it finds the server by the store's socket."""
        done = subprocess.run([self.program, *words, "--store", self.server.store], input=given, text=True,
                              capture_output=True, timeout=300, check=False)
        if done.returncode == 4:
            raise Busy
        if done.returncode not in good:
            raise Wrong(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr[-300:]}")
        return done.stdout

    # ---- documents -------------------------------------------------------------------------------

    def document(self, collection, id):
        r = self.random()
        text = f"{self.text()} version {next(self.local.n)}"
        self.ledgers[collection].asked(id, text)
        return {"id": id, "text": text, "time": 1500000000 + r.randrange(100000000), "type": r.choice("abc")}

    def own_id(self):
        return f"{self.local.name}-{self.random().randrange(self.IDS)}"

    def settle(self, collection, documents):
        for d in documents:
            self.ledgers[collection].acknowledged(d["id"], d["text"])

    @kind("put, one document", 0.12, threads=2)
    def kind_put(self):
        d = self.document("posts", self.own_id())
        self.json("POST", "/v1/collections/posts/documents", json.dumps(d))
        self.settle("posts", [d])

    @kind("put, 100 documents", 2)
    def kind_put_many(self):
        many = {id: self.document("news", id) for id in (self.own_id() for _ in range(100))}
        told = self.json("POST", "/v1/collections/news/documents", "\n".join(map(json.dumps, many.values())))
        if told["refused"]:
            raise Wrong(f"put of 100: {told}")
        self.settle("news", many.values())

    @kind("put, by a command on the socket", 5)
    def kind_put_command(self):
        many = {id: self.document("news", id) for id in (self.own_id() for _ in range(20))}
        self.run("put", "news", "-", given="\n".join(map(json.dumps, many.values())))
        self.settle("news", many.values())

    @kind("put and delete", 1)
    def kind_delete(self):
        many = [self.document("posts", id) for id in {self.own_id() for _ in range(4)}]
        self.json("POST", "/v1/collections/posts/documents", "\n".join(map(json.dumps, many)))
        self.settle("posts", many)
        gone = many[:2]
        for d in gone:
            self.ledgers["posts"].asked(d["id"], None)
        told = self.json("DELETE", "/v1/collections/posts/documents?" + "&".join(f"id={d['id']}" for d in gone))
        if told["deleted"] != len(gone):
            raise Wrong(f"delete: {told}")
        for d in gone:
            self.ledgers["posts"].acknowledged(d["id"], None)

    @kind("collection made, filled and deleted", 15)
    def kind_collection(self):
        name = f"short-{next(self.local.n)}"
        self.json("POST", f"/v1/collections/{name}/documents",
                  "\n".join(json.dumps({"id": str(n), "text": self.text()}) for n in range(60)))
        self.json("POST", f"/v1/collections/{name}/builds")
        self.json("DELETE", f"/v1/collections/{name}")
        self.ask("GET", f"/v1/collections/{name}", good=(404,))

    @kind("rebuild, until it is served", 20)
    def kind_rebuild(self):
        collection = self.random().choice(list(self.ledgers))
        self.json("POST", f"/v1/collections/{collection}/builds?force")
        while True:
            state = [t["state"] for t in self.json("GET", "/v1/tasks") if t["collection"] == collection][0]
            if state not in ("queued", "running"):
                break
            if self.ended.wait(0.1):
                return
        if state != "done":
            raise Wrong(f"a rebuild of {collection} is {state}")

    # ---- reads -----------------------------------------------------------------------------------

    def known(self):
        """(collection, id, text) of a document that is surely there; what nobody writes just now."""
        collection = self.random().choice(list(self.ledgers))
        values = self.ledgers[collection].may
        for _ in range(50):
            try:
                id = self.random().choice(list(values))
            except IndexError:
                break
            if len(values[id]) == 1 and values[id][0]:
                return collection, id, values[id][0]
        raise Busy

    @kind("document with its memberships", 0.04, threads=2)
    def kind_document(self):
        collection, id, text = self.known()
        told = self.json("GET", f"/v1/collections/{collection}/documents/{id}", good=(200, 404))
        if told.get("text") != text and self.ledgers[collection].may[id] == (text,):
            raise Wrong(f"{collection}, {id}: {told}, not {text!r}")

    @kind("search", 0.1, threads=2)
    def kind_search(self):
        r = self.random()
        query = r.choice(r.choice(SUBJECTS))
        query = r.choice([query, f'"{query} {r.choice(COMMON)}"', query[:3] + "*", f"{query} -{r.choice(COMMON)}"])
        self.json("GET", f"/v1/collections/{r.choice(['posts', 'news'])}/search?query={quote(query)}")

    @kind("clusters", 0.5)
    def kind_clusters(self):
        self.json("GET", f"/v1/collections/{self.random().choice(['posts', 'news'])}/clusters", good=(200, 404))

    @kind("cluster with its best documents", 0.1)
    def kind_cluster(self):
        r = self.random()
        self.json("GET", f"/v1/collections/{r.choice(['posts', 'news'])}/clusters/{r.randint(1, 6)}?docs=20", good=(200, 404))

    @kind("cluster's documents, all pages", 3)
    def kind_members(self):
        path = f"/v1/collections/{self.random().choice(['posts', 'news'])}/clusters/{self.random().randint(1, 4)}/documents?limit=500"
        page = self.json("GET", path, good=(200, 404))
        while page.get("next"):
            page = self.json("GET", f"{path}&cursor={quote(page['next'])}", good=(200, 404))

    @kind("trends", 2)
    def kind_trends(self):
        r = self.random()
        self.json("GET", f"/v1/collections/{r.choice(['posts', 'news'])}/clusters?by={r.choice(['day', 'week', 'month'])}", good=(200, 404))

    @kind("export", 20)
    def kind_export(self):
        self.ask("GET", f"/v1/collections/{self.random().choice(['posts', 'news'])}/memberships?with-text", good=(200, 404))

    @kind("report, diff, terms, evaluation", 10)
    def kind_reports(self):
        path = self.random().choice(["report", "diff", "terms?limit=50", "evaluation?label-field=type"])
        self.ask("GET", f"/v1/collections/posts/{path}", good=(200, 404))

    @kind("assign 20 texts", 5)
    def kind_assign(self):
        self.ask("POST", "/v1/collections/news/assignments",
                 "\n".join(json.dumps({"id": str(n), "text": self.text()}) for n in range(20)), good=(200, 404))

    @kind("page, health, metrics, description", 1)
    def kind_page(self):
        for path in ("/", "/healthz", "/readyz", "/metrics", "/v1/stats"):
            self.ask("GET", path)

    @kind("search and document, by a command on the socket", 4)
    def kind_read_command(self):
        self.run("search", "posts", self.random().choice(SUBJECTS[0]), "--format", "jsonl", good=(0, 1))
        collection, id, _ = self.known()
        self.run("doc", collection, id, good=(0, 1))

    @kind("label, pin, configuration", 15)
    def kind_settings(self):
        r = self.random()
        self.json("PATCH", f"/v1/collections/posts/configurations/default?set=k={r.choice(['auto', '6', '8'])}")
        self.json("PUT", f"/v1/collections/posts/clusters/{r.randint(1, 4)}/label?text={quote('named ' + str(next(self.local.n)))}",
                  good=(200, 404))
        self.json("GET", "/v1/collections/posts/builds")

    # ---- applications ----------------------------------------------------------------------------

    @kind("tweets import, 20", 3)
    def kind_tweets(self):
        first = next(self.local.n) * 20
        lines = [json.dumps({"created_at": time.strftime("%a %b %d %H:%M:%S +0000 %Y", time.gmtime(1460000000 + n * 7)), "id_str": str(n), "lang": "en",
                             "text": f"{self.text()} soak #tag{n % 9}", "user": {"name": "B", "screen_name": f"user{n % 50}"}}) for n in range(first, first + 20)]
        told = self.json("POST", "/v1/tweets", "\n".join(lines))
        if told[0]["new"] != 20:
            raise Wrong(f"tweets: {told}")
        self.tweets += 20

    @kind("tweets search, map, top", 1)
    def kind_tweets_read(self):
        r = self.random()
        word = r.choice(r.choice(SUBJECTS))
        self.ask("GET", r.choice([f"/v1/tweets?token={word}", f"/v1/tweets?token={word[:3]}*&limit=5", "/v1/tweets/top"]), good=(200, 404))

    @kind("papers import-cdx, 20", 5)
    def kind_papers(self):
        first = next(self.local.n) * 20
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
        lines = []
        for n in range(first, first + 20):
            r = random.Random(n)
            digest = "".join(r.choice(letters) for _ in range(32))
            lines.append(f"org,example)/{n}.pdf 20170706005952 http://example.org/{n}.pdf application/pdf 200 {digest} - - 500 {n} item/a.warc.gz")
        told = self.json("POST", "/v1/papers/cdx", "\n".join(lines))
        if told[0]["new"] != 20:
            raise Wrong(f"papers: {told}")
        self.papers += 20

    @kind("log import, 50 lines", 5)
    def kind_log(self):
        first = next(self.local.n) * 50
        lines = []
        for n in range(first, first + 50):
            at = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(1400000000 + n))
            lines.append(f'10.0.{n // 250 % 250}.{n % 250} - - [{at}] "GET /{n} HTTP/1.1" 200 {n}\n')
        told = self.json("POST", "/v1/logs/web", "".join(lines))
        if told[0]["lines"] != 50:
            raise Wrong(f"log: {told}")
        self.log_lines += 50

    @kind("log report, find", 10)
    def kind_log_read(self):
        self.ask("GET", self.random().choice(["/v1/logs/web/report", "/v1/logs/web/lines?ip=10.0.0.1&limit=20"]), good=(200, 404))

    @kind("table row, put and read", 0.5)
    def kind_table(self):
        key, number = f"k{self.random().randrange(2000)}", next(self.local.n)
        self.rows.asked(key, number)
        self.json("PUT", f"/v1/tables/soak/row?key={key}&set=main:n={number}&set=list:{number % 7}=x")
        self.rows.acknowledged(key, number)
        told = self.json("GET", f"/v1/tables/soak/row?key={key}")
        if json.dumps(told).find(f'"n": {number}') < 0:
            raise Wrong(f"{key}: {told}, not {number}")

    # ---- backups, and those who mean no good -----------------------------------------------------

    @kind("backup, by a command on the socket", 90)
    def kind_backup(self):
        known = {name: ledger.known() for name, ledger in self.ledgers.items()}
        to = os.path.join(self.folder, f"backup-{next(self.local.n)}")
        self.run("backup", to)
        with self.lock:
            if self.backup:
                shutil.rmtree(self.backup[0])
            self.backup, self.backups = (to, known), self.backups + 1

    def send(self, data, seconds=15, family=socket.AF_INET, read=True):
        """Send bytes as they are, and read until the other end has had enough; what it answered."""
        address = ("127.0.0.1", self.server.port) if family == socket.AF_INET else os.path.join(self.server.store, "socket")
        told = b""
        with socket.socket(family) as s:
            s.settimeout(seconds)
            s.connect(address)
            try:
                s.sendall(data)
                if not read:
                    return b""
                s.shutdown(socket.SHUT_WR)
                while part := s.recv(1 << 16):
                    told = (told + part)[:4096]
            except TimeoutError:
                raise
            except OSError:
                pass  # the server has hung up
        return told

    @kind("hostile bytes over HTTP", 0.5)
    def kind_hostile(self):
        r = self.random()
        noise = bytes(r.randrange(256) for _ in range(r.randrange(2000)))
        post = b"POST /v1/collections/posts/documents HTTP/1.1\r\nHost: localhost\r\n"
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        bomb = packer.compress(b"\n" * (8 << 20)) + packer.flush()
        told = self.send(r.choice([
            noise, b"GET " + noise, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 100000 + b"\r\n\r\n",
            post + b"Content-Length: 5000\r\n\r\n" + noise, post + b"Content-Length: -1\r\n\r\n{}", post + b"Content-Length: 99999999999999999999\r\n\r\n{}",
            post + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n" + noise, post + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc",
            post + b"Content-Length: %d\r\n\r\n" % len(bomb) + bomb, post + b"Content-Length: 40000\r\n\r\n" + b"[" * 40000,
            b"GET /v1/collections/%s/documents/..%%2f..%%2fetc%%2fpasswd HTTP/1.1\r\nHost: localhost\r\n\r\n" % bytes(r.choices(range(33, 126), k=9)),
            b"GET /v1/collections/posts/search?query=%00%ff HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
            b"DELETE /v1/collections HTTP/1.1\r\nHost: localhost\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]))
        if told.startswith(b"HTTP/1.1 5") and not told.startswith((b"HTTP/1.1 501", b"HTTP/1.1 503", b"HTTP/1.1 505")):
            raise Wrong(f"{told[:300]!r}")

    @kind("clients that go away", 1)
    def kind_gone(self):
        self.send(self.random().choice([b"GET /v1/collections/posts/memberships?with-text HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                        b"POST /v1/collections/gone/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n{\"id\"",
                                        b"GET /v1/collect"]), read=False)

    @kind("slow clients, a byte each 0.3 s", 3, threads=4)
    def kind_slow(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as s:
            for byte in b"GET /v1/collections HTTP/1.1\r\nHost: local":
                try:
                    s.send(bytes([byte]))
                except OSError:
                    return
                if self.ended.wait(0.3):
                    return

    @kind("hostile bytes on the socket", 2)
    def kind_hostile_socket(self):
        r = self.random()
        hello = b"\0\0\0\x08\x01GFSH\0\0\0\x01"
        noise = bytes(r.randrange(256) for _ in range(r.randrange(1, 3000)))
        self.send(r.choice([noise, hello + noise, hello + b"\0\0\0\0\x02", b"\xff" * 70000, hello]), seconds=60, family=socket.AF_UNIX)
