/* Batches of changes, of one row and of several tables, conditional writes and increments. */
#include "tests/storage/given.h"

/* A batch of several changes of one row comes to what the same changes come to one by one. */
static void changes_of_one_row_follow_each_other(void **state)
{
    given g = given_begin(state, &given_students);
    gf_slice s1 = KEY("s1");
    given_put(&g, "s1", INFO, "age", "1", 0);
    given_put(&g, "s1", COURSE, "old", "1", 0);
    gf_batch_put(g.batch, g.t, s1, COURSE, S("gone"), S("1"), 0);
    gf_batch_put(g.batch, g.t, s1, INFO, S("name"), S("x"), 0);
    gf_batch_delete_row(g.batch, g.t, s1, 1u << COURSE);
    gf_batch_put(g.batch, g.t, s1, COURSE, S("c"), S("1"), 0);
    gf_batch_put(g.batch, g.t, s1, COURSE, S("c"), S("2"), 0);
    gf_batch_put(g.batch, g.t, s1, COURSE, S("b"), S("1"), 0);
    gf_batch_delete_cell(g.batch, g.t, s1, COURSE, S("b"));
    gf_batch_put(g.batch, g.t, s1, INFO, S("sex"), S("f"), 0);
    gf_batch_delete_cell(g.batch, g.t, s1, INFO, S("name"));
    assert_int_equal(gf_batch_changes(g.batch), 9);
    assert_true(gf_batch_bytes(g.batch) > 0);
    given_write_batch(&g);
    assert_int_equal(gf_batch_changes(g.batch), 0);
    given_row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "0.age=1 0.sex=f 2.c=2");
    gf_batch_delete_row(g.batch, g.t, s1, GF_ALL_FAMILIES);
    gf_batch_put(g.batch, g.t, s1, INFO, S("name"), S("new"), 0);
    gf_batch_delete_row(g.batch, g.t, s1, 1u << COURSE);
    given_write_batch(&g);
    given_row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "0.name=new");
    given_end(&g);
}

static void changes_that_were_cut_off_are_not_written(void **state)
{
    given g = given_begin(state, &given_students);
    gf_batch_put(g.batch, g.t, KEY("s1"), INFO, S("name"), S("x"), 0);
    gf_batch_put(g.batch, g.t, KEY("s1"), INFO, S("age"), S("1"), 0);
    gf_batch_put(g.batch, g.t, KEY("s2"), INFO, S("name"), S("y"), 0);
    gf_batch_cut(g.batch, 1);
    assert_int_equal(gf_batch_changes(g.batch), 1);
    gf_batch_put(g.batch, g.t, KEY("s2"), INFO, S("age"), S("2"), 0);
    given_write_batch(&g);
    given_scan_is(&g, &GF_SCAN_OPTIONS(.family = INFO), "s1:name=x s2:age=2");
    given_end(&g);
}

static void a_failed_batch_writes_nothing(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    gf_batch_put(g.batch, g.t, KEY("s1"), INFO, S("name"), S("x"), 0);
    gf_batch_put(g.batch, g.t, S("no key"), INFO, S("name"), S("x"), 0);
    gf_batch_put(g.batch, g.t, KEY("s2"), 9, S("name"), S("x"), 0);
    assert_status(GF_EINVAL, gf_batch_write(g.batch, GF_SYNC_OFF, &err));
    assert_string_equal(err.message, "not a row key of table students"); /* the first failure */
    given_scan_is(&g, &GF_SCAN_OPTIONS(.family = INFO), "");
    gf_batch_put(g.batch, g.t, KEY("s1"), INFO, S("name"), S("x"), 0); /* emptied, and usable */
    given_write_batch(&g);
    given_write_batch(&g); /* nothing to write */
    given_scan_is(&g, &GF_SCAN_OPTIONS(.family = INFO), "s1:name=x");
    given_end(&g);
}

/* SYSTEMS C.2: both sides of an enrolment in one batch over two tables. */
static void a_batch_covers_several_tables(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    gf_table *courses;
    gf_schema schema = given_students;
    schema.name = "courses";
    assert_ok(gf_table_open(g.db, &schema, &courses, &err));
    assert_true(gf_database_capabilities(g.db) & GF_BACKEND_BATCH);
    gf_batch_put(g.batch, g.t, KEY("s1"), COURSE, S("c9"), S("major"), 0);
    gf_batch_put(g.batch, courses, KEY("c9"), COURSE, S("s1"), S("major"), 0);
    given_write_batch(&g);
    gf_test_cell_is(courses, NULL, KEY("c9"), COURSE, "s1", "major");
    given_is(&g, "s1", COURSE, "c9", "major");
    gf_test_cell_is(courses, NULL, KEY("s1"), COURSE, "c9", NULL); /* the tables do not mix */
    gf_batch_delete_cell(g.batch, g.t, KEY("s1"), COURSE, S("c9"));
    gf_batch_delete_cell(g.batch, courses, KEY("c9"), COURSE, S("s1"));
    given_write_batch(&g);
    gf_test_cell_is(courses, NULL, KEY("c9"), COURSE, "s1", NULL);
    given_is(&g, "s1", COURSE, "c9", NULL);
    given_end(&g);
}

static void writes_only_where_the_condition_holds(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    gf_slice one = S("1"), two = S("2"), empty = S("");
    const struct {
        unsigned family;
        const gf_slice *expected;
        const char *value;
        gf_status status;
    } steps[] = {
        {INFO, &one, "x", GF_ECONFLICT}, {INFO, NULL, "1", GF_OK},
        {INFO, NULL, "x", GF_ECONFLICT}, {INFO, &two, "x", GF_ECONFLICT},
        {INFO, &one, "2", GF_OK},        {COURSE, &empty, "x", GF_ECONFLICT},
        {COURSE, NULL, "", GF_OK},       {COURSE, NULL, "x", GF_ECONFLICT},
        {COURSE, &empty, "2", GF_OK},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        gf_slice name = S("name");
        gf_batch_put(g.batch, g.t, KEY("s1"), steps[i].family, name, S(steps[i].value), 0);
        gf_batch_put(g.batch, g.t, KEY("s2"), COURSE, S("too"), S(steps[i].value), 0);
        assert_status(steps[i].status,
                      gf_batch_write_if(g.batch, g.t, KEY("s1"), steps[i].family, name,
                                        steps[i].expected, GF_SYNC_OFF, &err));
        given_is(&g, "s2", COURSE, "too", i ? i < 4 ? "1" : i < 6 ? "2" : i < 8 ? "" : "2" : NULL);
    }
    given_row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "0.name=2 2.name=2");
    given_end(&g);
}

static void increments(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    int64_t sum = 0;
    for (unsigned f = INFO; f <= COURSE; f += COURSE) {
        assert_ok(gf_table_increment(g.t, KEY("s1"), f, S("n"), 5, GF_SYNC_OFF, &sum, &err));
        assert_int_equal(sum, 5);
        assert_ok(gf_table_increment(g.t, KEY("s1"), f, S("n"), -7, GF_SYNC_ON, &sum, &err));
        assert_int_equal(sum, -2);
        given_is(&g, "s1", f, "n", "-2");
        given_put(&g, "s1", f, "n", "9223372036854775807", 0);
        assert_status(GF_ELIMIT,
                      gf_table_increment(g.t, KEY("s1"), f, S("n"), 1, GF_SYNC_OFF, &sum, &err));
        assert_ok(gf_table_increment(g.t, KEY("s1"), f, S("n"), -1, GF_SYNC_OFF, &sum, &err));
        given_put(&g, "s1", f, "n", "-9223372036854775808", 0);
        assert_ok(gf_table_increment(g.t, KEY("s1"), f, S("n"), 0, GF_SYNC_OFF, &sum, &err));
        assert_true(sum == INT64_MIN);
        static const char *const zeros[] = {"0",   "00",   "-0",
                                            "007", "-007", "-00000000000000000007"};
        static const int64_t more[] = {1, 1, 1, 8, -6, -6};
        for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
            given_put(&g, "s1", f, "n", zeros[i], 0);
            assert_ok(gf_table_increment(g.t, KEY("s1"), f, S("n"), 1, GF_SYNC_OFF, &sum, &err));
            assert_int_equal(sum, more[i]);
        }
        sum = 99;
        static const gf_slice bad[] = {{"", 0},     {"-", 1},   {"1x", 2},
                                       {" 1", 2},   {"+1", 2},  {"1\0", 2},
                                       {"0x10", 4}, {"1.5", 3}, {"9223372036854775808", 19}};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            assert_ok(gf_test_put(g.db, g.t, KEY("s1"), f, "n", bad[i], 0, &err));
            assert_status(GF_EINVAL, gf_table_increment(g.t, KEY("s1"), f, S("n"), 1, GF_SYNC_OFF,
                                                        &sum, &err));
        }
        assert_int_equal(sum, 99);
        gf_batch_delete_row(g.batch, g.t, KEY("s1"), GF_ALL_FAMILIES);
        given_write_batch(&g);
    }
    given_end(&g);
}

static int run(const char *name, make_database *make)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(changes_of_one_row_follow_each_other),
        ON_BOTH(changes_that_were_cut_off_are_not_written),
        ON_BOTH(a_failed_batch_writes_nothing),
        ON_BOTH(a_batch_covers_several_tables),
        ON_BOTH(writes_only_where_the_condition_holds),
        ON_BOTH(increments),
    };
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    return run("table_batches over the model", gf_test_model) +
           run("table_batches over LevelDB", gf_test_leveldb);
}
