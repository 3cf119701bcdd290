"""A language model in name only: a server that speaks POST /v1/chat/completions, for who tests what asks one.

`python3 model.py PORT` answers until it is ended.
"""
import http.server
import json
import sys
import threading
import time


def completion(text, reason="stop"):
    return json.dumps({"id": "c-1", "object": "chat.completion", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}]}).encode()


class Model(http.server.ThreadingHTTPServer):
    """A model that answers "About PHRASES". `plan` is what goes wrong instead, one for each call: functions of
    the handler."""
    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.plan, self.asked, self.headers, self.paths, self.times = [], [], [], [], []
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """The program was stopped."""

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

    def say(self, text, reason="stop"):
        self.answer(200, completion(text, reason), Content_Type="application/json")

    def do_POST(self):
        s = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with s.lock:
            s.asked.append(body)
            s.headers.append(self.headers)
            s.paths.append(self.path)
            s.times.append(time.monotonic())
            wrong = s.plan.pop(0) if s.plan else None
        if wrong:
            return wrong(self)
        self.say("About " + " and ".join(json.loads(body["messages"][1]["content"])["phrases"][:3]))


if __name__ == "__main__":
    with Model(int(sys.argv[1])):
        threading.Event().wait()
