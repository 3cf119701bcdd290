#!/usr/bin/env python3
"""rebuild within a step of Slurm: the processes that srun starts are the ranks.

Environment: as of ranks.py.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
import slurm
from ranks import Ranks, ranks_of
from sharing import LONG, PROGRAM

NODE = None  # of main()


class WithinSlurm(Ranks):
    def step(self, n, *words):
        """The command line of a step of so many tasks."""
        return ["srun", "--mpi=pmix", "--overcommit", "-n", str(n), PROGRAM, "rebuild", "c", "--force", "--start",
                "fresh", *words]

    def of_slurm(self):
        return self.environment({"SLURM_CONF": NODE.settings})

    def run_step(self, n, *words):
        return subprocess.run(self.step(n, *words), capture_output=True, text=True, timeout=LONG, cwd=self.folder,
                              env=self.of_slurm())

    def test_the_build_is_that_of_ranks(self):
        self.put(2000)
        self.rebuild("--ranks", "2", "-k", "20")
        want = self.content()
        for n in 2, 4:
            done = self.run_step(n, "-k", "20", "--progress", "none", "--format", "jsonl")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([row["outcome"] for row in rows], ["rebuilt"])
            self.assertEqual(self.content(), want, n)
        self.assertFalse(ranks_of(self.job))

    def test_one_task_is_a_rebuild_as_elsewhere(self):
        self.put(300)
        done = self.run_step(1, "-k", "5", "--progress", "none")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_task_that_is_killed_ends_the_step(self):
        self.put(6000)
        self.rebuild("-k", "20")
        want = self.content()
        p = subprocess.Popen(self.step(3, "-k", "30", "--progress", "jsonl"), stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                             env=self.of_slurm())
        self.ends_once_a_rank_is_killed(p)
        self.assertEqual(self.content(), want)


def main():
    global NODE
    missing = slurm.is_missing()
    if missing:
        print(f"skipped: there is no {missing}")
        return 77
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder:
        NODE = slurm.Slurm(folder)
        try:
            NODE.start()
        except slurm.NotHere as why:
            print(f"skipped: Slurm does not run here: {why}")
            return 77
        else:
            return not unittest.main(exit=False, verbosity=2).result.wasSuccessful()
        finally:
            NODE.stop()


if __name__ == "__main__":
    sys.exit(main())
