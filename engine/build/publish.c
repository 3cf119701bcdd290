/*
 * The pointer moves; what is no longer needed goes.
 *
 * In one synced write, under the write lock, each job's pointer moves, its progress mark goes, and
 * the builds that need not be kept are marked. From then on no read resolves to those, and their
 * rows are dropped without the lock.
 */
#include "engine/build/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"

/* ---- moving pointers ------------------------------------------------------------------------- */

static gf_status put_number(gf_job *j, gf_batch *batch, gf_slice key, const char *what, int64_t v,
                            gf_error *err)
{
    gf_buffer column = {0};
    gf_number_digits digits;
    gf_configuration_column(&column, j->configuration, what);
    gf_status st = gf_buffer_check(&column, err);
    if (st == GF_OK)
        gf_batch_put(batch, j->store->tables.collections, key, GF_COLLECTIONS_MAIN,
                     gf_buffer_view(&column), gf_number_write(&digits, (uint64_t)v), 0);
    gf_buffer_release(&column);
    return st;
}

static gf_status forget_failure(gf_job *j, gf_batch *batch, gf_slice key, gf_error *err)
{
    gf_buffer column = {0};
    gf_configuration_column(&column, j->configuration, "failed");
    gf_status st = gf_buffer_check(&column, err);
    if (st == GF_OK)
        gf_batch_delete_cell(batch, j->store->tables.collections, key, GF_COLLECTIONS_MAIN,
                             gf_buffer_view(&column));
    gf_buffer_release(&column);
    return st;
}

/* The pointer must still be what it was when the job began. */
static gf_status check_pointer(gf_job *j, gf_error *err)
{
    gf_collection_row row = {0};
    gf_status st = gf_collection_row_read(j->store, NULL, j->where, &row, err);
    if (st == GF_OK && gf_collection_row_served(&row, j->configuration) != j->served_before)
        st = gf_fail(err, GF_ECONFLICT, "another build was published meanwhile");
    gf_collection_row_release(&row);
    return st;
}

static gf_status move_pointer(gf_job *j, gf_batch *batch, gf_error *err)
{
    gf_buffer key = {0};
    int64_t now = gf_clock_ms();
    if (now < j->build) now = j->build;
    gf_collection_key(&key, j->where.name_space, j->where.collection);
    gf_slice view = gf_buffer_view(&key);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = check_pointer(j, err);
    if (st == GF_OK) st = put_number(j, batch, view, "processed", now, err);
    if (st == GF_OK) st = put_number(j, batch, view, "rebuilt", j->build, err);
    if (st == GF_OK) st = forget_failure(j, batch, view, err);
    if (st == GF_OK)
        gf_batch_delete_row(batch, j->store->tables.builds, gf_buffer_view(&j->key),
                            1u << GF_BUILDS_PROGRESS);
    gf_buffer_release(&key);
    return st;
}

static gf_status mark_old(gf_job *j, gf_batch *batch, gf_error *err)
{
    gf_buffer key = {0};
    gf_collection_row row = {0};
    gf_pins pins = {0};
    gf_configuration_key(&key, j->where.name_space, j->where.collection, j->configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_collection_row_read(j->store, NULL, j->where, &row, err);
    if (st == GF_OK) st = gf_pins_read(row.pins, j->configuration, &pins, err);
    /* The new build is not finished before this write: it is one of those that are kept. */
    if (st == GF_OK)
        st = gf_mark_builds(j->store, gf_buffer_view(&key), j->settings.keep - 1, j->build, &pins,
                            batch, &j->marked, err);
    gf_pins_release(&pins);
    gf_collection_row_release(&row);
    gf_buffer_release(&key);
    return st;
}

/*
 * One job alone is written under the condition that its pointer has not moved. Of several each was
 * checked under the write lock, without which no pointer moves.
 */
static gf_status write_pointers(gf_job *const *jobs, size_t n, gf_batch *batch, gf_error *err)
{
    gf_job *j = jobs[0];
    gf_buffer key = {0}, column = {0};
    gf_number_digits digits;
    gf_slice expected = gf_number_write(&digits, (uint64_t)j->served_before);
    if (n > 1) return gf_batch_write(batch, GF_SYNC, err);
    gf_collection_key(&key, j->where.name_space, j->where.collection);
    gf_configuration_column(&column, j->configuration, "rebuilt");
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_buffer_check(&column, err);
    if (st == GF_OK)
        st = gf_batch_write_if(batch, j->store->tables.collections, gf_buffer_view(&key),
                               GF_COLLECTIONS_MAIN, gf_buffer_view(&column),
                               j->served_before ? &expected : NULL, GF_SYNC, err);
    gf_buffer_release(&key);
    gf_buffer_release(&column);
    return st;
}

static gf_status publish(gf_job *const *jobs, size_t n, gf_error *err)
{
    gf_batch *batch;
    gf_status st = gf_batch_create(jobs[0]->store->db, &batch, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        st = move_pointer(jobs[i], batch, err);
        if (st == GF_OK) st = mark_old(jobs[i], batch, err);
    }
    if (st == GF_OK) st = write_pointers(jobs, n, batch, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        jobs[i]->published = true;
    gf_batch_free(batch);
    return st;
}

/* ---- changes --------------------------------------------------------------------------------- */

typedef struct need {
    gf_store *store;
    uint64_t oldest;
} need;

/* A build that has a mark is going, or is active and has told its need itself. */
static gf_status note_need(void *context, const gf_row *row, gf_error *err)
{
    need *n = context;
    gf_row progress = {0};
    uint64_t seq;
    gf_status st = gf_table_get(n->store->tables.builds, NULL, row->key, 1u << GF_BUILDS_PROGRESS,
                                &progress, err);
    gf_row_release(&progress);
    if (st != GF_ENOTFOUND) return st;
    if (!gf_cell_number(gf_row_find(row, GF_BUILDS_MAIN, "seq"), &seq))
        return gf_fail(err, GF_ECORRUPT, "table builds: a row is damaged");
    if (seq < n->oldest) n->oldest = seq;
    return GF_OK;
}

gf_status gf_oldest_need(gf_store *s, gf_slice collection_key, uint64_t *seq, gf_error *err)
{
    need n = {s, *seq};
    gf_scan_options o = {.family = GF_BUILDS_MAIN, .prefix = collection_key};
    gf_status st = gf_scan_each(s->tables.builds, &o, note_need, &n, err);
    for (const gf_activity *a = s->active; a && st == GF_OK; a = a->next)
        if (gf_slice_starts(a->key, o.prefix) && a->seq < n.oldest) n.oldest = a->seq;
    if (st == GF_OK) *seq = n.oldest;
    return st;
}

static gf_status oldest_need(gf_job *j, gf_error *err)
{
    gf_buffer key = {0};
    uint64_t seq = j->seq;
    gf_collection_key(&key, j->where.name_space, j->where.collection);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_oldest_need(j->store, gf_buffer_view(&key), &seq, err);
    if (st == GF_OK) j->trim_to = seq;
    gf_buffer_release(&key);
    return st;
}

gf_status gf_trim_changes(gf_store *s, gf_place where, uint64_t seq, gf_batch *batch, gf_error *err)
{
    gf_buffer start = {0}, end = {0};
    if (seq == 0) return GF_OK;
    gf_collection_key(&start, where.name_space, where.collection);
    gf_change_key(&end, where.name_space, where.collection, seq + 1);
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_buffer_check(&end, err);
    if (st == GF_OK)
        st = gf_delete_range(s->tables.changes, gf_buffer_view(&start), gf_buffer_view(&end), batch,
                             err);
    gf_buffer_release(&start);
    gf_buffer_release(&end);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static gf_status drop_old(gf_job *const *jobs, size_t n, gf_error *err)
{
    gf_store *s = jobs[0]->store;
    gf_batch *batch;
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        st = gf_drop_builds(s, gf_buffer_view(&jobs[i]->marked), batch, err);
        if (st == GF_OK) st = gf_trim_changes(s, jobs[i]->where, jobs[i]->trim_to, batch, err);
    }
    if (st == GF_OK) st = gf_batch_write(batch, GF_NO_SYNC, err);
    gf_batch_free(batch);
    return st;
}

gf_status gf_jobs_publish(gf_job *const *jobs, size_t n, gf_error *err)
{
    gf_store *s = jobs[0]->store;
    gf_status st = gf_lock(s, err), trimmed = GF_OK;
    if (st == GF_OK) st = publish(jobs, n, err);
    for (size_t i = 0; i < n && st == GF_OK && trimmed == GF_OK; i++)
        trimmed = oldest_need(jobs[i], NULL);
    gf_unlock(s);
    if (st != GF_OK) return st;
    /* The builds are published: what old ones leave behind is for the next write to clear away. */
    if (drop_old(jobs, n, NULL) != GF_OK) gf_leave_untidy(s);
    return GF_OK;
}
