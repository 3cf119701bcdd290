/* The pointer moves; what is no longer needed goes. */
#include "engine/rebuild_internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- moving pointers --------------------------------------------------------------------------
 */

static void put_number(gf_batch *batch, gf_store *s, gf_slice key, gf_buffer *column, int64_t v)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%" PRId64, v);
    gf_batch_put(batch, s->tables.collections, key, GF_COLLECTIONS_MAIN, gf_buffer_view(column),
                 gf_slice_of(text, (size_t)n), 0);
}

/* One job's pointer into the batch, where it still is what it was when the job began. */
static gf_status move_pointer(gf_job *j, gf_batch *batch, gf_buffer *key, gf_buffer *column,
                              gf_error *err)
{
    gf_collection_row row = {0};
    gf_status st = gf_collection_row_read(j->store, NULL, j->where, &row, err);
    if (st == GF_OK && gf_collection_row_served(&row, j->configuration) != j->served_before)
        st = gf_fail(err, GF_ECONFLICT, "another build was published meanwhile");
    gf_collection_row_release(&row);
    if (st != GF_OK) return st;
    gf_buffer_reset(key);
    gf_collection_key(key, j->where.name_space, j->where.collection);
    gf_buffer_reset(column);
    gf_configuration_column(column, j->configuration, "processed");
    st = gf_buffer_check(column, err);
    if (st == GF_OK) put_number(batch, j->store, gf_buffer_view(key), column, gf_clock_ms());
    gf_buffer_reset(column);
    gf_configuration_column(column, j->configuration, "rebuilt");
    if (st == GF_OK) st = gf_buffer_check(key, err);
    if (st == GF_OK) st = gf_buffer_check(column, err);
    if (st != GF_OK) return st;
    put_number(batch, j->store, gf_buffer_view(key), column, j->build);
    gf_batch_delete_row(batch, j->store->tables.builds, gf_buffer_view(&j->key),
                        1u << GF_BUILDS_PROGRESS);
    return GF_OK;
}

/*
 * One job alone is written under the condition that its pointer has not moved. Of several each was
 * checked under the write lock, without which no pointer moves.
 */
static gf_status write_pointers(gf_job *const *jobs, size_t n, gf_batch *batch, gf_slice key,
                                gf_slice column, gf_error *err)
{
    gf_job *j = jobs[0];
    char text[24];
    if (n > 1) return gf_batch_write(batch, GF_SYNC, err);
    int length = snprintf(text, sizeof text, "%" PRId64, j->served_before);
    gf_slice expected = gf_slice_of(text, (size_t)length);
    return gf_batch_write_if(batch, j->store->tables.collections, key, GF_COLLECTIONS_MAIN, column,
                             j->served_before ? &expected : NULL, GF_SYNC, err);
}

static gf_status publish(gf_job *const *jobs, size_t n, gf_error *err)
{
    gf_batch *batch;
    gf_buffer key = {0}, column = {0};
    gf_status st = gf_batch_create(jobs[0]->store->db, &batch, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = move_pointer(jobs[i], batch, &key, &column, err);
    if (st == GF_OK)
        st = write_pointers(jobs, n, batch, gf_buffer_view(&key), gf_buffer_view(&column), err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        jobs[i]->published = true;
    gf_batch_free(batch);
    gf_buffer_release(&key);
    gf_buffer_release(&column);
    return st;
}

/* ---- old builds -------------------------------------------------------------------------------
 */

gf_status gf_mark_builds(gf_store *s, gf_slice configuration_key, size_t keep, int64_t served,
                         gf_batch *batch, gf_error *err)
{
    int64_t *builds;
    size_t n;
    gf_buffer key = {0};
    gf_status st = gf_builds_list(s, NULL, configuration_key, &builds, &n, err);
    if (st != GF_OK) return st;
    for (size_t i = keep; i < n && st == GF_OK; i++) {
        if (builds[i] == served) continue;
        gf_buffer_reset(&key);
        gf_buffer_slice(&key, configuration_key);
        gf_key_u64(&key, (uint64_t)builds[i]);
        st = gf_buffer_check(&key, err);
        gf_column columns[] = {{GF_SLICE("state"), GF_SLICE("dropping")}};
        if (st == GF_OK)
            gf_batch_replace(batch, s->tables.builds, gf_buffer_view(&key), GF_BUILDS_PROGRESS,
                             columns, 1, 0);
    }
    gf_free(builds);
    gf_buffer_release(&key);
    return st;
}

gf_status gf_drop_marked(gf_store *s, gf_slice configuration_key, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    gf_buffer keys = {0};
    gf_slice key;
    gf_scan_options o = {.family = GF_BUILDS_PROGRESS, .prefix = configuration_key};
    gf_status st = gf_scan_open(s->tables.builds, &o, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row, err)) == GF_OK) {
        const gf_cell *state = gf_row_find(&row, GF_BUILDS_PROGRESS, "state");
        if (state && gf_slice_equal(state->value, GF_SLICE("dropping")))
            gf_buffer_string(&keys, row.key);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    st = st == GF_ENOTFOUND ? gf_buffer_check(&keys, err) : st;
    for (gf_slice rest = gf_buffer_view(&keys); st == GF_OK && gf_take_string(&rest, &key);)
        st = gf_drop_build(s, key, err);
    gf_buffer_release(&keys);
    return st;
}

/* Changes that no kept build of any configuration needs any more. */
static gf_status trim_changes(gf_job *j, gf_error *err)
{
    gf_store *s = j->store;
    gf_scan *scan;
    gf_row row = {0};
    gf_buffer start = {0}, end = {0};
    uint64_t oldest = UINT64_MAX;
    gf_collection_key(&start, j->where.name_space, j->where.collection);
    gf_status st = gf_buffer_check(&start, err);
    if (st != GF_OK) return st;
    gf_scan_options builds = {.family = GF_BUILDS_MAIN, .prefix = gf_buffer_view(&start)};
    st = gf_scan_open(s->tables.builds, &builds, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &row, err)) == GF_OK) {
        uint64_t seq;
        if (gf_cell_number(gf_row_find(&row, GF_BUILDS_MAIN, "seq"), &seq) && seq < oldest)
            oldest = seq;
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    if (st == GF_ENOTFOUND) {
        gf_change_key(&end, j->where.name_space, j->where.collection, oldest);
        st = gf_buffer_check(&end, err);
    }
    if (st == GF_OK && oldest != UINT64_MAX)
        st = gf_delete_range(s, s->tables.changes, gf_buffer_view(&start), gf_buffer_view(&end),
                             err);
    gf_buffer_release(&start);
    gf_buffer_release(&end);
    return st;
}

static gf_status drop_old(gf_job *j, gf_error *err)
{
    gf_store *s = j->store;
    gf_batch *batch = NULL;
    gf_buffer key = {0};
    gf_configuration_key(&key, j->where.name_space, j->where.collection, j->configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK)
        st = gf_mark_builds(s, gf_buffer_view(&key), j->settings.keep, j->build, batch, err);
    if (st == GF_OK && gf_batch_changes(batch)) {
        st = gf_batch_write(batch, GF_NO_SYNC, err);
        if (st == GF_OK) st = gf_drop_marked(s, gf_buffer_view(&key), err);
    }
    if (st == GF_OK) st = trim_changes(j, err);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

gf_status gf_jobs_publish(gf_job *const *jobs, size_t n, gf_error *err)
{
    gf_store *s = jobs[0]->store;
    gf_status st = gf_lock(s, err);
    if (st == GF_OK) st = publish(jobs, n, err);
    /* The build is published: that old ones could not be dropped is for the next rebuild to mend.
     */
    for (size_t i = 0; i < n && st == GF_OK; i++)
        drop_old(jobs[i], NULL);
    gf_unlock(s);
    return st;
}
