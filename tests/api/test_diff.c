/* diff: which builds are compared, and the rows. */
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

#include <string.h>

enum { BUILD = 32 };

static void rebuild(transport *t, const char *k, char build[BUILD])
{
    char set[16];
    snprintf(set, sizeof set, "k=%s", k);
    assert_run(t, "config set", "collection", "mid", "set", set);
    assert_run(t, "rebuild", "collection", "mid", "threads", "1", "start", "fresh", "force",
               "true");
    snprintf(build, BUILD, "%.0f", transport_number(t, 0, "build"));
}

/* The row of the only cluster with that label. */
static uint64_t row_of(transport *t, const char *label)
{
    for (uint64_t i = 0; i < t->n_rows; i++)
        if (gf_slice_equal(transport_text(t, i, "label"), gf_slice_str(label))) return i;
    fail_msg("no row for %s", label);
    return 0;
}

/* doc1 and doc2 are of "general", doc3 to doc5 of "macbeth", doc6 and doc7 of "caesar". */
static void rows(void **state)
{
    (void)state;
    transport t;
    char first[BUILD], second[BUILD];
    transport_open(&t);
    library_mid(&t, false);
    rebuild(&t, "3", first);
    assert_run(&t, "delete", "collection", "mid", "id", "doc6", "id", "doc7");
    transport_put(&t, "mid",
                  "{\"id\":\"doc5\",\"text\":\"general\"}\n{\"id\":\"a\",\"text\":\"hamlet\"}\n"
                  "{\"id\":\"b\",\"text\":\"hamlet hamlet\"}\n");
    rebuild(&t, "3", second);
    assert_run(&t, "diff", "collection", "mid");
    assert_int_equal(t.n_rows, 4);
    assert_string_equal(transport_members(&t, 0),
                        "change cluster label size_before size stayed came left added removed");
    assert_slice(transport_text(&t, 0, "change"), "gone");
    assert_slice(transport_text(&t, 0, "label"), "caesar");
    assert_int_equal(transport_number(&t, 0, "size_before"), 2);
    assert_int_equal(transport_number(&t, 0, "removed"), 2);
    assert_slice(transport_text(&t, 1, "change"), "new");
    assert_slice(transport_text(&t, 1, "label"), "hamlet");
    assert_int_equal(transport_number(&t, 1, "added"), 2);
    uint64_t general = row_of(&t, "general"), macbeth = row_of(&t, "macbeth");
    assert_slice(transport_text(&t, general, "change"), "continued");
    assert_int_equal(transport_number(&t, general, "came"), 1);
    assert_int_equal(transport_number(&t, general, "stayed"), 2);
    assert_int_equal(transport_length(&t, general, "merged"), 2);
    assert_slice(gf_json_get_string(transport_item(&t, general, "merged", 1, "label")), "macbeth");
    assert_int_equal(transport_number(&t, macbeth, "left"), 1);
    assert_int_equal(transport_number(&t, macbeth, "size"), 2);
    assert_int_equal(transport_length(&t, macbeth, "split"), 2);
    assert_run(&t, "diff", "collection", "mid", "docs", "true");
    assert_int_equal(t.n_rows, 1);
    assert_string_equal(transport_members(&t, 0), "id from from_label to to_label");
    assert_slice(transport_text(&t, 0, "id"), "doc5");
    assert_slice(transport_text(&t, 0, "from_label"), "macbeth");
    assert_slice(transport_text(&t, 0, "to_label"), "general");
    transport_close(&t);
}

static void which_builds(void **state)
{
    (void)state;
    transport t;
    char build[3][BUILD];
    transport_open(&t);
    library_mid(&t, false);
    assert_refused(GF_ENOTFOUND, "no collection", &t, "diff", "collection", "mud");
    assert_refused(GF_ENOTFOUND, "has not been rebuilt", &t, "diff", "collection", "mid");
    assert_run(&t, "config set", "collection", "mid", "set", "keep=3");
    rebuild(&t, "1", build[0]);
    assert_refused(GF_ENOTFOUND, "nothing to compare", &t, "diff", "collection", "mid");
    assert_refused(GF_ENOTFOUND, "there is no build 1 ", &t, "diff", "collection", "mid", "from",
                   "1");
    rebuild(&t, "2", build[1]);
    rebuild(&t, "3", build[2]);

    /* From 2 clusters to 3, from 1 to 3, from 1 to 2, and back. */
    assert_run(&t, "diff", "collection", "mid");
    uint64_t latest = t.n_rows;
    assert_run(&t, "diff", "collection", "mid", "from", build[1], "to", build[2]);
    assert_int_equal(t.n_rows, latest);
    assert_run(&t, "diff", "collection", "mid", "from", build[0]);
    assert_int_equal(transport_number(&t, t.n_rows - 1, "size_before"), 7);
    assert_run(&t, "diff", "collection", "mid", "to", build[1]);
    assert_int_equal(transport_number(&t, t.n_rows - 1, "size_before"), 7);
    assert_run(&t, "diff", "collection", "mid", "from", build[1], "to", build[0]);
    assert_int_equal(transport_number(&t, t.n_rows - 1, "size"), 7);
    assert_refused(GF_ENOTFOUND, "nothing to compare", &t, "diff", "collection", "mid", "to",
                   build[0]);
    assert_run(&t, "diff", "collection", "mid", "from", build[1], "to", build[1], "docs", "true");
    assert_int_equal(t.n_rows, 0);
    transport_close(&t);
}

static void what_ends_it(void **state)
{
    (void)state;
    transport t;
    char build[BUILD];
    transport_open(&t);
    library_mid(&t, true);
    rebuild(&t, "2", build);
    t.emit_fails_at = 2;
    assert_refused(GF_EIO, "nobody takes the rows", &t, "diff", "collection", "mid");
    t.emit_fails_at = 0;
    t.cancel_at = 1;
    assert_refused(GF_ECANCELLED, "", &t, "diff", "collection", "mid");
    assert_int_equal(t.n_rows, 1);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows), cmocka_unit_test(which_builds),
                                       cmocka_unit_test(what_ends_it)};
    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
