/* Every allocation of every operation fails once: it is reported, nothing leaks, nothing changes.
 */
#include "tests/storage/store.h"

#include "base/clock.h"
#include "base/memory.h"

#include <string.h>

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
static const char *const columns[] = {"name", "text", NULL};
enum { MAIN, WIDE, HISTORY, EVENTS, FAMILIES };
static const gf_family families[] = {
    {"main", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_SNAPPY, columns, false},
    {"wide", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false},
    {"history", GF_LAYOUT_PACKED, 3, 0, GF_COMPRESSION_SNAPPY, NULL, false},
    {"events", GF_LAYOUT_WIDE, 3, 86400, GF_COMPRESSION_NONE, NULL, false},
};
static const gf_schema schema = {"table", parts, 1, families, FAMILIES};

/* The database that the sweeps work on. */
typedef struct work {
    gf_database *db;
    gf_table *t;
    gf_buffer before; /* all cells */
    gf_buffer long_value;
    int64_t time; /* of the last put */
    unsigned family;
    bool reverse;
} work;

static void begin(work *w)
{
    gf_error err;
    *w = (work){.db = gf_test_leveldb(), .time = gf_clock_ms() - 100000};
    assert_ok(gf_table_open(w->db, &schema, &w->t, &err));
    for (int i = 0; i < 200000; i++)
        gf_buffer_byte(&w->long_value, (char)(i * 7919 >> 5));
    for (unsigned f = 0; f < FAMILIES; f++)
        for (int i = 0; i < 6; i++) {
            char name[8];
            snprintf(name, sizeof name, "q%d", i);
            gf_slice value = i == 5 ? gf_buffer_view(&w->long_value) : GF_SLICE("41");
            gf_slice row = gf_test_key("row");
            assert_ok(gf_test_put(w->db, w->t, row, f, name, value, ++w->time, &err));
            assert_ok(gf_test_put(w->db, w->t, row, f, "n", value, ++w->time, &err));
            assert_ok(gf_test_put(w->db, w->t, row, f, "n", GF_SLICE("41"), ++w->time, &err));
        }
    gf_test_dump(w->t, NULL, &w->before);
}

static void end(work *w)
{
    gf_buffer_release(&w->before);
    gf_buffer_release(&w->long_value);
    gf_database_close(w->db);
}

static void is_unchanged(void *context)
{
    work *w = context;
    gf_buffer now = {0};
    gf_test_dump(w->t, NULL, &now);
    assert_true(gf_slice_equal(gf_buffer_view(&w->before), gf_buffer_view(&now)));
    gf_buffer_release(&now);
}

/* ---- writes ---------------------------------------------------------------------------------- */

static void fill(work *w, gf_batch *batch)
{
    gf_slice row = gf_test_key("row"), other = gf_test_key("other");
    gf_column unsorted[] = {{GF_SLICE("z"), GF_SLICE("1")},
                            {GF_SLICE("text"), gf_buffer_view(&w->long_value)},
                            {GF_SLICE("name"), GF_SLICE("2")},
                            {GF_SLICE("a"), GF_SLICE("3")}};
    gf_batch_replace(batch, w->t, other, MAIN, unsorted, 4, 0);
    gf_batch_put(batch, w->t, row, MAIN, GF_SLICE("q1"), GF_SLICE("new"), 0);
    gf_batch_delete_cell(batch, w->t, row, MAIN, GF_SLICE("q2"));
    gf_batch_put(batch, w->t, row, WIDE, GF_SLICE("q5"), GF_SLICE("short"), 0);
    gf_batch_put(batch, w->t, row, WIDE, GF_SLICE("q1"), gf_buffer_view(&w->long_value), 0);
    gf_batch_delete_cell(batch, w->t, row, WIDE, GF_SLICE("q3"));
    unsorted[1].name = GF_SLICE("y");
    unsorted[2].name = GF_SLICE("x");
    gf_batch_replace(batch, w->t, row, HISTORY, unsorted, 4, w->time + 30);
    gf_batch_put(batch, w->t, row, HISTORY, GF_SLICE("q9"), GF_SLICE("x"), w->time + 15);
    for (int i = 0; i < 6; i++)
        gf_batch_put(batch, w->t, row, EVENTS, GF_SLICE("n"), GF_SLICE("x"), w->time + i);
    gf_batch_delete_cell(batch, w->t, row, EVENTS, GF_SLICE("q2"));
    gf_batch_delete_row(batch, w->t, other, 1u << WIDE | 1u << EVENTS);
    gf_batch_put(batch, w->t, other, WIDE, GF_SLICE("a"), GF_SLICE("x"), 0);
}

static gf_status write_batch(void *context, gf_error *err)
{
    work *w = context;
    gf_batch *batch;
    gf_status st = gf_batch_create(w->db, &batch, err);
    if (st != GF_OK) return st;
    fill(w, batch);
    st = gf_batch_write(batch, GF_SYNC_OFF, err);
    gf_batch_free(batch);
    return st;
}

static gf_status write_if(void *context, gf_error *err)
{
    work *w = context;
    gf_batch *batch;
    gf_slice expected = GF_SLICE("41");
    gf_status st = gf_batch_create(w->db, &batch, err);
    if (st != GF_OK) return st;
    gf_batch_put(batch, w->t, gf_test_key("new"), WIDE, GF_SLICE("a"), GF_SLICE("x"), 0);
    st = gf_batch_write_if(batch, w->t, gf_test_key("row"), w->family, GF_SLICE("n"), &expected,
                           GF_SYNC_OFF, err);
    gf_batch_free(batch);
    return st;
}

static gf_status increment(void *context, gf_error *err)
{
    work *w = context;
    int64_t sum = 99;
    gf_status st = gf_table_increment(w->t, gf_test_key("row"), w->family, GF_SLICE("n"), 1,
                                      GF_SYNC_OFF, &sum, err);
    assert_int_equal(sum, st == GF_OK ? 42 : 99);
    return st;
}

static gf_status delete_rows(void *context, gf_error *err)
{
    work *w = context;
    gf_batch *batch;
    gf_status st = gf_batch_create(w->db, &batch, err);
    if (st != GF_OK) return st;
    gf_batch_delete_row(batch, w->t, gf_test_key("row"), GF_ALL_FAMILIES);
    st = gf_batch_write(batch, GF_SYNC_OFF, err);
    gf_batch_free(batch);
    return st;
}

static void failed_writes_change_nothing(void **state)
{
    (void)state;
    gf_sweep_call *const calls[] = {write_batch, write_if, increment, delete_rows};
    for (size_t c = 0; c < 4; c++)
        for (unsigned f = 0; f < (c == 1 || c == 2 ? FAMILIES : 1); f++) {
            work w;
            gf_buffer now = {0};
            begin(&w);
            w.family = f;
            gf_test_sweep(calls[c], is_unchanged, &w);
            gf_test_dump(w.t, NULL, &now); /* the last run got through */
            assert_false(gf_slice_equal(gf_buffer_view(&w.before), gf_buffer_view(&now)));
            gf_buffer_release(&now);
            end(&w);
        }
}

/* ---- reads ----------------------------------------------------------------------------------- */

static gf_status get_row(void *context, gf_error *err)
{
    work *w = context;
    gf_row row = {0};
    gf_status st = gf_table_get(w->t, NULL, gf_test_key("row"), GF_ALL_FAMILIES, &row, err);
    assert_int_equal(row.n_cells, st == GF_OK ? FAMILIES * 7 : 0);
    assert_int_equal(row.key.len > 0, st == GF_OK);
    gf_row_release(&row);
    return st;
}

static gf_status get_cell(void *context, gf_error *err)
{
    work *w = context;
    gf_row row = {0};
    gf_status st =
        gf_table_get_cell(w->t, NULL, gf_test_key("row"), w->family, GF_SLICE("q5"), 3, &row, err);
    assert_true(st == GF_OK ? row.n_cells > 0 : row.n_cells == 0);
    if (st == GF_OK)
        assert_true(gf_slice_equal(row.cells[0].value, gf_buffer_view(&w->long_value)));
    gf_row_release(&row);
    return st;
}

static gf_status scan(void *context, gf_error *err)
{
    work *w = context;
    gf_scan *s;
    gf_row row = {0};
    gf_snapshot *snapshot;
    gf_status st = gf_snapshot_create(w->db, &snapshot, err);
    if (st != GF_OK) return st;
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = snapshot, .family = w->family, .reverse = w->reverse);
    o.prefix = o.start = gf_test_key("row");
    o.end = gf_test_key("rox");
    if (families[w->family].layout == GF_LAYOUT_WIDE) {
        o.qualifier_prefix = GF_SLICE("q");
        o.after_qualifier = w->reverse ? GF_SLICE("q6") : GF_SLICE("q0");
    }
    st = gf_scan_open(w->t, &o, &s, err);
    if (st == GF_OK) {
        while ((st = gf_scan_next(s, &row, err)) == GF_OK)
            assert_true(row.n_cells > 0);
        assert_int_equal(row.n_cells, 0);
        if (st != GF_ENOTFOUND) assert_status(st, gf_scan_next(s, &row, NULL)); /* again */
        if (st == GF_ENOTFOUND) st = GF_OK;
        gf_scan_close(s);
    }
    gf_snapshot_free(snapshot);
    gf_row_release(&row);
    return st;
}

static void failed_reads_give_nothing(void **state)
{
    (void)state;
    work w;
    begin(&w);
    gf_test_sweep(get_row, is_unchanged, &w);
    for (w.family = 0; w.family < FAMILIES; w.family++) {
        gf_test_sweep(get_cell, NULL, &w);
        for (int reverse = 0; reverse < 2; reverse++) {
            w.reverse = reverse;
            gf_test_sweep(scan, NULL, &w);
        }
    }
    end(&w);
}

/* ---- opening --------------------------------------------------------------------------------- */

static gf_status open_tables(void *context, gf_error *err)
{
    work *w = context;
    gf_family more[FAMILIES + 1];
    gf_table *t = NULL;
    gf_schema fresh = schema, longer = schema;
    fresh.name = "fresh";
    memcpy(more, families, sizeof families);
    more[FAMILIES] = (gf_family){"further", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false};
    longer.families = more;
    longer.n_families = FAMILIES + 1;
    gf_status st = gf_table_open(w->db, &fresh, &t, err);
    assert_int_equal(t != NULL, st == GF_OK);
    if (st == GF_OK) st = gf_table_open(w->db, &longer, &t, err);
    return st;
}

static void failed_openings_leave_the_table(void **state)
{
    (void)state;
    work w;
    begin(&w);
    gf_test_sweep(open_tables, is_unchanged, &w);
    assert_int_equal(gf_table_schema(w.t)->n_families, FAMILIES + 1);
    end(&w);
}

static gf_status open_store(void *context, gf_error *err)
{
    gf_test_store s;
    gf_table *t;
    gf_status st = gf_test_store_open(&s, context, err);
    if (st != GF_OK) return st;
    st = gf_table_open(s.db, &schema, &t, err);
    gf_test_store_close(&s);
    return st;
}

static void count(void *context, const char *file, const char *what)
{
    (void)file, (void)what;
    ++*(int *)context;
}

static gf_status check_store(void *context, gf_error *err)
{
    gf_folder *f;
    int damages = 0;
    uint64_t bytes = 0;
    gf_hold_options o = {.create = false};
    gf_status st = gf_folder_hold(context, &o, &f, err);
    if (st != GF_OK) return st;
    st = gf_folder_check(f, count, &damages, NULL, err);
    if (st == GF_OK) st = gf_folder_size(f, &bytes, err);
    assert_int_equal(damages, 0);
    assert_int_equal(bytes > 0, st == GF_OK);
    gf_folder_release(f);
    return st;
}

static void failed_holds_leave_the_store(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/a/store", gf_test_folder());
    gf_test_sweep(open_store, NULL, path); /* makes it */
    gf_test_sweep(open_store, NULL, path);
    gf_test_sweep(check_store, NULL, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_writes_change_nothing),
        cmocka_unit_test(failed_reads_give_nothing),
        cmocka_unit_test(failed_openings_leave_the_table),
        cmocka_unit_test(failed_holds_leave_the_store),
    };
    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
