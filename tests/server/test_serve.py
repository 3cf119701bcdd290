"""The server's beginning and end, and its log."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from served import FEEDBACK, PROGRAM, Served, feed


class Serve(unittest.TestCase):
    def refuse(self, code, words, *options):
        folder = tempfile.mkdtemp()
        try:
            ended = subprocess.run([PROGRAM, "serve", "--store", folder + "/s", *options],
                                   capture_output=True, text=True, timeout=60)
        finally:
            shutil.rmtree(folder)
        self.assertEqual(ended.returncode, code, ended.stderr)
        self.assertIn(words, ended.stderr)

    def test_refused(self):
        self.refuse(2, "needs --tokens", "--listen", "0.0.0.0:0")
        self.refuse(2, "is not an address with a port", "--listen", "here")
        self.refuse(2, "is not an address with a port", "--listen", "127.0.0.1:65536")
        self.refuse(2, "is not an address with a port", "--listen", "127.0.0.1")
        self.refuse(2, "log-level", "--log-level", "loud")
        self.refuse(2, "there is no option --listenn", "--listenn", "127.0.0.1:0")
        self.refuse(1, "there is no file /nowhere", "--listen", "127.0.0.1:0", "--tokens", "/nowhere")

    def test_address_taken(self):
        with Served() as server:
            self.refuse(6, "cannot listen at", "--listen", f"127.0.0.1:{server.port}")

    def test_ipv6(self):
        try:
            server = Served(listen="[::1]:0").__enter__()
        except RuntimeError as error:
            self.skipTest(str(error))
        self.assertEqual(server.host, "[::1]")
        self.assertEqual(server.stop(), 0)

    def test_signals_end_it(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Served() as server:
                self.assertEqual(server.get("/healthz").status, 200)
                self.assertEqual(server.stop(number), 0)
                self.assertIn("closed", "".join(server.log))

    def test_what_was_answered_is_there_after_kill(self):
        folder = tempfile.mkdtemp()
        try:
            with Served(folder=folder) as server:
                server.put("feedback", FEEDBACK)
                server.process.kill()
                server.process.wait()
                server.reader.join()
                server.process.stderr.close()
                server.stop = lambda: 0
            with Served(folder=folder) as server:
                shown = server.json("GET", "/v1/collections/feedback")
                self.assertEqual(shown["size"], 6)
        finally:
            shutil.rmtree(folder)

    def test_end_answers_what_it_accepted(self):
        """A put whose body is still coming when the signal comes is answered, and stored."""
        folder = tempfile.mkdtemp()
        try:
            with Served(folder=folder) as server:
                body = b"".join(b'{"id":%d,"text":"word%d"}\n' % (i, i) for i in range(20000))
                connection = server.connect()
                connection.putrequest("POST", "/v1/collections/big/documents")
                connection.putheader("Content-Length", str(len(body)))
                connection.endheaders()
                connection.send(body[:400000])
                time.sleep(0.3)
                server.tell(signal.SIGTERM)
                time.sleep(0.3)
                connection.send(body[400000:])
                answer = connection.getresponse()
                self.assertEqual(answer.status, 200)
                self.assertEqual(json.loads(answer.read())["new"], 20000)
                connection.close()
            with Served(folder=folder) as server:
                self.assertEqual(server.json("GET", "/v1/collections/big")["size"], 20000)
        finally:
            shutil.rmtree(folder)

    def test_log(self):
        with Served("--log-level", "debug") as server:
            server.get("/v1/collections/no%0Asuch")
        lines = [line for line in server.log if " debug request " in line]
        self.assertEqual(len(lines), 1)
        self.assertIn("status=404", lines[0])
        self.assertIn("target=/v1/collections/no%0Asuch", lines[0])

    def test_log_json(self):
        folder = tempfile.mkdtemp()
        process = subprocess.Popen([PROGRAM, "serve", "--store", folder + "/s", "--listen",
                                    "127.0.0.1:0", "--log-format", "json"],
                                   stderr=subprocess.PIPE, text=True)
        first = json.loads(process.stderr.readline())
        self.assertEqual((first["event"], first["level"]), ("listening", "info"))
        process.terminate()
        rest = [json.loads(line) for line in process.stderr]
        self.assertEqual(process.wait(60), 0)
        process.stderr.close()
        self.assertEqual([r["event"] for r in rest], ["closing", "closed"])
        shutil.rmtree(folder)

    def test_rebuild_is_cancelled_at_the_end(self):
        with Served() as server:
            feed(server)
            server.put("feedback", [{"id": str(i), "text": f"word{i % 97} tabs video {i}"}
                                    for i in range(20000)])
            asked = server.ask("POST", "/v1/collections/feedback/builds")
            self.assertEqual(asked.status, 202)
            self.assertEqual(server.stop(), 0)
            self.assertIn("task_ended", "".join(server.log))


if __name__ == "__main__":
    unittest.main()
