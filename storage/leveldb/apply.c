/* Changes become entries of a batch: put in order, then cell by cell. */
#include "storage/leveldb/writing.h"

#include "storage/leveldb/cells.h"
#include "storage/schema.h"

#include <assert.h>
#include <stdlib.h>

/* ---- order ----------------------------------------------------------------------------------- */

/* By row; deletions of the row before its cells; by family; by cell where wide; as they came. */
static int compare_changes(const void *a, const void *b)
{
    const gf_leveldb_ordered *x = a, *y = b;
    const gf_change *c = x->change, *d = y->change;
    if (c->table != d->table) return c->table < d->table ? -1 : 1;
    int order = gf_slice_compare(c->key, d->key);
    if (order) return order;
    bool c_row = c->kind == GF_CHANGE_DELETE_ROW, d_row = d->kind == GF_CHANGE_DELETE_ROW;
    if (c_row != d_row) return c_row ? -1 : 1;
    if (!c_row && c->family != d->family) return c->family < d->family ? -1 : 1;
    if (!c_row && x->by_qualifier) order = gf_slice_compare(c->qualifier, d->qualifier);
    if (order) return order;
    return c < d ? -1 : c > d;
}

static gf_leveldb_ordered *put_in_order(gf_leveldb_writing *w, const gf_change *changes, size_t n)
{
    gf_leveldb_ordered *ordered = gf_arena_alloc(&w->arena, n * sizeof *ordered);
    bool sorted = true;
    if (!ordered) return NULL;
    for (size_t i = 0; i < n; i++) {
        const gf_change *c = &changes[i];
        ordered[i] = (gf_leveldb_ordered){.change = c};
        if (c->kind != GF_CHANGE_DELETE_ROW) {
            const gf_schema *schema = gf_leveldb_schema(w->b, c->table);
            ordered[i].by_qualifier = schema->families[c->family].layout == GF_LAYOUT_WIDE;
        }
        sorted = sorted && (i == 0 || compare_changes(&ordered[i - 1], &ordered[i]) < 0);
    }
    if (!sorted) qsort(ordered, n, sizeof *ordered, compare_changes);
    for (size_t i = 1; i < n; i++)
        assert(compare_changes(&ordered[i - 1], &ordered[i]) < 0);
    return ordered;
}

static bool same_row(const gf_change *a, const gf_change *b)
{
    return a->table == b->table && gf_slice_equal(a->key, b->key);
}

static const gf_leveldb_ordered *end_of_row(const gf_leveldb_ordered *first,
                                            const gf_leveldb_ordered *end)
{
    const gf_leveldb_ordered *c = first + 1;
    while (c < end && same_row(c->change, first->change))
        c++;
    return c;
}

static const gf_leveldb_ordered *end_of_run(const gf_leveldb_ordered *first,
                                            const gf_leveldb_ordered *end)
{
    const gf_leveldb_ordered *c = first + 1;
    while (c < end && c->change->family == first->change->family &&
           (!first->by_qualifier || gf_slice_equal(c->change->qualifier, first->change->qualifier)))
        c++;
    return c;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* The columns that the row has; their bytes stay in w->row until the next read. */
static gf_status load_columns(gf_leveldb_writing *w, const gf_leveldb_run *run, int64_t *timestamp,
                              gf_error *err)
{
    gf_selection what = {.families = UINT32_C(1) << run->family, .versions = 1};
    gf_status st = gf_row_begin(&w->row, err);
    if (st == GF_OK)
        st = gf_leveldb_get(&w->b->base, NULL, run->table, run->row, &what, &w->row, err);
    for (size_t i = 0; i < w->row.n_cells && st == GF_OK; i++) {
        const gf_cell *cell = &w->row.cells[i];
        st = gf_packed_set(&w->columns, cell->qualifier, cell->value, err);
        *timestamp = cell->timestamp;
    }
    return st;
}

static gf_status change_columns(gf_leveldb_writing *w, const gf_change *c, int64_t *timestamp,
                                gf_error *err)
{
    gf_status st = GF_OK;
    bool timed = *timestamp != 0; /* else it will have the time of this write */
    if (timed && gf_leveldb_cells_are_expired(w->columns.family, *timestamp, w->now))
        gf_packed_clear(&w->columns);
    if (c->kind == GF_CHANGE_DELETE_CELL) {
        gf_packed_remove(&w->columns, c->qualifier);
        return GF_OK;
    }
    *timestamp = c->timestamp;
    if (c->kind == GF_CHANGE_PUT) return gf_packed_set(&w->columns, c->qualifier, c->value, err);
    gf_packed_clear(&w->columns);
    for (size_t i = 0; i < c->n_columns && st == GF_OK; i++)
        st = gf_packed_set(&w->columns, c->columns[i].name, c->columns[i].value, err);
    return st;
}

/* The last replacement: changes before it do not count, nor does the database's content. */
static const gf_leveldb_ordered *last_replacement(const gf_leveldb_run *run)
{
    const gf_leveldb_ordered *c = run->end;
    while (c > run->first)
        if ((--c)->change->kind == GF_CHANGE_REPLACE) return c;
    return NULL;
}

static gf_status apply_packed(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_error *err)
{
    const gf_leveldb_ordered *replacement = last_replacement(run);
    const gf_leveldb_ordered *c = replacement ? replacement : run->first;
    int64_t timestamp = 0;
    gf_status st = GF_OK;
    w->columns.family = run->schema;
    gf_packed_clear(&w->columns);
    if (!replacement && !run->emptied) st = load_columns(w, run, &timestamp, err);
    for (; c < run->end && st == GF_OK; c++)
        st = change_columns(w, c->change, &timestamp, err);
    if (st == GF_OK) st = gf_leveldb_entries_key(w, run, err);
    if (st != GF_OK) return st;
    if (w->columns.n == 0) return gf_leveldb_entries_delete(w, run, err);
    if (timestamp == 0 && run->schema->ttl_seconds) timestamp = w->now;
    gf_buffer_reset(&w->packed);
    gf_packed_write(&w->columns, &w->packed);
    st = gf_buffer_check(&w->packed, err);
    return st == GF_OK ? gf_leveldb_entries_put(w, run, gf_buffer_view(&w->packed), timestamp, err)
                       : st;
}

static gf_status apply_cell(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_error *err)
{
    const gf_change *last = run->end[-1].change;
    int64_t timestamp = last->timestamp;
    gf_status st = gf_leveldb_entries_key(w, run, err);
    if (st != GF_OK) return st;
    if (last->kind == GF_CHANGE_DELETE_CELL) return gf_leveldb_entries_delete(w, run, err);
    if (timestamp == 0 && run->schema->ttl_seconds) timestamp = w->now;
    if (last->form == GF_VALUE_GIVEN)
        return gf_leveldb_entries_put(w, run, last->value, timestamp, err);
    gf_compressed value = {last->value, last->form == GF_VALUE_SMALLER};
    gf_stored_value v = gf_value_of_compressed(&value, timestamp);
    return gf_leveldb_entries_put_stored(w, run, &v, err);
}

/* The change's key is all of the entry's but table and family. */
static gf_status apply_block(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_error *err)
{
    const gf_change *c = run->first->change;
    if (run->end - run->first != 1)
        return gf_fail(err, GF_EINVAL, "a batch has a block, and other changes of its last row");
    gf_compressed value = {c->value, c->form == GF_VALUE_SMALLER};
    gf_stored_value v = gf_value_of_compressed(&value, 0);
    v.flags |= GF_VALUE_IS_BLOCK;
    gf_buffer_reset(&w->key);
    gf_leveldb_keys_family(&w->key, run->table, run->family);
    gf_buffer_slice(&w->key, c->key);
    gf_status st = gf_buffer_check(&w->key, err);
    return st == GF_OK ? gf_leveldb_entries_put_stored(w, run, &v, err) : st;
}

static gf_status apply_run(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_error *err)
{
    if (run->first->change->kind == GF_CHANGE_PUT_BLOCK) return apply_block(w, run, err);
    if (gf_leveldb_keys_have_versions(run->schema)) return gf_leveldb_history_apply(w, run, err);
    return run->schema->layout == GF_LAYOUT_PACKED ? apply_packed(w, run, err)
                                                   : apply_cell(w, run, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Delete what the database has in one family of a row. */
static gf_status empty_family(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_error *err)
{
    if (run->schema->layout == GF_LAYOUT_PACKED && !gf_leveldb_keys_have_versions(run->schema)) {
        gf_status st = gf_leveldb_entries_key(w, run, err);
        return st == GF_OK ? gf_leveldb_entries_delete(w, run, err) : st;
    }
    gf_buffer_reset(&w->key);
    gf_leveldb_keys_family(&w->key, run->table, run->family);
    gf_buffer_slice(&w->key, run->row);
    gf_status st = gf_buffer_check(&w->key, err);
    return st == GF_OK ? gf_leveldb_entries_delete_prefix(w, err) : st;
}

/* A row's deletions come first: deleted[f] is the last one of family f. */
static gf_status apply_deletions(gf_leveldb_writing *w, const gf_leveldb_ordered **first,
                                 const gf_leveldb_ordered *end,
                                 const gf_change *deleted[GF_MAX_FAMILIES], gf_error *err)
{
    uint32_t families = 0;
    const gf_leveldb_ordered *c = *first;
    const gf_schema *schema = gf_leveldb_schema(w->b, c->change->table);
    gf_leveldb_run run = {.table = c->change->table, .row = c->change->key};
    gf_status st = GF_OK;
    for (; c < end && c->change->kind == GF_CHANGE_DELETE_ROW; c++) {
        families |= c->change->families;
        for (unsigned f = 0; f < schema->n_families; f++)
            if (c->change->families >> f & 1) deleted[f] = c->change;
    }
    *first = c;
    for (unsigned f = 0; f < schema->n_families && st == GF_OK; f++) {
        run.family = f;
        run.schema = &schema->families[f];
        if (families >> f & 1) st = empty_family(w, &run, err);
    }
    return st;
}

static gf_status apply_row(gf_leveldb_writing *w, const gf_leveldb_ordered *first,
                           const gf_leveldb_ordered *end, gf_error *err)
{
    const gf_change *deleted[GF_MAX_FAMILIES] = {NULL};
    gf_status st = GF_OK;
    if (first->change->kind == GF_CHANGE_DELETE_ROW)
        st = apply_deletions(w, &first, end, deleted, err);
    while (first < end && st == GF_OK) {
        const gf_change *c = first->change;
        gf_leveldb_run run = {.table = c->table,
                              .family = c->family,
                              .schema = &gf_leveldb_schema(w->b, c->table)->families[c->family],
                              .row = c->key,
                              .qualifier = c->qualifier,
                              .end = end_of_run(first, end),
                              .emptied = deleted[c->family] != NULL};
        while (run.emptied && first < run.end && first->change < deleted[c->family])
            first++; /* deleted again */
        run.first = first;
        if (first < run.end) st = apply_run(w, &run, err);
        first = run.end;
    }
    return st;
}

gf_status gf_leveldb_apply(gf_leveldb_writing *w, const gf_change *changes, size_t n, gf_error *err)
{
    const gf_leveldb_ordered *first = put_in_order(w, changes, n);
    if (!first) return gf_fail_memory(err, "a batch");
    const gf_leveldb_ordered *end = first + n;
    gf_status st = GF_OK;
    while (first < end && st == GF_OK) {
        const gf_leveldb_ordered *row_end = end_of_row(first, end);
        st = apply_row(w, first, row_end, err);
        if (st != GF_OK)
            gf_error_prefix(err, "table %s", gf_leveldb_schema(w->b, first->change->table)->name);
        first = row_end;
    }
    return st;
}
