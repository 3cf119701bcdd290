/*
 * What tables promise, shown on both backends: every test gets a function that makes a database.
 */
#include "storage/store.h"

#include "base/clock.h"

#include <string.h>

typedef gf_database *make_database(void);

/* ---- two tables that the tests use ------------------------------------------------------------
 */

static const gf_key_part one_string[] = {{"id", GF_PART_STRING, 0}};
static const gf_key_part two_strings[] = {{"collection", GF_PART_STRING, 0},
                                          {"id", GF_PART_STRING, 0}};
static const char *const info_columns[] = {"name", "age", "sex", NULL};
static const char *const other_columns[] = {"mime", NULL};

enum { INFO, OTHER, COURSE, HISTORY, EVENTS, SHORT_LIVED, BRIEF };
static const gf_family families[] = {
    [INFO] = {"info", GF_PACKED, 1, 0, GF_PLAIN, info_columns},
    [OTHER] = {"other", GF_PACKED, 1, 0, GF_SNAPPY, other_columns},
    [COURSE] = {"course", GF_WIDE, 1, 0, GF_PLAIN, NULL},
    [HISTORY] = {"history", GF_PACKED, 2, 0, GF_PLAIN, NULL},
    [EVENTS] = {"events", GF_WIDE, 2, 0, GF_PLAIN, NULL},
    [SHORT_LIVED] = {"short", GF_WIDE, 1, 3600, GF_PLAIN, NULL},
    [BRIEF] = {"brief", GF_PACKED, 2, 3600, GF_PLAIN, NULL},
};
static const gf_schema students = {"students", one_string, 1, families, 7};
static const gf_schema documents = {"documents", two_strings, 2, families, 3};

/* What each test starts with, made anew. */
typedef struct given {
    gf_database *db;
    gf_table *t;
    gf_batch *batch;
    gf_row row;
    gf_error err;
} given;

static given begin(void **state, const gf_schema *schema)
{
    given g = {.db = (*(make_database **)state)()};
    gf_error err;
    assert_ok(gf_table_open(g.db, schema, &g.t, &err));
    assert_ok(gf_batch_create(g.db, &g.batch, &err));
    return g;
}

static void end(given *g)
{
    gf_row_release(&g->row);
    gf_batch_free(g->batch);
    gf_database_close(g->db);
}

#define KEY(text) gf_test_key(text)
#define S(text)   gf_slice_str(text)

static void put(given *g, const char *row, unsigned family, const char *qualifier,
                const char *value, int64_t timestamp)
{
    gf_error err;
    assert_ok(gf_test_put(g->db, g->t, KEY(row), family, qualifier, S(value), timestamp, &err));
}

static void is(given *g, const char *row, unsigned family, const char *qualifier, const char *want)
{
    gf_test_cell_is(g->t, NULL, KEY(row), family, qualifier, want);
}

static void write_batch(given *g)
{
    gf_error err;
    assert_ok(gf_batch_write(g->batch, GF_NO_SYNC, &err));
}

/* All cells of families of a row as "family.qualifier=value@time ..." */
static void row_is(given *g, const gf_snapshot *snapshot, const char *row, uint32_t wanted,
                   const char *want)
{
    gf_buffer text = {0};
    gf_status st = gf_table_get(g->t, snapshot, KEY(row), wanted, &g->row, &g->err);
    if (st != GF_OK && st != GF_ENOTFOUND) fail_msg("%s", g->err.message);
    for (size_t i = 0; i < g->row.n_cells; i++) {
        const gf_cell *c = &g->row.cells[i];
        gf_buffer_format(&text, "%s%u.%.*s=%.*s", i ? " " : "", c->family,
                         GF_SLICE_ARG(c->qualifier), GF_SLICE_ARG(c->value));
        if (c->timestamp) gf_buffer_format(&text, "@%lld", (long long)c->timestamp);
    }
    assert_string_equal(gf_buffer_cstr(&text), want);
    assert_int_equal(st, *want ? GF_OK : GF_ENOTFOUND);
    gf_buffer_release(&text);
}

/* The entries of a scan as "key:qualifier=value,... " with the key's parts joined by '/'. */
static void scan_is(given *g, const gf_scan_options *options, const char *want)
{
    gf_scan *scan;
    gf_buffer text = {0}, part = {0};
    gf_error err;
    gf_status st;
    assert_ok(gf_scan_open(g->t, options, &scan, &err));
    while ((st = gf_scan_next(scan, &g->row, &err)) == GF_OK) {
        if (text.len) gf_buffer_byte(&text, ' ');
        gf_slice rest = g->row.key;
        for (int i = 0; rest.len; i++) {
            gf_buffer_reset(&part);
            assert_true(gf_key_take_string(&rest, &part));
            gf_buffer_format(&text, "%s%.*s", i ? "/" : "", (int)part.len,
                             part.ptr ? part.ptr : "");
        }
        for (size_t i = 0; i < g->row.n_cells; i++)
            gf_buffer_format(&text, "%s%.*s=%.*s", i ? "," : ":",
                             GF_SLICE_ARG(g->row.cells[i].qualifier),
                             GF_SLICE_ARG(g->row.cells[i].value));
    }
    if (st != GF_ENOTFOUND) fail_msg("%s", err.message);
    assert_status(GF_ENOTFOUND, gf_scan_next(scan, &g->row, &err)); /* again the same */
    assert_int_equal(g->row.n_cells, 0);
    gf_scan_close(scan);
    assert_string_equal(gf_buffer_cstr(&text), want);
    gf_buffer_release(&text);
    gf_buffer_release(&part);
}

/* ---- cells ------------------------------------------------------------------------------------
 */

static void a_second_put_replaces(void **state)
{
    given g = begin(state, &students);
    put(&g, "s1", INFO, "name", "Ann", 0);
    put(&g, "s1", COURSE, "c9", "major", 0);
    put(&g, "s1", INFO, "name", "Anna", 0);
    put(&g, "s1", COURSE, "c9", "minor", 0);
    row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "0.name=Anna 2.c9=minor");
    end(&g);
}

static void an_empty_cell_differs_from_an_absent_one(void **state)
{
    given g = begin(state, &students);
    put(&g, "s1", INFO, "name", "", 0);
    put(&g, "s1", COURSE, "", "", 0);
    is(&g, "s1", INFO, "name", "");
    is(&g, "s1", INFO, "age", NULL);
    is(&g, "s1", COURSE, "", "");
    is(&g, "s1", COURSE, "c", NULL);
    is(&g, "s2", INFO, "name", NULL);
    row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "0.name= 2.=");
    end(&g);
}

static void packed_columns_stay_or_are_replaced(void **state)
{
    given g = begin(state, &students);
    put(&g, "s1", INFO, "zeta", "z", 0);
    put(&g, "s1", INFO, "age", "20", 0);
    put(&g, "s1", INFO, "alpha", "a", 0);
    put(&g, "s1", INFO, "name", "Ann", 0);
    row_is(&g, NULL, "s1", 1u << INFO, "0.name=Ann 0.age=20 0.alpha=a 0.zeta=z");
    const gf_column columns[] = {
        {S("sex"), S("f")}, {S("beta"), S("1")}, {S("name"), S("B")}, {S("beta"), S("2")}};
    gf_batch_replace(g.batch, g.t, KEY("s1"), INFO, columns, 4, 0);
    write_batch(&g);
    row_is(&g, NULL, "s1", 1u << INFO, "0.name=B 0.sex=f 0.beta=2");
    gf_batch_delete_cell(g.batch, g.t, KEY("s1"), INFO, S("name"));
    gf_batch_delete_cell(g.batch, g.t, KEY("s1"), INFO, S("no-such"));
    write_batch(&g);
    row_is(&g, NULL, "s1", 1u << INFO, "0.sex=f 0.beta=2");
    gf_batch_replace(g.batch, g.t, KEY("s1"), INFO, NULL, 0, 0);
    write_batch(&g);
    row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "");
    scan_is(&g, &(gf_scan_options){.family = INFO}, "");
    end(&g);
}

static void the_last_column_takes_the_row_along(void **state)
{
    given g = begin(state, &students);
    put(&g, "s1", INFO, "name", "Ann", 0);
    gf_batch_delete_cell(g.batch, g.t, KEY("s1"), INFO, S("name"));
    write_batch(&g);
    row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "");
    scan_is(&g, &(gf_scan_options){.family = INFO}, "");
    end(&g);
}

static void rows_are_deleted_by_family(void **state)
{
    given g = begin(state, &students);
    for (const char *row = "a\0b\0c\0"; *row; row += 2) {
        put(&g, row, INFO, "name", "n", 0);
        put(&g, row, COURSE, "c1", "x", 0);
        put(&g, row, COURSE, "c2", "y", 0);
    }
    gf_batch_delete_row(g.batch, g.t, KEY("b"), 1u << COURSE);
    gf_batch_delete_row(g.batch, g.t, KEY("c"), GF_ALL_FAMILIES);
    write_batch(&g);
    row_is(&g, NULL, "a", GF_ALL_FAMILIES, "0.name=n 2.c1=x 2.c2=y");
    row_is(&g, NULL, "b", GF_ALL_FAMILIES, "0.name=n");
    row_is(&g, NULL, "c", GF_ALL_FAMILIES, "");
    end(&g);
}

static void one_column_name_is_in_one_family(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    assert_status(GF_EINVAL, gf_test_put(g.db, g.t, KEY("s1"), OTHER, "name", S("x"), 0, &err));
    assert_string_equal(err.message,
                        "table students: column name belongs to family info, not other");
    const gf_column columns[] = {{S("mime"), S("x")}, {S("age"), S("x")}};
    gf_batch_replace(g.batch, g.t, KEY("s1"), OTHER, columns, 2, 0);
    assert_status(GF_EINVAL, gf_batch_write(g.batch, GF_NO_SYNC, &err));
    gf_batch_delete_cell(g.batch, g.t, KEY("s1"), OTHER, S("sex"));
    assert_status(GF_EINVAL, gf_batch_write(g.batch, GF_NO_SYNC, &err));
    int64_t sum;
    assert_status(GF_EINVAL,
                  gf_table_increment(g.t, KEY("s1"), OTHER, S("age"), 1, GF_NO_SYNC, &sum, &err));
    assert_status(GF_EINVAL,
                  gf_table_get_cell(g.t, NULL, KEY("s1"), OTHER, S("age"), 1, &g.row, &err));
    assert_status(GF_EINVAL, gf_batch_write_if(g.batch, g.t, KEY("s1"), OTHER, S("age"), NULL,
                                               GF_NO_SYNC, &err));
    put(&g, "s1", COURSE, "name", "a wide family's qualifiers are data", 0);
    row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "2.name=a wide family's qualifiers are data");
    end(&g);
}

static void unknown_families_and_bad_keys_are_refused(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    unsigned f = 77;
    assert_status(GF_EINVAL, gf_test_put(g.db, g.t, KEY("s1"), 7, "q", S("v"), 0, &err));
    assert_string_equal(err.message, "table students has no family number 7");
    assert_status(GF_EINVAL, gf_table_family(g.t, "nothing", &f, &err));
    assert_string_equal(err.message, "table students has no family nothing");
    assert_int_equal(f, 77);
    assert_ok(gf_table_family(g.t, "events", &f, &err));
    assert_int_equal(f, EVENTS);
    const gf_slice bad[] = {S(""), S("s1"), gf_test_key2(S("a"), S("b"))};
    for (size_t i = 0; i < 3; i++) {
        assert_status(GF_EINVAL, gf_test_put(g.db, g.t, bad[i], INFO, "q", S("v"), 0, &err));
        assert_status(GF_EINVAL, gf_table_get(g.t, NULL, bad[i], 1, &g.row, &err));
        gf_batch_delete_row(g.batch, g.t, bad[i], 1);
        assert_status(GF_EINVAL, gf_batch_write(g.batch, GF_NO_SYNC, &err));
    }
    gf_batch_replace(g.batch, g.t, KEY("s1"), COURSE, NULL, 0, 0);
    assert_status(GF_EINVAL, gf_batch_write(g.batch, GF_NO_SYNC, &err));
    assert_string_equal(err.message, "table students: family course is not packed");
    for (unsigned i = 0; i < 7; i++)
        scan_is(&g, &(gf_scan_options){.family = i}, "");
    end(&g);
}

static void what_is_too_long_is_refused(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    gf_buffer key = {0}, long_key = {0};
    for (int i = 0; i < GF_MAX_KEY - 2; i++)
        gf_buffer_byte(&key, 'k');
    gf_key_string(&long_key, gf_buffer_view(&key));
    gf_slice row = gf_buffer_view(&long_key);
    assert_int_equal(row.len, GF_MAX_KEY);
    assert_ok(gf_test_put(g.db, g.t, row, INFO, "name", S("v"), 0, &err));
    assert_ok(gf_table_get(g.t, NULL, row, 1, &g.row, &err));
    gf_buffer_byte(&key, 'k');
    gf_buffer_reset(&long_key);
    gf_key_string(&long_key, gf_buffer_view(&key));
    row = gf_buffer_view(&long_key);
    assert_status(GF_ELIMIT, gf_test_put(g.db, g.t, row, INFO, "name", S("v"), 0, &err));
    gf_slice qualifier = gf_slice_of(row.ptr, GF_MAX_KEY + 1);
    gf_batch_put(g.batch, g.t, KEY("a"), COURSE, qualifier, S("v"), 0);
    assert_status(GF_ELIMIT, gf_batch_write(g.batch, GF_NO_SYNC, &err));
    gf_slice value = gf_slice_of("", (size_t)GF_MAX_VALUE + 1); /* refused before it is read */
    assert_status(GF_ELIMIT, gf_test_put(g.db, g.t, KEY("a"), COURSE, "q", value, 0, &err));
    gf_column column = {S("mime"), value};
    gf_batch_replace(g.batch, g.t, KEY("a"), OTHER, &column, 1, 0);
    assert_status(GF_ELIMIT, gf_batch_write(g.batch, GF_NO_SYNC, &err));
    gf_buffer_release(&key);
    gf_buffer_release(&long_key);
    end(&g);
}

/* ---- batches ----------------------------------------------------------------------------------
 */

/* A batch of several changes of one row comes to what the same changes come to one by one. */
static void changes_of_one_row_follow_each_other(void **state)
{
    given g = begin(state, &students);
    gf_slice s1 = KEY("s1");
    put(&g, "s1", INFO, "age", "1", 0);
    put(&g, "s1", COURSE, "old", "1", 0);
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
    write_batch(&g);
    assert_int_equal(gf_batch_changes(g.batch), 0);
    row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "0.age=1 0.sex=f 2.c=2");
    gf_batch_delete_row(g.batch, g.t, s1, GF_ALL_FAMILIES);
    gf_batch_put(g.batch, g.t, s1, INFO, S("name"), S("new"), 0);
    gf_batch_delete_row(g.batch, g.t, s1, 1u << COURSE);
    write_batch(&g);
    row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "0.name=new");
    end(&g);
}

static void a_failed_batch_writes_nothing(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    gf_batch_put(g.batch, g.t, KEY("s1"), INFO, S("name"), S("x"), 0);
    gf_batch_put(g.batch, g.t, S("no key"), INFO, S("name"), S("x"), 0);
    gf_batch_put(g.batch, g.t, KEY("s2"), 9, S("name"), S("x"), 0);
    assert_status(GF_EINVAL, gf_batch_write(g.batch, GF_NO_SYNC, &err));
    assert_string_equal(err.message, "not a row key of table students"); /* the first failure */
    scan_is(&g, &(gf_scan_options){.family = INFO}, "");
    gf_batch_put(g.batch, g.t, KEY("s1"), INFO, S("name"), S("x"), 0); /* emptied, and usable */
    write_batch(&g);
    write_batch(&g); /* nothing to write */
    scan_is(&g, &(gf_scan_options){.family = INFO}, "s1:name=x");
    end(&g);
}

/* SYSTEMS C.2: both sides of an enrolment in one batch over two tables. */
static void a_batch_covers_several_tables(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    gf_table *courses;
    gf_schema schema = students;
    schema.name = "courses";
    assert_ok(gf_table_open(g.db, &schema, &courses, &err));
    assert_true(gf_database_capabilities(g.db) & GF_BACKEND_BATCH);
    gf_batch_put(g.batch, g.t, KEY("s1"), COURSE, S("c9"), S("major"), 0);
    gf_batch_put(g.batch, courses, KEY("c9"), COURSE, S("s1"), S("major"), 0);
    write_batch(&g);
    gf_test_cell_is(courses, NULL, KEY("c9"), COURSE, "s1", "major");
    is(&g, "s1", COURSE, "c9", "major");
    gf_test_cell_is(courses, NULL, KEY("s1"), COURSE, "c9", NULL); /* the tables do not mix */
    gf_batch_delete_cell(g.batch, g.t, KEY("s1"), COURSE, S("c9"));
    gf_batch_delete_cell(g.batch, courses, KEY("c9"), COURSE, S("s1"));
    write_batch(&g);
    gf_test_cell_is(courses, NULL, KEY("c9"), COURSE, "s1", NULL);
    is(&g, "s1", COURSE, "c9", NULL);
    end(&g);
}

static void writes_only_where_the_condition_holds(void **state)
{
    given g = begin(state, &students);
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
                                        steps[i].expected, GF_NO_SYNC, &err));
        is(&g, "s2", COURSE, "too", i ? i < 4 ? "1" : i < 6 ? "2" : i < 8 ? "" : "2" : NULL);
    }
    row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "0.name=2 2.name=2");
    end(&g);
}

static void increments(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    int64_t sum = 0;
    for (unsigned f = INFO; f <= COURSE; f += COURSE) {
        assert_ok(gf_table_increment(g.t, KEY("s1"), f, S("n"), 5, GF_NO_SYNC, &sum, &err));
        assert_int_equal(sum, 5);
        assert_ok(gf_table_increment(g.t, KEY("s1"), f, S("n"), -7, GF_SYNC, &sum, &err));
        assert_int_equal(sum, -2);
        is(&g, "s1", f, "n", "-2");
        put(&g, "s1", f, "n", "9223372036854775807", 0);
        assert_status(GF_ELIMIT,
                      gf_table_increment(g.t, KEY("s1"), f, S("n"), 1, GF_NO_SYNC, &sum, &err));
        assert_ok(gf_table_increment(g.t, KEY("s1"), f, S("n"), -1, GF_NO_SYNC, &sum, &err));
        put(&g, "s1", f, "n", "-9223372036854775808", 0);
        assert_ok(gf_table_increment(g.t, KEY("s1"), f, S("n"), 0, GF_NO_SYNC, &sum, &err));
        assert_true(sum == INT64_MIN);
        sum = 99;
        static const gf_slice bad[] = {{"", 0},     {"-", 1},   {"1x", 2},
                                       {" 1", 2},   {"+1", 2},  {"1\0", 2},
                                       {"0x10", 4}, {"1.5", 3}, {"9223372036854775808", 19}};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            assert_ok(gf_test_put(g.db, g.t, KEY("s1"), f, "n", bad[i], 0, &err));
            assert_status(GF_EINVAL,
                          gf_table_increment(g.t, KEY("s1"), f, S("n"), 1, GF_NO_SYNC, &sum, &err));
        }
        assert_int_equal(sum, 99);
        gf_batch_delete_row(g.batch, g.t, KEY("s1"), GF_ALL_FAMILIES);
        write_batch(&g);
    }
    end(&g);
}

/* ---- versions and time to live ----------------------------------------------------------------
 */

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
    given g = begin(state, &students); /* two versions are kept */
    for (unsigned f = HISTORY; f <= EVENTS; f++) {
        put(&g, "r", f, "q", "b", 20);
        put(&g, "r", f, "q", "a", 10);
        versions_are(&g, f, "q", 1, "b@20");
        versions_are(&g, f, "q", 9, "b@20 a@10");
        put(&g, "r", f, "q", "c", 30);
        versions_are(&g, f, "q", 9, "c@30 b@20");
        put(&g, "r", f, "q", "too old", 15);
        versions_are(&g, f, "q", 9, "c@30 b@20");
        put(&g, "r", f, "q", "B", 20);
        versions_are(&g, f, "q", 9, "c@30 B@20");
        put(&g, "r", f, "q", "before 1970", -5);
        versions_are(&g, f, "q", 9, "c@30 B@20");
        for (int64_t t = 40; t < 44; t++)
            gf_batch_put(g.batch, g.t, KEY("r"), f, S("q"), S("batch"), t);
        write_batch(&g);
        versions_are(&g, f, "q", 9, "batch@43 batch@42");
        gf_batch_delete_cell(g.batch, g.t, KEY("r"), f, S("q"));
        write_batch(&g);
        versions_are(&g, f, "q", 9, "");
        scan_is(&g, &(gf_scan_options){.family = f}, "");
        put(&g, "r", f, "q", "x", -20);
        put(&g, "r", f, "q", "y", -10);
        versions_are(&g, f, "q", 9, "y@-10 x@-20");
        gf_batch_delete_row(g.batch, g.t, KEY("r"), GF_ALL_FAMILIES);
        gf_batch_put(g.batch, g.t, KEY("r"), f, S("q"), S("z"), -30);
        write_batch(&g);
        versions_are(&g, f, "q", 9, "z@-30");
    }
    end(&g);
}

/* A put without a time is the newest, whatever the clock says. */
static void a_put_without_a_time_is_the_newest(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    int64_t future = gf_clock_ms() + 1000000, sum;
    for (unsigned f = HISTORY; f <= EVENTS; f++) {
        put(&g, "r", f, "n", "1", future);
        put(&g, "r", f, "n", "2", 0);
        gf_buffer want = {0};
        gf_buffer_format(&want, "2@%lld 1@%lld", (long long)future + 1, (long long)future);
        versions_are(&g, f, "n", 9, gf_buffer_cstr(&want));
        assert_ok(gf_table_increment(g.t, KEY("r"), f, S("n"), 40, GF_NO_SYNC, &sum, &err));
        is(&g, "r", f, "n", "42");
        put(&g, "r", f, "n", "7", INT64_MAX);
        put(&g, "r", f, "n", "8", 0);
        is(&g, "r", f, "n", "8");
        gf_batch_delete_row(g.batch, g.t, KEY("r"), GF_ALL_FAMILIES);
        for (int i = 0; i < 5; i++) {
            gf_batch_put(g.batch, g.t, KEY("r"), f, S("n"), S("one time"), 0);
            gf_batch_put(g.batch, g.t, KEY("r"), f, S("m"), S("one time"), 0);
        }
        write_batch(&g);
        assert_ok(gf_table_get_cell(g.t, NULL, KEY("r"), f, S("n"), 9, &g.row, &err));
        assert_int_equal(g.row.n_cells, 1);
        assert_in_range(g.row.cells[0].timestamp, gf_clock_ms() - 60000, gf_clock_ms());
        gf_buffer_release(&want);
    }
    end(&g);
}

/* A packed family's versions are those of the row, each with all columns of its time. */
static void a_packed_version_is_the_row_at_its_time(void **state)
{
    given g = begin(state, &students);
    put(&g, "r", HISTORY, "a", "1", 10);
    put(&g, "r", HISTORY, "b", "1", 20);
    row_is(&g, NULL, "r", 1u << HISTORY, "3.a=1@20 3.b=1@20");
    versions_are(&g, HISTORY, "b", 9, "1@20");
    put(&g, "r", HISTORY, "c", "2", 20);
    put(&g, "r", HISTORY, "d", "2", 10);
    row_is(&g, NULL, "r", 1u << HISTORY, "3.a=1@20 3.b=1@20 3.c=2@20");
    versions_are(&g, HISTORY, "a", 9, "1@20 1@10");
    versions_are(&g, HISTORY, "d", 9, "2@10");
    const gf_column only[] = {{S("b"), S("3")}};
    gf_batch_replace(g.batch, g.t, KEY("r"), HISTORY, only, 1, 30);
    write_batch(&g);
    row_is(&g, NULL, "r", 1u << HISTORY, "3.b=3@30");
    versions_are(&g, HISTORY, "a", 9, "1@20");
    gf_batch_delete_cell(g.batch, g.t, KEY("r"), HISTORY, S("b"));
    write_batch(&g); /* the newest has none left: what was replaced does not come back */
    row_is(&g, NULL, "r", 1u << HISTORY, "");
    versions_are(&g, HISTORY, "a", 9, "");
    end(&g);
}

static void cells_past_their_time_are_absent(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    int64_t now = gf_clock_ms(), old = now - 3700000, fresh = now - 3500000, sum;
    put(&g, "r", SHORT_LIVED, "old", "1", old);
    put(&g, "r", SHORT_LIVED, "ancient", "1", INT64_MIN);
    put(&g, "r", SHORT_LIVED, "fresh", "1", fresh);
    put(&g, "r", SHORT_LIVED, "now", "1", 0);
    put(&g, "r", SHORT_LIVED, "future", "1", now + 1000000);
    is(&g, "r", SHORT_LIVED, "old", NULL);
    is(&g, "r", SHORT_LIVED, "ancient", NULL);
    is(&g, "r", SHORT_LIVED, "fresh", "1");
    is(&g, "r", SHORT_LIVED, "now", "1");
    gf_scan_options all = {.family = SHORT_LIVED},
                    keys = {.family = SHORT_LIVED, .keys_only = true};
    scan_is(&g, &all, "r:fresh=1 r:future=1 r:now=1");
    scan_is(&g, &keys, "r:fresh= r:future= r:now=");
    all.reverse = true;
    scan_is(&g, &all, "r:now=1 r:future=1 r:fresh=1");
    assert_ok(gf_table_increment(g.t, KEY("r"), SHORT_LIVED, S("old"), 5, GF_NO_SYNC, &sum, &err));
    assert_int_equal(sum, 5); /* what is past counts as absent, and this put is of now */
    is(&g, "r", SHORT_LIVED, "old", "5");
    put(&g, "r", SHORT_LIVED, "fresh", "2", old); /* one version: the last put stays, and is past */
    is(&g, "r", SHORT_LIVED, "fresh", NULL);
    gf_batch_put(g.batch, g.t, KEY("r"), BRIEF, S("past"), S("1"), old);
    gf_batch_put(g.batch, g.t, KEY("r"), BRIEF, S("q"), S("1"), fresh);
    write_batch(&g); /* nothing is carried over from a version that is past */
    is(&g, "r", BRIEF, "past", NULL);
    is(&g, "r", BRIEF, "q", "1");
    gf_batch_put(g.batch, g.t, KEY("r"), SHORT_LIVED, S("fresh"), S("3"), 0);
    assert_ok(
        gf_batch_write_if(g.batch, g.t, KEY("r"), SHORT_LIVED, S("fresh"), NULL, GF_NO_SYNC, &err));
    is(&g, "r", SHORT_LIVED, "fresh", "3");
    end(&g);
}

/* ---- snapshots --------------------------------------------------------------------------------
 */

static void snapshots_do_not_change(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    gf_snapshot *before, *after;
    put(&g, "a", INFO, "name", "1", 0);
    put(&g, "a", COURSE, "c", "1", 0);
    put(&g, "b", COURSE, "c", "1", 0);
    assert_ok(gf_snapshot_create(g.db, &before, &err));
    put(&g, "a", INFO, "name", "2", 0);
    put(&g, "c", COURSE, "c", "2", 0);
    gf_batch_delete_row(g.batch, g.t, KEY("b"), GF_ALL_FAMILIES);
    write_batch(&g);
    assert_ok(gf_snapshot_create(g.db, &after, &err));
    gf_batch_delete_row(g.batch, g.t, KEY("a"), GF_ALL_FAMILIES);
    write_batch(&g);
    row_is(&g, before, "a", GF_ALL_FAMILIES, "0.name=1 2.c=1");
    row_is(&g, after, "a", GF_ALL_FAMILIES, "0.name=2 2.c=1");
    row_is(&g, NULL, "a", GF_ALL_FAMILIES, "");
    gf_test_cell_is(g.t, before, KEY("b"), COURSE, "c", "1");
    gf_test_cell_is(g.t, after, KEY("b"), COURSE, "c", NULL);
    scan_is(&g, &(gf_scan_options){.snapshot = before, .family = COURSE}, "a:c=1 b:c=1");
    scan_is(&g, &(gf_scan_options){.snapshot = after, .family = COURSE}, "a:c=1 c:c=2");
    gf_snapshot_free(before);
    scan_is(&g, &(gf_scan_options){.snapshot = after, .family = COURSE}, "a:c=1 c:c=2");
    gf_snapshot_free(after);
    gf_snapshot_free(NULL);
    end(&g);
}

/* A scan without a snapshot sees the state in which it began. */
static void a_scan_sees_one_state(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    gf_scan *scan;
    put(&g, "a", COURSE, "c", "1", 0);
    put(&g, "b", COURSE, "c", "1", 0);
    assert_ok(gf_scan_open(g.t, &(gf_scan_options){.family = COURSE}, &scan, &err));
    put(&g, "aa", COURSE, "c", "2", 0);
    put(&g, "b", COURSE, "c", "2", 0);
    assert_ok(gf_scan_next(scan, &g.row, &err));
    assert_ok(gf_scan_next(scan, &g.row, &err));
    assert_slice(g.row.cells[0].value, "1");
    assert_status(GF_ENOTFOUND, gf_scan_next(scan, &g.row, &err));
    gf_scan_close(scan);
    gf_scan_close(NULL);
    end(&g);
}

/* ---- scans ------------------------------------------------------------------------------------
 */

static gf_slice document(const char *collection, const char *id)
{
    return gf_test_key2(S(collection), S(id));
}

static gf_slice collection(const char *name)
{
    return gf_test_key(name);
}

static given begin_documents(void **state)
{
    given g = begin(state, &documents);
    static const char *const rows[][2] = {{"ck", "1"},  {"ck", "2"},  {"ck", "3"}, {"ck2", "1"},
                                          {"ck/", "1"}, {"a", "b/c"}, {"a/b", "c"}};
    for (size_t i = 0; i < 7; i++) {
        gf_slice key = document(rows[i][0], rows[i][1]);
        gf_batch_put(g.batch, g.t, key, INFO, S("name"), S("n"), 0);
        gf_batch_put(g.batch, g.t, key, COURSE, S("x"), S("1"), 0);
        gf_batch_put(g.batch, g.t, key, COURSE, S("xy"), S("2"), 0);
        gf_batch_put(g.batch, g.t, key, COURSE, S("y"), S("3"), 0);
    }
    write_batch(&g);
    return g;
}

static void a_prefix_is_a_collection(void **state)
{
    given g = begin_documents(state);
    gf_scan_options o = {.family = INFO, .prefix = collection("ck")};
    scan_is(&g, &o, "ck/1:name=n ck/2:name=n ck/3:name=n");
    o.reverse = true;
    scan_is(&g, &o, "ck/3:name=n ck/2:name=n ck/1:name=n");
    o.limit = 2;
    scan_is(&g, &o, "ck/3:name=n ck/2:name=n");
    o = (gf_scan_options){.family = INFO, .keys_only = true};
    scan_is(&g, &o, "a/b/c a/b/c ck/1 ck/2 ck/3 ck//1 ck2/1");
    gf_buffer start = {0};
    gf_key_string_start(&start, S("ck"));
    o.prefix = gf_buffer_view(&start);
    scan_is(&g, &o, "ck/1 ck/2 ck/3 ck//1 ck2/1");
    o.prefix = collection("no");
    scan_is(&g, &o, "");
    gf_buffer_release(&start);
    end(&g);
}

static void a_range_has_its_start_and_not_its_end(void **state)
{
    given g = begin_documents(state);
    gf_scan_options o = {.family = INFO, .keys_only = true, .start = document("ck", "2")};
    scan_is(&g, &o, "ck/2 ck/3 ck//1 ck2/1");
    o.end = document("ck/", "1");
    scan_is(&g, &o, "ck/2 ck/3");
    o.reverse = true;
    scan_is(&g, &o, "ck/3 ck/2");
    o.prefix = collection("ck");
    o.end = document("zz", "z");
    scan_is(&g, &o, "ck/3 ck/2");
    o.start = document("ck", "4");
    scan_is(&g, &o, "");
    o.start = document("ck", "3");
    o.end = document("ck", "1"); /* nothing is between */
    scan_is(&g, &o, "");
    o.reverse = false;
    scan_is(&g, &o, "");
    o = (gf_scan_options){.family = COURSE, .start = document("ck", "3"), .limit = 4};
    scan_is(&g, &o, "ck/3:x=1 ck/3:xy=2 ck/3:y=3 ck//1:x=1");
    end(&g);
}

static void a_row_is_walked_by_qualifier(void **state)
{
    given g = begin_documents(state);
    gf_scan_options o = {.family = COURSE, .prefix = document("ck", "2")};
    scan_is(&g, &o, "ck/2:x=1 ck/2:xy=2 ck/2:y=3");
    o.qualifier_prefix = S("x");
    scan_is(&g, &o, "ck/2:x=1 ck/2:xy=2");
    o.reverse = true;
    scan_is(&g, &o, "ck/2:xy=2 ck/2:x=1");
    o.after_qualifier = S("xy");
    scan_is(&g, &o, "ck/2:x=1");
    o.reverse = false;
    o.after_qualifier = S("x");
    scan_is(&g, &o, "ck/2:xy=2");
    o.qualifier_prefix = S("");
    scan_is(&g, &o, "ck/2:xy=2 ck/2:y=3");
    o.after_qualifier = S("");
    scan_is(&g, &o, "ck/2:x=1 ck/2:xy=2 ck/2:y=3");
    o.reverse = true;
    scan_is(&g, &o, "");
    o.after_qualifier = S("xx"); /* need not be there */
    scan_is(&g, &o, "ck/2:x=1");
    end(&g);
}

static void bad_ranges_are_refused(void **state)
{
    given g = begin_documents(state);
    gf_error err;
    gf_scan *scan = NULL;
    char beyond[64];
    gf_slice row = document("ck", "1");
    memcpy(beyond, row.ptr, row.len);
    memcpy(beyond + row.len, "x", 1);
    gf_slice past = gf_slice_of(beyond, row.len + 1);
    const gf_scan_options bad[] = {
        {.family = 3},
        {.family = INFO, .prefix = past},
        {.family = COURSE, .start = past},
        {.family = COURSE, .end = past},
        {.family = COURSE, .qualifier_prefix = S("x")},
        {.family = COURSE, .prefix = collection("ck"), .after_qualifier = S("x")},
        {.family = INFO, .prefix = row, .after_qualifier = S("")},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_status(GF_EINVAL, gf_scan_open(g.t, &bad[i], &scan, &err));
    assert_null(scan);
    end(&g);
}

/* ---- long values ------------------------------------------------------------------------------
 */

static void fill(gf_buffer *b, size_t n, char c)
{
    gf_buffer_reset(b);
    for (size_t i = 0; i < n; i++)
        gf_buffer_byte(b, (char)(c + (char)(i * i % 97 % 23)));
}

static void long_values_come_back_whole(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    gf_buffer value = {0};
    static const size_t sizes[] = {300000, 65535, 65536, 65537, 0, 131072, 200000, 10};
    static const unsigned kinds[] = {INFO, OTHER, COURSE, HISTORY, EVENTS};
    static const char *const rows[] = {"a", "b", "c"};
    for (size_t i = 0; i < 8; i++) {
        for (size_t f = 0; f < 5; f++) {
            for (int r = 0; r < 3; r++) {
                fill(&value, sizes[(i + (size_t)r) % 8], (char)('a' + r));
                assert_ok(gf_test_put(g.db, g.t, KEY(rows[r]), kinds[f], "q",
                                      gf_buffer_view(&value), 7, &err));
            }
            gf_batch_put(g.batch, g.t, KEY("b"), kinds[f], S("p"), S("small"), 7);
            write_batch(&g);
            for (int reverse = 0; reverse < 2; reverse++) {
                gf_scan *scan;
                gf_scan_options o = {.family = kinds[f], .reverse = reverse};
                size_t entries = 0;
                assert_ok(gf_scan_open(g.t, &o, &scan, &err));
                while (gf_scan_next(scan, &g.row, &err) == GF_OK) {
                    const gf_cell *cell = gf_row_find(&g.row, kinds[f], "q");
                    entries++;
                    if (!cell) continue;
                    int r = g.row.key.ptr[0] - 'a';
                    fill(&value, sizes[(i + (size_t)r) % 8], (char)('a' + r));
                    assert_true(gf_slice_equal(cell->value, gf_buffer_view(&value)));
                }
                assert_int_equal(entries, families[kinds[f]].layout == GF_WIDE ? 4 : 3);
                gf_scan_close(scan);
            }
            fill(&value, sizes[i], 'a');
            gf_slice q = S("q");
            assert_ok(gf_table_get_cell(g.t, NULL, KEY("a"), kinds[f], q, 1, &g.row, &err));
            assert_true(gf_slice_equal(g.row.cells[0].value, gf_buffer_view(&value)));
        }
    }
    for (int r = 0; r < 3; r++)
        gf_batch_delete_row(g.batch, g.t, KEY(rows[r]), GF_ALL_FAMILIES);
    write_batch(&g);
    for (unsigned f = 0; f < 7; f++)
        scan_is(&g, &(gf_scan_options){.family = f}, "");
    gf_buffer_release(&value);
    end(&g);
}

/* ---- tables in use get more -------------------------------------------------------------------
 */

static void a_table_in_use_gets_further_families(void **state)
{
    given g = begin(state, &documents);
    gf_error err;
    gf_row row = {0};
    gf_slice key = document("c", "1");
    gf_batch_put(g.batch, g.t, key, INFO, S("size"), S("12"), 0);
    gf_batch_put(g.batch, g.t, key, INFO, S("name"), S("n"), 0);
    write_batch(&g);
    static const char *const more_columns[] = {"name", "age", "sex", "size", NULL};
    static const char *const new_columns[] = {"quality", NULL};
    gf_family more[4];
    memcpy(more, families, 3 * sizeof *more);
    more[0].columns = more_columns;
    more[3] = (gf_family){"grobid1", GF_PACKED, 1, 0, GF_SNAPPY, new_columns};
    gf_schema longer = documents;
    longer.families = more;
    longer.n_families = 4;
    gf_table *again;
    assert_status(GF_EINVAL, gf_test_put(g.db, g.t, key, 3, "quality", S("good"), 0, &err));
    assert_ok(gf_table_open(g.db, &longer, &again, &err));
    assert_ptr_equal(again, g.t); /* who has it open sees the new family, too */
    unsigned f;
    assert_ok(gf_table_family(g.t, "grobid1", &f, &err));
    assert_int_equal(f, 3);
    assert_ok(gf_test_put(g.db, g.t, key, 3, "quality", S("good"), 0, &err));
    assert_status(GF_EINVAL, gf_test_put(g.db, g.t, key, OTHER, "quality", S("x"), 0, &err));
    assert_ok(gf_test_put(g.db, g.t, key, INFO, "sex", S("f"), 0, &err));
    assert_ok(gf_table_get(g.t, NULL, key, GF_ALL_FAMILIES, &row, &err));
    assert_int_equal(row.n_cells, 4);
    assert_slice(gf_row_find(&row, INFO, "size")->value, "12");
    assert_slice(gf_row_find(&row, 3, "quality")->value, "good");
    assert_ok(
        gf_table_open(g.db, &documents, &again, &err)); /* the shorter schema still opens it */
    assert_int_equal(gf_table_schema(again)->n_families, 4);
    more[1].compression = GF_PLAIN;
    assert_status(GF_EINVAL, gf_table_open(g.db, &longer, &again, &err));
    more[1].compression = GF_SNAPPY;
    more[3].columns = more_columns;
    assert_status(GF_EINVAL, gf_table_open(g.db, &longer, &again, &err));
    assert_int_equal(gf_table_schema(g.t)->n_families, 4);
    gf_row_release(&row);
    end(&g);
}

static void many_tables_do_not_mix(void **state)
{
    given g = begin(state, &students);
    gf_error err;
    gf_table *tables[20];
    for (int i = 0; i < 20; i++) {
        char name[16], value[16];
        gf_schema s = students;
        snprintf(name, sizeof name, "table%d", i);
        snprintf(value, sizeof value, "%d", i);
        s.name = name;
        assert_ok(gf_table_open(g.db, &s, &tables[i], &err));
        assert_ok(gf_test_put(g.db, tables[i], KEY("r"), COURSE, "q", S(value), 0, &err));
    }
    for (int i = 0; i < 20; i++) {
        char want[16];
        snprintf(want, sizeof want, "r:q=%d", i);
        g.t = tables[i];
        scan_is(&g, &(gf_scan_options){.family = COURSE}, want);
        scan_is(&g, &(gf_scan_options){.family = COURSE, .reverse = true}, want);
    }
    end(&g);
}

#define ON_BOTH(test) cmocka_unit_test_prestate(test, *(void **)&make)

static int run(const char *name, make_database *make)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_second_put_replaces),
        ON_BOTH(an_empty_cell_differs_from_an_absent_one),
        ON_BOTH(packed_columns_stay_or_are_replaced),
        ON_BOTH(the_last_column_takes_the_row_along),
        ON_BOTH(rows_are_deleted_by_family),
        ON_BOTH(one_column_name_is_in_one_family),
        ON_BOTH(unknown_families_and_bad_keys_are_refused),
        ON_BOTH(what_is_too_long_is_refused),
        ON_BOTH(changes_of_one_row_follow_each_other),
        ON_BOTH(a_failed_batch_writes_nothing),
        ON_BOTH(a_batch_covers_several_tables),
        ON_BOTH(writes_only_where_the_condition_holds),
        ON_BOTH(increments),
        ON_BOTH(the_newest_versions_stay),
        ON_BOTH(a_put_without_a_time_is_the_newest),
        ON_BOTH(a_packed_version_is_the_row_at_its_time),
        ON_BOTH(cells_past_their_time_are_absent),
        ON_BOTH(snapshots_do_not_change),
        ON_BOTH(a_scan_sees_one_state),
        ON_BOTH(a_prefix_is_a_collection),
        ON_BOTH(a_range_has_its_start_and_not_its_end),
        ON_BOTH(a_row_is_walked_by_qualifier),
        ON_BOTH(bad_ranges_are_refused),
        ON_BOTH(long_values_come_back_whole),
        ON_BOTH(a_table_in_use_gets_further_families),
        ON_BOTH(many_tables_do_not_mix),
    };
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    return run("table over the model", gf_test_model) + run("table over LevelDB", gf_test_leveldb);
}
