/*
 * The checks of the table of papers, each under its number, and imports of the real data with the
 * counts that its README and counting by awk give.
 */
#include "base/memory.h"
#include "sources/papers.h"
#include "sources/papers_title.h"
#include "support/test.h"
#include "tests/api/transport.h"

#include <stdlib.h>
#include <unistd.h>

#define HELLO "VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"
#define OTHER "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J"

static gf_sha1 digest(const char *text)
{
    gf_sha1 sha1;
    assert_true(gf_sha1_parse(gf_slice_str(text), &sha1));
    return sha1;
}

static void import_cdx(transport *t, const char *lines)
{
    transport_input(t, "a.cdx", gf_slice_str(lines));
    assert_run(t, "papers import-cdx");
}

static void import_tei(transport *t, const char *name, gf_slice bytes)
{
    transport_input(t, name, bytes);
    assert_run(t, "papers import-tei");
}

/* The cell as it lies in the table; false where there is none. */
static bool read_cell(transport *t, const char *sha1, unsigned family, const char *column,
                      gf_buffer *value)
{
    gf_error err;
    gf_papers *papers;
    gf_row row = {0};
    gf_sha1 key = digest(sha1);
    assert_ok(
        gf_papers_open(t->store, GF_SLICE("default"), GF_SLICE(GF_PAPERS_TABLE), &papers, &err));
    gf_status st = gf_papers_get_cell(papers, NULL, &key, family, column, &row, &err);
    gf_buffer_reset(value);
    if (st == GF_OK) gf_buffer_slice(value, row.cells[0].value);
    gf_row_release(&row);
    gf_papers_close(papers);
    assert_true(st == GF_OK || st == GF_ENOTFOUND);
    return st == GF_OK;
}

#define LINE(digest_text)                                                                          \
    "org,example)/a.pdf 20170706005950 http://example.org/a.pdf application/PDF 200 " digest_text  \
    " - - 361006 17120058 item/a.warc.gz\n"
#define TEI(words)                                                                                 \
    "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader><fileDesc><titleStmt><title "           \
    "level=\"a\" type=\"main\">" words                                                             \
    "</title></titleStmt></fileDesc></teiHeader><text><body><p>Text of " words                     \
    "</p></body></text></TEI>"

/* ---- 1, 2: digests and numbers ----------------------------------------------------------------
 */

static void test_papers__check_1(void **state)
{
    (void)state;
    gf_error err;
    gf_sha1 sha1;
    assert_ok(gf_sha1_of(GF_SLICE(""), &sha1, &err));
    assert_string_equal(gf_sha1_base32(&sha1).text, "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    assert_ok(gf_sha1_of(GF_SLICE("hello"), &sha1, &err));
    assert_string_equal(gf_sha1_base32(&sha1).text, HELLO);
    sha1 = digest(OTHER);
    assert_string_equal(gf_sha1_hex(&sha1).text, "63c57ad9949c6862bf7e92de750d78f34d4e4b69");
    static const char *const same[] = {
        "sha1:" OTHER, "SHA1:" OTHER, "63c57ad9949c6862bf7e92de750d78f34d4e4b69",
        "63C57AD9949C6862BF7E92DE750D78F34D4E4B69", "mpcxvwmutrugfp36slphkdly6ngu4s3j"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        gf_sha1 again = digest(same[i]);
        assert_memory_equal(again.bytes, sha1.bytes, GF_SHA1_BYTES);
    }
    static const char *const none[] = {"",
                                       "sha1:",
                                       "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3",
                                       "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S31",
                                       "63c57ad9949c6862bf7e92de750d78f34d4e4b6g",
                                       "md5:" OTHER};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(gf_sha1_parse(gf_slice_str(none[i]), &sha1));
}

static void test_papers__check_2(void **state)
{
    (void)state;
    static const struct {
        int64_t number;
        const char *bytes;
    } cases[] = {{200, "\0\0\0\0\0\0\0\xC8"},
                 {22, "\0\0\0\0\0\0\0\x16"},
                 {-1, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"}};
    for (size_t i = 0; i < 3; i++) {
        gf_error err;
        gf_buffer b = {0}, text = {0};
        char expected[24];
        gf_paper_put_number(&b, cases[i].number);
        assert_int_equal(b.len, 8);
        assert_memory_equal(b.ptr, cases[i].bytes, 8);
        assert_ok(gf_paper_number(GF_PAPERS_GROBID, GF_SLICE("status_code"), gf_buffer_view(&b),
                                  &text, &err));
        snprintf(expected, sizeof expected, "%lld", (long long)cases[i].number);
        assert_string_equal(gf_buffer_cstr(&text), expected);
        gf_buffer_release(&b);
        gf_buffer_release(&text);
    }
    transport t;
    gf_buffer value = {0};
    transport_open(&t);
    import_tei(&t, HELLO ".tei.xml", GF_SLICE(TEI("one")));
    assert_true(read_cell(&t, HELLO, GF_PAPERS_GROBID, "status_code", &value));
    assert_int_equal(value.len, 8);
    assert_memory_equal(value.ptr, "\0\0\0\0\0\0\0\xC8", 8);
    gf_buffer_release(&value);
    transport_close(&t);
}

/* ---- 3: again ---------------------------------------------------------------------------------
 */

static void check_counts(transport *t, double created, double changed, double existing)
{
    assert_true(transport_number(t, 0, "new") == created);
    assert_true(transport_number(t, 0, "changed") == changed);
    assert_true(transport_number(t, 0, "existing") == existing);
}

static void test_papers__check_3(void **state)
{
    (void)state;
    transport t;
    gf_buffer before = {0}, after = {0};
    transport_open(&t);
    import_cdx(&t, LINE(HELLO) LINE(HELLO));
    check_counts(&t, 1, 0, 1);
    assert_true(read_cell(&t, HELLO, GF_PAPERS_FILE, "cdx", &before));
    import_cdx(&t, "org,other)/ 20180101000000 http://other.org/ text/html 200 " HELLO
                   " - - 1 2 b.warc\n");
    check_counts(&t, 0, 0, 1);
    assert_true(read_cell(&t, HELLO, GF_PAPERS_FILE, "cdx", &after));
    assert_slice(gf_buffer_view(&after), gf_buffer_cstr(&before));
    assert_slice(gf_buffer_view(&after),
                 "{\"surt\":\"org,example)/a.pdf\",\"url\":\"http://example.org/a.pdf\","
                 "\"dt\":\"20170706005950\",\"warc\":\"item/a.warc.gz\",\"offset\":\"17120058\","
                 "\"c_size\":\"361006\"}");
    assert_true(read_cell(&t, HELLO, GF_PAPERS_F, "c", &after));
    assert_slice(gf_buffer_view(&after),
                 "{\"u\":\"http://example.org/a.pdf\",\"d\":\"2017-07-06T00:59:50Z\","
                 "\"f\":\"item/a.warc.gz\",\"o\":17120058,\"c\":1}");
    transport_input(&t, "b.cdx",
                    GF_SLICE("org,other)/ 20180101000000 http://other.org/ text/html "
                             "200 " HELLO " - - 1 2 b.warc\n"));
    assert_run(&t, "papers import-cdx", "replace", "true");
    check_counts(&t, 0, 1, 0);
    assert_true(read_cell(&t, HELLO, GF_PAPERS_FILE, "mime", &after));
    assert_slice(gf_buffer_view(&after), "text/html");

    import_tei(&t, "tei/" HELLO ".tei.xml", GF_SLICE(TEI("one")));
    check_counts(&t, 1, 0, 0);
    import_tei(&t, "tei/" HELLO ".tei.xml", GF_SLICE(TEI("two")));
    check_counts(&t, 0, 0, 1);
    assert_true(read_cell(&t, HELLO, GF_PAPERS_GROBID, "tei_xml", &after));
    assert_slice(gf_buffer_view(&after), TEI("one"));
    transport_input(&t, HELLO, GF_SLICE(TEI("two")));
    assert_run(&t, "papers import-tei", "force", "true");
    check_counts(&t, 0, 1, 0);
    assert_true(read_cell(&t, HELLO, GF_PAPERS_GROBID, "tei_xml", &after));
    assert_slice(gf_buffer_view(&after), TEI("two"));
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    transport_close(&t);
}

/* ---- 4: what is missing -----------------------------------------------------------------------
 */

static void test_papers__check_4(void **state)
{
    (void)state;
    transport t;
    gf_buffer lines = {0};
    char names[8][48];
    double sum = 0;
    transport_open(&t);
    for (int i = 0; i < 8; i++) {
        snprintf(names[i], sizeof names[i], "%d000000000000000000000000000000000000000.xml", i);
        gf_sha1 sha1;
        assert_true(gf_sha1_of_name(gf_slice_str(names[i]), &sha1));
        if (i == 5) continue; /* of this one nothing but an extraction is there */
        gf_buffer_format(&lines,
                         "org,a)/%d 20170706005950 http://a.org/%d text/xml 200 %s - - 1 2 w\n", i,
                         i, gf_sha1_base32(&sha1).text);
    }
    import_cdx(&t, gf_buffer_cstr(&lines));
    for (int i = 0; i < 8; i++)
        if (i != 2 && i != 7)
            import_tei(&t, names[i], i == 4 ? GF_SLICE("this is not XML") : GF_SLICE(TEI("x")));
    assert_run(&t, "papers list");
    assert_int_equal(t.n_rows, 8);
    assert_run(&t, "papers missing");
    assert_int_equal(t.n_rows, 2);
    for (uint64_t i = 0; i < 2; i++) {
        gf_slice url = transport_text(&t, i, "url");
        assert_true(gf_slice_equal(url, GF_SLICE("http://a.org/2")) ||
                    gf_slice_equal(url, GF_SLICE("http://a.org/7")));
    }
    assert_run(&t, "papers counts");
    for (uint64_t i = 0; i < t.n_rows; i++)
        if (transport_has(&t, i, "status_code")) sum += transport_number(&t, i, "papers");
    assert_true(sum == 6);
    assert_int_equal(t.n_rows, 3);
    assert_slice(transport_bytes(&t, 0),
                 "{\"status_code\":200,\"status\":\"success\",\"papers\":5}");
    assert_slice(transport_bytes(&t, 1), "{\"status_code\":200,\"status\":\"fail\",\"papers\":1}");
    assert_slice(transport_bytes(&t, 2), "{\"status\":\"missing\",\"papers\":2}");
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* ---- 5: too large, and no TEI -----------------------------------------------------------------
 */

static void test_papers__check_5(void **state)
{
    (void)state;
    transport t;
    gf_buffer large = {0}, value = {0};
    transport_open(&t);
    gf_buffer_str(&large, "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><text><body>");
    while (large.len < 4000001 - 20)
        gf_buffer_byte(&large, 'x');
    gf_buffer_str(&large, "</body></text></TEI>");
    assert_int_equal(large.len, 4000001);
    import_tei(&t, HELLO ".xml", gf_buffer_view(&large));
    check_counts(&t, 1, 0, 0);
    assert_true(read_cell(&t, HELLO, GF_PAPERS_GROBID, "status", &value));
    assert_slice(gf_buffer_view(&value), "{\"status\":\"oversize\"}");
    assert_true(read_cell(&t, HELLO, GF_PAPERS_GROBID, "status_code", &value));
    assert_false(read_cell(&t, HELLO, GF_PAPERS_GROBID, "tei_xml", &value));
    assert_false(read_cell(&t, HELLO, GF_PAPERS_GROBID, "tei_json", &value));
    large.len -= 1 + 20; /* a byte less, and all of it is kept */
    gf_buffer_str(&large, "</body></text></TEI>");
    transport_input(&t, HELLO, gf_buffer_view(&large));
    assert_run(&t, "papers import-tei", "force", "true");
    assert_true(read_cell(&t, HELLO, GF_PAPERS_GROBID, "tei_xml", &value));
    assert_int_equal(value.len, 4000000);
    import_tei(&t, OTHER ".xml", GF_SLICE("this is not XML"));
    assert_true(read_cell(&t, OTHER, GF_PAPERS_GROBID, "status", &value));
    assert_true(gf_slice_starts(gf_buffer_view(&value), GF_SLICE("{\"status\":\"fail\"")));
    assert_false(read_cell(&t, OTHER, GF_PAPERS_GROBID, "tei_xml", &value));
    gf_buffer_release(&large);
    gf_buffer_release(&value);
    transport_close(&t);
}

/* ---- 6: the edge cases ------------------------------------------------------------------------
 */

static const char *sample(void)
{
    return gf_test_data_path("papers-tei/papers-tei.tar.gz");
}

static void read_file(const char *path, gf_buffer *out)
{
    FILE *f = fopen(path, "rb");
    char bytes[65536];
    size_t n;
    assert_non_null(f);
    while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
        gf_buffer_append(out, bytes, n);
    fclose(f);
}

static void test_papers__check_6(void **state)
{
    (void)state;
    transport t;
    gf_buffer archive = {0};
    int small = 0, references = 0;
    if (!gf_test_has_data()) skip();
    transport_open(&t);
    read_file(sample(), &archive);
    transport_input(&t, "papers-tei.tar.gz", gf_buffer_view(&archive));
    assert_run(&t, "papers import-tei");
    assert_true(transport_number(&t, 0, "refused") == 32);
    assert_int_equal(t.outcome, GF_SOME_REFUSED);
    assert_string_equal(t.notices[0].reason, "no_digest");
    transport_input(&t, "papers-tei.tar.gz", gf_buffer_view(&archive));
    assert_run(&t, "papers import-tei", "hash", "true");
    check_counts(&t, 32, 0, 0);
    assert_run(&t, "papers counts");
    assert_int_equal(t.n_rows, 1);
    assert_run(&t, "papers list");
    assert_int_equal(t.n_rows, 32);
    char keys[32][40];
    int titled = 0;
    for (uint64_t i = 0; i < 32; i++) {
        snprintf(keys[i], sizeof keys[i], "%.*s", GF_SLICE_ARG(transport_text(&t, i, "sha1")));
        titled += transport_has(&t, i, "title");
    }
    assert_int_equal(titled, 29 - 2 + 1);
    for (int i = 0; i < 32; i++) {
        assert_run(&t, "papers show", "sha1", keys[i]);
        gf_json_value grobid = transport_member(&t, 0, "grobid0"), metadata, body, title, list, v;
        assert_true(gf_json_member(grobid, "metadata", &metadata));
        assert_false(gf_json_member(metadata, "body", &body));
        assert_false(gf_json_member(metadata, "annex", &body));
        assert_true(gf_json_member(metadata, "title", &title));
        assert_true(gf_json_member(metadata, "citations", &list));
        size_t n = 0;
        for (gf_json_iterator it = gf_json_items(list); gf_json_next(&it, NULL, &v);)
            n++;
        if (gf_slice_equal(gf_json_get_string(title), GF_SLICE("Dummy Example File"))) {
            gf_json_value authors, name;
            small++;
            assert_int_equal(n, 2);
            assert_true(gf_json_member(metadata, "authors", &authors));
            gf_json_iterator it = gf_json_items(authors);
            assert_true(gf_json_next(&it, NULL, &v) && gf_json_member(v, "name", &name));
            assert_slice(gf_json_get_string(name), "Brewster Kahle");
            assert_true(gf_json_next(&it, NULL, &v) && gf_json_member(v, "name", &name));
            assert_slice(gf_json_get_string(name), "J Doe");
            assert_false(gf_json_next(&it, NULL, &v));
        }
        references += gf_json_get_string(title).len == 0 && n > 0;
    }
    assert_int_equal(small, 1);
    assert_int_equal(references, 2 + 2); /* two papers have no title, but references */
    gf_buffer_release(&archive);
    transport_close(&t);
}

/* ---- 7: titles --------------------------------------------------------------------------------
 */

static void check_slug(const char *title, const char *expected)
{
    gf_error err;
    gf_buffer slug = {0};
    assert_ok(gf_title_slug(gf_slice_str(title), &slug, &err));
    assert_slice(gf_buffer_view(&slug), expected);
    gf_buffer_release(&slug);
}

static int score(const char *a, const char *b)
{
    gf_error err;
    int result = -1, back = -1;
    assert_ok(gf_title_score(gf_slice_str(a), gf_slice_str(b), &result, &err));
    assert_ok(gf_title_score(gf_slice_str(b), gf_slice_str(a), &back, &err));
    assert_int_equal(result, back);
    return result;
}

static void test_papers__check_7(void **state)
{
    (void)state;
    check_slug("HELLO!:the:re", "hellothere");
    check_slug("short", "");
    check_slug("seven77", "");
    check_slug("eight 888", "eight888");
    check_slug("\xC3\x89tudes fran\xC3\xA7"
               "aises \xE2\x80\x93 n\xC2\xB0 \xEF\xAC\x81n",
               "etudesfrancaisesnfin");
    check_slug("e\xCC\x81tudes franc\xCC\xA7"
               "aises",
               "etudesfrancaises");
    check_slug("", "");
    assert_int_equal(score("sturgeon", "urgently"), 250);
    assert_int_equal(score("Same  Title ", "same title"), 1000);
    assert_int_equal(score("", ""), 0);
    assert_int_equal(score("abc", ""), 0);
    assert_int_equal(score("kitten", "sitting"), 571);
}

/* ---- 9: a collection --------------------------------------------------------------------------
 */

static void test_papers__check_9(void **state)
{
    (void)state;
    transport t;
    gf_buffer archive = {0};
    gf_sha1 sha1;
    gf_error err;
    if (!gf_test_has_data()) skip();
    transport_open(&t);
    read_file(sample(), &archive);
    transport_input(&t, "papers-tei.tar.gz", gf_buffer_view(&archive));
    assert_run(&t, "papers import-tei", "hash", "true");
    import_cdx(&t, LINE(HELLO)); /* without a text, and so no document */
    import_tei(&t, OTHER, GF_SLICE(TEI("Title of this one")));
    assert_run(&t, "put", "collection", "papers", "from", "papers");
    assert_true(transport_number(&t, 0, "new") == 33);
    assert_run(&t, "put", "collection", "papers", "from", "papers");
    assert_true(transport_number(&t, 0, "unchanged") == 33);
    assert_run(&t, "doc", "collection", "papers", "id", OTHER);
    assert_slice(transport_text(&t, 0, "text"), "Title of this one\n\nText of Title of this one");
    assert_run(&t, "put", "collection", "titles", "from", "papers", "text", "title");
    assert_run(&t, "doc", "collection", "titles", "id", OTHER);
    assert_slice(transport_text(&t, 0, "text"), "Title of this one");
    assert_run(&t, "rebuild", "collection", "papers", "threads", "1");
    assert_slice(transport_text(&t, 0, "outcome"), "rebuilt");
    assert_true(transport_number(&t, 0, "documents") == 33);
    assert_run(&t, "export", "collection", "papers");
    assert_int_equal(t.n_rows, 33);
    for (uint64_t i = 0; i < t.n_rows; i++)
        assert_true(gf_sha1_parse(transport_text(&t, i, "id"), &sha1));
    assert_ok(gf_sha1_of(GF_SLICE("x"), &sha1, &err));
    gf_buffer_release(&archive);
    transport_close(&t);
}

/* ---- 8: the schema ----------------------------------------------------------------------------
 */

static void test_papers__check_8(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    gf_table *table;
    gf_batch *batch;
    gf_papers *papers;
    gf_buffer value = {0}, key = {0};
    unsigned family;
    gf_sha1 sha1 = digest(HELLO);
    static const char *const status[] = {"status", NULL};
    gf_family twice[] = {{.name = "grobid0", .columns = status},
                         {.name = "match0", .columns = status}};
    gf_schema bad = {.name = "bad",
                     .parts = gf_papers_schema()->parts,
                     .n_parts = 2,
                     .families = twice,
                     .n_families = 2};
    transport_open(&t);
    import_cdx(&t, LINE(HELLO));
    assert_status(GF_EINVAL, gf_table_open(gf_store_database(t.store), &bad, &table, &err));
    assert_non_null(strstr(err.message, "column status is in families grobid0 and match0"));
    assert_ok(
        gf_papers_open(t.store, GF_SLICE("default"), GF_SLICE(GF_PAPERS_TABLE), &papers, &err));
    table = gf_papers_table(papers);
    assert_ok(gf_table_family(table, "match0", &family, &err));
    assert_int_equal(family, GF_PAPERS_MATCH);
    assert_status(GF_EINVAL, gf_table_family(table, "match1", &family, &err));
    gf_papers_key(papers, &sha1, &key);
    assert_ok(gf_batch_create(gf_store_database(t.store), &batch, &err));
    assert_false(read_cell(&t, HELLO, GF_PAPERS_MATCH, "doi", &value));
    gf_batch_put(batch, table, gf_buffer_view(&key), GF_PAPERS_MATCH, GF_SLICE("doi"), GF_SLICE(""),
                 0);
    assert_ok(gf_batch_write(batch, GF_SYNC, &err));
    assert_true(read_cell(&t, HELLO, GF_PAPERS_MATCH, "doi", &value));
    assert_int_equal(value.len, 0);
    for (int i = 0; i < 2; i++) {
        gf_batch_put(batch, table, gf_buffer_view(&key), GF_PAPERS_MATCH, GF_SLICE("doi"),
                     i ? GF_SLICE("10.1/second") : GF_SLICE("10.1/first"), 0);
        assert_ok(gf_batch_write(batch, GF_SYNC, &err));
    }
    assert_true(read_cell(&t, HELLO, GF_PAPERS_MATCH, "doi", &value));
    assert_slice(gf_buffer_view(&value), "10.1/second");
    gf_batch_put(batch, table, gf_buffer_view(&key), GF_PAPERS_FAMILIES, GF_SLICE("x"),
                 GF_SLICE("y"), 0);
    assert_status(GF_EINVAL, gf_batch_write(batch, GF_SYNC, &err));
    gf_batch_free(batch);
    gf_papers_close(papers);
    gf_buffer_release(&value);
    gf_buffer_release(&key);
    transport_close(&t);
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

static void unsafe_xml_is_refused(void **state)
{
    (void)state;
    static const char laughs[] =
        "<?xml version=\"1.0\"?><!DOCTYPE TEI [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">"
        "<!ENTITY c \"&b;&b;&b;&b;\">]><TEI xmlns=\"http://www.tei-c.org/ns/1.0\">&c;</TEI>";
    static const char external[] =
        "<!DOCTYPE TEI [<!ENTITY f SYSTEM \"file:///etc/passwd\">]><TEI>&f;</TEI>";
    static const char doctype[] = "<!DOCTYPE TEI SYSTEM \"http://example.org/tei.dtd\"><TEI/>";
    const char *const all[] = {laughs, external, doctype};
    transport t;
    transport_open(&t);
    for (size_t i = 0; i < 3; i++) {
        import_tei(&t, "x/" OTHER ".xml", gf_slice_str(all[i]));
        assert_true(transport_number(&t, 0, "refused") == 1);
        assert_int_equal(t.outcome, GF_SOME_REFUSED);
        assert_string_equal(t.notices[0].reason, "unsafe_xml");
        assert_refused(GF_ENOTFOUND, "there is no paper", &t, "papers show", "sha1", OTHER);
    }
    import_tei(&t, OTHER ".xml", GF_SLICE("<!DOCTYPE TEI><TEI/>"));
    check_counts(&t, 1, 0, 0);
    transport_close(&t);
}

/* ---- matching ---------------------------------------------------------------------------------
 */

#define AUTHOR(surname) "<author><persName><surname>" surname "</surname></persName></author>"
#define PAPER                                                                                      \
    "<TEI><teiHeader><fileDesc><titleStmt><title>How bees dance</title></titleStmt><sourceDesc>"   \
    "<biblStruct><analytic>" AUTHOR("Frisch") AUTHOR(                                              \
        "M\xC3\xBCller") "</analytic></biblStruct></sourceDesc></fileDesc></teiHeader></TEI>"

static void check_match(transport *t, const char *works, const char *mstatus, const char *doi)
{
    transport_input(t, "works.jsonl", gf_slice_str(works));
    assert_run(t, "papers match");
    assert_int_equal(t->n_rows, 1);
    assert_slice(transport_text(t, 0, "mstatus"), mstatus);
    assert_int_equal(transport_has(t, 0, "doi"), doi != NULL);
    if (doi) assert_slice(transport_text(t, 0, "doi"), doi);
}

static void matches(void **state)
{
    (void)state;
    transport t;
    gf_buffer value = {0};
    transport_open(&t);
    import_tei(&t, HELLO, GF_SLICE(PAPER));
    check_match(&t, "{\"id\":1,\"title\":\"How bees dance\",\"doi\":\"10/a\"}\n", "match", "10/a");
    check_match(&t,
                "{\"id\":1,\"title\":\"How bees dance\",\"doi\":\"10/a\"}\n"
                "{\"id\":2,\"title\":\"HOW BEES DANCE\",\"doi\":\"10/b\"}\n",
                "ambiguous", NULL);
    check_match(
        &t,
        "{\"id\":1,\"title\":\"How bees dance\",\"doi\":\"10/a\",\"authors\":[\"K. Lorenz\"]}"
        "\n{\"id\":2,\"title\":\"How bees dance!\",\"doi\":\"10/b\",\"authors\":[\"Muller, "
        "A.\",{\"family\":\"Frisch\"}]}\n",
        "match", "10/b");
    check_match(&t, "{\"id\":1,\"title\":\"H-o-w-b-e-e-s-d-a-n-c-e\",\"doi\":\"10/a\"}\n",
                "no-match", NULL); /* the same slug, but 500 of 1000 */
    assert_false(read_cell(&t, HELLO, GF_PAPERS_MATCH, "doi", &value));
    check_match(&t, "{\"id\":1,\"title\":\"How bees sing\",\"doi\":\"10/a\"}\n", "no-match", NULL);
    gf_buffer_release(&value);
    transport_close(&t);
}

static double reason(transport *t, const char *name)
{
    gf_json_value n;
    return gf_json_member(transport_member(t, 0, "reasons"), name, &n) ? gf_json_number(n) : 0;
}

static void import_sample(transport *t, const char *name)
{
    static gf_buffer bytes;
    char path[64];
    gf_buffer_release(&bytes);
    snprintf(path, sizeof path, "cdx/%s.gz", name);
    gf_test_read_data(path, &bytes);
    transport_input(t, name, gf_buffer_view(&bytes));
    assert_run(t, "papers import-cdx");
    if (strcmp(name, "tarballs.cdx") == 0) gf_buffer_release(&bytes);
}

static void samples_go_in(void **state)
{
    (void)state;
    transport t;
    if (!gf_test_has_data()) skip();
    transport_open(&t);
    import_sample(&t, "bad.cdx");
    assert_true(transport_number(&t, 0, "read") == 5);
    check_counts(&t, 1, 0, 1);
    assert_true(reason(&t, "header") == 1 && reason(&t, "missing_field") == 2);
    assert_int_equal(t.n_notices, 3);
    assert_int_equal(t.notices[1].line, 2);
    assert_string_equal(t.notices[1].reason, "missing_field");
    assert_int_equal(t.notices[2].line, 4);
    import_sample(&t, "sandcrawler-example.cdx");
    assert_true(transport_number(&t, 0, "read") == 20);
    check_counts(&t, 8, 0, 0);
    assert_true(reason(&t, "bad_status") == 10);
    static const struct {
        const char *name;
        double lines;
    } files[] = {{"iana.cdx", 172},           {"dupes.cdx", 13},
                 {"example.cdx", 4},          {"post-test.cdx", 4},
                 {"zipnum-sample.cdx", 151},  {"iana.cdxj", 171},
                 {"dupes.cdxj", 12},          {"example.cdxj", 3},
                 {"post-test.cdxj", 3},       {"papers_domain_words.cdx", 0},
                 {"papers_edu_tilde.cdx", 0}, {"papers_url_doi.cdx", 0},
                 {"papers_url_words.cdx", 0}, {"sourcecode.cdx", 0},
                 {"tarballs.cdx", 0}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        import_sample(&t, files[i].name);
        if (files[i].lines) assert_true(transport_number(&t, 0, "read") == files[i].lines);
        double parts = transport_number(&t, 0, "stored") + transport_number(&t, 0, "existing") +
                       transport_number(&t, 0, "skipped") + transport_number(&t, 0, "refused");
        assert_true(transport_number(&t, 0, "read") == parts);
        if (strcmp(files[i].name, "zipnum-sample.cdx") == 0)
            assert_true(reason(&t, "many_fields") == 37);
    }
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_papers__check_1),
                                       cmocka_unit_test(test_papers__check_2),
                                       cmocka_unit_test(test_papers__check_3),
                                       cmocka_unit_test(test_papers__check_4),
                                       cmocka_unit_test(test_papers__check_5),
                                       cmocka_unit_test(test_papers__check_6),
                                       cmocka_unit_test(test_papers__check_7),
                                       cmocka_unit_test(test_papers__check_8),
                                       cmocka_unit_test(test_papers__check_9),
                                       cmocka_unit_test(unsafe_xml_is_refused),
                                       cmocka_unit_test(matches),
                                       cmocka_unit_test(samples_go_in)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
