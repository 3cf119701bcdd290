"""The server behind nginx, with the configuration of docs/how-to/behind-nginx.md as it stands there."""
import json
import os
import shutil
import sys
import tempfile
import unittest

from proxied import NGINX, TOKEN, Proxied, Served


class Nginx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tokens = tempfile.mkdtemp(prefix="grouperfish-tokens-")
        path = os.path.join(cls.tokens, "tokens")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
            f.write(f"{TOKEN} write * test\n")
        cls.server = Served("--tokens", path, "--host-name", "cluster.example").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        shutil.rmtree(cls.tokens)

    def proxied(self, **lines):
        return Proxied("behind-nginx.md", {"127.0.0.1:61732": f"127.0.0.1:{self.server.port}", **lines})

    def test_requests(self):
        lines = [json.dumps({"id": str(i), "text": f"document {i} " + "word " * 200}).encode() + b"\n"
                 for i in range(5000)]
        with self.proxied() as proxy:
            status, text = proxy.ask("POST", "/v1/collections/big/documents", body=iter(lines))
            self.assertEqual((status, json.loads(text)["new"]), (200, 5000))
            status, text = proxy.ask("GET", "/v1/collections")
            self.assertEqual((status, json.loads(text)[0]["size"]), (200, 5000))
            self.assertEqual(proxy.ask("GET", "/v1/collections", token=None)[0], 401)
            self.assertEqual(proxy.ask("GET", "/v1/collections", host="other.example")[0], 421)

    def test_commands(self):
        with self.proxied() as proxy:
            done = proxy.command("put", "feedback", input='{"id":"1","text":"Video crashes the browser"}\n')
            self.assertEqual(done.returncode, 0, done.stderr)
            done = proxy.command("doc", "feedback", "1", "--format", "json")
            self.assertEqual(json.loads(done.stdout)["text"], "Video crashes the browser")

    def test_without_the_two_lines(self):
        with self.proxied(**{f"        proxy_set_header {name};\n": "" for name in (
                "Upgrade $http_upgrade", "Connection $connection_upgrade")}) as proxy:
            done = proxy.command("collection", "list")
            self.assertEqual(done.returncode, 6)
            self.assertIn("a proxy before it does not let the connection be upgraded", done.stderr)


if __name__ == "__main__":
    if not NGINX or not shutil.which("openssl"):
        print("skipped: nginx or openssl is not installed")
        sys.exit(77)
    unittest.main()
