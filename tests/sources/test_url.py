"""put --from url: pages of JSON, what goes wrong with them, and going on where it was."""
import gzip
import http.client
import http.server
import json
import os
import signal
import threading
import time
import unittest
import urllib.parse

import command

TOKEN = "Bearer a-secret-of-somebody"


class Pages(http.server.ThreadingHTTPServer):
    """Tickets 0 to n - 1, `size` on a page. `plan` maps a path with its query, or its n-th request, to what
    goes wrong then: a list of functions of the handler, taken one by one."""
    daemon_threads = True

    def __init__(self, n=10, size=4):
        super().__init__(("127.0.0.1", 0), Handler)
        self.n, self.size, self.plan, self.asked, self.headers = n, size, {}, [], []
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def ticket(self, i):
        return {"id": i, "text": f"ticket {i}", "updated_at": f"2015-02-21T00:00:{i:02}Z", "open": i % 2 == 0}

    def handle_error(self, *_):
        """The program was killed, or had read enough."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        s = self.server
        with s.lock:
            s.asked.append(self.path)
            s.headers.append(dict(self.headers))
            wrong = s.plan.get(self.path, [])
            fault = wrong.pop(0) if wrong else None
        if fault and fault(self):
            return
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        items = [s.ticket(i) for i in range(s.n)]
        if "updated_at" in query:
            items = [t for t in items if t["updated_at"] > query["updated_at"]]
        from_ = int(query.get("from", 0))
        page, rest = items[from_:from_ + s.size], items[from_ + s.size:]
        if url.path == "/flat":
            tag = f'"{s.n}"'
            if self.headers.get("If-None-Match") == tag:
                return self.answer(304, ETag=tag)
            return self.answer(200, json.dumps(items).encode(), ETag=tag)
        query["from"] = from_ + s.size
        following = None if not rest else query["from"] if url.path == "/tokens" else \
            f"{url.path}?{urllib.parse.urlencode(query)}"
        if url.path == "/absolute" and following:
            following = s.address + following
        body = json.dumps({"data": {"tickets": page}, "meta": {"next": following}}).encode()
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            return self.answer(200, gzip.compress(body), Content_Encoding="gzip")
        self.answer(200, body)


def status(code, **headers):
    return lambda h: h.answer(code, b"{}", **headers) or True


def body(text):
    return lambda h: h.answer(200, text) or True


def cut(h):
    """Half of the body that was promised."""
    h.send_response(200)
    h.send_header("Content-Length", "1000")
    h.end_headers()
    h.wfile.write(b'{"data": {"tickets": [')
    h.close_connection = True
    return True


PATHS = ("--items", "$.data.tickets", "--next", "$.meta.next")
SINCE = ("--since-field", "updated_at")


class Url(command.Case):
    def setUp(self):
        super().setUp()
        self.pages = Pages()
        self.addCleanup(self.pages.__exit__)

    def read(self, path="/pages", *words, code=0, **environment):
        return self.put("--from", "url", self.pages.address + path, *words, code=code, **environment)

    # ---- pages -----------------------------------------------------------------------------------

    def test_reads_page_after_page(self):
        for path in ("/pages", "/absolute"):
            row = self.read(path, *PATHS)
            self.assertEqual((row["read"], row["refused"]), (10, 0))
        self.assertEqual(self.documents()["3"], {"id": "3", "text": "ticket 3", "open": False,
                                                 "updated_at": "2015-02-21T00:00:03Z"})
        self.assertEqual(self.pages.asked[:3], ["/pages", "/pages?from=4", "/pages?from=8"])

    def test_reads_tokens_of_pages(self):
        row = self.read("/tokens?x=1", *PATHS, "--next-param", "from")
        self.assertEqual(row["new"], 10)
        self.assertEqual(self.pages.asked, ["/tokens?x=1", "/tokens?x=1&from=4", "/tokens?x=1&from=8"])

    def test_one_page_is_not_sent_again_while_it_is_the_same(self):
        self.assertEqual(self.read("/flat")["new"], 10)
        self.assertEqual(self.read("/flat")["read"], 0)
        self.assertEqual(self.pages.headers[1]["If-None-Match"], '"10"')
        self.pages.n = 11
        self.assertEqual(self.read("/flat")["new"], 1)
        self.assertEqual(self.read("/flat", "--again")["unchanged"], 11)

    def test_a_page_that_is_the_same_though_all_was_asked_for(self):
        """Nothing was read: the run has not come to its end."""
        self.pages.plan = {"/flat": [status(304)], "/pages?from=4": [status(304)]}
        said = "status 304 (the same as before), and that was not asked"
        self.assertIn(said, self.read("/flat", code=2))
        self.assertIn(said, self.read("/pages", *PATHS, code=2))
        self.assertEqual(self.read("/flat")["read"], 10)

    def test_a_tag_is_of_its_address(self):
        self.assertEqual(self.read("/flat", "--source", "desk")["new"], 10)
        self.assertEqual(self.read("/flat", "--source", "desk")["read"], 0)
        self.assertEqual(self.read("/flat?all=1", "--source", "desk")["read"], 10)
        self.assertEqual(self.read("/flat?all=1", "--source", "desk")["read"], 0)
        tags = [headers.get("If-None-Match") for headers in self.pages.headers]
        self.assertEqual(tags, [None, '"10"', None, '"10"'])

    def test_goes_on_with_what_is_newer(self):
        self.assertEqual(self.read("/pages", *PATHS, *SINCE)["new"], 10)
        self.pages.n = 13
        self.pages.asked.clear()
        self.assertEqual(self.read("/pages", *PATHS, *SINCE)["read"], 3)
        self.assertEqual(self.pages.asked, ["/pages?updated_at=2015-02-21T00%3a00%3a09Z"])
        self.assertEqual(self.read("/pages", *PATHS, *SINCE)["read"], 0)
        [place] = self.places()
        self.assertEqual(json.loads(place["place"]), {"since": "2015-02-21T00:00:12Z"})
        self.assertRegex(place["source"], "^url-[0-9a-f]{32}$")
        self.assertEqual(self.read("/pages", *PATHS, *SINCE, "--again")["unchanged"], 13)

    def test_a_source_may_be_named(self):
        self.read("/pages", *PATHS, *SINCE, "--source", "desk")
        self.pages.n = 11
        row = self.read("/absolute", *PATHS, *SINCE, "--source", "desk")
        self.assertEqual(row["read"], 1)
        self.assertEqual([p["source"] for p in self.places()], ["desk"])

    # ---- what goes wrong ---------------------------------------------------------------------------

    def test_asks_again(self):
        self.pages.plan = {"/pages": [status(500), status(429, Retry_After="1")],
                           "/pages?from=4": [cut, body(b'{"data": {"tickets": [{"id": 1'), status(503, Retry_After="1")]}
        row = self.read("/pages", *PATHS)
        self.assertEqual((row["new"], row["refused"]), (10, 0))
        self.assertEqual(len(self.pages.asked), 3 + 5)

    def test_waits_as_long_as_it_is_told(self):
        self.pages.plan = {"/pages": [status(429, Retry_After="3")]}
        began = time.monotonic()
        self.read("/pages", *PATHS)
        self.assertGreaterEqual(time.monotonic() - began, 2.9)
        self.pages.plan = {"/pages": [status(429, Retry_After="4000")]}
        self.assertIn("status 429, and wants to be asked in 4000 s", self.read("/pages", *PATHS, code=6))

    def test_what_cannot_be_right_ends_it(self):
        for fault, said, code in ((status(401), "status 401 (is the header right? --header-file)", 2),
                                  (status(404), "status 404", 2),
                                  (body(b'{"data": {}}'), "$.data.tickets is not in the page", 2),
                                  (body(b'{"data": {"tickets": 7}}'), "$.data.tickets is no array", 2),
                                  (body(b'{"data": {"tickets": []}, "meta": {"next": 5}}'), "$.meta.next is no address", 2)):
            self.pages.plan = {"/pages": [fault]}
            self.assertIn(said, self.read("/pages", *PATHS, code=code))
        self.pages.plan = {"/pages": [body(b'{"data": {"tickets": null}}')]}
        self.assertEqual(self.read("/pages", *PATHS)["read"], 0)

    def test_records_that_are_none_are_refused(self):
        items = [{"id": "a", "text": "good"}, 7, {"$place": "elsewhere"}, {"id": "b"}]
        self.pages.plan = {"/pages": [body(json.dumps({"data": {"tickets": items}}).encode())]}
        row = self.read("/pages", *PATHS, code=3)
        self.assertEqual((row["new"], row["reasons"]), (1, {"bad_type": 2, "no_text": 1}))
        self.assertNotIn("elsewhere", json.dumps(self.places()))

    def test_circles_end(self):
        loop = json.dumps({"data": {"tickets": []}, "meta": {"next": "/pages?from=4"}}).encode()
        self.pages.plan = {"/pages?from=4": [body(loop)] * 9}
        self.assertIn("the pages go round in a circle", self.read("/pages", *PATHS, code=6))
        self.assertLess(len(self.pages.asked), 9)

    def test_an_address_is_relative_to_the_one_that_answered(self):
        page = json.dumps({"data": {"tickets": []}, "meta": {"next": "?from=4"}}).encode()
        self.pages.plan = {"/pages": [status(302, Location="/moved/pages")], "/moved/pages": [body(page)]}
        self.assertEqual(self.read("/pages", *PATHS)["new"], 6)
        self.assertEqual(self.pages.asked[:3], ["/pages", "/moved/pages", "/moved/pages?from=4"])

    def test_addresses_of_a_server_have_no_password(self):
        with_password = self.pages.address.replace("//", "//me:secret@") + "/pages"
        self.pages.plan = {"/pages": [status(302, Location=with_password)]}
        said = self.read("/pages", *PATHS, code=2)
        self.assertIn("the server leads to pages at an address with a name or password in it", said)
        self.assertNotIn("secret", said)
        self.pages.plan = {"/pages": [status(302, Location="ftp://127.0.0.1/pages")]}
        self.assertIn("the server leads to what is no address of pages", self.read("/pages", *PATHS, code=2))

    def test_headers_are_bounded(self):
        def many(handler):
            handler.send_response(200)
            for i in range(400):
                handler.send_header(f"X-{i}", "x" * 1000)
            handler.end_headers()
            handler.close_connection = True
            return True

        self.pages.plan = {"/pages": [many]}
        self.assertIn("an answer with more than 256 KiB of headers", self.read("/pages", *PATHS, code=6))
        self.assertEqual(len(self.pages.asked), 1)

    def test_control_bytes_are_in_no_place(self):
        page = json.dumps([{"id": 1, "text": "a", "updated_at": "2015\n"}, {"id": 2, "text": "b", "updated_at": "2014"}]).encode()
        self.pages.plan = {"/flat": [body(page)]}
        self.assertEqual(self.read("/flat", *SINCE)["new"], 2)
        self.assertEqual(json.loads(self.places()[0]["place"]), {"since": "2014"})
        self.pages.plan = {"/tagged": [lambda h: h.answer(200, b'[]', ETag='"a\x01b"') or True] * 2}
        self.read("/tagged", "--source", "tagged")
        self.assertEqual(self.read("/tagged", "--source", "tagged")["read"], 0)
        self.assertNotIn("If-None-Match", self.pages.headers[-1])

    def test_redirections_are_bounded(self):
        self.pages.plan = {"/pages": [status(302, Location="/absolute")]}
        self.assertEqual(self.read("/pages", *PATHS)["new"], 10)
        self.pages.plan = {"/pages": [status(302, Location="/pages")] * 9}
        self.assertIn("more than 5 redirections", self.read("/pages", *PATHS, "--again", code=6))

    def test_other_origins_get_no_header(self):
        headers = self.file("headers", f"# of the desk\nAuthorization: {TOKEN}\r\n\nX-Key: k\n")
        with Pages() as other:
            for plan in ({"/pages": [status(302, Location=other.address + "/pages")]},
                         {"/pages": [body(json.dumps({"data": {"tickets": []}, "meta": {"next": other.address + "/pages"}}).encode())]}):
                self.pages.plan = {k: list(v) for k, v in plan.items()}
                said = self.read("/pages", *PATHS, "--header-file", headers, "--again", code=2)
                self.assertIn(f"leads to {other.address}/pages, which is another origin", said)
                self.assertEqual(other.asked, [])
                self.pages.plan = plan
                self.read("/pages", *PATHS, "--header-file", headers, "--other-origins", "--again")
                self.assertEqual(self.pages.headers[-1]["Authorization"], TOKEN)
                self.assertEqual(self.pages.headers[-1]["X-Key"], "k")
                self.assertNotIn("Authorization", other.headers[0])
                other.asked.clear()
                other.headers.clear()

    # ---- secrets -----------------------------------------------------------------------------------

    def test_headers_are_told_to_nobody(self):
        headers = self.file("headers", f"Authorization: {TOKEN}\n", mode=0o644)
        self.assertIn("headers", self.read("/pages", *PATHS, "--header-file", headers, code=2))
        self.assertEqual(self.pages.asked, [])
        os.chmod(headers, 0o600)
        self.pages.plan = {"/pages": [status(403)]}
        said = self.read("/pages?key=secret", *PATHS, "--header-file", headers)
        self.pages.plan = {"/pages?key=secret": [status(403)]}
        said = self.read("/pages?key=secret", *PATHS, "--header-file", headers, code=2, **{})
        self.assertNotIn("secret", said)
        self.assertNotIn(TOKEN, json.dumps(self.places()))
        bad = self.file("bad", "no header\n")
        self.assertIn("line 1 of the headers is not", self.read("/pages", *PATHS, "--header-file", bad, code=2))

    def test_addresses_are_checked(self):
        for address, said in (("http://me:secret@127.0.0.1/x", "put the header Authorization into a file"),
                              ("ftp://127.0.0.1/x", "begins with https:// or http://"),
                              ("file:///etc/passwd", "begins with https:// or http://"),
                              ("tickets.json", "begins with https:// or http://")):
            answer = self.put("--from", "url", address, code=2)
            self.assertIn(said, answer)
            self.assertNotIn("secret", answer)
        self.assertIn("no path of members", self.read("/pages", "--items", "tickets", code=2))
        self.assertIn("--next says where", self.read("/pages", "--next-param", "x", code=2))
        self.assertIn("--since-field says", self.read("/pages", "--since-param", "x", code=2))
        self.assertIn("--items goes with --from url", self.put("a.jsonl", "--items", "$", code=2))
        self.assertIn("is a pattern", self.run_program(
            "put", "{type}", "--from", "url", self.pages.address + "/flat").err)

    # ---- killed, stopped ---------------------------------------------------------------------------

    def stop_in_the_middle(self, number):
        """End a put while the third page is waited for; its first two are on disk, and so is the place."""
        waits, go_on = threading.Event(), threading.Event()

        def wait(_):
            waits.set()
            go_on.wait(command.LONG)
            return False

        self.pages.plan = {"/pages?from=4": [lambda _: time.sleep(1.2)], "/pages?from=8": [wait]}
        process = self.start("put", "tickets", "--from", "url", self.pages.address + "/pages", *PATHS, *SINCE)
        self.assertTrue(waits.wait(command.LONG))
        process.send_signal(number)
        _, said = process.communicate(timeout=command.LONG)
        go_on.set()
        self.pages.plan = {}
        self.pages.asked.clear()
        return process.returncode, said

    def test_goes_on_after_kill(self):
        code, _ = self.stop_in_the_middle(signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)
        held = self.documents()
        [place] = self.places()
        self.assertEqual(json.loads(place["place"])["next"], self.pages.address + "/pages?from=8")
        self.assertLessEqual({str(i) for i in range(8)}, set(held))
        row = self.read("/pages", *PATHS, *SINCE)
        self.assertEqual(self.pages.asked, ["/pages?from=8"])
        self.assertEqual(len(self.documents()), 10)
        self.assertEqual(json.loads(self.places()[0]["place"]), {"since": "2015-02-21T00:00:09Z"})
        self.assertEqual(row["read"], 2)

    def test_goes_on_after_a_stop(self):
        code, said = self.stop_in_the_middle(signal.SIGINT)
        self.assertEqual(code, 130)
        self.assertIn("the same command goes on", said)
        self.assertEqual(self.read("/pages", *PATHS, *SINCE)["read"], 2)
        self.assertEqual(len(self.documents()), 10)

    def test_begins_anew_where_the_page_has_gone(self):
        self.stop_in_the_middle(signal.SIGKILL)
        self.pages.plan = {"/pages?from=8": [status(410)]}
        row = self.read("/pages", *PATHS, *SINCE)
        self.assertEqual((row["read"], len(self.documents())), (10, 10))

    def test_a_failure_keeps_the_place(self):
        self.pages.plan = {"/pages?from=8": [status(404)]}
        self.read("/pages", *PATHS, *SINCE, code=2)
        self.assertEqual(len(self.documents()), 8)
        self.pages.asked.clear()
        self.assertEqual(self.read("/pages", *PATHS, *SINCE)["new"], 2)
        self.assertEqual(self.pages.asked, ["/pages?from=8"])

    def test_nothing_is_kept_without_a_collection(self):
        self.pages.n = 0
        self.assertEqual(self.read("/pages", *PATHS, *SINCE)["read"], 0)
        self.assertFalse(os.path.exists(self.store))

    # ---- elsewhere ---------------------------------------------------------------------------------

    def test_a_server_takes_the_records_but_asks_nobody(self):
        served = self.start("serve", "--listen", "127.0.0.1:0")
        self.addCleanup(served.wait)
        self.addCleanup(served.terminate)
        line = next(line for line in served.stderr if "listening address=" in line)
        threading.Thread(target=served.stderr.read, daemon=True).start()
        port = line.split("listening address=")[1].split()[0].rsplit(":", 1)[1]
        # By the socket of the process that holds the store, and by HTTP.
        self.assertEqual(self.read("/pages", *PATHS, *SINCE)["read"], 10)
        self.where = ("--server", f"http://127.0.0.1:{port}")
        self.pages.n = 11
        self.assertEqual(self.read("/pages", *PATHS, *SINCE)["read"], 1)
        self.assertEqual(json.loads(self.places()[0]["place"]), {"since": "2015-02-21T00:00:10Z"})
        request = http.client.HTTPConnection("127.0.0.1", int(port))
        request.request("POST", "/v1/collections/x/documents?from=url", body=b"http://127.0.0.1/")
        answer = request.getresponse()
        self.assertEqual(answer.status, 400)
        self.assertIn(b"no server asks other hosts", answer.read())
        request.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
