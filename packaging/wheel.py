#!/usr/bin/env python3
"""The tag of a wheel, and the licences that it carries: what scikit-build-core leaves out.

    wheel.py licences --out DIR LIBRARY...    the licences of the packages that libraries are from (cmake/wheel.cmake)
    wheel.py tag WHEEL                        say which C library it needs: manylinux_2_36 in place of linux (PEP 600)

A wheel says by its name what it runs on. scikit-build-core calls it linux_x86_64, by which indexes refuse it and
pip takes it for any Linux; which C library it needs stands in the symbols of what it carries.
"""
import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile

import carry
import libraries


def lay_licences(files, folder):
    """One text for each package, and those that it refers to; of libraries that are of no package none is known."""
    owners = libraries.owners_of([os.path.realpath(file) for file in files])
    for file in files:
        if os.path.realpath(file) not in owners:
            print(f"wheel: {file} is of no package of this system: its licence has to be added", file=sys.stderr)
    carry.copy_licences(sorted({owner.split(":")[0] for owner in owners.values()}), folder)


def newest_glibc(wheel):
    """The newest version of the C library that a library in the wheel asks for: (2, 36)."""
    versions = set()
    with tempfile.TemporaryDirectory() as folder:
        for name in wheel.namelist():
            if re.search(r"\.so(\.|$)", name):
                said = subprocess.run(["readelf", "-V", wheel.extract(name, folder)], capture_output=True, text=True, check=True)
                versions.update(re.findall(r"Name: GLIBC_(\d+)\.(\d+)", said.stdout))
    if not versions:
        sys.exit("wheel: there is no library in it")
    return max((int(a), int(b)) for a, b in versions)


def digest(content):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def tag(path):
    """Writes the wheel anew under its right name, beside the old one, which goes; returns the name."""
    with zipfile.ZipFile(path) as old:
        name = os.path.basename(path)
        machine = re.search(r"-(?:linux|manylinux_\d+_\d+)_(\w+)\.whl$", name)
        if not machine:
            sys.exit(f"wheel: {name} is of no Linux")
        platform = "manylinux_%d_%d_%s" % (*newest_glibc(old), machine[1])
        made = os.path.join(os.path.dirname(path), name[: machine.start()] + f"-{platform}.whl")
        files = {info: old.read(info) for info in old.infolist()}
    folder = next(info.filename for info in files if info.filename.endswith(".dist-info/WHEEL")).rpartition("/")[0]
    for info, content in files.items():
        if info.filename == f"{folder}/WHEEL":
            content = re.sub(rb"(?m)^(Tag: .*-)\w+$", rb"\1" + platform.encode(), content)
            said = f"{info.filename},{digest(content)},{len(content)}"
            files[info] = content
    for info, content in files.items():
        if info.filename == f"{folder}/RECORD":
            text = re.sub(rf"(?m)^{re.escape(folder)}/WHEEL,.*$", said, content.decode())
            files[info] = text.encode()
    part = made + ".part"
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as new:
        for info, content in files.items():
            new.writestr(info, content)
    os.remove(path)
    os.rename(part, made)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    licences = commands.add_parser("licences")
    licences.add_argument("--out", required=True)
    licences.add_argument("libraries", nargs="+")
    commands.add_parser("tag").add_argument("wheel")
    options = parser.parse_args()
    if options.command == "licences":
        lay_licences(options.libraries, options.out)
    else:
        print(tag(options.wheel))


if __name__ == "__main__":
    main()
