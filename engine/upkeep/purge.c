/*
 * Purging: nothing of deleted documents stays in the files.
 *
 * A build is stale where it has a document that was deleted or put anew since: the changes after
 * its snapshot say which were, and its memberships and its index for search whether it had them.
 * Served stale builds are replaced by new ones; then all stale ones are marked, as after
 * publishing, and dropped; then the changes go that named them; then the files are written anew. Of edits
 * go the witnesses that were deleted, and what groups were before, of builds that go or are gone.
 */
#include "engine/build/publish.h"
#include "engine/config/edits.h"
#include "engine/config/watches.h"
#include "engine/search/index.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/rows/scan.h"
#include "engine/store/builds.h"
#include "engine/store/collections.h"
#include "engine/store/delete.h"
#include "grouperfish/upkeep.h"
#include "storage/backend.h"

typedef struct kept_build {
    gf_slice configuration; /* in memory */
    gf_slice key;           /* likewise */
    uint64_t seq;
    bool served, stale;
    gf_search_index *index; /* NULL until needed; without ids where the build has none */
} kept_build;

typedef struct purging {
    gf_store *store;
    gf_place where;
    gf_arena memory;
    kept_build *builds; /* n of capacity */
    size_t n, capacity;
    gf_buffer key; /* of the collection */
    gf_buffer membership;
    gf_row row;
    const gf_rebuild_options *options;
    gf_purged purged;
} purging;

/* ---- which builds ---------------------------------------------------------------------------- */

static gf_status add_build(purging *p, gf_slice configuration, gf_slice key, bool served,
                           gf_error *err)
{
    kept_build b = {.served = served};
    gf_status st =
        gf_table_get(p->store->tables.builds, NULL, key, 1u << GF_BUILDS_MAIN, &p->row, err);
    if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
    if (!gf_rows_cell_number(gf_row_find(&p->row, GF_BUILDS_MAIN, "seq"), &b.seq))
        return gf_fail(err, GF_ECORRUPT, "table builds: a row is damaged");
    if (!gf_grow(&p->builds, &p->capacity, p->n + 1, sizeof *p->builds))
        return gf_fail_memory(err, "builds");
    b.configuration = gf_arena_copy(&p->memory, configuration);
    b.key = gf_arena_copy(&p->memory, key);
    if (!b.configuration.ptr || !b.key.ptr) return gf_fail_memory(err, "builds");
    p->builds[p->n++] = b;
    return GF_OK;
}

static gf_status add_configuration(purging *p, const gf_configuration_state *c, gf_error *err)
{
    int64_t *builds = NULL;
    size_t n = 0;
    gf_buffer key = {0};
    gf_tables_configuration_key(&key, p->where.name_space, p->where.collection, c->name);
    size_t start = key.len;
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_builds_list(p->store, NULL, gf_buffer_view(&key), &builds, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        key.len = start;
        gf_key_u64(&key, (uint64_t)builds[i]);
        st = gf_buffer_check(&key, err);
        if (st == GF_OK)
            st = add_build(p, c->name, gf_buffer_view(&key), builds[i] == c->rebuilt, err);
    }
    gf_free(builds);
    gf_buffer_release(&key);
    return st;
}

static gf_status list_builds(purging *p, gf_error *err)
{
    gf_collection_row row = {0};
    gf_configuration_state *states = NULL;
    size_t n = 0;
    gf_status st = gf_collection_row_read(p->store, NULL, p->where, &row, err);
    if (st == GF_OK) st = gf_collection_row_states(&row, &states, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = add_configuration(p, &states[i], err);
    gf_free(states);
    gf_collection_row_release(&row);
    return st;
}

static gf_status need_index(purging *p, kept_build *b, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    if (b->index) return GF_OK;
    b->index = gf_calloc(1, sizeof *b->index);
    if (!b->index) return gf_fail_memory(err, "an index");
    gf_status st = gf_search_index_open(b->index, p->store, NULL, b->key, &why);
    if (st == GF_OK) return GF_OK;
    if (st == GF_ENOTFOUND) return gf_search_index_is_old(p->store, NULL, b->key, &b->stale, err);
    if (err) *err = why;
    return st;
}

/*
 * It has documents that the build's filter leaves out, too. What one of an earlier format has is not
 * known: its build is stale.
 */
static gf_status look_in_index(purging *p, kept_build *b, gf_slice id, gf_error *err)
{
    uint32_t rank;
    gf_status st = need_index(p, b, err);
    if (st != GF_OK || b->stale) return st;
    return gf_id_reader_rank(&b->index->ids, id, &rank, &b->stale, err);
}

/* Provisional memberships count as well. */
static gf_status look_for(purging *p, kept_build *b, gf_slice id, gf_error *err)
{
    gf_buffer_reset(&p->membership);
    gf_tables_membership_key(&p->membership, b->key, id);
    gf_status st = gf_buffer_check(&p->membership, err);
    if (st == GF_OK)
        st = gf_table_get(p->store->tables.memberships, NULL, gf_buffer_view(&p->membership),
                          GF_ALL_FAMILIES, &p->row, err);
    b->stale = st == GF_OK;
    return st == GF_ENOTFOUND ? look_in_index(p, b, id, err) : st;
}

static gf_status look_at_change(void *context, const gf_row *change, gf_error *err)
{
    purging *p = context;
    uint64_t seq;
    const gf_cell *id = gf_row_find(change, GF_CHANGES_MAIN, "id");
    gf_status st = gf_tables_key_last_number(p->store->tables.changes, change->key, &seq, err);
    if (st == GF_OK && !id) st = gf_fail(err, GF_ECORRUPT, "table changes: a row is damaged");
    for (size_t i = 0; i < p->n && st == GF_OK; i++)
        if (!p->builds[i].stale && p->builds[i].seq < seq)
            st = look_for(p, &p->builds[i], id->value, err);
    return st;
}

static gf_status find_stale(purging *p, gf_error *err)
{
    gf_scan_options o =
        GF_SCAN_OPTIONS(.family = GF_CHANGES_MAIN, .prefix = gf_buffer_view(&p->key));
    gf_status st = list_builds(p, err);
    return st == GF_OK ? gf_scan_each(p->store->tables.changes, &o, look_at_change, p, err) : st;
}

/* ---- ridding --------------------------------------------------------------------------------- */

/*
 * Served builds are made anew. One that cannot be keeps none of the others from it: *kept tells of the
 * first, which still has what was deleted.
 */
static gf_status rebuild_stale(purging *p, gf_error *kept, gf_error *err)
{
    gf_rebuild_options o = *p->options;
    gf_rebuild_result result;
    gf_error why = {GF_OK, ""};
    gf_status st = GF_OK;
    o.force = o.same_rows = true;
    o.dry_run = false;
    for (size_t i = 0; i < p->n && st == GF_OK; i++) {
        const kept_build *b = &p->builds[i];
        if (!b->served || !b->stale) continue;
        st = gf_rebuild(p->store, p->where, b->configuration, &o, &result, &why);
        p->purged.rebuilt += st == GF_OK;
        if (st != GF_EINVAL && st != GF_ENOTFOUND && st != GF_ELIMIT) continue;
        if (kept->status == GF_OK)
            gf_fail(kept, GF_EINVAL,
                    "the clusters of configuration \"%.*s\" still have words of what was deleted, "
                    "since "
                    "they cannot be made anew: %s; mend that or delete the configuration, and "
                    "purge again",
                    GF_SLICE_ARG(b->configuration), why.message);
        st = GF_OK;
    }
    if (st != GF_OK && err) *err = why;
    return st;
}

/* The build is known to have words of what was deleted: it could not be made anew. */
static gf_status is_stale(const purging *p, const gf_configuration_state *c, bool *stale,
                          gf_error *err)
{
    gf_status st = GF_OK;
    *stale = false;
    for (size_t i = 0; i < p->n && st == GF_OK; i++) {
        const kept_build *b = &p->builds[i];
        uint64_t build;
        if (!b->stale || !gf_slice_equal(b->configuration, c->name)) continue;
        st = gf_tables_key_last_number(p->store->tables.builds, b->key, &build, err);
        *stale = *stale || (st == GF_OK && (int64_t)build == c->rebuilt);
    }
    return st;
}

/*
 * Witnesses of edits that are gone, and groups of before an edit: of the served build alone they may stay, where
 * it has nothing of what was deleted.
 */
static gf_status forget_in(purging *p, const gf_configuration_state *c, gf_batch *batch,
                           gf_error *err)
{
    gf_kept_edits edits = {0};
    bool stale = false;
    gf_status st = gf_edits_read(p->store, NULL, p->where, c->name, &edits, err);
    if (st == GF_OK) st = is_stale(p, c, &stale, err);
    for (size_t i = 0; i < edits.n && st == GF_OK; i++) {
        const gf_edit *e = &edits.at[i].edit;
        st = gf_edits_forget_witnesses(p->store, p->where, c->name, e, batch, err);
        if (st == GF_OK && (stale || e->build != c->rebuilt))
            st = gf_edits_delete_before(p->store, p->where, c->name, e->number, batch, err);
    }
    for (size_t i = 0; i < edits.n_back && st == GF_OK; i++)
        st =
            gf_edits_forget_witnesses(p->store, p->where, c->name, &edits.back[i].edit, batch, err);
    if (st == GF_OK) st = gf_watches_forget(p->store, p->where, c->name, batch, err);
    gf_edits_release(&edits);
    return st;
}

static gf_status forget_edits(purging *p, gf_batch *batch, gf_error *err)
{
    gf_collection_row row = {0};
    gf_configuration_state *states = NULL;
    size_t n = 0;
    gf_hold hold;
    gf_status st = gf_hold_collection(p->store, p->where, &hold, err);
    if (st == GF_OK) st = gf_collection_row_read(p->store, NULL, p->where, &row, err);
    if (st == GF_OK) st = gf_collection_row_states(&row, &states, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = forget_in(p, &states[i], batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_hold_let_go(&hold);
    gf_free(states);
    gf_collection_row_release(&row);
    return st;
}

/* While the collection is held: those that publishing has not dropped yet get their marks. */
static gf_status mark_stale(purging *p, gf_batch *batch, gf_buffer *marked, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < p->n && st == GF_OK; i++) {
        bool served = false, there = false;
        gf_slice key = p->builds[i].key;
        if (!p->builds[i].stale) continue;
        st = gf_scan_finds(p->store->tables.builds, NULL, GF_BUILDS_MAIN, key, &there, err);
        if (st == GF_OK) st = gf_build_is_served(p->store, key, &served, err);
        if (st != GF_OK || served || !there) continue;
        gf_delete_mark_build(p->store, key, batch);
        gf_buffer_string(marked, key);
        p->purged.dropped++;
        st = gf_buffer_check(marked, err);
    }
    return st == GF_OK ? gf_batch_write(batch, GF_SYNC_ON, err) : st;
}

static gf_status drop_stale(purging *p, gf_batch *batch, gf_error *err)
{
    gf_buffer marked = {0};
    gf_collection_row row = {0};
    uint64_t needed = 0;
    gf_hold hold;
    gf_status st = gf_hold_collection(p->store, p->where, &hold, err);
    if (st == GF_OK) st = mark_stale(p, batch, &marked, err);
    gf_hold_let_go(&hold);
    if (st == GF_OK) st = gf_delete_builds(p->store, gf_buffer_view(&marked), batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    if (st != GF_OK) gf_store_leave_untidy(p->store);
    if (st == GF_OK) {
        st = gf_hold_collection(p->store, p->where, &hold, err);
        if (st == GF_OK) st = gf_collection_row_read(p->store, NULL, p->where, &row, err);
        needed = row.seq;
        if (st == GF_OK) st = gf_build_oldest_need(p->store, gf_buffer_view(&p->key), &needed, err);
        if (st == GF_OK) st = gf_build_trim_changes(p->store, p->where, needed, batch, err);
        if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
        gf_hold_let_go(&hold);
    }
    gf_collection_row_release(&row);
    gf_buffer_release(&marked);
    return st;
}

gf_status gf_purge_collection(gf_store *s, gf_place where, const gf_rebuild_options *options,
                              gf_purged *purged, gf_error *err)
{
    purging p = {.store = s, .where = where, .options = options};
    gf_error kept = {GF_OK, ""};
    gf_batch *batch = NULL;
    gf_tables_collection_key(&p.key, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&p.key, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK) st = find_stale(&p, err);
    if (st == GF_OK) st = rebuild_stale(&p, &kept, err);
    if (st == GF_OK) st = forget_edits(&p, batch, err);
    if (st == GF_OK) st = drop_stale(&p, batch, err);
    if (st == GF_OK) st = gf_purge_store(s, options->cancel, err);
    if (st == GF_OK && kept.status != GF_OK) {
        st = kept.status;
        if (err) *err = kept;
    }
    if (st == GF_OK) *purged = p.purged;
    gf_batch_free(batch);
    for (size_t i = 0; i < p.n; i++) {
        if (p.builds[i].index) gf_search_index_release(p.builds[i].index);
        gf_free(p.builds[i].index);
    }
    gf_free(p.builds);
    gf_row_release(&p.row);
    gf_buffer_release(&p.membership);
    gf_buffer_release(&p.key);
    gf_arena_release(&p.memory);
    return st;
}

gf_status gf_purge_store(gf_store *s, const gf_cancel *cancel, gf_error *err)
{
    enum { PATIENCE_MS = 10000 };
    gf_status st = gf_store_check_folder(s, err);
    if (st == GF_OK) st = gf_database_purge(s->db, PATIENCE_MS, cancel, err);
    if (st == GF_ECANCELLED)
        return gf_fail(err, st,
                       "stopped on request: what was deleted is still in some files; purge again");
    return st == GF_OK ? gf_folder_clear_journals(s->folder, err) : st;
}
