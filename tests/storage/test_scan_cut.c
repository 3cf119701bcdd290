/* Cutting ranges: the parts have all rows, each once and whole, and about as many bytes each. */
#include "tests/storage/given.h"

#include <string.h>

enum { ROWS = 3000, VALUE = 400 };

/* The name of row i in a shape of keys. */
typedef void name_row(gf_buffer *name, unsigned i);

static void number(gf_buffer *name, unsigned i)
{
    gf_buffer_format(name, "%06u", i);
}

static void long_prefix(gf_buffer *name, unsigned i)
{
    gf_buffer_format(name, "https://www.example.org/news/2026/11/%u/%07u.html", i % 3, i);
}

/* Few differ early, and all bytes occur. */
static void extremes(gf_buffer *name, unsigned i)
{
    for (unsigned n = i % 40; n; n--)
        gf_buffer_byte(name, (char)(i & 1 ? 0xff : 0));
    gf_buffer_u32be(name, i * UINT32_C(2654435761));
}

static void put_rows(given *g, unsigned family, name_row *name_of, gf_random *r)
{
    gf_buffer name = {0}, value = {0};
    for (unsigned i = 0; i < ROWS; i++) {
        gf_buffer_reset(&name);
        gf_buffer_reset(&value);
        name_of(&name, i);
        for (unsigned n = 0; n < VALUE; n++)
            gf_buffer_byte(&value, (char)gf_random_u64(r)); /* nothing to compress */
        gf_buffer key = {0};
        gf_key_string(&key, gf_buffer_view(&name));
        gf_slice cut = gf_slice_of(value.ptr, gf_random_below(r, VALUE));
        gf_batch_put(g->batch, g->t, gf_buffer_view(&key), family, S("b"), cut, 0);
        if (i % 7 == 0) gf_batch_put(g->batch, g->t, gf_buffer_view(&key), family, S("c"), cut, 0);
        gf_buffer_release(&key);
    }
    given_write_batch(g);
    gf_batch_reset(g->batch);
    gf_buffer_release(&name);
    gf_buffer_release(&value);
}

/* Append the keys, qualifiers and values of a range. */
static uint64_t read_range(given *g, const gf_scan_options *o, gf_buffer *out)
{
    gf_error err;
    gf_scan *scan;
    uint64_t entries = 0;
    assert_ok(gf_scan_open(g->t, o, &scan, &err));
    gf_status st;
    for (; (st = gf_scan_next(scan, &g->row, &err)) == GF_OK; entries++) {
        gf_buffer_slice(out, g->row.key);
        for (size_t i = 0; i < g->row.n_cells; i++) {
            gf_buffer_slice(out, g->row.cells[i].qualifier);
            gf_buffer_slice(out, g->row.cells[i].value);
        }
    }
    assert_status(GF_ENOTFOUND, st);
    gf_scan_close(scan);
    return entries;
}

/* Cut the range again and again; returns the number of parts. */
static unsigned parts_are_the_whole(given *g, gf_scan_options o, uint64_t bytes)
{
    gf_error err;
    gf_buffer whole = {0}, parts = {0}, start = {0}, key = {0};
    read_range(g, &o, &whole);
    gf_buffer_slice(&start, o.start);
    gf_scan_options part = o;
    gf_status st;
    unsigned n = 1;
    for (; (st = gf_scan_cut(g->t, &part, bytes, &key, &err)) == GF_OK; n++) {
        gf_scan_options before = part;
        before.end = gf_buffer_view(&key);
        uint64_t at = parts.len;
        assert_true(read_range(g, &before, &parts) > 0);
        assert_in_range(parts.len - at, bytes / 2, bytes * 2);
        gf_buffer_reset(&start);
        gf_buffer_slice(&start, gf_buffer_view(&key));
        part.start = gf_buffer_view(&start);
    }
    assert_status(GF_ENOTFOUND, st);
    assert_true(read_range(g, &part, &parts) > 0);
    assert_true(gf_slice_equal(gf_buffer_view(&whole), gf_buffer_view(&parts)));
    gf_buffer_release(&whole);
    gf_buffer_release(&parts);
    gf_buffer_release(&start);
    gf_buffer_release(&key);
    return n;
}

static void keys_of_any_shape_are_cut(void **state)
{
    gf_error err;
    name_row *const names[] = {number, long_prefix, extremes};
    const unsigned families[] = {INFO, COURSE, HISTORY, EVENTS};
    gf_random r = gf_random_seed(1, 0);
    for (size_t n = 0; n < 3; n++)
        for (size_t f = 0; f < 4; f++) {
            given g = given_begin(state, &given_students);
            put_rows(&g, families[f], names[n], &r);
            assert_ok(gf_database_compact(g.db, &err));
            gf_scan_options o = GF_SCAN_OPTIONS(.family = families[f]);
            unsigned parts = parts_are_the_whole(&g, o, 50000);
            assert_in_range(parts, 9, 18); /* 3,000 rows with some 230 bytes each */
            o.start = KEY("0004");
            o.end = KEY("0022");
            if (n == 0) parts_are_the_whole(&g, o, 50000);
            given_end(&g);
        }
}

/* A value of many blocks, amid which the middle lies, is a part of its own. */
static void a_row_is_not_cut(void **state)
{
    gf_error err;
    given g = given_begin(state, &given_students);
    gf_random r = gf_random_seed(2, 0);
    gf_buffer large = {0}, key = {0};
    for (unsigned i = 0; i < 1000000; i++)
        gf_buffer_byte(&large, (char)gf_random_u64(&r));
    gf_scan_options o = GF_SCAN_OPTIONS(.family = COURSE);
    for (unsigned i = 0; i < 3; i++) {
        gf_slice row = KEY(i == 0 ? "a" : i == 1 ? "b" : "c");
        gf_slice value = i == 1 ? gf_buffer_view(&large) : GF_SLICE("small");
        gf_batch_put(g.batch, g.t, row, COURSE, S("x"), value, 0);
        gf_batch_put(g.batch, g.t, row, COURSE, S("y"), value, 0);
    }
    given_write_batch(&g);
    assert_ok(gf_database_compact(g.db, &err));
    assert_ok(gf_scan_cut(g.t, &o, 1000, &key, &err));
    assert_true(gf_slice_equal(gf_buffer_view(&key), KEY("b")) ||
                gf_slice_equal(gf_buffer_view(&key), KEY("c")));
    o.start = KEY("b");
    assert_ok(gf_scan_cut(g.t, &o, 1000, &key, &err));
    assert_true(gf_slice_equal(gf_buffer_view(&key), KEY("c")));
    o.end = KEY("c"); /* one row is left */
    assert_status(GF_ENOTFOUND, gf_scan_cut(g.t, &o, 1000, &key, &err));
    gf_buffer_release(&large);
    gf_buffer_release(&key);
    given_end(&g);
}

static void what_has_no_table_yet_is_not_cut(void **state)
{
    gf_error err;
    given g = given_begin(state, &given_students);
    gf_random r = gf_random_seed(3, 0);
    gf_buffer key = {0};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = INFO);
    assert_status(GF_ENOTFOUND, gf_scan_cut(g.t, &o, 1, &key, &err));
    put_rows(&g, INFO, number, &r);
    assert_status(GF_ENOTFOUND, gf_scan_cut(g.t, &o, 1000, &key, &err));
    assert_int_equal(key.len, 0);
    given_end(&g);
}

static void bad_ranges_are_refused(void **state)
{
    gf_error err;
    given g = given_begin(state, &given_students);
    gf_buffer key = {0};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = 99);
    assert_status(GF_EINVAL, gf_scan_cut(g.t, &o, 1, &key, &err));
    given_end(&g);
}

/* ---- failures -------------------------------------------------------------------------------- */

static gf_status cut(void *context, gf_error *err)
{
    given *g = context;
    gf_buffer key = {0};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = INFO);
    gf_status st = gf_scan_cut(g->t, &o, 50000, &key, err);
    assert_int_equal(key.len > 0, st == GF_OK);
    gf_buffer_release(&key);
    return st;
}

static void failed_allocations_are_told(void **state)
{
    gf_error err;
    given g = given_begin(state, &given_students);
    gf_random r = gf_random_seed(4, 0);
    put_rows(&g, INFO, long_prefix, &r);
    assert_ok(gf_database_compact(g.db, &err));
    gf_test_sweep(cut, NULL, &g);
    given_end(&g);
}

int main(void)
{
    make_database *make = gf_test_leveldb;
    const struct CMUnitTest tests[] = {
        ON_BOTH(keys_of_any_shape_are_cut),        ON_BOTH(a_row_is_not_cut),
        ON_BOTH(what_has_no_table_yet_is_not_cut), ON_BOTH(bad_ranges_are_refused),
        ON_BOTH(failed_allocations_are_told),
    };
    make_database *model = gf_test_model;
    const struct CMUnitTest of_model[] = {
        cmocka_unit_test_prestate(what_has_no_table_yet_is_not_cut, *(void **)&model),
        cmocka_unit_test_prestate(bad_ranges_are_refused, *(void **)&model),
    };
    return cmocka_run_group_tests_name("scan_cut over LevelDB", tests, NULL, NULL) +
           cmocka_run_group_tests_name("scan_cut over the model", of_model, NULL, NULL);
}
