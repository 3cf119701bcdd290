"""Bodies that are not UTF-8, and bodies that are no text."""
import io
import os
import unittest
import zipfile

from served import SOURCE, Served

GERMAN = "id,text\n1,Die Flüchtlinge dürfen in München bleiben\n2,Zwölf Boxkämpfer jagen Viktor über den großen Deich\n"
POST = "/v1/collections/c/documents"


def office(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, '<w:document xmlns:w="w"><w:p><w:t>a report</w:t></w:p></w:document>')
    return file.getvalue()


class Contents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Served().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def text(self, collection, id):
        return self.server.json("GET", f"/v1/collections/{collection}/documents/{id}")["text"]

    def refused(self, body, words, query="?from=csv", **headers):
        answer = self.server.ask("POST", POST + query, body, **headers)
        self.assertEqual(answer.status, 400, answer.body)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        self.assertIn(words, answer.json()["detail"])
        self.assertEqual(self.server.get("/v1/collections/c").status, 404)

    def test_encodings_are_recognised_said_or_refused(self):
        def put(name, body, query="", **headers):
            row = self.server.json("POST", f"/v1/collections/{name}/documents?from=csv{query}", body, **headers)
            self.assertEqual((row["new"], row["invalid_utf8"]), (2, 0))
            self.assertEqual(self.text(name, 1), "Die Flüchtlinge dürfen in München bleiben")
            return row["converted"]
        self.assertEqual(put("utf8", GERMAN.encode()), 0)
        self.assertEqual(put("excel", GERMAN.encode("cp1252")), 1)
        self.assertEqual(put("utf16", GERMAN.encode("utf-16")), 1)
        mac = GERMAN.encode("mac_roman")
        self.refused(mac, "its encoding is not clear, perhaps macintosh")
        self.assertEqual(put("said", mac, "&encoding=macintosh"), 1)
        self.assertEqual(put("typed", mac, Content_Type='text/csv; charset="macintosh"'), 1)
        self.assertEqual(put("both", mac, "&encoding=macintosh", Content_Type="text/csv; charset=koi8-r"), 1)
        self.assertEqual(put("silent", GERMAN.encode("cp1252"), Content_Type="text/csv; charset=utf-8"), 1)
        self.refused(mac, '"klingon" is not known', "?from=csv&encoding=klingon")

    def test_what_is_no_text_is_refused(self):
        self.refused(office("[Content_Types].xml", "xl/workbook.bin"), "save it as .xlsx or CSV", "")
        self.refused(office("docProps/app.xml", "xl/workbook.bin"), "save it as .xlsx or CSV")
        self.refused(b"%PDF-1.7\n%\xe2\xe3", "a PDF; make text of it first (pdftotext)", "")
        self.refused(b"PAR1\x15\x04\x15", "Parquet", "")
        self.refused(b"<!DOCTYPE html>\n<title>Sign in</title>", "an HTML page")

    def test_documents_are_read(self):
        row = self.server.json("POST", "/v1/collections/docs/documents", office("[Content_Types].xml", "word/document.xml"))
        self.assertEqual(row["new"], 1)

    def test_workbooks_are_read(self):
        with open(os.path.join(SOURCE, "tests/cli/data/openpyxl.xlsx"), "rb") as f:
            book = f.read()
        row = self.server.json("POST", "/v1/collections/books/documents?time=created", book)
        self.assertEqual((row["new"], row["reasons"]), (2, {"no_text": 1}))
        self.assertEqual(self.server.json("GET", "/v1/collections/books/documents/1")["time"], "2015-02-21T13:45:30")
        self.refused(book, 'has no sheet "Third"; its sheets: Feedback, Other', "?sheet=Third")


if __name__ == "__main__":
    unittest.main()
