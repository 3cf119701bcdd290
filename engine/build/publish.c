/*
 * Publishing.
 *
 * In one synced write, while its collection is held, the pointer of each configuration moves to its new
 * build, the build's progress row is deleted, and older builds that need not be kept are marked as
 * being deleted. From then on no read resolves to those, and their rows are deleted without the
 * lock.
 */
#include "engine/build/publish.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/scan.h"
#include "engine/store/collections.h"
#include "engine/store/delete.h"
#include "engine/store/lease.h"

#include <assert.h>

/* Rows that can be deleted once a build is published. */
typedef struct leftovers {
    gf_buffer builds; /* keys, as gf_pins_mark_builds appends them */
    uint64_t changes; /* up to this one; 0: none */
    bool edited;      /* clusters were edited since the build began */
} leftovers;

/* ---- moving pointers ------------------------------------------------------------------------- */

static gf_status put_number(const gf_build_plan *p, gf_batch *batch, gf_slice key, const char *what,
                            int64_t v, gf_error *err)
{
    gf_buffer column = {0};
    gf_number_digits digits;
    gf_collection_row_column(&column, p->configuration, what);
    gf_status st = gf_buffer_check(&column, err);
    if (st == GF_OK)
        gf_batch_put(batch, p->store->tables.collections, key, GF_COLLECTIONS_MAIN,
                     gf_buffer_view(&column), gf_number_write(&digits, (uint64_t)v), 0);
    gf_buffer_release(&column);
    return st;
}

static gf_status delete_failure(const gf_build_plan *p, gf_batch *batch, gf_slice key,
                                gf_error *err)
{
    gf_buffer column = {0};
    gf_collection_row_column(&column, p->configuration, "failed");
    gf_status st = gf_buffer_check(&column, err);
    if (st == GF_OK)
        gf_batch_delete_cell(batch, p->store->tables.collections, key, GF_COLLECTIONS_MAIN,
                             gf_buffer_view(&column));
    gf_buffer_release(&column);
    return st;
}

static gf_status mark_old(const gf_build_plan *p, const gf_collection_row *row, gf_batch *batch,
                          leftovers *left, gf_error *err)
{
    gf_buffer key = {0};
    gf_pins pins = {0};
    gf_tables_configuration_key(&key, p->where.name_space, p->where.collection, p->configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_pins_read(row->pins, p->configuration, &pins, err);
    /* The new build is not finished before this write: it is one of those that are kept. */
    assert(p->settings.keep > 0);
    if (st == GF_OK)
        st = gf_pins_mark_builds(p->store, gf_buffer_view(&key), p->settings.keep - 1, p->build,
                                 &pins, batch, &left->builds, err);
    left->edited = pins.edited != p->pins.edited;
    gf_pins_release(&pins);
    gf_buffer_release(&key);
    return st;
}

/* NULL: the edit was taken back since the build began. */
static gf_kept_edit *find_edit(const gf_kept_edits *edits, uint64_t number)
{
    for (size_t i = 0; i < edits->n; i++)
        if (edits->at[i].edit.number == number) return &edits->at[i];
    return NULL;
}

/*
 * Edits that the build has kept or lost are told so; those that it has undone are forgotten. What groups were before them is of use while their
 * build may be served: the one before this is kept as well.
 */
static gf_status note_edits(const gf_build_plan *p, gf_batch *batch, gf_error *err)
{
    gf_kept_edits now = {0};
    if (p->edits.n + p->edits.n_back == 0) return GF_OK;
    gf_status st = gf_edits_read(p->store, NULL, p->where, p->configuration, &now, err);
    for (size_t i = 0; i < p->edits.n && st == GF_OK; i++) {
        gf_kept_edit *e = find_edit(&now, p->edits.at[i].edit.number);
        if (!e) continue;
        e->edit.lost = p->edits.at[i].edit.lost;
        if (e->edit.kind == GF_EDIT_TOPIC) e->edit.cluster = p->edits.at[i].edit.cluster;
        st = gf_edits_put(p->store, p->where, p->configuration, e, batch, err);
        if (st == GF_OK && e->edit.build != p->served.build)
            st = gf_edits_delete_before(p->store, p->where, p->configuration, e->edit.number, batch,
                                        err);
    }
    for (size_t i = 0; i < p->edits.n_back && st == GF_OK; i++)
        st = gf_edits_delete(p->store, p->where, p->configuration, &p->edits.back[i].edit, batch,
                             err);
    gf_edits_release(&now);
    return st;
}

/*
 * The pointer moves from the build that was served when this one began, or not at all. The row is
 * read once: while it is held nobody else moves a pointer.
 */
static gf_status move_pointer(const gf_build_plan *p, gf_slice key, gf_batch *batch,
                              leftovers *left, gf_error *err)
{
    gf_collection_row row = {0};
    int64_t now = gf_clock_ms();
    if (now < p->build) now = p->build;
    gf_status st = gf_collection_row_read(p->store, NULL, p->where, &row, err);
    if (st == GF_OK && gf_collection_row_served(&row, p->configuration) != p->served.build)
        st = gf_fail(err, GF_ECONFLICT, "another build was published meanwhile");
    if (st == GF_OK) st = gf_lease_give_up(p->lease, batch, err);
    if (st == GF_OK)
        st = gf_lease_check_mark(p->lease, p->store->tables.builds, GF_BUILDS_PROGRESS, err);
    if (st == GF_OK) st = put_number(p, batch, key, "processed", now, err);
    if (st == GF_OK) st = put_number(p, batch, key, "rebuilt", p->build, err);
    /* A build by settings of its own is no news of the configuration's. */
    if (st == GF_OK && p->options->n_set == 0) st = delete_failure(p, batch, key, err);
    if (st == GF_OK) {
        gf_batch_delete_row(batch, p->store->tables.builds, gf_buffer_view(&p->key),
                            1u << GF_BUILDS_PROGRESS);
        st = mark_old(p, &row, batch, left, err);
    }
    if (st == GF_OK) st = note_edits(p, batch, err);
    gf_collection_row_release(&row);
    return st;
}

static gf_status move_pointers(const gf_build_plan *const *plans, size_t n, leftovers *left,
                               gf_error *err)
{
    gf_batch *batch;
    gf_buffer key = {0};
    gf_status st = gf_batch_create(plans[0]->store->db, &batch, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        gf_buffer_reset(&key);
        gf_tables_collection_key(&key, plans[i]->where.name_space, plans[i]->where.collection);
        st = gf_buffer_check(&key, err);
        if (st == GF_OK) st = move_pointer(plans[i], gf_buffer_view(&key), batch, &left[i], err);
    }
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

/* ---- changes --------------------------------------------------------------------------------- */

typedef struct needed_changes {
    gf_store *store;
    uint64_t oldest;
} needed_changes;

/*
 * Lower the oldest need to that of a finished build. A build with a progress row is being deleted,
 * or it is under way and has a lease.
 */
static gf_status lower_to_build(void *context, const gf_row *row, gf_error *err)
{
    needed_changes *n = context;
    gf_row progress = {0};
    uint64_t seq;
    /* Without snapshots views read a build for a while after it was marked. */
    gf_status st = GF_ENOTFOUND;
    if (!gf_database_holds_in_rows(n->store->db))
        st = gf_table_get(n->store->tables.builds, NULL, row->key, 1u << GF_BUILDS_PROGRESS,
                          &progress, err);
    gf_row_release(&progress);
    if (st != GF_ENOTFOUND) return st;
    if (!gf_rows_cell_number(gf_row_find(row, GF_BUILDS_MAIN, "seq"), &seq))
        return gf_fail(err, GF_ECORRUPT, "table builds: a row is damaged");
    if (seq < n->oldest) n->oldest = seq;
    return GF_OK;
}

gf_status gf_build_oldest_need(gf_store *s, gf_slice collection_key, uint64_t *seq, gf_error *err)
{
    needed_changes n = {s, *seq};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_BUILDS_MAIN, .prefix = collection_key);
    gf_status st = gf_scan_each(s->tables.builds, &o, lower_to_build, &n, err);
    if (st != GF_OK) return st;
    st = gf_lease_lower_seq(s, collection_key, &n.oldest, err);
    if (st == GF_OK) *seq = n.oldest;
    return st;
}

static gf_status find_unneeded(const gf_build_plan *p, uint64_t *seq)
{
    gf_buffer key = {0};
    uint64_t oldest = p->seq;
    gf_tables_collection_key(&key, p->where.name_space, p->where.collection);
    gf_status st = gf_buffer_check(&key, NULL);
    if (st == GF_OK) st = gf_build_oldest_need(p->store, gf_buffer_view(&key), &oldest, NULL);
    if (st == GF_OK) *seq = oldest;
    gf_buffer_release(&key);
    return st;
}

gf_status gf_build_trim_changes(gf_store *s, gf_place where, uint64_t seq, gf_batch *batch,
                                gf_error *err)
{
    gf_buffer start = {0}, end = {0};
    if (seq == 0) return GF_OK;
    gf_tables_collection_key(&start, where.name_space, where.collection);
    gf_tables_change_key(&end, where.name_space, where.collection, seq + 1);
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_buffer_check(&end, err);
    if (st == GF_OK)
        st = gf_delete_range(s->tables.changes, gf_buffer_view(&start), gf_buffer_view(&end), batch,
                             err);
    gf_buffer_release(&start);
    gf_buffer_release(&end);
    return st;
}

/* ---- publishing ------------------------------------------------------------------------------ */

static gf_status delete_leftovers(const gf_build_plan *const *plans, size_t n,
                                  const leftovers *left)
{
    gf_store *s = plans[0]->store;
    gf_batch *batch;
    gf_status st = gf_batch_create(s->db, &batch, NULL);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        st = gf_delete_builds(s, gf_buffer_view(&left[i].builds), batch, NULL);
        if (st == GF_OK && !gf_database_holds_in_rows(s->db))
            st = gf_build_trim_changes(s, plans[i]->where, left[i].changes, batch, NULL);
    }
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_OFF, NULL);
    gf_batch_free(batch);
    return st;
}

/*
 * Changes are deleted under the hold where rows hold themselves, as of that hold. A failure leaves
 * them to the next rebuild.
 */
static void trim_held(const gf_build_plan *const *plans, size_t n, const leftovers *left)
{
    gf_batch *batch;
    gf_status st = gf_batch_create(plans[0]->store->db, &batch, NULL);
    if (st != GF_OK) return;
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = gf_build_trim_changes(plans[i]->store, plans[i]->where, left[i].changes, batch, NULL);
    if (st == GF_OK) (void)gf_batch_write(batch, GF_SYNC_ON, NULL);
    gf_batch_free(batch);
}

gf_status gf_build_move_pointers(const gf_build_plan *const *plans, size_t n, gf_error *err)
{
    gf_store *s = plans[0]->store;
    leftovers *left = gf_calloc(n, sizeof *left);
    if (!left) return gf_fail_memory(err, "a rebuild");
    gf_hold hold;
    gf_status st = gf_build_plans_hold(plans, n, &hold, err), found = GF_OK;
    if (st == GF_OK) st = move_pointers(plans, n, left, err);
    for (size_t i = 0; i < n && st == GF_OK && found == GF_OK; i++)
        found = find_unneeded(plans[i], &left[i].changes);
    /* One that cannot be made is told of by the list of edits, and is obeyed by the next rebuild. */
    for (size_t i = 0; i < n && st == GF_OK; i++)
        if (left[i].edited)
            (void)s->catch_up_edits(s, plans[i]->where, plans[i]->configuration,
                                    plans[i]->pins.edited, NULL);
    if (st == GF_OK && gf_database_holds_in_rows(s->db)) trim_held(plans, n, left);
    gf_hold_let_go(&hold);
    /* The builds are published: old rows that are left now are cleared away by the next write. */
    if (st == GF_OK && delete_leftovers(plans, n, left) != GF_OK) gf_store_leave_untidy(s);
    for (size_t i = 0; i < n; i++)
        gf_buffer_release(&left[i].builds);
    gf_free(left);
    return st;
}
