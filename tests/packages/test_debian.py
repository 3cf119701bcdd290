"""Debian's packages: built, looked at by lintian, and installed, used, upgraded and removed in a clean system."""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest

import clean
from clean import KEPT, SOURCE, Clean, command

PACKAGES = ("grouperfish", "libgrouperfish0", "libgrouperfish-dev", "python3-grouperfish")
TREE = os.path.join(KEPT, "debian", "grouperfish")
LEFT_OUT = re.compile(r"^(build|\.git|node_modules|.*\.store|build.*\.log|__pycache__)$")


def sources(folder, inside=""):
    """Names of all files of the sources, without what builds and runs leave there."""
    for entry in os.scandir(os.path.join(folder, inside)):
        if LEFT_OUT.match(entry.name) and (not inside or entry.name == "__pycache__"):
            continue
        name = os.path.join(inside, entry.name)
        if entry.is_dir(follow_symlinks=False):
            yield from sources(folder, name)
        else:
            yield name


def same(one, other):
    try:
        a, b = os.stat(one), os.stat(other)
    except FileNotFoundError:
        return False
    return a.st_size == b.st_size and a.st_mtime_ns == b.st_mtime_ns


def copy_sources():
    """Into TREE, where what was built before stays: only what has changed is compiled again."""
    shutil.rmtree(os.path.join(TREE, "debian"), ignore_errors=True)
    os.makedirs(TREE, exist_ok=True)
    names = set(sources(SOURCE))
    for name in set(sources(TREE)) - names:
        os.remove(os.path.join(TREE, name))
    for name in names:
        there = os.path.join(TREE, name)
        if not same(os.path.join(SOURCE, name), there):
            os.makedirs(os.path.dirname(there), exist_ok=True)
            shutil.copy2(os.path.join(SOURCE, name), there)


def build():
    """The packages, {name: file}, and the .changes file that lists them."""
    copy_sources()
    folder = os.path.dirname(TREE)
    for old in glob.glob(os.path.join(folder, "*.deb")) + glob.glob(os.path.join(folder, "*.changes")):
        os.remove(old)
    command("dpkg-buildpackage", "-b", "-us", "-uc", "-nc", cwd=TREE,
            env={**os.environ, "DEB_BUILD_OPTIONS": f"nocheck noautodbgsym parallel={os.cpu_count()}"})
    files = {os.path.basename(file).split("_")[0]: file for file in glob.glob(os.path.join(folder, "*.deb"))}
    return files, glob.glob(os.path.join(folder, "*.changes"))[0]


def renumbered(file, version):
    """The package again, as a later version."""
    folder = tempfile.mkdtemp(dir=KEPT)
    command("dpkg-deb", "-R", file, f"{folder}/package")
    control = f"{folder}/package/DEBIAN/control"
    text = re.sub(r"(?m)^Version: .*", f"Version: {version}", clean.read(control))
    with open(control, "w") as out:
        out.write(text)
    command("dpkg-deb", "--root-owner-group", "-b", f"{folder}/package", f"{folder}/package.deb")
    return f"{folder}/package.deb"


def unit_of(system, name):
    """(environment, words of ExecStart) of an installed unit."""
    text = clean.read(system.path(f"lib/systemd/system/{name}"))
    environment = {}
    for line in re.findall(r"^Environment=(.*)", text, re.M):
        for word in shlex.split(line):
            key, _, value = word.partition("=")
            environment[key] = value
    return environment, re.search(r"^ExecStart=(.*)", text, re.M)[1]


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files, cls.changes = build()

    def setUp(self):
        if "clean_system" in self.id() and (why := clean.cannot_make_base()):
            self.skipTest(why)

    def install(self, system, *names):
        for name in names:
            system.copy(self.files[name], f"/tmp/{name}.deb")
        system.apt("install", *(f"/tmp/{name}.deb" for name in names))

    def test_lintian(self):
        clean.need("lintian")
        said = command("lintian", "--allow-root", "--profile", "debian", "--fail-on", "error,warning", self.changes)
        self.assertEqual([line for line in said.splitlines() if re.match("[EW]:", line)], [])

    def test_contents(self):
        self.assertLessEqual(set(PACKAGES), set(self.files))
        listed = {name: command("dpkg-deb", "-c", self.files[name]) for name in PACKAGES}
        for package, names in {
            "grouperfish": ("usr/bin/grouperfish", "lib/systemd/system/grouperfish.service", "etc/grouperfish.conf",
                            "lib/systemd/system/grouperfish-backup.timer", "usr/share/man/man1/grouperfish-put.1.gz",
                            "usr/share/bash-completion/completions/grouperfish", "usr/share/doc/grouperfish/docs/serving.md",
                            "grouperfish.spdx.json"),
            "libgrouperfish0": ("libgrouperfish.so.0",),
            "python3-grouperfish": ("usr/lib/python3/dist-packages/grouperfish/__init__.py",),
            "libgrouperfish-dev": ("usr/include/grouperfish.h", "libgrouperfish.a", "grouperfish.pc", "grouperfish-config.cmake"),
        }.items():
            for name in names:
                self.assertIn(name, listed[package])
        # What is loaded when it is first needed stands nowhere in the program that dpkg would look at.
        depends = command("dpkg-deb", "-f", self.files["grouperfish"], "Depends")
        for name in ("libcurl", "libmicrohttpd", "libarchive", "libopenblas", "libmagic", "libxml2", "libleveldb"):
            self.assertIn(name, depends)
        depends = command("dpkg-deb", "-f", self.files["libgrouperfish0"], "Depends")
        self.assertIn("libopenblas", depends)
        self.assertNotIn("libmicrohttpd", depends)

    def test_programs_are_built_against_the_development_package(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("libgrouperfish0", "libgrouperfish-dev"):
                command("dpkg-deb", "-x", self.files[name], folder)
            pc = os.path.dirname(glob.glob(f"{folder}/usr/lib/**/grouperfish.pc", recursive=True)[0])
            flags = command("pkg-config", "--cflags", "--libs", "grouperfish", env={**os.environ, "PKG_CONFIG_PATH": pc}).split()
            command("cc", f"{SOURCE}/examples/cluster_texts.c", *flags, "-o", f"{folder}/program")
            printed = command(f"{folder}/program", env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(pc)})
            self.assertEqual(printed, clean.read(f"{SOURCE}/tests/engine/example.expected"))

    def test_from_a_clean_system_to_named_clusters(self):
        def attempt():
            with Clean() as system:
                begun = time.monotonic()
                self.install(system, "grouperfish")
                return clean.named_clusters(self, system, "grouperfish", "/tmp/store", time.monotonic() - begun)
        clean.within(self, 60, attempt)

    def test_from_a_clean_system_to_named_clusters_by_python(self):
        """Five lines; texts are read before, since reading files of posts is Python's own."""
        clean.need("zstd")
        program = "\n".join(["import json", "from grouperfish import Grouperfish", "texts = json.load(open('/tmp/texts.json'))",
                             "g = Grouperfish(k='auto').fit(texts)", "print('\\n'.join(g.cluster_names_))"])
        posts = command("zstd", "-dc", clean.POSTS).splitlines()

        def attempt():
            with Clean() as system:
                with open(system.path("/tmp/texts.json"), "w") as out:
                    json.dump([json.loads(post)["text"] for post in posts], out)
                begun = time.monotonic()
                self.install(system, "libgrouperfish0", "python3-grouperfish")
                clean.check_names(self, system.run("python3", "-c", program).splitlines())
                return time.monotonic() - begun
        clean.within(self, 60, attempt)

    def test_the_packages_own_tests_in_a_clean_system(self):
        """debian/tests, as autopkgtest runs them: from the sources' folder, with the packages that each asks for."""
        ours = set(PACKAGES)
        stanzas = [dict(line.split(": ", 1) for line in stanza.splitlines())
                   for stanza in clean.read(f"{SOURCE}/debian/tests/control").strip().split("\n\n")]
        with Clean() as system:
            sources = system.path("/tmp/sources")
            for folder in ("debian/tests", "examples", "tests/engine"):
                shutil.copytree(os.path.join(SOURCE, folder), os.path.join(sources, folder))
            self.install(system, *PACKAGES)
            for stanza in stanzas:
                others = [name for name in stanza["Depends"].split(", ") if name not in ours]
                if others:
                    system.apt("install", *others)
                for name in stanza["Tests"].split():
                    system.run("sh", "-c", "mkdir -p $AUTOPKGTEST_TMP && cd /tmp/sources && exec sh debian/tests/$0", name,
                               AUTOPKGTEST_TMP=f"/tmp/{name}")
        self.assertEqual({name for stanza in stanzas for name in stanza["Tests"].split()},
                         set(os.listdir(f"{SOURCE}/debian/tests")) - {"control"})

    def serve(self, system):
        """The server, started as the unit says; it answers when this returns."""
        environment, words = unit_of(system, "grouperfish.service")
        environment["GROUPERFISH_ARGS"] += " --listen 127.0.0.1:0"
        server = system.start("sh", "-c", f"exec {words}", user="grouperfish:grouperfish", **environment)
        said = []
        for line in server.stderr:
            if "127.0.0.1:" in line:
                return server
            said.append(line)
        self.fail(f"the server has ended: {''.join(said)}")

    def status(self, system, path):
        return system.run("stat", "-c", "%U:%G %a", path).strip()

    def test_from_installation_to_removal_in_a_clean_system(self):
        store = {"GROUPERFISH_STORE": "/var/lib/grouperfish/store", "user": "grouperfish:grouperfish"}
        clusters = lambda: system.run("grouperfish", "clusters", "posts", "--format", "plain", **store)
        with Clean() as system:
            self.install(system, "grouperfish", "libgrouperfish0")

            # User, folder, units.
            self.assertRegex(system.run("getent", "passwd", "grouperfish"), r":/var/lib/grouperfish:/usr/sbin/nologin$")
            self.assertEqual(self.status(system, "/var/lib/grouperfish"), "grouperfish:grouperfish 700")
            wants = "/etc/systemd/system/{}.target.wants/{}"
            for target, unit in ("multi-user", "grouperfish.service"), ("timers", "grouperfish-backup.timer"):
                self.assertTrue(os.path.islink(system.path(wants.format(target, unit))), unit)
            if shutil.which("systemd-analyze"):
                found = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={system.root}",
                                        "grouperfish.service", "grouperfish-backup.timer"], capture_output=True, text=True)
                # kill is of procps, which is recommended.
                wrong = [line for line in found.stderr.splitlines() if "grouperfish" in line and "/bin/kill" not in line]
                self.assertEqual(wrong, [])

            # The service, and the backup beside it.
            server = self.serve(system)
            try:
                posts = system.copy(clean.POSTS, "/tmp/posts.jsonl.zst")
                system.run("grouperfish", "put", "posts", posts, **store)
                system.run("grouperfish", "rebuild", "posts", **store)
                backup, words = unit_of(system, "grouperfish-backup.service")
                system.run("sh", "-c", f"exec {words}", user="grouperfish:grouperfish", **backup)
            finally:
                ended = clean.stop(server)
            self.assertEqual(ended, 0)
            kept = os.listdir(system.path("/var/lib/grouperfish/backups"))
            self.assertEqual(len(kept), 1)
            system.run("grouperfish", "verify", "--store", f"/var/lib/grouperfish/backups/{kept[0]}", user="grouperfish:grouperfish")
            rows = clusters()
            clean.check_names(self, clean.labels(rows))

            # An upgrade keeps the store and what was changed in the settings.
            with open(system.path("/etc/grouperfish.conf"), "a") as out:
                out.write("rebuild-after = 10%\n")
            later = renumbered(self.files["grouperfish"], "99.0")
            system.copy(later, "/tmp/later.deb")
            shutil.rmtree(os.path.dirname(later))
            system.apt("install", "/tmp/later.deb")
            self.assertIn("99.0", system.run("dpkg-query", "-W", "grouperfish"))
            self.assertIn("rebuild-after = 10%", clean.read(system.path("/etc/grouperfish.conf")))
            self.assertEqual(clusters(), rows)

            # So does removal; a purge takes the settings, and says where the store is.
            uid = system.run("id", "-u", "grouperfish")
            system.apt("remove", "grouperfish")
            self.assertFalse(os.path.exists(system.path("/usr/bin/grouperfish")))
            self.assertTrue(os.path.exists(system.path("/etc/grouperfish.conf")))
            said = system.run("sh", "-c", "apt-get -q -y purge grouperfish 2>&1")
            self.assertIn("stay in /var/lib/grouperfish", said)
            self.assertFalse(os.path.exists(system.path("/etc/grouperfish.conf")))
            for target, unit in ("multi-user", "grouperfish.service"), ("timers", "grouperfish-backup.timer"):
                self.assertFalse(os.path.lexists(system.path(wants.format(target, unit))), unit)

            # Installed again, it goes on with the store.
            self.install(system, "grouperfish")
            self.assertEqual(system.run("id", "-u", "grouperfish"), uid)
            self.assertEqual(clusters(), rows)
            shutil.rmtree(system.path("/var/lib/grouperfish/store"))
            shutil.rmtree(system.path("/var/lib/grouperfish/backups"))
            system.apt("purge", "grouperfish")
            self.assertFalse(os.path.exists(system.path("/var/lib/grouperfish")))
            system.fails("getent", "passwd", "grouperfish")


if __name__ == "__main__":
    clean.need("dpkg-buildpackage", "dh")
    clean.main()
