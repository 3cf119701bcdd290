"""The shared libraries that a program needs: those it is linked with, those it loads when they are first
needed, and those that either need in turn; with the package, version and licence of each.

A library is found where the dynamic linker of this machine finds it. Its package is Debian's, by dpkg;
on another system a library stands for itself, with the version that its file is named by. Licences are
those of licences.json: by binary package, else by source package. Those were read in the packages' files
of copyright, and hold for the library, not for programs that the same source has.
"""
import json
import os
import re
import subprocess
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
# What only the C library of the machine can be: never carried.
GLIBC = re.compile(r"(ld-linux.*|libc|libm|libmvec|libdl|libpthread|librt|libresolv|libutil|libanl|libnss_\w+)\.so\.\d+$")


@dataclass
class Library:
    name: str        # as the dynamic linker is asked for it: libicuuc.so.72
    file: str        # where it is, links followed
    how: str         # "linked", "loaded" or "needed" (by one of those)
    package: "Package" = None


@dataclass
class Package:
    name: str        # the binary package: libicu72
    source: str
    version: str
    licence: str     # an SPDX expression, or NOASSERTION
    debian: bool
    architecture: str = ""
    libraries: list = field(default_factory=list)


def output(*command):
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, env=environment).stdout


def names_of(file):
    """(soname, names of what it is linked with, folders it looks in) of an ELF file."""
    says = output("readelf", "-d", file)
    find = lambda tag: re.findall(rf"\({tag}\).*\[(.*)\]", says)
    return (find("SONAME") or [os.path.basename(file)])[0], find("NEEDED"), find("RPATH") + find("RUNPATH")


def found_for(file):
    """{name: file} of all that the dynamic linker would load with a file."""
    found = {}
    for line in output("ldd", file).splitlines():
        if match := re.match(r"\s*(\S+) => (.+?)( \(0x|$)", line):
            if match[2] == "not found":
                raise SystemExit(f"{file} needs {match[1]}, which is not found")
            found[match[1]] = os.path.realpath(match[2])
        elif match := re.match(r"\s*(/\S*/(ld-\S+)) \(0x", line):
            found[match[2]] = os.path.realpath(match[1])
    return found


def libraries_of(programs, loaded=None, layers=None):
    """The libraries of ELF files, by name. loaded is the build's loaded_libraries.txt."""
    found = {}
    for program in programs:
        direct = names_of(program)[1]
        for name, file in found_for(program).items():
            how = "linked" if name in direct else "needed"
            if name not in found or how == "linked":
                found[name] = Library(name, file, how)
    for line in open(loaded) if loaded else ():
        layer, name, file = line.rstrip("\n").split("\t")
        if layers and layer not in layers:
            continue
        file = os.path.realpath(file)
        if name not in found or found[name].how == "needed":
            found[name] = Library(name, file, "loaded")
        for name, file in found_for(file).items():
            found.setdefault(name, Library(name, file, "needed"))
    return [found[name] for name in sorted(found)]


def packages_of(libraries):
    """The packages of libraries, by name; each library gets its own."""
    licences = json.load(open(os.path.join(HERE, "licences.json")))
    owners = owners_of([library.file for library in libraries])
    facts = facts_of(sorted(set(owners.values())))
    packages = {}
    for library in libraries:
        owner = owners.get(library.file)
        if owner:
            source, version, architecture = facts[owner]
            name = owner.split(":")[0]
        else:
            name = source = library.name.split(".so")[0]
            version, architecture = re.sub(r".*\.so\.?", "", library.file) or "NOASSERTION", ""
        licence = licences.get(name) or licences.get(source) or licences.get(re.sub(r"-[\d.]+$", "", source))
        library.package = packages.setdefault(
            name, Package(name, source, version, licence or "NOASSERTION", bool(owner), architecture))
        library.package.libraries.append(library)
    return [packages[name] for name in sorted(packages)]


def owners_of(files):
    """{file: Debian's package}. A file of /usr/lib may be known by its place before /lib became a link."""
    places = {}
    for file in files:
        places[file] = file
        if file.startswith("/usr/lib"):
            places[file.removeprefix("/usr")] = file
    owners = {}
    try:
        for line in output("dpkg", "-S", *places).splitlines():
            package, _, place = line.partition(": ")
            if place in places and not package.startswith("diversion "):
                owners[places[place]] = package.split(", ")[0]
    except FileNotFoundError:
        pass
    return owners


def facts_of(packages):
    """{package: (source, version, architecture)}"""
    facts = {}
    if packages:
        form = "${Package}\t${source:Package}\t${Version}\t${Architecture}\n"
        for line in output("dpkg-query", "-W", "-f", form, *packages).splitlines():
            name, source, version, architecture = line.split("\t")
            for known in (name, f"{name}:{architecture}"):
                facts[known] = source, version, architecture
    return facts
