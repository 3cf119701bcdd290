#!/usr/bin/env python3
"""Make a container image of the tarball that carries its libraries, without a daemon and without root.

    container.py TARBALL OUT

OUT is one tar that is both an OCI image layout and what `docker save` writes: `docker load`,
`podman load`, and `skopeo` and `buildah` as oci-archive: read it. A health check is a matter of Docker's
format alone; OCI's has no place for it, and tools leave it aside there.

The image has the program with its libraries, the C library of this machine, its certificates, and no
shell. It runs as user 61732, keeps its store and the tokens in /data, and serves at port 61732. Health
is what `grouperfish status` says, by the store's socket, which needs no token.

The same tarball on the same machine gives the same bytes: members are sorted, belong to root but for
/data, and bear the time of the tarball's newest member.
"""
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import datetime

import libraries

USER = 61732
TAG = "grouperfish"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
# The C library's own: what the program is linked with, and what it asks for names of hosts and for
# other encodings.
C_LIBRARIES = ("libresolv.so.2", "libnss_dns.so.2", "libnss_files.so.2", "libpthread.so.0", "libdl.so.2", "librt.so.1")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x"}
TEXTS = {
    "etc/passwd": f"root:x:0:0:root:/root:/sbin/nologin\ngrouperfish:x:{USER}:{USER}:Grouperfish:/data:/sbin/nologin\n",
    "etc/group": f"root:x:0:\ngrouperfish:x:{USER}:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


class Layer:
    """Files of a file system, by name."""

    def __init__(self):
        self.members = {}
        self.folder("", 0o755)

    def folder(self, name, mode=0o755, owner=0):
        if name and "/" in name and os.path.dirname(name) not in self.members:
            self.folder(os.path.dirname(name))
        member = tarfile.TarInfo(name or ".")
        member.type, member.mode, member.uid, member.gid = tarfile.DIRTYPE, mode, owner, owner
        self.members[name] = member, b""

    def file(self, name, content, mode=0o644):
        if os.path.dirname(name) not in self.members:
            self.folder(os.path.dirname(name))
        member = tarfile.TarInfo(name)
        member.size, member.mode = len(content), mode
        self.members[name] = member, content

    def link(self, name, target):
        if os.path.dirname(name) not in self.members:
            self.folder(os.path.dirname(name))
        member = tarfile.TarInfo(name)
        member.type, member.linkname = tarfile.SYMTYPE, target
        self.members[name] = member, b""

    def packed(self, time):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for name in sorted(self.members):
                if name:
                    member, content = self.members[name]
                    member.mtime = time
                    tar.addfile(member, io.BytesIO(content))
        return out.getvalue()


def add_tarball(layer, tarball):
    """The program, its libraries, texts and licences; no headers, no static library, no pages of a manual."""
    time = 0
    with tarfile.open(tarball) as tar:
        for member in tar:
            time = max(time, int(member.mtime))
            name = member.name.partition("/")[2]
            if not re.match(r"(bin/|lib[^/]*/([^/]+/)?grouperfish/lib|share/(misc|doc)/)", name) or not member.isfile():
                continue
            layer.file(f"usr/{name}", tar.extractfile(member).read(), member.mode & 0o755)
    return time


def add_c_library(layer, program):
    """Of this machine, where the programs that the linker makes here look for it."""
    found = libraries.found_for(program)
    folder = os.path.dirname(found["libc.so.6"])
    wanted = {name: file for name, file in found.items() if libraries.GLIBC.match(name)}
    wanted |= {name: os.path.join(folder, name) for name in C_LIBRARIES if os.path.exists(os.path.join(folder, name))}
    for name, file in wanted.items():
        layer.file(f"usr/lib/{name}", open(file, "rb").read(), 0o755)
    layer.link("lib", "usr/lib")
    layer.link("lib64", "usr/lib")
    layer.link("usr/lib64", "lib")
    # Debian's linker looks in a folder that has the machine's name.
    if os.path.basename(folder) not in ("lib", "lib64"):
        layer.link(f"usr/lib/{os.path.basename(folder)}", ".")


def configuration(architecture, created, layer_id):
    port = f"{USER}/tcp"
    return {
        "architecture": architecture, "os": "linux", "created": created,
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/bin", "HOME=/data", "GROUPERFISH_STORE=/data/store", "LC_ALL=C.UTF-8",
                    f"SSL_CERT_FILE={CERTIFICATES}"],
            "Entrypoint": ["/usr/bin/grouperfish"],
            "Cmd": ["serve", "--listen", f"0.0.0.0:{USER}", "--tokens", "/data/tokens", "--log-format", "json"],
            "WorkingDir": "/data",
            "Volumes": {"/data": {}},
            "ExposedPorts": {port: {}},
            "StopSignal": "SIGTERM",
            "Healthcheck": {"Test": ["CMD", "/usr/bin/grouperfish", "status"], "Interval": 30 * 10**9,
                            "Timeout": 10 * 10**9, "StartPeriod": 10 * 10**9, "Retries": 3},
            "Labels": {"org.opencontainers.image.title": "grouperfish",
                       "org.opencontainers.image.licenses": "Apache-2.0",
                       "org.opencontainers.image.description": "Document clustering engine that keeps and serves its results"},
        },
        "rootfs": {"type": "layers", "diff_ids": [layer_id]},
        "history": [{"created": created, "created_by": "packaging/container.py"}],
    }


def digest(content):
    return hashlib.sha256(content).hexdigest()


def image(layer, time, architecture, version):
    """{name: content} of the files of an image of one layer."""
    plain = layer.packed(time)
    packed = gzip.compress(plain, 6, mtime=0)
    created = datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = json.dumps(configuration(architecture, created, f"sha256:{digest(plain)}")).encode()
    blob = lambda media, content: {"mediaType": media, "digest": f"sha256:{digest(content)}", "size": len(content)}
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": blob("application/vnd.oci.image.config.v1+json", config),
        "layers": [blob("application/vnd.oci.image.layer.v1.tar+gzip", packed)]}).encode()
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
             "manifests": [{**blob("application/vnd.oci.image.manifest.v1+json", manifest),
                            "platform": {"architecture": architecture, "os": "linux"},
                            "annotations": {"org.opencontainers.image.ref.name": version,
                                            "io.containerd.image.name": f"docker.io/library/{TAG}:{version}"}}]}
    path = lambda content: f"blobs/sha256/{digest(content)}"
    saved = [{"Config": path(config), "RepoTags": [f"{TAG}:{version}", f"{TAG}:latest"], "Layers": [path(packed)]}]
    return {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": json.dumps(index).encode(),
            "manifest.json": json.dumps(saved).encode(), path(config): config, path(manifest): manifest,
            path(packed): packed}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tarball, out = sys.argv[1:]
    version, machine = re.search(r"grouperfish-([^-]+)-linux-(.+)\.tar", os.path.basename(tarball)).groups()
    layer = Layer()
    time = add_tarball(layer, tarball)
    add_c_library(layer, sys.executable)
    layer.file(CERTIFICATES.lstrip("/"), open(CERTIFICATES, "rb").read())
    for name, text in TEXTS.items():
        layer.file(name, text.encode())
    for package in ("libc6", "ca-certificates"):
        if os.path.exists(text := f"/usr/share/doc/{package}/copyright"):
            layer.file(f"usr/share/doc/grouperfish/licences/{package}.txt", open(text, "rb").read())
    layer.folder("data", 0o700, USER)
    for name in ("dev", "proc", "sys"):
        layer.folder(name)
    layer.folder("tmp", 0o1777)
    with tarfile.open(out, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, content in image(layer, time, ARCHITECTURES.get(machine, machine), version).items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), time
            tar.addfile(member, io.BytesIO(content))
    print(f"{out}: {os.path.getsize(out) / 1e6:.0f} MB, unpacked {sum(len(c) for _, c in layer.members.values()) / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
