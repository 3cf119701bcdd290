/* Versions of cells, and cells with a time to live. */
#include "tests/storage/given.h"

#include "base/clock.h"

/* Up to `versions` of a cell's versions as "value@time ..." */
static void versions_are(given *g, unsigned family, const char *qualifier, uint32_t versions,
                         const char *want)
{
    gf_buffer text = {0};
    gf_status st =
        gf_table_get_cell(g->t, NULL, KEY("r"), family, S(qualifier), versions, &g->row, &g->err);
    if (st != GF_OK && st != GF_ENOTFOUND) fail_msg("%s", g->err.message);
    for (size_t i = 0; i < g->row.n_cells; i++)
        gf_buffer_format(&text, "%s%.*s@%lld", i ? " " : "", GF_SLICE_ARG(g->row.cells[i].value),
                         (long long)g->row.cells[i].timestamp);
    assert_string_equal(gf_buffer_cstr(&text), want);
    gf_buffer_release(&text);
}

static void the_newest_versions_stay(void **state)
{
    given g = given_begin(state, &given_students); /* two versions are kept */
    for (unsigned f = HISTORY; f <= EVENTS; f++) {
        given_put(&g, "r", f, "q", "b", 20);
        given_put(&g, "r", f, "q", "a", 10);
        versions_are(&g, f, "q", 1, "b@20");
        versions_are(&g, f, "q", 9, "b@20 a@10");
        given_put(&g, "r", f, "q", "c", 30);
        versions_are(&g, f, "q", 9, "c@30 b@20");
        given_put(&g, "r", f, "q", "too old", 15);
        versions_are(&g, f, "q", 9, "c@30 b@20");
        given_put(&g, "r", f, "q", "B", 20);
        versions_are(&g, f, "q", 9, "c@30 B@20");
        given_put(&g, "r", f, "q", "before 1970", -5);
        versions_are(&g, f, "q", 9, "c@30 B@20");
        for (int64_t t = 40; t < 44; t++)
            gf_batch_put(g.batch, g.t, KEY("r"), f, S("q"), S("batch"), t);
        given_write_batch(&g);
        versions_are(&g, f, "q", 9, "batch@43 batch@42");
        gf_batch_delete_cell(g.batch, g.t, KEY("r"), f, S("q"));
        given_write_batch(&g);
        versions_are(&g, f, "q", 9, "");
        given_scan_is(&g, &GF_SCAN_OPTIONS(.family = f), "");
        given_put(&g, "r", f, "q", "x", -20);
        given_put(&g, "r", f, "q", "y", -10);
        versions_are(&g, f, "q", 9, "y@-10 x@-20");
        gf_batch_delete_row(g.batch, g.t, KEY("r"), GF_ALL_FAMILIES);
        gf_batch_put(g.batch, g.t, KEY("r"), f, S("q"), S("z"), -30);
        given_write_batch(&g);
        versions_are(&g, f, "q", 9, "z@-30");
    }
    given_end(&g);
}

/* A put without a time is the newest, whatever the clock says. */
static void a_put_without_a_time_is_the_newest(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    int64_t future = gf_clock_ms() + 1000000, sum;
    for (unsigned f = HISTORY; f <= EVENTS; f++) {
        given_put(&g, "r", f, "n", "1", future);
        given_put(&g, "r", f, "n", "2", 0);
        gf_buffer want = {0};
        gf_buffer_format(&want, "2@%lld 1@%lld", (long long)future + 1, (long long)future);
        versions_are(&g, f, "n", 9, gf_buffer_cstr(&want));
        assert_ok(gf_table_increment(g.t, KEY("r"), f, S("n"), 40, GF_SYNC_OFF, &sum, &err));
        given_is(&g, "r", f, "n", "42");
        given_put(&g, "r", f, "n", "7", INT64_MAX);
        given_put(&g, "r", f, "n", "8", 0);
        given_is(&g, "r", f, "n", "8");
        gf_batch_delete_row(g.batch, g.t, KEY("r"), GF_ALL_FAMILIES);
        for (int i = 0; i < 5; i++) {
            gf_batch_put(g.batch, g.t, KEY("r"), f, S("n"), S("one time"), 0);
            gf_batch_put(g.batch, g.t, KEY("r"), f, S("m"), S("one time"), 0);
        }
        given_write_batch(&g);
        assert_ok(gf_table_get_cell(g.t, NULL, KEY("r"), f, S("n"), 9, &g.row, &err));
        assert_int_equal(g.row.n_cells, 1);
        assert_in_range(g.row.cells[0].timestamp, gf_clock_ms() - 60000, gf_clock_ms());
        gf_buffer_release(&want);
    }
    given_end(&g);
}

/* A packed family's versions are those of the row, each with all columns of its time. */
static void a_packed_version_is_the_row_at_its_time(void **state)
{
    given g = given_begin(state, &given_students);
    given_put(&g, "r", HISTORY, "a", "1", 10);
    given_put(&g, "r", HISTORY, "b", "1", 20);
    given_row_is(&g, NULL, "r", 1u << HISTORY, "3.a=1@20 3.b=1@20");
    versions_are(&g, HISTORY, "b", 9, "1@20");
    given_put(&g, "r", HISTORY, "c", "2", 20);
    given_put(&g, "r", HISTORY, "d", "2", 10);
    given_row_is(&g, NULL, "r", 1u << HISTORY, "3.a=1@20 3.b=1@20 3.c=2@20");
    versions_are(&g, HISTORY, "a", 9, "1@20 1@10");
    versions_are(&g, HISTORY, "d", 9, "2@10");
    const gf_column only[] = {{S("b"), S("3")}};
    gf_batch_replace(g.batch, g.t, KEY("r"), HISTORY, only, 1, 30);
    given_write_batch(&g);
    given_row_is(&g, NULL, "r", 1u << HISTORY, "3.b=3@30");
    versions_are(&g, HISTORY, "a", 9, "1@20");
    gf_batch_delete_cell(g.batch, g.t, KEY("r"), HISTORY, S("b"));
    given_write_batch(&g); /* the newest has none left: what was replaced does not come back */
    given_row_is(&g, NULL, "r", 1u << HISTORY, "");
    versions_are(&g, HISTORY, "a", 9, "");
    given_end(&g);
}

static void cells_past_their_time_are_absent(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    int64_t now = gf_clock_ms(), old = now - 3700000, fresh = now - 3500000, sum;
    given_put(&g, "r", SHORT_LIVED, "old", "1", old);
    given_put(&g, "r", SHORT_LIVED, "ancient", "1", INT64_MIN);
    given_put(&g, "r", SHORT_LIVED, "fresh", "1", fresh);
    given_put(&g, "r", SHORT_LIVED, "now", "1", 0);
    given_put(&g, "r", SHORT_LIVED, "future", "1", now + 1000000);
    given_is(&g, "r", SHORT_LIVED, "old", NULL);
    given_is(&g, "r", SHORT_LIVED, "ancient", NULL);
    given_is(&g, "r", SHORT_LIVED, "fresh", "1");
    given_is(&g, "r", SHORT_LIVED, "now", "1");
    gf_scan_options all = GF_SCAN_OPTIONS(.family = SHORT_LIVED),
                    keys = GF_SCAN_OPTIONS(.family = SHORT_LIVED, .keys_only = true);
    given_scan_is(&g, &all, "r:fresh=1 r:future=1 r:now=1");
    given_scan_is(&g, &keys, "r:fresh= r:future= r:now=");
    all.reverse = true;
    given_scan_is(&g, &all, "r:now=1 r:future=1 r:fresh=1");
    assert_ok(gf_table_increment(g.t, KEY("r"), SHORT_LIVED, S("old"), 5, GF_SYNC_OFF, &sum, &err));
    assert_int_equal(sum, 5); /* what is past counts as absent, and this put is of now */
    given_is(&g, "r", SHORT_LIVED, "old", "5");
    given_put(&g, "r", SHORT_LIVED, "fresh", "2",
              old); /* one version: the last put stays, and is past */
    given_is(&g, "r", SHORT_LIVED, "fresh", NULL);
    gf_batch_put(g.batch, g.t, KEY("r"), BRIEF, S("past"), S("1"), old);
    gf_batch_put(g.batch, g.t, KEY("r"), BRIEF, S("q"), S("1"), fresh);
    given_write_batch(&g); /* nothing is carried over from a version that is past */
    given_is(&g, "r", BRIEF, "past", NULL);
    given_is(&g, "r", BRIEF, "q", "1");
    gf_batch_put(g.batch, g.t, KEY("r"), SHORT_LIVED, S("fresh"), S("3"), 0);
    assert_ok(gf_batch_write_if(g.batch, g.t, KEY("r"), SHORT_LIVED, S("fresh"), NULL, GF_SYNC_OFF,
                                &err));
    given_is(&g, "r", SHORT_LIVED, "fresh", "3");
    given_end(&g);
}

static int run(const char *name, make_database *make)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(the_newest_versions_stay),
        ON_BOTH(a_put_without_a_time_is_the_newest),
        ON_BOTH(a_packed_version_is_the_row_at_its_time),
        ON_BOTH(cells_past_their_time_are_absent),
    };
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    return run("table_versions over the model", gf_test_model) +
           run("table_versions over LevelDB", gf_test_leveldb);
}
