"""Files in and out: Parquet, Arrow and Feather, workbooks, CSV and JSON; whole or not at all."""

import builtins
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import support
import grouperfish
from grouperfish import Invalid, NotFound, _arrow, _files

BODIES = ["the cat sat", "a cat purrs", "cats purr", "=1+1 stocks fell", "stocks\x01 rose _x0041_",
          "a stock split\r\nin two"]
IDS = [11, 12, 13, 14, 15, 16]
ALL = ("csv", "json", "jsonl", "xlsx", "parquet", "feather", "arrow", "arrows")
NEEDS = {"xlsx": "openpyxl", "parquet": "pyarrow", "feather": "pyarrow", "arrow": "pyarrow", "arrows": "pyarrow"}


class Without:
    """Modules are not there meanwhile."""

    def __init__(self, *names):
        self.names, self.real = names, builtins.__import__

    def __enter__(self):
        def find(name, *more, **others):
            if name.split(".")[0] in self.names:
                raise ImportError(f"No module named {name!r}")
            return self.real(name, *more, **others)

        builtins.__import__ = find

    def __exit__(self, *_):
        builtins.__import__ = self.real


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.store = grouperfish.open(self.at("feedback.store"))
        self.addCleanup(self.store.close)

    def at(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.at(name), "rb") as file:
            return file.read()

    def files(self):
        return sorted(name for name in os.listdir(self.folder) if not name.endswith(".store"))

    def filled(self):
        data = {"ticket": IDS, "body": BODIES, "stars": [1, 2, 3, 4, 5, 6], "label": ["x"] * 6,
                "tags": [["a"], [], ["b", "c"]] * 2, "opt": [None, "y"] * 3}
        return self.store["feedback"].put(data, id="ticket", text="body").rebuild(k=2, language="english")

    def program(self, *words):
        program = os.environ.get("GROUPERFISH_PROGRAM")
        if not program:
            self.skipTest("the program is not built")
        return subprocess.run([program, *words, "--store", self.store.path], check=True, capture_output=True)


class Out(Files):
    def test_every_format_and_back(self):
        c = self.filled()
        for ending in ALL:
            with self.subTest(ending=ending):
                if ending in NEEDS:
                    support.skip_without(NEEDS[ending], self)
                name = f"out.{ending}"
                self.assertIs(c.export(pathlib.Path(self.at(name))), c)
                self.assertIn(name, self.files())
                back = self.store[f"from-{ending}"].put(self.at(name))
                self.assertEqual(back.last_put["new"], 6)
                typed = _files.is_columnar(name)
                self.assertEqual(back.id_type, int if typed else str)
                for id, body in zip(IDS, BODIES):
                    self.assertEqual(back.doc(id)["text"], body)
                if ending.startswith("json"):
                    self.assertEqual(back.doc(14)["fields"]["fields"]["tags"], ["a"])
                    continue
                # A field that is called as a column of export's own.
                self.assertEqual(back.doc(14)["fields"]["field:label"], "x")
                self.assertEqual(back.doc(14)["fields"]["label"], c.doc(14)["memberships"][0]["label"])
                self.assertEqual(str(back.doc(14)["fields"]["stars"]), "4")
                if typed:
                    self.assertEqual(back.doc(13)["fields"]["tags"], ["b", "c"])
                    self.assertIsInstance(back.doc(13)["fields"]["score"], float)
        self.assertEqual([name for name in self.files() if ".part" in name], [])

    def test_a_read_only_file_stays(self):
        c = self.store["c"].put(["a cat"], id=[1])
        with open(self.at("a.csv"), "w") as file:
            file.write("mine")
        os.chmod(self.at("a.csv"), 0o444)
        os.chmod(self.folder, 0o777)
        me = os.geteuid()
        if me == 0:  # who may write everything
            self.addCleanup(os.seteuid, 0)
            os.seteuid(65534)
        with self.assertRaisesRegex(PermissionError, "a.csv"):
            c.export(self.at("a.csv"), documents=True)
        os.seteuid(me)
        self.assertEqual((self.read("a.csv"), self.files()), (b"mine", ["a.csv"]))

    def test_documents_keep_fields_that_are_called_as_our_columns(self):
        support.skip_without("pyarrow", self)
        from pyarrow import parquet

        rows = [{"id": 1, "text": "a cat", "replaced": "yes", "score": "007", "margin": 5, "runner_up_score": "5 stars"}]
        self.store["c"].put(rows).export(self.at("a.parquet"), documents=True)
        back = parquet.read_table(self.at("a.parquet")).to_pylist()[0]
        self.assertEqual([back[name] for name in rows[0]], list(rows[0].values()))

    def test_whole_numbers_are_not_rounded(self):
        for values, format in (([2**63, 1, None], "U"), ([2**53, 0.5], "g"), ([2**53 + 1, 0.5, None], "U"),
                               ([2**63 - 1, None], "l"), ([[2**64]], "+L"), ([float("inf"), 1], "g")):
            with self.subTest(values=values):
                self.assertEqual(_arrow.column_of(values).format, format)
        kept = {"text": ["a cat", "a dog"], "big": [2**64 + 1, 1], "list": [[2**64 + 1, 1], [2]]}
        fields = self.store["c"].put(kept, id=[1, 2]).doc(1)["fields"]
        self.assertEqual(fields, {"big": str(2**64 + 1), "list": [str(2**64 + 1), "1"]})

    def test_csv_is_the_command_s(self):
        c = self.filled()
        for name, options, words in (("plain.csv", {}, ()), ("excel.csv", {"bom": True}, ("--format", "spreadsheet"))):
            c.export(self.at(name), **options)
            self.store.close()
            told = self.program("export", "feedback", "--with-text", *words, *(("--format", "csv") if not words else ()))
            self.store = grouperfish.open(self.store.path)
            self.addCleanup(self.store.close)
            c = self.store["feedback"]
            self.assertEqual(self.read(name), told.stdout)

    def test_csv_for_spreadsheets(self):
        c = self.filled()
        cells = {(): (b"id,", b",=1+1 stocks"), (("bom", True),): (b"\xef\xbb\xbfid,", b",'=1+1 stocks"),
                 (("bom", True), ("defuse", False)): (b"\xef\xbb\xbfid,", b",=1+1 stocks"),
                 (("defuse", True),): (b"id,", b",'=1+1 stocks")}
        for options, (first, cell) in cells.items():
            with self.subTest(options=options):
                c.export(self.at("a.csv"), **dict(options))
                self.assertTrue(self.read("a.csv").startswith(first))
                self.assertIn(cell, self.read("a.csv").replace(b'"', b""))

    def test_nothing_in_a_workbook_is_worked_out(self):
        openpyxl = support.skip_without("openpyxl", self)
        self.filled().export(self.at("a.xlsx"))
        sheet = openpyxl.load_workbook(self.at("a.xlsx")).active
        rows = list(sheet.iter_rows())
        self.assertEqual(len(rows), 7)
        self.assertEqual({cell.data_type for row in rows for cell in row} - {"s", "n", "inlineStr"}, set())
        self.assertEqual([row[0].value for row in rows[1:]], IDS)

    def test_texts_longer_than_a_cell(self):
        openpyxl = support.skip_without("openpyxl", self)
        texts = ["a cat " + "x" * 40000, "\U0001f600" * 20000, "x" * 32767]
        c = self.store["c"].put(texts, id=[1, 2, 2**60]).rebuild(k=1)
        with self.assertWarnsRegex(UserWarning, "2 texts were cut: a cell has 32,767 characters"):
            c.export(self.at("a.xlsx"))
        rows = list(openpyxl.load_workbook(self.at("a.xlsx")).active.iter_rows(values_only=True))
        text = rows[0].index("text")
        self.assertEqual([len(row[text]) for row in rows[1:]], [32767, 32767, 16383])
        self.assertEqual(rows[2][0], str(2**60))  # its digits are more than a double has

    def test_more_rows_than_a_sheet(self):
        support.skip_without("openpyxl", self)
        rows = [{"id": "a"}] * _files.SHEET_ROWS
        with self.assertRaisesRegex(Invalid, "1,048,575 rows below its header, not 1,048,576; write .parquet or .csv"):
            _files.write(self.at("a.xlsx"), rows)
        self.assertEqual(self.files(), [])

    def test_names_that_do_not_do(self):
        c = self.filled()
        for name, options, kind, words in (
            ("a.foo", {}, Invalid, "the name's ending says the format: .csv, .json"),
            ("a", {}, Invalid, "the name's ending"),
            ("a.json", {"bom": True}, Invalid, "bom and defuse are of CSV"),
            ("nowhere/a.csv", {}, FileNotFoundError, "nowhere"),
            ("feedback.store.csv", {}, Invalid, "is there already, and is no file"),
        ):
            with self.subTest(name=name):
                if name.startswith("feedback"):
                    os.mkdir(self.at(name))
                with self.assertRaisesRegex(kind, words):
                    c.export(self.at(name), **options)
        self.assertEqual(self.files(), ["feedback.store.csv"])
        with self.assertRaises(NotFound):
            self.store["empty"].put(["a"], id=[1]).export(self.at("a.csv"))
        self.assertEqual(self.files(), ["feedback.store.csv"])

    def test_what_is_not_installed_is_named(self):
        c = self.filled()
        with Without("pyarrow", "fastparquet", "openpyxl"):
            for name, words in (("a.parquet", "Parquet needs pyarrow, or pandas with fastparquet: pip install pyarrow"),
                                ("a.feather", "Feather needs pyarrow: pip install pyarrow"),
                                ("a.xlsx", "a workbook needs openpyxl: pip install openpyxl")):
                with self.assertRaisesRegex(ImportError, words):
                    c.export(self.at(name))
        self.assertEqual(self.files(), [])

    def test_what_was_there_stays_where_writing_fails(self):
        c = self.filled()
        with open(self.at("a.csv"), "w") as file:
            file.write("mine")
        os.chmod(self.at("a.csv"), 0o640)
        os.symlink("a.csv", self.at("link.csv"))
        writer = _files._WRITERS[".csv"]

        def failing(file, *more, **options):
            writer(file, *more, **options)
            raise OSError("No space left on device")

        _files._WRITERS[".csv"] = failing
        try:
            with self.assertRaisesRegex(OSError, "No space"):
                c.export(self.at("a.csv"))
        finally:
            _files._WRITERS[".csv"] = writer
        self.assertEqual((self.read("a.csv"), self.files()), (b"mine", ["a.csv", "link.csv"]))
        c.export(self.at("link.csv"))
        self.assertTrue(self.read("a.csv").startswith(b"id,"))
        self.assertTrue(os.path.islink(self.at("link.csv")))
        self.assertEqual(os.stat(self.at("a.csv")).st_mode & 0o777, 0o640)

    def test_a_killed_process_leaves_no_half_file(self):
        """Killed when some of it is written: what was there is there, and nothing under the name is half."""
        self.filled()
        self.store.close()
        with open(self.at("a.jsonl"), "w") as file:
            file.write("mine")
        code = (
            "import os, signal, sys, grouperfish\n"
            "from grouperfish import _files\n"
            "lines = _files._WRITERS['.jsonl']\n"
            "def write(file, *more):\n"
            "    lines(file, *more); file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
            "_files._WRITERS['.jsonl'] = write\n"
            "grouperfish.open(sys.argv[1])['feedback'].export(sys.argv[2])\n")
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
        ended = subprocess.run([sys.executable, "-c", code, self.store.path, self.at("a.jsonl")], env=environment)
        self.assertEqual(ended.returncode, -9)
        self.assertEqual(self.read("a.jsonl"), b"mine")
        self.assertEqual([name for name in self.files() if not name.endswith(".part")], ["a.jsonl"])

    def test_documents_without_a_build(self):
        c = self.store["c"].put(["a", "b"], id=["x", "y"])
        c.export(self.at("a.csv"), documents=True)
        self.assertEqual(self.read("a.csv"), b"id,time,lang,text\r\nx,,,a\r\ny,,,b\r\n")


class In(Files):
    def test_columns_that_have_a_comma(self):
        with open(self.at("a.csv"), "w") as file:
            file.write('id,"body, long",stars\n1,a cat,5\n')
        for options in ({"text": "body, long"}, {"text": "id", "fields": ["body, long"]}):
            with self.assertRaisesRegex(Invalid, r"the column 'body, long' cannot be named, for its comma; rename it"):
                self.store["c"].put(self.at("a.csv"), **options)

    def test_parquet_of_many_batches(self):
        pyarrow = support.skip_without("pyarrow", self)
        from pyarrow import parquet

        n = 5000
        table = pyarrow.table({"key": range(n), "body": [f"text {i}" for i in range(n)],
                               "when": pyarrow.array([0] * n, pyarrow.timestamp("ms"))})
        parquet.write_table(table, self.at("a.parquet"), row_group_size=700)
        c = self.store["c"].put(self.at("a.parquet"), id="key", text="body", time="when", fields=[])
        self.assertEqual((c.last_put["new"], c.id_type), (n, int))
        self.assertEqual(c.doc(4999)["text"], "text 4999")
        self.assertEqual(c.doc(4999).get("fields"), None)

    def test_feather_of_pandas(self):
        support.skip_without("pyarrow", self)
        pandas = support.skip_without("pandas", self)
        for version in (1, 2):
            frame = pandas.DataFrame({"id": IDS, "text": BODIES})
            frame.to_feather(self.at("a.feather"), version=version)
            c = self.store[f"v{version}"].put(self.at("a.feather"))
            self.assertEqual((c.last_put["new"], c.id_type), (6, int))

    def test_workbooks_by_the_engine(self):
        """Nothing but the engine is needed: the sheet's names and types are the command's."""
        book = os.path.join(support.SOURCE, "tests", "cli", "data", "openpyxl.xlsx")
        with Without("openpyxl", "pandas", "pyarrow"), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            c = self.store["c"].put(book, time="created", errors="skip")
        self.assertIn('openpyxl.xlsx:4: no text in field "text"', str(told[0].message))
        self.assertEqual(c.last_put["refused"], 1)
        self.assertGreater(len(c), 0)

    def test_bad_records(self):
        with open(self.at("a.csv"), "w") as file:
            file.write("id,text,n\n1,a cat,5\n2,,6\n")
        with self.assertRaisesRegex(Invalid, 'a.csv:3: no text in field "text"; errors="skip"'):
            self.store["c"].put(self.at("a.csv"))
        with self.assertWarnsRegex(UserWarning, "1 of 2 records were left out; a.csv:3"):
            c = self.store["c"].put(self.at("a.csv"), errors="skip", fields=[])
        self.assertEqual(c.doc(1).get("fields"), None)
        with self.assertRaisesRegex(Invalid, "fields found: id, text, n"):
            self.store["d"].put(self.at("a.csv"), text="body")
        with self.assertRaisesRegex(Invalid, "of a file are columns of it"):
            self.store["d"].put(self.at("a.csv"), id=[1, 2])
        self.assertNotIn("d", self.store)

    def test_files_that_are_none(self):
        for name, content, kind, words in (
            ("none.parquet", None, FileNotFoundError, "none.parquet"),
            ("none.csv", None, FileNotFoundError, "none.csv"),
            ("a text", None, Invalid, "put it into a list; no file is called so"),
            ("bad.parquet", b"PAR1 and nothing else", Invalid, "bad.parquet: no Parquet file, or a damaged one"),
            ("empty.parquet", b"", Invalid, "no Parquet file, or a damaged one"),
            ("bad.feather", b"ARROW1 and nothing else", Invalid, "no Feather file, or a damaged one"),
        ):
            with self.subTest(name=name):
                if _files.is_columnar(name) and content is not None:
                    support.skip_without("pyarrow", self)
                if content is not None:
                    with open(self.at(name), "wb") as file:
                        file.write(content)
                with self.assertRaisesRegex(kind, words):
                    self.store["c"].put(name if name == "a text" else self.at(name))
        with self.assertRaisesRegex(Invalid, "is a folder; the command puts folders"):
            self.store["c"].put(pathlib.Path(self.folder))
        self.assertNotIn("c", self.store)

    def test_what_is_not_installed_is_named(self):
        with open(self.at("a.parquet"), "wb") as file:
            file.write(b"PAR1")
        with Without("pyarrow", "fastparquet"):
            with self.assertRaisesRegex(ImportError, "a.parquet: Parquet needs pyarrow, or pandas with fastparquet"):
                self.store["c"].put(self.at("a.parquet"))


if __name__ == "__main__":
    support.main()
