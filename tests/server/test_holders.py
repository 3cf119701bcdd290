"""Who holds a store answers others, as far as it can, and ends when they have."""
import collections
import json
import os
import signal
import threading
import time
import unittest

from sharing import HELD, LONG, Store, document, documents, waits_until


class Holders(Store):
    def test_others_are_answered_while_it_rebuilds(self):
        self.fill(2000)
        served = self.good("builds", "posts").split()[0]
        rebuilding = self.slow_rebuild()
        self.assertIn('"id":"7"', self.good("doc", "posts", "7", "--format", "jsonl"))
        self.assertTrue(self.good("clusters", "posts"))
        self.assertEqual(len(self.good("export", "posts").splitlines()), 2000)
        self.assertEqual(len(self.good("clusters", "posts", "--pending", "--format", "jsonl").splitlines()), 4000)
        self.assertEqual(self.good("builds", "posts").split()[0], served)
        put = self.good("put", "posts", "-", "--from", "jsonl", "--format", "json",
                        given=documents(2000, 2100))
        self.assertEqual(json.loads(put)["new"], 100)
        self.assertEqual(self.size("posts"), 6100)
        self.assertIsNone(rebuilding.poll(), "the rebuild was to go on meanwhile")
        rebuilding.send_signal(signal.SIGINT)
        self.assertEqual(self.end(rebuilding)[0], 130)
        self.assertEqual(self.good("builds", "posts").split()[0], served)

    def test_a_second_rebuild_waits(self):
        self.fill()
        holder = self.holder()
        second = self.start("rebuild", "posts", "--force")
        told = second.stderr.readline()
        self.assertRegex(told, rf"waiting: process {holder.pid} \(grouperfish put\)")
        time.sleep(5.5)  # longer than commands wait for a holder that does not answer
        self.assertIsNone(second.poll())
        self.assertEqual(self.end(holder)[0], 0)
        code, out, err = self.end(second)
        self.assertEqual((code, out.split("\t")[2]), (0, "rebuilt"), err)

    def test_a_second_rebuild_waits_as_long_as_it_is_told(self):
        self.fill()
        holder = self.holder()
        code, _, err = self.run_command("rebuild", "posts", "--force", "--wait", "0")
        self.assertEqual(code, 4)
        self.assertRegex(err, rf"process {holder.pid} \(grouperfish put\) holds the store")
        self.assertEqual(self.run_command("delete", "posts", "1", "--purge", "--wait", "0")[0], 4)
        self.assertEqual(self.good("rebuild", "posts", "--force", "--dry-run").split("\t")[2],
                         "would be rebuilt")
        self.end(holder)

    def test_a_waiting_rebuild_can_be_stopped(self):
        self.fill()
        self.holder()
        second = self.start("rebuild", "posts", "--force")
        second.stderr.readline()
        second.send_signal(signal.SIGINT)
        self.assertEqual(self.end(second)[0], 130)

    def test_many_make_one_store(self):
        """Of a store that is not there all but one come late, with their first record read."""
        puts = [self.start("put", "posts", "-", "--from", "jsonl", "--format", "json")
                for _ in range(8)]
        for i, p in enumerate(puts):
            p.stdin.write(documents(i * 2000, i * 2000 + HELD))
            p.stdin.flush()
        time.sleep(1)
        for i, p in enumerate(puts):  # the first of them waits for the others
            p.stdin.write(documents(i * 2000 + HELD, i * 2000 + 2000))
            p.stdin.close()
            p.stdin = None
        for p in puts:
            code, out, err = self.end(p)
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["new"], 2000)
        self.assertEqual(self.size("posts"), 16000)
        self.assertTrue(self.good("verify"))

    def test_what_a_killed_holder_leaves(self):
        holder = self.holder()
        holder.kill()
        holder.wait()
        self.assertTrue(self.has_socket())
        self.good("status")  # asks, and opens
        again = self.holder("put", "held", "-", "--from", "jsonl")
        self.good("status")
        self.assertEqual(self.end(again, document(1))[0], 0)
        self.assertFalse(self.has_socket())
        self.assertEqual(self.size("held"), HELD)

    def test_an_interrupted_holder(self):
        self.fill()
        holder = self.holder()
        waiting = self.start("rebuild", "posts", "--force")
        waiting.stderr.readline()
        reading = self.start("put", "other", "-", "--from", "jsonl", "--format", "json")
        reading.stdin.write(documents(0, 9000))
        reading.stdin.flush()
        waits_until(lambda: self.size("other"))
        holder.send_signal(signal.SIGINT)
        self.assertEqual(self.end(holder, documents(1, 3))[0], 130)
        code, _, err = self.end(reading, documents(9000, 9001))
        self.assertEqual(code, 6, err)
        self.assertRegex(err, rf"process {holder.pid} .*what was stored stays")
        code, out, err = self.end(waiting)
        self.assertEqual((code, out.split("\t")[2]), (0, "rebuilt"), err)
        stored = self.size("other")
        self.assertGreater(stored, 0)
        again = self.good("put", "other", "-", "--from", "jsonl", "--format", "json", given=documents(0, 9001))
        self.assertEqual(json.loads(again)["unchanged"], stored)
        self.assertTrue(self.good("verify"))

    def test_readers_survive_the_holder(self):
        """A read that was not answered yet is asked again."""
        self.fill()
        for kill in (signal.SIGKILL, signal.SIGTERM):
            holder = self.holder()
            stop = threading.Event()
            failed = []

            def read():
                while not stop.is_set():
                    code, _, err = self.run_command("doc", "posts", "7")
                    if code:
                        failed.append(err)

            readers = [threading.Thread(target=read) for _ in range(3)]
            for r in readers:
                r.start()
            time.sleep(0.3)
            holder.send_signal(kill)
            self.end(holder, document(5))
            time.sleep(0.3)
            stop.set()
            for r in readers:
                r.join()
            self.assertEqual(failed, [])

    def test_it_ends_when_others_have(self):
        holder = self.holder()
        other = self.start("put", "other", "-", "--from", "jsonl", "--format", "json")
        other.stdin.write(documents(0, 9000))
        other.stdin.flush()
        waits_until(lambda: self.size("other"))
        holder.stdin.close()
        holder.stdin = None
        self.assertIn("made a store", holder.stderr.readline())
        self.assertIn("finishing what other commands asked", holder.stderr.readline())
        self.good("status")  # as long as it is there it answers
        self.assertIsNone(holder.poll())
        code, out, _ = self.end(other, documents(9000, 9001))
        self.assertEqual((code, json.loads(out)["new"]), (0, 9001))
        self.assertEqual(self.end(holder)[0], 0)
        self.assertFalse(self.has_socket())

    def test_a_moment_is_not_made_long(self):
        """A put that ends at once is not kept by one that goes on."""
        for i in range(10):
            holder, began = self.holder(), time.monotonic()
            feed = self.start("put", "feed", "-", "--from", "jsonl")
            feed.stdin.write(documents(0, 100))  # no more than a pipe takes
            feed.stdin.flush()
            time.sleep(0.3)
            early = time.monotonic() - began < 0.7  # by the holder's clock too
            holder.stdin.close()
            holder.stdin = None
            if early:
                self.assertEqual(self.end(holder)[0], 0)
                self.assertIsNone(feed.poll())
            self.assertEqual(self.end(feed)[0], 0)
            if early:
                return
            self.end(holder)
        self.skipTest("the machine is too slow")

    def test_fifty_at_once(self):
        self.fill()
        holder = self.holder()
        commands = []
        for i in range(10):
            commands += [self.start("doc", "posts", str(i)), self.start("export", "posts"),
                         self.start("clusters", "posts"), self.start("status")]
            put = self.start("put", "together", "-", "--from", "jsonl")
            put.stdin.write(documents(i * 100, i * 100 + 100))
            put.stdin.close()
            put.stdin = None
            commands.append(put)
        for p in commands:
            code, _, err = self.end(p)
            self.assertEqual(code, 0, (p.args, err))
        self.assertEqual(self.end(holder)[0], 0)
        self.assertEqual(self.size("together"), 1000)
        self.assertTrue(self.good("verify"))

    def test_fifty_without_a_holder(self):
        """They take the store one after the other."""
        self.fill()
        for p in [self.start("doc", "posts", str(i), "--wait", str(LONG)) for i in range(50)]:
            self.assertEqual(self.end(p)[0], 0)

    def test_a_frozen_holder(self):
        holder = self.holder()
        holder.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        code, _, err = self.run_command("status", "--wait", "1.5")
        took = time.monotonic() - began
        holder.send_signal(signal.SIGCONT)
        self.assertEqual(code, 4)
        self.assertIn(f"process {holder.pid} holds the store and does not answer", err)
        self.assertTrue(1.4 < took < 60, took)
        self.good("status")


class Serving(Store):
    """serve does everything for others."""

    def serve(self):
        p = self.start("serve", "--listen", "127.0.0.1:0", "--log-level", "error")
        waits_until(self.has_socket)
        return p

    def test_rebuilds(self):
        serving = self.serve()
        self.fill()
        for name in ("a", "b", "c"):
            self.good("put", name, "-", "--from", "jsonl", given=documents(0, 200))
        rebuilds = [self.start("rebuild", name, "--progress", "none") for name in ("a", "b", "c", "posts")]
        outcomes = [self.end(p)[:2] for p in rebuilds]
        self.assertEqual([(code, out.split("\t")[2]) for code, out in outcomes],
                         [(0, "rebuilt")] * 3 + [(0, "unmodified")])
        self.assertIn('"purged":true', self.good("delete", "a", "7", "--purge", "--format", "jsonl"))
        serving.terminate()
        self.assertEqual(self.end(serving)[0], 0)
        self.assertFalse(self.has_socket())
        self.assertTrue(self.good("verify"))

    def niceness(self, process):
        """How many of a process's threads have which."""
        folder, found = f"/proc/{process.pid}/task", collections.Counter()
        for thread in os.listdir(folder):
            try:
                with open(f"{folder}/{thread}/stat") as file:
                    found[int(file.read().rpartition(")")[2].split()[16])] += 1
            except FileNotFoundError:
                pass  # it has ended
        return found

    def test_rebuilds_step_back(self):
        """Whoever asked for it: a rebuild has a lower priority than what others wait for."""
        serving = self.serve()
        usual = self.niceness(serving)
        self.assertEqual(set(usual), {os.getpriority(os.PRIO_PROCESS, serving.pid)})
        rebuilding = self.slow_rebuild()
        self.assertIn('"phase"', rebuilding.stderr.readline())  # it has begun
        if 10 not in usual:  # else these tests step back themselves
            waits_until(lambda: self.niceness(serving)[10] > 0)
        rebuilding.send_signal(signal.SIGINT)
        self.assertEqual(self.end(rebuilding)[0], 130)
        waits_until(lambda: set(self.niceness(serving)) == set(usual))
        serving.terminate()
        self.assertEqual(self.end(serving)[0], 0)

    def test_a_rebuild_that_is_stopped(self):
        serving = self.serve()
        self.fill()
        first, waiting = self.slow_rebuild(), None
        try:
            told = first.stderr.readline()  # how far it is
            self.assertIn('"phase"', told)
            waiting = self.start("rebuild", "posts", "--force", "--wait", "0", "--progress", "jsonl")
            first.send_signal(signal.SIGINT)
            code, _, err = self.end(first)
            self.assertEqual(code, 130)
            self.assertIn("stopped on request; what was served is served on", err)
            self.assertIn('"phase"', waiting.stderr.readline())
            waiting.send_signal(signal.SIGINT)
            self.assertEqual(self.end(waiting)[0], 130)
            self.assertEqual(len(self.good("builds", "posts").splitlines()), 1)
        finally:
            serving.terminate()
        self.assertEqual(self.end(serving)[0], 0)
        self.assertTrue(self.good("verify"))


if __name__ == "__main__":
    unittest.main()
