/* The table of papers, by its checks: digests, numbers, its schema. */
#include "tests/apps/papers.h"

static void test_papers__check_1(void **state)
{
    (void)state;
    gf_error err;
    gf_sha1 sha1;
    assert_ok(gf_sha1_of(GF_SLICE(""), &sha1, &err));
    assert_string_equal(gf_sha1_base32(&sha1).text, "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    assert_ok(gf_sha1_of(GF_SLICE("hello"), &sha1, &err));
    assert_string_equal(gf_sha1_base32(&sha1).text, PAPERS_HELLO);
    sha1 = papers_digest(PAPERS_OTHER);
    assert_string_equal(gf_sha1_hex(&sha1).text, "63c57ad9949c6862bf7e92de750d78f34d4e4b69");
    static const char *const same[] = {
        "sha1:" PAPERS_OTHER, "SHA1:" PAPERS_OTHER, "63c57ad9949c6862bf7e92de750d78f34d4e4b69",
        "63C57AD9949C6862BF7E92DE750D78F34D4E4B69", "mpcxvwmutrugfp36slphkdly6ngu4s3j"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        gf_sha1 again = papers_digest(same[i]);
        assert_memory_equal(again.bytes, sha1.bytes, GF_SHA1_BYTES);
    }
    static const char *const none[] = {"",
                                       "sha1:",
                                       "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3",
                                       "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S31",
                                       "63c57ad9949c6862bf7e92de750d78f34d4e4b6g",
                                       "md5:" PAPERS_OTHER};
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
        gf_papers_put_number(&b, cases[i].number);
        assert_int_equal(b.len, 8);
        assert_memory_equal(b.ptr, cases[i].bytes, 8);
        assert_ok(gf_papers_number(GF_PAPERS_GROBID, GF_SLICE("status_code"), gf_buffer_view(&b),
                                   &text, &err));
        snprintf(expected, sizeof expected, "%lld", (long long)cases[i].number);
        assert_string_equal(gf_buffer_cstr(&text), expected);
        gf_buffer_release(&b);
        gf_buffer_release(&text);
    }
    transport t;
    gf_buffer value = {0};
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO ".tei.xml", GF_SLICE(PAPERS_TEI("one")));
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_GROBID, "status_code", &value));
    assert_int_equal(value.len, 8);
    assert_memory_equal(value.ptr, "\0\0\0\0\0\0\0\xC8", 8);
    gf_buffer_release(&value);
    transport_close(&t);
}

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
    gf_sha1 sha1 = papers_digest(PAPERS_HELLO);
    static const char *const status[] = {"status", NULL};
    gf_family twice[] = {{.name = "grobid0", .columns = status},
                         {.name = "match0", .columns = status}};
    gf_schema bad = {.name = "bad",
                     .parts = gf_papers_schema()->parts,
                     .n_parts = 2,
                     .families = twice,
                     .n_families = 2};
    transport_open(&t);
    papers_import_cdx(&t, PAPERS_LINE(PAPERS_HELLO));
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
    assert_false(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_MATCH, "doi", &value));
    gf_batch_put(batch, table, gf_buffer_view(&key), GF_PAPERS_MATCH, GF_SLICE("doi"), GF_SLICE(""),
                 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_MATCH, "doi", &value));
    assert_int_equal(value.len, 0);
    for (int i = 0; i < 2; i++) {
        gf_batch_put(batch, table, gf_buffer_view(&key), GF_PAPERS_MATCH, GF_SLICE("doi"),
                     i ? GF_SLICE("10.1/second") : GF_SLICE("10.1/first"), 0);
        assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    }
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_MATCH, "doi", &value));
    assert_slice(gf_buffer_view(&value), "10.1/second");
    gf_batch_put(batch, table, gf_buffer_view(&key), GF_PAPERS_FAMILIES, GF_SLICE("x"),
                 GF_SLICE("y"), 0);
    assert_status(GF_EINVAL, gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_papers_close(papers);
    gf_buffer_release(&value);
    gf_buffer_release(&key);
    transport_close(&t);
}

/* A family is found by its name: what an older store has behind its families stays where it is. */
static void groups_are_added_at_the_end(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    gf_papers *papers;
    gf_table *table;
    gf_family four[6];
    static const char *const probe[] = {"is_pdf", NULL};
    gf_schema old = *gf_papers_schema();
    memcpy(four, old.families, 4 * sizeof *four);
    four[4] = (gf_family){.name = "probe0", .columns = probe};
    old.families = four;
    old.n_families = 5;
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO ".tei.xml", GF_SLICE(PAPERS_TEI("one")));
    old.name = GF_PAPERS_PREFIX "0-old";
    assert_ok(gf_table_open(gf_store_database(t.store), &old, &table, &err));
    assert_ok(gf_papers_open(t.store, GF_SLICE("default"), GF_SLICE("0-old"), &papers, &err));
    static const char *const none[] = {"grobid", "grobid01", "grobid0x", "grobid12345",
                                       "match1", "file",     "",         "grobid-1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_status(GF_EINVAL, gf_papers_choose_group(papers, GF_PAPERS_GROBID,
                                                        gf_slice_str(none[i]), true, &err));
    assert_status(GF_ENOTFOUND, gf_papers_choose_group(papers, GF_PAPERS_GROBID,
                                                       GF_SLICE("grobid1"), false, &err));
    assert_int_equal(gf_papers_family(papers, GF_PAPERS_GROBID), GF_PAPERS_GROBID);
    unsigned before = gf_table_schema(table)->n_families, family;
    assert_ok(gf_papers_choose_group(papers, GF_PAPERS_GROBID, GF_SLICE("grobid1"), true, &err));
    assert_int_equal(gf_papers_family(papers, GF_PAPERS_GROBID), before);
    const gf_family *added = &gf_table_schema(table)->families[before];
    assert_string_equal(added->name, "grobid1");
    assert_int_equal(added->layout, GF_LAYOUT_WIDE);
    assert_int_equal(added->compression, GF_COMPRESSION_SNAPPY);
    assert_string_equal(gf_table_schema(table)->families[4].name, "probe0");
    gf_slice column;
    assert_ok(gf_papers_column(papers, GF_SLICE("tei_xml"), &family, &column, &err));
    assert_int_equal(family, before);
    assert_ok(gf_papers_column(papers, GF_SLICE("grobid0:tei_xml"), &family, &column, &err));
    assert_int_equal(family, GF_PAPERS_GROBID);
    assert_slice(column, "tei_xml");
    assert_ok(gf_papers_column(papers, GF_SLICE("is_pdf"), &family, &column, &err));
    assert_int_equal(family, 4);
    assert_status(GF_EINVAL,
                  gf_papers_column(papers, GF_SLICE("probe0:mime"), &family, &column, &err));
    assert_status(GF_ENOTFOUND,
                  gf_papers_choose_group(papers, GF_PAPERS_MATCH, GF_SLICE("match1"), false, &err));
    gf_papers_close(papers);
    assert_status(GF_ENOTFOUND,
                  gf_papers_find(t.store, GF_SLICE("default"), GF_SLICE("0-qa"), &papers, &err));
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_papers__check_1), cmocka_unit_test(test_papers__check_2),
        cmocka_unit_test(test_papers__check_8), cmocka_unit_test(groups_are_added_at_the_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
