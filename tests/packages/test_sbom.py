"""The bill of materials that a build makes: what SPDX 2.3 asks of one, and that it names what is linked and loaded."""
import json
import os
import re
import unittest

import clean
from clean import command

BUILD = os.environ["GROUPERFISH_BUILD"]
# What joins identifiers in an expression of licences.
OPERATORS = re.compile(r" (?:AND|OR|WITH) ")


class Bill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bill = json.loads(clean.read(os.path.join(BUILD, "grouperfish.spdx.json")))
        cls.packages = {package["name"]: package for package in cls.bill["packages"]}

    def test_form(self):
        bill = self.bill
        self.assertEqual((bill["spdxVersion"], bill["dataLicense"], bill["SPDXID"]), ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertRegex(bill["creationInfo"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertRegex(bill["creationInfo"]["creators"][0], r"^Tool: \S+-\S+$")
        self.assertRegex(bill["documentNamespace"], r"^[a-z]+:[^#]+$")
        ids = [one["SPDXID"] for kind in ("packages", "files") for one in bill.get(kind, [])] + ["SPDXRef-DOCUMENT"]
        self.assertEqual(len(ids), len(set(ids)))
        for one in ids:
            self.assertRegex(one, r"^SPDXRef-[A-Za-z0-9.-]+$")
        for one in bill["relationships"]:
            self.assertIn(one["spdxElementId"], ids)
            self.assertIn(one["relatedSpdxElement"], ids)
            self.assertIn(one["relationshipType"], ("DESCRIBES", "CONTAINS", "DYNAMIC_LINK", "RUNTIME_DEPENDENCY_OF", "DEPENDS_ON"))
        own = {text["licenseId"] for text in bill.get("hasExtractedLicensingInfos", [])}
        for package in bill["packages"]:
            self.assertTrue(package["versionInfo"] and package["name"])
            for licence in OPERATORS.split(package["licenseConcluded"]):
                self.assertRegex(licence, r"^[A-Za-z0-9.-]+$")
                self.assertTrue(not licence.startswith("LicenseRef-") or licence in own)

    def test_every_library_has_a_version_and_a_licence(self):
        for package in self.bill["packages"]:
            self.assertNotEqual(package["licenseConcluded"], "NOASSERTION",
                                f"{package['name']}: read its licence and add it to packaging/licences.json")
            self.assertNotEqual(package["versionInfo"], "NOASSERTION", package["name"])

    def related(self, how):
        ids = {package["SPDXID"]: name for name, package in self.packages.items()}
        pairs = [(ids.get(one["spdxElementId"]), ids.get(one["relatedSpdxElement"]))
                 for one in self.bill["relationships"] if one["relationshipType"] == how]
        return {(set(pair) - {"grouperfish"}).pop() for pair in pairs if None not in pair}

    def test_every_library_is_named(self):
        owner = lambda file: command("dpkg", "-S", file).split(":")[0]
        linked = self.related("DYNAMIC_LINK")
        for name in ("libleveldb", "libicu", "libstemmer", "libsimdjson", "libc6", "libstdc++6"):
            self.assertTrue(any(one.startswith(name) for one in linked), name)
        loaded = self.related("RUNTIME_DEPENDENCY_OF")
        for name in ("libcurl", "libmicrohttpd", "libopenblas", "libmagic", "libarchive"):
            self.assertTrue(any(one.startswith(name) for one in loaded), name)
        # As dpkg tells it, of each library that the dynamic linker finds for the program.
        for name, file in re.findall(r"^\s*(\S+) => (\S+)", command("ldd", os.path.join(BUILD, "grouperfish")), re.M):
            file = os.path.realpath(file)
            try:
                package = owner(file)
            except AssertionError:
                package = owner(file.removeprefix("/usr"))
            self.assertIn(package, self.packages, name)
            self.assertEqual(self.packages[package]["versionInfo"], command("dpkg-query", "-W", "-f", "${Version}\n", package).split()[0])
        self.assertEqual(self.related("CONTAINS") & {"d3-scale", "world-atlas"}, {"d3-scale", "world-atlas"})


if __name__ == "__main__":
    clean.need("dpkg", "ldd")
    clean.main()
