/* Dropping tables: nothing of one is left, its neighbours are whole, its number serves again. */
#include "tests/storage/store.h"

#include "storage/table_internal.h"

#include <stdlib.h>

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
static const gf_key_part other_parts[] = {{"id", GF_PART_U64, 0}};
enum { MAIN, LIST };
/* Versions, a time to live and large values: what a walk by the schema would not meet. */
static const gf_family families[] = {{.name = "main", .versions = 3},
                                     {.name = "list", .layout = GF_LAYOUT_WIDE, .ttl_seconds = 60}};
static const gf_schema first = {"first", parts, 1, families, 2};
static const gf_schema second = {"second", parts, 1, families, 2};
static const gf_schema third = {"third", other_parts, 1, families, 2};

enum { ROWS = 6000 }; /* more than a chunk */

static void fill(gf_database *db, gf_table *t)
{
    gf_error err;
    gf_batch *batch;
    static char large[200000];
    char name[16];
    assert_ok(gf_batch_create(db, &batch, &err));
    for (int i = 0; i < ROWS; i++) {
        gf_buffer key = {0};
        snprintf(name, sizeof name, "%05d", i);
        gf_key_string(&key, gf_slice_str(name));
        gf_batch_put(batch, t, gf_buffer_view(&key), MAIN, GF_SLICE("a"), GF_SLICE("1"), 0);
        gf_batch_put(batch, t, gf_buffer_view(&key), LIST, GF_SLICE("old"), GF_SLICE("x"), 1);
        gf_buffer_release(&key);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    memset(large, 'x', sizeof large);
    gf_batch_put(batch, t, gf_test_key("large"), MAIN, GF_SLICE("b"),
                 gf_slice_of(large, sizeof large), 0);
    for (int v = 0; v < 3; v++)
        gf_batch_put(batch, t, gf_test_key("large"), MAIN, GF_SLICE("a"), GF_SLICE("2"), 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
}

static size_t count(gf_table *t, unsigned family)
{
    gf_error err;
    gf_scan *scan;
    gf_row row = {0};
    size_t n = 0;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = family);
    assert_ok(gf_scan_open(t, &o, &scan, &err));
    while (gf_scan_next(scan, &row, &err) == GF_OK)
        n++;
    assert_int_equal(err.status, GF_ENOTFOUND);
    gf_scan_close(scan);
    gf_row_release(&row);
    return n;
}

static void leaves_nothing(void **state)
{
    (void)state;
    gf_error err;
    gf_test_store s;
    gf_table *a, *b, *c;
    const char *folder = gf_test_folder();
    char path[512];
    snprintf(path, sizeof path, "%s/store", folder);
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &first, &a, &err));
    assert_ok(gf_table_open(s.db, &second, &b, &err));
    unsigned number = gf_table_number(a);
    fill(s.db, a);
    fill(s.db, b);

    /* A request to stop leaves a table with fewer rows, to be dropped again. */
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_table_drop(a, &cancel, &err));
    assert_in_range(count(a, MAIN), 1, ROWS);
    assert_ok(gf_table_drop(a, NULL, &err));
    assert_int_equal(count(b, MAIN), ROWS + 1);

    /* Its name is free at once, its number when the database is opened again. */
    assert_ok(gf_table_open(s.db, &first, &a, &err));
    assert_int_not_equal(gf_table_number(a), number);
    assert_int_equal(count(a, MAIN), 0);
    assert_ok(gf_table_drop(a, NULL, &err));
    gf_test_store_close(&s);

    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &third, &c, &err));
    assert_int_equal(gf_table_number(c), number);
    assert_int_equal(count(c, MAIN), 0);
    assert_int_equal(count(c, LIST), 0);
    assert_ok(gf_table_open(s.db, &second, &b, &err));
    assert_int_equal(count(b, MAIN), ROWS + 1);
    gf_test_store_close(&s);
}

/* Each drop of a session takes a number, and all are there again in the next one. */
static void numbers_come_back(void **state)
{
    (void)state;
    gf_error err;
    gf_test_store s;
    char path[512];
    snprintf(path, sizeof path, "%s/store", gf_test_folder());
    for (int session = 0; session < 2; session++) {
        gf_table *t;
        int made = 0;
        assert_ok(gf_test_store_open(&s, path, &err));
        while (gf_table_open(s.db, &first, &t, &err) == GF_OK) {
            assert_ok(gf_table_drop(t, NULL, &err));
            made++;
        }
        assert_int_equal(err.status, GF_ELIMIT);
        assert_int_equal(made, 1023);
        gf_test_store_close(&s);
    }
}

typedef struct swept {
    gf_database *db;
} swept;

static gf_status make_and_drop(void *context, gf_error *err)
{
    swept *s = context;
    gf_table *t;
    gf_status st = gf_table_open(s->db, &first, &t, err);
    return st == GF_OK ? gf_table_drop(t, NULL, err) : st;
}

static void memory_fails(void **state)
{
    (void)state;
    swept s = {gf_test_leveldb()};
    gf_test_sweep(make_and_drop, NULL, &s);
    gf_database_close(s.db);
}

static void not_every_backend_can(void **state)
{
    (void)state;
    gf_error err;
    gf_table *t;
    gf_database *db = gf_test_model();
    assert_ok(gf_table_open(db, &first, &t, &err));
    assert_status(GF_EINVAL, gf_table_drop(t, NULL, &err));
    gf_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_nothing), cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(memory_fails), cmocka_unit_test(not_every_backend_can)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
