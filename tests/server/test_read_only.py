"""Stores that are read without a byte of them being changed: asked for, in a folder that cannot be
written, and on a disk that takes nothing; several readers at once."""
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import time
import unittest

from sharing import LONG, PROGRAM, Store, documents, waits_until

NOBODY = 65534


class ReadOnly(Store):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)

    def make(self, clean=True):
        """A store of two collections; unclean: as a process leaves it that is killed."""
        self.check("put", "c", "-", given=documents(0, 300))
        self.check("rebuild", "c")
        if clean:
            return
        holder = self.start("put", "late", "-")
        holder.stdin.write(documents(0, 3000))
        holder.stdin.flush()

        def stored():
            code, out, _ = self.run_command("collection", "list", "--format", "jsonl")
            return code == 0 and any(json.loads(row)["collection"] == "late" and json.loads(row)["size"]
                                     for row in out.splitlines())

        waits_until(stored)
        holder.kill()
        holder.communicate()

    def check(self, *words, given=None, **options):
        code, out, err = self.run_command(*words, given=given, **options)
        self.assertEqual(code, 0, err)
        return out

    def run_command(self, *words, given=None, **options):
        p = subprocess.run([PROGRAM, *words], input=given or "", text=True, capture_output=True,
                           timeout=LONG, cwd=self.folder,
                           env=dict(os.environ, GROUPERFISH_STORE=self.store), **options)
        self.assertGreaterEqual(p.returncode, 0, p.stderr)
        return p.returncode, p.stdout, p.stderr

    def state(self):
        """Every name of the store with its mode, its time and its bytes."""
        found = {}
        for folder, _, files in os.walk(self.store):
            for name in [".", *files]:
                path = os.path.join(folder, name)
                info = os.lstat(path)
                content = ""
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        content = hashlib.sha256(file.read()).hexdigest()
                found[path] = info.st_mode, info.st_mtime_ns, content
        return found

    READS = (("status",), ("collection", "list"), ("clusters", "c"), ("doc", "c", "7", "--why"),
             ("search", "c", "bees"), ("export", "c"), ("diff", "c"), ("dump", "c"), ("verify",))

    def reads(self, *more, **options):
        """The answers of reading commands."""
        answers = []
        for words in self.READS:
            code, out, err = self.run_command(*words, *more, **options)
            self.assertIn(code, (0, 1, 2) if words[0] in ("diff", "dump") else (0,), (words, err))
            answers.append((words, code, out if words[0] != "status" else ""))
        return answers

    def test_asked_for(self):
        for clean in (True, False):
            with self.subTest(clean=clean):
                shutil.rmtree(self.store, ignore_errors=True)
                self.make(clean)
                before = self.state()
                answers = self.reads("--read-only")
                self.assertEqual(self.state(), before)
                self.assertEqual(answers, self.reads())

    def test_changes_are_refused(self):
        self.make()
        before = self.state()
        for words in (("put", "c", "-"), ("rebuild", "c"), ("collection", "delete", "c"),
                      ("config", "set", "c", "k=3")):
            code, _, err = self.run_command(*words, "--read-only")
            self.assertEqual(code, 2, err)
            self.assertIn("--read-only: this command changes the store", err)
        code, _, err = self.run_command("serve", "--read-only")
        self.assertEqual(code, 2, err)
        self.assertEqual(self.state(), before)

    def test_no_store_is_made(self):
        code, _, err = self.run_command("status", "--read-only")
        self.assertEqual(code, 1)
        self.assertIn("there is no store", err)
        self.assertFalse(os.path.exists(self.store))

    def as_another(self):
        """Options to run as a user who may read the store and not write in it."""
        for folder, folders, files in os.walk(self.store):
            os.chmod(folder, 0o555)
            for name in files:
                os.chmod(os.path.join(folder, name), 0o444)
        return {"user": NOBODY, "group": NOBODY} if os.getuid() == 0 else {}

    def test_a_folder_that_cannot_be_written(self):
        self.make(clean=False)
        try:
            options = self.as_another()
            before = self.state()
            self.reads(**options)
            self.assertEqual(self.state(), before)
            code, _, err = self.run_command("put", "c", "-", given=documents(0, 1), **options)
            self.assertEqual(code, 6)
            self.assertIn("a store must be writable", err)
            copy = os.path.join(self.folder, "out")
            os.mkdir(copy)
            os.chmod(copy, 0o777)
            self.check("backup", os.path.join(copy, "copy"), **options)
            os.unlink(os.path.join(self.store, "lock")) if os.getuid() == 0 else None
            self.reads(**options)
        finally:
            for folder, _, _ in os.walk(self.store):
                os.chmod(folder, 0o755)

    def test_a_full_disk(self):
        """No file may grow: as a disk that is full to the last byte."""
        def full():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        for clean in (True, False):
            with self.subTest(clean=clean):
                shutil.rmtree(self.store, ignore_errors=True)
                self.make(clean)
                wanted = self.reads("--read-only")
                answers = self.reads(preexec_fn=full, restore_signals=False)
                self.assertEqual(answers, wanted)
                code, _, err = self.run_command("put", "c", "-", given=documents(0, 9), preexec_fn=full,
                                                restore_signals=False)
                self.assertEqual(code, 6, err)
                self.assertEqual(self.reads(), wanted)

    def test_several_readers(self):
        self.make(clean=False)
        reader = self.start("export", "late", "--documents", "--read-only")
        self.assertTrue(reader.stdout.read(1))  # it holds the store; the rest fills the pipe
        self.reads("--read-only")
        self.reads()
        start = time.monotonic()
        code, _, err = self.run_command("put", "c", "-", "--wait", "0.3", given=documents(0, 1))
        self.assertEqual(code, 4, err)
        self.assertIn("is being read by another process", err)
        self.assertLess(time.monotonic() - start, LONG / 4)
        reader.communicate()
        self.check("put", "c", "-", given=documents(0, 1))

    def test_beside_a_writer(self):
        """A writer answers; one that cannot be asked is waited for."""
        self.make()
        writer = self.start("put", "slow", "-")
        writer.stdin.write(documents(0, 3000))
        writer.stdin.flush()
        waits_until(lambda: os.path.exists(os.path.join(self.store, "socket")))
        self.check("clusters", "c", "--read-only")
        os.rename(os.path.join(self.store, "socket"), os.path.join(self.store, "gone"))
        code, _, err = self.run_command("clusters", "c", "--read-only", "--wait", "0.3")
        self.assertEqual(code, 4, err)
        self.assertIn("grouperfish put", err)
        writer.communicate()


if __name__ == "__main__":
    unittest.main()
