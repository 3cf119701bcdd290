"""The release, which compilers optimise most, gives what the program that the tests run gives: the same
builds, bytes for bytes. GROUPERFISH_PROGRAM and GROUPERFISH_RELEASE name the two."""
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

PROGRAMS = os.environ["GROUPERFISH_PROGRAM"], os.environ["GROUPERFISH_RELEASE"]
SOURCE = os.environ["GROUPERFISH_SOURCE"]
POSTS = subprocess.run(["zstd", "-dc", os.path.join(SOURCE, "examples", "reddit-posts-20.jsonl.zst")],
                       check=True, capture_output=True).stdout.splitlines(keepends=True)


def members(path):
    """A matrix without its file's times."""
    with zipfile.ZipFile(path) as z:
        return {name: z.read(name) for name in z.namelist() if not name.startswith("build")}


class Same(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="grouperfish-release-")
        self.addCleanup(self.folder.cleanup)

    def run_one(self, program, store, *words, given=b""):
        done = subprocess.run([program, *words, "--store", os.path.join(self.folder.name, store)],
                              input=given, capture_output=True)
        self.assertEqual(done.returncode, 0, (words, done.stderr[-1000:]))
        return done.stdout

    def results(self, program, name, posts, settings, options):
        """Everything that a build has, but its times."""
        def run(*words, given=b""):
            return self.run_one(program, name, *words, given=given)

        run("put", "posts", "-", "--from", "jsonl", given=b"".join(posts))
        if settings:
            run("config", "set", "posts", *settings)
        curve = run("rebuild", "posts", "--explain-k") if not settings and not options else b""
        run("rebuild", "posts", *options)
        matrix = os.path.join(self.folder.name, name + ".npz")
        run("export", "posts", "--matrix", matrix)
        return (curve, run("clusters", "posts", "--format", "jsonl").split(b'"size"', 1)[1:],
                run("export", "posts", "--format", "csv"), members(matrix))

    def test_builds(self):
        n = 0
        for size in (2, 5, 20, 45, 63, 64, 65, 150, 400, 1001, len(POSTS)):
            posts = POSTS[::max(1, len(POSTS) // size)][:size]
            cases = [((), ())]
            if size in (45, 1001):
                cases += [(("k=7",), ()), (("k=7", "effort=quick"), ()), (("k=5", "lsa=20"), ())]
            if size == len(POSTS):
                cases += [(("k=200",), ()), (("k=20",), ("--memory", "64M"))]
            for settings, options in cases:
                n += 1
                with self.subTest(size=size, settings=settings, options=options):
                    tested, release = (self.results(p, f"{i}-{n}", posts, settings, options)
                                       for i, p in enumerate(PROGRAMS))
                    for one, other in zip(tested, release):
                        self.assertEqual(one, other)


if __name__ == "__main__":
    if not os.path.exists(PROGRAMS[1]):
        print("skipped: there is no release to compare with")
        sys.exit(77)
    unittest.main()
