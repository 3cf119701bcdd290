/* delete: by ids given and by ids read. */
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

#include "base/random.h"

static void assert_counts(transport *t, double asked, double deleted, double absent)
{
    assert_int_equal(t->n_rows, 1);
    assert_string_equal(transport_members(t, 0), "collection asked deleted absent");
    assert_true(transport_number(t, 0, "asked") == asked);
    assert_true(transport_number(t, 0, "deleted") == deleted);
    assert_true(transport_number(t, 0, "absent") == absent);
    assert_int_equal(t->outcome, absent > 0 ? GF_OUTCOME_SOME_ABSENT : GF_OUTCOME_DONE);
}

static void by_arguments(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "delete", "collection", "mid", "id", "doc1", "id", "doc3");
    assert_counts(&t, 2, 2, 0);
    assert_run(&t, "delete", "collection", "mid", "id", "doc1", "id", "doc2", "id", "doc1,doc2");
    assert_counts(&t, 3, 1, 2);
    assert_run(&t, "collection show", "collection", "mid");
    assert_int_equal(transport_number(&t, 0, "size"), 4);
    /* Gone from the build that is served, too. */
    assert_run(&t, "export", "collection", "mid");
    assert_int_equal(t.n_rows, 4);
    assert_run(&t, "cluster", "collection", "mid", "cluster", "label:macbeth");
    assert_int_equal(transport_number(&t, 0, "size"), 2);
    assert_refused(GF_EINVAL, "delete needs ids", &t, "delete", "collection", "mid");
    assert_refused(GF_ENOTFOUND, "did you mean \"mid\"", &t, "delete", "collection", "mud", "id",
                   "doc4");
    assert_refused(GF_EINVAL, "id is empty", &t, "delete", "collection", "mid", "id", "");
    transport_close(&t);
}

/* By time and fields; a dry run only counts. */
static void by_choice(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "delete", "collection", "mid", "where", "play=caesar", "dry-run", "true");
    assert_string_equal(transport_members(&t, 0), "collection asked deleted absent would_delete");
    assert_true(transport_number(&t, 0, "would_delete") == 2);
    assert_true(transport_number(&t, 0, "deleted") == 0);
    assert_run(&t, "delete", "collection", "mid", "id", "doc1", "id", "doc9", "dry-run", "true");
    assert_true(transport_number(&t, 0, "would_delete") == 1);
    assert_true(transport_number(&t, 0, "absent") == 1);
    assert_run(&t, "collection show", "collection", "mid");
    assert_int_equal(transport_number(&t, 0, "size"), 7);
    assert_run(&t, "delete", "collection", "mid", "where", "play=caesar");
    assert_counts(&t, 2, 2, 0);
    assert_run(&t, "delete", "collection", "mid", "where", "play!=macbeth", "where", "lang=en");
    assert_counts(&t, 1, 1, 0); /* doc2 */
    assert_run(&t, "delete", "collection", "mid", "before", "1d");
    assert_counts(&t, 1, 1, 0); /* doc1, the only one that has a time */
    assert_run(&t, "delete", "collection", "mid", "before", "2020-01-01");
    assert_counts(&t, 0, 0, 0);
    assert_refused(GF_EINVAL, "before: \"soon\"", &t, "delete", "collection", "mid", "before",
                   "soon");
    assert_refused(GF_EINVAL, "\"play\" is not field=value", &t, "delete", "collection", "mid",
                   "where", "play");
    assert_refused(GF_EINVAL, "either ids, or", &t, "delete", "collection", "mid", "where", "a=b",
                   "id", "doc3");
    transport_close(&t);
}

static void purges(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "delete", "collection", "mid", "id", "doc6", "id", "doc7", "purge", "true");
    assert_string_equal(transport_members(&t, 0),
                        "collection asked deleted absent purged rebuilt dropped");
    assert_true(transport_number(&t, 0, "rebuilt") == 1);
    assert_true(transport_number(&t, 0, "dropped") == 1);
    assert_run(&t, "builds", "collection", "mid");
    assert_int_equal(t.n_rows, 1);
    assert_run(&t, "delete", "collection", "mid", "purge", "true");
    assert_true(transport_number(&t, 0, "rebuilt") == 0);
    assert_run(&t, "collection delete", "collection", "mid", "purge", "true");
    transport_close_store(&t);
    assert_run(&t, "verify");
    assert_true(transport_number(&t, 0, "faults") == 0);
    transport_close(&t);
}

/* As many ids as a command line holds, in time that grows with their number alone. */
static void many_arguments(void **state)
{
    (void)state;
    enum { MANY = 100000, WIDTH = 8 };
    static char ids[MANY][WIDTH];
    static gf_argument arguments[MANY + 1];
    transport t;
    gf_error err;
    gf_buffer lines = {0};
    transport_open(&t);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(ids[i], WIDTH, "%zu", i);
        arguments[i] = (gf_argument){GF_SLICE("id"), gf_slice_str(ids[i])};
        if (i % 100 == 0) gf_buffer_format(&lines, "{\"id\":\"%zu\",\"text\":\"t\"}\n", i);
    }
    arguments[MANY] = (gf_argument){GF_SLICE("collection"), GF_SLICE("c")};
    transport_put(&t, "c", gf_buffer_cstr(&lines));
    assert_ok(transport_run_with(&t, "delete", arguments, MANY + 1, &err));
    assert_counts(&t, MANY, MANY / 100, MANY - MANY / 100);
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* Lines with CR, without the last LF, empty, too long, and not UTF-8. */
static void by_lines(void **state)
{
    (void)state;
    transport t;
    gf_buffer lines = {0};
    transport_open(&t);
    library_mid(&t, false);
    gf_buffer_str(&lines, "\xEF\xBB\xBF"
                          "doc1\r\n\r\n\ndoc2\n");
    for (int i = 0; i < 5000; i++)
        gf_buffer_byte(&lines, 'x');
    gf_buffer_str(&lines, "\n\xFF\xFE\ndoc9\ndoc3");
    transport_input(&t, "ids", gf_buffer_view(&lines));
    transport_input(&t, "more", GF_SLICE("doc4\n"));
    assert_run(&t, "delete", "collection", "mid");
    assert_counts(&t, 7, 4, 3);
    transport_input(&t, "ids", GF_SLICE(""));
    assert_run(&t, "delete", "collection", "mid");
    assert_counts(&t, 0, 0, 0);
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* An id of 1,024 bytes is one; of 1,025 none can be, with or without CR behind it. */
static void longest_ids(void **state)
{
    (void)state;
    transport t;
    gf_buffer line = {0};
    transport_open(&t);
    for (int more = 0; more < 2; more++) {
        gf_buffer_reset(&line);
        gf_buffer_str(&line, "{\"id\":\"");
        for (int i = 0; i < GF_MAX_ID; i++)
            gf_buffer_byte(&line, 'x');
        gf_buffer_str(&line, "\",\"text\":\"t\"}\n");
        transport_put(&t, "c", gf_buffer_cstr(&line));
        gf_buffer_reset(&line);
        for (int i = 0; i < GF_MAX_ID + more; i++)
            gf_buffer_byte(&line, 'x');
        gf_buffer_str(&line, "\r\n");
        transport_input(&t, "ids", gf_buffer_view(&line));
        assert_run(&t, "delete", "collection", "c");
        assert_counts(&t, 1, 1 - more, more);
    }
    gf_buffer_release(&line);
    transport_close(&t);
}

static void cut_short(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, false);
    transport_input(&t, "ids", GF_SLICE("doc1\ndoc2\ndo"));
    t.read_fails = GF_EIO;
    assert_refused(GF_EIO, "reading failed", &t, "delete", "collection", "mid");
    t.read_fails = GF_OK;
    assert_int_equal(transport_number(&t, 0, "asked"), 2);
    assert_int_equal(transport_number(&t, 0, "deleted"), 2);
    /* A read that fails with "not found" is no end of the input. */
    transport_input(&t, "ids", GF_SLICE("doc3\n"));
    t.read_fails = GF_ENOTFOUND;
    assert_refused(GF_ENOTFOUND, "reading failed", &t, "delete", "collection", "mid");
    t.read_fails = GF_OK;
    t.emit_fails_at = 1;
    assert_refused(GF_EIO, "nobody takes", &t, "delete", "collection", "mid", "id", "doc5");
    t.emit_fails_at = 0;
    assert_run(&t, "collection show", "collection", "mid");
    assert_int_equal(transport_number(&t, 0, "size"), 3);
    transport_close(&t);
}

/* Against a model: ids there and not there, given in random order and more than once. */
static void random_deletes(void **state)
{
    (void)state;
    enum { IDS = 400 };
    transport t;
    bool there[IDS];
    gf_buffer lines = {0};
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    transport_open(&t);
    for (int i = 0; i < IDS; i++) {
        there[i] = gf_random_below(&r, 2);
        if (there[i]) gf_buffer_format(&lines, "{\"id\":\"%d\",\"text\":\"t\"}\n", i);
    }
    transport_put(&t, "c", gf_buffer_cstr(&lines));
    for (int round = 0; round < 4; round++) {
        int deleted = 0, absent = 0;
        gf_buffer_reset(&lines);
        for (int k = 0; k < 300; k++) {
            int i = (int)gf_random_below(&r, IDS);
            gf_buffer_format(&lines, "%d\n", i);
            deleted += there[i];
            absent += !there[i];
            there[i] = false;
        }
        transport_input(&t, "ids", gf_buffer_view(&lines));
        assert_run(&t, "delete", "collection", "c");
        assert_counts(&t, 300, deleted, absent);
    }
    gf_buffer_release(&lines);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_arguments), cmocka_unit_test(by_choice),
        cmocka_unit_test(purges),       cmocka_unit_test(many_arguments),
        cmocka_unit_test(by_lines),     cmocka_unit_test(longest_ids),
        cmocka_unit_test(cut_short),    cmocka_unit_test(random_deletes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
