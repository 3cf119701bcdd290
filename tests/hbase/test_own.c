/*
 * The engine's tables over a running HBase, whose URL GROUPERFISH_HBASE has (tests/hbase/up starts
 * one): changes as of a time, and made again later; runs; large values. The same is done there and of
 * the model that writes row after row, with the same answers. The tables are in a namespace of HBase that nobody had.
 */
#include "storage/tables.h"

#include "base/clock.h"
#include "storage/hbase/backend.h"
#include "storage/run_writer.h"
#include "tests/hbase/name_space.h"
#include "tests/storage/model_backend.h"
#include "tests/storage/store.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MODEL, HBASE, SIDES };

static char url[512];

typedef struct test {
    gf_random r;
    gf_database *db[SIDES];
    gf_tables tables[SIDES];
    gf_batch *batch[SIDES];
    char name_space[32];
    uint64_t stamp;
    gf_buffer keys[4];
    gf_buffer large;
} test;

static gf_error err; /* of the last call */

static uint64_t below(test *t, uint64_t n)
{
    return gf_random_below(&t->r, n);
}

static void begin(test *t)
{
    static unsigned times;
    gf_backend *backend;
    *t = (test){.r = gf_random_seed(gf_test_seed(), times), .stamp = (uint64_t)gf_clock_ms()};
    snprintf(t->name_space, sizeof t->name_space, "%" PRIu64 ".%u", t->stamp, times++);
    assert_ok(gf_database_create(gf_model_share_as(NULL, GF_BACKEND_SHARED), &t->db[MODEL], &err));
    assert_ok(gf_hbase_open(url, &backend, &err));
    assert_ok(gf_database_create(backend, &t->db[HBASE], &err));
    for (int i = 0; i < SIDES; i++) {
        assert_ok(gf_tables_open(t->db[i], &t->tables[i], &err));
        assert_ok(gf_batch_create(t->db[i], &t->batch[i], &err));
    }
}

static void end(test *t)
{
    for (int i = 0; i < SIDES; i++) {
        gf_batch_free(t->batch[i]);
        gf_database_close(t->db[i]);
    }
    for (int i = 0; i < 4; i++)
        gf_buffer_release(&t->keys[i]);
    gf_buffer_release(&t->large);
}

/* ---- the tables ------------------------------------------------------------------------------ */

enum { DOCUMENTS, CLUSTERS, COLLECTIONS, BUILDS, MEMBERSHIPS };

static gf_table *table_of(const test *t, int side, int which)
{
    const gf_tables *all = &t->tables[side];
    gf_table *const tables[] = {all->documents, all->clusters, all->collections, all->builds,
                                all->memberships};
    return tables[which];
}

static const gf_slice strings[] = {{"a", 1},    {"ab", 2},       {"a\0", 2}, {"a\0\1", 3},
                                   {"\xFF", 1}, {"\xC3\xA4", 2}, {"a'b", 3}, {"b", 1}};

static gf_slice random_string(test *t)
{
    return strings[below(t, sizeof strings / sizeof strings[0])];
}

/* A key of the table; few of them, so that they meet. */
static gf_slice random_key(test *t, int which, int n)
{
    gf_buffer *b = &t->keys[n];
    gf_buffer_reset(b);
    gf_key_string(b, gf_slice_str(t->name_space));
    gf_key_string(b, strings[below(t, 2)]);
    if (which == DOCUMENTS) gf_key_string(b, random_string(t));
    if (which == DOCUMENTS || which == COLLECTIONS) return gf_buffer_view(b);
    gf_key_string(b, GF_SLICE("default"));
    gf_key_u64(b, 7 + below(t, 2));
    if (which != BUILDS) gf_key_string(b, random_string(t));
    return gf_buffer_view(b);
}

/* Mostly short; some that must be cut. */
static gf_slice random_value(test *t)
{
    static const gf_slice values[] = {{"", 0}, {"1", 1}, {"\1", 1}, {"\0\xFF", 2}, {"\2", 1}};
    if (below(t, 100)) return values[below(t, 5)];
    gf_buffer_reset(&t->large);
    gf_test_random_bytes(&t->r, &t->large, (1 << 20) + (size_t)below(t, 3 << 20));
    return gf_buffer_view(&t->large);
}

/* ---- changes as of a time -------------------------------------------------------------------- */

/* A change that is kept, since it may be made again later. */
typedef struct change {
    int table, kind;
    unsigned family;
    gf_buffer key, qualifier, value;
    size_t n_columns;
} change;

typedef struct written {
    uint64_t stamp;
    change changes[6];
    int n;
} written;

enum { PUT, DELETE_CELL, DELETE_ROW, REPLACE };

/* Of documents and builds whole rows, of collections and builds cells of wide families. */
static void make_change(test *t, change *c)
{
    static const int tables[] = {DOCUMENTS, COLLECTIONS, BUILDS};
    *c = (change){.table = tables[below(t, 3)]};
    bool wide = c->table == COLLECTIONS || (c->table == BUILDS && below(t, 2));
    c->family = c->table == COLLECTIONS ? GF_COLLECTIONS_EDITS : !wide ? 0 : GF_BUILDS_MODEL;
    c->kind = below(t, 4) == 0 ? DELETE_ROW : !wide ? REPLACE : below(t, 3) ? PUT : DELETE_CELL;
    c->n_columns = 1 + (size_t)below(t, 2);
    gf_buffer_slice(&c->key, random_key(t, c->table, 0));
    gf_buffer_slice(&c->qualifier, random_string(t));
    gf_buffer_slice(&c->value, random_value(t));
}

static bool is_of_row(const change *a, const change *b)
{
    return a->table == b->table && gf_slice_equal(gf_buffer_view(&a->key), gf_buffer_view(&b->key));
}

static void release_change(change *c)
{
    gf_buffer_release(&c->key);
    gf_buffer_release(&c->qualifier);
    gf_buffer_release(&c->value);
}

/* Up to six changes; those of one row follow each other, as a journal has them. */
static void make_write(test *t, written *w)
{
    w->stamp = ++t->stamp;
    w->n = 0;
    for (uint64_t tries = 1 + below(t, 6); tries; tries--) {
        change *c = &w->changes[w->n];
        bool parted = false;
        make_change(t, c);
        for (int i = 0; i + 1 < w->n; i++)
            parted |= is_of_row(&w->changes[i], c) && !is_of_row(&w->changes[w->n - 1], c);
        if (parted)
            release_change(c);
        else
            w->n++;
    }
}

static void add_change(const test *t, int side, const change *c)
{
    gf_batch *b = t->batch[side];
    gf_table *table = table_of(t, side, c->table);
    gf_slice key = gf_buffer_view(&c->key), value = gf_buffer_view(&c->value);
    gf_column columns[] = {{c->table == DOCUMENTS ? GF_SLICE("text") : GF_SLICE("terms"), value},
                           {c->table == DOCUMENTS ? GF_SLICE("lang") : GF_SLICE("k"), value}};
    switch (c->kind) {
    case PUT:
        gf_batch_put(b, table, key, c->family, gf_buffer_view(&c->qualifier), value, 0);
        break;
    case DELETE_CELL:
        gf_batch_delete_cell(b, table, key, c->family, gf_buffer_view(&c->qualifier));
        break;
    case DELETE_ROW:
        gf_batch_delete_row(b, table, key, 1u << c->family);
        break;
    default:
        gf_batch_replace(b, table, key, c->family, columns, c->n_columns, 0);
    }
}

static void make_changes(const test *t, int side, const written *w)
{
    for (int i = 0; i < w->n; i++)
        add_change(t, side, &w->changes[i]);
    gf_batch_stamp(t->batch[side], w->stamp);
    assert_ok(gf_batch_write(t->batch[side], GF_SYNC_ON, &err));
    gf_batch_stamp(t->batch[side], 0);
}

static void release_written(written *w)
{
    for (int i = 0; i < w->n; i++)
        release_change(&w->changes[i]);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void same_rows(const gf_row *a, const gf_row *b)
{
    assert_true(gf_slice_equal(a->key, b->key));
    if (a->n_cells != b->n_cells)
        fail_msg("row %.*s: %zu cells of the model, %zu of HBase", GF_SLICE_ARG(a->key), a->n_cells,
                 b->n_cells);
    for (size_t i = 0; i < a->n_cells; i++) {
        assert_int_equal(a->cells[i].family, b->cells[i].family);
        assert_true(gf_slice_equal(a->cells[i].qualifier, b->cells[i].qualifier));
        assert_int_equal(a->cells[i].value.len, b->cells[i].value.len);
        assert_true(gf_slice_equal(a->cells[i].value, b->cells[i].value));
    }
}

/* The number of entries, which are the same. */
static size_t scan(const test *t, int which, const gf_scan_options *options)
{
    gf_scan *scans[SIDES];
    gf_row rows[SIDES] = {{.n_cells = 0}, {.n_cells = 0}};
    gf_status st[SIDES] = {GF_OK, GF_OK};
    size_t n = 0;
    for (int i = 0; i < SIDES; i++)
        assert_ok(gf_scan_open(table_of(t, i, which), options, &scans[i], &err));
    for (;; n++) {
        for (int i = 0; i < SIDES; i++)
            st[i] = gf_scan_next(scans[i], &rows[i], &err);
        if (st[MODEL] != st[HBASE])
            fail_msg("entry %zu: %s of the model, %s of HBase: %s", n, gf_status_name(st[MODEL]),
                     gf_status_name(st[HBASE]), err.message);
        if (st[MODEL] != GF_OK) break;
        same_rows(&rows[MODEL], &rows[HBASE]);
    }
    assert_int_equal(st[HBASE], GF_ENOTFOUND);
    for (int i = 0; i < SIDES; i++) {
        gf_scan_close(scans[i]);
        gf_row_release(&rows[i]);
    }
    return n;
}

static void get(const test *t, int which, gf_slice key, unsigned family, const gf_slice *qualifier)
{
    gf_row rows[SIDES] = {{.n_cells = 0}, {.n_cells = 0}};
    gf_status st[SIDES];
    for (int i = 0; i < SIDES; i++)
        st[i] = qualifier
                    ? gf_table_get_cell(table_of(t, i, which), NULL, key, family, *qualifier, 1,
                                        &rows[i], &err)
                    : gf_table_get(table_of(t, i, which), NULL, key, 1u << family, &rows[i], &err);
    if (st[HBASE] != st[MODEL]) fail_msg("%s", err.message);
    same_rows(&rows[MODEL], &rows[HBASE]);
    for (int i = 0; i < SIDES; i++)
        gf_row_release(&rows[i]);
}

static gf_slice all_of(test *t)
{
    gf_buffer_reset(&t->keys[3]);
    gf_key_string(&t->keys[3], gf_slice_str(t->name_space));
    return gf_buffer_view(&t->keys[3]);
}

static void read_changed(test *t)
{
    const struct {
        int table;
        unsigned family;
    } all[] = {{DOCUMENTS, 0}, {COLLECTIONS, GF_COLLECTIONS_EDITS}, {BUILDS, 0}, {BUILDS, 1}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        gf_scan_options o =
            GF_SCAN_OPTIONS(.family = all[i].family, .prefix = all_of(t),
                            .reverse = below(t, 3) == 0, .keys_only = below(t, 4) == 0);
        scan(t, all[i].table, &o);
        if (all[i].family) {
            gf_slice q = random_string(t);
            get(t, all[i].table, random_key(t, all[i].table, 0), all[i].family, &q);
        } else {
            get(t, all[i].table, random_key(t, all[i].table, 0), 0, NULL);
        }
    }
}

/* ---- late changes ---------------------------------------------------------------------------- */

/*
 * Batches with rising times; some come twice, and earlier ones again, as they do of a process that
 * was cut short, or stopped, whose batch others have finished.
 */
static void what_comes_again_changes_nothing(void **state)
{
    enum { BATCHES = 150, REMEMBERED = 8 };
    test t;
    written last[REMEMBERED] = {{.n = 0}};
    (void)state;
    begin(&t);
    for (int i = 0; i < BATCHES; i++) {
        written *w = &last[i % REMEMBERED];
        release_written(w);
        make_write(&t, w);
        if (below(&t, 3) == 0) make_changes(&t, HBASE, w);
        for (int side = 0; side < SIDES; side++)
            make_changes(&t, side, w);
        if (below(&t, 2)) make_changes(&t, HBASE, &last[below(&t, REMEMBERED)]);
        if (i % 3 == 0) read_changed(&t);
    }
    read_changed(&t);
    for (int i = 0; i < REMEMBERED; i++)
        release_written(&last[i]);
    end(&t);
}

/* A cell that is deleted and put in one batch is there, however often that is made. */
static void deleted_and_put_at_once(void **state)
{
    test t;
    (void)state;
    begin(&t);
    gf_table *builds = t.tables[HBASE].builds;
    gf_slice key = random_key(&t, BUILDS, 0), large;
    gf_buffer_reset(&t.large);
    gf_test_random_bytes(&t.r, &t.large, 2 << 20);
    large = gf_buffer_view(&t.large);
    uint64_t stamp = ++t.stamp;
    for (int i = 0; i < 3; i++) {
        gf_row row = {.n_cells = 0};
        gf_batch *b = t.batch[HBASE];
        gf_batch_delete_cell(b, builds, key, GF_BUILDS_MODEL, GF_SLICE("small"));
        gf_batch_delete_cell(b, builds, key, GF_BUILDS_MODEL, GF_SLICE("large"));
        gf_batch_put(b, builds, key, GF_BUILDS_MODEL, GF_SLICE("small"), GF_SLICE("1"), 0);
        gf_batch_put(b, builds, key, GF_BUILDS_MODEL, GF_SLICE("large"), large, 0);
        gf_batch_stamp(b, stamp);
        assert_ok(gf_batch_write(b, GF_SYNC_ON, &err));
        gf_test_cell_is(builds, NULL, key, GF_BUILDS_MODEL, "small", "1");
        assert_ok(gf_table_get_cell(builds, NULL, key, GF_BUILDS_MODEL, GF_SLICE("large"), 1, &row,
                                    &err));
        assert_true(gf_slice_equal(row.cells[0].value, large));
        gf_row_release(&row);
    }
    gf_batch_stamp(t.batch[HBASE], 0);
    end(&t);
}

static void put_as_of(test *t, uint64_t stamp, const char *id, const char *text, bool with_lang)
{
    gf_column columns[] = {{GF_SLICE("text"), gf_slice_str(text)},
                           {GF_SLICE("lang"), GF_SLICE("en")}};
    gf_buffer key = {0};
    gf_tables_document_key(&key, gf_slice_str(t->name_space), GF_SLICE("c"), gf_slice_str(id));
    if (text)
        gf_batch_replace(t->batch[HBASE], t->tables[HBASE].documents, gf_buffer_view(&key), 0,
                         columns, with_lang ? 2 : 1, 0);
    else
        gf_batch_delete_row(t->batch[HBASE], t->tables[HBASE].documents, gf_buffer_view(&key), 1);
    gf_batch_stamp(t->batch[HBASE], stamp);
    assert_ok(gf_batch_write(t->batch[HBASE], GF_SYNC_ON, &err));
    gf_buffer_release(&key);
}

static void text_is(test *t, const char *id, const char *text, bool with_lang)
{
    gf_buffer key = {0};
    gf_tables_document_key(&key, gf_slice_str(t->name_space), GF_SLICE("c"), gf_slice_str(id));
    gf_test_cell_is(t->tables[HBASE].documents, NULL, gf_buffer_view(&key), 0, "text", text);
    gf_test_cell_is(t->tables[HBASE].documents, NULL, gf_buffer_view(&key), 0, "lang",
                    with_lang ? "en" : NULL);
    gf_buffer_release(&key);
}

static void what_is_newer_stays(void **state)
{
    test t;
    (void)state;
    begin(&t);
    put_as_of(&t, 10, "1", "ten", true);
    put_as_of(&t, 9, "1", "nine", true);
    text_is(&t, "1", "ten", true);
    put_as_of(&t, 9, "1", NULL, false); /* a deletion */
    text_is(&t, "1", "ten", true);
    put_as_of(&t, 11, "1", "eleven", false); /* a replacement */
    text_is(&t, "1", "eleven", false);
    put_as_of(&t, 10, "1", "ten", true); /* what it has replaced comes again */
    text_is(&t, "1", "eleven", false);
    put_as_of(&t, 11, "1", "eleven", false);
    text_is(&t, "1", "eleven", false);
    put_as_of(&t, 12, "1", NULL, false);
    text_is(&t, "1", NULL, false);
    put_as_of(&t, 11, "1", "eleven", false);
    put_as_of(&t, 10, "1", "ten", true);
    text_is(&t, "1", NULL, false);
    put_as_of(&t, 13, "1", "thirteen", true);
    text_is(&t, "1", "thirteen", true);
    put_as_of(&t, 12, "1", NULL, false);
    text_is(&t, "1", "thirteen", true);
    end(&t);
}

/* ---- large values ---------------------------------------------------------------------------- */

static size_t count_parts(test *t, gf_slice key)
{
    /* Another schema of the same table, whose only family is that of the parts. */
    static const gf_key_part parts[] = {
        {"a", GF_PART_STRING, 0}, {"b", GF_PART_STRING, 0}, {"c", GF_PART_STRING, 0}};
    static const gf_family family[] = {{.name = "parts", .layout = GF_LAYOUT_WIDE}};
    const gf_schema s = {"documents", parts, 3, family, 1};
    gf_backend *backend;
    gf_database *db;
    gf_table *table;
    gf_scan *all;
    gf_row row = {0};
    size_t n = 0;
    (void)t;
    assert_ok(gf_hbase_open(url, &backend, &err));
    assert_ok(gf_database_create(backend, &db, &err));
    assert_ok(gf_table_open(db, &s, &table, &err));
    gf_scan_options o = GF_SCAN_OPTIONS(.prefix = key, .keys_only = true);
    assert_ok(gf_scan_open(table, &o, &all, &err));
    while (gf_scan_next(all, &row, &err) == GF_OK)
        n++;
    gf_scan_close(all);
    gf_row_release(&row);
    gf_database_close(db);
    return n;
}

/* 16 MB and more, in requests of 2 MB at most; the parts go with what they are of. */
static void large_values_are_cut(void **state)
{
    test t;
    gf_row row = {0};
    gf_buffer key = {0};
    (void)state;
    begin(&t);
    gf_tables_document_key(&key, gf_slice_str(t.name_space), GF_SLICE("c"), GF_SLICE("1"));
    for (int i = 0; i < 3; i++) {
        size_t n = ((size_t)(i + 1) << 23) + (size_t)i;
        gf_buffer_reset(&t.large);
        gf_test_random_bytes(&t.r, &t.large, n);
        gf_column columns[] = {{GF_SLICE("text"), gf_buffer_view(&t.large)},
                               {GF_SLICE("lang"), GF_SLICE("en")}};
        gf_batch_replace(t.batch[HBASE], t.tables[HBASE].documents, gf_buffer_view(&key), 0,
                         columns, 2, 0);
        gf_batch_stamp(t.batch[HBASE], ++t.stamp);
        assert_ok(gf_batch_write(t.batch[HBASE], GF_SYNC_ON, &err));
        assert_ok(
            gf_table_get(t.tables[HBASE].documents, NULL, gf_buffer_view(&key), 1, &row, &err));
        const gf_cell *text = gf_row_find(&row, 0, "text");
        assert_non_null(text);
        assert_true(gf_slice_equal(text->value, gf_buffer_view(&t.large)));
        assert_int_equal(count_parts(&t, gf_buffer_view(&key)), (n + (3 << 19) - 1) / (3 << 19));
    }
    put_as_of(&t, t.stamp - 1, "1", NULL, false);
    assert_ok(gf_table_get(t.tables[HBASE].documents, NULL, gf_buffer_view(&key), 1, &row, &err));
    put_as_of(&t, ++t.stamp, "1", "short", true);
    text_is(&t, "1", "short", true);
    assert_int_equal(count_parts(&t, gf_buffer_view(&key)), 0);
    gf_row_release(&row);
    gf_buffer_release(&key);
    end(&t);
}

/* Each takes more than 2 MB in all: a document of many fields, and what goes of many documents. */
static void rows_are_cut_that_have_much_in_all(void **state)
{
    enum { FIELDS = 200, DOCUMENTS_THERE = 1500, FEW_FIELDS = 30 };
    static char names[FIELDS][8], value[12000];
    gf_column columns[FIELDS];
    test t;
    gf_row row = {0};
    gf_buffer key = {0};
    (void)state;
    begin(&t);
    gf_batch *b = t.batch[HBASE];
    gf_table *documents = t.tables[HBASE].documents;
    memset(value, 'v', sizeof value);
    for (int i = 0; i < FIELDS; i++) {
        snprintf(names[i], sizeof names[i], "f%03d", i);
        columns[i] = (gf_column){gf_slice_str(names[i]), gf_slice_of(value, sizeof value)};
    }
    for (int deletes = 0; deletes < 2; deletes++) {
        for (int i = 0; i < DOCUMENTS_THERE; i++) {
            char id[16];
            bool large = i == DOCUMENTS_THERE - 1;
            snprintf(id, sizeof id, "%05d", i);
            gf_buffer_reset(&key);
            gf_tables_document_key(&key, gf_slice_str(t.name_space), GF_SLICE("c"),
                                   gf_slice_str(id));
            for (int k = 0; k < FIELDS; k++)
                columns[k].value.len = large ? sizeof value - (size_t)k : 1;
            if (deletes)
                gf_batch_delete_row(b, documents, gf_buffer_view(&key), GF_ALL_FAMILIES);
            else
                gf_batch_replace(b, documents, gf_buffer_view(&key), 0, columns,
                                 large ? FIELDS : FEW_FIELDS, 0);
        }
        gf_batch_stamp(b, ++t.stamp);
        assert_ok(gf_batch_write(b, GF_SYNC_ON, &err));
        gf_status st = gf_table_get(documents, NULL, gf_buffer_view(&key), 1, &row, &err);
        assert_int_equal(st, deletes ? GF_ENOTFOUND : GF_OK);
        assert_int_equal(row.n_cells, deletes ? 0 : FIELDS);
        for (size_t i = 0; i < row.n_cells; i++)
            assert_true(gf_slice_equal(row.cells[i].value, columns[i].value));
        assert_int_equal(count_parts(&t, gf_buffer_view(&key)) > 0, !deletes);
    }
    gf_row_release(&row);
    gf_buffer_release(&key);
    end(&t);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* 0000017.2c9f...: numbers in their order, and what makes them long, so that there are many blocks. */
static gf_slice make_id(unsigned i, char id[64])
{
    uint64_t a = (i + 1) * UINT64_C(0x9E3779B97F4A7C15), b = a * UINT64_C(0xD1342543DE82EF95);
    snprintf(id, 64, "%07u.%016" PRIx64 "%016" PRIx64, i, a, b);
    return gf_slice_str(id);
}

static void put_runs(test *t, int side, gf_slice build, unsigned n, unsigned step)
{
    gf_run_writer w = {0};
    gf_batch *b = t->batch[side];
    gf_tables *all = &t->tables[side];
    gf_buffer key = {0};
    char id[64];
    gf_run_writer_begin(&w, b, all->memberships, 0, gf_tables_membership_columns,
                        GF_MEMBERSHIP_COLUMNS);
    for (unsigned i = 0; i < n; i += step) {
        gf_run_value values[GF_MEMBERSHIP_COLUMNS];
        gf_membership_cells m = {
            .cluster = i % 7, .score = (float)i / 9, .dated = i % 3 == 0, .hour = (int32_t)i};
        gf_tables_membership_values(&m, values);
        gf_buffer_reset(&key);
        gf_tables_membership_key(&key, build, make_id(i, id));
        assert_ok(gf_run_writer_add(&w, gf_buffer_view(&key), (gf_slice){0}, values, &err));
    }
    assert_ok(gf_run_writer_end(&w, &err));
    gf_run_writer_release(&w);
    for (unsigned c = 0; c < 3; c++) {
        gf_buffer_reset(&key);
        gf_tables_cluster_key(&key, build, strings[c]);
        gf_run_writer_begin(&w, b, all->clusters, GF_CLUSTERS_DOCUMENTS, &gf_tables_listed_column,
                            1);
        for (unsigned i = c; i < n; i += step) {
            gf_run_value value = gf_tables_listed_value((float)i / 9);
            assert_ok(gf_run_writer_add(&w, gf_buffer_view(&key), make_id(i, id), &value, &err));
        }
        assert_ok(gf_run_writer_end(&w, &err));
        gf_run_writer_release(&w);
    }
    gf_batch_stamp(b, t->stamp + 1);
    assert_ok(gf_batch_write(b, GF_SYNC_ON, &err));
    gf_batch_stamp(b, 0);
    gf_buffer_release(&key);
}

/* One that is there, perhaps; or the start of one. */
static gf_slice random_id(test *t, char id[64], bool whole)
{
    enum { MOST = 3000, STEP = 17 };
    gf_slice all = make_id(STEP * (unsigned)below(t, MOST), id);
    return whole ? all : gf_slice_of(all.ptr, 1 + (size_t)below(t, all.len));
}

static gf_slice random_of_build(test *t, gf_slice build, int n)
{
    char id[64];
    gf_buffer_reset(&t->keys[n]);
    gf_tables_membership_key(&t->keys[n], build, random_id(t, id, below(t, 4)));
    gf_slice key = gf_buffer_view(&t->keys[n]);
    return below(t, 4) ? key
                       : gf_slice_of(key.ptr, build.len + (size_t)below(t, key.len - build.len));
}

static void scan_run(test *t, gf_slice build)
{
    char id[64], other[64];
    gf_scan_options o = GF_SCAN_OPTIONS(.reverse = below(t, 2), .keys_only = below(t, 3) == 0,
                                        .limit = below(t, 3) ? 1 + below(t, 40) : 0);
    if (below(t, 2)) {
        o.family = 0;
        if (below(t, 2)) o.prefix = build;
        if (!o.prefix.len || below(t, 2)) o.start = random_of_build(t, build, 0);
        if (!o.prefix.len || below(t, 2)) o.end = random_of_build(t, build, 1);
        scan(t, MEMBERSHIPS, &o);
        return;
    }
    o.family = GF_CLUSTERS_DOCUMENTS;
    o.prefix = build;
    if (below(t, 4)) {
        gf_buffer_reset(&t->keys[0]);
        gf_tables_cluster_key(&t->keys[0], build, strings[below(t, 4)]);
        o.prefix = gf_buffer_view(&t->keys[0]);
        if (below(t, 2)) o.after_qualifier = random_id(t, id, below(t, 2));
        if (below(t, 3) == 0) o.qualifier_prefix = random_id(t, other, false);
    }
    scan(t, CLUSTERS, &o);
}

static void get_of_run(test *t, gf_slice build)
{
    char id[64];
    gf_slice text = random_id(t, id, below(t, 4));
    gf_buffer_reset(&t->keys[0]);
    if (below(t, 2)) {
        gf_tables_membership_key(&t->keys[0], build, text);
        get(t, MEMBERSHIPS, gf_buffer_view(&t->keys[0]), 0, NULL);
    } else {
        gf_tables_cluster_key(&t->keys[0], build, strings[below(t, 4)]);
        get(t, CLUSTERS, gf_buffer_view(&t->keys[0]), GF_CLUSTERS_DOCUMENTS, &text);
    }
}

static void delete_as_stored(test *t, gf_slice build)
{
    gf_scan *all;
    gf_row row = {0};
    gf_table *memberships = t->tables[HBASE].memberships;
    gf_scan_options o = GF_SCAN_OPTIONS(.prefix = build, .keys_only = true, .as_stored = true);
    size_t n = 0;
    assert_ok(gf_scan_open(memberships, &o, &all, &err));
    for (; gf_scan_next(all, &row, &err) == GF_OK; n++)
        gf_batch_delete_row(t->batch[HBASE], memberships, row.key, 1);
    gf_scan_close(all);
    assert_true(n > 5 && n < 100);
    gf_batch_stamp(t->batch[HBASE], t->stamp + 2);
    assert_ok(gf_batch_write(t->batch[HBASE], GF_SYNC_ON, &err));
    assert_ok(gf_scan_open(memberships, &o, &all, &err));
    assert_status(GF_ENOTFOUND, gf_scan_next(all, &row, &err));
    gf_scan_close(all);
    gf_row_release(&row);
}

static void runs_read_as_the_models(void **state)
{
    test t;
    gf_buffer builds[2] = {{0}, {0}};
    (void)state;
    begin(&t);
    for (int i = 0; i < 2; i++) {
        gf_tables_build_key(&builds[i], gf_slice_str(t.name_space), GF_SLICE("c"),
                            GF_SLICE("default"), 7 + i);
        for (int side = 0; side < SIDES; side++)
            put_runs(&t, side, gf_buffer_view(&builds[i]), i ? 500 : 50000, i ? 1 : 17);
    }
    for (int i = 0; i < 200; i++) {
        gf_slice build = gf_buffer_view(&builds[below(&t, 2)]);
        if (below(&t, 2))
            scan_run(&t, build);
        else
            get_of_run(&t, build);
    }
    delete_as_stored(&t, gf_buffer_view(&builds[0]));
    gf_scan_options o = GF_SCAN_OPTIONS(.prefix = gf_buffer_view(&builds[1]));
    assert_int_equal(scan(&t, MEMBERSHIPS, &o), 500);
    for (int i = 0; i < 2; i++)
        gf_buffer_release(&builds[i]);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_newer_stays),
                                       cmocka_unit_test(what_comes_again_changes_nothing),
                                       cmocka_unit_test(deleted_and_put_at_once),
                                       cmocka_unit_test(large_values_are_cut),
                                       cmocka_unit_test(rows_are_cut_that_have_much_in_all),
                                       cmocka_unit_test(runs_read_as_the_models)};
    if (!getenv("GROUPERFISH_HBASE")) {
        printf("SKIPPED: no HBase (tests/hbase/up starts one; GROUPERFISH_HBASE has its URL)\n");
        return 77;
    }
    hbase_make_name_space(url, sizeof url);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
