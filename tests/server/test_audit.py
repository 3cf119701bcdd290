"""Who changed what, as the log tells it."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from served import PROGRAM, Served

TOKEN, UNNAMED, READER = "importer-0123456789", "unnamed-0123456789", "reader-0123456789"
TOKENS = f"""# who may do what
{TOKEN} write default importer
{UNNAMED} write *
{READER} read default dashboards
"""
RECORD = '{"id":"1","text":"a b"}\n'


def read(line):
    """A line of the log: "TIME LEVEL EVENT name=value ..."."""
    told = {"level": line.split(" ")[1]}
    for name, value in re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', line):
        number = re.fullmatch(r"[0-9.e-]+", value) and name not in ("address", "target")
        told[name] = json.loads(value) if number or value.startswith('"') else value
    return told


class Audit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        tokens = os.path.join(cls.folder, "tokens")
        with open(os.open(tokens, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(TOKENS)
        cls.server = Served("--tokens", tokens).__enter__()
        cls.address = f"http://127.0.0.1:{cls.server.port}"

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        shutil.rmtree(cls.folder)

    def ask(self, method, path, token=TOKEN, body=None):
        headers = {"Authorization": "Bearer " + token} if token else {}
        return self.server.ask(method, path, body, **headers).status

    def lines(self, event, at_least):
        """What was logged of an event since the last time that this was asked."""
        end = time.monotonic() + 120
        while True:
            found = [read(line) for line in self.server.log if line.split(" ")[2] == event]
            found = found[self.seen.get(event, 0):]
            if len(found) >= at_least or time.monotonic() > end:
                self.seen[event] = self.seen.get(event, 0) + len(found)
                return found
            time.sleep(0.02)

    def setUp(self):
        self.seen = {}
        for event in ("write", "refused"):
            self.lines(event, 0)

    def write(self):
        lines = self.lines("write", 1)
        self.assertEqual(len(lines), 1, lines)
        self.assertGreaterEqual(lines[0].pop("seconds"), 0)
        self.assertEqual(lines[0].pop("level"), "info")
        return {k: v for k, v in lines[0].items() if k != "level"}

    def test_requests(self):
        base = {"namespace": "default", "collection": "c", "address": "127.0.0.1", "token": "importer"}
        for method, path, body, operation, status in (
                ("POST", "/v1/collections/c/documents", RECORD, "put", 200),
                ("PATCH", "/v1/collections/c/configurations/default?set=k%3D1", None, "config set", 200),
                ("PUT", "/v1/collections/c", None, "collection create", 409),
                ("POST", "/v1/collections/c/builds", None, "rebuild", 202),
                ("DELETE", "/v1/collections/c/documents?id=1", None, "delete", 200),
                ("POST", "/collections/default/c", '{"id":"2","text":"x"}', "v0.2 post", 201)):
            with self.subTest(path=path):
                self.assertEqual(self.ask(method, path, body=body), status)
                self.assertEqual(self.write(), dict(base, operation=operation, status=status))
        self.assertEqual(self.ask("DELETE", "/v1/collections/c?namespace=other", UNNAMED), 404)
        self.assertEqual(self.write(), dict(base, namespace="other", operation="collection delete", status=404,
                                            token="line 3"))

    def test_reads_are_no_writes(self):
        for path in ("/v1/collections", "/v1/collections/c/documents/1"):
            self.ask("GET", path, READER)
        self.assertEqual(self.ask("POST", "/v1/store", UNNAMED), 200)  # behind them
        self.assertEqual(self.write()["operation"], "init")

    def test_refused(self):
        """Tells the token's name where it has one, and no token."""
        self.assertEqual(self.ask("DELETE", "/v1/collections/c", READER), 403)
        self.assertEqual(self.ask("DELETE", "/v1/collections/c", None), 401)
        self.assertEqual(self.ask("DELETE", "/v1/collections/c", "wrong-0123456789abc"), 401)
        lines = self.lines("refused", 3)
        self.assertEqual(sorted((r["status"], r["token"], r["address"], r["target"]) for r in lines),
                         [(status, token, "127.0.0.1", "/v1/collections/c")
                          for status, token in ((401, ""), (401, ""), (403, "dashboards"))])
        for token in (TOKEN, UNNAMED, READER, "wrong-0123456789abc"):
            self.assertFalse([line for line in self.server.log if token in line])

    def command(self, *arguments, **environment):
        return subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})

    def test_commands_over_the_socket(self):
        process = self.command("put", "s", "-", "--from", "jsonl", "--store", self.server.store)
        process.communicate(RECORD)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.write(), {"operation": "put", "namespace": "default", "collection": "s",
                                        "result": "done", "uid": os.getuid(), "process": process.pid})
        process = self.command("collection", "create", "s", "--store", self.server.store)
        process.communicate()
        told = self.write()
        self.assertIn("already", told.pop("result"))
        self.assertEqual(told, {"operation": "collection create", "namespace": "default", "collection": "s",
                                "uid": os.getuid(), "process": process.pid})

    def test_commands_that_ask_the_server(self):
        token = os.path.join(self.folder, "token")
        with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(TOKEN)
        process = self.command("put", "r", "-", "--from", "jsonl", GROUPERFISH_SERVER=self.address,
                               GROUPERFISH_TOKEN_FILE=token)
        process.communicate(RECORD)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.write(), {"operation": "put", "namespace": "default", "collection": "r",
                                        "result": "done", "address": "127.0.0.1", "token": "importer"})


if __name__ == "__main__":
    unittest.main()
