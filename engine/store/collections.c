/* Collections: making, reading, listing, deleting. */
#include "engine/store/collections.h"

#include "base/memory.h"
#include "engine/rows/names.h"
#include "engine/rows/scan.h"
#include "engine/store/delete.h"
#include "engine/store/hold.h"
#include "engine/store/lease.h"
#include "storage/tables.h"

#include <xxhash.h>

/* ---- rows ------------------------------------------------------------------------------------ */

gf_status gf_collection_is_deleting(gf_store *s, const gf_snapshot *snapshot, gf_slice key,
                                    bool *deleting, gf_error *err)
{
    gf_row row = {0};
    gf_status st = gf_table_get(s->tables.collections, snapshot, key, 1u << GF_COLLECTIONS_PROGRESS,
                                &row, err);
    gf_row_release(&row);
    *deleting = st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_collection_row_read(gf_store *s, const gf_snapshot *snapshot, gf_place where,
                                 gf_collection_row *r, gf_error *err)
{
    gf_buffer key = {0};
    gf_tables_collection_key(&key, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(s->tables.collections, snapshot, gf_buffer_view(&key),
                          1u << GF_COLLECTIONS_MAIN | 1u << GF_COLLECTIONS_PROGRESS, &r->row, err);
    gf_buffer_release(&key);
    r->deleting = st == GF_OK && gf_row_find(&r->row, GF_COLLECTIONS_PROGRESS, "state");
    if (st == GF_ENOTFOUND || r->deleting)
        return gf_fail(err, GF_ENOTFOUND, "there is no collection \"%.*s\"",
                       GF_SLICE_ARG(where.collection));
    return st == GF_OK ? gf_collection_row_decode(r, err) : st;
}

gf_status gf_collection_defaults_read(gf_store *s, const gf_snapshot *snapshot, gf_slice name_space,
                                      gf_row *row, gf_slice *defaults, gf_error *err)
{
    gf_buffer key = {0};
    *defaults = (gf_slice){0};
    gf_tables_collection_key(&key, name_space, (gf_slice){0});
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(s->tables.collections, snapshot, gf_buffer_view(&key),
                          1u << GF_COLLECTIONS_DEFAULTS, row, err);
    gf_buffer_release(&key);
    const gf_cell *cell =
        st == GF_OK ? gf_row_find(row, GF_COLLECTIONS_DEFAULTS, "defaults") : NULL;
    if (cell) *defaults = cell->value;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_collection_fail_deleting(gf_slice collection, gf_error *err)
{
    return gf_fail(err, GF_EBUSY, "collection \"%.*s\" is still being deleted; try again",
                   GF_SLICE_ARG(collection));
}

/* ---- making ---------------------------------------------------------------------------------- */

/* While it is held. */
static gf_status create(gf_store *s, gf_place where, gf_slice key, gf_batch *batch, gf_error *err)
{
    gf_collection_row row = {0};
    gf_column columns[] = {{GF_SLICE("size"), GF_SLICE("0")},
                           {GF_SLICE("modified"), GF_SLICE("0")},
                           {GF_SLICE("seq"), GF_SLICE("0")}};
    gf_status st = gf_collection_row_read(s, NULL, where, &row, err);
    bool deleting = row.deleting;
    gf_collection_row_release(&row);
    if (st == GF_OK)
        return gf_fail(err, GF_EEXISTS, "there is a collection \"%.*s\" already",
                       GF_SLICE_ARG(where.collection));
    if (st != GF_ENOTFOUND) return st;
    if (deleting) return gf_collection_fail_deleting(where.collection, err);
    gf_batch_replace(batch, s->tables.collections, key, GF_COLLECTIONS_MAIN, columns, 3, 0);
    return gf_batch_write(batch, GF_SYNC_ON, err);
}

gf_status gf_collection_create(gf_store *s, gf_place where, gf_error *err)
{
    gf_buffer key = {0};
    gf_batch *batch = NULL;
    gf_hold hold;
    gf_status st = gf_name_check_place(where, err);
    if (st != GF_OK) return st;
    gf_tables_collection_key(&key, where.name_space, where.collection);
    st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK) {
        st = gf_hold_collection(s, where, &hold, err);
        if (st == GF_OK) st = create(s, where, gf_buffer_view(&key), batch, err);
        gf_hold_let_go(&hold);
    }
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

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

/* The last numbers of the configuration's watches, which each look at its candidates changes (engine/config/watches.h). */
static gf_status hash_looks(gf_store *s, gf_place where, gf_slice configuration, uint64_t *hash,
                            gf_error *err)
{
    gf_buffer key = {0}, qualifier = {0};
    gf_row row = {0};
    gf_tables_collection_key(&key, where.name_space, where.collection);
    gf_key_string(&qualifier, configuration);
    gf_buffer_byte(&qualifier, 's');
    gf_buffer_u64be(&qualifier, 0);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_buffer_check(&qualifier, err);
    if (st == GF_OK)
        st = gf_table_get_cell(s->tables.collections, NULL, gf_buffer_view(&key),
                               GF_COLLECTIONS_WATCHES, gf_buffer_view(&qualifier), 1, &row, err);
    if (st == GF_OK) *hash = XXH64(row.cells[0].value.ptr, row.cells[0].value.len, *hash);
    gf_row_release(&row);
    gf_buffer_release(&key);
    gf_buffer_release(&qualifier);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_collection_mark(gf_store *s, gf_place where, gf_slice configuration, uint64_t *hash,
                             int64_t *served, gf_error *err)
{
    gf_collection_row row = {0};
    gf_status st = gf_collection_row_read(s, NULL, where, &row, err);
    if (st == GF_OK) {
        uint64_t h = row.row.n_cells;
        for (size_t i = 0; i < row.row.n_cells; i++) {
            const gf_cell *c = &row.row.cells[i];
            h = XXH64(c->qualifier.ptr, c->qualifier.len, h + c->value.len);
            h = XXH64(c->value.ptr ? c->value.ptr : "", c->value.len, h);
        }
        *hash = h;
        *served = gf_collection_row_served(&row, configuration);
        st = hash_looks(s, where, configuration, hash, err);
    }
    gf_collection_row_release(&row);
    return st;
}

typedef struct collection_walk {
    gf_store *store;
    const gf_snapshot *snapshot;
    gf_buffer name;
    gf_visit_collection *visit;
    void *context;
} collection_walk;

/* One row of the walk; those that are being deleted are passed over. */
static gf_status visit_found(void *context, const gf_row *found, gf_error *err)
{
    collection_walk *w = context;
    gf_collection_row row = {.row = *found}; /* borrowed */
    bool deleting = false;
    gf_buffer_reset(&w->name);
    gf_status st =
        gf_tables_key_last_string(w->store->tables.collections, found->key, &w->name, err);
    if (st == GF_OK) st = gf_collection_row_decode(&row, err);
    if (st == GF_OK)
        st = gf_collection_is_deleting(w->store, w->snapshot, found->key, &deleting, err);
    if (st != GF_OK || deleting) return st;
    return visit_row(&row, gf_buffer_view(&w->name), w->visit, w->context, err);
}

gf_status gf_collections_visit(gf_store *s, gf_slice name_space, gf_slice prefix,
                               gf_visit_collection *visit, void *context, gf_error *err)
{
    collection_walk w = {.store = s, .visit = visit, .context = context};
    gf_buffer start = {0};
    gf_snapshot *snapshot = NULL;
    gf_key_string(&start, name_space);
    gf_key_string_start(&start, prefix);
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_snapshot_create(s->db, &snapshot, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = snapshot, .family = GF_COLLECTIONS_MAIN,
                                        .prefix = gf_buffer_view(&start));
    w.snapshot = snapshot;
    if (st == GF_OK) st = gf_scan_each(s->tables.collections, &o, visit_found, &w, err);
    gf_snapshot_free(snapshot);
    gf_buffer_release(&start);
    gf_buffer_release(&w.name);
    return st;
}

/* ---- namespaces ------------------------------------------------------------------------------ */

typedef struct namespace_walk {
    gf_buffer name; /* of the first row from a key on */
    bool found;
} namespace_walk;

static gf_status take_namespace(void *context, const gf_row *row, gf_error *err)
{
    namespace_walk *w = context;
    gf_slice key = row->key;
    gf_buffer_reset(&w->name);
    if (!gf_key_take_string(&key, &w->name))
        return gf_fail(err, GF_ECORRUPT, "table collections: a key is damaged");
    w->found = true;
    return gf_buffer_check(&w->name, err);
}

/* From one to the next: behind all keys that begin with the one at hand. */
gf_status gf_collections_visit_namespaces(gf_store *s, gf_visit_name *visit, void *context,
                                          gf_error *err)
{
    namespace_walk w = {.found = true};
    gf_buffer prefix = {0}, start = {0};
    gf_status st = GF_OK;
    while (st == GF_OK) {
        gf_scan_options o =
            GF_SCAN_OPTIONS(.family = GF_COLLECTIONS_MAIN, .start = gf_buffer_view(&start),
                            .limit = 1, .keys_only = true);
        w.found = false;
        st = gf_scan_each(s->tables.collections, &o, take_namespace, &w, err);
        if (st != GF_OK || !w.found) break;
        st = visit(context, gf_buffer_view(&w.name), err);
        gf_buffer_reset(&prefix);
        gf_buffer_reset(&start);
        gf_key_string(&prefix, gf_buffer_view(&w.name));
        if (st == GF_OK) st = gf_buffer_check(&prefix, err);
        if (st == GF_OK && !gf_key_after_prefix(gf_buffer_view(&prefix), &start)) break;
        if (st == GF_OK) st = gf_buffer_check(&start, err);
    }
    gf_buffer_release(&w.name);
    gf_buffer_release(&prefix);
    gf_buffer_release(&start);
    return st;
}

/* ---- deleting -------------------------------------------------------------------------------- */

/* The mark that a deletion has begun: from then on the collection is not there for any read. */
static gf_status mark_deletion(gf_store *s, gf_slice key, gf_lease **lease, gf_error *err)
{
    gf_batch *batch;
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    st = gf_lease_take(s, key, 0, batch, lease, err);
    if (st == GF_OK) {
        gf_column columns[] = {{GF_SLICE("state"), GF_SLICE("deleting")},
                               {GF_SLICE("owner"), gf_lease_name(*lease)}};
        gf_batch_replace(batch, s->tables.collections, key, GF_COLLECTIONS_PROGRESS, columns, 2, 0);
        st = gf_batch_write(batch, GF_SYNC_ON, err);
    }
    gf_batch_free(batch);
    return st;
}

static gf_status begin_deletion(gf_store *s, gf_place where, gf_slice key, gf_lease **lease,
                                gf_error *err)
{
    gf_collection_row row = {0};
    gf_lease_owner owner = {false, ""};
    gf_hold hold;
    gf_status st = gf_hold_collection(s, where, &hold, err);
    if (st == GF_OK) st = gf_collection_row_read(s, NULL, where, &row, err);
    if (st == GF_OK) st = gf_lease_find(s, key, &owner, err);
    if (st == GF_OK && owner.living)
        st = gf_fail(err, GF_EBUSY, "collection \"%.*s\" is being rebuilt%s",
                     GF_SLICE_ARG(where.collection), owner.by);
    if (st == GF_OK) st = mark_deletion(s, key, lease, err);
    gf_hold_let_go(&hold);
    gf_collection_row_release(&row);
    return st;
}

gf_status gf_collection_delete(gf_store *s, gf_place where, gf_error *err)
{
    gf_buffer key = {0};
    gf_tables_collection_key(&key, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&key, err);
    gf_lease *lease = NULL;
    if (st == GF_OK) st = begin_deletion(s, where, gf_buffer_view(&key), &lease, err);
    if (st == GF_OK) {
        /* Others may write meanwhile: not below this key, while it is marked. */
        gf_deleter by = {.owner = gf_lease_name(lease), .stamp = gf_lease_stamp(lease)};
        st = gf_delete_collection_rows(s, gf_buffer_view(&key), &by, err);
        if (st != GF_OK) gf_store_leave_untidy(s);
    }
    gf_lease_end(lease);
    gf_buffer_release(&key);
    return st;
}
