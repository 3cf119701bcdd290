/*
 * Runs: a table whose families are runs, over LevelDB and over the model, filled by blocks of random
 * entries; every way of reading gives the same of both. Damaged and overlapping blocks are told of;
 * entries that were put one by one before a family became a run are read beside them.
 */
#include "storage/run_writer.h"

#include "base/json/writer.h"
#include "tests/storage/store.h"

#include <string.h>

enum { PACKED, WIDE };
enum { LEVELDB, MODEL, SIDES };
enum { GRANULES = 4, MOST_IDS = 4000 };

static const gf_key_part parts[] = {{"build", GF_PART_STRING, 0}, {"id", GF_PART_STRING, 0}};
static const char *const columns[] = {"cluster", "score", NULL};
static const gf_family runs[] = {
    [PACKED] = {.name = "main", .columns = columns, .run = true},
    [WIDE] = {.name = "list", .layout = GF_LAYOUT_WIDE, .run = true},
};
static const gf_family no_runs[] = {
    [PACKED] = {.name = "main", .columns = columns},
    [WIDE] = {.name = "list", .layout = GF_LAYOUT_WIDE},
};
static const gf_schema schema = {"runs", parts, 2, runs, 2};
static const gf_schema old_schema = {"runs", parts, 2, no_runs, 2};

typedef struct test {
    const char *folder;
    gf_test_store store;
    gf_database *db[SIDES];
    gf_table *t[SIDES];
    gf_batch *batch[SIDES];
    gf_run_block block[SIDES];
    gf_row row[SIDES];
    gf_random r;
    gf_buffer value;
    size_t blocks; /* that were put */
} test;

static gf_error err; /* of the last call */

static uint64_t below(test *t, uint64_t n)
{
    return gf_random_below(&t->r, n);
}

static void open_sides(test *t, const gf_schema *s)
{
    t->db[LEVELDB] = t->store.db;
    for (int i = 0; i < SIDES; i++) {
        assert_ok(gf_table_open(t->db[i], s, &t->t[i], &err));
        assert_ok(gf_batch_create(t->db[i], &t->batch[i], &err));
    }
}

static void begin(test *t, const gf_schema *s)
{
    *t = (test){.folder = gf_test_folder(), .r = gf_random_seed(gf_test_seed(), 0)};
    t->db[MODEL] = gf_test_model();
    assert_ok(gf_test_store_open(&t->store, t->folder, &err));
    open_sides(t, s);
}

static void open_again(test *t, const gf_schema *s)
{
    for (int i = 0; i < SIDES; i++)
        gf_batch_free(t->batch[i]);
    gf_test_store_close(&t->store);
    assert_ok(gf_test_store_open(&t->store, t->folder, &err));
    open_sides(t, s);
}

static void end(test *t)
{
    for (int i = 0; i < SIDES; i++) {
        gf_batch_free(t->batch[i]);
        gf_run_block_release(&t->block[i]);
        gf_row_release(&t->row[i]);
    }
    gf_buffer_release(&t->value);
    gf_database_close(t->db[MODEL]);
    gf_test_store_close(&t->store);
}

/* ---- keys, entries --------------------------------------------------------------------------- */

static gf_slice text(const char *format, uint64_t n)
{
    static char texts[16][32];
    static unsigned next;
    char *to = texts[next++ % 16];
    snprintf(to, sizeof texts[0], format, (unsigned long long)n);
    return gf_slice_str(to);
}

static gf_slice granule(uint64_t g)
{
    return text("build%llu", g);
}

/* Ids of several lengths, in the order of their numbers; some have a byte that a key escapes. */
static gf_slice id(uint64_t n)
{
    gf_slice s = text("id%06llu", n);
    if (n % 7 == 0) return gf_slice_of(s.ptr, s.len + 1);
    return s;
}

static gf_slice random_value(test *t)
{
    gf_buffer_reset(&t->value);
    uint64_t kind = below(t, 400);
    if (kind == 0)
        gf_test_random_bytes(&t->r, &t->value, (size_t)below(t, 150 << 10));
    else
        gf_test_random_bytes(&t->r, &t->value, (size_t)below(t, 40));
    return gf_buffer_view(&t->value);
}

static void put_blocks(test *t)
{
    for (int i = 0; i < SIDES; i++) {
        assert_ok(gf_run_block_finish(&t->block[i], &err));
        gf_batch_put_block(t->batch[i], &t->block[i]);
    }
    t->blocks++;
}

/* Fill a granule with blocks; those of the packed family are rows of a build, the others cells. */
static void fill_granule(test *t, uint64_t g, unsigned family)
{
    bool begun = false;
    uint64_t step = 1 + below(t, 5), most = below(t, 3) ? below(t, MOST_IDS) : below(t, 20);
    for (uint64_t n = below(t, step); n < most; n += 1 + below(t, step)) {
        gf_slice value = random_value(t);
        const gf_column row[] = {{GF_SLICE("score"), value}, {GF_SLICE("more"), GF_SLICE("x")}};
        for (int i = 0; i < SIDES; i++) {
            gf_run_block *b = &t->block[i];
            if (!begun) assert_ok(gf_run_block_begin(b, t->t[i], family, NULL, 0, &err));
            if (family == PACKED)
                assert_ok(
                    gf_run_block_add_row(b, gf_test_key2(granule(g), id(n)), row, 1 + n % 2, &err));
            else
                assert_ok(gf_run_block_add_cell(b, gf_test_key2(granule(g), GF_SLICE("row")), id(n),
                                                value, &err));
        }
        begun = true;
        if (!gf_run_block_is_full(&t->block[0]) && below(t, 500)) continue;
        put_blocks(t);
        begun = false;
    }
    if (begun) put_blocks(t);
}

static void fill(test *t)
{
    for (uint64_t g = 0; g < GRANULES; g++) {
        fill_granule(t, g, PACKED);
        fill_granule(t, g, WIDE);
    }
    for (int i = 0; i < SIDES; i++)
        assert_ok(gf_batch_write(t->batch[i], GF_SYNC_OFF, &err));
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void compare_rows(const test *t)
{
    const gf_row *a = &t->row[LEVELDB], *b = &t->row[MODEL];
    assert_true(gf_slice_equal(a->key, b->key));
    assert_int_equal(a->n_cells, b->n_cells);
    for (size_t i = 0; i < a->n_cells; i++) {
        assert_true(gf_slice_equal(a->cells[i].qualifier, b->cells[i].qualifier));
        assert_true(gf_slice_equal(a->cells[i].value, b->cells[i].value));
        assert_int_equal(a->cells[i].timestamp, 0);
    }
}

static size_t scan_both(test *t, const gf_scan_options *options)
{
    gf_scan *scans[SIDES];
    gf_status st[SIDES];
    size_t n = 0;
    for (int i = 0; i < SIDES; i++)
        assert_ok(gf_scan_open(t->t[i], options, &scans[i], &err));
    for (;; n++) {
        for (int i = 0; i < SIDES; i++)
            st[i] = gf_scan_next(scans[i], &t->row[i], &err);
        if (st[0] != st[1])
            fail_msg("entry %zu: LevelDB says %s (%s), the model %s", n, gf_status_name(st[0]),
                     err.message, gf_status_name(st[1]));
        if (st[0] != GF_OK) break;
        compare_rows(t);
    }
    assert_int_equal(st[0], GF_ENOTFOUND);
    for (int i = 0; i < SIDES; i++)
        gf_scan_close(scans[i]);
    return n;
}

static size_t compare_all(test *t)
{
    size_t n = 0;
    for (unsigned family = 0; family < 2; family++) {
        n += scan_both(t, &GF_SCAN_OPTIONS(.family = family));
        scan_both(t, &GF_SCAN_OPTIONS(.family = family, .reverse = true));
    }
    return n;
}

static void scan_a_range(test *t)
{
    gf_scan_options o = GF_SCAN_OPTIONS(.family = (unsigned)below(t, 2));
    uint64_t g = below(t, GRANULES + 1);
    o.reverse = below(t, 2);
    o.keys_only = below(t, 4) == 0;
    o.limit = below(t, 2) ? 1 + below(t, 40) : 0;
    if (o.family == PACKED) {
        if (below(t, 2)) o.start = gf_test_key2(granule(g), id(below(t, MOST_IDS)));
        if (below(t, 2)) o.end = gf_test_key2(granule(below(t, GRANULES)), id(below(t, MOST_IDS)));
        if (below(t, 3) == 0) o.prefix = gf_test_key(granule(g).ptr);
    } else {
        o.prefix = gf_test_key2(granule(g), GF_SLICE("row"));
        if (below(t, 2)) o.after_qualifier = id(below(t, MOST_IDS));
        if (below(t, 3) == 0) o.qualifier_prefix = text("id00%llu", below(t, 40));
    }
    scan_both(t, &o);
}

static void get_one(test *t)
{
    gf_status st[SIDES];
    uint64_t g = below(t, GRANULES + 1), n = below(t, MOST_IDS);
    bool packed = below(t, 2), one_cell = !packed || below(t, 2);
    for (int i = 0; i < SIDES; i++) {
        gf_slice key = gf_test_key2(granule(g), packed ? id(n) : GF_SLICE("row"));
        if (one_cell)
            st[i] = gf_table_get_cell(t->t[i], NULL, key, packed ? PACKED : WIDE,
                                      packed ? GF_SLICE("score") : id(n), 1, &t->row[i], &err);
        else
            st[i] = gf_table_get(t->t[i], NULL, key, 1u << PACKED, &t->row[i], &err);
    }
    if (st[0] != st[1])
        fail_msg("LevelDB says %s (%s), the model %s", gf_status_name(st[0]), err.message,
                 gf_status_name(st[1]));
    compare_rows(t);
}

static void blocks_read_as_the_entries_that_they_have(void **state)
{
    (void)state;
    static test t;
    begin(&t, &schema);
    fill(&t);
    assert_true(t.blocks > 2 * GRANULES);
    for (int i = 0; i < 2; i++) {
        assert_true(compare_all(&t) > 100);
        for (int n = 0; n < 300; n++) {
            scan_a_range(&t);
            get_one(&t);
        }
        if (i == 0) open_again(&t, &schema);
        assert_ok(gf_database_compact(t.db[LEVELDB], &err));
    }
    for (uint64_t g = 0; g < GRANULES; g++) /* a whole wide family of a row */
        for (int i = 0; i < SIDES; i++)
            gf_table_get(t.t[i], NULL, gf_test_key2(granule(g), GF_SLICE("row")), 1u << WIDE,
                         &t.row[i], &err);
    compare_rows(&t);
    end(&t);
}

/* ---- columns that are numbers ---------------------------------------------------------------- */

static const gf_run_column typed[] = {{"zone", GF_RUN_AS_BYTES},
                                      {"score", GF_RUN_AS_FLOAT},
                                      {"cluster", GF_RUN_AS_VARINT},
                                      {"near", GF_RUN_AS_DECIMAL},
                                      {"never", GF_RUN_AS_VARINT}};
enum { TYPED = sizeof typed / sizeof typed[0] };

/* A number as the bytes that a column of that form has for it. */
static gf_slice number_bytes(gf_buffer *to, gf_run_form form, uint32_t number)
{
    float v;
    memcpy(&v, &number, sizeof v);
    gf_buffer_reset(to);
    if (form == GF_RUN_AS_VARINT) gf_buffer_varint(to, number);
    if (form == GF_RUN_AS_FLOAT) gf_buffer_u32be(to, number);
    if (form == GF_RUN_AS_DECIMAL) gf_json_append_float(to, v);
    return gf_buffer_view(to);
}

/* Values of entry n, whose columns are there or not by its number; the last of them never is. */
static void make_values(test *t, uint64_t n, unsigned bits, gf_run_value values[TYPED])
{
    for (unsigned c = 0; c < TYPED; c++) {
        float v = (float)below(t, 1 << 24) / (1 << 24);
        values[c] = (gf_run_value){.there = c + 1 < TYPED && (n + c) % 3, .bytes = id(n)};
        values[c].number = (uint32_t)(below(t, UINT64_C(1) << bits));
        if (typed[c].form == GF_RUN_AS_DECIMAL) memcpy(&values[c].number, &v, sizeof v);
    }
}

static void columns_of_numbers_read_as_their_bytes(void **state)
{
    (void)state;
    static test t;
    gf_buffer bytes[TYPED] = {{0}};
    begin(&t, &schema);
    for (unsigned bits = 0; bits <= 32; bits++) {
        gf_run_block *b = &t.block[LEVELDB];
        assert_ok(gf_run_block_begin(b, t.t[LEVELDB], PACKED, typed, TYPED, &err));
        for (uint64_t n = 0; n < 1 + below(&t, 200); n++) {
            gf_run_value values[TYPED];
            gf_column row[TYPED];
            size_t n_columns = 0;
            make_values(&t, n, bits, values);
            for (unsigned c = 0; c < TYPED; c++)
                if (values[c].there)
                    row[n_columns++] =
                        (gf_column){gf_slice_str(typed[c].name),
                                    typed[c].form == GF_RUN_AS_BYTES
                                        ? values[c].bytes
                                        : number_bytes(&bytes[c], typed[c].form, values[c].number)};
            gf_slice key = gf_test_key2(granule(bits), id(n));
            assert_ok(gf_run_block_add(b, key, (gf_slice){0}, values, &err));
            gf_batch_replace(t.batch[MODEL], t.t[MODEL], key, PACKED, row, n_columns, 0);
        }
        assert_ok(gf_run_block_finish(b, &err));
        gf_batch_put_block(t.batch[LEVELDB], b);
    }
    for (int i = 0; i < SIDES; i++)
        assert_ok(gf_batch_write(t.batch[i], GF_SYNC_OFF, &err));
    assert_true(compare_all(&t) > 33);
    for (int n = 0; n < 300; n++) {
        scan_a_range(&t);
        get_one(&t);
    }
    for (unsigned c = 0; c < TYPED; c++)
        gf_buffer_release(&bytes[c]);
    end(&t);
}

/* Lists of members: a cell's value is a number as text. */
static void cells_may_be_numbers(void **state)
{
    (void)state;
    static test t;
    gf_buffer bytes = {0};
    const gf_run_column column = {.name = "", .form = GF_RUN_AS_DECIMAL};
    begin(&t, &schema);
    gf_run_block *b = &t.block[LEVELDB];
    assert_ok(gf_run_block_begin(b, t.t[LEVELDB], WIDE, &column, 1, &err));
    size_t plain = 0;
    for (uint64_t n = 0; !gf_run_block_is_full(b); n++) {
        float v = (float)below(&t, 1 << 24) / (1 << 24);
        gf_run_value value = {.there = true};
        memcpy(&value.number, &v, sizeof v);
        gf_slice key = gf_test_key2(granule(1), GF_SLICE("row"));
        gf_slice text_of_it = number_bytes(&bytes, GF_RUN_AS_DECIMAL, value.number);
        assert_ok(gf_run_block_add(b, key, id(n), &value, &err));
        gf_batch_put(t.batch[MODEL], t.t[MODEL], key, WIDE, id(n), text_of_it, 0);
        plain += 8 + text_of_it.len;
    }
    assert_ok(gf_run_block_finish(b, &err));
    assert_true(gf_run_block_bytes(b) < plain / 2);
    gf_batch_put_block(t.batch[LEVELDB], b);
    for (int i = 0; i < SIDES; i++)
        assert_ok(gf_batch_write(t.batch[i], GF_SYNC_OFF, &err));
    assert_true(compare_all(&t) > 1000);
    gf_buffer_release(&bytes);
    end(&t);
}

/* ---- deleting -------------------------------------------------------------------------------- */

/* Delete what a scan of stored entries gives; how many these are. */
static size_t delete_stored(test *t, int side, unsigned family, gf_slice prefix)
{
    gf_scan *scan;
    gf_status st;
    size_t n = 0;
    assert_ok(gf_scan_open(
        t->t[side],
        &GF_SCAN_OPTIONS(.family = family, .prefix = prefix, .keys_only = true, .as_stored = true),
        &scan, &err));
    for (; (st = gf_scan_next(scan, &t->row[side], &err)) == GF_OK; n++) {
        const gf_row *row = &t->row[side];
        if (family == PACKED)
            gf_batch_delete_row(t->batch[side], t->t[side], row->key, 1u << PACKED);
        else
            gf_batch_delete_cell(t->batch[side], t->t[side], row->key, WIDE,
                                 row->cells[0].qualifier);
    }
    assert_int_equal(st, GF_ENOTFOUND);
    gf_scan_close(scan);
    assert_ok(gf_batch_write(t->batch[side], GF_SYNC_OFF, &err));
    return n;
}

static void stored_entries_are_deleted_as_blocks(void **state)
{
    (void)state;
    static test t;
    size_t deleted[SIDES] = {0};
    begin(&t, &schema);
    fill(&t);
    for (unsigned family = 0; family < 2; family++)
        for (int i = 0; i < SIDES; i++)
            deleted[i] += delete_stored(&t, i, family, gf_test_key("build1"));
    assert_true(deleted[LEVELDB] <= t.blocks);
    assert_true(compare_all(&t) > 0);
    for (unsigned family = 0; family < 2; family++) {
        gf_scan_options o = GF_SCAN_OPTIONS(.family = family, .prefix = gf_test_key("build1"));
        assert_int_equal(scan_both(&t, &o), 0);
        for (int i = 0; i < SIDES; i++)
            deleted[i] += delete_stored(&t, i, family, (gf_slice){0});
    }
    assert_int_equal(deleted[LEVELDB], t.blocks);
    assert_int_equal(compare_all(&t), 0);
    end(&t);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void blocks_keep_order_and_granule(void **state)
{
    (void)state;
    static test t;
    const gf_column row[] = {{GF_SLICE("score"), GF_SLICE("1")}};
    begin(&t, &schema);
    gf_run_block *b = &t.block[0];
    assert_ok(gf_run_block_begin(b, t.t[0], PACKED, NULL, 0, &err));
    assert_ok(gf_run_block_add_row(b, gf_test_key2(granule(1), id(5)), row, 1, &err));
    gf_slice same = gf_test_key2(granule(1), id(5)), lower = gf_test_key2(granule(1), id(4));
    assert_int_equal(gf_run_block_add_row(b, same, row, 1, &err), GF_EINVAL);
    assert_non_null(strstr(err.message, "rise"));
    assert_int_equal(gf_run_block_add_row(b, lower, row, 1, &err), GF_EINVAL);
    gf_slice other = gf_test_key2(granule(2), id(6));
    assert_int_equal(gf_run_block_add_row(b, other, row, 1, &err), GF_EINVAL);
    assert_non_null(strstr(err.message, "granule"));
    assert_int_equal(gf_run_block_add_row(b, gf_test_key2(granule(1), id(6)), row, 0, &err),
                     GF_EINVAL);
    assert_int_equal(gf_run_block_add_row(b, GF_SLICE("no key"), row, 1, &err), GF_EINVAL);
    assert_ok(gf_run_block_add_row(b, gf_test_key2(granule(1), id(6)), row, 1, &err));
    assert_int_equal(b->n, 2);
    assert_int_equal(gf_table_alter_family(t.t[0], WIDE, 1, 60, NULL, &err), GF_EINVAL);
    end(&t);
}

static void runs_have_no_versions_and_no_time_to_live(void **state)
{
    (void)state;
    static test t;
    gf_table *none;
    begin(&t, &schema);
    gf_family family = {.name = "main", .run = true, .versions = 2};
    gf_schema bad = {"bad", parts, 2, &family, 1};
    assert_int_equal(gf_table_open(t.db[0], &bad, &none, &err), GF_EINVAL);
    family.versions = 1;
    family.ttl_seconds = 5;
    assert_int_equal(gf_table_open(t.db[0], &bad, &none, &err), GF_EINVAL);
    end(&t);
}

/* ---- entries of their own -------------------------------------------------------------------- */

static void put_singly(test *t, uint64_t g, uint64_t n)
{
    for (int i = 0; i < SIDES; i++) {
        gf_batch_put(t->batch[i], t->t[i], gf_test_key2(granule(g), id(n)), PACKED,
                     GF_SLICE("score"), text("%llu", n), 0);
        gf_batch_put(t->batch[i], t->t[i], gf_test_key2(granule(g), GF_SLICE("row")), WIDE, id(n),
                     text("%llu", n), 0);
        assert_ok(gf_batch_write(t->batch[i], GF_SYNC_OFF, &err));
    }
}

static void entries_from_before_are_read_beside_blocks(void **state)
{
    (void)state;
    static test t;
    begin(&t, &old_schema);
    for (uint64_t n = 0; n < 200; n += 3)
        put_singly(&t, 8, n);
    open_again(&t, &schema);
    assert_true(gf_table_schema(t.t[LEVELDB])->families[WIDE].run);
    fill(&t);
    put_singly(&t, 9, 1); /* behind all blocks */
    assert_true(compare_all(&t) > 134);
    for (int n = 0; n < 100; n++)
        scan_a_range(&t);
    open_again(&t, &old_schema); /* stays a run for whoever does not say so */
    assert_true(gf_table_schema(t.t[LEVELDB])->families[WIDE].run);
    compare_all(&t);
    end(&t);
}

static gf_status scan_all(test *t, bool reverse)
{
    gf_scan *scan;
    gf_status st;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = PACKED, .reverse = reverse);
    assert_ok(gf_scan_open(t->t[LEVELDB], &o, &scan, &err));
    while ((st = gf_scan_next(scan, &t->row[0], &err)) == GF_OK)
        ;
    gf_scan_close(scan);
    return st;
}

static void overlapping_entries_are_damage(void **state)
{
    (void)state;
    static test t;
    const gf_column row[] = {{GF_SLICE("score"), GF_SLICE("1")}};
    begin(&t, &schema);
    gf_run_block *b = &t.block[0];
    assert_ok(gf_run_block_begin(b, t.t[0], PACKED, NULL, 0, &err));
    for (uint64_t n = 10; n < 20; n++)
        assert_ok(gf_run_block_add_row(b, gf_test_key2(granule(1), id(n)), row, 1, &err));
    assert_ok(gf_run_block_finish(b, &err));
    gf_batch_put_block(t.batch[0], b);
    assert_ok(gf_batch_write(t.batch[0], GF_SYNC_OFF, &err));
    assert_int_equal(scan_all(&t, false), GF_ENOTFOUND);
    put_singly(&t, 1, 15);
    assert_int_equal(scan_all(&t, false), GF_ECORRUPT);
    assert_non_null(strstr(err.message, "overlap"));
    assert_int_equal(scan_all(&t, true), GF_ECORRUPT);
    end(&t);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct short_of_memory {
    test *t;
    gf_run_writer writer;
    gf_batch *batch;
    uint64_t granules;
    size_t found;
} short_of_memory;

/* Write a granule of two blocks, and read it whole, backwards and one entry of it. */
static gf_status write_and_read(void *context, gf_error *e)
{
    short_of_memory *s = context;
    gf_table *table = s->t->t[LEVELDB];
    gf_slice key = gf_test_key2(granule(s->granules++), id(0));
    gf_scan *scan = NULL;
    gf_row row = {0};
    gf_run_value values[TYPED];
    make_values(s->t, 1, 20, values);
    gf_status st = gf_batch_create(s->t->db[LEVELDB], &s->batch, e);
    gf_run_writer_begin(&s->writer, s->batch, table, PACKED, typed, TYPED);
    for (uint64_t n = 0; n < 20 && st == GF_OK; n++) {
        key = gf_test_key2(granule(s->granules), id(n));
        st = gf_run_writer_add(&s->writer, key, (gf_slice){0}, values, e);
        if (st == GF_OK && n == 9) st = gf_run_writer_end(&s->writer, e);
    }
    if (st == GF_OK) st = gf_run_writer_end(&s->writer, e);
    if (st == GF_OK) st = gf_batch_write(s->batch, GF_SYNC_OFF, e);
    for (int reverse = 0; reverse < 2 && st == GF_OK; reverse++) {
        gf_scan_options o = GF_SCAN_OPTIONS(.family = PACKED, .reverse = reverse,
                                            .prefix = gf_test_key(granule(s->granules).ptr));
        st = gf_scan_open(table, &o, &scan, e);
        for (s->found = 0; st == GF_OK; s->found += st == GF_OK)
            st = gf_scan_next(scan, &row, e);
        gf_scan_close(scan);
        scan = NULL;
        if (st == GF_ENOTFOUND) st = s->found == 20 ? GF_OK : GF_ECORRUPT;
    }
    if (st == GF_OK) st = gf_table_get(table, NULL, key, 1u << PACKED, &row, e);
    gf_batch_free(s->batch);
    gf_run_writer_release(&s->writer);
    gf_row_release(&row);
    return st;
}

static void failed_allocations_are_told_of(void **state)
{
    (void)state;
    static test t;
    begin(&t, &schema);
    short_of_memory s = {.t = &t};
    gf_test_sweep(write_and_read, NULL, &s);
    assert_true(s.granules > 20 && s.found == 20);
    end(&t);
}

/* A block that a failed addition left is as it was before it. */
static gf_status add_entry(void *context, gf_error *e)
{
    gf_run_block *b = context;
    size_t n = b->n, size = b->size;
    gf_run_value values[TYPED] = {{.there = true, .bytes = GF_SLICE("a longer value than before")}};
    gf_status st =
        gf_run_block_add(b, gf_test_key2(granule(1), id(n * 7)), (gf_slice){0}, values, e);
    if (st != GF_OK) assert_true(b->n == n && b->size == size);
    return st;
}

static void failed_additions_leave_a_block_as_it_was(void **state)
{
    (void)state;
    static test t;
    begin(&t, &schema);
    gf_run_block *b = &t.block[LEVELDB];
    assert_ok(gf_run_block_begin(b, t.t[LEVELDB], PACKED, typed, TYPED, &err));
    for (int i = 0; i < 200; i++)
        gf_test_sweep(add_entry, NULL, b);
    assert_int_equal(b->n, 200);
    assert_ok(gf_run_block_finish(b, &err));
    gf_batch_put_block(t.batch[LEVELDB], b);
    assert_ok(gf_batch_write(t.batch[LEVELDB], GF_SYNC_OFF, &err));
    gf_scan *scan;
    gf_status st;
    size_t n = 0;
    assert_ok(gf_scan_open(t.t[LEVELDB], &GF_SCAN_OPTIONS(.family = PACKED), &scan, &err));
    for (; (st = gf_scan_next(scan, &t.row[0], &err)) == GF_OK; n++)
        assert_true(gf_slice_equal(t.row[0].key, gf_test_key2(granule(1), id(n * 7))));
    assert_int_equal(st, GF_ENOTFOUND);
    assert_int_equal(n, 200);
    gf_scan_close(scan);
    end(&t);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Read all that the bytes give, forwards and backwards, and look for some keys. */
static gf_status read_block(gf_slice first, gf_slice bytes)
{
    gf_run_reader r = {0};
    gf_status st = gf_run_reader_open(&r, first, 0, bytes, &err);
    if (st == GF_OK) st = gf_run_reader_first(&r, &err);
    size_t n = 0;
    while (st == GF_OK) {
        gf_slice value;
        st = gf_run_reader_value(&r, &value, &err);
        if (st == GF_OK) n += gf_run_reader_key(&r).len + value.len;
        if (st == GF_OK) st = gf_run_reader_next(&r, &err);
    }
    if (st == GF_ENOTFOUND) st = gf_run_reader_last(&r, &err);
    while (st == GF_OK)
        st = gf_run_reader_previous(&r, &err);
    for (uint64_t i = 0; i < 60 && st == GF_ENOTFOUND; i += 7) {
        st = gf_run_reader_seek(&r, gf_test_key2(granule(1), id(i)), &err);
        if (st == GF_OK) st = GF_ENOTFOUND;
    }
    gf_run_reader_release(&r);
    return st;
}

static void damaged_blocks_are_read_within_their_bounds(void **state)
{
    (void)state;
    static test t;
    gf_buffer damaged = {0};
    size_t told = 0, tried = 0;
    begin(&t, &schema);
    gf_run_block *b = &t.block[0];
    assert_ok(gf_run_block_begin(b, t.t[0], PACKED, typed, TYPED, &err));
    for (uint64_t n = 0; n < 50; n++) {
        gf_run_value values[TYPED];
        make_values(&t, n, 9, values);
        gf_slice key = gf_test_key2(granule(1), id(n));
        assert_ok(gf_run_block_add(b, key, (gf_slice){0}, values, &err));
    }
    assert_ok(gf_run_block_finish(b, &err));
    gf_slice first = gf_run_block_key(b), whole = gf_buffer_view(&b->bytes);
    assert_int_equal(read_block(first, whole), GF_ENOTFOUND);
    for (size_t n = 0; n < whole.len; n++) {
        assert_int_equal(read_block(first, gf_slice_of(whole.ptr, n)), GF_ECORRUPT);
        for (int bit = 0; bit < 8; bit++, tried++) {
            gf_buffer_reset(&damaged);
            gf_buffer_slice(&damaged, whole);
            damaged.ptr[n] = (char)(damaged.ptr[n] ^ 1 << bit);
            gf_status st = read_block(first, gf_buffer_view(&damaged));
            assert_true(st == GF_ECORRUPT || st == GF_ENOTFOUND);
            told += st == GF_ECORRUPT;
        }
    }
    assert_true(told > tried / 8); /* what a number is, and a value, is its reader's to check */
    assert_int_equal(read_block(GF_SLICE("other"), whole), GF_ECORRUPT);
    gf_buffer_release(&damaged);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_read_as_the_entries_that_they_have),
        cmocka_unit_test(columns_of_numbers_read_as_their_bytes),
        cmocka_unit_test(cells_may_be_numbers),
        cmocka_unit_test(stored_entries_are_deleted_as_blocks),
        cmocka_unit_test(blocks_keep_order_and_granule),
        cmocka_unit_test(runs_have_no_versions_and_no_time_to_live),
        cmocka_unit_test(entries_from_before_are_read_beside_blocks),
        cmocka_unit_test(overlapping_entries_are_damage),
        cmocka_unit_test(failed_allocations_are_told_of),
        cmocka_unit_test(failed_additions_leave_a_block_as_it_was),
        cmocka_unit_test(damaged_blocks_are_read_within_their_bounds),
    };
    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
