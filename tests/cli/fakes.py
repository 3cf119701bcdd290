"""What stands where a server is looked for: one that answers with given bytes, and one in between."""
import socket
import ssl
import threading
import time


class Answers(threading.Thread):
    """Takes connections one after the other, and answers each with the next of these bytes."""

    def __init__(self, *answers, keep=False):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.answers, self.asked, self.keep, self.times = list(answers), [], keep, []
        self.start()

    def run(self):
        try:
            while True:
                s, _ = self.listener.accept()
                self.times.append(time.monotonic())
                self.asked.append(s.recv(65536))
                s.sendall(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])
                if not self.keep:
                    s.close()
        except OSError:
            pass


class Between(threading.Thread):
    """Passes bytes on to a server, by TLS where it has a certificate; `cut` ends all of it."""

    def __init__(self, port, certificate=None):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.to, self.open, self.down, self.passed = self.listener.getsockname()[1], port, [], False, 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if certificate else None
        if certificate:
            self.context.load_cert_chain(certificate)
        self.start()

    def run(self):
        while True:
            try:
                s, _ = self.listener.accept()
                if self.context:
                    s = self.context.wrap_socket(s, server_side=True)
            except ssl.SSLError:
                continue
            except OSError:
                return
            other = socket.create_connection(("127.0.0.1", self.to))
            self.open += [s, other]
            for a, b in ((s, other), (other, s)):
                threading.Thread(target=self.carry, args=(a, b), daemon=True).start()

    def carry(self, a, b):
        try:
            while data := a.recv(65536):
                self.passed += len(data)
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.listener.close()
        for s in self.open:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
