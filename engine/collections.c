/* Collections: making, reading, listing, deleting. */
#include "engine/internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <unistd.h>

gf_status gf_collection_create(gf_store *s, gf_place where, gf_error *err)
{
    gf_buffer key = {0}, now = {0};
    gf_batch *batch = NULL;
    gf_collection_row row = {0};
    gf_status st = gf_check_place(where, err);
    if (st != GF_OK) return st;
    gf_collection_key(&key, where.name_space, where.collection);
    gf_buffer_number(&now, (uint64_t)gf_clock_ms());
    st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_buffer_check(&now, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK) {
        gf_column columns[] = {{GF_SLICE("size"), GF_SLICE("0")},
                               {GF_SLICE("modified"), gf_buffer_view(&now)},
                               {GF_SLICE("seq"), GF_SLICE("0")}};
        st = gf_lock(s, err);
        if (st == GF_OK) st = gf_collection_row_read(s, NULL, where, &row, err);
        if (st == GF_OK) {
            st = gf_fail(err, GF_EEXISTS, "there is a collection \"%.*s\" already",
                         GF_SLICE_ARG(where.collection));
        } else if (st == GF_ENOTFOUND) {
            gf_batch_replace(batch, s->tables.collections, gf_buffer_view(&key),
                             GF_COLLECTIONS_MAIN, columns, 3, 0);
            st = gf_batch_write(batch, GF_SYNC, err);
        }
        gf_unlock(s);
    }
    gf_collection_row_release(&row);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    gf_buffer_release(&now);
    return st;
}

static gf_status visit_row(const gf_collection_row *row, gf_slice name, gf_visit_collection *visit,
                           void *context, gf_error *err)
{
    gf_collection_info info = {
        .name = name, .size = row->size, .seq = row->seq, .modified = row->modified};
    gf_configuration_state *states;
    gf_status st = gf_collection_row_states(row, &states, &info.n_configurations, err);
    if (st != GF_OK) return st;
    info.configurations = states;
    st = visit(context, &info, err);
    gf_free(states);
    return st;
}

gf_status gf_collection_read(gf_store *s, gf_place where, gf_visit_collection *visit, void *context,
                             gf_error *err)
{
    gf_collection_row row = {0};
    gf_status st = gf_collection_row_read(s, NULL, where, &row, err);
    if (st == GF_OK) st = visit_row(&row, where.collection, visit, context, err);
    gf_collection_row_release(&row);
    return st;
}

/* One row of the walk; those that are being deleted are passed over. */
static gf_status visit_found(gf_store *s, const gf_snapshot *snapshot, gf_collection_row *row,
                             gf_buffer *name, gf_visit_collection *visit, void *context,
                             gf_error *err)
{
    bool going = false;
    gf_buffer_reset(name);
    gf_status st = gf_key_last_string(s->tables.collections, row->row.key, name, err);
    if (st == GF_OK) st = gf_collection_row_decode(row, err);
    if (st == GF_OK) st = gf_collection_is_going(s, snapshot, row->row.key, &going, err);
    if (st != GF_OK || going) return st;
    return visit_row(row, gf_buffer_view(name), visit, context, err);
}

gf_status gf_collections_visit(gf_store *s, gf_slice name_space, gf_slice prefix,
                               gf_visit_collection *visit, void *context, gf_error *err)
{
    gf_buffer start = {0}, name = {0};
    gf_snapshot *snapshot = NULL;
    gf_scan *scan = NULL;
    gf_collection_row row = {0};
    gf_key_string(&start, name_space);
    gf_key_string_start(&start, prefix);
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_snapshot_create(s->db, &snapshot, err);
    gf_scan_options o = {
        .snapshot = snapshot, .family = GF_COLLECTIONS_MAIN, .prefix = gf_buffer_view(&start)};
    if (st == GF_OK) st = gf_scan_open(s->tables.collections, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &row.row, err)) == GF_OK)
        st = visit_found(s, snapshot, &row, &name, visit, context, err);
    gf_scan_close(scan);
    gf_snapshot_free(snapshot);
    gf_collection_row_release(&row);
    gf_buffer_release(&start);
    gf_buffer_release(&name);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* The mark that a deletion has begun: from then on the collection is not there for any read. */
static gf_status mark_deletion(gf_store *s, gf_slice key, gf_error *err)
{
    gf_batch *batch;
    gf_buffer owner = {0};
    gf_buffer_format(&owner, "process %ld", (long)getpid());
    gf_status st = gf_buffer_check(&owner, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK) {
        gf_column columns[] = {{GF_SLICE("state"), GF_SLICE("deleting")},
                               {GF_SLICE("owner"), gf_buffer_view(&owner)}};
        gf_batch_replace(batch, s->tables.collections, key, GF_COLLECTIONS_PROGRESS, columns, 2, 0);
        st = gf_batch_write(batch, GF_SYNC, err);
        gf_batch_free(batch);
    }
    gf_buffer_release(&owner);
    return st;
}

gf_status gf_collection_delete(gf_store *s, gf_place where, gf_error *err)
{
    gf_buffer key = {0};
    gf_collection_row row = {0};
    gf_collection_key(&key, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) {
        st = gf_lock(s, err);
        if (st == GF_OK) st = gf_collection_row_read(s, NULL, where, &row, err);
        if (st == GF_OK && gf_is_active(s, gf_buffer_view(&key)))
            st = gf_fail(err, GF_EBUSY, "collection \"%.*s\" is being rebuilt",
                         GF_SLICE_ARG(where.collection));
        if (st == GF_OK) st = mark_deletion(s, gf_buffer_view(&key), err);
        if (st == GF_OK) st = gf_finish_deletion(s, gf_buffer_view(&key), err);
        gf_unlock(s);
    }
    gf_collection_row_release(&row);
    gf_buffer_release(&key);
    return st;
}
