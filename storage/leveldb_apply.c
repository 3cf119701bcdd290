/* Changes of rows become entries of a batch. */
#include "storage/leveldb_writing.h"

#include "base/memory.h"
#include "storage/packed.h"

/* ---- packed rows that are put together --------------------------------------------------------
 */

static gf_status set_column(gf_writing *w, gf_pending_row *p, gf_slice name, gf_slice value,
                            gf_error *err)
{
    size_t i = 0;
    while (i < p->n && !gf_slice_equal(p->columns[i].name, name))
        i++;
    if (i == p->capacity) {
        size_t capacity = p->capacity ? p->capacity * 2 : 8;
        gf_column *columns = gf_arena_alloc(&w->arena, capacity * sizeof *columns);
        if (!columns) return gf_fail_memory(err, "a batch");
        if (p->n) memcpy(columns, p->columns, p->n * sizeof *columns);
        p->columns = columns;
        p->capacity = capacity;
    }
    p->columns[i] = (gf_column){name, value};
    if (i == p->n) p->n++;
    return GF_OK;
}

static void remove_column(gf_pending_row *p, gf_slice name)
{
    for (size_t i = 0; i < p->n; i++)
        if (gf_slice_equal(p->columns[i].name, name)) p->columns[i--] = p->columns[--p->n];
}

/* The columns that are in the database now. */
static gf_status load_columns(gf_writing *w, gf_pending_row *p, gf_error *err)
{
    gf_row row = {0};
    gf_selection what = {.families = UINT32_C(1) << p->family, .versions = 1};
    gf_status st = gf_row_begin(&row, err);
    if (st == GF_OK) st = gf_leveldb_get(&w->b->base, NULL, p->table, p->key, &what, &row, err);
    for (size_t i = 0; i < row.n_cells && st == GF_OK; i++) {
        gf_slice name = gf_arena_copy(&w->arena, row.cells[i].qualifier);
        gf_slice value = gf_arena_copy(&w->arena, row.cells[i].value);
        st = name.ptr && value.ptr ? set_column(w, p, name, value, err)
                                   : gf_fail_memory(err, "a batch");
        p->timestamp = row.cells[i].timestamp;
    }
    gf_row_release(&row);
    return st;
}

static gf_status find_pending(gf_writing *w, const gf_change *c, bool load, gf_pending_row **row,
                              gf_error *err)
{
    uint32_t id;
    bool added;
    gf_writing_cell_key(w, c->table, c->family, c->key, c->qualifier);
    gf_status st = gf_buffer_check(&w->key, err);
    if (st == GF_OK)
        st = gf_strings_add(&w->pending_keys, gf_buffer_view(&w->key), &id, &added, err);
    if (st != GF_OK) return st;
    if (id == w->pending_capacity) {
        size_t capacity = id ? (size_t)id * 2 : 16;
        gf_pending_row *pending = gf_realloc(w->pending, capacity, sizeof *pending);
        if (!pending) return gf_fail_memory(err, "a batch");
        w->pending = pending;
        w->pending_capacity = capacity;
    }
    *row = &w->pending[id];
    if (!added) return GF_OK;
    **row = (gf_pending_row){.table = c->table, .family = c->family, .key = c->key};
    return load ? load_columns(w, *row, err) : GF_OK;
}

static gf_status merge(gf_writing *w, const gf_change *c, gf_error *err)
{
    gf_pending_row *p;
    gf_status st = find_pending(w, c, c->kind != GF_CHANGE_REPLACE, &p, err);
    if (st != GF_OK) return st;
    if (c->kind == GF_CHANGE_DELETE_CELL) {
        remove_column(p, c->qualifier);
        return GF_OK;
    }
    p->timestamp = c->timestamp;
    if (c->kind == GF_CHANGE_PUT) return set_column(w, p, c->qualifier, c->value, err);
    p->n = 0;
    for (size_t i = 0; i < c->n_columns && st == GF_OK; i++)
        st = set_column(w, p, c->columns[i].name, c->columns[i].value, err);
    return st;
}

static gf_status put_packed(gf_writing *w, unsigned table, unsigned family, gf_slice key,
                            const gf_column *columns, size_t n, int64_t timestamp, gf_error *err)
{
    const gf_family *f = &gf_leveldb_schema(w->b, table)->families[family];
    gf_buffer_reset(&w->packed);
    gf_packed_write(f, columns, n, &w->packed);
    gf_status st = gf_buffer_check(&w->packed, err);
    gf_writing_cell_key(w, table, family, key, (gf_slice){0});
    if (st == GF_OK)
        st = gf_writing_put_value(w, table, family, gf_buffer_view(&w->packed), timestamp, err);
    return st;
}

static gf_status delete_packed(gf_writing *w, unsigned table, unsigned family, gf_slice row,
                               gf_error *err)
{
    gf_writing_cell_key(w, table, family, row, (gf_slice){0});
    gf_status st = gf_buffer_check(&w->key, err);
    if (st != GF_OK) return st;
    const gf_family *f = &gf_leveldb_schema(w->b, table)->families[family];
    if (gf_family_has_versions(f))
        return gf_writing_delete_prefix(w, table, family, gf_buffer_view(&w->key), err);
    return gf_writing_delete_head(w, table, family, gf_buffer_view(&w->key), err);
}

static gf_status write_pending(gf_writing *w, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < w->pending_keys.n && st == GF_OK; i++) {
        gf_pending_row *p = &w->pending[i];
        const gf_family *f = &gf_leveldb_schema(w->b, p->table)->families[p->family];
        p->n = gf_packed_order(f, p->columns, p->n);
        if (p->n)
            st = put_packed(w, p->table, p->family, p->key, p->columns, p->n, p->timestamp, err);
        else
            st = delete_packed(w, p->table, p->family, p->key, err);
    }
    return st;
}

/* ---- one change after the other ---------------------------------------------------------------
 */

static bool is_packed(gf_writing *w, unsigned table, unsigned family)
{
    return gf_leveldb_schema(w->b, table)->families[family].layout == GF_PACKED;
}

/* A wide cell that an earlier change of this batch put is not in the database yet. */
static gf_status forget_puts(gf_writing *w, size_t before, unsigned family, gf_error *err)
{
    const gf_change *c = &w->changes[before];
    gf_status st = GF_OK;
    for (size_t i = 0; i < before && st == GF_OK; i++) {
        const gf_change *p = &w->changes[i];
        if (p->kind != GF_CHANGE_PUT || p->table != c->table || p->family != family) continue;
        if (!gf_slice_equal(p->key, c->key)) continue;
        if (c->kind == GF_CHANGE_DELETE_CELL && !gf_slice_equal(p->qualifier, c->qualifier))
            continue;
        gf_writing_cell_key(w, p->table, family, p->key, p->qualifier);
        if (gf_family_has_versions(&gf_leveldb_schema(w->b, p->table)->families[family]))
            gf_physical_version(&w->key, p->timestamp ? p->timestamp : w->now);
        st = gf_buffer_check(&w->key, err);
        if (st == GF_OK)
            st = gf_writing_delete_head(w, p->table, family, gf_buffer_view(&w->key), err);
    }
    return st;
}

static gf_status delete_wide_cell(gf_writing *w, size_t index, gf_error *err)
{
    const gf_change *c = &w->changes[index];
    gf_writing_cell_key(w, c->table, c->family, c->key, c->qualifier);
    gf_status st = gf_buffer_check(&w->key, err);
    if (st != GF_OK) return st;
    const gf_family *f = &gf_leveldb_schema(w->b, c->table)->families[c->family];
    if (!gf_family_has_versions(f))
        return gf_writing_delete_head(w, c->table, c->family, gf_buffer_view(&w->key), err);
    st = gf_writing_delete_prefix(w, c->table, c->family, gf_buffer_view(&w->key), err);
    return st == GF_OK ? forget_puts(w, index, c->family, err) : st;
}

static gf_status delete_row(gf_writing *w, size_t index, gf_error *err)
{
    const gf_change *c = &w->changes[index];
    const gf_schema *schema = gf_leveldb_schema(w->b, c->table);
    gf_status st = GF_OK;
    for (unsigned f = 0; f < schema->n_families && st == GF_OK; f++) {
        if (!(c->families >> f & 1)) continue;
        if (schema->families[f].layout == GF_PACKED) {
            gf_change none = {.kind = GF_CHANGE_REPLACE, .table = c->table, .family = f};
            none.key = c->key;
            st = w->merges ? merge(w, &none, err) : delete_packed(w, c->table, f, c->key, err);
            continue;
        }
        gf_buffer_reset(&w->key);
        gf_physical_family(&w->key, c->table, f);
        gf_buffer_slice(&w->key, c->key);
        st = gf_buffer_check(&w->key, err);
        if (st == GF_OK)
            st = gf_writing_delete_prefix(w, c->table, f, gf_buffer_view(&w->key), err);
        if (st == GF_OK) st = forget_puts(w, index, f, err);
    }
    return st;
}

static gf_status apply(gf_writing *w, size_t index, gf_error *err)
{
    const gf_change *c = &w->changes[index];
    if (c->kind == GF_CHANGE_DELETE_ROW) return delete_row(w, index, err);
    if (is_packed(w, c->table, c->family)) {
        if (w->merges) return merge(w, c, err);
        return put_packed(w, c->table, c->family, c->key, c->columns, c->n_columns, c->timestamp,
                          err);
    }
    if (c->kind == GF_CHANGE_DELETE_CELL) return delete_wide_cell(w, index, err);
    gf_writing_cell_key(w, c->table, c->family, c->key, c->qualifier);
    return gf_writing_put_value(w, c->table, c->family, c->value, c->timestamp, err);
}

gf_status gf_writing_apply(gf_writing *w, gf_error *err)
{
    for (size_t i = 0; i < w->n && !w->merges; i++) {
        const gf_change *c = &w->changes[i];
        bool single = c->kind == GF_CHANGE_PUT || c->kind == GF_CHANGE_DELETE_CELL;
        w->merges = single && is_packed(w, c->table, c->family);
    }
    gf_status st = GF_OK;
    for (size_t i = 0; i < w->n && st == GF_OK; i++)
        st = apply(w, i, err);
    if (st == GF_OK) st = write_pending(w, err);
    return st;
}
