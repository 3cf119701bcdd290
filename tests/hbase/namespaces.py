"""Namespaces of a running HBase, by calls of its Thrift2 gateway (TBinary, framed)."""
import itertools
import os
import socket
import struct
import sys
from urllib.parse import urlsplit

STRING, STRUCT, MAP, LIST, STOP = 11, 12, 13, 15, 0
numbers = itertools.count(1)


def url():
    """The gateway's, as GROUPERFISH_HBASE has it; without it the test is skipped."""
    if not os.environ.get("GROUPERFISH_HBASE"):
        print("skipped: GROUPERFISH_HBASE is not set")
        sys.exit(77)
    return os.environ["GROUPERFISH_HBASE"].rstrip("/")


def text(s):
    return struct.pack(">i", len(s.encode())) + s.encode()


def field(kind, number, value):
    return struct.pack(">bh", kind, number) + value


def receive(to, n):
    got = b""
    while len(got) < n:
        part = to.recv(n - len(got))
        if not part:
            raise RuntimeError("the gateway closed the connection")
        got += part
    return got


def call(method, arguments):
    at = urlsplit(url())
    message = struct.pack(">I", 0x80010001) + text(method) + struct.pack(">i", next(numbers)) + arguments + bytes([STOP])
    with socket.create_connection((at.hostname, at.port or 9090), timeout=120) as to:
        to.sendall(struct.pack(">i", len(message)) + message)
        return receive(to, struct.unpack(">i", receive(to, 4))[0])


def make(name):
    """A namespace that is new, or has no tables of an earlier run."""
    made = call("createNamespace", field(STRUCT, 1, field(STRING, 1, text(name)) + bytes([STOP])))
    if b"already exists" not in made and b"NamespaceExist" not in made and len(made) > 200:
        raise RuntimeError(f"createNamespace {name}: {made!r}")
    for table in tables(name):
        of = field(STRUCT, 1, field(STRING, 1, text(name)) + field(STRING, 2, text(table)) + bytes([STOP]))
        call("disableTable", of)
        call("deleteTable", of)
    if tables(name):
        raise RuntimeError(f"the namespace {name} still has {tables(name)}")
    return f"{url()}/{name}"


def tables(name):
    """The names of a namespace's tables."""
    answer = call("getTableNamesByNamespace", field(STRING, 1, text(name)))
    at = 8 + len("getTableNamesByNamespace") + 4
    if answer[at] != LIST:
        return []
    n, at, names = struct.unpack(">i", answer[at + 4:at + 8])[0], at + 8, []
    for _ in range(n):
        while answer[at] != STOP:
            number, size = struct.unpack(">h", answer[at + 1:at + 3])[0], struct.unpack(">i", answer[at + 3:at + 7])[0]
            if number == 2:
                names.append(answer[at + 7:at + 7 + size].decode())
            at += 7 + size
        at += 1
    return names
