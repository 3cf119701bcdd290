#include "formats/bytes/content.h"
#include "formats/documents/page_text.h"
#include "support/test.h"

#include "tests/formats/archive.h"
#include "tests/formats/records.h"

#define DOCX(body)                                                                                 \
    "<?xml version=\"1.0\"?><w:document "                                                          \
    "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>" body       \
    "</w:body></w:document>"
#define ODT(body)                                                                                  \
    "<?xml version=\"1.0\"?><office:document-content "                                             \
    "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" "                           \
    "xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"><office:body>" body             \
    "</office:body></office:document-content>"

static void make_office(const char *first, gf_slice first_bytes, const char *part, gf_slice xml,
                        gf_buffer *zip)
{
    const archive_member members[] = {{first, first_bytes, A_FILE}, {part, xml, A_FILE}};
    gf_buffer_reset(zip);
    make_archive("zip", NULL, members, 2, zip);
}

/* As single documents, in folders, and in archives. */
/* "WEBP" at the ninth byte is a picture within a RIFF alone. */
static void words_that_signatures_have(void **state)
{
    (void)state;
    gf_error err;
    assert_status(GF_EINVAL, gf_content_check(GF_SLICE("RIFF1234WEBPVP8 "), GF_SLICE("a"), &err));
    assert_status(GF_EINVAL, gf_content_check(GF_SLICE("RIFF1234WAVEfmt "), GF_SLICE("a"), &err));
    assert_ok(gf_content_check(GF_SLICE("id,text;WEBP is a format"), GF_SLICE("a"), &err));
    assert_ok(gf_content_check(GF_SLICE("RIFF and WEBP"), GF_SLICE("a"), &err));
}

static void reads_office_documents(void **state)
{
    (void)state;
    gf_buffer docx = {0}, odt = {0}, zip = {0};
    make_office("[Content_Types].xml", GF_SLICE("<Types/>"), "word/document.xml",
                GF_SLICE(DOCX("<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>Größe</w:t>"
                              "<w:tab/><w:t>one</w:t></w:r></w:p><w:p><w:del><w:r><w:t>gone</w:t>"
                              "</w:r></w:del><w:r><w:t>two &amp; three</w:t></w:r></w:p>")),
                &docx);
    make_office("mimetype", GF_SLICE("application/vnd.oasis.opendocument.text"), "content.xml",
                GF_SLICE(ODT("<text:h>A title</text:h><text:p>some<text:s/><text:span>text"
                             "</text:span><text:tab/>x</text:p>")),
                &odt);
    check_records("report.docx", gf_buffer_view(&docx), NULL,
                  "report.docx:0 id=\"report.docx\" text=\"Größe\\tone\\ntwo & three\"\n");
    check_records("body", gf_buffer_view(&docx), NULL,
                  "body:0 id=\"body\" text=\"Größe\\tone\\ntwo & three\"\n");
    check_chunking("report.docx", gf_buffer_view(&docx), NULL);
    const archive_member members[] = {{"a.docx", gf_buffer_view(&docx), A_FILE},
                                      {"b.odt", gf_buffer_view(&odt), A_FILE}};
    make_archive("zip", NULL, members, 2, &zip);
    check_records("all.zip", gf_buffer_view(&zip), NULL,
                  "all.zip/a.docx:0 id=\"a.docx\" text=\"Größe\\tone\\ntwo & three\"\n"
                  "all.zip/b.odt:0 id=\"b.odt\" text=\"A title\\nsome text\\tx\"\n");
    gf_buffer_release(&docx);
    gf_buffer_release(&odt);
    gf_buffer_release(&zip);
}

/* Entities, a DTD, damage, endless tags, too much text: one refused record each. */
static void refuses_hostile_documents(void **state)
{
    (void)state;
    gf_buffer docx = {0}, xml = {0};
    gf_reader_options options = {.max_document = 1000};
    make_office("_rels/.rels", GF_SLICE("<x/>"), "word/document.xml",
                GF_SLICE("<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><x>&b;</x>"),
                &docx);
    check_records("a.docx", gf_buffer_view(&docx), NULL,
                  "a.docx:0 not_text (refused): an office document that is damaged, or made to "
                  "harm: it declares entities\n");
    make_office("_rels/.rels", GF_SLICE("<x/>"), "word/document.xml",
                GF_SLICE(DOCX("<w:p><w:t>cut")), &docx);
    gf_slice cut = gf_buffer_view(&docx);
    check_records("a.docx", gf_slice_of(cut.ptr, cut.len / 2), NULL,
                  "a.docx:0 not_text (refused): an office document that is damaged\n");
    gf_buffer_str(&xml, "<x ");
    for (int i = 0; i < 100000; i++)
        gf_buffer_format(&xml, "a%d='' ", i);
    gf_buffer_str(&xml, "/>");
    make_office("_rels/.rels", GF_SLICE("<x/>"), "word/document.xml", gf_buffer_view(&xml), &docx);
    check_records("a.docx", gf_buffer_view(&docx), NULL,
                  "a.docx:0 not_text (refused): an office document that is damaged\n");
    gf_buffer_reset(&xml);
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&xml, "<x>");
    make_office("_rels/.rels", GF_SLICE("<x/>"), "word/document.xml", gf_buffer_view(&xml), &docx);
    check_records("a.docx", gf_buffer_view(&docx), NULL,
                  "a.docx:0 not_text (refused): an office document that is damaged\n");
    gf_buffer_reset(&xml);
    gf_buffer_str(&xml, "<w:p xmlns:w='w'><w:t>");
    for (int i = 0; i < 2000; i++)
        gf_buffer_byte(&xml, 'x');
    gf_buffer_str(&xml, "</w:t></w:p>");
    make_office("_rels/.rels", GF_SLICE("<x/>"), "word/document.xml", gf_buffer_view(&xml), &docx);
    check_records("a.docx", gf_buffer_view(&docx), &options,
                  "a.docx:0 too_long (refused): longer than the limit of 1000 bytes "
                  "(--max-document)\n");
    gf_buffer_release(&docx);
    gf_buffer_release(&xml);
}

/* Whatever its name; a file of a folder by itself, one that was handed in with the import. */
static void refuses_what_is_no_text(void **state)
{
    (void)state;
    gf_buffer xlsx = {0}, expected = {0};
    make_office("docProps/app.xml", GF_SLICE("<x/>"), "xl/workbook.bin", GF_SLICE("<x/>"), &xlsx);
    const memory_stream streams[] = {
        {"a.xlsx", gf_buffer_view(&xlsx), true},
        {"b.csv", gf_buffer_view(&xlsx), true},
        {"c.zip", gf_buffer_view(&xlsx), true},
        {"d.txt", GF_SLICE("%PDF-1.4\n..."), true},
        {"e", GF_SLICE("PAR1\x15\x04"), true},
        {"f.jsonl", GF_SLICE("SQLite format 3\0..."), true},
        {"g.csv", GF_SLICE("<!DOCTYPE html><title>Log in</title>"), true},
        {"h.txt", GF_SLICE("PAR1 is a gene\n"), true},
    };
    check_streams(
        streams, 8, NULL,
        "a.xlsx:0 not_text (refused): a binary Excel workbook (.xlsb); save it as .xlsx or CSV\n"
        "b.csv:0 not_text (refused): a binary Excel workbook (.xlsb); save it as .xlsx or CSV\n"
        "c.zip:0 not_text (refused): a binary Excel workbook (.xlsb); save it as .xlsx or CSV\n"
        "d.txt:0 not_text (refused): a PDF; make text of it first (pdftotext)\n"
        "e:0 not_text (refused): Parquet; the package for Python puts it, with pyarrow: python3 -c "
        "\"import grouperfish as g; g.open('STORE')['NAME'].put('IN.parquet')\"\n"
        "f.jsonl:0 not_text (refused): an SQLite database; export a table as CSV (sqlite3 "
        "-csv -header)\n"
        "g.csv:0 not_text (refused): an HTML page, and not the records that it is said to "
        "be\n"
        "h.txt:0 id=\"h.txt\" text=\"PAR1 is a gene\\n\"\n");
    check_records("body", gf_buffer_view(&xlsx), NULL,
                  "invalid: body: a binary Excel workbook (.xlsb); save it as .xlsx or CSV\n");
    check_records("standard input", GF_SLICE("%PDF-1.4\n..."), NULL,
                  "invalid: standard input: a PDF; make text of it first (pdftotext)\n");
    gf_buffer_release(&xlsx);
    gf_buffer_release(&expected);
}

static void check_page(const char *html, const char *text)
{
    gf_buffer got = {0};
    gf_error err;
    assert_ok(gf_page_text(gf_slice_str(html), &got, &err));
    assert_string_equal(gf_buffer_cstr(&got), text);
    gf_buffer_release(&got);
}

static void takes_the_text_of_a_page(void **state)
{
    (void)state;
    check_page("<html><title>A &amp; B</title><body><p>one\n two</p><p>th<b>re</b>e",
               "A & B\n\none two\n\nthree");
    check_page("a<script>if (a<b) \"</p>\"</script>b<style>p{}</style> c<!-- x > y -->d<br/>e",
               "ab cd\ne");
    check_page("<img alt='a > b' title=\"x>y\">&#233;&#xE9;&eacute;&nbsp;&nope;&lt;&#0;",
               "ééé &nope;<\xEF\xBF\xBD");
    check_page("1 < 2 & 3 <a", "1 < 2 & 3");
    check_page("<table><tr><td>a<td>b<tr><td>c</table>x", "a b\nc\n\nx");
    check_page("<script>never closed", "");
    check_page("", "");
    check_records("a.html", GF_SLICE("<!doctype html><meta charset=latin1><p>caf\xE9"), NULL,
                  "a.html:0 id=\"a.html\" text=\"café\"\n");
}

/* 16 MB of what is quadratic elsewhere. */
static void takes_hostile_pages(void **state)
{
    (void)state;
    static const char *const pieces[] = {"<a ", "<div>",    "a=\"", "<!--",
                                         "&#1", "<script>", "</",   "<"};
    gf_buffer page = {0}, text = {0};
    gf_error err;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        gf_buffer_reset(&page);
        gf_buffer_reset(&text);
        gf_buffer_str(&page, "<a x ");
        while (page.len < 1 << 21)
            gf_buffer_str(&page, pieces[i]);
        assert_ok(gf_page_text(gf_buffer_view(&page), &text, &err));
        assert_true(text.len <= page.len * 3);
    }
    gf_buffer_release(&page);
    gf_buffer_release(&text);
}

static void check_mail(const char *mail, const char *text)
{
    gf_buffer expected = {0};
    gf_buffer_format(&expected, "a.eml:0 id=\"a.eml\" text=%s\n", text);
    check_records("a.eml", gf_slice_str(mail), NULL, gf_buffer_cstr(&expected));
    gf_buffer_release(&expected);
}

#define MAIL                                                                                       \
    "From: a@example.org\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\n =?iso-8859-1?B?4PE=?= "       \
    "all\r\n"

static void reads_mails(void **state)
{
    (void)state;
    check_mail(MAIL "\r\nHello\r\nyou\r\n", "\"Grüßeàñ all\\n\\nHello\\r\\nyou\"");
    check_mail(MAIL "Content-Type: text/plain; charset=\"iso-8859-1\"\nContent-Transfer-Encoding: "
                    "quoted-printable\n\ncaf=E9 =\nand more",
               "\"Grüßeàñ all\\n\\ncafé and more\"");
    check_mail("Subject: two\nContent-Type: multipart/mixed; boundary=X\n\npreamble\n--X\n"
               "Content-Type: multipart/alternative; boundary=\"Y Z\"\n\n--Y Z\n"
               "Content-Type: text/plain\n\nplain\n--Y Z\nContent-Type: text/html\n\n<p>html\n"
               "--Y Z--\n--X\nContent-Type: text/plain\nContent-Disposition: attachment\n\nnot me\n"
               "--X\nContent-Transfer-Encoding: base64\n\nYmFzZTY0\n--X--\nepilogue\n",
               "\"two\\n\\nplain\\n\\n\\nbase64\"");
    check_mail("Subject: page\nContent-Type: text/html; charset=utf-8\n\n<p>Rain &amp; <b>wind</b>",
               "\"page\\n\\nRain & wind\"");
    check_mail("Subject: odd\nContent-Type: multipart/mixed; boundary=X\n\n--X\nno header",
               "\"odd\"");
}

/* Nesting without end, and boundaries everywhere. */
static void bounds_mails(void **state)
{
    (void)state;
    gf_buffer mail = {0};
    gf_buffer_str(&mail, "Subject: deep\n");
    for (int i = 0; i < 20000; i++)
        gf_buffer_format(&mail, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i);
    check_records("a.eml", gf_buffer_view(&mail), NULL, "a.eml:0 id=\"a.eml\" text=\"deep\"\n");
    gf_buffer_release(&mail);
    fuzz_records("a.eml",
                 GF_SLICE(MAIL "Content-Type: multipart/mixed; boundary=X\n\n--X\nContent-Type: "
                               "text/html\n\n<p>caf\xE9\n--X--\n"),
                 NULL, 1000);
    check_chunking("a.eml", GF_SLICE(MAIL "\ncaf\xC3\xA9"), NULL);
    sweep_records("a.eml", GF_SLICE(MAIL "\ncaf\xC3\xA9"), NULL);
}

static void survives_anything(void **state)
{
    (void)state;
    gf_buffer docx = {0};
    make_office("[Content_Types].xml", GF_SLICE("<Types/>"), "word/document.xml",
                GF_SLICE(DOCX("<w:p><w:r><w:t>text</w:t></w:r></w:p>")), &docx);
    fuzz_records("a.docx", gf_buffer_view(&docx), NULL, 300);
    fuzz_records("a.html", GF_SLICE("<!doctype html><p title=\"x\">a &amp; b<script>c</script>"),
                 NULL, 1000);
    sweep_records("a.docx", gf_buffer_view(&docx), NULL);
    sweep_records("a.html", GF_SLICE("<!doctype html><p>caf\xC3\xA9 &amp; more"), NULL);
    gf_buffer_release(&docx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_signatures_have),
        cmocka_unit_test(reads_office_documents),
        cmocka_unit_test(refuses_hostile_documents),
        cmocka_unit_test(refuses_what_is_no_text),
        cmocka_unit_test(takes_the_text_of_a_page),
        cmocka_unit_test(reads_mails),
        cmocka_unit_test(bounds_mails),
        cmocka_unit_test(takes_hostile_pages),
        cmocka_unit_test(survives_anything),
    };
    return cmocka_run_group_tests_name("content", tests, NULL, NULL);
}
