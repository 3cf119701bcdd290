/*
 * Deleting many rows; a block of a run is deleted as the one entry that it is.
 *
 * A deletion of several batches is marked first, in a synced write, and its mark is deleted in the
 * last batch. All batches but the last are synced as well: unsynced ones may be lost though later
 * ones are there, and rows would be left that nothing leads to.
 */
#include "engine/store/delete.h"

#include "engine/rows/scan.h"
#include "engine/store/lease.h"
#include "storage/backend.h"

enum { ENTRIES_PER_BATCH = 4000 };

typedef struct deletion {
    gf_table *table;
    unsigned family;
    bool wide;
    gf_batch *batch;
} deletion;

static gf_status delete_entry(void *context, const gf_row *row, gf_error *err)
{
    deletion *d = context;
    if (d->wide)
        gf_batch_delete_cell(d->batch, d->table, row->key, d->family, row->cells[0].qualifier);
    else
        gf_batch_delete_row(d->batch, d->table, row->key, UINT32_C(1) << d->family);
    if (gf_batch_changes(d->batch) < ENTRIES_PER_BATCH) return GF_OK;
    return gf_batch_write(d->batch, GF_SYNC_ON, err);
}

static gf_status delete_all(gf_table *table, gf_scan_options o, gf_batch *batch, gf_error *err)
{
    const gf_schema *schema = gf_table_schema(table);
    gf_status st = GF_OK;
    o.keys_only = true;
    o.as_stored = true;
    for (o.family = 0; o.family < schema->n_families && st == GF_OK; o.family++) {
        bool wide = schema->families[o.family].layout == GF_LAYOUT_WIDE;
        deletion d = {table, o.family, wide, batch};
        st = gf_scan_each(table, &o, delete_entry, &d, err);
    }
    return st;
}

gf_status gf_delete_rows(gf_table *table, gf_slice prefix, gf_batch *batch, gf_error *err)
{
    return delete_all(table, GF_SCAN_OPTIONS(.prefix = prefix), batch, err);
}

gf_status gf_delete_range(gf_table *table, gf_slice start, gf_slice end, gf_batch *batch,
                          gf_error *err)
{
    return delete_all(table, GF_SCAN_OPTIONS(.start = start, .end = end), batch, err);
}

void gf_delete_mark_build(gf_store *s, gf_slice build_key, gf_batch *batch)
{
    char owner[GF_OWNER_BYTES];
    gf_store_name_owner(s, owner);
    gf_column columns[] = {{GF_SLICE("state"), GF_SLICE("dropping")},
                           {GF_SLICE("owner"), gf_slice_str(owner)}};
    gf_batch_replace(batch, s->tables.builds, build_key, GF_BUILDS_PROGRESS, columns,
                     gf_store_is_shared(s) ? 2 : 1, 0);
}

static gf_status delete_build_rows(gf_store *s, gf_slice build_key, gf_batch *batch, gf_error *err)
{
    gf_status st = gf_delete_rows(s->tables.clusters, build_key, batch, err);
    if (st == GF_OK) st = gf_delete_rows(s->tables.memberships, build_key, batch, err);
    if (st == GF_OK) st = gf_delete_rows(s->tables.builds, build_key, batch, err);
    return st;
}

gf_status gf_delete_build(gf_store *s, gf_slice build_key, gf_slice owner, gf_batch *batch,
                          gf_error *err)
{
    gf_error why = {GF_OK, ""};
    if (!gf_store_is_shared(s)) return delete_build_rows(s, build_key, batch, err);
    gf_status st = gf_batch_write(batch, GF_SYNC_ON, err); /* what is of others */
    if (st != GF_OK) return st;
    gf_batch_guard(batch, s->tables.builds, build_key, GF_BUILDS_PROGRESS, GF_SLICE("owner"),
                   owner);
    st = delete_build_rows(s, build_key, batch, &why);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, &why);
    gf_batch_unguard(batch);
    if (st == GF_ECONFLICT) return GF_OK;
    if (st != GF_OK && err) *err = why;
    return st;
}

gf_status gf_delete_builds(gf_store *s, gf_slice keys, gf_batch *batch, gf_error *err)
{
    gf_status st = GF_OK;
    gf_slice key;
    char owner[GF_OWNER_BYTES];
    gf_store_name_owner(s, owner);
    while (st == GF_OK && gf_slice_take_string(&keys, &key))
        st = gf_delete_build(s, key, gf_slice_str(owner), batch, err);
    return st;
}

gf_status gf_reclaim_builds(gf_store *s, gf_place where, gf_error *err)
{
    gf_table *const tables[] = {s->tables.memberships, s->tables.clusters, s->tables.builds};
    gf_buffer key = {0};
    gf_tables_collection_key(&key, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&key, err);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && st == GF_OK; i++)
        st = gf_table_reclaim(tables[i], gf_buffer_view(&key), err);
    gf_buffer_release(&key);
    return st;
}

gf_status gf_delete_collection_rows(gf_store *s, gf_slice key, gf_slice owner, gf_error *err)
{
    gf_table *const tables[] = {s->tables.memberships, s->tables.clusters, s->tables.builds,
                                s->tables.changes, s->tables.documents};
    gf_batch *batch;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    if (gf_store_is_shared(s))
        gf_batch_guard(batch, s->tables.collections, key, GF_COLLECTIONS_PROGRESS,
                       GF_SLICE("owner"), owner);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && st == GF_OK; i++)
        st = gf_delete_rows(tables[i], key, batch, &why);
    /* The row that marks the deletion goes last, and for good. */
    gf_batch_delete_row(batch, s->tables.collections, key, GF_ALL_FAMILIES);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, &why);
    gf_batch_free(batch);
    if (st == GF_ECONFLICT) return GF_OK; /* another process goes on with it */
    if (st != GF_OK && err) *err = why;
    return st;
}
