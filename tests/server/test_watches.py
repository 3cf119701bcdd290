"""What is new: alerts of a real server at a real receiver, their signature, tries and bound."""
import fcntl
import hashlib
import hmac
import http.server
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from served import PROGRAM, Served

TOPICS = [["battery", "charge", "drain", "power"], ["screen", "crack", "glass", "pixel"],
          ["camera", "photo", "blur", "lens"], ["sound", "speaker", "volume", "noise"]]
FILL = [f"word{i}" for i in range(60)]
SECRET = b"sixteen bytes or more of it"


def posts(n, seed=3):
    r = random.Random(seed)
    return [{"id": str(i), "time": 1790000000000 + i * 3600000,
             "text": " ".join([r.choice(TOPICS[i % 4]) for _ in range(4)] + r.sample(FILL, 5))}
            for i in range(n)]


def topic(first, n, seed=5):
    r = random.Random(seed + first)
    return [{"id": f"n{i}", "text": "update install crash " + " ".join(r.sample(FILL, 5))}
            for i in range(first, first + n)]


class Receiver:
    """An HTTP server that fails so many times first; and what it was sent: (time, headers, body)."""

    def __init__(self, failures=0):
        receiver = self
        self.got, self.failures = [], failures

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((time.monotonic(), dict(self.headers), body))
                self.send_response(503 if len(receiver.got) <= receiver.failures else 204)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def wait(until, seconds=120):
    end = time.monotonic() + seconds
    while not until():
        if time.monotonic() > end:
            raise AssertionError("it did not come to be")
        time.sleep(0.05)


class Local:
    """The command on a store of its own."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.folder.name, "store")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def run(self, *words, stdin=None):
        return subprocess.run([PROGRAM, "--store", self.store, *words], input=stdin, text=True,
                              capture_output=True, timeout=300)

    def rows(self, *words, stdin=None):
        done = self.run(*words, "--format", "jsonl", stdin=stdin)
        if done.returncode:
            raise AssertionError(done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def put(self, documents):
        self.rows("put", "c", stdin="".join(json.dumps(d) + "\n" for d in documents))

    def build(self, n=400):
        self.put(posts(n))
        self.rows("config", "set", "c", "k=4")
        self.rows("rebuild", "c")


class Serving(unittest.TestCase):
    def begin(self, server):
        server.put("c", posts(400))
        server.json("PATCH", "/v1/collections/c/configurations/default?set=k%3D4")
        server.rebuild("c")

    def add(self, server, when, url):
        return server.json("POST", "/v1/collections/c/watches?" + "&".join(
            (f"when={when.replace(' ', '%20').replace('>', '%3E')}", f"post={url}")))

    def test_within_a_minute(self):
        """19 documents of a topic tell nothing; the 20th is told, though its receiver fails twice."""
        with Served() as server, Receiver(failures=2) as receiver:
            self.begin(server)
            self.add(server, "new >= 20", receiver.url)
            server.put("c", topic(0, 19))
            wait(lambda: any("cluster" in row for row in server.json("GET", "/v1/collections/c/new")))
            self.assertEqual(receiver.got, [])
            begun = time.monotonic()
            server.put("c", topic(19, 1))
            wait(lambda: len(receiver.got) >= 3)
            first, third = receiver.got[0][0] - begun, receiver.got[2][0] - begun
            print(f"first try {first:.1f} s after the 20th document, delivered after {third:.1f} s")
            self.assertLess(third, 60)
            bodies = {body for _, _, body in receiver.got}
            self.assertEqual(len(bodies), 1)
            self.assertEqual(len({h["Grouperfish-Alert"] for _, h, _ in receiver.got}), 1)
            told = json.loads(bodies.pop())
            self.assertEqual((told["kind"], told["size"], told["when"]), ("new", 20, "new >= 20"))
            wait(lambda: server.json("GET", "/v1/collections/c/alerts")[0]["state"] == "delivered")
            alert, = server.json("GET", "/v1/collections/c/alerts")
            self.assertEqual((alert["tries"], alert["cluster"]), (3, told["cluster"]))
            new, = server.json("GET", "/v1/collections/c/new")
            self.assertEqual((new["cluster"], new["size"]), (told["cluster"], 20))
            # It grows, under its id, and is told no more.
            server.put("c", topic(20, 5))
            wait(lambda: server.json("POST", "/v1/collections/c/watches/run")["candidates"] == 1)
            self.assertEqual(server.json("GET", "/v1/collections/c/new")[0]["cluster"],
                             told["cluster"])
            self.assertEqual(len(server.json("GET", "/v1/collections/c/alerts")), 1)
            self.assertEqual(len(receiver.got), 3)
            # Whoever asks over HTTP gets the same cluster, and a page that was kept is known to be old.
            path = f"/v1/collections/c/clusters/{told['cluster']}"
            shown = server.json("GET", path)
            self.assertEqual((shown["size"], shown["candidate"]), (25, True))
            tag = server.ask("GET", "/v1/collections/c/clusters").headers["ETag"]
            server.json("POST", "/v1/collections/c/watches/run")
            server.put("c", topic(25, 3))
            wait(lambda: server.json("GET", path)["size"] == 28)
            self.assertNotEqual(server.ask("GET", "/v1/collections/c/clusters").headers["ETag"], tag)

    def test_a_silent_receiver(self):
        """One that never answers takes the time of one try, not of all its alerts, from other rules."""
        with Served() as server, Receiver() as receiver, socket.create_server(("127.0.0.1", 0)) as silent:
            self.begin(server)
            self.add(server, "new >= 5", f"http://127.0.0.1:{silent.getsockname()[1]}/")
            self.add(server, "new >= 5", receiver.url)
            server.put("c", topic(0, 12) + [
                {"id": f"m{i}", "text": "refund invoice billing " + d["text"].split(" ", 3)[3]}
                for i, d in enumerate(topic(12, 12))])
            wait(lambda: len(receiver.got) >= 2)
            alerts = server.json("GET", "/v1/collections/c/alerts")
            self.assertEqual([(a["watch"], a["tries"]) for a in alerts][:2], [(1, 1), (1, 0)])
            # The other one has its turn later.
            wait(lambda: server.json("GET", "/v1/collections/c/alerts")[1]["tries"] > 0)

    def test_at_home(self):
        """What runs a command or names a file is taken from a command on the machine alone."""
        with Served() as server:
            server.put("c", posts(8))
            for name in ("exec", "mail", "secret-file"):
                answer = server.ask("POST", f"/v1/collections/c/watches?when=new%3E%3D5&{name}=x")
                self.assertEqual(answer.status, 400)
                self.assertIn(b"on the store's own machine", answer.body)
            there = ["--server", f"http://127.0.0.1:{server.port}"]
            for name in ("exec", "mail", "secret-file"):
                done = subprocess.run(
                    [PROGRAM, *there, "watch", "add", "c", "--when", "new >= 5", f"--{name}", "x"],
                    text=True, capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 2)
                self.assertIn("on the store's own machine", done.stderr)
            for place in (there, ["--store", server.store]):
                self.assertIn("on the store's own machine", self.ask_model(place, {"exec": "touch x"}))
            self.assertEqual(server.json("GET", "/v1/collections/c/watches"), [])

    def ask_model(self, place, way):
        """The answer of MCP to a model that adds a watch."""
        requests = [{"id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
            {"id": 2, "method": "tools/call", "params": {"name": "watch_add", "arguments": {
                "collection": "c", "when": "new >= 5", **way}}}]
        lines = "".join(json.dumps({"jsonrpc": "2.0", **r}) + "\n" for r in requests)
        done = subprocess.run([PROGRAM, *place, "mcp", "--allow-writes", "--allow-network"], input=lines, text=True,
                              capture_output=True, timeout=60)
        return done.stdout.splitlines()[-1] if done.stdout else done.stderr


class Command(unittest.TestCase):
    def test_ways_and_ids(self):
        with Local() as c, Receiver() as receiver:
            c.build()
            with open(c.path("key"), "wb") as f:
                f.write(SECRET + b"\n")
            c.rows("watch", "add", "c", "--when", "new >= 5", "--exec", f"cat > {c.path('got')}")
            c.rows("watch", "add", "c", "--when", "new >= 20", "--mail", c.path("box"))
            c.rows("watch", "add", "c", "--when", "new >= 5 and size >= 10", "--post", receiver.url,
                   "--secret-file", c.path("key"))
            c.put(topic(0, 12))
            run, = c.rows("watch", "run", "c")
            self.assertEqual((run["candidates"], run["told"], run["delivered"]), (1, 2, 2))
            (_, headers, body), = receiver.got
            with open(c.path("got"), "rb") as f:
                self.assertEqual({**json.loads(f.read()), "alert": 0, "watch": 0, "when": "", "time": ""},
                                 {**json.loads(body), "alert": 0, "watch": 0, "when": "", "time": ""})
            when, signature = headers["Grouperfish-Signature"].split(",")
            signed = hmac.new(SECRET, when[2:].encode() + b"." + body, hashlib.sha256).hexdigest()
            self.assertEqual(signature, "v1=" + signed)
            self.assertLess(abs(time.time() - int(when[2:])), 300)
            c.put(topic(12, 10))
            again, = c.rows("watch", "run", "c")
            self.assertEqual((again["told"], again["delivered"]), (1, 1))
            with open(c.path("box")) as f:
                mail = f.read()
            self.assertTrue(mail.startswith("From grouperfish@localhost "))
            first = c.rows("new", "c")[0]["cluster"]
            self.assertEqual({a["cluster"] for a in c.rows("alerts", "c")}, {first})
            # The rebuild's cluster that has its documents takes its id.
            c.rows("config", "set", "c", "k=5")
            c.rows("rebuild", "c")
            sizes = {row["cluster"]: row["size"] for row in c.rows("clusters", "c")}
            self.assertEqual(sizes[first], 22)
            self.assertEqual(c.rows("watch", "run", "c")[0]["told"], 0)
            self.assertEqual(c.run("verify").returncode, 0)

    def test_a_cluster_before_the_rebuild(self):
        with Local() as c:
            c.build()
            c.put(topic(0, 12))
            self.assertIn("no cluster 5", c.run("cluster", "c", "5").stderr)
            c.rows("watch", "run", "c")
            *others, new = c.rows("clusters", "c")
            self.assertEqual((new["candidate"], new["size"]), (True, 12))
            self.assertNotIn("share", new)
            self.assertEqual([row for row in others if "candidate" in row], [])
            id = str(new["cluster"])
            shown, = c.rows("cluster", "c", id, "--docs", "3")
            self.assertEqual((shown["label"], shown["candidate"], len(shown["documents"])), (new["label"], True, 3))
            # Pages belong together.
            page, = c.rows("members", "c", id, "--limit", "5")
            got = [d["id"] for d in page["documents"]]
            while "next" in page:
                page, = c.rows("members", "c", id, "--limit", "5", "--cursor", page["next"])
                got += [d["id"] for d in page["documents"]]
            self.assertEqual(sorted(got), sorted(f"n{i}" for i in range(12)))
            # Each document tells of it, and of the cluster that it would be in without it.
            pending = c.rows("clusters", "c", "--pending")
            self.assertEqual({(row["cluster"], row["candidate"]) for row in pending}, {(new["cluster"], True)})
            place, = c.rows("doc", "c", "n3")[0]["memberships"]
            self.assertEqual((place["cluster"], place["candidate"], place["provisional"]), (new["cluster"], True, True))
            self.assertIn("runner_up", place)
            # It is named, hidden and noted of; what changes groups waits for the build that has it.
            c.rows("rename", "c", id, "updates")
            self.assertEqual(c.rows("cluster", "c", "label:updates")[0]["cluster"], new["cluster"])
            refused = c.run("cluster", "merge", "c", "1", id)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("rebuild first", refused.stderr)
            # Where the build has a cluster of these documents it has the id, and the name.
            c.rows("config", "set", "c", "k=5")
            c.rows("rebuild", "c")
            self.assertEqual([row["label"] for row in c.rows("clusters", "c") if row["cluster"] == new["cluster"]],
                             ["updates"])

    def test_an_id_that_ends(self):
        """Where the build has no cluster for it, diff tells of where its documents are."""
        with Local() as c:
            c.build()
            c.put(topic(0, 6))
            c.rows("watch", "run", "c")
            id = c.rows("clusters", "c")[-1]["cluster"]
            c.rows("rebuild", "c", "--set", "k=1", "--force")
            gone = [row for row in c.rows("diff", "c") if row["cluster"] == id]
            self.assertEqual([(row["change"], row["candidate"], row["size"]) for row in gone], [("gone", 6, 0)])
            self.assertEqual([part["documents"] for part in gone[0]["split"]], [6])
            self.assertIn("no cluster", c.run("cluster", "c", str(id)).stderr)
            # Nobody gets it again.
            c.put([{"id": f"m{i}", "text": "refund invoice billing " + " ".join(FILL[:5])} for i in range(12)])
            c.rows("watch", "run", "c")
            self.assertGreater(c.rows("clusters", "c")[-1]["cluster"], id)

    def test_an_open_number_grows(self):
        """Where the number of clusters is open, the build has one more, under the candidate's id."""
        with Local() as c:
            c.put(posts(400))
            c.rows("rebuild", "c")
            before = len(c.rows("clusters", "c"))
            c.put(topic(0, 20))
            c.rows("watch", "run", "c")
            id = c.rows("clusters", "c")[-1]["cluster"]
            c.rows("rebuild", "c")
            sizes = {row["cluster"]: row["size"] for row in c.rows("clusters", "c")}
            self.assertEqual((len(sizes), sizes[id]), (before + 1, 20))
            new = [row for row in c.rows("diff", "c") if row["cluster"] == id]
            self.assertEqual([(row["change"], row["candidate"], row["added"]) for row in new], [("new", 20, 20)])
            self.assertEqual(c.run("verify").returncode, 0)

    def test_errors(self):
        with Local() as c:
            c.put(posts(8))
            for when, says in (("new >=", "column 7"), ("nw >= 3", "column 1"),
                               ("new >= 5 or rising >= 3", "column 20"), ("(new >= 5", "column 10"),
                               ("new >= 3 and rising z >= 2", "never holds"),
                               ("cluster = 7 and (size >= 5 and cluster = 8)", "one id"), ("new >= 5 x", "column 10")):
                done = c.run("watch", "add", "c", "--when", when, "--mail", c.path("box"))
                self.assertEqual(done.returncode, 2)
                self.assertIn(says, done.stderr)
            for words, says in ((["--post", "ftp://x"], "http"), ([], "one of"),
                                (["--post", "http://x", "--secret-file", "/nowhere"], "/nowhere"),
                                (["--mail", "x", "--exec", "y"], "one of")):
                done = c.run("watch", "add", "c", "--when", "new >= 5", *words)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(says, done.stderr)
            self.assertEqual(c.rows("watch", "list", "c"), [])
            self.assertIn("no watch 3", c.run("watch", "delete", "c", "3").stderr)

    def test_a_store_from_elsewhere(self):
        """A copy of a store, such as a stranger's, runs no command, writes no file and posts nothing."""
        with Local() as c, Receiver() as receiver:
            c.build()
            c.rows("watch", "add", "c", "--when", "new >= 5", "--exec", f"touch {c.path('ran')}")
            c.rows("watch", "add", "c", "--when", "new >= 5", "--mail", c.path("box"))
            c.rows("watch", "add", "c", "--when", "new >= 5", "--post", receiver.url)
            c.put(topic(0, 12))
            own, c.store = c.store, c.path("copy")
            shutil.copytree(own, c.store)
            for w in c.rows("watch", "list", "c"):
                self.assertTrue(w["away"])
            run, = c.rows("watch", "run", "c")
            self.assertEqual((run["told"], run["delivered"], run["waiting"]), (3, 0, 3))
            self.assertIn("add it here", c.rows("alerts", "c")[0]["problem"])
            self.assertEqual((os.path.exists(c.path("ran")), os.path.exists(c.path("box")), receiver.got),
                             (False, False, []))
            # What is added here is sent, and the store that was copied sends as before, also from another place.
            c.rows("watch", "add", "c", "--when", "new >= 5", "--exec", f"touch {c.path('ran')}")
            self.assertEqual(c.rows("watch", "run", "c")[0]["delivered"], 1)
            c.store = c.path("moved")
            os.rename(own, c.store)
            self.assertEqual(c.rows("watch", "run", "c")[0]["delivered"], 3)
            self.assertNotIn("away", c.rows("watch", "list", "c")[0])

    def test_keys_in_addresses(self):
        """What whoever may read sees of an address is nothing that lets one post there."""
        with Local() as c:
            c.put(posts(8))
            for path, shown in (("services/T024BE7LD/B024/x0x1SECRETsecretSECRET42", "services/T024BE7LD/B024/…"),
                                ("hook?key=s", "hook"), ("a%2Fb/0123456789abcdef/end#x", "a%2Fb/…/end"), ("", "")):
                added, = c.rows("watch", "add", "c", "--when", "new >= 5", "--post", f"https://hooks.example.org:444/{path}")
                self.assertEqual(added["target"], f"https://hooks.example.org:444/{shown}")
            self.assertEqual([w["target"] for w in c.rows("watch", "list", "c")][0],
                             "https://hooks.example.org:444/services/T024BE7LD/B024/…")

    def test_problem_is_kept_and_tried_again(self):
        with Local() as c:
            c.build()
            c.rows("watch", "add", "c", "--when", "new >= 5", "--exec", f"test -e {c.path('go')}")
            c.put(topic(0, 12))
            self.assertEqual(c.rows("watch", "run", "c")[0]["waiting"], 1)
            alert, = c.rows("alerts", "c")
            self.assertEqual((alert["state"], alert["tries"]), ("waiting", 1))
            self.assertIn("ended with 1", alert["problem"])
            open(c.path("go"), "w").close()
            self.assertEqual(c.rows("watch", "run", "c")[0]["delivered"], 1)
            alert, = c.rows("alerts", "c")
            self.assertEqual((alert["state"], alert["tries"]), ("delivered", 2))

    def test_a_file_that_holds_up(self):
        """A pipe that nobody reads, and a file that another has locked: told, and not waited for."""
        with Local() as c:
            c.build()
            os.mkfifo(c.path("pipe"))
            c.rows("watch", "add", "c", "--when", "new >= 5", "--mail", c.path("pipe"))
            c.rows("watch", "add", "c", "--when", "new >= 5", "--mail", c.path("box"))
            c.put(topic(0, 12))
            with open(c.path("box"), "w") as box:
                fcntl.flock(box, fcntl.LOCK_EX)
                self.assertEqual(c.rows("watch", "run", "c")[0]["waiting"], 2)
            run, = c.rows("watch", "run", "c")
            self.assertEqual((run["waiting"], run["delivered"]), (1, 1))
            with open(os.open(c.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)):
                self.assertEqual(c.rows("watch", "run", "c")[0]["waiting"], 1)
            self.assertIn("no file of mail", c.rows("alerts", "c")[0]["problem"])

    def test_killed_between_sending_and_noting(self):
        """The receiver has it, the process is killed before it can say so: it comes again, the same."""
        with Local() as c:
            c.build()
            c.rows("watch", "add", "c", "--when", "new >= 5",
                   "--exec", f"cat >> {c.path('got')}; echo >> {c.path('got')}; "
                             f"test -e {c.path('go')} || sleep 20")
            c.put(topic(0, 12))
            run = subprocess.Popen([PROGRAM, "--store", c.store, "watch", "run", "c"])
            wait(lambda: os.path.exists(c.path("got")) and c.read("got").endswith("\n"))
            run.send_signal(signal.SIGKILL)
            run.wait()
            open(c.path("go"), "w").close()
            self.assertEqual(c.rows("alerts", "c")[0]["state"], "waiting")
            self.assertEqual(c.rows("watch", "run", "c")[0]["delivered"], 1)
            with open(c.path("got")) as f:
                first, second = f.read().splitlines()
            self.assertEqual(first, second)
            self.assertEqual(c.rows("alerts", "c")[0]["state"], "delivered")

    def test_shuffled_times_tell_nothing(self):
        """A small form of bench/watch: documents of no time in particular, a look after each tenth."""
        told = 0
        for seed in range(3):
            with Local() as c:
                all_posts = posts(600)
                random.Random(seed).shuffle(all_posts)
                for i, post in enumerate(all_posts):
                    post["time"] = 1790000000000 + i * 3600000
                c.put(all_posts[:400])
                c.rows("config", "set", "c", "k=4")
                c.rows("rebuild", "c")
                c.rows("watch", "add", "c", "--when", "new >= 5 or rising z >= 0", "--mail",
                       c.path("box"))
                for first in range(400, 600, 50):
                    c.put(all_posts[first:first + 50])
                    told += c.rows("watch", "run", "c")[0]["told"]
                c.rows("rebuild", "c")
                told += c.rows("watch", "run", "c")[0]["told"]
        self.assertEqual(told, 0)


if __name__ == "__main__":
    unittest.main()
