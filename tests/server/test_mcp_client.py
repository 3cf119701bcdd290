"""grouperfish mcp, as a client speaks with it: one written here, and the official SDK where it can be had."""
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from served import FEEDBACK, PROGRAM, SOURCE, Served

SECONDS = 120
VENV = os.environ.get("GROUPERFISH_MCP_VENV")
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}}


def command(*words, check=True, **options):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=SECONDS, **options)
    if check and done.returncode:
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr}")
    return done


def fill(store):
    command("put", "feedback", "--store", store, input="".join(json.dumps(d) + "\n" for d in FEEDBACK))
    command("config", "set", "feedback", "k=2", "language=english", "--store", store)
    command("rebuild", "feedback", "--store", store)


class Client:
    """A client that reads whatever comes, so that the program never waits for it."""

    def __init__(self, *options, revision="2025-11-25"):
        self.process = subprocess.Popen([PROGRAM, "mcp", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines, self.kept, self.n = queue.Queue(), [], 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if revision:
            self.begun = self.ask("initialize", protocolVersion=revision, capabilities={},
                                  clientInfo={"name": "test", "version": "1"})["result"]
            self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def say_bytes(self, line):
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def say(self, message):
        self.say_bytes(json.dumps(message).encode() + b"\n")

    def hear(self):
        """The next message; None at the end."""
        line = self.lines.get(timeout=SECONDS)
        if line is None:
            return None
        assert line.endswith(b"\n"), line
        message = json.loads(line)
        for one in message if isinstance(message, list) else [message]:
            assert one["jsonrpc"] == "2.0", line
        return message

    def hear_of(self, number):
        while True:
            message = self.hear()
            if message is None:
                raise AssertionError("the program ended: " + self.process.stderr.read().decode())
            if message.get("id") == number:
                return message
            self.kept.append(message)

    def start(self, method, **params):
        self.n += 1
        self.say({"jsonrpc": "2.0", "id": self.n, "method": method, "params": params})
        return self.n

    def ask(self, method, **params):
        return self.hear_of(self.start(method, **params))

    def call(self, tool, **arguments):
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        if "error" in answer:
            raise LookupError(answer["error"])
        result = answer["result"]
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result

    def rows(self, tool, **arguments):
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        return result["structuredContent"]["rows"]

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(SECONDS)
        self.reader.join()
        self.errors = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        code = self.end()
        if kind is None and code != 0:
            raise AssertionError(f"grouperfish mcp ended with {code}: {self.errors}")


class Mcp(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="grouperfish-mcp-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.store = os.path.join(self.folder, "store")

    def test_results_are_as_their_schemas_say(self):
        """Of each tool that needs a collection at most, whole and cut; a failure needs none of it."""
        try:
            import jsonschema
        except ImportError:
            self.skipTest("jsonschema is not installed")
        fill(self.store)
        arguments = {"doc": {"id": "4", "why": True}, "search": {"query": "video"}, "members": {"cluster": "1"},
                     "cluster": {"cluster": "1"}, "similar": {"id": "4"}, "assign": {"records": [{"id": "x", "text": "a crash"}]}}
        checked = []
        for options in ((), ("--max-bytes", "1024", "--max-rows", "3")):
            with Client("--store", self.store, *options) as client:
                for tool in client.ask("tools/list")["result"]["tools"]:
                    needed = set(tool["inputSchema"].get("required", ())) - {"collection", *arguments.get(tool["name"], ())}
                    if "outputSchema" in tool:
                        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
                    if needed:
                        continue
                    given = dict(arguments.get(tool["name"], {}))
                    if "collection" in tool["inputSchema"]["properties"]:
                        given["collection"] = "feedback"
                    result = client.call(tool["name"], **given)
                    self.assertIn("outputSchema", tool, tool["name"])
                    if not result["isError"]:
                        jsonschema.validate(result["structuredContent"], tool["outputSchema"])
                        checked.append((tool["name"], bool(result["structuredContent"]["rows"])))
                wrong = {"rows": [{"documents": "many"}]}
                [tool] = [t for t in client.ask("tools/list")["result"]["tools"] if t["name"] == "builds"]
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.validate(wrong, tool["outputSchema"])
        self.assertLessEqual({("clusters", True), ("doc", True), ("search", True), ("members", True), ("builds", True),
                              ("assign", True)}, set(checked))
        self.assertGreater(len(checked), 30)

    def test_a_conversation(self):
        fill(self.store)
        with Client("--store", self.store) as client:
            self.assertEqual(client.begun["protocolVersion"], "2025-11-25")
            self.assertEqual(client.begun["serverInfo"]["name"], "grouperfish")
            self.assertEqual(client.begun["capabilities"], {"tools": {}})
            self.assertIn("collection_list", client.begun["instructions"])
            tools = {t["name"]: t for t in client.ask("tools/list")["result"]["tools"]}
            self.assertTrue(all(t["annotations"]["readOnlyHint"] for t in tools.values()))
            self.assertNotIn("put", tools)
            members = tools["members"]["inputSchema"]
            self.assertEqual(members["properties"]["limit"]["maximum"], 1000)
            self.assertIn("cluster", members["required"])
            self.assertEqual([c["collection"] for c in client.rows("collection_list")], ["feedback"])
            clusters = client.rows("clusters", collection="feedback")
            self.assertEqual([c["label"] for c in clusters], ["crashes", "new tabs"])
            page = client.rows("members", collection="feedback", cluster=str(clusters[0]["cluster"]), limit=2)
            self.assertEqual(len(page[0]["documents"]), 2)
            doc = client.rows("doc", collection="feedback", id="4")
            self.assertEqual(doc[0]["text"], "Video crashes the browser")
            found = client.rows("search", collection="feedback", query="video", limit=1)
            self.assertEqual(len(found), 1)
            assigned = client.rows("assign", collection="feedback",
                                   records=[{"id": "x", "text": "it crashes on video"}])
            self.assertEqual(assigned[0]["label"], "crashes")

    def test_the_words_of_errors_are_the_operations(self):
        fill(self.store)
        with Client("--store", self.store) as client:
            told = client.call("clusters", collection="feedbak")
            self.assertTrue(told["isError"])
            self.assertIn('did you mean "feedback"?', told["structuredContent"]["error"]["message"])
            told = client.call("members", collection="feedback", cluster="1", limit=100000)
            self.assertIn("limit", told["structuredContent"]["error"]["message"])
            told = client.call("members", collection="feedback", cluste="1")
            self.assertIn('did you mean "cluster"?', told["structuredContent"]["error"]["message"])
            told = client.call("clusters")
            self.assertIn("collection is missing", told["structuredContent"]["error"]["message"])
        with Client("--store", os.path.join(self.folder, "none")) as client:
            told = client.call("collection_list")
            self.assertIn("there is no store at", told["structuredContent"]["error"]["message"])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "none")))

    def test_nothing_is_changed_unless_told(self):
        fill(self.store)
        before = command("collection", "show", "feedback", "--store", self.store).stdout
        with Client("--store", self.store) as client:
            for tool in ("put", "rebuild", "delete", "collection_delete", "backup", "restore", "init"):
                with self.assertRaisesRegex(LookupError, "--allow-writes"):
                    client.call(tool, collection="feedback")
        self.assertEqual(command("collection", "show", "feedback", "--store", self.store).stdout, before)
        with Client("--store", self.store, "--read-only") as client:
            self.assertEqual(len(client.rows("clusters", collection="feedback")), 2)
        self.assertEqual(command("mcp", "--read-only", "--allow-writes", check=False).returncode, 2)

    def test_it_writes_where_it_may(self):
        with Client("--store", self.store, "--allow-writes") as client:
            put = client.rows("put", collection="feedback", records=FEEDBACK)
            self.assertEqual(put[0]["new"], len(FEEDBACK))
            self.assertEqual(client.rows("config_set", collection="feedback",
                                         set=["k=2", "language=english"])[0]["set"], True)
            self.assertEqual(client.rows("rebuild", collection="feedback")[0]["outcome"], "rebuilt")
            # Between calls the store is free for other commands.
            command("put", "other", "--store", self.store, "--wait", "0", input='{"id":"1","text":"a"}\n')
            self.assertEqual(len(client.rows("collection_list")), 2)
            told = client.call("put", collection="feedback", records=[{"id": "7"}, {"id": "8", "text": "good"}])
            self.assertEqual(told["structuredContent"]["outcome"], "records were refused")
            self.assertEqual(told["structuredContent"]["notices"][0]["reason"], "no_text")
            with self.assertRaisesRegex(LookupError, "--allow-files"):
                client.call("backup", to=self.folder)
        with Client("--store", self.store, "--allow-writes", "--allow-files") as client:
            client.rows("backup", to=os.path.join(self.folder, "copy"))
            self.assertTrue(os.path.isdir(os.path.join(self.folder, "copy")))

    def test_whoever_holds_the_store_is_asked(self):
        with Served() as server:
            fill(server.store)
            url = f"http://127.0.0.1:{server.port}"
            with Client("--store", server.store) as here, Client("--server", url) as there:
                for client in (here, there):
                    self.assertEqual(len(client.rows("clusters", collection="feedback")), 2)
                    self.assertEqual(client.rows("version")[0]["version"], client.begun["serverInfo"]["version"])
            with Client("--server", url, "--namespace", "elsewhere") as client:
                self.assertEqual(client.rows("collection_list"), [])
            with Client("--server", url, "--allow-writes") as client:
                put = client.rows("put", collection="feedback", records=[{"id": "9", "text": "new"}])
                self.assertEqual(put[0]["new"], 1)
        with Client("--server", url) as client:
            told = client.call("collection_list")
            self.assertIn("nothing answers there", told["structuredContent"]["error"]["message"])

    def test_a_token_that_may_only_read(self):
        """Whatever the options say: the server refuses what its token may not do."""
        tokens, mine = os.path.join(self.folder, "tokens"), os.path.join(self.folder, "mine")
        for path, text in (tokens, "a-token-that-reads read default model\na-token-that-writes write *\n"), \
                (mine, "a-token-that-reads\n"):
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
        with Served("--tokens", tokens) as server:
            fill(server.store)
            url = f"http://127.0.0.1:{server.port}"
            with Client("--server", url, "--token-file", mine, "--allow-writes") as client:
                self.assertEqual(len(client.rows("clusters", collection="feedback")), 2)
                told = client.call("put", collection="feedback", records=[{"id": "9", "text": "new"}])
                self.assertTrue(told["isError"])
                self.assertIn("may only read", told["structuredContent"]["error"]["message"])
                self.assertEqual(client.rows("collection_show", collection="feedback")[0]["size"], 6)

    def test_answers_are_bounded(self):
        records = [{"id": str(i), "text": f"number {i} of many documents"} for i in range(500)]
        records.append({"id": "long", "text": "word " * 100000})
        with Client("--store", self.store, "--allow-writes") as client:
            client.rows("put", collection="many", records=records)
            client.rows("rebuild", collection="many")
            told = client.call("export", collection="many")["structuredContent"]
            self.assertEqual(len(told["rows"]), 100)
            self.assertIn("Only the first 100 rows are here", told["more"])
            told = client.call("doc", collection="many", id="long")["structuredContent"]
            self.assertLess(len(json.dumps(told)), 70000)
            self.assertIn("Texts of more than 4000 bytes are cut", told["more"])
            self.assertTrue(told["rows"][0]["text"].endswith("…"))
        with Client("--store", self.store, "--max-rows", "1000", "--max-bytes", "10M") as client:
            self.assertEqual(len(client.rows("export", collection="many")), 501)
            self.assertEqual(len(client.rows("doc", collection="many", id="long")[0]["text"]), 500000)

    def test_only_some_tools(self):
        with Client("--tools", "collection_*", "--tools", "search") as client:
            names = [t["name"] for t in client.ask("tools/list")["result"]["tools"]]
            self.assertEqual(names, ["collection_list", "collection_show", "search"])
            with self.assertRaisesRegex(LookupError, "none of those that --tools names"):
                client.call("clusters", collection="x")
        self.assertEqual(command("mcp", "--tools", "no_such", check=False).returncode, 2)

    def test_the_stateless_revision(self):
        fill(self.store)
        with Client("--store", self.store, revision=None) as client:
            told = client.ask("server/discover", _meta=MODERN)["result"]
            self.assertEqual(told["supportedVersions"][0], "2026-07-28")
            self.assertEqual(told["resultType"], "complete")
            listed = client.ask("tools/list", _meta=MODERN)["result"]
            self.assertGreater(listed["ttlMs"], 0)
            called = client.ask("tools/call", name="clusters", arguments={"collection": "feedback"},
                                _meta=MODERN)["result"]
            self.assertEqual(called["resultType"], "complete")
            self.assertEqual(called["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "grouperfish")
            refused = client.ask("tools/list")
            self.assertEqual(refused["error"]["code"], -32600)

    def many(self):
        posts = os.path.join(SOURCE, "examples", "reddit-posts-20.jsonl.zst")
        command("put", "posts", posts, "--store", self.store)

    def test_a_call_is_cancelled(self):
        self.many()
        with Client("--store", self.store, "--allow-writes") as client:
            number = client.start("tools/call", name="rebuild", arguments={"collection": "posts"},
                                  _meta={"progressToken": "t"})
            first = client.hear()
            self.assertEqual(first["method"], "notifications/progress")
            self.assertEqual(first["params"]["progressToken"], "t")
            self.assertIn("posts", first["params"]["message"])
            self.assertEqual(client.ask("ping")["result"], {})
            client.say({"jsonrpc": "2.0", "method": "notifications/cancelled",
                        "params": {"requestId": number, "reason": "test"}})
            self.assertEqual(client.rows("builds", collection="posts"), [])
            self.assertFalse([m for m in client.kept if m.get("id") == number])
            told = [m["params"]["progress"] for m in client.kept if m.get("method") == "notifications/progress"]
            self.assertEqual(told, sorted(set(told)))

    def test_it_ends_in_the_middle_of_a_call(self):
        self.many()
        for how in ("signal", "end of input"):
            client = Client("--store", self.store, "--allow-writes")
            client.start("tools/call", name="rebuild", arguments={"collection": "posts"},
                         _meta={"progressToken": 7})
            self.assertEqual(client.hear()["method"], "notifications/progress")
            if how == "signal":
                client.process.send_signal(signal.SIGTERM)
                self.assertEqual(client.process.wait(SECONDS), 0)
            self.assertEqual(client.end(), 0, how)
            shown = json.loads(command("status", "--store", self.store, "--format", "json", "--wait", "0").stdout)
            self.assertTrue(shown, how)

    def test_it_ends_where_nobody_reads(self):
        process = subprocess.Popen([PROGRAM, "mcp", "--store", self.store], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        self.assertEqual(process.wait(SECONDS), 0)
        process.stdin.close()

    def test_it_ends_in_the_middle_of_a_line(self):
        for line, code in ((b'{"jsonrpc":"2.0","id":5,"method":"pi', -32700),
                           (b'{"jsonrpc":"2.0","id":5,"method":"ping"}', None)):
            client = Client("--store", self.store)
            client.say_bytes(line)
            self.assertEqual(client.end(), 0)
            last = json.loads(client.lines.get())
            self.assertEqual(last.get("error", {}).get("code"), code)

    def test_garbage_does_no_harm(self):
        seed = int(os.environ.get("GROUPERFISH_TEST_SEED", time.time()))
        print("seed", seed, file=sys.stderr)
        chance = random.Random(seed)
        good = json.dumps({"jsonrpc": "2.0", "id": "x", "method": "tools/call",
                           "params": {"name": "search", "arguments": {"collection": "feedback", "query": "tabs"}}})
        fill(self.store)
        with Client("--store", self.store) as client:
            for _ in range(300):
                line = bytearray(good.encode())
                for _ in range(chance.randrange(1, 8)):
                    at = chance.randrange(len(line))
                    line[at:at + chance.randrange(3)] = bytes(chance.choices(range(256), k=chance.randrange(3)))
                client.say_bytes(bytes(line).replace(b"\n", b" ") + b"\n")
                self.assertEqual(client.ask("ping")["result"], {})
            client.say_bytes(b"\xff" * 100 + b"\n" + b"[" * 100000 + b"\n" + b"{" * 17000000 + b"\n")
            self.assertEqual(client.ask("ping")["result"], {})
            codes = [m["error"]["code"] for m in client.kept if "error" in m]
            self.assertIn(-32700, codes)
            self.assertIn(-32600, codes)

    def sdk(self):
        """A Python that has the official SDK, or None."""
        if not VENV:
            return None
        python = os.path.join(VENV, "bin", "python3")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        if subprocess.run([sys.executable, "-c", "import mcp"], **quiet).returncode == 0:
            return sys.executable
        try:
            if not os.path.exists(python):
                subprocess.run([sys.executable, "-m", "venv", VENV], check=True, timeout=SECONDS, **quiet)
            if subprocess.run([python, "-c", "import mcp"], **quiet).returncode:
                subprocess.run([python, "-m", "pip", "install", "--retries", "0", "--timeout", "5", "--no-compile",
                                "--only-binary", ":all:", "--disable-pip-version-check", "mcp>=1.10,<3"],
                               check=True, timeout=SECONDS, **quiet)
        except (OSError, subprocess.SubprocessError):
            shutil.rmtree(VENV, ignore_errors=True)
            return None
        return python

    def test_the_official_sdk(self):
        python = self.sdk()
        if not python:
            self.skipTest("the Python package mcp is not here, and cannot be installed")
        fill(self.store)
        script = os.path.join(SOURCE, "tests", "server", "mcp_sdk.py")
        done = subprocess.run([python, script, PROGRAM, self.store], capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertGreaterEqual(len(told), 1)
        for one in told:
            names = [t["name"] for t in one["tools"]]
            self.assertEqual(len(names), len(set(names)))
            self.assertIn("rebuild", names)
            self.assertEqual(one["put"]["structuredContent"]["rows"][0]["new"], 2)
            self.assertEqual([c["label"] for c in one["clusters"]["structuredContent"]["rows"]],
                             ["crashes", "new tabs"])
            self.assertTrue(one["absent"]["isError"])
            self.assertIn("no_such_tool", one["unknown"])


if __name__ == "__main__":
    unittest.main()
