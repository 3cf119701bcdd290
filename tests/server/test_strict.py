"""The form of requests: whatever two readers could read in two ways is refused."""
import json
import socket
import unittest

from served import Served

ENDS = 9  # seconds in which a connection is ended; one whose head is waited for has ten
GET = b"GET /v1/collections HTTP/1.1\r\n"
PUT = b"POST /v1/collections/x/documents HTTP/1.1\r\n"
HOST = b"Host: localhost\r\n"
RECORD = b'{"id":"1","text":"a"}\n'  # 22 bytes
CHUNKED = b"16\r\n" + RECORD + b"\r\n0\r\n\r\n"
DOOR = b"POST /v1/operations/clusters HTTP/1.1\r\n" + HOST

# (what is wrong, the request, status)
REFUSED = [
    ("lengths", PUT + HOST + b"Content-Length: 22\r\nContent-Length: 5\r\n\r\n" + RECORD, 400),
    ("lengths, the lower first", PUT + HOST + b"Content-Length: 5\r\nContent-Length: 22\r\n\r\n" + RECORD, 400),
    ("length and coding", PUT + HOST + b"Content-Length: 22\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED, 400),
    ("space before the colon", GET + HOST + b"X : a\r\n\r\n", 400),
    ("space, of a length", PUT + HOST + b"Content-Length : 22\r\n\r\n" + RECORD, 400),
    ("tab before the colon", GET + HOST + b"X\t: a\r\n\r\n", 400),
    ("name", GET + HOST + b"a(b): foo\r\n\r\n", 400),
    ("no name", GET + HOST + b": foo\r\n\r\n", 400),
    ("hosts", GET + HOST + b"Host: evil.example\r\n\r\n", 400),
    ("the same host twice", GET + HOST + HOST + b"\r\n", 400),
    ("no host", GET + b"\r\n", 400),
    ("NUL", GET + HOST + b"X: a\0b\r\n\r\n", 400),
    ("NUL before others", GET + b"X: a\0b\r\n" + HOST + b"\r\n", 400),
    ("NULs", GET + HOST + b"X: a\0\0Y: b\r\n\r\n", 400),
    ("NULs at the end", GET + HOST + b"X: a\0\0\r\n\r\n", 400),
    ("NUL in the target", b"GET /v1/collections\0x HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    ("CR", GET + HOST + b"X: a\rY: b\r\n\r\n", 400),
    ("LF", GET + HOST + b"X: a\nY: b\r\n\r\n", 400),
    ("control character", GET + HOST + b"X: a\x01b\r\n\r\n", 400),
    ("continued line", GET + HOST + b"X: a\r\n b\r\n\r\n", 400),
    ("continued by a tab", GET + HOST + b"X: a\r\n\tb\r\n\r\n", 400),
    ("continued host", GET + b"Host: localhost\r\n b\r\n\r\n", 400),
    ("continued coding", PUT + HOST + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + CHUNKED, 400),
    ("continued before others", GET + b"X: a\r\n b\r\n" + HOST + b"\r\n", 400),
    ("first line continued", GET + b" X: a\r\n" + HOST + b"\r\n", 400),
    ("codings", PUT + HOST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED, 400),
    ("coding of HTTP/1.0", PUT.replace(b"1.1", b"1.0") + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKED, 400),
    ("gzip", PUT + HOST + b"Transfer-Encoding: gzip\r\n\r\n" + CHUNKED, 501),
    ("gzip, chunked", PUT + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKED, 501),
    ("xchunked", PUT + HOST + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKED, 501),
    ("chunked, identity", PUT + HOST + b"Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNKED, 501),
    ("upgrade", DOOR + b"Upgrade: grouperfish/1\r\n\r\n", 400),
    ("upgrade to keep alive", DOOR + b"Upgrade: grouperfish/1\r\nConnection: keep-alive\r\n\r\n", 400),
    ("upgrade of a read", GET + HOST + b"Upgrade: h2c\r\n\r\n", 400),
    ("spaces", b"GET  /v1/collections HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    ("space in the target", b"GET /v1/col lections HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    ("number and name", GET + b"Host: [::1].evil.example\r\n\r\n", 400),
    ("user", GET + b"Host: localhost:x@evil\r\n\r\n", 400),
    ("user and port", GET + b"Host: localhost@evil.example:80\r\n\r\n", 400),
    ("port", GET + b"Host: localhost:12a\r\n\r\n", 400),
    ("large port", GET + b"Host: localhost:99999\r\n\r\n", 400),
    ("open bracket", GET + b"Host: [::1\r\n\r\n", 400),
    ("bracket", GET + b"Host: [\r\n\r\n", 400),
]

TAKEN = [
    ("plain", GET + HOST + b"\r\n"),
    ("HTTP/1.0 without a host", GET.replace(b"1.1", b"1.0") + b"\r\n"),
    ("no spaces", GET + b"Host:localhost\r\nX:\r\n\r\n"),
    ("many spaces", GET + b"Host: \t localhost\r\nX:  \t\r\nY: a\tb \r\n\r\n"),
    ("query", GET.replace(b"collections", b"collections?&namespace=a%2Fb") + HOST + b"\r\n"),
    ("beyond ASCII", GET + HOST + b"X: \xc3\xa4\xff\r\n\r\n"),
    ("cookies", GET + HOST + b"Cookie: a=1; b=\"2\"; c\r\nX: 1\r\n\r\n"),
    ("IPv6", GET + b"Host: [::1]:80\r\n\r\n"),
    ("port", GET + b"Host: LOCALHOST:\r\n\r\n"),
    ("many headers", GET + HOST + b"".join(b"X-%d: %d\r\n" % (i, i) for i in range(300)) + b"\r\n"),
    ("long header", GET + HOST + b"X: " + b"a" * 7000 + b"\r\nY: b\r\n\r\n"),
    ("upgrade that is not known", GET + HOST + b"Upgrade: h2c\r\nConnection: HTTP2-Settings, upgrade\r\n\r\n"),
    ("length", PUT + HOST + b"Content-Length: 22\r\n\r\n" + RECORD),
    ("chunked", PUT + HOST + b"Transfer-Encoding: Chunked\r\n\r\n" + CHUNKED),
]


class Form(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Served().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def check_refused(self, told, status):
        """One problem, at once, and the end of the connection."""
        head, _, body = told.partition(b"\r\n\r\n")
        self.assertEqual(head.split(b" ")[1], b"%d" % status, told)
        self.assertIn(b"Content-Type: application/problem+json", head)
        self.assertIn(b"Connection: close", head)
        problem = json.loads(body)  # and nothing follows: no second request is seen
        self.assertEqual(problem["status"], status)
        self.assertTrue(problem["detail"])

    def test_refused(self):
        for name, request, status in REFUSED:
            with self.subTest(name=name):
                self.check_refused(self.server.raw(request, ENDS, half_close=False), status)
        self.assertEqual(self.server.json("GET", "/v1/collections"), [])

    def test_refused_later(self):
        """Behind a good request on the same connection, and with another hidden behind it."""
        for name, request, status in REFUSED:
            with self.subTest(name=name):
                told = self.server.raw(GET + HOST + b"\r\n" + request + GET + HOST + b"\r\n", ENDS,
                                       half_close=False)
                self.assertEqual(told.count(b"HTTP/1.1 200"), 1, told)
                self.check_refused(told[told.rindex(b"HTTP/1.1 %d" % status):], status)

    def send(self, pieces, ends=True):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for piece in pieces:
                s.sendall(piece)
            answer = b""
            while b"\r\n\r\n" not in answer:
                part = s.recv(65536)
                if not part:
                    break
                answer += part
        return answer

    def test_taken(self):
        for name, request in TAKEN:
            with self.subTest(name=name):
                self.assertEqual(self.send([request]).split(b" ")[1], b"200")
                self.assertEqual(self.send([TAKEN[0][1] + request]).split(b" ")[1], b"200")
        self.server.json("DELETE", "/v1/collections/x")

    def test_in_pieces(self):
        """The same, however the bytes come."""
        for name, request in TAKEN:
            for size in (1, 7) if len(request) < 1000 else (333,):
                with self.subTest(name=name, size=size):
                    pieces = [request[i:i + size] for i in range(0, len(request), size)]
                    self.assertEqual(self.send(pieces).split(b" ")[1], b"200")
        for name, request, status in REFUSED:
            with self.subTest(name=name):
                end = request.index(b"\r\n\r\n") + 4
                told = self.send([request[i:i + 5] for i in range(0, end, 5)])
                self.assertEqual(told.split(b" ")[1], b"%d" % status)
        self.server.json("DELETE", "/v1/collections/x")


if __name__ == "__main__":
    unittest.main()
