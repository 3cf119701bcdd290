"""Whoever else talks to a socket, or answers on one."""
import os
import shutil
import socket
import struct
import threading
import time
import unittest

from sharing import HELD, LONG, Store, frame


HELLO = frame(1, b"GFSH" + struct.pack(">I", 1))


def string(text):
    assert len(text) < 128
    return bytes([len(text)]) + text


class Wire(Store):
    def fake_holder(self, answer):
        """What binds the socket answers with these bytes, and then hangs up."""
        os.makedirs(self.store, exist_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.join(self.store, "socket"))
        listener.listen()

        def serve():
            while True:
                try:
                    s, _ = listener.accept()
                    s.recv(1 << 16)
                    s.sendall(answer)
                    s.close()
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        self.addCleanup(listener.close)

    def test_another_version(self):
        self.fake_holder(frame(1, b"GFSH" + struct.pack(">I", 99) + b"process 7 (grouperfish put)"))
        code, _, err = self.run_command("status")
        self.assertEqual(code, 4)
        self.assertIn("process 7 (grouperfish put) holds the store, and is of another version", err)

    def test_strangers(self):
        for answer in (b"HTTP/1.1 400 Bad Request\r\n\r\n" * 10, frame(9, b"?"), b"\xff" * 99):
            with self.subTest(answer):
                shutil.rmtree(self.store, ignore_errors=True)
                self.fake_holder(answer)
                code, _, err = self.run_command("status")
                self.assertIn(code, (2, 4), err)
                self.assertTrue(err)

    @unittest.skipIf(os.getuid(), "only root can be two users")
    def test_another_user(self):
        """Whoever may write in the folder puts a socket there: nothing is sent to it, nor believed."""
        os.makedirs(self.store, exist_ok=True)
        for folder in (os.path.dirname(self.store), self.store):
            os.chmod(folder, 0o777)
        ready, told = os.pipe()
        child = os.fork()
        if child == 0:
            got = 0
            try:
                os.setgid(65534)
                os.setuid(65534)
                os.chdir(self.store)
                listener = socket.socket(socket.AF_UNIX)
                listener.bind("socket")
                listener.listen()
                listener.settimeout(LONG)
                os.write(told, b".")
                s, _ = listener.accept()
                s.settimeout(LONG)
                got = len(s.recv(1 << 16))
            except OSError:
                got = 99
            os._exit(0 if got == 0 else 1)
        self.assertEqual(os.read(ready, 1), b".")
        code, _, err = self.run_command("status")
        self.assertEqual(code, 6, err)
        self.assertIn("of another user (number 65534) answers, which is not trusted", err)
        self.assertEqual(os.waitpid(child, 0)[1], 0, "it was sent something")

    def test_a_link(self):
        self.fake_holder(frame(1, b"?"))
        place = os.path.join(self.store, "socket")
        os.rename(place, place + ".other")
        os.symlink("socket.other", place)
        code, _, err = self.run_command("status")
        self.assertEqual(code, 6, err)
        self.assertIn("the store's socket is a link", err)

    def test_one_that_hangs_up(self):
        self.fake_holder(b"")
        code, _, err = self.run_command("status", "--wait", "0.5")
        self.assertEqual(code, 4)
        self.assertIn("has ended", err)

    def test_bad_messages(self):
        """Whatever callers send, the holder goes on answering."""
        holder = self.holder()
        call = bytes([31]) + string(b"put") + string(b"default") + string(b".") + bytes([0])
        fuzz = [b"", b"\0", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 70000, frame(1, b"nonsense"),
                struct.pack(">IB", 1 << 31, 1), HELLO + b"\xff\xff\xff\xff\x02",
                HELLO + frame(2, b""), HELLO + frame(2, b"\x01"), HELLO + frame(99, b"x"),
                HELLO + frame(2, call[:-1] + b"\xff\xff\xff\xff\x0f"),
                HELLO + frame(2, call + b"more"),
                HELLO + frame(2, bytes([0]) + string(b"no such operation") + string(b"d") + b"\0\0"),
                HELLO + frame(2, bytes([0]) + string(b"repair") + string(b"d") + b"\0\0"),
                HELLO + frame(2, bytes([0]) + string(b"status") + string(b"d\0") + string(b"a\0b") + b"\0"),
                HELLO + frame(2, call) + frame(4, b"never asked for") * 3,
                HELLO + frame(2, call) + frame(2, call),
                HELLO + frame(2, call) + frame(7) * 1000,
                HELLO + frame(0x82, call) * 200 + frame(0x83),
                HELLO + frame(0x82, b"x" * 65536) * 200,
                HELLO + frame(2, call)]
        for data in fuzz:
            for hang_up in (True, False):
                s = socket.socket(socket.AF_UNIX)
                s.settimeout(LONG)
                s.connect(os.path.join(self.store, "socket"))
                try:
                    s.sendall(data)
                    if not hang_up and data != b"" and data != b"\0":
                        s.shutdown(socket.SHUT_WR)
                        while s.recv(1 << 16):
                            pass
                except (BrokenPipeError, ConnectionResetError):
                    pass
                s.close()
            self.assertIsNone(holder.poll(), data[:99])
        self.good("status")
        self.assertEqual(self.end(holder)[0], 0)
        self.assertEqual(self.size("held"), HELD)

    def test_those_that_say_nothing_do_not_keep_it(self):
        times = []
        while len(times) < 4 and (not times or min(times) >= 8):  # a machine may have other things to do
            holder = self.holder()
            silent = [socket.socket(socket.AF_UNIX) for _ in range(20)]
            for s in silent:
                s.connect(os.path.join(self.store, "socket"))
            self.good("status")
            began = time.monotonic()
            self.assertEqual(self.end(holder)[0], 0)
            times.append(time.monotonic() - began)
            for s in silent:
                s.close()
        self.assertLess(min(times), 8, times)


if __name__ == "__main__":
    unittest.main()
