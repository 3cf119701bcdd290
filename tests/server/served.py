"""A server of the program that was built, in a folder of its own, and a client for it.

    with Served() as server:
        status, headers, body = server.get("/v1/collections")
        answer = server.json("GET", "/v1/collections")

GROUPERFISH_PROGRAM names the program.
"""
import functools
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse

from described import Description

PROGRAM = os.environ["GROUPERFISH_PROGRAM"]
SOURCE = os.environ["GROUPERFISH_SOURCE"]
DATA = os.environ.get("GROUPERFISH_DATA")
LISTENING = re.compile(r"listening address=(\S+):(\d+)")


def quote(part):
    return urllib.parse.quote(part, safe="")


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)

    def lines(self):
        return [json.loads(line) for line in self.body.splitlines()]


@functools.lru_cache(maxsize=1)
def description():
    """Of a server of its own, which no test looks at."""
    with Served(described=False) as server:
        return Description(server.get("/openapi.json").json())


class Served:
    def __init__(self, *options, folder=None, listen="127.0.0.1:0", program=None, within=(), described=True):
        """described: answers are held against /openapi.json (described.py)."""
        self.described = described and program is None
        self.folder = folder or tempfile.mkdtemp(prefix="grouperfish-serve-")
        self.keep = folder is not None
        self.store = os.path.join(self.folder, "store")
        self.command = [*within, program or PROGRAM, "serve", "--store", self.store, "--listen", listen, *options]

    def __enter__(self):
        self.log, self.told = [], False
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            self.log.append(line)
            found = LISTENING.search(line)
            if found:
                break
        else:
            self.process.wait()
            raise RuntimeError("".join(self.log))
        self.host, self.port = found.group(1), int(found.group(2))
        self.reader = threading.Thread(target=self.read_log, daemon=True)
        self.reader.start()
        return self

    def read_log(self):
        for line in self.process.stderr:
            self.log.append(line)

    def __exit__(self, *_):
        code = self.stop()
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        if code != 0:
            raise AssertionError(f"the server ended with {code}:\n" + "".join(self.log))

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None and not self.told:
            self.tell(number)
        try:
            code = self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            self.process.wait()
            raise AssertionError("the server did not end:\n" + "".join(self.log))
        self.reader.join()
        self.process.stderr.close()
        return code

    def tell(self, number):
        """Signal the server; a second signal would end it at once."""
        self.told = True
        self.process.send_signal(number)

    def connect(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, path, body=None, connection=None, **headers):
        own = connection or self.connect()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        own.request(method, path, body=body, headers=names)
        answer = Answer(own.getresponse())
        if self.described:
            description().check(method, path, answer.status, answer.headers["Content-Type"] or "", answer.body)
        if not connection:
            own.close()
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def json(self, method, path, body=None, expect=(200, 201, 202), **headers):
        answer = self.ask(method, path, body, **headers)
        if answer.status not in expect:
            raise AssertionError(f"{method} {path}: {answer.status} {answer.body[:500]!r}")
        return answer.json()

    def put(self, collection, documents, namespace=None):
        path = f"/v1/collections/{quote(collection)}/documents"
        if namespace:
            path += "?namespace=" + quote(namespace)
        return self.json("POST", path, "\n".join(json.dumps(d) for d in documents))

    def rebuild(self, collection, query=""):
        asked = self.ask("POST", f"/v1/collections/{quote(collection)}/builds{query}")
        assert asked.status == 202, asked.body
        return self.wait(asked.headers["Location"])

    def wait(self, location, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            task = self.json("GET", location)
            if task["state"] not in ("queued", "running"):
                return task
            time.sleep(0.02)
        raise AssertionError(f"{location} has not ended: {task}")

    def raw(self, text, seconds=20, half_close=True):
        """Send bytes as they are, and give what comes until the server ends the connection, which
        it has to within so many seconds."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as s:
            end, parts = time.monotonic() + seconds, []
            try:
                s.sendall(text)
                if half_close:
                    s.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it has answered and closed already
            while True:
                s.settimeout(max(end - time.monotonic(), 0.001))
                try:
                    part = s.recv(65536)
                except ConnectionError:
                    break
                except TimeoutError:
                    raise AssertionError(f"the connection stays open after {text[:80]!r}")
                if not part:
                    break
                parts.append(part)
            return b"".join(parts)


FEEDBACK = [
    {"id": "1", "text": "The new tabs are fast", "time": 1277293943, "lang": "en", "type": "praise"},
    {"id": "2", "text": "Tabs on top: fast and pretty", "type": "praise"},
    {"id": "3", "text": "I love the new tabs", "type": "praise"},
    {"id": "4", "text": "Video crashes the browser", "time": 1277489059, "type": "issue"},
    {"id": "5", "text": "The browser crashes with many tabs", "type": "issue"},
    {"id": "6", "text": "Crashes on every video", "lang": "en", "type": "issue"},
]


def feed(server, collection="feedback"):
    """The collection of docs/operations.md, rebuilt."""
    server.put(collection, FEEDBACK)
    path = f"/v1/collections/{quote(collection)}/configurations/default?set=k=2&set=language=english"
    server.json("PATCH", path)
    task = server.rebuild(collection)
    assert task["state"] == "done", task
