"""The container image: its form and size, and a container of it."""
import functools
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

import clean
from clean import KEPT, SOURCE, command
from test_tarball import make_tarball

MOST = 100_000_000
PORT = 61732


@functools.cache
def made():
    """(tarball, image, its folder), made once for all tests."""
    os.makedirs(KEPT, exist_ok=True)
    folder = tempfile.TemporaryDirectory(dir=KEPT)
    unittest.addModuleCleanup(folder.cleanup)
    os.chmod(folder.name, 0o755)
    tarball = make_tarball(f"{folder.name}/made")
    return tarball, make_image(tarball, f"{folder.name}/image.tar"), folder.name


def make_image(tarball, out):
    command(sys.executable, f"{SOURCE}/packaging/container.py", tarball, out)
    return out


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tarball, cls.image, cls.folder = made()
        with tarfile.open(cls.image) as tar:
            cls.files = {member.name: tar.extractfile(member).read() for member in tar}
        cls.manifest = json.loads(cls.blob(json.loads(cls.files["index.json"])["manifests"][0]))
        cls.config = json.loads(cls.blob(cls.manifest["config"]))

    @classmethod
    def blob(cls, described):
        """What a descriptor describes, held against its size and digest."""
        content = cls.files[f"blobs/{described['digest'].replace(':', '/')}"]
        assert len(content) == described["size"]
        assert described["digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        return content

    def layer(self):
        return gzip.decompress(self.blob(self.manifest["layers"][0]))

    def test_form(self):
        self.assertEqual(json.loads(self.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        layer = self.layer()
        self.assertEqual(self.config["rootfs"]["diff_ids"], [f"sha256:{hashlib.sha256(layer).hexdigest()}"])
        # As `docker save` has it: the same config and layer.
        saved = json.loads(self.files["manifest.json"])[0]
        self.assertEqual(saved["Config"], f"blobs/{self.manifest['config']['digest'].replace(':', '/')}")
        self.assertEqual(saved["Layers"], [f"blobs/{self.manifest['layers'][0]['digest'].replace(':', '/')}"])
        says = self.config["config"]
        self.assertEqual(says["User"].split(":")[0], str(PORT))
        self.assertEqual((list(says["Volumes"]), list(says["ExposedPorts"])), (["/data"], [f"{PORT}/tcp"]))
        self.assertEqual(says["Healthcheck"]["Test"], ["CMD", "/usr/bin/grouperfish", "status"])

    def test_size(self):
        unpacked = len(self.layer())
        print(f"image {os.path.getsize(self.image) / 1e6:.1f} MB, unpacked {unpacked / 1e6:.1f} MB")
        self.assertLess(os.path.getsize(self.image), MOST)
        self.assertLess(unpacked, MOST)

    def test_same_tarball_same_image(self):
        again = make_image(self.tarball, f"{self.folder}/again.tar")
        self.assertEqual(clean.read(self.image, "rb"), clean.read(again, "rb"))

    def test_owners(self):
        with tarfile.open(fileobj=io.BytesIO(self.layer())) as tar:
            members = {member.name: member for member in tar}
        self.assertEqual((members["data"].uid, members["data"].mode), (PORT, 0o700))
        self.assertEqual({member.uid for name, member in members.items() if name != "data"}, {0})
        for name, member in members.items():
            if name != "tmp" and not member.issym():
                self.assertEqual(member.mode & 0o6022, 0, name)


# The image's files, read-only; /data and /tmp; processes, hosts' names and network of its own.
INSIDE = """
mount --bind "$0" "$0"
mount --bind "$1" "$0/data"
mount -t tmpfs -o mode=1777 tmpfs "$0/tmp"
mount -t proc proc "$0/proc"
mount -o remount,bind,ro "$0"
root=$0
shift
exec setpriv --no-new-privs --bounding-set=-all,+setuid,+setgid,+sys_chroot chroot --userspec="$1" "$root" "${@:2}"
"""


class Container:
    """A container of the image, of what its config says, as root makes one without a daemon."""

    def __init__(self, image, folder):
        self.root, self.data, self.config = f"{folder}/root", f"{folder}/data", image.config["config"]
        os.makedirs(self.root)
        with tarfile.open(fileobj=io.BytesIO(image.layer())) as tar:
            tar.extractall(self.root, **({"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}))
        os.mkdir(self.data, 0o700)
        os.chown(self.data, PORT, PORT)

    def words(self, *arguments):
        return ["unshare", "--mount", "--pid", "--ipc", "--uts", "--net", "--fork", "--kill-child", "bash", "-ec", INSIDE,
                self.root, self.data, self.config["User"], *self.config["Entrypoint"], *arguments]

    def environment(self):
        return dict(one.split("=", 1) for one in self.config["Env"]) | {"PATH": os.environ["PATH"]}

    def run(self, *arguments):
        return command(*self.words(*arguments), env=self.environment())

    def start(self, *arguments):
        return subprocess.Popen(self.words(*arguments), env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        Image.setUpClass()

    def setUp(self):
        if why := clean.cannot_contain():
            self.skipTest(why)
        self.folder = tempfile.TemporaryDirectory(dir=KEPT)
        self.addCleanup(self.folder.cleanup)
        os.chmod(self.folder.name, 0o755)
        self.container = Container(Image("test_form"), self.folder.name)

    def test_from_a_clean_container_to_named_clusters(self):
        command("cp", clean.POSTS, f"{self.container.data}/posts.jsonl.zst")

        def attempt():
            command("rm", "-rf", f"{self.container.data}/store")
            begun = time.monotonic()
            self.container.run("put", "posts", "/data/posts.jsonl.zst")
            self.container.run("rebuild", "posts")
            clean.check_names(self, clean.labels(self.container.run("clusters", "posts", "--format", "plain")))
            return time.monotonic() - begun
        clean.within(self, 60, attempt)

    def test_server_and_its_health(self):
        with open(f"{self.container.data}/tokens", "w") as out:
            out.write("f5b1c4d8e2a94f0b8d6c7e1a write *\n")
        os.chmod(out.name, 0o600)
        os.chown(out.name, PORT, PORT)
        health = self.container.config["Healthcheck"]["Test"]
        self.assertEqual(health[:2], ["CMD", *self.container.config["Entrypoint"]])
        server = self.container.start(*self.container.config["Cmd"])
        try:
            for line in server.stderr:
                if f"0.0.0.0:{PORT}" in line:
                    break
            else:
                self.fail("the server has ended")
            state = json.loads(self.container.run(*health[2:], "--format", "json"))
            self.assertIn("grouperfish serve", json.dumps(state))
        finally:
            self.assertEqual(clean.stop(server), 0)
        self.assertEqual(os.stat(f"{self.container.data}/store").st_uid, PORT)

    def test_no_tokens_no_server(self):
        with self.assertRaisesRegex(AssertionError, "/data/tokens"):
            self.container.run(*self.container.config["Cmd"])


if __name__ == "__main__":
    clean.need("cpack", "patchelf", "readelf")
    clean.main()
