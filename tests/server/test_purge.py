"""A purge while others read: nothing of what was deleted is left in any file, or that is told."""
import os
import socket
import threading
import time
import unittest

from served import Served

PATH = "/v1/collections/posts"
SECRET = "zq8Fj3vK1wXy6TtB0nLd"  # is nowhere else, and cannot be compressed


class Purge(unittest.TestCase):
    def setUp(self):
        self.server = Served().__enter__()
        self.addCleanup(self.server.__exit__)
        words = "bees hives honey queens wax nectar swarm drones".split()
        self.server.put("posts", [
            {"id": str(i), "text": f"{words[i % 8]} {words[i // 8 % 8]} {words[i % 7]} " + "x" * 600}
            for i in range(20000)] + [{"id": "secret", "text": f"bees {SECRET} honey"}])
        self.server.json("PATCH", PATH + "/configurations/default?set=k=4")
        self.assertEqual(self.server.rebuild("posts")["state"], "done")

    def files_with_it(self):
        found = []
        for folder, _, names in os.walk(self.server.store):
            for name in names:
                try:
                    with open(os.path.join(folder, name), "rb") as file:
                        if SECRET.encode() in file.read():
                            found.append(name)
                except (FileNotFoundError, OSError):
                    pass  # removed meanwhile, or a socket
        return found

    def reader(self):
        """One that has asked for everything and takes the first bytes only."""
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", self.server.port))
        s.sendall(f"GET {PATH}/memberships?with-text HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        self.assertIn(b" 200 ", s.recv(1000))
        return s

    def purge(self):
        connection = self.server.connect(timeout=300)
        answer = self.server.ask("DELETE", PATH + "/documents?id=secret&purge", connection=connection)
        connection.close()
        return answer

    def read_on(self, s, after):
        time.sleep(after)
        while s.recv(1 << 20):
            if s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) < 1 << 20:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)

    def test_a_reader_is_waited_for(self):
        self.assertNotEqual(self.files_with_it(), [])
        s = self.reader()
        s.settimeout(5)

        def read():
            try:
                self.read_on(s, 8)  # longer than all else takes
            except TimeoutError:
                pass  # the answer has ended, and the connection stays

        reading = threading.Thread(target=read)
        reading.start()
        answer = self.purge()
        self.assertEqual(answer.status, 200, answer.body)
        self.assertTrue(answer.json()["purged"])
        self.assertEqual(self.files_with_it(), [])
        reading.join()
        s.close()

    def take_slowly(self, s, enough):
        """Some KiB a second: who takes nothing at all is cut off."""
        while not enough.wait(0.5):
            s.recv(4096)

    def test_a_reader_that_does_not_end(self):
        s, enough = self.reader(), threading.Event()
        self.addCleanup(s.close)
        taking = threading.Thread(target=self.take_slowly, args=(s, enough))
        taking.start()
        self.addCleanup(enough.set)
        answer = self.purge()
        self.assertEqual(answer.status, 503, answer.body)
        self.assertIn("purge again", answer.json()["detail"])
        self.assertEqual(self.server.get(PATH + "/documents/secret").status, 404)
        enough.set()
        taking.join()
        s.close()
        answer = self.purge()
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(self.files_with_it(), [])


if __name__ == "__main__":
    unittest.main()
