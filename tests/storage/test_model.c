/*
 * The LevelDB backend against the model: random schemas, random operations on both, and every
 * answer compared. The database is closed and opened, compacted, and its tables get further
 * families and columns now and then.
 */
#include "tests/storage/store.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

enum { TABLES = 3, FAMILIES = 5, SNAPSHOTS = 3, ROWS = 9, QUALIFIERS = 7, STEPS = 4000 };

enum { LEVELDB, MODEL, SIDES };

typedef struct side {
    gf_database *db;
    gf_table *tables[TABLES];
    gf_snapshot *snapshots[SNAPSHOTS]; /* NULL where there is none */
    gf_batch *batch;
    gf_row row;
} side;

/* A schema with room to grow. */
typedef struct random_schema {
    char name[16];
    gf_key_part parts[3];
    gf_family families[FAMILIES];
    char names[FAMILIES][16];
    const char *columns[FAMILIES][4];
    char column_names[FAMILIES][3][16];
    gf_schema schema;
} random_schema;

typedef struct test {
    gf_random r;
    const char *folder;
    gf_test_store store;
    side sides[SIDES];
    random_schema schemas[TABLES];
    int64_t began;
    gf_error err;
    gf_buffer value, key;
    uint64_t step;
} test;

static uint64_t below(test *t, uint64_t n)
{
    return gf_random_below(&t->r, n);
}

/* ---- schemas --------------------------------------------------------------------------------- */

static void make_schema(test *t, int table)
{
    random_schema *s = &t->schemas[table];
    static const gf_key_part kinds[] = {
        {"string", GF_PART_STRING, 0}, {"number", GF_PART_U64, 0}, {"fixed", GF_PART_FIXED, 3}};
    snprintf(s->name, sizeof s->name, "table%d", table);
    s->schema = (gf_schema){s->name, s->parts, 1 + (unsigned)below(t, 3), s->families,
                            2 + (unsigned)below(t, FAMILIES - 2)};
    for (unsigned i = 0; i < s->schema.n_parts; i++)
        s->parts[i] = kinds[below(t, 3)];
    for (int f = 0; f < FAMILIES; f++) {
        snprintf(s->names[f], sizeof s->names[f], "family%d", f);
        for (int c = 0; c < 3; c++)
            snprintf(s->column_names[f][c], sizeof s->column_names[f][c], "f%d.%d", f, c);
        s->columns[f][0] = s->column_names[f][0];
        if (below(t, 2)) s->columns[f][1] = s->column_names[f][1];
        s->families[f] =
            (gf_family){.name = s->names[f],
                        .layout = below(t, 2) ? GF_LAYOUT_WIDE : GF_LAYOUT_PACKED,
                        .versions = (uint32_t)below(t, 2) * (uint32_t)below(t, 4),
                        .ttl_seconds = below(t, 4) ? 0 : 3600,
                        .compression = below(t, 2) ? GF_COMPRESSION_SNAPPY : GF_COMPRESSION_NONE,
                        .columns = s->columns[f]};
    }
}

/* A further known column, or a further family. */
static void grow_schema(test *t, int table)
{
    random_schema *s = &t->schemas[table];
    unsigned f = (unsigned)below(t, s->schema.n_families);
    for (int c = 0; c < 3; c++) {
        if (s->columns[f][c]) continue;
        s->columns[f][c] = s->column_names[f][c];
        return;
    }
    if (s->schema.n_families < FAMILIES) s->schema.n_families++;
}

static void open_tables(test *t, side *s)
{
    gf_error err;
    for (int i = 0; i < TABLES; i++)
        assert_ok(gf_table_open(s->db, &t->schemas[i].schema, &s->tables[i], &err));
}

/* ---- random arguments ------------------------------------------------------------------------ */

/* A row key of a few; some are starts of others. Valid until the next. */
static gf_slice random_key(test *t, int table)
{
    static const gf_slice strings[] = {{"", 0},      {"a", 1},    {"ab", 2},      {"a\0", 2},
                                       {"a\0\1", 3}, {"\xFF", 1}, {"\xC3\xA4", 2}};
    const gf_schema *s = &t->schemas[table].schema;
    gf_buffer_reset(&t->key);
    uint64_t which = below(t, ROWS);
    for (unsigned i = 0; i < s->n_parts; i++, which /= 3) {
        gf_slice string = strings[(which + i) % 7];
        if (s->parts[i].kind == GF_PART_STRING)
            gf_key_string(&t->key, string);
        else if (s->parts[i].kind == GF_PART_U64)
            gf_key_u64(&t->key, which % 3 ? which : UINT64_MAX);
        else
            gf_buffer_append(&t->key, &"\0\xFF\xFF\xFE"[which % 2], 3);
    }
    return gf_buffer_view(&t->key);
}

static gf_slice random_qualifier(test *t, int table, unsigned family)
{
    static const gf_slice others[] = {{"", 0}, {"n", 1}, {"n\0", 2}, {"x", 1}, {"\xFF\xFF", 2}};
    uint64_t which = below(t, QUALIFIERS + 1);
    if (which < 3) return gf_slice_str(t->schemas[table].column_names[family][which]);
    return others[which - 3];
}

/* Mostly short, some numbers, a few long enough to be cut. Valid until the next. */
static gf_slice random_value(test *t)
{
    gf_buffer_reset(&t->value);
    uint64_t kind = below(t, 40);
    if (kind < 12)
        gf_buffer_format(&t->value, "%lld", (long long)below(t, 1000) - 500);
    else if (kind < 13)
        gf_test_random_bytes(&t->r, &t->value, (size_t)below(t, 300 << 10));
    else if (kind < 14)
        gf_test_random_bytes(&t->r, &t->value, (64 << 10) - 2 + (size_t)below(t, 5));
    else
        gf_test_random_bytes(&t->r, &t->value, (size_t)below(t, 60));
    return gf_buffer_view(&t->value);
}

/* None, now and then, or one far from now: past its time to live, within it, to come, before 1970.
 */
static int64_t random_time(test *t)
{
    int64_t few = (int64_t)below(t, 6);
    switch (below(t, 12)) {
    case 0:
        return t->began - 7200000 + few;
    case 1:
    case 2:
        return t->began - 1000000 + few;
    case 3:
        return t->began + 1000000 + few;
    case 4:
        return -few - 1;
    case 5:
        return below(t, 8) ? few + 1 : INT64_MAX - few / 5;
    default:
        return 0;
    }
}

/* ---- comparing ------------------------------------------------------------------------------- */

static int by_cell(const void *a, const void *b)
{
    const gf_cell *x = a, *y = b;
    if (x->family != y->family) return x->family < y->family ? -1 : 1;
    int order = gf_slice_compare(x->qualifier, y->qualifier);
    if (order) return order;
    return x->timestamp > y->timestamp ? -1 : x->timestamp < y->timestamp;
}

static bool same_time(const test *t, int64_t a, int64_t b)
{
    int64_t now = gf_clock_ms();
    if (a == b) return true;
    return a >= t->began && a <= now + 1000 && b >= t->began && b <= now + 1000;
}

/* A packed row lies in the order of the schema that it was written by, so that is not compared. */
static void sort_packed(test *t, int table, gf_row *row)
{
    const gf_schema *s = &t->schemas[table].schema;
    for (size_t i = 1; i < row->n_cells; i++)
        if (s->families[row->cells[i].family].layout == GF_LAYOUT_WIDE)
            assert_true(by_cell(&row->cells[i - 1], &row->cells[i]) < 0);
    if (row->n_cells) qsort(row->cells, row->n_cells, sizeof *row->cells, by_cell);
}

static void compare_rows(test *t, int table)
{
    gf_row *a = &t->sides[LEVELDB].row, *b = &t->sides[MODEL].row;
    assert_true(gf_slice_equal(a->key, b->key));
    assert_int_equal(a->n_cells, b->n_cells);
    sort_packed(t, table, a);
    sort_packed(t, table, b);
    for (size_t i = 0; i < a->n_cells; i++) {
        assert_int_equal(a->cells[i].family, b->cells[i].family);
        assert_true(gf_slice_equal(a->cells[i].qualifier, b->cells[i].qualifier));
        assert_true(gf_slice_equal(a->cells[i].value, b->cells[i].value));
        if (!same_time(t, a->cells[i].timestamp, b->cells[i].timestamp))
            fail_msg("step %llu: table %d, family %u, cell %zu has time %lld, in the model %lld",
                     (unsigned long long)t->step, table, a->cells[i].family, i,
                     (long long)a->cells[i].timestamp, (long long)b->cells[i].timestamp);
    }
}

static void assert_same(test *t, gf_status a, gf_status b)
{
    if (a != b)
        fail_msg("step %llu: LevelDB says %s (%s), the model %s", (unsigned long long)t->step,
                 gf_status_name(a), t->err.message, gf_status_name(b));
}

/* ---- operations ------------------------------------------------------------------------------ */

static void add_replacement(test *t, int table, unsigned family, int64_t time)
{
    gf_column columns[6];
    gf_buffer kept[6] = {{0}};
    size_t n = (size_t)below(t, 6);
    for (size_t i = 0; i < n; i++) {
        gf_buffer_slice(&kept[i], random_value(t));
        gf_slice name = random_qualifier(t, table, family);
        columns[i] = (gf_column){name, gf_buffer_view(&kept[i])};
    }
    gf_slice key = random_key(t, table);
    for (int s = 0; s < SIDES; s++)
        gf_batch_replace(t->sides[s].batch, t->sides[s].tables[table], key, family, columns, n,
                         time);
    for (size_t i = 0; i < n; i++)
        gf_buffer_release(&kept[i]);
}

static void add_change(test *t)
{
    int table = (int)below(t, TABLES);
    const gf_schema *schema = &t->schemas[table].schema;
    unsigned family = (unsigned)below(t, schema->n_families);
    int64_t time = random_time(t);
    uint64_t kind = below(t, 10);
    if (kind < 2 && schema->families[family].layout == GF_LAYOUT_PACKED) {
        add_replacement(t, table, family, time);
        return;
    }
    gf_slice value = random_value(t), qualifier = random_qualifier(t, table, family);
    gf_slice key = random_key(t, table);
    uint32_t families = (uint32_t)below(t, 32);
    for (int i = 0; i < SIDES; i++) {
        side *s = &t->sides[i];
        if (kind == 9)
            gf_batch_delete_row(s->batch, s->tables[table], key, families);
        else if (kind == 8)
            gf_batch_delete_cell(s->batch, s->tables[table], key, family, qualifier);
        else
            gf_batch_put(s->batch, s->tables[table], key, family, qualifier, value, time);
    }
}

static void write_some(test *t)
{
    gf_status st[SIDES];
    uint64_t n = below(t, 4) ? 1 + below(t, 3) : below(t, 30);
    while (n-- > 0)
        add_change(t);
    for (int i = 0; i < SIDES; i++)
        st[i] = gf_batch_write(t->sides[i].batch, below(t, 50) ? GF_SYNC_OFF : GF_SYNC_ON, &t->err);
    assert_same(t, st[0], st[1]);
    assert_int_equal(st[0], GF_OK);
}

static void write_if(test *t)
{
    gf_status st[SIDES];
    gf_buffer kept = {0};
    int table = (int)below(t, TABLES);
    unsigned family = (unsigned)below(t, t->schemas[table].schema.n_families);
    gf_slice qualifier = random_qualifier(t, table, family), expected = {0};
    bool absent = below(t, 3) == 0;
    add_change(t);
    gf_slice key = random_key(t, table);
    side *model = &t->sides[MODEL];
    if (below(t, 2) && gf_table_get_cell(model->tables[table], NULL, key, family, qualifier, 1,
                                         &model->row, NULL) == GF_OK)
        gf_buffer_slice(&kept, model->row.cells[0].value);
    expected = gf_buffer_view(&kept);
    for (int i = 0; i < SIDES; i++)
        st[i] = gf_batch_write_if(t->sides[i].batch, t->sides[i].tables[table], key, family,
                                  qualifier, absent ? NULL : &expected, GF_SYNC_OFF, &t->err);
    assert_same(t, st[0], st[1]);
    gf_buffer_release(&kept);
}

static void increment(test *t)
{
    gf_status st[SIDES];
    int64_t sums[SIDES] = {7, 7};
    int table = (int)below(t, TABLES);
    unsigned family = (unsigned)below(t, t->schemas[table].schema.n_families);
    gf_slice qualifier = random_qualifier(t, table, family), key = random_key(t, table);
    int64_t delta = below(t, 20) ? (int64_t)below(t, 100) - 50 : INT64_MAX - (int64_t)below(t, 3);
    for (int i = 0; i < SIDES; i++)
        st[i] = gf_table_increment(t->sides[i].tables[table], key, family, qualifier, delta,
                                   GF_SYNC_OFF, &sums[i], &t->err);
    assert_same(t, st[0], st[1]);
    assert_int_equal(sums[0], sums[1]);
}

static void read_row(test *t)
{
    gf_status st[SIDES];
    int table = (int)below(t, TABLES);
    uint64_t snapshot = below(t, SNAPSHOTS + 1);
    uint32_t families = (uint32_t)below(t, 64);
    gf_slice key = random_key(t, table);
    for (int i = 0; i < SIDES; i++) {
        side *s = &t->sides[i];
        const gf_snapshot *from = snapshot < SNAPSHOTS ? s->snapshots[snapshot] : NULL;
        st[i] = gf_table_get(s->tables[table], from, key, families, &s->row, &t->err);
    }
    assert_same(t, st[0], st[1]);
    compare_rows(t, table);
}

static void read_cell(test *t)
{
    gf_status st[SIDES];
    int table = (int)below(t, TABLES);
    unsigned family = (unsigned)below(t, t->schemas[table].schema.n_families);
    uint64_t snapshot = below(t, SNAPSHOTS + 1);
    uint32_t versions = (uint32_t)below(t, 5);
    gf_slice qualifier = random_qualifier(t, table, family), key = random_key(t, table);
    for (int i = 0; i < SIDES; i++) {
        side *s = &t->sides[i];
        const gf_snapshot *from = snapshot < SNAPSHOTS ? s->snapshots[snapshot] : NULL;
        st[i] = gf_table_get_cell(s->tables[table], from, key, family, qualifier, versions, &s->row,
                                  &t->err);
    }
    assert_same(t, st[0], st[1]);
    compare_rows(t, table);
}

static void scan_both(test *t, int table, gf_scan_options o, uint64_t snapshot)
{
    gf_scan *scans[SIDES] = {NULL};
    gf_status st[SIDES];
    for (int i = 0; i < SIDES; i++) {
        side *s = &t->sides[i];
        o.snapshot = snapshot < SNAPSHOTS ? s->snapshots[snapshot] : NULL;
        st[i] = gf_scan_open(s->tables[table], &o, &scans[i], &t->err);
    }
    assert_same(t, st[0], st[1]);
    while (st[0] == GF_OK) {
        for (int i = 0; i < SIDES; i++)
            st[i] = gf_scan_next(scans[i], &t->sides[i].row, &t->err);
        assert_same(t, st[0], st[1]);
        compare_rows(t, table);
    }
    if (scans[0]) assert_int_equal(st[0], GF_ENOTFOUND);
    for (int i = 0; i < SIDES; i++)
        gf_scan_close(scans[i]);
}

static void scan_some(test *t)
{
    int table = (int)below(t, TABLES);
    gf_buffer prefix = {0}, start = {0}, end = {0};
    unsigned family = (unsigned)below(t, t->schemas[table].schema.n_families);
    gf_scan_options o = GF_SCAN_OPTIONS(.family = family);
    o.reverse = below(t, 2);
    o.keys_only = below(t, 4) == 0;
    o.limit = below(t, 3) ? 0 : below(t, 6);
    gf_slice key = random_key(t, table);
    if (below(t, 2)) gf_buffer_append(&prefix, key.ptr, below(t, 3) ? key.len : key.len / 2);
    if (below(t, 3) == 0) gf_buffer_slice(&start, random_key(t, table));
    if (below(t, 3) == 0) gf_buffer_slice(&end, random_key(t, table));
    o.prefix = gf_buffer_view(&prefix);
    o.start = gf_buffer_view(&start);
    o.end = gf_buffer_view(&end);
    if (below(t, 4) == 0) o.qualifier_prefix = random_qualifier(t, table, family);
    if (below(t, 4) == 0) o.after_qualifier = random_qualifier(t, table, family);
    scan_both(t, table, o, below(t, SNAPSHOTS + 1));
    gf_buffer_release(&prefix);
    gf_buffer_release(&start);
    gf_buffer_release(&end);
}

static void change_snapshot(test *t)
{
    uint64_t which = below(t, SNAPSHOTS);
    gf_error err;
    for (int i = 0; i < SIDES; i++) {
        side *s = &t->sides[i];
        bool had = s->snapshots[which] != NULL;
        gf_snapshot_free(s->snapshots[which]);
        s->snapshots[which] = NULL;
        if (!had) assert_ok(gf_snapshot_create(s->db, &s->snapshots[which], &err));
    }
}

static void compare_all(test *t)
{
    for (int table = 0; table < TABLES; table++)
        for (unsigned f = 0; f < t->schemas[table].schema.n_families; f++)
            for (int reverse = 0; reverse < 2; reverse++) {
                gf_scan_options o = GF_SCAN_OPTIONS(.family = f, .reverse = reverse);
                scan_both(t, table, o, SNAPSHOTS);
            }
}

/* ---- the course of a test -------------------------------------------------------------------- */

static void release_side(side *s)
{
    gf_batch_free(s->batch);
    s->batch = NULL;
    for (int i = 0; i < SNAPSHOTS; i++) {
        gf_snapshot_free(s->snapshots[i]);
        s->snapshots[i] = NULL;
    }
}

static void open_side(test *t, side *s)
{
    gf_error err;
    open_tables(t, s);
    assert_ok(gf_batch_create(s->db, &s->batch, &err));
}

static void open_again(test *t)
{
    gf_error err;
    for (int i = 0; i < SIDES; i++)
        release_side(&t->sides[i]);
    gf_test_store_close(&t->store);
    assert_ok(gf_test_store_open(&t->store, t->folder, &err));
    t->sides[LEVELDB].db = t->store.db;
    for (int i = 0; i < SIDES; i++)
        open_side(t, &t->sides[i]);
}

static void grow(test *t)
{
    grow_schema(t, (int)below(t, TABLES));
    for (int i = 0; i < SIDES; i++)
        open_tables(t, &t->sides[i]);
}

static void take_step(test *t)
{
    uint64_t kind = below(t, 100);
    if (kind < 30)
        write_some(t);
    else if (kind < 38)
        write_if(t);
    else if (kind < 45)
        increment(t);
    else if (kind < 60)
        read_row(t);
    else if (kind < 78)
        read_cell(t);
    else if (kind < 95)
        scan_some(t);
    else
        change_snapshot(t);
    if (below(t, 100) == 0) compare_all(t);
    if (below(t, 300) == 0) open_again(t);
    gf_error err;
    if (below(t, 300) == 0) assert_ok(gf_database_compact(t->sides[LEVELDB].db, &err));
    if (below(t, 250) == 0) grow(t);
}

static void equals_the_model(uint64_t seed, uint64_t steps)
{
    static test t;
    gf_error err;
    memset(&t, 0, sizeof t);
    t.r = gf_random_seed(seed, 0);
    t.began = gf_clock_ms();
    t.folder = gf_test_folder();
    for (int i = 0; i < TABLES; i++)
        make_schema(&t, i);
    assert_ok(gf_test_store_open(&t.store, t.folder, &err));
    t.sides[LEVELDB].db = t.store.db;
    t.sides[MODEL].db = gf_test_model();
    for (int i = 0; i < SIDES; i++)
        open_side(&t, &t.sides[i]);
    for (t.step = 0; t.step < steps; t.step++)
        take_step(&t);
    compare_all(&t);
    for (int i = 0; i < SIDES; i++) {
        release_side(&t.sides[i]);
        gf_row_release(&t.sides[i].row);
    }
    gf_database_close(t.sides[MODEL].db);
    gf_test_store_close(&t.store);
    gf_buffer_release(&t.value);
    gf_buffer_release(&t.key);
}

static void random_operations_equal_the_model(void **state)
{
    (void)state;
    uint64_t seed = gf_test_seed();
    for (uint64_t i = 0; i < 4; i++)
        equals_the_model(seed + i, STEPS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_operations_equal_the_model)};
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
