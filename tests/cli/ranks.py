#!/usr/bin/env python3
"""rebuild --ranks: processes that cluster together, started by Open MPI's mpirun.

Environment: GROUPERFISH_PROGRAM; GROUPERFISH_RANK_BUILT, the program grouperfish-rank, or empty.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
from sharing import LONG, PROGRAM, Store, waits_until

RANK = os.environ.get("GROUPERFISH_RANK_BUILT", "")
if not RANK:
    print("skipped: built without Open MPI")
    sys.exit(77)
if not shutil.which("mpirun"):
    print("skipped: there is no mpirun")
    sys.exit(77)
os.environ["ASAN_OPTIONS"] = "detect_leaks=0"  # of Open MPI's own


def texts(n, seed=3):
    """Documents of some topics, a tenth of them as another is."""
    r = random.Random(seed)
    words = [f"w{i}" for i in range(6000)]
    topics = [r.sample(words, 40) for _ in range(40)]
    made = []
    for i in range(n):
        if made and r.random() < .1:
            made.append(r.choice(made))
            continue
        topic = r.choice(topics)
        made.append(" ".join(r.choice(topic) if r.random() < .6 else words[int(6000 * r.random() ** 3)]
                             for _ in range(r.randint(5, 16))))
    return "".join(json.dumps({"id": f"d{i:06}", "text": t}) + "\n" for i, t in enumerate(made))


def ranks_of(process):
    """The processes that lie below one and are ranks, by their numbers."""
    found = {}
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as f:
                if b"grouperfish-rank" not in f.read().split(b"\0")[0]:
                    continue
            with open(f"/proc/{entry}/environ", "rb") as f:
                environ = dict(v.split(b"=", 1) for v in f.read().split(b"\0") if b"=" in v)
            if environ.get(b"GROUPERFISH_TEST_JOB") == str(process).encode():
                found[int(environ.get(b"OMPI_COMM_WORLD_RANK") or environ[b"SLURM_PROCID"])] = int(entry)
        except (OSError, ValueError, KeyError):
            continue
    return found


class Ranks(Store):
    def setUp(self):
        super().setUp()
        self.job = f"{os.getpid()}-{self.id()}"
        self.environ = {"GROUPERFISH_RANK": RANK, "GROUPERFISH_TEST_JOB": self.job}

    def environment(self, more):
        return {**os.environ, "GROUPERFISH_STORE": self.store, **self.environ, **more}

    def run_here(self, *words, given=None, **environ):
        return subprocess.run([PROGRAM, *words], input=given, capture_output=True, text=True, timeout=LONG,
                              cwd=self.folder, env=self.environment(environ))

    def good_here(self, *words, given=None, **environ):
        done = self.run_here(*words, given=given, **environ)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def put(self, n, seed=3):
        self.good_here("put", "c", "-", given=texts(n, seed))

    def rebuild(self, *words, **environ):
        row = json.loads(self.good_here("rebuild", "c", "--force", "--start", "fresh", "--progress", "none",
                                        "--format", "jsonl", *words, **environ))
        self.assertEqual(row["outcome"], "rebuilt")
        return row

    def content(self):
        """All that a build gives, but for its time."""
        return (self.good_here("export", "c", "--format", "jsonl"),
                self.good_here("clusters", "c", "--format", "jsonl"),
                self.good_here("terms", "c", "--format", "jsonl"),
                self.good_here("search", "c", "w1 w2*", "--limit", "100", "--format", "jsonl"),
                self.good_here("similar", "c", "d000001", "--format", "jsonl"))

    def begin(self, *words, **environ):
        return subprocess.Popen(
            [PROGRAM, "rebuild", "c", "--force", "--start", "fresh", "--progress", "jsonl", "--format", "jsonl",
             *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
            env=self.environment(environ))

    def phases(self, p, seen):
        """Phases as they are told."""
        for line in p.stderr:
            try:
                row = json.loads(line)
            except ValueError:
                seen.append(line)
                continue
            if "phase" in row:
                seen.append(row["phase"])
                yield row["phase"]

    def ends_once_a_rank_is_killed(self, p):
        """The third rank is killed as soon as it is there; all then end, and p fails."""
        seen, killed = [], False
        for _ in self.phases(p, seen):
            there = ranks_of(self.job)
            if not killed and 2 in there:
                os.kill(there[2], signal.SIGKILL)
                killed = True
        p.communicate(timeout=LONG)
        self.assertTrue(killed, seen)
        self.assertNotEqual(p.returncode, 0, seen)
        waits_until(lambda: not ranks_of(self.job))


class SameBytes(Ranks):
    def test_any_number_of_ranks(self):
        self.put(6000)
        for words in (["-k", "30"], ["--set", "refine=off"], ["-k", "12", "--set", "effort=quick"]):
            made = {}
            for n in 1, 2, 3, 5:
                row = self.rebuild("--ranks", str(n), "--threads", str(1 + n % 2), *words)
                made[n] = row["objective"], self.content()
            # By texts that the process of the store analyses, too.
            row = self.rebuild("--ranks", "2", *words, GROUPERFISH_RANKS_ANALYSIS="here")
            made["here"] = row["objective"], self.content()
            for n in 2, 3, 5, "here":
                self.assertEqual(made[n], made[1], f"{n} ranks, {words}")
        self.assertEqual(self.run_here("verify").returncode, 0)

    def test_texts_are_analysed_as_by_one_process(self):
        """Of several languages, with words for search; by settings that leave documents out, too."""
        foreign = ["die Häuser und Straßen sind nass", "les maisons et les rues sont belles",
                   "las casas y las calles son bonitas", "手机 很 好"]
        r = random.Random(5)
        put = [json.loads(line) for line in texts(3000).splitlines()]
        for i, d in enumerate(put):
            d["text"] += " the " + r.choice(foreign) + " " + r.choice(foreign)
            d["year"] = 2000 + i % 3
            if i % 5 == 0:
                d["lang"] = r.choice(["en", "de", "fr"])
        self.good_here("put", "c", "-", given="".join(json.dumps(d) + "\n" for d in put))
        for words in ([], ["--set", "ngrams=1-2"], ["--set", "language=german"], ["--set", "filter=year>2000"]):
            seen = {}
            for by in ([], ["--ranks", "1"], ["--ranks", "3", "--threads", "2"]):
                row = self.rebuild("-k", "8", *words, *by)
                seen[len(by)] = (row["documents"], row["without_terms"], row["distinct"],
                                 self.good_here("terms", "c", "--format", "jsonl"),
                                 self.good_here("search", "c", "strassen maisons w17", "--format", "jsonl"))
            self.assertEqual(seen[2], seen[0], words)
            self.assertEqual(seen[4], seen[0], words)

    def test_clusters_go_on(self):
        self.put(3000)
        first = self.rebuild("--ranks", "2", "-k", "20")
        before = self.good_here("export", "c", "--format", "jsonl")
        self.good_here("put", "c", "-", given=texts(3100))
        row = json.loads(self.good_here("rebuild", "c", "--ranks", "3", "-k", "20", "--progress", "none",
                                        "--format", "jsonl"))
        self.assertEqual((row["outcome"], row["k"]), ("rebuilt", first["k"]))
        of = [{d["id"]: d["cluster"] for d in map(json.loads, text.splitlines())}
              for text in (before, self.good_here("export", "c", "--format", "jsonl"))]
        same = sum(of[1][i] == c for i, c in of[0].items())
        self.assertGreater(same, .9 * len(of[0]))

    def test_hardly_worse_than_one_process(self):
        self.put(4000)
        by_ranks = self.rebuild("--ranks", "2", "-k", "25")["objective"]
        alone = self.rebuild("-k", "25")["objective"]
        self.assertGreater(by_ranks, .985 * alone)


class Lost(Ranks):
    def setUp(self):
        super().setUp()
        script, self.log = os.path.join(self.folder, "start"), os.path.join(self.folder, "starts")
        with open(script, "w") as f:
            f.write(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 0 ] || echo started >>{self.log}\nexec {RANK} "$@"\n')
        os.chmod(script, 0o755)
        self.environ["GROUPERFISH_RANK"] = script

    def starts(self):
        """Jobs that were started since the last look."""
        if not os.path.exists(self.log):
            return 0
        with open(self.log) as f:
            n = len(f.readlines())
        os.remove(self.log)
        return n

    def seconds_of_ranks(self, *words):
        """From the first texts that are handed out to the last phase that is told."""
        p = self.begin(*words)
        told = [(now, time.monotonic()) for now in self.phases(p, [])]
        p.communicate(timeout=LONG)
        self.assertEqual(p.returncode, 0)
        return told[-1][1] - dict(reversed(told))["reading"]

    def test_a_rank_that_is_killed(self):
        self.put(6000)
        whole = self.seconds_of_ranks("--ranks", "3", "-k", "30")
        want = self.content()
        self.starts()
        served = self.good_here("clusters", "c", "--format", "jsonl")
        # Analysis, indexes, passes: by turns each of the three ranks.
        for number, part in enumerate([0, .05, .1, .15, .2, .25, .3, .4, .6, .75]):
            p, seen, told = self.begin("--ranks", "3", "-k", "30"), [], False
            for now in self.phases(p, seen):
                if now != "reading" or told:
                    continue
                told = True
                time.sleep(part * whole)
                killed = ranks_of(self.job).get(number % 3)
                if killed:
                    os.kill(killed, signal.SIGKILL)
                # The store answers meanwhile, from the build that there was.
                self.assertEqual(self.good_here("clusters", "c", "--format", "jsonl"), served)
            out = p.communicate(timeout=LONG)[0]
            self.assertEqual(p.returncode, 0, seen)
            self.assertTrue(told, seen)
            # Late in the job a rank may have told all that it knew, and is not missed.
            starts = self.starts()
            self.assertIn(starts, (1, 2) if part > .3 else (2,), part)
            self.assertEqual(json.loads(out)["outcome"], "rebuilt")
            self.assertEqual(self.content(), want, part)
            served = self.good_here("clusters", "c", "--format", "jsonl")

    def test_a_rank_of_a_list_of_hosts_that_is_killed(self):
        self.put(6000)
        with open(os.path.join(self.folder, "hosts"), "w") as f:
            f.write("# this machine\nlocalhost slots=4\n")
        words = "--hosts", "hosts", "--ranks", "3", "-k", "30"
        self.rebuild(*words)
        want = self.content()
        self.starts()
        p, seen, killed = self.begin(*words), [], False
        for now in self.phases(p, seen):
            if now == "reading" and not killed:
                killed = True
                os.kill(ranks_of(self.job)[2], signal.SIGKILL)
        p.communicate(timeout=LONG)
        self.assertEqual(p.returncode, 0, seen)
        # It was asked whether the host answers, and then the job was started again.
        self.assertEqual(self.starts(), 3)
        self.assertEqual(self.content(), want)

    def test_ranks_that_always_die(self):
        self.put(3000)
        self.rebuild("-k", "20")
        want = self.content()
        p = self.begin("--ranks", "2", "-k", "20")
        while p.poll() is None:
            rank = ranks_of(self.job).get(1)
            if rank:
                os.kill(rank, signal.SIGKILL)
            time.sleep(.01)
        said = p.communicate(timeout=LONG)[1]
        self.assertNotEqual(p.returncode, 0)
        self.assertTrue("given up after 3 tries: the ranks have died" in said or "do not start" in said, said)
        self.assertEqual(self.content(), want)
        self.assertEqual(self.run_here("verify").returncode, 0)

    def test_a_rank_that_stands_still(self):
        self.put(3000)
        self.rebuild("--ranks", "2", "-k", "20")
        want = self.content()
        self.starts()
        p, seen, stopped = self.begin("--ranks", "2", "-k", "20", GROUPERFISH_RANKS_SILENCE="3"), [], False
        for now in self.phases(p, seen):
            if now == "reading" and not stopped:
                stopped = True
                os.kill(ranks_of(self.job)[1], signal.SIGSTOP)
        p.communicate(timeout=LONG)
        self.assertEqual(p.returncode, 0, seen)
        self.assertEqual(self.starts(), 2)
        self.assertEqual(self.content(), want)

    def test_ctrl_c(self):
        self.put(6000)
        p, seen = self.begin("--ranks", "3", "-k", "30"), []
        for now in self.phases(p, seen):
            if now == "reading":
                p.send_signal(signal.SIGINT)
        p.communicate(timeout=LONG)
        self.assertEqual(p.returncode, 128 + signal.SIGINT)
        waits_until(lambda: not ranks_of(self.job))

    def test_the_process_of_the_store_dies(self):
        self.put(6000)
        p, seen = self.begin("--ranks", "3", "-k", "30"), []
        for now in self.phases(p, seen):
            if now == "reading":
                p.kill()
        p.communicate(timeout=LONG)
        waits_until(lambda: not ranks_of(self.job))
        self.assertEqual(self.rebuild("-k", "30")["outcome"], "rebuilt")


class StartedTogether(Ranks):
    """mpirun starts the command itself, several times: the processes are the ranks."""

    def setUp(self):
        super().setUp()
        self.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def rebuild_together(self, n, *words):
        return subprocess.run(
            ["mpirun", "--oversubscribe", "-n", str(n), PROGRAM, "rebuild", *words, "--progress", "none",
             "--format", "jsonl"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONG,
            cwd=self.folder, env=self.environment({}))

    def test_they_are_the_ranks(self):
        self.put(3000)
        self.rebuild("--ranks", "2", "-k", "20")
        want = self.content()
        for n, words in (3, []), (2, ["--ranks", "2", "--threads", "1"]):
            done = self.rebuild_together(n, "c", "--force", "--start", "fresh", "-k", "20", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([json.loads(row)["outcome"] for row in done.stdout.splitlines()], ["rebuilt"])
            self.assertEqual(done.stderr, "")
            self.assertEqual(self.content(), want, n)
        # With nothing to do all of them end, as they do where nothing is to be built.
        for words in ["--force", "--dry-run"], []:
            self.rebuild("--ranks", "2")
            done = self.rebuild_together(3, "c", *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(len(done.stdout.splitlines()), 1)
        self.assertFalse(ranks_of(self.job))

    def test_one_process_is_none(self):
        self.put(300)
        done = self.rebuild_together(1, "c", "-k", "5")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_fails(self):
        self.put(300)
        for n, words, said in ((2, ["c", "--force", "--ranks", "3"], "the 2 processes that mpirun or srun started"),
                               (1, ["c", "--force", "--ranks", "3"], "the 1 processes that mpirun or srun started"),
                               (2, ["none"], 'no collection "none"'), (2, ["--all", "--force"], "one collection")):
            done = self.rebuild_together(n, *words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertEqual(done.stderr.count(said), 1, done.stderr)
            waits_until(lambda: not ranks_of(self.job))

    def test_an_mpi_that_knows_nothing_of_the_others(self):
        self.put(300)
        done = self.run_here("rebuild", "c", "--force", "--progress", "none", PMI_SIZE="2", PMI_RANK="0")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("2 processes were started together, and of those MPI knows 1", done.stderr)

    def test_a_rank_that_is_killed(self):
        self.put(6000)
        self.rebuild("-k", "20")
        want = self.content()
        p = subprocess.Popen(
            ["mpirun", "--oversubscribe", "-n", "3", PROGRAM, "rebuild", "c", "--force", "--start", "fresh", "-k",
             "30", "--progress", "jsonl"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.environment({}))
        self.ends_once_a_rank_is_killed(p)
        self.assertEqual(self.content(), want)


class Refused(Ranks):
    def refuses(self, words, *said, **environ):
        done = self.run_here("rebuild", "c", "--force", "--progress", "none", *words, **environ)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        for text in said:
            self.assertIn(text, done.stderr)

    def test_words(self):
        self.put(300)
        two = ["--ranks", "2"]
        self.refuses([*two, "--memory", "1G"], "leave --memory out")
        self.refuses([*two, "--set", "lsa=10"], "rows reduced by lsa cannot be clustered by ranks")
        self.refuses([*two, "--set", "effort=thorough"], "effort=thorough")
        self.refuses([*two, "-k", "20000"], "10000 clusters are the most")
        self.refuses(["--hosts", "none"], "none")
        with open(os.path.join(self.folder, "empty"), "w") as f:
            f.write("# nobody\n\n")
        self.refuses(["--hosts", "empty"], "names no host")
        self.refuses(two, "mpirun", "openmpi-bin", GROUPERFISH_MPIRUN="/none")
        self.environ["GROUPERFISH_RANK"] = "/none"
        self.refuses(two, "grouperfish-rank is not found")
        self.environ["GROUPERFISH_RANK"] = shutil.which("false")
        self.refuses(two, "the ranks do not start")

    def test_ranks_that_differ(self):
        self.put(300)
        script = os.path.join(self.folder, "grouperfish-rank")
        with open(script, "w") as f:
            f.write(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 1 ] || export GROUPERFISH_SIMD=portable\n'
                    f'exec {RANK} "$@"\n')
        os.chmod(script, 0o755)
        self.environ["GROUPERFISH_RANK"] = script
        began = time.monotonic()
        done = self.run_here("rebuild", "c", "--force", "--ranks", "3", "--progress", "none")
        if done.returncode == 0:
            self.skipTest("this processor has portable kernels alone")
        self.assertIn("ranks must be alike", done.stderr)
        self.assertIn("rank 1", done.stderr)
        self.assertIn("kernels portable", done.stderr)
        self.assertLess(time.monotonic() - began, 60)
        done = self.run_here("rebuild", "c", "--force", "--ranks", "1", "--progress", "none", GROUPERFISH_SIMD="portable")
        self.assertEqual(done.returncode, 0, done.stderr)


class Hosts(Ranks):
    """Four network namespaces, each with a name of its own, as four hosts."""
    made = 0

    def shell(self, text):
        return subprocess.run(["sh", "-c", text], capture_output=True, text=True)

    def setUp(self):
        super().setUp()
        Hosts.made += 1  # names are gone some time after they are deleted
        self.mark = f"g{os.getpid() % 10000}x{Hosts.made}"
        net = f"10.{77 + os.getpid() % 100}.{Hosts.made}"
        made = self.shell("set -e\n" + f"ip link add {self.mark}b type bridge; ip link set {self.mark}b up\n" + "".join(
            f"ip netns add {self.mark}h{i}; ip link add {self.mark}v{i} type veth peer name eth0 netns {self.mark}h{i}\n"
            f"ip link set {self.mark}v{i} master {self.mark}b up; ip -n {self.mark}h{i} link set lo up\n"
            f"ip -n {self.mark}h{i} addr add {net}.{i}/24 dev eth0; ip -n {self.mark}h{i} link set eth0 up\n"
            for i in range(1, 5)))
        if made.returncode != 0:
            self.take_down()
            self.skipTest("network namespaces are not permitted here: " + made.stderr.strip()[:100])
        reach, start = os.path.join(self.folder, "reach"), os.path.join(self.folder, "mpirun")
        with open(reach, "w") as f:
            f.write('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\n'
                    f'n={self.mark}h${{1##*.}}; shift\n'
                    'exec ip netns exec "$n" unshare --uts sh -c \'hostname "$0"; exec /bin/sh -c "$*"\' "$n" "$@"\n')
        with open(start, "w") as f:
            f.write(f'#!/bin/sh\nexec ip netns exec {self.mark}h1 unshare --uts sh -c \'hostname {self.mark}h1; exec "$@"\' x '
                    f'mpirun --mca plm rsh --mca plm_rsh_agent {reach} --mca pml ob1 --mca btl tcp,self '
                    '--mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 '
                    '-x GROUPERFISH_TEST_JOB "$@"\n')
        for script in reach, start:
            os.chmod(script, 0o755)
        with open(os.path.join(self.folder, "hosts"), "w") as f:
            f.write("# four hosts\n" + "".join(f"{net}.{i} slots=1\n" for i in range(1, 5)))
        self.environ["GROUPERFISH_MPIRUN"] = start

    def take_down(self):
        # What was cut off is still there: it is ended with its host.
        self.shell("".join(f"ip netns pids {self.mark}h{i} | xargs -r kill -9; ip netns del {self.mark}h{i}; "
                           for i in range(1, 5)) + f"ip link del {self.mark}b")

    def tearDown(self):
        if hasattr(self, "mark"):
            self.take_down()
        super().tearDown()

    def test_four_hosts(self):
        self.put(4000)
        self.rebuild("--ranks", "1", "-k", "25", GROUPERFISH_MPIRUN=shutil.which("mpirun"))
        want = self.content()
        self.rebuild("--hosts", "hosts", "-k", "25")
        self.assertEqual(self.content(), want)

    def test_a_link_that_is_cut(self):
        self.put(4000)
        self.rebuild("--ranks", "1", "-k", "25", GROUPERFISH_MPIRUN=shutil.which("mpirun"))
        want = self.content()
        p, seen, began = self.begin("--hosts", "hosts", "-k", "25", GROUPERFISH_RANKS_SILENCE="5"), [], None
        for now in self.phases(p, seen):
            if now == "reading" and began is None:
                began = time.monotonic()
                self.shell(f"ip link set {self.mark}v3 down")
        p.communicate(timeout=LONG)
        self.assertIsNotNone(began, seen)
        # The job is lost, and starts again on the three that answer.
        self.assertEqual(p.returncode, 0, seen)
        self.assertEqual(self.content(), want)
        # A host that is away from the start: nothing is changed.
        done = self.run_here("rebuild", "c", "--force", "--hosts", "hosts", "-k", "25", "--progress", "none")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.content(), want)
        self.shell(f"ip link set {self.mark}v3 up")


del Store
if __name__ == "__main__":
    unittest.main(verbosity=2)
