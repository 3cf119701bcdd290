"""Who may come in: tokens on every route, names, origins, limits."""
import glob
import http.client
import json
import os
import re
import shutil
import signal
import socket
import tempfile
import time
import unittest

from served import FEEDBACK, SOURCE, Served, feed, quote

WRITE, READ, ALL, ALL_READ, OTHER = ("writer-0123456789", "reader-0123456789",
                                     "admin-0123456789a", "watch-0123456789a",
                                     "other-0123456789a")
TOKENS = f"""# who may do what
{WRITE} write default
{READ}	read	default

{ALL} write *
{ALL_READ} read *
{OTHER} write elsewhere
"""


def bearer(token):
    return {"Authorization": "Bearer " + token} if token else {}


def routes(description):
    """(method, path with values, whether it is open) of every route that is described."""
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            filled = re.sub(r"\{(\w+)\}", lambda m: {"ns": "default"}.get(m[1], "x"), path)
            yield method.upper(), filled, route


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.tokens = os.path.join(cls.folder, "tokens")
        cls.write(TOKENS)
        cls.server = Served("--tokens", cls.tokens).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        shutil.rmtree(cls.folder)

    @classmethod
    def write(cls, text, mode=0o600):
        with open(cls.tokens, "w") as file:
            file.write(text)
        os.chmod(cls.tokens, mode)

    def ask(self, method, path, token, body=None, **headers):
        return self.server.ask(method, path, body, **bearer(token), **headers)

    def test_every_route(self):
        """No route that is not open answers without a token that has the right."""
        description = self.server.get("/openapi.json").json()
        store_wide = {"/v1/store", "/v1/status", "/v1/verification", "/v1/backup", "/v1/copy", "/v1/archive",
                      "/v1/restoration", "/v1/repair", "/v1/upgrade", "/metrics", "/v1/stats",
                      "/v1/operations/{operation}"}  # of one that there is not
        reads_by_post = {"/v1/collections/{collection}/assignments"}
        walked = 0
        for path, methods in description["paths"].items():
            for method, route in methods.items():
                method = method.upper()
                filled = re.sub(r"\{(\w+)\}", lambda m: {"ns": "default"}.get(m[1], "x"), path)
                if route.get("security") == []:
                    self.assertIn(self.ask(method, filled, None).status, (200, 404))
                    continue
                walked += 1
                writes = method != "GET" and path not in reads_by_post
                wide = path in store_wide
                expected = {None: 401, "wrong-0123456789a": 401, WRITE + "x": 401, WRITE[:-1]: 401,
                            OTHER: 403,
                            READ: 403 if writes or wide else None,
                            ALL_READ: 403 if writes else None,
                            WRITE: 403 if wide else None,
                            ALL: None}
                for token, status in expected.items():
                    with self.subTest(method=method, path=path, token=token):
                        answer = self.ask(method, filled, token)
                        if status:
                            self.assertEqual(answer.status, status, answer.body)
                            self.assertEqual(answer.headers["Content-Type"],
                                             "application/problem+json")
                            if status == 401:
                                self.assertEqual(answer.headers["WWW-Authenticate"], "Bearer")
                        elif path not in ("/v1/backup", "/v1/copy", "/v1/restoration", "/v1/repair",
                                          "/v1/papers/extractions",
                                          "/v1/collections/{collection}/names"):
                            self.assertNotIn(answer.status, (401, 403), answer.body)
        self.assertGreater(walked, 40)

    def test_table_is_described(self):
        """The operations, read from their sources, are what was walked."""
        listed = []
        for folder in ("api", "apps"):
            for path in glob.glob(os.path.join(SOURCE, folder, "**", "*.c"), recursive=True):
                with open(path) as file:
                    listed += re.findall(r'\.method = "(GET|PUT|POST|PATCH|DELETE)",\s*'
                                         r'\.path = "(/[^"]*)"', file.read())
        self.assertGreater(len(listed), 60)
        paths = self.server.get("/openapi.json").json()["paths"]
        for method, path in listed:
            self.assertIn(method.lower(), paths["/v1" + path], path)

    def test_namespaces_are_apart(self):
        body = json.dumps({"id": "1", "text": "secret"})
        path = "/v1/collections/apart/documents"
        self.assertEqual(self.ask("POST", path, WRITE, body).status, 200)
        self.assertEqual(self.ask("GET", path + "/1", OTHER).status, 403)
        self.assertEqual(self.ask("GET", path + "/1?namespace=elsewhere", OTHER).status, 404)
        self.assertEqual(self.ask("GET", path + "/1?namespace=elsewhere", WRITE).status, 403)
        self.assertEqual(self.ask("GET", path + "/1", OTHER, Grouperfish_Namespace="default").status,
                         403)
        self.assertEqual(self.ask("GET", "/docs/default/apart/1", OTHER).status, 403)
        self.assertEqual(self.ask("GET", "/docs/default/apart/1", READ).status, 200)
        self.assertEqual(self.ask("GET", "/docs/elsewhere/apart/1?namespace=default", OTHER).status,
                         400)

    def test_system_tables_are_of_one_namespace(self):
        """Of the program's own tables a token sees the rows of its namespace, however it asks."""
        for space, token in (("default", WRITE), ("elsewhere", OTHER)):
            self.assertEqual(self.ask("POST", f"/v1/collections/own/documents?namespace={space}", token,
                                      json.dumps({"id": "1", "text": "of " + space})).status, 200)
        rows = "/v1/tables/documents/rows?system=true"
        row = "/v1/tables/documents/row?system=true"

        def scan(path, token):
            answer = self.ask("GET", path, token, Accept="application/x-ndjson")
            self.assertEqual(answer.status, 200, answer.body)
            return {line["key"][0] for line in answer.lines()}

        self.assertEqual(scan(rows, READ), {"default"})
        self.assertEqual(scan(rows + "&namespace=elsewhere", OTHER), {"elsewhere"})
        self.assertEqual(scan(rows + "&namespace=elsewhere", ALL_READ), {"elsewhere"})
        self.assertEqual(scan(rows + "&key=elsewhere&key=own&namespace=elsewhere", OTHER), {"elsewhere"})
        self.assertEqual(scan(rows + "&from=a&namespace=elsewhere", OTHER), {"elsewhere"})
        self.assertEqual(self.ask("GET", rows, OTHER).status, 403)
        self.assertEqual(self.ask("GET", rows + "&namespace=default", OTHER).status, 403)
        for path in (rows + "&key=default", rows + "&key=default&key=own&from=1",
                     row + "&key=default&key=own&key=1",
                     row + "&key=default&key=own&key=1&column=main:text"):
            answer = self.ask("GET", path + "&namespace=elsewhere", OTHER)
            self.assertEqual(answer.status, 400, answer.body)
            self.assertNotIn(b"of default", answer.body)
        answer = self.ask("GET", row + "&key=default&key=own&key=1", READ)
        self.assertEqual(answer.json()[0]["cells"]["main"]["text"], "of default")
        for method, path in (("PUT", "/v1/tables/documents/row?key=default&key=own&key=1&set=main:text=x"),
                             ("DELETE", "/v1/tables/documents/row?key=default&key=own&key=1"),
                             ("DELETE", "/v1/tables/documents")):
            answer = self.ask(method, path, WRITE)
            self.assertEqual(answer.status, 404, answer.body)
            self.assertIn(b"only read", answer.body)
        for space in ("default", "elsewhere"):
            listed = self.ask("GET", f"/v1/tables?system=true&namespace={space}", ALL_READ,
                              Accept="application/x-ndjson")
            self.assertIn("documents", {line["table"] for line in listed.lines()})

    def test_read_again(self):
        fresh = "fresh-0123456789a"
        self.write(TOKENS + f"{fresh} read default\n")
        self.assertEqual(self.ask("GET", "/v1/collections", fresh).status, 401)
        self.signal_and_expect(fresh, 200)
        self.write("short read default\n")  # what cannot be read changes nothing
        self.server.process.send_signal(signal.SIGHUP)
        self.wait_for_log("tokens_kept")
        self.assertEqual(self.ask("GET", "/v1/collections", fresh).status, 200)
        self.write(TOKENS)
        self.signal_and_expect(fresh, 401)

    def wait_for_log(self, words):
        end = time.monotonic() + 120
        while not any(words in line for line in self.server.log):
            self.assertLess(time.monotonic(), end, self.server.log)
            time.sleep(0.02)

    def signal_and_expect(self, token, status):
        self.server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 120
        while self.ask("GET", "/v1/collections", token).status != status:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_files_refused(self):
        for text, mode, words in ((TOKENS, 0o640, "chmod 600"), (TOKENS, 0o604, "chmod 600"),
                                  ("short read *\n", 0o600, ":1: a token has 16"),
                                  (f"{ALL} admin *\n", 0o600, "read or write"),
                                  (f"{ALL} read\n", 0o600, "namespace"),
                                  (f"#\n\n{ALL} read a b c\n", 0o600, ":3: there is a fifth"),
                                  (f"{ALL} read a {'b' * 65}\n", 0o600, "has at most 64 bytes"),
                                  ("# nothing\n", 0o600, "no token")):
            path = os.path.join(self.folder, "refused")
            with open(path, "w") as file:
                file.write(text)
            os.chmod(path, mode)
            with self.subTest(words=words):
                with self.assertRaises(RuntimeError) as raised:
                    Served("--tokens", path).__enter__()
                self.assertIn(words, str(raised.exception))
                self.assertNotIn(ALL, str(raised.exception))

    def test_other_address(self):
        """With tokens, any address may be listened at."""
        with Served("--tokens", self.tokens, listen="0.0.0.0:0") as server:
            self.assertEqual(server.ask("GET", "/v1/collections", **bearer(READ)).status, 200)
            self.assertEqual(server.get("/v1/collections").status, 401)


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Served("--host-name", "cluster.example", "--host-name", "Two.example").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def status(self, method="GET", path="/v1/collections", **headers):
        return self.server.ask(method, path, "{}" if method == "POST" else None, **headers).status

    def test_host(self):
        for host in ("localhost", "localhost:80", "127.0.0.1:61732", "[::1]:61732", "cluster.example",
                     "CLUSTER.example:443", "two.example", "192.168.1.7"):
            self.assertEqual(self.status(Host=host), 200, host)
        for host in ("evil.example", "localhost.evil.example", "cluster.example.evil.example",
                     "127.0.0.1.evil.example", "xcluster.example", "0x7f.1", ""):
            self.assertEqual(self.status(Host=host), 421, host)

    def test_origin(self):
        host = f"127.0.0.1:{self.server.port}"
        self.assertEqual(self.status(Origin=f"http://{host}"), 200)
        self.assertEqual(self.status("POST", "/v1/store", Origin=f"http://{host}"), 200)
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1", f"http://{host}.evil"):
            self.assertEqual(self.status(Origin=origin), 403, origin)
            self.assertEqual(self.status("POST", "/v1/store", Origin=origin), 403, origin)
        self.assertEqual(self.status("POST", "/v1/store", Sec_Fetch_Site="cross-site"), 403)
        self.assertEqual(self.status("POST", "/v1/store", Sec_Fetch_Site="same-origin"), 200)
        self.assertEqual(self.status(Sec_Fetch_Site="cross-site"), 200)
        answer = self.server.ask("OPTIONS", "/v1/collections", Origin="http://evil.example",
                                 Access_Control_Request_Method="PUT")
        self.assertEqual(answer.status, 403)
        self.assertNotIn("Access-Control-Allow-Origin", answer.headers)

    def test_headers_too_large(self):
        self.assertEqual(self.status(X="a" * 7000), 200)
        for size in (8200, 20000, 60000):
            told = self.server.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * size +
                                   b"\r\n\r\n")
            self.assertIn(b" 431 ", told.split(b"\r\n")[0], size)

    def test_broken_requests(self):
        """What can become no request any more is not waited for."""
        put = b"POST /v1/collections/x/documents HTTP/1.1\r\nHost: localhost\r\n"
        for text in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00\xff" * 100,
                     b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
                     b"POST /v1/store HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                     b"\r\nzz\r\n", b"GET http://localhost/v1/collections HTTP/1.1\r\n\r\n",
                     b"", b"\r\n", b"GET /heal", b"GET /healthz HTTP/1.1\r\n",
                     b"GET /healthz HTTP/1.1\r\nHost: loc",
                     b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n",
                     put + b"Content-Length: 10\r\n\r\nabc", put + b"Content-Length: 900000\r\n\r\n{",
                     put + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{\"id",
                     put + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n",
                     put + b"Transfer-Encoding: chunked\r\n\r\n0\r\n"):
            with self.subTest(text=text):
                self.assertNotIn(b"HTTP/1.1 200", self.server.raw(text, 9))
        self.assertEqual(self.status(path="/healthz"), 200)

    def test_slow_requests(self):
        """Of requests that go on for ever the headers have ten seconds, however they come, and the
        body has its pace; also on a connection that has been used."""
        heads = [b"", b"GET /heal", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "]
        bodies = [b"POST /v1/collections/slow/documents HTTP/1.1\r\nHost: localhost\r\n" + how
                  for how in (b"Content-Length: 900000\r\n\r\n{",
                              b"Transfer-Encoding: chunked\r\n\r\nfff\r\n{")]
        begun, told = time.monotonic(), {}
        used = self.server.connect()
        self.assertEqual(self.server.ask("GET", "/healthz", connection=used).status, 200)
        sockets = {i: self.server.connect() for i in range(len(heads + bodies))}
        for connection in sockets.values():
            connection.connect()
        sockets[len(sockets)] = used
        for i, text in enumerate(heads + bodies + heads[1:2]):
            sockets[i].sock.sendall(text)
            sockets[i].sock.settimeout(0.01)
        while sockets and time.monotonic() - begun < 55:
            time.sleep(0.5)
            for i, connection in list(sockets.items()):
                try:
                    connection.sock.sendall(b"1")
                    told[i] = connection.sock.recv(4096)
                except TimeoutError:
                    continue
                except ConnectionError:
                    told.setdefault(i, b"")
                connection.close()
                del sockets[i]
        self.assertEqual(list(sockets), [], "connections that are still open")
        self.assertGreater(time.monotonic() - begun, 9)
        for i, words in enumerate(["headers"] * 3 + ["body"] * 2 + ["headers"]):
            self.assertIn(b" 408 ", told[i].split(b"\r\n")[0], i)
            self.assertIn(f"the {words} came too slowly".encode(), told[i])
        self.assertEqual(self.status(path="/healthz"), 200)

    def test_slow_body(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as s:
            s.sendall(b"POST /v1/collections/slow/documents HTTP/1.1\r\nHost: localhost\r\n"
                      b"Content-Length: 100000\r\n\r\n")
            told, begun = b"", time.monotonic()
            s.settimeout(0.5)
            while not told and time.monotonic() - begun < 55:
                try:
                    s.sendall(b" ")
                    told = s.recv(1000)
                except TimeoutError:
                    pass
            self.assertIn(b" 408 ", told.split(b"\r\n")[0])
            head, body = told.split(b"\r\n\r\n")
            self.assertEqual(json.loads(body)["status"], 408)
            self.assertIn(f"Content-Length: {len(body)}".encode(), head)


class Connections(unittest.TestCase):
    def fill(self, server, n):
        connections = []
        for _ in range(n):
            connection = server.connect()
            answer = server.ask("GET", "/healthz", connection=connection)
            self.assertEqual(answer.status, 200)
            connections.append(connection)
        return connections

    def close(self, server, connections, status):
        self.assertEqual(server.get("/healthz").status, status)
        connections.pop().close()
        end = time.monotonic() + 120
        while server.get("/healthz").status != 200:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        for connection in connections:
            connection.close()

    def test_too_many(self):
        with Served("--connections", "20") as server:
            self.close(server, self.fill(server, 20), 503)

    def test_too_many_of_one(self):
        with Served("--connections-of-one", "5") as server:
            self.close(server, self.fill(server, 5), 429)

    def test_many_of_loopback(self):
        with Served() as server:
            for connection in self.fill(server, 100):
                connection.close()


if __name__ == "__main__":
    unittest.main()
