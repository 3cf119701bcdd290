"""Namespaces over three servers behind nginx, with the configuration of docs/how-to/several-machines.md as it stands there."""
import json
import os
import shutil
import signal
import sys
import tempfile
import unittest

from proxied import NGINX, TOKEN, Proxied, Served

MACHINES = ("10.0.0.1:61732", "10.0.0.2:61732", "10.0.0.3:61732")
NAMESPACES = {"default": 0, "feedback": 0, "tweets": 1, "papers": 2}
COLLECTIONS = 75  # of each namespace
WORDS = "printer ink paper jam screen cable sound battery charger lens".split()


def documents(name_space, collection):
    """Some documents of two kinds, different ones for each collection."""
    start = len(name_space) + collection
    return [{"id": f"{name_space}-{collection}-{i}",
             "text": " ".join(WORDS[(start + 5 * (i % 2) + j) % len(WORDS)] for j in range(4))} for i in range(6)]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


class Machines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="grouperfish-machines-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.servers = [self.serve([n for n, at in NAMESPACES.items() if at == i], f"machine-{i}") for i in range(3)]
        self.proxy = Proxied("several-machines.md", {
            machine: f"127.0.0.1:{server.port}" for machine, server in zip(MACHINES, self.servers)})
        self.addCleanup(self.proxy.__exit__)
        self.proxy.__enter__()

    def serve(self, name_spaces, name):
        """A server whose token is good for these namespaces alone."""
        path = os.path.join(self.folder, name + ".tokens")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as f:
            f.write("".join(f"{TOKEN} write {n} test\n" for n in name_spaces))
        os.mkdir(os.path.join(self.folder, name))
        server = Served("--tokens", path, "--host-name", "cluster.example", folder=os.path.join(self.folder, name))
        server.__enter__()
        self.addCleanup(lambda: server.process.poll() is None and server.__exit__())
        return server

    def json(self, method, path, body=None, **headers):
        status, text = self.proxy.ask(method, path, body, **headers)
        self.assertIn(status, (200, 201), text)
        return json.loads(text)

    def fill(self, ask):
        for name_space in NAMESPACES:
            for c in range(COLLECTIONS):
                ask("POST", f"/v1/collections/c{c}/documents?namespace={name_space}", lines(documents(name_space, c)))

    def test_rows_are_those_of_one_store(self):
        one = self.serve(NAMESPACES, "one")

        def ask_one(method, path, body=None):
            return one.json(method, path, body, Authorization="Bearer " + TOKEN)
        self.fill(self.json)
        self.fill(ask_one)
        for name_space, at in NAMESPACES.items():
            asked = f"/v1/collections?namespace={name_space}"
            rows = [{"collection": row["collection"], "size": row["size"]} for row in self.json("GET", asked)]
            self.assertEqual(rows, [{"collection": row["collection"], "size": row["size"]} for row in ask_one("GET", asked)])
            self.assertEqual(len(rows), COLLECTIONS)
            direct = self.servers[at].json("GET", asked, Authorization="Bearer " + TOKEN)
            self.assertEqual(len(direct), COLLECTIONS, "the namespace is where nginx says")
            for asked in (f"/v1/collections/c7/documents/{name_space}-7-3?namespace={name_space}",
                          f"/v1/collections/c7/search?query=battery&namespace={name_space}"):
                self.assertEqual(self.json("GET", asked), ask_one("GET", asked))

    def test_each_way_to_say_a_namespace(self):
        for name_space in NAMESPACES:
            self.json("POST", f"/v1/collections/c/documents?namespace={name_space}", lines(documents(name_space, 0)))
        for name_space in NAMESPACES:
            id_ = f"{name_space}-0-1"
            self.assertEqual(self.json("GET", f"/v1/collections/c/documents/{id_}",
                                       Grouperfish_Namespace=name_space)["id"], id_)
            self.assertEqual(self.json("GET", f"/docs/{name_space}/c/{id_}")["id"], id_)
            done = self.proxy.command("doc", "c", id_, "--namespace", name_space, "--format", "json")
            self.assertEqual((done.returncode, json.loads(done.stdout or "{}").get("id")), (0, id_), done.stderr)
            done = self.proxy.command("rebuild", "c", "--namespace", name_space, "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(self.json("GET", f"/clusters/{name_space}/c"))
        self.assertEqual(self.json("GET", "/v1/collections/c/documents/default-0-1")["id"], "default-0-1")

    def test_what_leads_nowhere_is_refused(self):
        for path in ("/v1/collections?namespace=elsewhere", "/clusters/elsewhere/c", "/v1/collections?namespace=%74weets"):
            self.assertEqual(self.proxy.ask("GET", path)[0], 404, path)
        self.assertEqual(self.proxy.ask("POST", "/collections/elsewhere/c", b'{"id": "1", "text": "lost"}')[0], 404)
        wrong = self.servers[1].ask("GET", "/v1/collections?namespace=papers", Authorization="Bearer " + TOKEN)
        self.assertEqual(wrong.status, 403)
        twice = self.proxy.ask("GET", "/v1/collections?namespace=tweets&namespace=papers")[0]
        self.assertIn(twice, (400, 403))

    def test_a_machine_that_dies_costs_its_namespaces_alone(self):
        for name_space in NAMESPACES:
            self.json("POST", f"/v1/collections/c/documents?namespace={name_space}", lines(documents(name_space, 0)))
        dead = self.servers[1]
        dead.process.send_signal(signal.SIGKILL)
        dead.process.wait()
        dead.reader.join()
        dead.process.stderr.close()
        for name_space, at in NAMESPACES.items():
            path = f"/v1/collections/c/documents?namespace={name_space}"
            status, text = self.proxy.ask("POST", path, lines(documents(name_space, 1)))
            self.assertEqual(status, 502 if at == 1 else 200, text)
        again = Served(*dead.command[dead.command.index("--listen") + 2:], folder=dead.folder,
                       listen=f"127.0.0.1:{dead.port}")
        with again:
            row = self.json("GET", "/v1/collections/c?namespace=tweets")
            self.assertEqual(row["size"], 6, "what was acknowledged before the machine died")


if __name__ == "__main__":
    if not NGINX or not shutil.which("openssl"):
        print("skipped: nginx or openssl is not installed")
        sys.exit(77)
    unittest.main()
