/*
 * Deleting many rows; a block of a run is deleted as the one entry that it is.
 *
 * A deletion of several batches is marked first, in a synced write, and its mark is deleted in the
 * last batch. All batches but the last are synced as well: unsynced ones may be lost though later
 * ones are there, and rows would be left that nothing leads to.
 */
#include "engine/store/delete.h"

#include "base/number.h"
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

static gf_status delete_families(gf_table *table, uint32_t families, gf_scan_options o,
                                 gf_batch *batch, gf_error *err)
{
    const gf_schema *schema = gf_table_schema(table);
    gf_status st = GF_OK;
    o.keys_only = true;
    o.as_stored = true;
    for (o.family = 0; o.family < schema->n_families && st == GF_OK; o.family++) {
        bool wide = schema->families[o.family].layout == GF_LAYOUT_WIDE;
        if (!(families >> o.family & 1)) continue;
        deletion d = {table, o.family, wide, batch};
        st = gf_scan_each(table, &o, delete_entry, &d, err);
    }
    return st;
}

gf_status gf_delete_rows(gf_table *table, gf_slice prefix, gf_batch *batch, gf_error *err)
{
    return delete_families(table, GF_ALL_FAMILIES, GF_SCAN_OPTIONS(.prefix = prefix), batch, err);
}

gf_status gf_delete_range(gf_table *table, gf_slice start, gf_slice end, gf_batch *batch,
                          gf_error *err)
{
    return delete_families(table, GF_ALL_FAMILIES, GF_SCAN_OPTIONS(.start = start, .end = end),
                           batch, err);
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

/* All but the mark. */
static gf_status delete_unmarked(gf_store *s, gf_slice build_key, gf_batch *batch, gf_error *err)
{
    const uint32_t marked = 1u << GF_BUILDS_PROGRESS;
    gf_status st = gf_delete_rows(s->tables.clusters, build_key, batch, err);
    if (st == GF_OK) st = gf_delete_rows(s->tables.memberships, build_key, batch, err);
    if (st == GF_OK)
        st = delete_families(s->tables.builds, GF_ALL_FAMILIES & ~marked,
                             GF_SCAN_OPTIONS(.prefix = build_key), batch, err);
    return st;
}

static gf_status delete_build_rows(gf_store *s, gf_slice build_key, gf_batch *batch, gf_error *err)
{
    gf_status st = delete_unmarked(s, build_key, batch, err);
    if (st == GF_OK)
        st = delete_families(s->tables.builds, 1u << GF_BUILDS_PROGRESS,
                             GF_SCAN_OPTIONS(.prefix = build_key), batch, err);
    return st;
}

/* The mark stays: what it names may yet be written by a process that was stopped. */
static void put_dropped(gf_store *s, gf_slice build_key, const gf_deleter *by, gf_batch *batch)
{
    gf_number_digits digits;
    gf_column columns[] = {{GF_SLICE("state"), GF_SLICE("dropped")},
                           {GF_SLICE("owner"), by->owner},
                           {GF_SLICE("since"), gf_number_write(&digits, by->since)}};
    gf_batch_replace(batch, s->tables.builds, build_key, GF_BUILDS_PROGRESS, columns,
                     by->since ? 3 : 2, 0);
}

/* Each batch as it is full, and the rest; the mark in a write of its own, which comes last. */
static gf_status drop_by_rows(gf_store *s, gf_slice build_key, const gf_deleter *by,
                              gf_batch *batch, gf_error *err)
{
    gf_status st = delete_unmarked(s, build_key, batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    if (st != GF_OK) return st;
    if (by->again)
        gf_batch_delete_row(batch, s->tables.builds, build_key, 1u << GF_BUILDS_PROGRESS);
    else
        put_dropped(s, build_key, by, batch);
    return gf_batch_write(batch, GF_SYNC_ON, err);
}

gf_status gf_delete_build(gf_store *s, gf_slice build_key, const gf_deleter *by, gf_batch *batch,
                          gf_error *err)
{
    gf_error why = {GF_OK, ""};
    if (!gf_store_is_shared(s)) return delete_build_rows(s, build_key, batch, err);
    gf_status st = gf_batch_write(batch, GF_SYNC_ON, err); /* what is of others */
    if (st != GF_OK) return st;
    gf_batch_guard(batch, s->tables.builds, build_key, GF_BUILDS_PROGRESS, GF_SLICE("owner"),
                   by->owner);
    gf_batch_stamp(batch, by->stamp);
    st = gf_database_holds_in_rows(s->db) ? drop_by_rows(s, build_key, by, batch, &why)
                                          : delete_build_rows(s, build_key, batch, &why);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, &why);
    gf_batch_unguard(batch);
    gf_batch_stamp(batch, 0);
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
    if (gf_database_holds_in_rows(s->db)) return GF_OK;
    gf_deleter by = {.owner = gf_slice_str(owner)};
    while (st == GF_OK && gf_slice_take_string(&keys, &key))
        st = gf_delete_build(s, key, &by, batch, err);
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

/* A mark of a build that nobody makes any more, in a collection that goes. */
typedef struct left_marks {
    gf_store *store;
    const gf_deleter *by;
    gf_batch *batch;
} left_marks;

static gf_status leave_mark(void *context, const gf_row *row, gf_error *err)
{
    left_marks *m = context;
    put_dropped(m->store, row->key, m->by, m->batch);
    return gf_batch_changes(m->batch) < ENTRIES_PER_BATCH
               ? GF_OK
               : gf_batch_write(m->batch, GF_SYNC_ON, err);
}

static gf_status leave_marks(gf_store *s, gf_slice key, const gf_deleter *by, gf_batch *batch,
                             gf_error *err)
{
    left_marks m = {s, by, batch};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_BUILDS_PROGRESS, .prefix = key);
    return gf_scan_each(s->tables.builds, &o, leave_mark, &m, err);
}

/* The row that holds itself, which marks the deletion: under the hold, where the mark is still ours. */
static gf_status delete_held_row(gf_store *s, gf_slice key, gf_batch *batch, gf_error *err)
{
    gf_hold hold;
    gf_status st = gf_hold_take(s->tables.collections, &key, 1, &hold, err);
    gf_batch_delete_row(batch, s->tables.collections, key, GF_ALL_FAMILIES);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_hold_let_go(&hold);
    return st;
}

gf_status gf_delete_collection_rows(gf_store *s, gf_slice key, const gf_deleter *by, gf_error *err)
{
    gf_table *const tables[] = {s->tables.memberships, s->tables.clusters, s->tables.builds,
                                s->tables.changes, s->tables.documents};
    gf_batch *batch;
    gf_error why = {GF_OK, ""};
    bool by_rows = gf_database_holds_in_rows(s->db);
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    if (gf_store_is_shared(s))
        gf_batch_guard(batch, s->tables.collections, key, GF_COLLECTIONS_PROGRESS,
                       GF_SLICE("owner"), by->owner);
    gf_batch_stamp(batch, by->stamp);
    if (by_rows) st = leave_marks(s, key, by, batch, &why);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && st == GF_OK; i++)
        st = by_rows && tables[i] == s->tables.builds ? delete_unmarked(s, key, batch, &why)
                                                      : gf_delete_rows(tables[i], key, batch, &why);
    /* The row that marks the deletion goes last, and for good. */
    if (by_rows) {
        if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, &why);
        if (st == GF_OK) st = delete_held_row(s, key, batch, &why);
    } else {
        gf_batch_delete_row(batch, s->tables.collections, key, GF_ALL_FAMILIES);
        if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, &why);
    }
    gf_batch_free(batch);
    if (st == GF_ECONFLICT) return GF_OK; /* another process goes on with it */
    if (st != GF_OK && err) *err = why;
    return st;
}
