#!/usr/bin/env python3
"""Two servers on one HBase behind nginx: either answers and accepts; one is killed in the middle of its rebuild, the other does that again."""
import collections
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import namespaces

SOURCE = os.environ["GROUPERFISH_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "server"))
from served import PROGRAM, Served  # noqa: E402

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
MINUTE = 60


def check(what, good, told=""):
    if not good:
        sys.exit(f"failed: {what} {told}")
    print("ok", what, flush=True)


class Sharing(Served):
    """A server of a store in HBase."""

    def __init__(self, url, *options):
        super().__init__(*options, described=False)
        self.store = url
        self.command[self.command.index("--store") + 1] = url

    def __exit__(self, *exits):
        if self.process.poll() != -signal.SIGKILL and not self.closed:
            super().__exit__(*exits)

    closed = False

    def close(self):
        self.closed = True
        return self.stop()

    def kill(self):
        self.told = True
        self.process.send_signal(signal.SIGKILL)


class Proxy:
    """nginx before the servers, by the page of docs/how-to."""

    def __init__(self, ports):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.folder = tempfile.mkdtemp(prefix="grouperfish-nginx-")
        with open(os.path.join(SOURCE, "docs", "how-to", "two-servers.md"), encoding="utf-8") as page:
            text = re.search(r"^```nginx\n(.*?)^```$", page.read(), re.M | re.S).group(1)
        for old, new in (("10.0.0.11:61732", f"127.0.0.1:{ports[0]}"), ("10.0.0.12:61732", f"127.0.0.1:{ports[1]}"), ("listen 61732", f"listen 127.0.0.1:{self.port}")):
            assert old in text, old
            text = text.replace(old, new)
        paths = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(os.path.join(self.folder, "nginx.conf"), "w", encoding="utf-8") as file:
            user = "user root;\n" if os.geteuid() == 0 else ""  # who may write into the folder
            file.write(f"{user}daemon off;\npid {self.folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}{text}}}\n")

    def __enter__(self):
        self.process = subprocess.Popen([NGINX, "-p", self.folder, "-c", os.path.join(self.folder, "nginx.conf"), "-e", "stderr"], stderr=subprocess.DEVNULL)
        end = time.monotonic() + MINUTE
        while True:
            try:
                ask(self.port, "GET", "/livez")
                return self
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, body=body, headers={"Content-Type": "application/x-ndjson"} if body else {})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else text
    finally:
        connection.close()


def posts(n, start=0):
    r = random.Random(start)
    subjects = [[f"s{s}w{w}" for w in range(40)] for s in range(12)]
    return "".join(json.dumps({"id": f"d{i}", "text": " ".join(r.choices(subjects[i % 12], k=25))}) + "\n" for i in range(start, start + n))


class Load:
    """Readers and writers through the proxy; each request that fails is kept with its time."""

    def __init__(self, port):
        self.port, self.failed, self.done, self.over, self.next = port, [], collections.Counter(), threading.Event(), 10 ** 6
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(kind,)) for kind in ("read", "read", "read", "write")]

    def run(self, kind):
        while not self.over.is_set():
            begun = time.monotonic()
            try:
                if kind == "read":
                    status, _ = ask(self.port, "GET", random.choice(["/v1/collections/other/clusters", "/v1/collections", "/v1/tasks", "/v1/collections/other/documents/d3"]))
                else:
                    with self.lock:
                        self.next += 1
                        n = self.next
                    status, _ = ask(self.port, "POST", "/v1/collections/written/documents", json.dumps({"id": f"w{n}", "text": f"written number {n}"}) + "\n")
            except (OSError, http.client.HTTPException) as error:
                status = repr(error)
            with self.lock:
                self.done[kind] += 1
                if not (isinstance(status, int) and 200 <= status < 300):
                    self.failed.append((begun, time.monotonic(), kind, status))
            time.sleep(0.02)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


def until(seconds, look, pause=0.2):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(pause)
    return None


def main():
    url = namespaces.make("gfservers")
    with Sharing(url, "--workers", "1") as one, Sharing(url, "--workers", "1") as two, Proxy((one.port, two.port)) as proxy:
        for name, n in (("other", 120), ("written", 12)):
            status, _ = ask(proxy.port, "POST", f"/v1/collections/{name}/documents", posts(n))
            check(f"put into {name}", status == 200, (status, _))
        status, task = ask(one.port, "POST", "/v1/collections/other/builds")
        check("a rebuild is accepted", status == 202, task)
        seen = until(MINUTE, lambda: (lambda told: told if told[0] == 200 and told[1]["state"] == "done" else None)(ask(two.port, "GET", f"/v1/tasks/{task['task']}")))
        check("and told of by the other server, to its end", seen and seen[1]["rows"][0]["outcome"] == "rebuilt", seen)
        check("both list it once", all([t["task"] for t in ask(s.port, "GET", "/v1/tasks")[1]].count(task["task"]) == 1 for s in (one, two)))
        for start in range(0, 8000, 2000):
            status, told = ask(proxy.port, "POST", "/v1/collections/large/documents", posts(2000, start))
            check(f"put {start}", status == 200, told)
        slow = "/v1/collections/large/builds?set=k=60&set=restarts=30&set=tolerance=0&set=max_passes=200"
        status, task = ask(one.port, "POST", slow)
        check("a long rebuild is accepted", status == 202, task)
        status, same = ask(two.port, "POST", slow)
        check("the same asked of the other is the same task", status == 202 and same["task"] == task["task"], same)
        until(MINUTE, lambda: ask(one.port, "GET", f"/v1/tasks/{task['task']}")[1].get("begun"), 0.02)
        time.sleep(0.5)
        with Load(proxy.port) as load:
            time.sleep(2)
            before = len(load.failed)
            state = ask(one.port, "GET", f"/v1/tasks/{task['task']}")[1]
            check("it is being done when its server is killed", state["state"] == "running", state)
            killed = time.monotonic()
            one.kill()
            one.process.wait()
            dead = time.monotonic()
            taken = until(90, lambda: any("task_taken" in line for line in two.log))
            check("the other takes the task", taken)
            begun = until(90, lambda: (lambda t: t[0] == 200 and t[1].get("begun") and t[1]["state"] != "queued" and t[1].get("phase") not in (None, "waiting") and t)(ask(two.port, "GET", f"/v1/tasks/{task['task']}")))
            seconds = time.monotonic() - killed
            check("the other has begun it", begun, seconds)
            done = until(300, lambda: (lambda t: t[0] == 200 and t[1]["state"] in ("done", "failed", "cancelled") and t)(ask(two.port, "GET", f"/v1/tasks/{task['task']}")))
            time.sleep(1)
        in_flight = [f for f in load.failed if f[0] <= dead and f[1] >= killed]
        others = [f for f in load.failed if f not in in_flight]
        print(f"{dict(load.done)} requests, {len(in_flight)} failed that were under way at the kill, {len(others)} others; begun again after {seconds:.1f} s", flush=True)
        check("no request failed before", before == 0, load.failed[:3])
        check("none but those in flight failed", not others, others[:5])
        check("within a minute", seconds < MINUTE, seconds)
        check("it is done", done and done[1]["state"] == "done" and done[1]["rows"][0]["outcome"] == "rebuilt", done)
        builds = ask(two.port, "GET", "/v1/collections/large/builds")[1]
        check("exactly one build was made", len(builds) == 1, builds)
        # a server that is told to end gives back what it has not done
        status, task = ask(two.port, "POST", slow + "&force")
        with Sharing(url, "--workers", "1") as three:
            until(MINUTE, lambda: ask(two.port, "GET", f"/v1/tasks/{task['task']}")[1].get("begun"), 0.02)
            check("a server drains", two.close() == 0)
            done = until(300, lambda: (lambda t: t[0] == 200 and t[1]["state"] == "done" and t)(ask(three.port, "GET", f"/v1/tasks/{task['task']}")))
            check("and another does its rebuild", done, ask(three.port, "GET", f"/v1/tasks/{task['task']}"))
            status, told = ask(three.port, "DELETE", f"/v1/tasks/{task['task']}")
            check("what has ended is not cancelled", status == 409, told)


if __name__ == "__main__":
    if not NGINX:
        print("skipped: nginx is not installed")
        sys.exit(77)
    main()
