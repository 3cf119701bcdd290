#!/usr/bin/env python3
"""Make an installed folder whole: it then runs on any machine with a C library no older than this one's.

    carry.py --source DIR --build DIR --staged DIR [--libdir lib]

Into LIBDIR/grouperfish/ go all shared libraries but the C library's own, as they are (of ICU's data what
is never read stays behind); the program and
libgrouperfish.so look for them there first, by a path from where they lie (DT_RPATH, which also
holds for what the libraries need). The file that libmagic reads goes to share/misc. The bill of
materials is written anew, with the files that are carried, and the licences of their packages are
laid beside it. The units of systemd name the program below /usr/local. Needs patchelf and readelf.

The folder of the libraries is our own: put below /usr/local, they come before nobody else's.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import libraries

MAGIC = "/usr/share/misc/magic.mgc"


def carry_libraries(needed, folder):
    """Copies them under the names that the dynamic linker asks for; returns those that were carried."""
    os.makedirs(folder, exist_ok=True)
    carried = [library for library in needed if not libraries.GLIBC.match(library.name)]
    for library in carried:
        if paths := libraries.names_of(library.file)[2]:
            sys.exit(f"carry: {library.file} looks for libraries in {paths}: what it would find there is not known")
        shutil.copy(library.file, os.path.join(folder, library.name))
        os.chmod(os.path.join(folder, library.name), 0o644)
    return carried


# Of ICU's data the program reads how text is broken, composed and decoded. These have names of currencies,
# languages, regions, units and time zones, spelled numbers, orders of words, other scripts, and how a place
# writes dates and numbers: 22 MB.
ICU_NEVER_READ = re.compile(r"(coll|curr|lang|rbnf|region|translit|unit|zone)/|[a-z]{2,3}(_\w+)?\.res$")


def trim_icu(file):
    """Leaves out of a carried libicudata what is never read, by ICU's own tools; they come with its headers."""
    tools = [next((place for place in (shutil.which(tool), f"/usr/sbin/{tool}") if place and os.path.exists(place)), None)
             for tool in ("icupkg", "genccode")]
    if None in tools:
        print("carry: icupkg and genccode are not installed, so that ICU's data stay whole", file=sys.stderr)
        return
    icupkg, genccode = tools
    soname = libraries.names_of(file)[0]
    data = f"icudt{soname.rpartition('.')[2]}"
    run = lambda *command, **more: subprocess.run(command, check=True, text=True, **more)
    with tempfile.TemporaryDirectory() as folder:
        whole, rest = f"{folder}/{data}l.dat", f"{folder}/rest/{data}l.dat"
        os.mkdir(f"{folder}/rest")
        run("objcopy", "-O", "binary", "--only-section=.rodata", file, whole)
        names = run(icupkg, "-l", whole, stdout=subprocess.PIPE).stdout.split()
        with open(f"{folder}/never_read.txt", "w") as out:
            out.writelines(f"{name}\n" for name in names if ICU_NEVER_READ.match(name))
        run(icupkg, "-r", f"{folder}/never_read.txt", whole, rest)
        run(genccode, "-a", "gcc", "-e", data, "-d", folder, rest, stdout=subprocess.DEVNULL)
        run(os.environ.get("CC", "cc"), "-shared", "-nostdlib", f"-Wl,-soname,{soname}", "-Wl,--build-id=none", "-Wl,-z,noexecstack",
            "-o", f"{file}.new", f"{folder}/{data}l_dat.S")
    os.chmod(f"{file}.new", 0o644)
    os.rename(f"{file}.new", file)


def copy_licences(packages, folder):
    """The packages' files of copyright, and the licences that those refer to."""
    os.makedirs(folder, exist_ok=True)
    common = set()
    for package in packages:
        text = f"/usr/share/doc/{package}/copyright"
        if not os.path.exists(text):
            print(f"carry: {package} has no file of copyright at {text}", file=sys.stderr)
            continue
        shutil.copyfile(text, os.path.join(folder, f"{package}.txt"))
        common.update(re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])",
                                 open(text, errors="replace").read()))
    for name in sorted(common):
        if os.path.isfile(f"/usr/share/common-licenses/{name}"):
            shutil.copyfile(f"/usr/share/common-licenses/{name}", os.path.join(folder, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "build", "staged"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--libdir", default="lib")
    options = parser.parse_args()
    if not shutil.which("patchelf"):
        sys.exit("carry: patchelf is missing; the package of that name has it")

    staged = lambda *parts: os.path.join(options.staged, *parts)
    program = staged("bin/grouperfish")
    shared = os.path.realpath(glob.glob(staged(options.libdir, "libgrouperfish.so.*"))[0])
    loaded = os.path.join(options.build, "loaded_libraries.txt")
    folder, documents = staged(options.libdir, "grouperfish"), staged("share/doc/grouperfish")

    needed = libraries.libraries_of([program, shared], loaded)
    packages = libraries.packages_of(carry_libraries(needed, folder))
    for file in glob.glob(f"{folder}/libicudata.so.*"):
        trim_icu(file)
    for file in (program, shared):
        way = os.path.relpath(folder, os.path.dirname(file))
        subprocess.run(["patchelf", "--force-rpath", "--set-rpath", f"$ORIGIN/{way}", file], check=True)
    for unit in glob.glob(staged("lib/systemd/system/*.service")):
        text = open(unit).read()
        with open(unit, "w") as out:
            out.write(re.sub(r"^(ExecStart=)\S*/bin/grouperfish", r"\1/usr/local/bin/grouperfish", text, flags=re.M))
    also = []
    if os.path.exists(MAGIC):
        os.makedirs(staged("share/misc"), exist_ok=True)
        shutil.copy(os.path.realpath(MAGIC), staged("share/misc/magic.mgc"))
        also = [owner.split(":")[0] for owner in libraries.owners_of([os.path.realpath(MAGIC)]).values()]
    copy_licences([package.name for package in packages] + also, os.path.join(documents, "licences"))
    # Of the build's own program: where that finds its libraries is where the carried ones are from.
    subprocess.run([sys.executable, os.path.join(libraries.HERE, "sbom.py"), "--source", options.source,
                    "--program", os.path.join(options.build, "grouperfish"),
                    glob.glob(os.path.join(options.build, "libgrouperfish.so.*.*"))[0],
                    "--loaded", loaded, "--carried", folder, "--also", *also,
                    "--out", os.path.join(documents, "grouperfish.spdx.json")], check=True)


if __name__ == "__main__":
    main()
