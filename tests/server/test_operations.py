"""Every operation by its method and path: parameters, rows, problems."""
import http.client
import json
import shutil
import subprocess
import unittest

from served import FEEDBACK, Served, feed, quote


class Operations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Served().__enter__()
        feed(cls.server)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def problem(self, status, words, method, path, body=None, **headers):
        answer = self.server.ask(method, path, body, **headers)
        self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        told = answer.json()
        self.assertEqual(told["status"], status)
        self.assertEqual(told["type"], "about:blank")
        self.assertTrue(told["title"])
        self.assertIn(words, told["detail"])
        return answer

    def test_one_thing_is_an_object(self):
        shown = self.server.json("GET", "/v1/collections/feedback")
        self.assertEqual((shown["collection"], shown["size"]), ("feedback", 6))
        doc = self.server.json("GET", "/v1/collections/feedback/documents/4?why")
        self.assertEqual(doc["text"], "Video crashes the browser")
        self.assertEqual(doc["memberships"][0]["label"], "crashes")
        self.assertIn("terms", doc["memberships"][0]["why"])
        self.assertIn("version", self.server.json("GET", "/v1/version"))
        self.assertEqual(self.server.json("GET", "/v1/status")["documents"] >= 6, True)

    def test_a_list_is_an_array(self):
        clusters = self.server.json("GET", "/v1/collections/feedback/clusters")
        self.assertEqual([c["label"] for c in clusters], ["crashes", "new tabs"])
        self.assertEqual(sorted(c["size"] for c in clusters), [3, 3])
        self.assertEqual(self.server.json("GET", "/v1/collections?prefix=no-such"), [])
        members = self.server.json("GET", "/v1/collections/feedback/memberships")
        self.assertEqual([m["id"] for m in members], ["1", "2", "3", "4", "5", "6"])

    def test_lines(self):
        answer = self.server.get("/v1/collections/feedback/memberships",
                                 Accept="application/x-ndjson")
        self.assertEqual(answer.headers["Content-Type"], "application/x-ndjson")
        self.assertEqual([m["id"] for m in answer.lines()], ["1", "2", "3", "4", "5", "6"])
        one = self.server.get("/v1/collections/feedback", Accept="application/x-ndjson")
        self.assertEqual(len(one.lines()), 1)

    def test_columns_are_a_list(self):
        cells = self.server.json("GET", "/v1/collections/feedback?columns=true")
        self.assertIn({"family": "main", "column": "size", "value": "6"}, cells)

    def test_patterns(self):
        rows = self.server.json("GET", "/v1/collections/feed*/clusters")
        self.assertEqual({r["collection"] for r in rows}, {"feedback"})

    def test_head(self):
        answer = self.server.ask("HEAD", "/v1/collections/feedback/memberships")
        self.assertEqual((answer.status, answer.body), (200, b""))

    def test_any_name(self):
        """Ids, collections and namespaces hold any UTF-8."""
        names = ["a/b", "a%2Fb", "?x=1&y", "ünï-文", "..", ".", " ", "+", "#", "a\u0000b", "\"", "//"]
        for name in names:
            with self.subTest(name=name):
                path = f"/v1/collections/{quote(name)}"
                space = "?namespace=" + quote("n/" + name)
                put = self.server.json("POST", f"{path}/documents{space}",
                                       json.dumps({"id": name, "text": "some words " + name}))
                self.assertEqual(put["new"], 1)
                doc = self.server.json("GET", f"{path}/documents/{quote(name)}{space}")
                self.assertEqual((doc["id"], doc["collection"]), (name, name))
                listed = self.server.json("GET", f"/v1/collections{space}")
                self.assertEqual([c["collection"] for c in listed], [name])
                by_header = self.server.json("GET", "/v1/collections",
                                             Grouperfish_Namespace=quote("n/" + name))
                self.assertEqual(by_header, listed)
                gone = self.server.json("DELETE", f"{path}/documents{space}&id={quote(name)}")
                self.assertEqual(gone["deleted"], 1)

    def test_dots(self):
        """What a path cannot hold is given in the query, and comes through clients that take dots
        for steps; also any other name."""
        curl = shutil.which("curl")
        for name in (".", "..", "a/b", "plain", "...", "%2e%2e"):
            space = "namespace=" + quote("d" + name)
            self.server.json("POST", f"/v1/collections//documents?collection={quote(name)}&{space}",
                             json.dumps({"id": name, "text": "some words"}))
            self.server.put("sound", [{"id": name, "text": "other words"}], namespace="d" + name)
            once, twice = quote(name), quote(name).replace(".", "%2E")
            paths = [f"/v1/collections/sound/documents/?id={once}&{space}",
                     f"/v1/collections/sound/documents/?id={twice}&{space}",
                     f"/v1/collections//documents/?collection={once}&{space}&id={once}",
                     f"/docs/{quote('d' + name)}/sound/?id={once}",
                     f"/docs//sound/?ns={quote('d' + name)}&id={once}"]
            strict = [f"/v1/collections/sound/documents/{once}?{space}",
                      f"/v1/collections/sound/documents/{twice}?{space}",
                      f"/v1/collections/{twice}/documents/{once}?{space}"]
            for path in paths + strict:
                with self.subTest(name=name, path=path):
                    self.assertEqual(self.server.json("GET", path)["id"], name)
                    if not curl:
                        continue
                    url = f"http://127.0.0.1:{self.server.port}{path}"
                    for options in [["--path-as-is"]] + [[]] * (path in paths):
                        told = subprocess.run([curl, "-sf", *options, url], capture_output=True)
                        self.assertEqual(json.loads(told.stdout)["id"], name, options)
            shown = self.server.json("GET", f"/v1/collections/?collection={once}&{space}")
            self.assertEqual((shown["collection"], shown["size"]), (name, 1))
        self.problem(404, "nothing at this address", "GET", "/v1/collections//documents/?id=1")
        self.problem(404, "nothing at this address", "GET", "/v1/collections/x/documents/?xid=1")
        self.problem(400, "already", "GET", "/v1/collections/x/documents/1?id=1")
        self.problem(400, "already", "GET", "/docs/default/x/1?id=1")

    def test_problems(self):
        self.problem(404, "no-such", "GET", "/v1/collections/no-such/clusters")
        self.problem(404, "nothing at this address", "GET", "/v1/no-such")
        self.problem(404, "nothing at this address", "GET", "/v1/collections/")
        self.problem(404, "nothing at this address", "GET", "/v1/collections/feedback/")
        self.problem(404, "there is no document", "GET", "/v1/collections/feedback/documents/99")
        answer = self.problem(405, "GET", "POST", "/v1/status")
        self.assertEqual(answer.headers["Allow"], "GET")
        self.problem(400, "did you mean", "GET", "/v1/collections/feedback/clusters?sotr=size")
        self.problem(400, "sort", "GET", "/v1/collections/feedback/clusters?sort=colour")
        self.problem(400, "already", "GET", "/v1/collections/feedback?collection=other")
        self.problem(400, "UTF-8", "GET", "/v1/collections/%ff")
        self.problem(400, "%25", "GET", "/v1/collections/%zz")
        self.problem(400, "%25", "GET", "/v1/collections/%4")
        self.problem(400, "twice", "GET", "/v1/collections?namespace=a&namespace=b")
        self.problem(400, "at most 512", "GET", "/v1/collections?namespace=" + 600 * "a")
        self.problem(409, "already", "PUT", "/v1/collections/feedback")
        self.problem(400, "put needs an input", "POST", "/v1/collections/x/documents")
        self.problem(400, "takes 16777216 bytes at most", "POST",
                     "/v1/collections/x/documents?max-document=1G", "{}")
        for path in ("/v1/backup?to=/tmp/x", "/v1/restoration?from=/tmp/x&to=/tmp/y",
                     "/v1/repair?to=/tmp/x"):
            self.problem(403, "only the command", "POST", path)

    def test_verify_needs_a_closed_store(self):
        self.problem(503, "serve", "GET", "/v1/verification")

    def test_created(self):
        answer = self.server.ask("PUT", "/v1/collections/made")
        self.assertEqual(answer.status, 201)
        self.assertEqual(self.server.json("DELETE", "/v1/collections/made")["deleted"], True)

    def test_put_formats(self):
        csv = "id,text\n1,red apple\n2,green pear\n"
        for name, body, kind in (("csv", csv, "text/csv"),
                                 ("tsv", csv.replace(",", "\t"), "text/tab-separated-values"),
                                 ("array", json.dumps(FEEDBACK[:2]), "application/json"),
                                 ("lines", "\n".join(map(json.dumps, FEEDBACK[:2])),
                                  "application/x-ndjson")):
            with self.subTest(name=name):
                put = self.server.json("POST", f"/v1/collections/{name}/documents", body,
                                       Content_Type=kind)
                self.assertEqual((put["read"], put["new"]), (2, 2))

    def test_put_named_file(self):
        """The body is a file: its name is in messages, and tells the format."""
        path = "/v1/collections/named/documents"
        put = self.server.json("POST", path, "id\ttext\n1\tred apple, green\n",
                               Grouperfish_File="%C3%84pfel%20rot.tsv")
        self.assertEqual(put["new"], 1)
        self.problem(400, "no field \"text\" in Äpfel rot.csv; fields found: id, body", "POST", path,
                     "id,body\n1,red\n", Grouperfish_File="%C3%84pfel%20rot.csv")
        for name in ("a%2Fb.csv", "a%00b", "%0A", "x" * 256, "%FF", "%4"):
            with self.subTest(name=name):
                self.assertEqual(self.server.ask("POST", path, "id,text\n2,x\n",
                                                 Grouperfish_File=name).status, 400)

    def test_put_refused(self):
        """Nothing that can be put: the first record's reason; something: the counts."""
        path = "/v1/collections/refused/documents"
        self.problem(400, "body:1: ", "POST", path, '{"id": [1], "text": "a"}\n')
        mixed = self.server.json("POST", path, '{"id":"1","text":"a"}\n{"id": [1], "text": "a"}\n')
        self.assertEqual((mixed["new"], mixed["refused"]), (1, 1))
        self.problem(413, "body", "POST", path + "?max-document=100",
                     json.dumps({"id": "2", "text": "x" * 200}))
        self.problem(400, "no field", "POST", path, '{"id":"1","title":"a"}\n')

    def test_put_chunked_and_large(self):
        """200,000 records without a length: read as they come."""
        def body():
            for start in range(0, 200000, 1000):
                yield b"".join(b'{"id":"%d","text":"word%d other%d"}\n' % (i, i % 1000, i % 77)
                               for i in range(start, start + 1000))
        connection = self.server.connect()
        connection.request("POST", "/v1/collections/large/documents", body=body(),
                           encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        self.assertEqual(json.loads(answer.read())["new"], 200000)
        connection.close()
        count = 0
        connection = self.server.connect()
        connection.request("GET", "/v1/collections/large/memberships?documents",
                           headers={"Accept": "application/x-ndjson"})
        for line in connection.getresponse():
            count += 1
        self.assertEqual((count, json.loads(line)["text"]), (200000, "word999 other53"))
        connection.close()
        self.server.json("DELETE", "/v1/collections/large")

    def test_put_cut_short(self):
        """A body that ends in the middle stores whole records only, and the server goes on. What came
        before a pause is stored in it, so the first record may be, and nothing else."""
        head = (b"POST /v1/collections/cut/documents HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Length: 1000000\r\n\r\n")
        self.server.raw(head + b'{"id":"1","text":"one"}\n{"id":"2","text":"tw')
        answer = self.server.get("/v1/collections/cut")
        if answer.status != 404:
            rows = self.server.json("GET", "/v1/collections/cut/memberships?documents")
            self.assertEqual([(r["id"], r["text"]) for r in rows], [("1", "one")])
        self.assertEqual(self.server.get("/healthz").status, 200)

    def test_nobody_takes_the_answer(self):
        """A reader that leaves in the middle does not keep the operation."""
        self.server.put("long", [{"id": str(i), "text": "x" * 1000} for i in range(5000)])
        for _ in range(3):
            connection = self.server.connect()
            connection.request("GET", "/v1/collections/long/memberships?documents")
            connection.getresponse().read(10000)
            connection.close()
        for _ in range(200):
            if self.server.json("GET", "/v1/stats")["calls_running"] == 0:
                return
        self.fail("calls still run")

    def test_assign(self):
        """Rows while the body still comes, more of them than fit in memory's pipes."""
        body = "".join(json.dumps({"id": str(i), "text": "My browser crashes " * 20}) + "\n"
                       for i in range(20000))
        answer = self.server.ask("POST", "/v1/collections/feedback/assignments?with-text", body,
                                 Accept="application/x-ndjson")
        self.assertEqual(answer.status, 200)
        rows = answer.lines()
        self.assertEqual(len(rows), 20000)
        self.assertEqual({r["label"] for r in rows}, {"crashes"})
        self.assertEqual([r["id"] for r in rows], [str(i) for i in range(20000)])
        told = self.server.json("POST", "/v1/collections/feedback/assignments",
                                '{"id":"a","text":"tabs"}\n{"id":[],"text":"a"}\n')
        self.assertEqual(told[0]["cluster"], 2)
        self.assertEqual(told[1]["notice"]["reason"], "bad_type")

    def test_matrix(self):
        answer = self.server.get("/v1/collections/feedback/memberships?matrix")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.body[:2], b"PK")

    def test_report(self):
        page = self.server.get("/v1/collections/feedback/report", Accept="text/html")
        self.assertEqual(page.headers["Content-Type"], "text/html; charset=utf-8")
        self.assertTrue(page.body.startswith(b"<!doctype html>"))
        self.assertIn("sandbox", page.headers["Content-Security-Policy"])
        self.assertIn("html", self.server.json("GET", "/v1/collections/feedback/report"))

    def test_delete(self):
        self.server.put("shrinking", FEEDBACK)
        gone = self.server.json("DELETE", "/v1/collections/shrinking/documents", "1\n2\nno\n")
        self.assertEqual((gone["deleted"], gone["absent"]), (2, 1))
        gone = self.server.json("DELETE", "/v1/collections/shrinking/documents?where=type=issue")
        self.assertEqual(gone["deleted"], 3)

    def test_etags(self):
        paths = ["/v1/collections/tagged/clusters", "/v1/collections/tagged/clusters/1",
                 "/v1/collections/tagged/documents/1", "/v1/collections/tagged/memberships",
                 "/v1/collections/tagged/clusters/1/documents"]
        feed(self.server, "tagged")
        tags = {}
        for path in paths:
            first = self.server.get(path)
            self.assertEqual(first.status, 200, path)
            tags[path] = first.headers["ETag"]
            build = self.server.json("GET", "/v1/collections/tagged/builds")[0]["build"]
            self.assertTrue(tags[path].startswith(f'"{build}-'))
            again = self.server.get(path, If_None_Match=tags[path])
            self.assertEqual((again.status, again.body), (304, b""))
            self.assertEqual(again.headers["ETag"], tags[path])
            other = self.server.get(path, If_None_Match='"other"')
            self.assertEqual((other.status, other.body), (200, first.body))
        changes = [("PUT", "/v1/collections/tagged/clusters/1/label?text=Broken"),
                   ("POST", "/v1/collections/tagged/documents"),
                   ("DELETE", "/v1/collections/tagged/documents?id=2")]
        for method, change in changes:
            body = '{"id":"9","text":"tabs"}' if method == "POST" else None
            self.server.json(method, change, body)
            for path in paths:
                with self.subTest(path=path, change=change):
                    answer = self.server.get(path, If_None_Match=tags[path])
                    self.assertEqual(answer.status, 200)
                    tags[path] = answer.headers["ETag"]
        self.server.rebuild("tagged", "?force")
        for path in paths[:1]:
            self.assertEqual(self.server.get(path, If_None_Match=tags[path]).status, 200)

    def test_pages_of_a_cluster(self):
        documents = [{"id": f"d-{i}", "text": f"apple pear {'plum' if i % 3 else 'fig'} n{i}"}
                     for i in range(250)]
        self.server.put("paged", documents)
        self.server.json("PATCH", "/v1/collections/paged/configurations/default?set=k=1")
        self.server.rebuild("paged")
        path = "/v1/collections/paged/clusters/1"
        whole = self.server.json("GET", path + "?docs=1000")["documents"]
        self.assertEqual(len(whole), 250)
        given, cursor, pages = [], "", 0
        while True:
            page = self.server.json("GET", f"{path}/documents?limit=60{cursor}")
            given += page["documents"]
            pages += 1
            if "next" not in page:
                break
            cursor = "&cursor=" + quote(page["next"])
            if pages == 2:  # what is published meanwhile does not disturb
                self.server.rebuild("paged", "?force&start=fresh")
        self.assertEqual(pages, 5)
        self.assertEqual([d["id"] for d in given], [d["id"] for d in whole])
        self.assertEqual([d["score"] for d in given], [d["score"] for d in whole])
        self.assertEqual(given[0]["text"], whole[0]["text"])
        self.problem(400, "limit", "GET", path + "/documents?limit=0")
        self.problem(400, "cursor", "GET", path + "/documents?cursor=x")
        self.problem(404, "no cluster 99", "GET", "/v1/collections/paged/clusters/99/documents")
        self.problem(400, "no argument", "GET", path + "/documents?docs=1")

    def test_results(self):
        """One row for each record of a put, once it is stored."""
        body = '{"id":"1","text":"a"}\n{"id":[],"text":"b"}\n\n{"text":"c"}\n'
        rows = self.server.json("POST", "/v1/collections/each/documents?results=each", body)
        self.assertEqual([(r["line"], r["result"]) for r in rows],
                         [(1, "stored"), (2, "refused"), (4, "stored")])
        self.assertEqual(rows[1]["reason"], "bad_type")
        self.assertEqual(rows[0]["id"], "1")
        self.assertEqual(len(rows[2]["id"]) > 8, True)

    def test_keep_alive(self):
        connection = self.server.connect()
        for _ in range(50):
            answer = self.server.ask("GET", "/v1/collections/feedback", connection=connection)
            self.assertEqual(answer.status, 200)
            answer = self.server.ask("GET", "/v1/collections/none", connection=connection)
            self.assertEqual(answer.status, 404)
        connection.close()

    def test_headers_of_every_answer(self):
        for path in ("/v1/collections", "/v1/none", "/healthz", "/", "/openapi.json", "/metrics",
                     "/v1/collections/feedback/memberships"):
            headers = self.server.get(path).headers
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertNotIn("Access-Control-Allow-Origin", headers)


if __name__ == "__main__":
    unittest.main()
