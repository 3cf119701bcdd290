/* Batches in turns: all are written, in order, and a failure is told. */
#include "storage/write_behind.h"
#include "tests/storage/given.h"

/* Each of many batches sets one cell anew, and one of its own: the last one's stays. */
static void all_is_written_in_order(void **state)
{
    enum { BATCHES = 101 };
    for (int n = 0; n < BATCHES; n += 1 + n / 3) {
        given g = given_begin(state, &given_students);
        gf_write_behind w;
        gf_error err;
        gf_buffer all = {0};
        gf_write_behind_begin(&w, g.db, g.batch);
        for (int i = 0; i <= n; i++) {
            char number[16], name[24];
            snprintf(number, sizeof number, "%d", i);
            snprintf(name, sizeof name, "c%03d", i);
            gf_batch_put(w.batch, g.t, KEY("s1"), INFO, S("age"), gf_slice_str(number), 0);
            gf_batch_put(w.batch, g.t, KEY("s1"), COURSE, gf_slice_str(name), S("1"), 0);
            gf_buffer_format(&all, " 2.%s=1", name);
            if (i < n) assert_ok(gf_write_behind_next(&w, &err));
            if (i < n) assert_int_equal(gf_batch_changes(w.batch), 0);
        }
        assert_ok(gf_write_behind_end(&w, GF_OK, &err));
        assert_int_equal(gf_batch_changes(g.batch), n % 2 ? 0 : 2); /* the owner's is the owner's */
        given_write_batch(&g);
        gf_buffer row = {0};
        gf_buffer_format(&row, "0.age=%d", n);
        gf_buffer_slice(&row, gf_buffer_view(&all));
        gf_buffer_byte(&row, '\0');
        given_row_is(&g, NULL, "s1", GF_ALL_FAMILIES, gf_buffer_view(&row).ptr);
        gf_buffer_release(&row);
        gf_buffer_release(&all);
        given_end(&g);
    }
}

/* A batch with one change of that row was handed over. */
static given begin_with(void **state, gf_write_behind *w, gf_slice row)
{
    gf_error err;
    given g = given_begin(state, &given_students);
    gf_write_behind_begin(w, g.db, g.batch);
    gf_batch_put(w->batch, g.t, row, INFO, S("age"), S("1"), 0);
    assert_ok(gf_write_behind_next(w, &err));
    return g;
}

static void a_failure_is_told(void **state)
{
    gf_write_behind w;
    gf_error err;
    given g = begin_with(state, &w, S("no key"));
    gf_batch_put(w.batch, g.t, KEY("s1"), INFO, S("age"), S("2"), 0);
    assert_status(GF_EINVAL, gf_write_behind_next(&w, &err));
    assert_string_equal(err.message, "not a row key of table students");
    assert_status(GF_EINVAL, gf_write_behind_end(&w, GF_EINVAL, NULL));
    given_scan_is(&g, &GF_SCAN_OPTIONS(.family = INFO), ""); /* nor what came behind it */
    given_end(&g);
}

static void waiting_is_until_it_is_written(void **state)
{
    gf_write_behind w;
    gf_error err;
    given g = begin_with(state, &w, KEY("s1"));
    assert_ok(gf_write_behind_wait(&w, &err));
    given_scan_is(&g, &GF_SCAN_OPTIONS(.family = INFO), "s1:age=1");
    assert_ok(gf_write_behind_end(&w, GF_OK, &err));
    given_end(&g);
}

static void a_failure_is_told_at_the_end(void **state)
{
    gf_write_behind w;
    gf_error err;
    given g = begin_with(state, &w, S("no key"));
    assert_status(GF_EINVAL, gf_write_behind_end(&w, GF_OK, &err));
    assert_string_equal(err.message, "not a row key of table students");
    given_end(&g);
}

/* Filling has failed: what was handed over is written, what was not is dropped. */
static void what_was_filled_in_vain_is_dropped(void **state)
{
    gf_write_behind w;
    gf_error err;
    given g = begin_with(state, &w, KEY("s1"));
    gf_batch_put(w.batch, g.t, KEY("s2"), INFO, S("age"), S("2"), 0);
    assert_status(GF_ECANCELLED, gf_write_behind_end(&w, GF_ECANCELLED, &err));
    given_scan_is(&g, &GF_SCAN_OPTIONS(.family = INFO), "s1:age=1");
    given_end(&g);
}

static int run(const char *name, make_database *make)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(all_is_written_in_order),
        ON_BOTH(a_failure_is_told),
        ON_BOTH(waiting_is_until_it_is_written),
        ON_BOTH(a_failure_is_told_at_the_end),
        ON_BOTH(what_was_filled_in_vain_is_dropped),
    };
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    return run("write_behind over the model", gf_test_model) +
           run("write_behind over LevelDB", gf_test_leveldb);
}
