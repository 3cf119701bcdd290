/* Scans by prefix, range and qualifier, and the ranges that are refused. */
#include "tests/storage/given.h"

#include <string.h>

static gf_slice collection(const char *name)
{
    return gf_test_key(name);
}

static given begin_documents(void **state)
{
    given g = given_begin(state, &given_documents);
    static const char *const rows[][2] = {{"ck", "1"},  {"ck", "2"},  {"ck", "3"}, {"ck2", "1"},
                                          {"ck/", "1"}, {"a", "b/c"}, {"a/b", "c"}};
    for (size_t i = 0; i < 7; i++) {
        gf_slice key = given_document(rows[i][0], rows[i][1]);
        gf_batch_put(g.batch, g.t, key, INFO, S("name"), S("n"), 0);
        gf_batch_put(g.batch, g.t, key, COURSE, S("x"), S("1"), 0);
        gf_batch_put(g.batch, g.t, key, COURSE, S("xy"), S("2"), 0);
        gf_batch_put(g.batch, g.t, key, COURSE, S("y"), S("3"), 0);
    }
    given_write_batch(&g);
    return g;
}

static void a_prefix_is_a_collection(void **state)
{
    given g = begin_documents(state);
    gf_scan_options o = GF_SCAN_OPTIONS(.family = INFO, .prefix = collection("ck"));
    given_scan_is(&g, &o, "ck/1:name=n ck/2:name=n ck/3:name=n");
    o.reverse = true;
    given_scan_is(&g, &o, "ck/3:name=n ck/2:name=n ck/1:name=n");
    o.limit = 2;
    given_scan_is(&g, &o, "ck/3:name=n ck/2:name=n");
    o = GF_SCAN_OPTIONS(.family = INFO, .keys_only = true);
    given_scan_is(&g, &o, "a/b/c a/b/c ck/1 ck/2 ck/3 ck//1 ck2/1");
    gf_buffer start = {0};
    gf_key_string_start(&start, S("ck"));
    o.prefix = gf_buffer_view(&start);
    given_scan_is(&g, &o, "ck/1 ck/2 ck/3 ck//1 ck2/1");
    o.prefix = collection("no");
    given_scan_is(&g, &o, "");
    gf_buffer_release(&start);
    given_end(&g);
}

static void a_range_has_its_start_and_not_its_end(void **state)
{
    given g = begin_documents(state);
    gf_scan_options o =
        GF_SCAN_OPTIONS(.family = INFO, .keys_only = true, .start = given_document("ck", "2"));
    given_scan_is(&g, &o, "ck/2 ck/3 ck//1 ck2/1");
    o.end = given_document("ck/", "1");
    given_scan_is(&g, &o, "ck/2 ck/3");
    o.reverse = true;
    given_scan_is(&g, &o, "ck/3 ck/2");
    o.prefix = collection("ck");
    o.end = given_document("zz", "z");
    given_scan_is(&g, &o, "ck/3 ck/2");
    o.start = given_document("ck", "4");
    given_scan_is(&g, &o, "");
    o.start = given_document("ck", "3");
    o.end = given_document("ck", "1"); /* nothing is between */
    given_scan_is(&g, &o, "");
    o.reverse = false;
    given_scan_is(&g, &o, "");
    o = GF_SCAN_OPTIONS(.family = COURSE, .start = given_document("ck", "3"), .limit = 4);
    given_scan_is(&g, &o, "ck/3:x=1 ck/3:xy=2 ck/3:y=3 ck//1:x=1");
    given_end(&g);
}

static void a_row_is_walked_by_qualifier(void **state)
{
    given g = begin_documents(state);
    gf_scan_options o = GF_SCAN_OPTIONS(.family = COURSE, .prefix = given_document("ck", "2"));
    given_scan_is(&g, &o, "ck/2:x=1 ck/2:xy=2 ck/2:y=3");
    o.qualifier_prefix = S("x");
    given_scan_is(&g, &o, "ck/2:x=1 ck/2:xy=2");
    o.reverse = true;
    given_scan_is(&g, &o, "ck/2:xy=2 ck/2:x=1");
    o.after_qualifier = S("xy");
    given_scan_is(&g, &o, "ck/2:x=1");
    o.reverse = false;
    o.after_qualifier = S("x");
    given_scan_is(&g, &o, "ck/2:xy=2");
    o.qualifier_prefix = S("");
    given_scan_is(&g, &o, "ck/2:xy=2 ck/2:y=3");
    o.after_qualifier = S("");
    given_scan_is(&g, &o, "ck/2:x=1 ck/2:xy=2 ck/2:y=3");
    o.reverse = true;
    given_scan_is(&g, &o, "");
    o.after_qualifier = S("xx"); /* need not be there */
    given_scan_is(&g, &o, "ck/2:x=1");
    given_end(&g);
}

static void bad_ranges_are_refused(void **state)
{
    given g = begin_documents(state);
    gf_error err;
    gf_scan *scan = NULL;
    char beyond[64];
    gf_slice row = given_document("ck", "1");
    memcpy(beyond, row.ptr, row.len);
    memcpy(beyond + row.len, "x", 1);
    gf_slice past = gf_slice_of(beyond, row.len + 1);
    const gf_scan_options bad[] = {
        GF_SCAN_OPTIONS(.family = 3),
        GF_SCAN_OPTIONS(.family = INFO, .prefix = past),
        GF_SCAN_OPTIONS(.family = COURSE, .start = past),
        GF_SCAN_OPTIONS(.family = COURSE, .end = past),
        GF_SCAN_OPTIONS(.family = COURSE, .qualifier_prefix = S("x")),
        GF_SCAN_OPTIONS(.family = COURSE, .prefix = collection("ck"), .after_qualifier = S("x")),
        GF_SCAN_OPTIONS(.family = INFO, .prefix = row, .after_qualifier = S("")),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_status(GF_EINVAL, gf_scan_open(g.t, &bad[i], &scan, &err));
    assert_null(scan);
    given_end(&g);
}

static int run(const char *name, make_database *make)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_prefix_is_a_collection),
        ON_BOTH(a_range_has_its_start_and_not_its_end),
        ON_BOTH(a_row_is_walked_by_qualifier),
        ON_BOTH(bad_ranges_are_refused),
    };
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    return run("table_scans over the model", gf_test_model) +
           run("table_scans over LevelDB", gf_test_leveldb);
}
