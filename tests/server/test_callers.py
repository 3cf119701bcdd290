"""Commands that a holder answers, and where its socket is."""
import json
import os
import re
import shutil
import signal
import threading
import unittest

from sharing import HELD, LONG, Store, document, documents, waits_until


class Callers(Store):
    def test_one_that_is_killed(self):
        holder = self.holder()
        caller = self.start("put", "other", "-", "--from", "jsonl")
        caller.stdin.write(documents(0, 4000))
        caller.stdin.flush()
        waits_until(lambda: self.size("other"))
        caller.kill()
        caller.communicate()
        waits_until(lambda: self.size("other") > 3000)  # what came is stored
        self.assertEqual(self.end(holder)[0], 0)
        self.assertTrue(self.good("verify"))

    def test_one_that_stops_reading(self):
        self.fill(3000)
        holder = self.holder()
        p = self.start("export", "posts", "--with-text")
        self.assertTrue(p.stdout.readline())
        p.stdout.close()
        p.stdout = open(os.devnull)
        self.assertEqual((p.wait(LONG), p.stderr.read()), (0, ""))
        self.assertEqual(self.end(holder)[0], 0)

    def test_one_that_is_interrupted(self):
        self.holder()
        p = self.start("put", "other", "-", "--from", "jsonl", "--format", "json")
        p.stdin.write(documents(0, 9000))
        p.stdin.flush()
        waits_until(lambda: self.size("other"))
        p.send_signal(signal.SIGINT)
        code, out, err = self.end(p, documents(9000, 9001))
        self.assertEqual(code, 130, err)
        self.assertIn("stopped on request; what was stored stays", err)
        self.assertGreater(json.loads(out)["new"], 0)

    def test_same_as_at_home(self):
        """Whether somebody holds the store or not: same output, same messages, same exit code."""
        self.fill()
        with open(os.path.join(self.folder, "texts.jsonl"), "w") as f:
            f.write(documents(400, 420) + '{"id": "x"}\nno json\n' + documents(420, 440))
        os.mkdir(os.path.join(self.folder, "notes"))
        for name in ("a", "b.txt"):
            with open(os.path.join(self.folder, "notes", name), "w") as f:
                f.write(f"honey and {name}")
        changing = [
            ["put", "more", "texts.jsonl", "--rejects", "refused.jsonl", "--force"],
            ["put", "more", "texts.jsonl"],
            ["put", "noted", "notes"],
            ["put", "{kind}-posts", "texts.jsonl"],
            ["put", "more", "absent.jsonl"],
            ["put", "more", "texts.jsonl", "--from", "nonsense"],
            ["config", "set", "more", "k=3"],
            ["config", "set", "more", "k=many"],
            ["config", "set", "posts-*", "k=3"],
            ["collection", "create", "empty"],
            ["delete", "more", "401", "402", "nosuch"],
            ["delete", "more", "--where", "id=9", "--dry-run"],
            ["label", "posts", "1", "Named"],
            ["collection", "delete", "empty"],
            ["init"],
        ]
        reading = [
            ["collection", "list", "--format", "csv"],
            ["collection", "show", "--all", "--format", "jsonl"],
            ["collection", "show", "more", "--columns"],
            ["config", "show", "more"], ["config", "list", "more"], ["config", "keys"],
            ["builds", "posts", "--format", "json"],
            ["clusters", "posts"], ["clusters", "posts", "--format", "json"],
            ["clusters", "posts", "--tree"], ["clusters", "nosuch"], ["clusters", "post"],
            ["clusters", "posts", "--nonsense"], ["clusters", "posts", "--sort", "nonsense"],
            ["cluster", "posts", "1"], ["cluster", "posts", "99999"],
            ["doc", "posts", "7", "--why"], ["doc", "posts", "nosuch"],
            ["export", "posts"], ["export", "*", "--documents"],
            ["export", "posts", "-o", "out.csv", "--force"],
            ["export", "posts", "--matrix", "out.npz", "--force"],
            ["assign", "posts", "texts.jsonl", "--format", "jsonl"],
            ["assign", "posts", "notes", "--format", "jsonl"],
            ["report", "posts", "-o", "report.html", "--force"],
            ["rebuild", "posts", "--dry-run"], ["rebuild", "--all", "--dry-run"],
            ["diff", "posts"], ["status"], ["version"], ["--namespace", "x"],
            ["collection", "list", "--namespace", "other"],
        ]
        home, away = [], []
        shutil.copytree(self.store, self.store + ".copy")

        def run_all(results, prepare):
            for words in changing + reading:
                prepare()
                code, out, err = self.run_command(*words)
                files = []
                for name in ("refused.jsonl", "out.csv", "out.npz", "report.html"):
                    path = os.path.join(self.folder, name)
                    if os.path.exists(path):
                        with open(path, "rb") as f:
                            files.append(re.sub(rb"20\d\d-\d\d-\d\d[T ][0-9:.]+Z?", b"TIME", f.read()))
                        os.unlink(path)
                text = re.sub(r"20\d\d-\d\d-\d\d[T ][0-9:.]+Z?|\b1[0-9]{12}\b", "TIME", out)
                if words == ["status"]:
                    text = text.rsplit("\t", 1)[0]  # bytes
                results.append((words, code, text, err, files))

        run_all(home, lambda: None)
        shutil.rmtree(self.store)
        os.rename(self.store + ".copy", self.store)
        holder = self.holder("assign", "posts", "-", "--from", "jsonl")  # which changes nothing
        run_all(away, lambda: self.assertIsNone(holder.poll()))
        self.assertEqual(self.end(holder)[0], 0)
        for at_home, asked in zip(home, away):
            self.assertEqual(at_home, asked)

    def test_a_backup(self):
        self.fill()
        holder = self.holder()
        self.good("backup", "copy")
        self.assertEqual(self.end(holder)[0], 0)
        self.assertEqual(self.size("posts", "--store", os.path.join(self.folder, "copy")), 300)

    def test_a_backup_during_load(self):
        """What did not change meanwhile is there byte for byte; of what did, the state of a moment."""
        self.fill(2000)
        serving = self.start("serve", "--listen", "127.0.0.1:0", "--log-level", "error")
        waits_until(self.has_socket)
        exports = [["export", "posts"], ["export", "posts", "--documents"], ["clusters", "posts"]]
        rebuilding = self.slow_rebuild()  # of posts: what is served stays
        before = [self.good(*words, "--format", "jsonl") for words in exports]
        writing = self.start("put", "other", "-", "--from", "jsonl")
        stop = threading.Event()

        def write():
            for i in range(1000000):
                if stop.is_set():
                    break
                writing.stdin.write(document(i))
            writing.stdin.close()
            writing.stdin = None

        writer = threading.Thread(target=write)
        writer.start()
        waits_until(lambda: self.size("other") > 1000)
        for i in range(3):
            self.good("backup", f"copy {i}")
            self.assertIsNone(rebuilding.poll(), "the rebuild was to go on meanwhile")
        stop.set()
        writer.join()
        self.assertEqual(self.end(writing)[0], 0)
        rebuilding.send_signal(signal.SIGINT)
        self.assertEqual(self.end(rebuilding)[0], 130)
        self.assertEqual([self.good(*words, "--format", "jsonl") for words in exports], before)
        serving.terminate()
        self.assertEqual(self.end(serving)[0], 0)
        sizes = []
        for i in range(3):
            restored = ["--store", os.path.join(self.folder, f"restored {i}")]
            self.good("restore", f"copy {i}", "--to", f"restored {i}")
            self.assertEqual([self.good(*words, "--format", "jsonl", *restored) for words in exports],
                             before)
            sizes.append(self.size("other", *restored))
            rows = self.good("export", "other", "--documents", "--format", "jsonl", *restored)
            self.assertEqual(sorted(int(json.loads(row)["id"]) for row in rows.splitlines()),
                             list(range(sizes[-1])))
            self.assertTrue(self.good("verify", *restored))
        self.assertEqual(sizes, sorted(sizes))

    def test_what_needs_the_store_alone(self):
        self.fill()
        holder = self.holder()
        for words in (["verify"], ["repair", "--to", "mended"]):
            code, _, err = self.run_command(*words, "--wait", "0")
            self.assertEqual(code, 4, err)
            self.assertIn(f"is held by process {holder.pid} (grouperfish put)", err)
        self.end(holder)


class Places(Store):
    def check(self, store):
        self.store = store
        self.fill()
        self.holder()
        self.assertEqual(os.stat(os.path.join(store, "socket")).st_mode & 0o7777, 0o600)
        self.assertEqual(self.size("posts"), 300)
        code, _, err = self.run_command("rebuild", "posts", "--force", "--wait", "0")
        self.assertEqual(code, 4)  # a holder that answered said so
        self.assertIn("holds the store", err)

    def test_long_path(self):
        self.check(os.path.join(self.folder, *(["a long name of a folder"] * 10), "store"))

    def test_path_of_the_limit(self):
        n = 107 - len("/socket") - len(self.folder) - 1
        for length in (n - 1, n, n + 1):
            with self.subTest(length):
                self.check(os.path.join(self.folder, "s" * length))

    def test_spaces(self):
        self.check(os.path.join(self.folder, "a store, with spaces & ümlauts"))

    def test_relative(self):
        self.fill()
        self.holder()
        os.symlink(self.store, os.path.join(self.folder, "linked"))
        for way in ("grouperfish.store", "./grouperfish.store/", "linked"):
            self.assertEqual(self.good("status", "--store", way).split("\t")[0], way)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_others_may_not(self):
        os.chmod(self.folder, 0o755)
        self.fill()
        self.holder()
        code, out, err = self.run_command("status", user=65534, group=65534, extra_groups=[])
        self.assertEqual((code, out), (6, ""), err)
        self.assertIn("Permission denied", err)
        # not even where the file lets them in
        os.chmod(os.path.join(self.store, "socket"), 0o666)
        code, out, err = self.run_command("status", user=65534, group=65534, extra_groups=[])
        self.assertNotEqual(code, 0)
        self.assertEqual(out, "")

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_no_socket_can_be_made(self):
        """A holder that cannot answer holds the store all the same."""
        self.fill(5)
        for folder, _, files in os.walk(self.store):
            for name in [folder] + [os.path.join(folder, f) for f in files]:
                os.chown(name, 65534, 65534)
        os.chmod(self.folder, 0o755)
        os.chown(self.store, 0, 0)
        os.chmod(self.store, 0o755)
        self.assertEqual(os.stat(self.store).st_mode & 0o022, 0)
        holder = self.start("put", "posts", "-", "--from", "jsonl", user=65534, group=65534, extra_groups=[])
        holder.stdin.write(documents(0, HELD))
        holder.stdin.flush()
        waits_until(lambda: str(holder.pid) in self.lock())
        code, _, err = self.run_command("status", "--wait", "0.2")
        self.assertEqual(code, 4)
        self.assertIn("is held by process", err)
        self.assertEqual(self.end(holder)[0], 0)


if __name__ == "__main__":
    unittest.main()
