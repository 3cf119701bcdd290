/*
 * Imports of index lines and texts: again, incomplete, too large, unsafe; and the real data with
 * the counts that its README and counting by awk give.
 */
#include "tests/apps/papers.h"
#include "tests/formats/archive.h"

static void test_papers__check_3(void **state)
{
    (void)state;
    transport t;
    gf_buffer before = {0}, after = {0};
    transport_open(&t);
    papers_import_cdx(&t, PAPERS_LINE(PAPERS_HELLO) PAPERS_LINE(PAPERS_HELLO));
    papers_check_counts(&t, 1, 0, 1);
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_FILE, "cdx", &before));
    papers_import_cdx(&t, "org,other)/ 20180101000000 http://other.org/ text/html 200 " PAPERS_HELLO
                          " - - 1 2 b.warc\n");
    papers_check_counts(&t, 0, 0, 1);
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_FILE, "cdx", &after));
    assert_slice(gf_buffer_view(&after), gf_buffer_cstr(&before));
    assert_slice(gf_buffer_view(&after),
                 "{\"surt\":\"org,example)/a.pdf\",\"url\":\"http://example.org/a.pdf\","
                 "\"dt\":\"20170706005950\",\"warc\":\"item/a.warc.gz\",\"offset\":\"17120058\","
                 "\"c_size\":\"361006\"}");
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_F, "c", &after));
    assert_slice(gf_buffer_view(&after),
                 "{\"u\":\"http://example.org/a.pdf\",\"d\":\"2017-07-06T00:59:50Z\","
                 "\"f\":\"a.warc.gz\",\"o\":17120058,\"c\":2}");
    transport_input(&t, "b.cdx",
                    GF_SLICE("org,other)/ 20180101000000 http://other.org/ text/html "
                             "200 " PAPERS_HELLO " - - 1 2 b.warc\n"));
    assert_run(&t, "papers import-cdx", "replace", "true");
    papers_check_counts(&t, 0, 1, 0);
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_FILE, "mime", &after));
    assert_slice(gf_buffer_view(&after), "text/html");

    papers_import_tei(&t, "tei/" PAPERS_HELLO ".tei.xml", GF_SLICE(PAPERS_TEI("one")));
    papers_check_counts(&t, 1, 0, 0);
    papers_import_tei(&t, "tei/" PAPERS_HELLO ".tei.xml", GF_SLICE(PAPERS_TEI("two")));
    papers_check_counts(&t, 0, 0, 1);
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_GROBID, "tei_xml", &after));
    assert_slice(gf_buffer_view(&after), PAPERS_TEI("one"));
    transport_input(&t, PAPERS_HELLO, GF_SLICE(PAPERS_TEI("two")));
    assert_run(&t, "papers import-tei", "force", "true");
    papers_check_counts(&t, 0, 1, 0);
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_GROBID, "tei_xml", &after));
    assert_slice(gf_buffer_view(&after), PAPERS_TEI("two"));
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    transport_close(&t);
}

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
    papers_import_cdx(&t, gf_buffer_cstr(&lines));
    for (int i = 0; i < 8; i++)
        if (i != 2 && i != 7)
            papers_import_tei(&t, names[i],
                              i == 4 ? GF_SLICE("this is not XML") : GF_SLICE(PAPERS_TEI("x")));
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
    papers_import_tei(&t, PAPERS_HELLO ".xml", gf_buffer_view(&large));
    papers_check_counts(&t, 1, 0, 0);
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_GROBID, "status", &value));
    assert_slice(gf_buffer_view(&value), "{\"status\":\"oversize\"}");
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_GROBID, "status_code", &value));
    assert_false(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_GROBID, "tei_xml", &value));
    assert_false(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_GROBID, "tei_json", &value));
    large.len -= 1 + 20; /* a byte less, and all of it is kept */
    gf_buffer_str(&large, "</body></text></TEI>");
    transport_input(&t, PAPERS_HELLO, gf_buffer_view(&large));
    assert_run(&t, "papers import-tei", "force", "true");
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_GROBID, "tei_xml", &value));
    assert_int_equal(value.len, 4000000);
    papers_import_tei(&t, PAPERS_OTHER ".xml", GF_SLICE("this is not XML"));
    assert_true(papers_cell(&t, PAPERS_OTHER, GF_PAPERS_GROBID, "status", &value));
    assert_true(gf_slice_starts(gf_buffer_view(&value), GF_SLICE("{\"status\":\"fail\"")));
    assert_false(papers_cell(&t, PAPERS_OTHER, GF_PAPERS_GROBID, "tei_xml", &value));
    gf_buffer_release(&large);
    gf_buffer_release(&value);
    transport_close(&t);
}

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
        papers_import_tei(&t, "x/" PAPERS_OTHER ".xml", gf_slice_str(all[i]));
        assert_true(transport_number(&t, 0, "refused") == 1);
        assert_int_equal(t.outcome, GF_OUTCOME_SOME_REFUSED);
        assert_string_equal(t.notices[0].reason, "unsafe_xml");
        assert_refused(GF_ENOTFOUND, "there is no paper", &t, "papers show", "sha1", PAPERS_OTHER);
    }
    papers_import_tei(&t, PAPERS_OTHER ".xml", GF_SLICE("<!DOCTYPE TEI><TEI/>"));
    papers_check_counts(&t, 1, 0, 0);
    transport_close(&t);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void append_line(gf_buffer *lines, unsigned i)
{
    gf_error err;
    gf_sha1 sha1;
    assert_ok(gf_sha1_of(gf_slice_of((const char *)&i, sizeof i), &sha1, &err));
    gf_buffer_format(lines, "org,a)/%u 20170706005950 http://a.org/%u text/xml 200 %s - - 1 2 w\n",
                     i, i, gf_sha1_base32(&sha1).text);
}

/* Lines come again while the batch of the first ones is being written. */
static void lines_again_in_the_next_batch(void **state)
{
    (void)state;
    enum { LINES = 30500, BACK = 40 };
    transport t;
    gf_buffer lines = {0};
    unsigned again = 0;
    transport_open(&t);
    for (unsigned i = 0; i < LINES; i++) {
        append_line(&lines, i);
        if (i % 9 == 0 && i >= BACK) append_line(&lines, i - BACK), again++;
    }
    papers_import_cdx(&t, gf_buffer_cstr(&lines));
    papers_check_counts(&t, LINES, 0, again);
    papers_import_cdx(&t, gf_buffer_cstr(&lines));
    papers_check_counts(&t, 0, 0, LINES + again);
    transport_input(&t, "a.cdx", gf_buffer_view(&lines));
    assert_run(&t, "papers import-cdx", "replace", "true");
    papers_check_counts(&t, 0, LINES + again, 0);
    transport_close_store(&t);
    assert_run(&t, "verify");
    assert_int_equal(transport_number(&t, 0, "papers"), LINES);
    assert_int_equal(transport_number(&t, 0, "faults"), 0);
    gf_buffer_release(&lines);
    transport_close(&t);
}

enum { MEMBERS = 300 };

/* The kind of file i: of seven one is no XML, one unsafe, one without a digest, one a copy. */
static gf_slice member_text(size_t i)
{
    static const char *const texts[] = {
        "no XML", "<!DOCTYPE TEI [<!ENTITY a \"ha\">]><TEI>&a;</TEI>", PAPERS_TEI("some")};
    return gf_slice_str(texts[i % 7 < 2 ? i % 7 : 2]);
}

static void member_name(size_t i, char name[64])
{
    unsigned n = (unsigned)(i % 7 == 4 ? i - 1 : i);
    snprintf(name, 64, i % 7 == 6 ? "none-%u.xml" : "%040x.xml", n);
}

/* Files are read by several threads: they are told of in their order, up to what is damaged. */
static void files_keep_their_order(void **state)
{
    (void)state;
    static char names[MEMBERS][64];
    static archive_member members[MEMBERS];
    transport t;
    gf_buffer tar = {0};
    for (size_t i = 0; i < MEMBERS; i++) {
        member_name(i, names[i]);
        members[i] = (archive_member){names[i], member_text(i), A_FILE};
    }
    make_archive("pax", NULL, members, MEMBERS, &tar);
    transport_open(&t);
    papers_import_tei(&t, "a.tar", gf_buffer_view(&tar));
    size_t seventh = MEMBERS / 7;
    assert_true(transport_number(&t, 0, "read") == MEMBERS);
    assert_true(transport_number(&t, 0, "refused") == (double)(2 * seventh + 1));
    papers_check_counts(&t, (double)(MEMBERS - 3 * seventh - 2), 0, (double)(seventh + 1));
    assert_int_equal(t.n_notices, 2 * seventh + 1);
    for (size_t i = 0, k = 0; i < MEMBERS && k < TRANSPORT_KEPT && k < t.n_notices; i++) {
        if (i % 7 != 1 && i % 7 != 6) continue;
        assert_string_equal(t.notices[k++].reason, i % 7 == 1 ? "unsafe_xml" : "no_digest");
    }
    papers_import_tei(&t, "a.tar", gf_buffer_view(&tar));
    papers_check_counts(&t, 0, 0, (double)(MEMBERS - 2 * seventh - 1));
    transport_close(&t);

    transport_open(&t);
    tar.len = tar.len / 2 / 512 * 512 + 100; /* cut short: what came before it is there */
    transport_input(&t, "a.tar", gf_buffer_view(&tar));
    assert_refused(GF_ECORRUPT, "a.tar", &t, "papers import-tei");
    size_t read = (size_t)transport_number(&t, 0, "read");
    assert_in_range(read, MEMBERS / 3, MEMBERS * 2 / 3);
    assert_run(&t, "papers list", "limit", "1000");
    size_t expected = 0;
    for (size_t i = 0; i < read; i++)
        expected += i % 7 == 0 || i % 7 == 2 || i % 7 == 3 || i % 7 == 5;
    assert_int_equal(t.n_rows, expected);
    gf_buffer_release(&tar);
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

/* The value of f:c, file:cdx, or a further capture of the paper; "-" where there is none. */
static const char *cell_text(transport *t, unsigned family, const char *column, gf_buffer *value)
{
    if (papers_cell(t, PAPERS_HELLO, family, column, value)) return gf_buffer_cstr(value);
    return "-";
}

#define CAPTURE(date, host)                                                                        \
    "org," host ")/ " date " http://" host ".org/ application/pdf 200 " PAPERS_HELLO               \
    " - - 1 2 i/" host ".warc\n"
#define CDX(date, host)                                                                            \
    "{\"surt\":\"org," host ")/\",\"url\":\"http://" host ".org/\",\"dt\":\"" date                 \
    "\",\"warc\":\"i/" host ".warc\",\"offset\":\"2\",\"c_size\":\"1\"}"
#define FIRST  "20170706005950"
#define SECOND "20180706005950"
#define URL_A  "-I3V6BMF5GQ65Q5V5X7I6P4ZGWTYBXWZR"

/* Captures are told apart by URL and date; in any order, any part of them again, they count once. */
static void captures_are_counted(void **state)
{
    (void)state;
    static const char *const all = CAPTURE(FIRST, "a") CAPTURE(SECOND, "a") CAPTURE(FIRST, "b")
        CAPTURE(FIRST, "c") CAPTURE(SECOND, "c");
    static const struct {
        const char *keep, *lines;
        double further;
        const char *history;
    } steps[] = {
        {"2", CAPTURE(FIRST, "a") CAPTURE(SECOND, "a"), 1, "\"f\":\"a.warc\",\"o\":2,\"c\":2}"},
        {"2", CAPTURE(SECOND, "a") CAPTURE(FIRST, "a"), 0, "\"c\":2}"},
        {"2", CAPTURE(FIRST, "b") CAPTURE(FIRST, "b"), 1, "\"c\":3}"},
        {"2", CAPTURE(FIRST, "c") CAPTURE(SECOND, "c"), 2, "\"c\":5}"},
        {"2", CAPTURE(SECOND, "c") CAPTURE(FIRST, "b") CAPTURE(FIRST, "c"), 0, "\"c\":5}"},
    };
    transport t;
    gf_buffer value = {0};
    gf_error err;
    transport_open(&t);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        transport_input(&t, "a.cdx", gf_slice_str(steps[i].lines));
        assert_run(&t, "papers import-cdx", "captures", steps[i].keep);
        assert_true(reason(&t, "further_capture") == steps[i].further);
        if (!strstr(cell_text(&t, GF_PAPERS_F, "c", &value), steps[i].history))
            fail_msg("step %zu: %s", i, gf_buffer_cstr(&value));
        assert_string_equal(cell_text(&t, GF_PAPERS_FILE, "cdx", &value), CDX(FIRST, "a"));
    }
    papers_import_cdx(&t, all);
    papers_check_counts(&t, 0, 0, 5);
    assert_run(&t, "papers show", "sha1", PAPERS_HELLO);
    gf_slice shown = transport_bytes(&t, 0);
    gf_buffer_reset(&value);
    gf_buffer_slice(&value, shown);
    assert_non_null(strstr(gf_buffer_cstr(&value), CDX(SECOND, "a")));
    assert_non_null(strstr(gf_buffer_cstr(&value), CDX(FIRST, "b")));
    assert_null(strstr(gf_buffer_cstr(&value), CDX(FIRST, "c"))); /* counted alone */

    /* With --replace a further capture is the first, and that one is further. */
    transport_input(&t, "a.cdx", GF_SLICE(CAPTURE(SECOND, "a")));
    assert_run(&t, "papers import-cdx", "replace", "true");
    papers_check_counts(&t, 0, 1, 0);
    assert_string_equal(cell_text(&t, GF_PAPERS_FILE, "cdx", &value), CDX(SECOND, "a"));
    assert_non_null(strstr(cell_text(&t, GF_PAPERS_F, "c", &value), "2018-07-06T00:59:50Z"));
    assert_non_null(strstr(gf_buffer_cstr(&value), "\"c\":5}"));
    assert_ok(transport_run(&t, &err, "papers dump", "fields", "captures", NULL));
    gf_buffer_reset(&value);
    gf_buffer_slice(&value, transport_bytes(&t, 0));
    assert_non_null(strstr(gf_buffer_cstr(&value), "\\\"dt\\\":\\\"" FIRST));
    assert_non_null(strstr(gf_buffer_cstr(&value), "\"" FIRST URL_A "\":\"{"));
    assert_null(strstr(gf_buffer_cstr(&value), "\"" SECOND URL_A "\""));
    papers_import_cdx(&t, all);
    papers_check_counts(&t, 0, 0, 5);
    gf_buffer_release(&value);
    transport_close(&t);
}

/* A crawler's f:c stays where the index comes later, and counts on. */
static void a_crawlers_history_stays(void **state)
{
    (void)state;
    transport t;
    gf_buffer value = {0};
    transport_open(&t);
    transport_input(&t, "rows",
                    GF_SLICE("{\"sha1\":\"" PAPERS_HELLO "\",\"f:c\":{\"u\":\"http://a.org/\","
                             "\"d\":\"" FIRST "\",\"c\":41,\"i\":\"<urn:1>\"}}"));
    assert_run(&t, "papers import");
    papers_import_cdx(&t, CAPTURE(FIRST, "a"));
    papers_check_counts(&t, 1, 0, 0);
    assert_string_equal(cell_text(&t, GF_PAPERS_F, "c", &value),
                        "{\"u\":\"http://a.org/\",\"d\":\"" FIRST "\",\"c\":41,\"i\":\"<urn:1>\"}");
    papers_import_cdx(&t, CAPTURE(SECOND, "a"));
    assert_string_equal(cell_text(&t, GF_PAPERS_F, "c", &value),
                        "{\"u\":\"http://a.org/\",\"d\":\"" FIRST "\",\"i\":\"<urn:1>\",\"c\":42}");
    gf_buffer_release(&value);
    transport_close(&t);
}

static void samples_go_in(void **state)
{
    (void)state;
    transport t;
    if (!gf_test_has_data()) skip();
    transport_open(&t);
    import_sample(&t, "bad.cdx");
    assert_true(transport_number(&t, 0, "read") == 5);
    papers_check_counts(&t, 1, 0, 1);
    assert_true(reason(&t, "header") == 1 && reason(&t, "missing_field") == 2);
    assert_int_equal(t.n_notices, 3);
    assert_int_equal(t.notices[1].line, 2);
    assert_string_equal(t.notices[1].reason, "missing_field");
    assert_int_equal(t.notices[2].line, 4);
    import_sample(&t, "sandcrawler-example.cdx");
    assert_true(transport_number(&t, 0, "read") == 20);
    papers_check_counts(&t, 8, 0, 0);
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
        if (files[i].lines > 0) assert_true(transport_number(&t, 0, "read") == files[i].lines);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_papers__check_3),
                                       cmocka_unit_test(captures_are_counted),
                                       cmocka_unit_test(a_crawlers_history_stays),
                                       cmocka_unit_test(test_papers__check_4),
                                       cmocka_unit_test(test_papers__check_5),
                                       cmocka_unit_test(unsafe_xml_is_refused),
                                       cmocka_unit_test(lines_again_in_the_next_batch),
                                       cmocka_unit_test(files_keep_their_order),
                                       cmocka_unit_test(samples_go_in)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
