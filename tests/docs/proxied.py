"""nginx before servers of the program, with the configuration of a page of docs/how-to as it stands there."""
import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ["GROUPERFISH_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "server"))
from served import PROGRAM, Served  # noqa: E402,F401

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
TOKEN = "a-token-of-more-than-sixteen-bytes"
SECONDS = 60


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def block(page):
    with open(os.path.join(SOURCE, "docs", "how-to", page), encoding="utf-8") as f:
        return re.search(r"^```nginx\n(.*?)^```$", f.read(), re.M | re.S).group(1)


class Proxied:
    """nginx in a folder of its own; `lines` puts others in the place of some of the page's."""

    def __init__(self, page, lines):
        self.port, self.folder = free_port(), tempfile.mkdtemp(prefix="grouperfish-nginx-")
        self.certificate = os.path.join(self.folder, "cert.pem")
        key = os.path.join(self.folder, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key,
                        "-out", self.certificate, "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost,DNS:cluster.example"],
                       check=True, capture_output=True)
        text = block(page)
        for old, new in (*lines.items(), ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
                         ("/etc/ssl/cluster.example.pem", self.certificate), ("/etc/ssl/cluster.example.key", key)):
            assert old in text, old
            text = text.replace(old, new)
        paths = "".join(f"{kind}_temp_path {self.folder}/{kind};\n"
                        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(os.path.join(self.folder, "nginx.conf"), "w", encoding="utf-8") as f:
            f.write(f"daemon off;\npid {self.folder}/pid;\nerror_log stderr;\nevents {{}}\n"
                    f"http {{\naccess_log off;\n{paths}{text}}}\n")

    def __enter__(self):
        self.log = open(os.path.join(self.folder, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([NGINX, "-p", self.folder, "-c", os.path.join(self.folder, "nginx.conf"),
                                         "-e", "stderr"], stderr=self.log)
        end = time.monotonic() + SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.log.seek(0)
                    raise AssertionError("nginx: " + self.log.read())
                time.sleep(0.02)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(SECONDS)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, method, path, body=None, token=TOKEN, host="cluster.example", **headers):
        context = ssl.create_default_context(cafile=self.certificate)
        connection = http.client.HTTPSConnection("localhost", self.port, context=context, timeout=SECONDS)
        headers = {"Host": host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if token:
            headers["Authorization"] = "Bearer " + token
        connection.request(method, path, body=body, headers=headers, encode_chunked=not isinstance(body, bytes))
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def command(self, *words, **options):
        token = os.path.join(self.folder, "token")
        with open(os.open(token, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as f:
            f.write(TOKEN + "\n")
        return subprocess.run([PROGRAM, *words, "--server", f"https://localhost:{self.port}", "--token-file", token],
                              capture_output=True, text=True, timeout=SECONDS,
                              env={**os.environ, "SSL_CERT_FILE": self.certificate}, **options)
