/* Deleting much, in chunks, and clearing away what a crash has left. */
#include "engine/internal.h"

#include "engine/rebuild_internal.h"

enum { ENTRIES_PER_BATCH = 4000 };

static gf_status write_full(gf_batch *batch, gf_error *err)
{
    return gf_batch_changes(batch) >= ENTRIES_PER_BATCH ? gf_batch_write(batch, GF_NO_SYNC, err)
                                                        : GF_OK;
}

/* All entries of a family in a range of rows. */
static gf_status delete_family(gf_table *table, gf_scan_options o, gf_batch *batch, gf_error *err)
{
    bool wide = gf_table_schema(table)->families[o.family].layout == GF_WIDE;
    gf_scan *scan;
    gf_row row = {0};
    gf_status st = gf_scan_open(table, &o, &scan, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && (st = gf_scan_next(scan, &row, err)) == GF_OK) {
        if (wide)
            gf_batch_delete_cell(batch, table, row.key, o.family, row.cells[0].qualifier);
        else
            gf_batch_delete_row(batch, table, row.key, UINT32_C(1) << o.family);
        st = write_full(batch, err);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status delete_rows(gf_store *s, gf_table *table, gf_scan_options o, gf_error *err)
{
    gf_batch *batch;
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    o.keys_only = true;
    for (o.family = 0; o.family < gf_table_schema(table)->n_families && st == GF_OK; o.family++)
        st = delete_family(table, o, batch, err);
    if (st == GF_OK && gf_batch_changes(batch)) st = gf_batch_write(batch, GF_NO_SYNC, err);
    gf_batch_free(batch);
    return st;
}

gf_status gf_delete_rows(gf_store *s, gf_table *table, gf_slice prefix, gf_error *err)
{
    return delete_rows(s, table, (gf_scan_options){.prefix = prefix}, err);
}

gf_status gf_delete_range(gf_store *s, gf_table *table, gf_slice start, gf_slice end, gf_error *err)
{
    return delete_rows(s, table, (gf_scan_options){.start = start, .end = end}, err);
}

gf_status gf_drop_build(gf_store *s, gf_slice build_key, gf_error *err)
{
    gf_status st = gf_delete_rows(s, s->tables.clusters, build_key, err);
    if (st == GF_OK) st = gf_delete_rows(s, s->tables.memberships, build_key, err);
    if (st == GF_OK) st = gf_delete_rows(s, s->tables.builds, build_key, err);
    return st;
}

gf_status gf_finish_deletion(gf_store *s, gf_slice key, gf_error *err)
{
    gf_table *const tables[] = {s->tables.memberships, s->tables.clusters, s->tables.builds,
                                s->tables.changes, s->tables.documents};
    gf_status st = GF_OK;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && st == GF_OK; i++)
        st = gf_delete_rows(s, tables[i], key, err);
    gf_batch *batch = NULL;
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK) {
        /* The row that marks the deletion goes last, and for good. */
        gf_batch_delete_row(batch, s->tables.collections, key, GF_ALL_FAMILIES);
        st = gf_batch_write(batch, GF_SYNC, err);
    }
    gf_batch_free(batch);
    return st;
}

bool gf_is_active(const gf_store *s, gf_slice key_start)
{
    for (const gf_rebuilding *r = s->active; r; r = r->next)
        if (gf_slice_starts(r->key, key_start)) return true;
    return false;
}

/* ---- what a crash has left --------------------------------------------------------------------
 */

/* Collect the row keys of a progress family; each is a varint length and its bytes. */
static gf_status list_unfinished(gf_table *table, unsigned family, gf_buffer *keys, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    gf_scan_options o = {.family = family, .keys_only = true};
    gf_status st = gf_scan_open(table, &o, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row, err)) == GF_OK)
        gf_buffer_string(keys, row.key);
    gf_scan_close(scan);
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? gf_buffer_check(keys, err) : st;
}

/* A build that is served was published, whatever its progress says; another is dropped. */
static gf_status tidy_build(gf_store *s, gf_slice build_key, gf_error *err)
{
    if (gf_is_active(s, build_key)) return GF_OK;
    bool served;
    gf_status st = gf_build_is_served(s, build_key, &served, err);
    if (st != GF_OK || !served) return st == GF_OK ? gf_drop_build(s, build_key, err) : st;
    gf_batch *batch;
    st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    gf_batch_delete_row(batch, s->tables.builds, build_key, 1u << GF_BUILDS_PROGRESS);
    st = gf_batch_write(batch, GF_SYNC, err);
    gf_batch_free(batch);
    return st;
}

gf_status gf_tidy(gf_store *s, gf_error *err)
{
    if (s->tidied) return GF_OK;
    gf_buffer keys = {0};
    gf_slice key;
    gf_status st = list_unfinished(s->tables.collections, GF_COLLECTIONS_PROGRESS, &keys, err);
    for (gf_slice rest = gf_buffer_view(&keys); st == GF_OK && gf_take_string(&rest, &key);)
        st = gf_finish_deletion(s, key, err);
    gf_buffer_reset(&keys);
    if (st == GF_OK) st = list_unfinished(s->tables.builds, GF_BUILDS_PROGRESS, &keys, err);
    for (gf_slice rest = gf_buffer_view(&keys); st == GF_OK && gf_take_string(&rest, &key);)
        st = tidy_build(s, key, err);
    gf_buffer_release(&keys);
    if (st == GF_OK) s->tidied = true;
    return st;
}

gf_status gf_lock(gf_store *s, gf_error *err)
{
    pthread_mutex_lock(&s->write_lock);
    return gf_tidy(s, err);
}

void gf_unlock(gf_store *s)
{
    pthread_mutex_unlock(&s->write_lock);
}
