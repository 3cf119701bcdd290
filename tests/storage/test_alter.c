/* Another time to live, another number of versions: what was not shown never comes back. */
#include "tests/storage/store.h"

#include "base/clock.h"
#include "storage/leveldb/backend.h"

#include <unistd.h>

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
enum { MAIN, LIST, LOG, PLAIN };
static const gf_family families[] = {
    {.name = "main", .ttl_seconds = 60},
    {.name = "list", .layout = GF_LAYOUT_WIDE, .ttl_seconds = 60},
    {.name = "log", .layout = GF_LAYOUT_WIDE, .versions = 5, .ttl_seconds = 60},
    {.name = "plain", .layout = GF_LAYOUT_WIDE}};
static const gf_schema schema = {"altered", parts, 1, families, 4};
enum { FAMILIES = 3, SECOND = 1000 };

static gf_table *open_table(gf_database *db)
{
    gf_error err;
    gf_table *t;
    assert_ok(gf_table_open(db, &schema, &t, &err));
    return t;
}

static void put(gf_database *db, gf_table *t, unsigned family, const char *name, const char *value,
                int64_t age)
{
    gf_error err;
    assert_ok(gf_test_put(db, t, gf_test_key("k"), family, name, gf_slice_str(value),
                          age < 0 ? 0 : gf_clock_ms() - age, &err));
}

static void alter(gf_table *t, unsigned family, uint32_t versions, uint64_t ttl)
{
    gf_error err;
    assert_ok(gf_table_alter_family(t, family, versions, ttl, NULL, &err));
    assert_int_equal(gf_table_schema(t)->families[family].ttl_seconds, ttl);
    assert_int_equal(gf_table_schema(t)->families[family].versions, versions);
}

static void cell_is(gf_table *t, unsigned family, const char *name, const char *value)
{
    gf_test_cell_is(t, NULL, gf_test_key("k"), family, name, value);
}

static void what_expired_stays_away(void **state)
{
    (void)state;
    gf_database *db = gf_test_leveldb();
    gf_table *t = open_table(db);
    for (unsigned f = 0; f < FAMILIES; f++) {
        uint32_t versions = f == LOG ? 5 : 1;
        put(db, t, f, "old", "1", 100 * SECOND);
        cell_is(t, f, "old", NULL);
        alter(t, f, versions, 1000);
        cell_is(t, f, "old", NULL);
        put(db, t, f, "new", "2", 100 * SECOND);
        cell_is(t, f, "new", "2");
        alter(t, f, versions, 50);
        cell_is(t, f, "new", NULL);
        alter(t, f, versions, 0);
        cell_is(t, f, "new", NULL);
        cell_is(t, f, "old", NULL);
        put(db, t, f, "last", "3", 100 * SECOND);
        cell_is(t, f, "last", "3");
    }
    gf_database_close(db);
}

/* A cell without a time would be of 1970: it lives from the change on. */
static void a_first_limit(void **state)
{
    (void)state;
    gf_database *db = gf_test_leveldb();
    gf_table *t = open_table(db);
    put(db, t, PLAIN, "untimed", "1", -1);
    put(db, t, PLAIN, "timed", "2", 100 * SECOND);
    alter(t, PLAIN, 1, 2);
    cell_is(t, PLAIN, "untimed", "1");
    cell_is(t, PLAIN, "timed", NULL);
    usleep(2100000);
    cell_is(t, PLAIN, "untimed", NULL);
    put(db, t, PLAIN, "untimed", "3", -1);
    cell_is(t, PLAIN, "untimed", "3");
    gf_database_close(db);
}

static size_t versions_of(gf_table *t, const char *name)
{
    gf_error err;
    gf_row row = {0};
    gf_status st =
        gf_table_get_cell(t, NULL, gf_test_key("k"), LOG, gf_slice_str(name), 99, &row, &err);
    size_t n = st == GF_OK ? row.n_cells : 0;
    gf_row_release(&row);
    return n;
}

static void fewer_versions(void **state)
{
    (void)state;
    gf_error err;
    gf_database *db = gf_test_leveldb();
    gf_table *t = open_table(db);
    for (int i = 0; i < 5; i++) {
        put(db, t, LOG, "a", (char[]){(char)('0' + i), 0}, (10 - i) * SECOND);
        put(db, t, LOG, "b", (char[]){(char)('0' + i), 0}, (10 - i) * SECOND);
    }
    assert_int_equal(versions_of(t, "a"), 5);
    alter(t, LOG, 2, 60);
    assert_int_equal(versions_of(t, "a"), 2);
    assert_int_equal(versions_of(t, "b"), 2);
    cell_is(t, LOG, "a", "4");
    alter(t, LOG, 9, 60);
    assert_int_equal(versions_of(t, "a"), 2);
    assert_status(GF_EINVAL, gf_table_alter_family(t, LOG, 1, 60, NULL, &err));
    assert_status(GF_EINVAL, gf_table_alter_family(t, LIST, 2, 60, NULL, &err));
    assert_non_null(strstr(err.message, "cannot change"));
    assert_status(GF_EINVAL, gf_table_alter_family(t, 7, 2, 60, NULL, &err));
    gf_database_close(db);
}

/* More than a chunk, cut values among them; the schema stays when the store is opened again. */
static void many_cells(void **state)
{
    (void)state;
    enum { CELLS = 9000, LARGE = 200000 };
    static char large[LARGE];
    gf_error err;
    gf_test_store s;
    gf_batch *batch;
    char name[16];
    const char *path = gf_test_in(gf_test_folder(), "store");
    int64_t old = gf_clock_ms() - 100 * SECOND;
    memset(large, 'x', sizeof large);
    assert_ok(gf_test_store_open(&s, path, &err));
    gf_table *t = open_table(s.db);
    assert_ok(gf_batch_create(s.db, &batch, &err));
    for (int i = 0; i < CELLS; i++) {
        snprintf(name, sizeof name, "%05d", i);
        gf_batch_put(batch, t, gf_test_key("k"), LIST, gf_slice_str(name),
                     i % 1000 ? GF_SLICE("v") : gf_slice_of(large, LARGE), i % 3 ? old : 0);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_table_alter_family(t, LIST, 1, 1000, &cancel, &err));
    assert_int_equal(gf_table_schema(t)->families[LIST].ttl_seconds, 60);
    alter(t, LIST, 1, 1000);
    gf_test_store_close(&s);

    assert_ok(gf_test_store_open(&s, path, &err));
    t = open_table(s.db); /* by the schema of the beginning */
    assert_int_equal(gf_table_schema(t)->families[LIST].ttl_seconds, 1000);
    gf_scan *scan;
    gf_row row = {0};
    size_t n = 0;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = LIST);
    assert_ok(gf_scan_open(t, &o, &scan, &err));
    for (; gf_scan_next(scan, &row, &err) == GF_OK; n++)
        assert_true(row.cells[0].value.len == 1 || row.cells[0].value.len == LARGE);
    assert_int_equal(err.status, GF_ENOTFOUND);
    assert_int_equal(n, CELLS / 3);
    gf_scan_close(scan);
    gf_row_release(&row);
    gf_test_store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_expired_stays_away), cmocka_unit_test(a_first_limit),
        cmocka_unit_test(fewer_versions), cmocka_unit_test(many_cells)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
