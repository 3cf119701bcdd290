"""A clean system to try packages in, and the packages themselves.

    with Clean() as system:                     a new one, removed at the end
        system.run("grouperfish", "version")    as root, with its own processes; ends in an exception
        system.run(..., user="grouperfish")     where the command fails

The system is a debootstrap of what this machine runs, from where apt has its packages. It is made
once, and kept as a tar in the folder that GROUPERFISH_KEPT names, with the packages that apt fetched.
Tests are skipped where that cannot be: no root, no mounts, no debootstrap, no mirror.
"""
import fcntl
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.environ["GROUPERFISH_SOURCE"]
KEPT = os.environ["GROUPERFISH_KEPT"]
POSTS = os.path.join(SOURCE, "examples/reddit-posts-20.jsonl.zst")
SKIPPED = 77


def command(*words, **more):
    """What a command prints; its standard error is shown where it fails."""
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def stop(process, number=signal.SIGTERM):
    """Ends what `unshare --fork` runs, by a signal, and waits. What it has done by then is its exit status."""
    children = read(f"/proc/{process.pid}/task/{process.pid}/children").split()
    for child in children:
        os.kill(int(child), number)
    with process:
        process.stderr.read()
    return process.returncode


def read(file, mode="r"):
    with open(file, mode) as it:
        return it.read()


def skip(why):
    """Ends the test program as one that was skipped."""
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def need(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        skip(f"{', '.join(missing)} not installed")


@functools.cache
def cannot_contain():
    """None, or why this process can make no processes that have mounts of their own: it may be in a container itself."""
    if os.geteuid() != 0:
        return "only root can make a clean system"
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run(["unshare", "--mount", "--pid", "--fork", "mount", "-t", "proc", "proc", folder], capture_output=True)
    return None if tried.returncode == 0 else "mounts are not allowed here"


def release():
    return dict(re.findall(r'^(\w+)="?(.*?)"?$', read("/etc/os-release"), re.M)).get("VERSION_CODENAME", "")


@functools.cache
def mirrors():
    """apt's own (site, release, component) of this machine's distribution."""
    form = "$(ORIGIN)|$(SITE)|$(RELEASE)|$(COMPONENT)"
    listed = command("apt-get", "indextargets", "--format", form, "Created-By: Packages").splitlines()
    of = {tuple(line.split("|")[1:]) for line in listed if line.split("|")[0] in ("Debian", "Ubuntu")}
    return sorted(one for one in of if one[1].startswith(release()))


def make_base(tar):
    """debootstrap's smallest system, with the lists of apt's sources; None, or why it cannot be made."""
    if not shutil.which("debootstrap"):
        return "debootstrap is not installed"
    site = next((one[0] for one in mirrors() if one[1] == release()), None)
    if not site:
        return "apt knows no mirror of this release"
    root = tempfile.mkdtemp(dir=KEPT)
    try:
        more = ["--include=ca-certificates"] if any(one[0].startswith("https") for one in mirrors()) else []
        done = subprocess.run(["debootstrap", "--variant=minbase", *more, release(), root, site],
                              capture_output=True, text=True)
        if done.returncode != 0:
            return f"debootstrap failed, maybe because the mirror is not reached: {done.stdout[-300:]}"
        with open(f"{root}/etc/apt/sources.list", "w") as out:
            out.writelines(f"deb {one[0]} {one[1]} {one[2]}\n" for one in mirrors())
        acquire = [line for line in command("apt-config", "dump", "Acquire").splitlines() if re.search("proxy", line, re.I)]
        with open(f"{root}/etc/apt/apt.conf.d/90clean", "w") as out:
            out.write("\n".join([*acquire, 'APT::Install-Recommends "false";', 'Acquire::Languages "none";', ""]))
        with open(f"{root}/etc/dpkg/dpkg.cfg.d/clean", "w") as out:
            out.write("force-unsafe-io\n")
        subprocess.run(["rm", "-rf", f"{root}/var/cache/apt/archives"], check=True)
        os.makedirs(f"{root}/var/cache/apt/archives/partial")
        system = Clean.of(root)
        try:
            system.run("apt-get", "update", "-q")
        except AssertionError as error:
            return f"no mirror is reached: {error}"
        command("tar", "-C", root, "-cf", f"{tar}.new", ".")
        os.rename(f"{tar}.new", tar)
        return None
    finally:
        subprocess.run(["rm", "-rf", root], check=True)


BASE = os.path.join(KEPT, f"{release()}.tar")


def cannot_make_base():
    """None once the tar of the clean system is there; or why it cannot be. It is made anew after a month,
    since mirrors forget old packages."""
    if why := cannot_contain():
        return why
    os.makedirs(KEPT, exist_ok=True)
    with open(os.path.join(KEPT, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(BASE) and time.time() - os.stat(BASE).st_mtime > 30 * 86400:
            os.remove(BASE)
        return None if os.path.exists(BASE) else make_base(BASE)


class Clean:
    """A clean system in a folder."""

    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="system-", dir=KEPT)
        command("tar", "-C", self.root, "-xf", BASE)
        os.chmod(self.root, 0o755)
        self.archives = os.path.join(KEPT, "archives")
        os.makedirs(self.archives, exist_ok=True)
        for name in os.listdir(self.archives):
            os.link(os.path.join(self.archives, name), f"{self.root}/var/cache/apt/archives/{name}")

    @classmethod
    def of(cls, root):
        system = cls.__new__(cls)
        system.root = root
        return system

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["rm", "-rf", "--one-file-system", self.root], check=True)

    def words(self, *words, user=None):
        """The command as this machine runs it: mounts and processes of its own go with it."""
        inside = ["chroot", *([f"--userspec={user}"] if user else []), self.root, *words]
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec",
                'mount -t proc proc "$0/proc"; exec "$@"', self.root, *inside]

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
        return {**kept, "PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root",
                "DEBIAN_FRONTEND": "noninteractive", **more}

    def run(self, *words, user=None, **environment):
        for name in ("resolv.conf", "hosts"):
            if os.path.exists(f"/etc/{name}"):
                shutil.copyfile(f"/etc/{name}", f"{self.root}/etc/{name}")
        return command(*self.words(*words, user=user), env=self.environment(**environment), cwd="/")

    def fails(self, *words, **more):
        try:
            self.run(*words, **more)
        except AssertionError as error:
            return str(error)
        raise AssertionError(f"{words} did not fail")

    def start(self, *words, user=None, **environment):
        return subprocess.Popen(self.words(*words, user=user), env=self.environment(**environment), cwd="/",
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def copy(self, file, to):
        shutil.copyfile(file, self.path(to))
        return to

    def path(self, inside):
        return os.path.join(self.root, inside.lstrip("/"))

    def apt(self, *words):
        """apt-get; what it fetches is kept for other systems."""
        try:
            said = self.run("apt-get", "-q", "-y", *words)
        except AssertionError:
            self.run("apt-get", "-q", "update")
            said = self.run("apt-get", "-q", "-y", *words)
        for name in os.listdir(self.path("var/cache/apt/archives")):
            kept = os.path.join(self.archives, name)
            if name.endswith(".deb") and not os.path.exists(kept):
                shutil.copyfile(self.path(f"var/cache/apt/archives/{name}"), kept)
        return said


def named_clusters(test, system, program, store, seconds, **more):
    """Two commands, and the names that they give to clusters of the posts in examples/."""
    posts = system.copy(POSTS, "/tmp/posts.jsonl.zst")
    begun = time.monotonic()
    system.run(program, "put", "posts", posts, GROUPERFISH_STORE=store, **more)
    system.run(program, "rebuild", "posts", GROUPERFISH_STORE=store, **more)
    names = labels(system.run(program, "clusters", "posts", "--format", "plain", GROUPERFISH_STORE=store, **more))
    check_names(test, names)
    return seconds + time.monotonic() - begun


def labels(rows):
    return [row.split("\t")[1] for row in rows.splitlines()]


def check_names(test, names):
    test.assertGreater(len(names), 10)
    for name in ("bees", "guitar", "travel"):
        test.assertIn(name, names)


def within(test, most, attempt):
    """An attempt returns its seconds. Of three one has to be good enough."""
    taken = []
    while len(taken) < 3 and (not taken or min(taken) > most):
        taken.append(attempt())
    print(f"{test.id().split('.')[-1]}: {', '.join(f'{one:.1f} s' for one in taken)} of {most}")
    test.assertLessEqual(min(taken), most)


def main():
    """Runs the tests of a program. Where some were skipped and the others are good, it was skipped."""
    result = unittest.main(verbosity=2, exit=False).result
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if result.skipped else 0)
