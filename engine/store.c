/* Opening and closing a store. */
#include "engine/internal.h"

#include "base/memory.h"
#include "storage/backend.h"

gf_status gf_store_open(const char *path, const gf_store_options *options, gf_store **store,
                        gf_error *err)
{
    gf_store *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a store");
    pthread_mutex_init(&s->write_lock, NULL);
    gf_hold_options hold = {.create = options->create,
                            .wait_seconds = options->wait_seconds,
                            .purpose = options->purpose,
                            .cancel = options->cancel};
    gf_status st = gf_folder_hold(path, &hold, &s->folder, err);
    if (st == GF_OK) st = gf_folder_open(s->folder, &s->db, err);
    if (st == GF_OK) st = gf_tables_open(s->db, &s->tables, err);
    if (st != GF_OK) {
        gf_store_close(s);
        return st;
    }
    *store = s;
    return GF_OK;
}

void gf_store_close(gf_store *s)
{
    if (!s) return;
    gf_database_close(s->db);
    gf_folder_release(s->folder);
    pthread_mutex_destroy(&s->write_lock);
    gf_free(s);
}

bool gf_store_is_new(const gf_store *s)
{
    return gf_folder_is_new(s->folder);
}

gf_database *gf_store_database(gf_store *s)
{
    return s->db;
}

/* ---- status -----------------------------------------------------------------------------------
 */

static gf_status count_rows(gf_table *table, unsigned family, const gf_snapshot *snapshot,
                            uint64_t *n, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    gf_scan_options o = {.snapshot = snapshot, .family = family, .keys_only = true};
    gf_status st = gf_scan_open(table, &o, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row, err)) == GF_OK)
        ++*n;
    gf_scan_close(scan);
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status sum_sizes(gf_store *s, const gf_snapshot *snapshot, gf_store_status *status,
                           gf_error *err)
{
    gf_scan *scan;
    gf_collection_row row = {0};
    gf_scan_options o = {.snapshot = snapshot, .family = GF_COLLECTIONS_MAIN};
    gf_status st = gf_scan_open(s->tables.collections, &o, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row.row, err)) == GF_OK) {
        bool going;
        st = gf_collection_row_decode(&row, err);
        if (st == GF_OK) st = gf_collection_is_going(s, snapshot, row.row.key, &going, err);
        if (st != GF_OK) break;
        if (going) continue;
        status->collections++;
        status->documents += row.size;
    }
    gf_scan_close(scan);
    gf_collection_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_store_read_status(gf_store *s, gf_store_status *status, gf_error *err)
{
    gf_store_status read = {0};
    gf_snapshot *snapshot = NULL;
    gf_status st = gf_snapshot_create(s->db, &snapshot, err);
    if (st == GF_OK) st = sum_sizes(s, snapshot, &read, err);
    if (st == GF_OK) st = count_rows(s->tables.builds, GF_BUILDS_MAIN, snapshot, &read.builds, err);
    if (st == GF_OK)
        st = count_rows(s->tables.builds, GF_BUILDS_PROGRESS, snapshot, &read.unfinished, err);
    if (st == GF_OK)
        st = count_rows(s->tables.collections, GF_COLLECTIONS_PROGRESS, snapshot, &read.unfinished,
                        err);
    if (st == GF_OK) st = gf_folder_size(s->folder, &read.bytes, err);
    gf_snapshot_free(snapshot);
    if (st == GF_OK) *status = read;
    return st;
}
