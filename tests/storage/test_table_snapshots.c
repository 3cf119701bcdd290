/* A snapshot and a scan see one state. */
#include "tests/storage/given.h"

static void snapshots_do_not_change(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    gf_snapshot *before, *after;
    given_put(&g, "a", INFO, "name", "1", 0);
    given_put(&g, "a", COURSE, "c", "1", 0);
    given_put(&g, "b", COURSE, "c", "1", 0);
    assert_ok(gf_snapshot_create(g.db, &before, &err));
    given_put(&g, "a", INFO, "name", "2", 0);
    given_put(&g, "c", COURSE, "c", "2", 0);
    gf_batch_delete_row(g.batch, g.t, KEY("b"), GF_ALL_FAMILIES);
    given_write_batch(&g);
    assert_ok(gf_snapshot_create(g.db, &after, &err));
    gf_batch_delete_row(g.batch, g.t, KEY("a"), GF_ALL_FAMILIES);
    given_write_batch(&g);
    given_row_is(&g, before, "a", GF_ALL_FAMILIES, "0.name=1 2.c=1");
    given_row_is(&g, after, "a", GF_ALL_FAMILIES, "0.name=2 2.c=1");
    given_row_is(&g, NULL, "a", GF_ALL_FAMILIES, "");
    gf_test_cell_is(g.t, before, KEY("b"), COURSE, "c", "1");
    gf_test_cell_is(g.t, after, KEY("b"), COURSE, "c", NULL);
    given_scan_is(&g, &GF_SCAN_OPTIONS(.snapshot = before, .family = COURSE), "a:c=1 b:c=1");
    given_scan_is(&g, &GF_SCAN_OPTIONS(.snapshot = after, .family = COURSE), "a:c=1 c:c=2");
    gf_snapshot_free(before);
    given_scan_is(&g, &GF_SCAN_OPTIONS(.snapshot = after, .family = COURSE), "a:c=1 c:c=2");
    gf_snapshot_free(after);
    gf_snapshot_free(NULL);
    given_end(&g);
}

/* A scan without a snapshot sees the state in which it began. */
static void a_scan_sees_one_state(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    gf_scan *scan;
    given_put(&g, "a", COURSE, "c", "1", 0);
    given_put(&g, "b", COURSE, "c", "1", 0);
    assert_ok(gf_scan_open(g.t, &GF_SCAN_OPTIONS(.family = COURSE), &scan, &err));
    given_put(&g, "aa", COURSE, "c", "2", 0);
    given_put(&g, "b", COURSE, "c", "2", 0);
    assert_ok(gf_scan_next(scan, &g.row, &err));
    assert_ok(gf_scan_next(scan, &g.row, &err));
    assert_slice(g.row.cells[0].value, "1");
    assert_status(GF_ENOTFOUND, gf_scan_next(scan, &g.row, &err));
    gf_scan_close(scan);
    gf_scan_close(NULL);
    given_end(&g);
}

static int run(const char *name, make_database *make)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(snapshots_do_not_change),
        ON_BOTH(a_scan_sees_one_state),
    };
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    return run("table_snapshots over the model", gf_test_model) +
           run("table_snapshots over LevelDB", gf_test_leveldb);
}
