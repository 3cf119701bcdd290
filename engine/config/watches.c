#include "engine/config/watches.h"

#include "engine/config/edits.h"
#include "engine/rows/scan.h"

typedef struct watch_key {
    gf_buffer row, qualifier;
} watch_key;

static gf_status make_key(watch_key *k, gf_place where, gf_slice configuration, gf_error *err)
{
    gf_tables_collection_key(&k->row, where.name_space, where.collection);
    gf_key_string(&k->qualifier, configuration);
    gf_status st = gf_buffer_check(&k->row, err);
    return st == GF_OK ? gf_buffer_check(&k->qualifier, err) : st;
}

static gf_status make_part_key(watch_key *k, gf_place where, gf_slice configuration,
                               gf_watch_part part, gf_error *err)
{
    gf_status st = make_key(k, where, configuration, err);
    gf_buffer_byte(&k->qualifier, (char)part);
    return st == GF_OK ? gf_buffer_check(&k->qualifier, err) : st;
}

static gf_status make_cell_key(watch_key *k, gf_place where, gf_slice configuration,
                               gf_watch_part part, uint64_t number, gf_error *err)
{
    gf_status st = make_part_key(k, where, configuration, part, err);
    gf_buffer_u64be(&k->qualifier, number);
    return st == GF_OK ? gf_buffer_check(&k->qualifier, err) : st;
}

static void release_key(watch_key *k)
{
    gf_buffer_release(&k->row);
    gf_buffer_release(&k->qualifier);
}

/* ---- cells ----------------------------------------------------------------------------------- */

gf_status gf_watches_put(gf_store *s, gf_place where, gf_slice configuration, gf_watch_part part,
                         uint64_t number, gf_slice value, gf_batch *batch, gf_error *err)
{
    watch_key k = {.row = {0}};
    gf_status st = make_cell_key(&k, where, configuration, part, number, err);
    if (st == GF_OK)
        gf_batch_put(batch, s->tables.collections, gf_buffer_view(&k.row), GF_COLLECTIONS_WATCHES,
                     gf_buffer_view(&k.qualifier), value, 0);
    release_key(&k);
    return st;
}

gf_status gf_watches_delete(gf_store *s, gf_place where, gf_slice configuration, gf_watch_part part,
                            uint64_t number, gf_batch *batch, gf_error *err)
{
    watch_key k = {.row = {0}};
    gf_status st = make_cell_key(&k, where, configuration, part, number, err);
    if (st == GF_OK)
        gf_batch_delete_cell(batch, s->tables.collections, gf_buffer_view(&k.row),
                             GF_COLLECTIONS_WATCHES, gf_buffer_view(&k.qualifier));
    release_key(&k);
    return st;
}

gf_status gf_watches_get(gf_store *s, const gf_snapshot *snapshot, gf_place where,
                         gf_slice configuration, gf_watch_part part, uint64_t number, gf_row *row,
                         gf_error *err)
{
    watch_key k = {.row = {0}};
    gf_status st = make_cell_key(&k, where, configuration, part, number, err);
    if (st == GF_OK)
        st = gf_table_get_cell(s->tables.collections, snapshot, gf_buffer_view(&k.row),
                               GF_COLLECTIONS_WATCHES, gf_buffer_view(&k.qualifier), 1, row, err);
    release_key(&k);
    return st;
}

typedef struct part_walk {
    size_t before; /* bytes of a qualifier before the number */
    gf_visit_watch_cell *visit;
    void *context;
} part_walk;

static gf_status visit_cell(void *context, const gf_row *row, gf_error *err)
{
    const part_walk *w = context;
    gf_slice qualifier = row->cells[0].qualifier;
    if (qualifier.len != w->before + 8)
        return gf_fail(err, GF_ECORRUPT, "table collections: a watch is damaged");
    return w->visit(w->context, gf_read_u64be(qualifier.ptr + w->before), row->cells[0].value, err);
}

gf_status gf_watches_visit_part(gf_store *s, const gf_snapshot *snapshot, gf_place where,
                                gf_slice configuration, gf_watch_part part,
                                gf_visit_watch_cell *visit, void *context, gf_error *err)
{
    watch_key k = {.row = {0}};
    gf_status st = make_part_key(&k, where, configuration, part, err);
    part_walk w = {k.qualifier.len, visit, context};
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = snapshot, .family = GF_COLLECTIONS_WATCHES,
                                        .prefix = gf_buffer_view(&k.row),
                                        .qualifier_prefix = gf_buffer_view(&k.qualifier));
    if (st == GF_OK) st = gf_scan_each(s->tables.collections, &o, visit_cell, &w, err);
    release_key(&k);
    return st;
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct whole_walk {
    gf_buffer name_space, collection, configuration,
        last; /* last: what was visited last, as keys have it */
    gf_visit_watched *visit;
    void *context;
} whole_walk;

/* The last numbers of a configuration tell of it. */
static gf_status look_at_cell(void *context, const gf_row *row, gf_error *err)
{
    whole_walk *w = context;
    gf_slice key = row->key, qualifier = row->cells[0].qualifier;
    size_t named = gf_key_string_length(qualifier);
    if (named >= qualifier.len || qualifier.ptr[named] != GF_WATCH_STATE) return GF_OK;
    gf_slice last = gf_buffer_view(&w->last), configuration = gf_slice_of(qualifier.ptr, named);
    if (last.len == key.len + named && memcmp(last.ptr, key.ptr, key.len) == 0 &&
        memcmp(last.ptr + key.len, configuration.ptr, named) == 0)
        return GF_OK;
    gf_buffer_reset(&w->last);
    gf_buffer_slice(&w->last, key);
    gf_buffer_slice(&w->last, configuration);
    gf_buffer_reset(&w->name_space);
    gf_buffer_reset(&w->collection);
    gf_buffer_reset(&w->configuration);
    if (!gf_key_take_string(&key, &w->name_space) || !gf_key_take_string(&key, &w->collection) ||
        !gf_key_take_string(&configuration, &w->configuration))
        return gf_fail(err, GF_ECORRUPT, "table collections: a watch is damaged");
    gf_status st = gf_buffer_check(&w->last, err);
    if (st == GF_OK) st = gf_buffer_check(&w->name_space, err);
    if (st == GF_OK) st = gf_buffer_check(&w->collection, err);
    if (st == GF_OK) st = gf_buffer_check(&w->configuration, err);
    gf_place where = {gf_buffer_view(&w->name_space), gf_buffer_view(&w->collection)};
    return st == GF_OK ? w->visit(w->context, where, gf_buffer_view(&w->configuration), err) : st;
}

gf_status gf_watches_visit_all(gf_store *s, gf_visit_watched *visit, void *context, gf_error *err)
{
    whole_walk w = {.visit = visit, .context = context};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_COLLECTIONS_WATCHES, .keys_only = true);
    gf_status st = gf_scan_each(s->tables.collections, &o, look_at_cell, &w, err);
    gf_buffer_release(&w.name_space);
    gf_buffer_release(&w.collection);
    gf_buffer_release(&w.configuration);
    gf_buffer_release(&w.last);
    return st;
}

/* ---- forgetting and deleting ----------------------------------------------------------------- */

typedef struct watch_change {
    gf_store *store;
    gf_place where;
    gf_slice configuration;
    gf_batch *batch;
} watch_change;

static gf_status forget_gone(void *context, uint64_t number, gf_slice ids, gf_error *err)
{
    const watch_change *c = context;
    gf_buffer left = {0};
    bool any = false;
    gf_status st = gf_edits_keep_living(c->store, c->where, ids, &left, &any, err);
    if (st == GF_OK && any)
        st = gf_watches_put(c->store, c->where, c->configuration, GF_WATCH_MEMBER_IDS, number,
                            gf_buffer_view(&left), c->batch, err);
    gf_buffer_release(&left);
    return st;
}

/* The same of those with scores, four bytes behind each id. */
static gf_status forget_gone_scored(void *context, uint64_t number, gf_slice documents,
                                    gf_error *err)
{
    const watch_change *c = context;
    gf_buffer left = {0}, one = {0}, living = {0};
    bool any = false;
    gf_slice id;
    gf_status st = GF_OK;
    while (st == GF_OK && gf_slice_take_string(&documents, &id) && documents.len >= 4) {
        bool gone = false;
        gf_buffer_reset(&one);
        gf_buffer_reset(&living);
        gf_buffer_string(&one, id);
        st = gf_buffer_check(&one, err);
        if (st == GF_OK)
            st =
                gf_edits_keep_living(c->store, c->where, gf_buffer_view(&one), &living, &gone, err);
        if (!gone) {
            gf_buffer_string(&left, id);
            gf_buffer_append(&left, documents.ptr, 4);
        }
        any = any || gone;
        documents = gf_slice_skip(documents, 4);
    }
    if (st == GF_OK) st = gf_buffer_check(&left, err);
    if (st == GF_OK && any)
        st = gf_watches_put(c->store, c->where, c->configuration, GF_WATCH_MEMBERS_SCORED, number,
                            gf_buffer_view(&left), c->batch, err);
    gf_buffer_release(&left);
    gf_buffer_release(&one);
    gf_buffer_release(&living);
    return st;
}

gf_status gf_watches_forget(gf_store *s, gf_place where, gf_slice configuration, gf_batch *batch,
                            gf_error *err)
{
    watch_change c = {s, where, configuration, batch};
    gf_status st = gf_watches_visit_part(s, NULL, where, configuration, GF_WATCH_MEMBER_IDS,
                                         forget_gone, &c, err);
    if (st == GF_OK)
        st = gf_watches_visit_part(s, NULL, where, configuration, GF_WATCH_MEMBERS_SCORED,
                                   forget_gone_scored, &c, err);
    return st;
}

static gf_status delete_cell(void *context, const gf_row *row, gf_error *err)
{
    const watch_change *c = context;
    (void)err;
    gf_batch_delete_cell(c->batch, c->store->tables.collections, row->key, GF_COLLECTIONS_WATCHES,
                         row->cells[0].qualifier);
    return GF_OK;
}

gf_status gf_watches_delete_all(gf_store *s, gf_place where, gf_slice configuration,
                                gf_batch *batch, gf_error *err)
{
    watch_key k = {.row = {0}};
    watch_change c = {s, where, configuration, batch};
    gf_status st = make_key(&k, where, configuration, err);
    gf_scan_options o =
        GF_SCAN_OPTIONS(.family = GF_COLLECTIONS_WATCHES, .prefix = gf_buffer_view(&k.row),
                        .qualifier_prefix = gf_buffer_view(&k.qualifier), .keys_only = true);
    if (st == GF_OK) st = gf_scan_each(s->tables.collections, &o, delete_cell, &c, err);
    release_key(&k);
    return st;
}
