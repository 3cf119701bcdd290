/* Reading rows: single keys by a look-up, whole wide families and versions by a walk. */
#include "storage/leveldb/cells.h"
#include "storage/leveldb/value.h"
#include "storage/packed.h"
#include "storage/schema.h"

typedef struct reading {
    gf_leveldb *b;
    const gf_leveldb_snapshot *snapshot;
    unsigned table;
    gf_slice key;
    const gf_selection *what;
    gf_row *row;
    gf_buffer physical, entry, unpacked;
} reading;

/* The family by the newest schema, which has all columns that were read (see gf_leveldb_table). */
static const gf_family *family_now(const reading *r, unsigned f)
{
    return &gf_leveldb_schema(r->b, r->table)->families[f];
}

static gf_status add_packed(reading *r, unsigned f, gf_slice value, int64_t timestamp,
                            gf_error *err)
{
    gf_packed_reader reader = {.family = family_now(r, f), .rest = gf_row_keep(r->row, value)};
    if (!reader.rest.ptr) return gf_fail_memory(err, "a row");
    for (;;) {
        gf_column column;
        gf_status st = gf_packed_next(&reader, &column, err);
        if (st == GF_ENOTFOUND) return GF_OK;
        if (st != GF_OK) return st;
        if (r->what->one_cell && !gf_slice_equal(column.name, r->what->qualifier)) continue;
        gf_cell cell = {f, column.name, column.value, timestamp};
        st = gf_row_add(r->row, &cell, err);
        if (st != GF_OK) return st;
    }
}

static gf_status add_wide(reading *r, unsigned f, gf_slice qualifier, gf_slice value,
                          int64_t timestamp, gf_error *err)
{
    gf_cell cell = {f, gf_row_keep(r->row, qualifier), gf_row_keep(r->row, value), timestamp};
    if (!cell.qualifier.ptr || !cell.value.ptr) return gf_fail_memory(err, "a row");
    return gf_row_add(r->row, &cell, err);
}

static gf_status add_found(reading *r, unsigned f, const gf_leveldb_cell *found, gf_error *err)
{
    if (family_now(r, f)->layout == GF_LAYOUT_PACKED)
        return add_packed(r, f, found->value, found->timestamp, err);
    gf_slice encoded = found->key.qualifier;
    gf_buffer_reset(&r->unpacked);
    gf_key_take_string(&encoded, &r->unpacked);
    gf_status st = gf_buffer_check(&r->unpacked, err);
    if (st != GF_OK) return st;
    return add_wide(r, f, gf_buffer_view(&r->unpacked), found->value, found->timestamp, err);
}

/* All cells whose physical key starts with r->physical. */
static gf_status read_range(reading *r, unsigned f, gf_error *err)
{
    gf_leveldb_cells cells;
    gf_status st = GF_OK;
    gf_leveldb_cells_open(&cells, r->b, r->snapshot, true, r->table, f, r->what->versions);
    gf_leveldb_cells_within(&cells, gf_buffer_view(&r->physical));
    while (st == GF_OK) {
        gf_leveldb_cell found;
        st = gf_leveldb_cells_next(&cells, &found, err);
        if (st == GF_OK) st = add_found(r, f, &found, err);
    }
    gf_leveldb_cells_close(&cells);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* The one entry of that key, which lives for ever: no walk is needed unless its value is cut. */
static gf_status read_single(reading *r, unsigned f, gf_error *err)
{
    gf_slice key = gf_buffer_view(&r->physical), value;
    gf_status st = gf_leveldb_database_get(r->b->db, r->snapshot, key, &r->entry, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    gf_value_head head;
    if (st == GF_OK) st = gf_value_read_head(gf_buffer_view(&r->entry), &head, err);
    if (st != GF_OK) return st;
    if (gf_value_head_blocks(&head) > 1) return read_range(r, f, err);
    st = gf_value_unpack(head.flags, head.first, &r->unpacked, &value, err);
    if (st != GF_OK) return st;
    if (family_now(r, f)->layout == GF_LAYOUT_PACKED)
        return add_packed(r, f, value, head.timestamp, err);
    return add_wide(r, f, r->what->qualifier, value, head.timestamp, err);
}

static gf_status read_family(reading *r, unsigned f, gf_error *err)
{
    const gf_schema *schema = gf_leveldb_schema(r->b, r->table);
    const gf_family *family = &schema->families[f];
    bool whole = family->layout == GF_LAYOUT_WIDE && !r->what->one_cell;
    gf_buffer_reset(&r->physical);
    if (whole) {
        gf_leveldb_keys_family(&r->physical, r->table, f);
        gf_buffer_slice(&r->physical, r->key);
    } else {
        gf_leveldb_keys_cell(&r->physical, schema, r->table, f, r->key, r->what->qualifier);
    }
    gf_status st = gf_buffer_check(&r->physical, err);
    if (st != GF_OK) return st;
    if (whole || gf_leveldb_keys_have_versions(family) || family->ttl_seconds || family->run)
        return read_range(r, f, err);
    return read_single(r, f, err);
}

static gf_status read_families(reading *r, gf_error *err)
{
    gf_status st = GF_OK;
    uint32_t families = r->what->families;
    for (unsigned f = 0; f < GF_MAX_FAMILIES && families >> f && st == GF_OK; f++)
        if (families >> f & 1) st = read_family(r, f, err);
    gf_buffer_release(&r->physical);
    gf_buffer_release(&r->entry);
    gf_buffer_release(&r->unpacked);
    return st;
}

gf_status gf_leveldb_get(gf_backend *backend, const void *snapshot, unsigned table, gf_slice key,
                         const gf_selection *what, gf_row *row, gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    gf_leveldb_view own;
    bool several = what->families & (what->families - 1); /* to be read from one state */
    reading r = {.b = b,
                 .snapshot = gf_leveldb_view_snapshot(snapshot),
                 .table = table,
                 .key = key,
                 .what = what,
                 .row = row};
    if (snapshot || !several) return read_families(&r, err);
    own = gf_leveldb_view_open(b);
    r.snapshot = own.snapshot;
    gf_status st = read_families(&r, err);
    gf_leveldb_view_close(b, &own);
    return st;
}
