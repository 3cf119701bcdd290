#!/usr/bin/env python3
"""A server that speaks GROBID's route, for tests.

    grobid.py FOLDER COMMAND...     run the command with GROBID set to the server's URL

POST /api/processFulltextDocument takes multipart/form-data whose part "input" is a PDF, and answers
by the PDF's text: what stands behind "answer:" names a file of FOLDER that is sent back, with a
status of 200 (500 where it is not there); "status:" is a status instead; "busy:N" first answers 503 N
times. Requests are told of at the end, in the order of the words, by path and what was asked.
"""
import http.server
import os
import re
import subprocess
import sys
import threading

FOLDER = sys.argv[1]
busy = {}
log = []


class Grobid(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        form = re.match(r"multipart/form-data; *boundary=(.+)", self.headers["Content-Type"])
        parts = body.split(b"--" + form.group(1).encode()) if form else []
        pdf = b""
        for part in parts:
            head, _, rest = part.partition(b"\r\n\r\n")
            if b'name="input"' in head and b"application/pdf" in head:
                pdf = rest[:-2]
        asked = pdf.decode().splitlines()[1:] if pdf else []
        log.append(f"{self.path} {' '.join(asked)}")
        if self.path != "/api/processFulltextDocument" or not pdf.startswith(b"%PDF-"):
            return self.answer(404, b"no such route")
        wanted = dict(line.split(":", 1) for line in asked)
        left = busy.setdefault(pdf, int(wanted.get("busy", 0)))
        if left:
            busy[pdf] = left - 1
            return self.answer(503, b"busy")
        if "status" in wanted:
            return self.answer(int(wanted["status"]), b"[GENERAL] an error")
        path = os.path.join(FOLDER, wanted["answer"])
        if not os.path.exists(path):
            return self.answer(500, b"[GENERAL] an error")
        with open(path, "rb") as f:
            self.answer(200, f.read())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Grobid)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ["GROBID"] = f"http://127.0.0.1:{server.server_port}"
code = subprocess.call(sys.argv[2:])
server.shutdown()
print("\n".join(sorted(log)))  # several are asked at once
sys.exit(code)
