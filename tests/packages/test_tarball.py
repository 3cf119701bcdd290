"""The tarball that cpack makes: in a clean system that has nothing but a C library, and its bill of materials."""
import glob
import hashlib
import json
import os
import re
import subprocess
import tempfile
import time
import unittest

import clean
from clean import KEPT, Clean, command

BUILD = os.environ["GROUPERFISH_BUILD"]
GLIBC = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libresolv|libdl|libpthread|librt)\.so")


TEXTS = {
    "utf-8": ["ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำ", "ភាសាខ្មែរជាភាសាផ្លូវការ", "ພາສາລາວເປັນພາສາທາງການ", "မြန်မာဘာသာစကား", "Ｆｕｌｌ　ｗｉｄｔｈ ﬁne caﬀè"],
    "gb18030": ["自然语言处理是人工智能的一个重要方向", "今天的天气非常好我们去公园散步", "文档按照主题分成不同的组"],
    "shift_jis": ["日本語の文章を単語に分ける", "東京は日本の首都であり世界最大の都市圏である"],
    "euc-kr": ["한국어 문장을 단어로 나누는 방법", "서울은 대한민국의 수도이다"],
    "big5": ["繁體中文的文件分類", "臺北是一座美麗的城市"],
    "koi8-r": ["русский язык в старой кодировке", "группы документов и их названия"],
    "iso-8859-7": ["Η ελληνική γλώσσα. Τα έγγραφα χωρίζονται;", "ομάδες με ονόματα"],
    "windows-1252": ["naïve façade – “quoted” €", "Straße und Größe"],
}


def make_tarball(folder):
    """Where it lies."""
    command("cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", folder)
    return glob.glob(os.path.join(folder, "*.tar.gz"))[0]


class Tarball(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(KEPT, exist_ok=True)
        cls.folder = tempfile.TemporaryDirectory(dir=KEPT)
        cls.addClassCleanup(cls.folder.cleanup)
        cls.tarball = make_tarball(f"{cls.folder.name}/made")
        command("tar", "-C", cls.folder.name, "-xf", cls.tarball)
        cls.prefix = glob.glob(f"{cls.folder.name}/grouperfish-*")[0]
        cls.carried = f"{cls.prefix}/lib/grouperfish"

    def test_every_library_is_carried_but_the_c_librarys_own(self):
        for file in [f"{self.prefix}/bin/grouperfish", *glob.glob(f"{self.prefix}/lib/libgrouperfish.so.0")]:
            found = dict(re.findall(r"^\s*(\S+) => (\S+)", command("ldd", file), re.M))
            self.assertIn("libleveldb.so.1d", found)
            for name, place in found.items():
                if not GLIBC.match(name):
                    self.assertTrue(os.path.realpath(place).startswith(os.path.realpath(self.carried)), f"{file}: {name} => {place}")
        # What those libraries need, that are loaded when they are first needed: every name is there.
        for file in glob.glob(f"{self.carried}/*"):
            for name in re.findall(r"\(NEEDED\).*\[(.*)\]", command("readelf", "-d", file)):
                self.assertTrue(GLIBC.match(name) or os.path.exists(f"{self.carried}/{name}"), f"{file}: {name}")
        for line in clean.read(os.path.join(BUILD, "loaded_libraries.txt")).splitlines():
            self.assertTrue(os.path.exists(f"{self.carried}/{line.split(chr(9))[1]}"), line)

    def test_c_library_of_bookworm_is_new_enough(self):
        here = tuple(int(part) for part in os.confstr("CS_GNU_LIBC_VERSION").split()[1].split("."))
        most = max((2, 36), here)
        for file in [f"{self.prefix}/bin/grouperfish", *glob.glob(f"{self.prefix}/lib/libgrouperfish.so.0"), *glob.glob(f"{self.carried}/*")]:
            for version in re.findall(r"GLIBC_(2\.\d+)", command("readelf", "-V", file)):
                self.assertLessEqual(tuple(int(part) for part in version.split(".")), most, file)

    def test_units_name_a_program_that_can_be(self):
        for unit in ("grouperfish", "grouperfish-backup"):
            text = clean.read(f"{self.prefix}/lib/systemd/system/{unit}.service")
            self.assertRegex(text, r"(?m)^ExecStart=/usr/local/bin/grouperfish ")

    def test_bill_of_materials_names_the_carried_files(self):
        bill = json.loads(clean.read(f"{self.prefix}/share/doc/grouperfish/grouperfish.spdx.json"))
        files = {file["fileName"]: file for file in bill["files"]}
        self.assertEqual(sorted(files), sorted(f"./{name}" for name in os.listdir(self.carried)))
        for name, file in files.items():
            content = clean.read(f"{self.carried}/{name}", "rb")
            for sum in file["checksums"]:
                self.assertEqual(sum["checksumValue"], hashlib.new(sum["algorithm"].lower(), content).hexdigest())
        packages = {package["SPDXID"]: package["name"] for package in bill["packages"]}
        of = {one["spdxElementId"]: packages[one["relatedSpdxElement"]] for one in bill["relationships"]
              if one["relationshipType"] == "EXPANDED_FROM_ARCHIVE"}
        self.assertEqual(set(of), {file["SPDXID"] for file in bill["files"]})
        self.assertEqual(of["SPDXRef-File-libleveldb.so.1d"], "libleveldb1d")
        licences = os.listdir(f"{self.prefix}/share/doc/grouperfish/licences")
        contained = {one["relatedSpdxElement"] for one in bill["relationships"]
                     if one["relationshipType"] == "CONTAINS" and one["spdxElementId"] == "SPDXRef-Package-grouperfish"}
        for package in bill["packages"]:
            if package["SPDXID"] in contained and "sourceInfo" in package:
                self.assertIn(f"{package['name']}.txt", licences)

    def test_text_is_read_as_by_the_build(self):
        """The carried ICU has less data: none that decoding, composing and breaking texts needs."""
        with tempfile.TemporaryDirectory() as folder:
            for encoding, texts in TEXTS.items():
                with open(f"{folder}/{encoding}.csv", "w", encoding=encoding) as out:
                    out.write("id,text\n")
                    out.writelines(f"{i},{' '.join(texts[i:] + texts[:i])}\n" for i in range(len(texts)))

            def terms(program, store):
                environment = {**os.environ, "GROUPERFISH_STORE": f"{folder}/{store}"}
                listed = {}
                for encoding in TEXTS:
                    command(program, "put", encoding, f"{folder}/{encoding}.csv", "--encoding", encoding, env=environment)
                    command(program, "config", "set", encoding, "k=1", "min_df=1", env=environment)
                    command(program, "rebuild", encoding, env=environment)
                    listed[encoding] = [command(program, what, encoding, *more, "--format", "json", env=environment)
                                        for what, *more in (("terms",), ("export", "--documents"))]
                return listed
            ours, builds = terms(f"{self.prefix}/bin/grouperfish", "ours"), terms(os.path.join(BUILD, "grouperfish"), "builds")
            for encoding in TEXTS:
                self.assertGreater(len(builds[encoding][0]), 60, encoding)
                self.assertEqual(ours[encoding], builds[encoding], encoding)

    def test_from_a_clean_system_to_named_clusters(self):
        if why := clean.cannot_make_base():
            self.skipTest(why)

        def attempt():
            with Clean() as system:
                system.copy(self.tarball, "/tmp/grouperfish.tar.gz")
                begun = time.monotonic()
                system.run("tar", "-C", "/usr/local", "--strip-components=1", "-xf", "/tmp/grouperfish.tar.gz")
                taken = clean.named_clusters(self, system, "grouperfish", "/tmp/store", time.monotonic() - begun)
                self.every_library_loads(system)
                return taken
        clean.within(self, 60, attempt)

    def every_library_loads(self, system):
        """Those that few commands need: an answer over HTTP by a command that asks the server, and embeddings."""
        for library in os.listdir(self.carried):
            said = subprocess.run(system.words("ldd", f"/usr/local/lib/grouperfish/{library}"), capture_output=True, text=True,
                                  env=system.environment(LD_LIBRARY_PATH="/usr/local/lib/grouperfish")).stdout
            self.assertNotIn("not found", said, library)
        server = system.start("/usr/local/bin/grouperfish", "serve", "--listen", "127.0.0.1:0", GROUPERFISH_STORE="/tmp/store")
        try:
            for line in server.stderr:
                if found := re.search(r"127\.0\.0\.1:\d+", line):
                    break
            rows = system.run("/usr/local/bin/grouperfish", "clusters", "posts", "--format", "plain", "--server", f"http://{found[0]}")
            clean.check_names(self, clean.labels(rows))
        finally:
            self.assertEqual(clean.stop(server), 0)


if __name__ == "__main__":
    clean.need("cpack", "patchelf", "readelf")
    clean.main()
