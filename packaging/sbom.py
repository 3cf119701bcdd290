#!/usr/bin/env python3
"""Write what Grouperfish consists of as SPDX 2.3 in JSON: a software bill of materials.

    sbom.py --source DIR --program FILE... --loaded FILE --out FILE [--carried DIR] [--also PACKAGE...]

Packages: Grouperfish; what lies in its sources from elsewhere (the page's packages, stop words); the
packages of the shared libraries that its programs need. Relationships say how: DYNAMIC_LINK of what
they are linked with, RUNTIME_DEPENDENCY_OF for what is loaded when it is first needed, DEPENDS_ON for
what those need. With --carried the libraries that lie in that folder are files, with checksums,
EXPANDED_FROM_ARCHIVE of their packages, and Grouperfish CONTAINS these; --also names further Debian packages that it contains.

The same input gives the same bytes: the time is SOURCE_DATE_EPOCH, or that of the newest program.
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import uuid

import libraries

STOP_WORDS = [("stop-words-postgresql", "15", "PostgreSQL"), ("stop-words-lucene", "8.7", "Apache-2.0"),
              ("stop-words-savoy", "8.7", "BSD-3-Clause")]
PUBLIC_DOMAIN = {
    "licenseId": "LicenseRef-public-domain",
    "name": "Public domain",
    "extractedText": "The authors have put liblzma into the public domain: it may be used, copied and changed by anyone.",
}


def spdx_id(*words):
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", word) for word in words)


def package_entry(name, version, licence, **more):
    return {"name": name, "SPDXID": spdx_id("Package", name), "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def purl(kind):
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": kind}]


def distribution():
    """The system that the packages are of, as a purl names it."""
    try:
        return dict(re.findall(r'^(\w+)="?(.*?)"?$', open("/etc/os-release").read(), re.M)).get("ID", "debian")
    except FileNotFoundError:
        return "debian"


class Document:
    def __init__(self, version):
        self.packages = [package_entry("grouperfish", version, "Apache-2.0",
                                       supplier="Organization: Grouperfish maintainers")]
        self.own = self.packages[0]["SPDXID"]
        self.files, self.relationships = [], []
        self.relate("SPDXRef-DOCUMENT", "DESCRIBES", self.own)

    def relate(self, one, how, other):
        self.relationships.append({"spdxElementId": one, "relationshipType": how, "relatedSpdxElement": other})

    def add_sources(self, source):
        """Code and data of others that the program holds."""
        listed = open(os.path.join(source, "server/page/built/licences.txt")).read()
        for name, version in re.findall(r"^-{20,}\n(\S+) (\d\S*)$", listed, re.M):
            self.packages.append(package_entry(name, version, "ISC", externalRefs=purl(f"pkg:npm/{name}@{version}")))
            self.relate(self.own, "CONTAINS", self.packages[-1]["SPDXID"])
        for name, version, licence in STOP_WORDS:
            self.packages.append(package_entry(name, version, licence))
            self.relate(self.own, "CONTAINS", self.packages[-1]["SPDXID"])

    def add_package(self, package):
        more = {"sourceInfo": f"source package {package.source}"}
        if package.debian:
            of = distribution()
            more["externalRefs"] = purl(f"pkg:deb/{of}/{package.name}@{package.version.replace('+', '%2B')}?arch={package.architecture}")
        self.packages.append(package_entry(package.name, package.version, package.licence, **more))
        return self.packages[-1]["SPDXID"]

    def add_needed(self, package, carried):
        entry = self.add_package(package)
        ways = {library.how for library in package.libraries}
        if "linked" in ways:
            self.relate(self.own, "DYNAMIC_LINK", entry)
        if "loaded" in ways:
            self.relate(entry, "RUNTIME_DEPENDENCY_OF", self.own)
        if ways == {"needed"}:
            self.relate(self.own, "DEPENDS_ON", entry)
        there = [library for library in package.libraries
                 if carried and os.path.exists(os.path.join(carried, library.name))]
        for library in there:
            self.add_file(entry, os.path.join(carried, library.name), package.licence)
        if there:
            self.relate(self.own, "CONTAINS", entry)

    def add_file(self, package, path, licence):
        content = open(path, "rb").read()
        name = os.path.basename(path)
        self.files.append({
            "fileName": f"./{name}", "SPDXID": spdx_id("File", name), "licenseConcluded": licence,
            "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION",
            "checksums": [{"algorithm": algorithm, "checksumValue": hashlib.new(algorithm.lower(), content).hexdigest()}
                          for algorithm in ("SHA1", "SHA256")]})
        self.relate(self.files[-1]["SPDXID"], "EXPANDED_FROM_ARCHIVE", package)

    def written(self, version, created):
        body = {"packages": self.packages, **({"files": self.files} if self.files else {}),
                "relationships": self.relationships}
        unique = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
        licences = [PUBLIC_DOMAIN] if "LicenseRef-public-domain" in json.dumps(body) else []
        return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
                "name": f"grouperfish-{version}", "documentNamespace": f"urn:uuid:{unique}",
                "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                                 "creators": [f"Tool: grouperfish-sbom-{version}"]},
                **({"hasExtractedLicensingInfos": licences} if licences else {}), **body}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True, help="the folder of Grouperfish's sources")
    parser.add_argument("--program", nargs="+", required=True, help="programs and libraries of Grouperfish")
    parser.add_argument("--loaded", required=True, help="loaded_libraries.txt of the build")
    parser.add_argument("--carried", help="the folder of libraries that are carried")
    parser.add_argument("--also", nargs="*", default=[], help="further packages of Debian that are contained")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()

    header = open(os.path.join(options.source, "include/grouperfish.h")).read()
    version = re.search(r'^#define GF_VERSION "(.*)"', header, re.M)[1]
    moment = os.environ.get("SOURCE_DATE_EPOCH") or max(os.stat(program).st_mtime for program in options.program)
    document = Document(version)
    document.add_sources(options.source)
    needed = libraries.packages_of(libraries.libraries_of(options.program, options.loaded))
    for package in needed:
        document.add_needed(package, options.carried)
        if package.licence == "NOASSERTION":
            print(f"sbom: no licence is known of {package.name} (source {package.source}): add it to packaging/licences.json")
    known = {package.name for package in needed}
    licences = json.load(open(os.path.join(libraries.HERE, "licences.json")))
    for name, (source, of, architecture) in libraries.facts_of(options.also).items():
        if name in known or ":" in name:
            continue
        entry = document.add_package(libraries.Package(name, source, of, licences.get(source, "NOASSERTION"), True, architecture))
        document.relate(document.own, "CONTAINS", entry)
    created = datetime.datetime.fromtimestamp(int(float(moment)), datetime.timezone.utc)
    with open(options.out, "w") as out:
        json.dump(document.written(version, created), out, indent=2)
        out.write("\n")


if __name__ == "__main__":
    main()
