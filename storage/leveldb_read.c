/* Reading rows: single keys by leveldb_get, whole wide families by a walk. */
#include "storage/leveldb_internal.h"

#include "storage/packed.h"

#include <stdlib.h>

gf_status gf_leveldb_read(gf_leveldb *b, const leveldb_readoptions_t *options, gf_slice key,
                          gf_buffer *value, gf_error *err)
{
    char *message = NULL;
    size_t n = 0;
    char *bytes = leveldb_get(b->db, options, key.ptr, key.len, &n, &message);
    if (message) return gf_leveldb_failure(message, err);
    if (!bytes) return GF_ENOTFOUND;
    gf_buffer_reset(value);
    gf_buffer_append(value, bytes, n);
    leveldb_free(bytes);
    return gf_buffer_check(value, err);
}

/* One read of a row: what the helpers below hand around. */
typedef struct reading {
    gf_leveldb *b;
    const gf_schema *schema;
    const void *snapshot;
    leveldb_readoptions_t *options;
    unsigned table;
    gf_slice key;
    const gf_selection *what;
    gf_row *row;
    gf_buffer physical, entry, unpacked;
} reading;

static gf_status add_packed(reading *r, unsigned f, gf_slice value, int64_t timestamp,
                            gf_error *err)
{
    const gf_family *family = &r->schema->families[f];
    gf_slice rest = gf_row_keep(r->row, value);
    if (!rest.ptr) return gf_fail_memory(err, "a row");
    for (;;) {
        gf_column column;
        gf_status st = gf_packed_next(family, &rest, &column, err);
        if (st == GF_ENOTFOUND) return GF_OK;
        if (st != GF_OK) return st;
        if (r->what->one_cell && !gf_slice_equal(column.name, r->what->qualifier)) continue;
        gf_cell cell = {f, column.name, column.value, timestamp};
        st = gf_row_add(r->row, &cell, err);
        if (st != GF_OK) return st;
    }
}

static gf_status add_wide(reading *r, unsigned f, const gf_found_cell *found, gf_error *err)
{
    gf_slice encoded = found->key.qualifier;
    gf_buffer_reset(&r->unpacked);
    gf_key_take_string(&encoded, &r->unpacked);
    gf_status st = gf_buffer_check(&r->unpacked, err);
    if (st != GF_OK) return st;
    gf_cell cell = {f, gf_row_keep(r->row, gf_buffer_view(&r->unpacked)),
                    gf_row_keep(r->row, found->value), found->timestamp};
    if (!cell.qualifier.ptr || !cell.value.ptr) return gf_fail_memory(err, "a row");
    return gf_row_add(r->row, &cell, err);
}

static gf_status add_found(reading *r, unsigned f, const gf_found_cell *found, gf_error *err)
{
    if (r->schema->families[f].layout == GF_PACKED)
        return add_packed(r, f, found->value, found->timestamp, err);
    return add_wide(r, f, found, err);
}

/* All cells whose physical key starts with r->physical. */
static gf_status read_range(reading *r, unsigned f, gf_error *err)
{
    gf_cells cells;
    gf_status st = gf_cells_open(&cells, r->b, r->snapshot, r->table, f, r->what->versions, err);
    if (st != GF_OK) return st;
    gf_buffer_slice(&cells.lower, gf_buffer_view(&r->physical));
    gf_key_after_prefix(gf_buffer_view(&r->physical), &cells.upper);
    for (;;) {
        gf_found_cell found;
        st = gf_cells_next(&cells, &found, err);
        if (st == GF_OK) st = add_found(r, f, &found, err);
        if (st != GF_OK) break;
    }
    gf_cells_close(&cells);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* The one entry of that key where its value is not cut and lives for ever: no walk is needed. */
static gf_status read_single(reading *r, unsigned f, gf_error *err)
{
    gf_slice key = gf_buffer_view(&r->physical);
    gf_status st = gf_leveldb_read(r->b, r->options, key, &r->entry, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    gf_value_head head;
    if (st == GF_OK) st = gf_value_read_head(gf_buffer_view(&r->entry), &head, err);
    if (st != GF_OK) return st;
    if (gf_value_head_blocks(&head) > 1) return read_range(r, f, err);
    gf_found_cell found = {.timestamp = head.timestamp};
    st = gf_value_unpack(head.flags, head.first, &r->unpacked, &found.value, err);
    if (st != GF_OK) return st;
    if (r->schema->families[f].layout == GF_PACKED)
        return add_packed(r, f, found.value, found.timestamp, err);
    gf_cell cell = {f, r->what->qualifier, gf_row_keep(r->row, found.value), found.timestamp};
    cell.qualifier = gf_row_keep(r->row, cell.qualifier);
    if (!cell.qualifier.ptr || !cell.value.ptr) return gf_fail_memory(err, "a row");
    return gf_row_add(r->row, &cell, err);
}

static gf_status read_family(reading *r, unsigned f, gf_error *err)
{
    const gf_family *family = &r->schema->families[f];
    bool wide = family->layout == GF_WIDE, whole = wide && !r->what->one_cell;
    gf_buffer_reset(&r->physical);
    if (whole) {
        gf_physical_family(&r->physical, r->table, f);
        gf_buffer_slice(&r->physical, r->key);
    } else {
        gf_physical_cell(&r->physical, r->schema, r->table, f, r->key, r->what->qualifier);
    }
    gf_status st = gf_buffer_check(&r->physical, err);
    if (st != GF_OK) return st;
    if (whole || gf_family_has_versions(family) || family->ttl_seconds)
        return read_range(r, f, err);
    return read_single(r, f, err);
}

gf_status gf_leveldb_get(gf_backend *backend, const void *snapshot, unsigned table, gf_slice key,
                         const gf_selection *what, gf_row *row, gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    reading r = {.b = b,
                 .schema = gf_leveldb_schema(b, table),
                 .snapshot = snapshot,
                 .options = snapshot ? gf_leveldb_read_options(snapshot, true) : b->read,
                 .table = table,
                 .key = key,
                 .what = what,
                 .row = row};
    gf_status st = r.options ? GF_OK : gf_fail_memory(err, "a read");
    for (unsigned f = 0; f < r.schema->n_families && st == GF_OK; f++)
        if (what->families >> f & 1) st = read_family(&r, f, err);
    if (st != GF_OK) gf_error_prefix(err, "table %s", r.schema->name);
    if (snapshot && r.options) leveldb_readoptions_destroy(r.options);
    gf_buffer_release(&r.physical);
    gf_buffer_release(&r.entry);
    gf_buffer_release(&r.unpacked);
    return st;
}
