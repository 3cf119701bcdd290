/* Jobs: their names, their settings, their beginning and end. */
#include "engine/build/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "vectorize/rows/analyser.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

gf_status gf_job_init(gf_job *job, gf_store *store, gf_place where, gf_slice configuration,
                      const gf_rebuild_options *options, gf_error *err)
{
    gf_job j = {.store = store, .options = options, .every = 1};
    j.where.name_space = gf_arena_copy(&j.memory, where.name_space);
    j.where.collection = gf_arena_copy(&j.memory, where.collection);
    j.configuration = gf_arena_copy(&j.memory, configuration);
    if (!j.where.name_space.ptr || !j.where.collection.ptr || !j.configuration.ptr) {
        gf_arena_release(&j.memory);
        return gf_fail_memory(err, "a rebuild");
    }
    *job = j;
    return GF_OK;
}

void gf_job_release_results(gf_job *j)
{
    gf_free(j->documents.id_start);
    gf_buffer_release(&j->documents.ids);
    gf_vectors_release(&j->documents.vectors);
    gf_analyser_free(j->analyser);
    gf_words_free(j->words);
    gf_free(j->texts);
    gf_arena_release(&j->text_memory);
    gf_kmeans_release(&j->clusters);
    gf_tree_release(&j->tree);
    gf_centres_release(&j->term_centres);
    gf_free(j->row_of);
    gf_free(j->members);
    gf_free(j->start);
    gf_free(j->before);
    gf_free(j->before_ids);
    gf_free(j->ids);
    j->documents = (gf_gathered){0};
    j->analyser = NULL;
    j->words = NULL;
    j->texts = NULL;
    j->clusters = (gf_kmeans){0};
    j->row_of = j->members = j->start = j->before = j->before_ids = j->ids = NULL;
}

void gf_job_release(gf_job *j)
{
    gf_job_release_results(j);
    gf_settings_map_release(&j->map);
    gf_buffer_release(&j->settings_json);
    gf_buffer_release(&j->key);
    gf_buffer_release(&j->marked);
    gf_pins_release(&j->pins);
    gf_arena_release(&j->memory);
    *j = (gf_job){0};
}

void gf_job_tell(const gf_job *j, const char *phase, uint64_t done, uint64_t total)
{
    if (j->options->progress)
        j->options->progress(j->options->context, j->where, phase, done, total);
}

/* ---- has anything changed? ------------------------------------------------------------------- */

static gf_status read_settings(gf_job *j, const gf_collection_row *row, gf_error *err)
{
    gf_settings_map_release(&j->map);
    gf_buffer_reset(&j->settings_json);
    gf_status st =
        gf_configuration_load(j->store, NULL, j->where, row, j->configuration, &j->map, err);
    if (st == GF_OK) st = gf_settings_map_fix_times(&j->map, gf_clock_ms(), err);
    if (st == GF_OK) st = gf_settings_resolve(&j->map, j->configuration, &j->settings, err);
    gf_settings_map_write_effective(&j->map, &j->settings_json);
    return st == GF_OK ? gf_buffer_check(&j->settings_json, err) : st;
}

static gf_status compare_served(gf_job *j, bool *modified, gf_error *err)
{
    gf_row row = {0};
    gf_build_info info;
    gf_buffer key = {0};
    j->chosen_for = 0;
    gf_build_key(&key, j->where.name_space, j->where.collection, j->configuration,
                 j->served_before);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(j->store->tables.builds, NULL, gf_buffer_view(&key), 1u << GF_BUILDS_MAIN,
                          &row, err);
    if (st == GF_ENOTFOUND)
        st = gf_fail(err, GF_ECORRUPT, "the served build %" PRId64 " is missing", j->served_before);
    if (st == GF_OK) st = gf_build_decode(j->store, &row, &info, err);
    if (st == GF_OK) {
        gf_cell_number(gf_row_find(&row, GF_BUILDS_MAIN, "chosen_for"), &j->chosen_for);
        *modified = info.seq != j->seq || info.rows != GF_ROWS_OF_TEXTS ||
                    !gf_slice_equal(info.settings, gf_buffer_view(&j->settings_json));
        j->info = info;
        j->info.served = true;
        j->info.settings = j->info.versions = (gf_slice){0};
    }
    gf_row_release(&row);
    gf_buffer_release(&key);
    return st;
}

gf_status gf_job_look(gf_job *j, bool *modified, gf_error *err)
{
    gf_collection_row row = {0};
    gf_status st = gf_collection_row_read(j->store, NULL, j->where, &row, err);
    if (st == GF_OK) st = read_settings(j, &row, err);
    gf_pins_release(&j->pins);
    if (st == GF_OK) st = gf_pins_read(row.pins, j->configuration, &j->pins, err);
    if (st == GF_OK) {
        j->seq = row.seq;
        j->size = row.size;
        j->served_before = gf_collection_row_served(&row, j->configuration);
        *modified = true;
        if (j->served_before) st = compare_served(j, modified, err);
    }
    gf_collection_row_release(&row);
    return st;
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* The last of a configuration's builds, also if it is going; 0 where there is none. */
static gf_status last_build(gf_job *j, gf_slice configuration_key, gf_row *row, int64_t *build,
                            gf_error *err)
{
    gf_table *table = j->store->tables.builds;
    gf_scan *scan;
    bool more;
    uint64_t number = 0;
    gf_scan_options o = {
        .family = GF_BUILDS_MAIN, .prefix = configuration_key, .reverse = true, .limit = 1};
    gf_status st = gf_scan_open(table, &o, &scan, err);
    if (st != GF_OK) return st;
    st = gf_scan_step(scan, row, &more, err);
    if (st == GF_OK && more) st = gf_key_last_number(table, row->key, &number, err);
    gf_scan_close(scan);
    *build = (int64_t)number;
    return st;
}

/*
 * A build's time is now, or a millisecond more than the last one's. None of the configuration is
 * under way: the lock cleared away those of others, and there is no active one.
 */
static gf_status choose_build(gf_job *j, gf_slice configuration_key, gf_error *err)
{
    gf_row row = {0};
    int64_t last = 0;
    uint64_t next_id = 1;
    gf_status st = last_build(j, configuration_key, &row, &last, err);
    const gf_cell *cell = st == GF_OK ? gf_row_find(&row, GF_BUILDS_MAIN, "next_id") : NULL;
    if (cell && (!gf_cell_number(cell, &next_id) || next_id > UINT32_MAX))
        st = gf_fail(err, GF_ECORRUPT, "table builds: a row is damaged");
    gf_row_release(&row);
    if (st != GF_OK) return st;
    if (j->served_before > last) last = j->served_before;
    j->next_id = (uint32_t)next_id;
    j->build = gf_clock_ms();
    if (j->build <= last) j->build = last + 1;
    return GF_OK;
}

/* One job, under the write lock; its mark goes into the batch. */
static gf_status begin(gf_job *j, gf_batch *batch, const char *owner, gf_error *err)
{
    bool modified;
    gf_buffer key = {0};
    gf_configuration_key(&key, j->where.name_space, j->where.collection, j->configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK && gf_is_active(j->store, gf_buffer_view(&key)))
        st = gf_fail(err, GF_EBUSY, "configuration \"%.*s\" of \"%.*s\" is being rebuilt",
                     GF_SLICE_ARG(j->configuration), GF_SLICE_ARG(j->where.collection));
    /* Settings and seq as the snapshot will have them, which may be newer than the first look. */
    if (st == GF_OK) st = gf_job_look(j, &modified, err);
    if (st == GF_OK) st = choose_build(j, gf_buffer_view(&key), err);
    gf_buffer_release(&key);
    if (st != GF_OK) return st;
    gf_buffer_reset(&j->key);
    gf_build_key(&j->key, j->where.name_space, j->where.collection, j->configuration, j->build);
    st = gf_buffer_check(&j->key, err);
    if (st != GF_OK) return st;
    gf_column columns[] = {{GF_SLICE("state"), GF_SLICE("building")},
                           {GF_SLICE("owner"), gf_slice_str(owner)}};
    gf_batch_replace(batch, j->store->tables.builds, gf_buffer_view(&j->key), GF_BUILDS_PROGRESS,
                     columns, 2, 0);
    j->activity = (gf_activity){.key = gf_buffer_view(&j->key), .seq = j->seq};
    gf_begin_activity(j->store, &j->activity);
    j->begun = true;
    return GF_OK;
}

static gf_status begin_locked(gf_job *const *jobs, size_t n, gf_snapshot **snapshot, gf_error *err)
{
    gf_store *s = jobs[0]->store;
    gf_batch *batch;
    char owner[32];
    snprintf(owner, sizeof owner, "process %ld", (long)getpid());
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = begin(jobs[i], batch, owner, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC, err);
    if (st == GF_OK) st = gf_snapshot_create(s->db, snapshot, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        jobs[i]->snapshot = *snapshot;
    gf_batch_free(batch);
    return st;
}

gf_status gf_jobs_begin(gf_job *const *jobs, size_t n, gf_snapshot **snapshot, gf_error *err)
{
    *snapshot = NULL;
    gf_status st = gf_lock(jobs[0]->store, err);
    if (st == GF_OK) st = begin_locked(jobs, n, snapshot, err);
    gf_unlock(jobs[0]->store);
    return st;
}

/* ---- the end --------------------------------------------------------------------------------- */

static gf_status drop_unpublished(gf_job *const *jobs, size_t n, gf_error *err)
{
    gf_store *s = jobs[0]->store;
    gf_batch *batch;
    bool any = false;
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        if (!jobs[i]->begun || jobs[i]->published) continue;
        any = true;
        st = gf_drop_build(s, gf_buffer_view(&jobs[i]->key), batch, err);
    }
    if (st == GF_OK && any) st = gf_batch_write(batch, GF_NO_SYNC, err);
    gf_batch_free(batch);
    return st;
}

void gf_jobs_end(gf_job *const *jobs, size_t n)
{
    if (n == 0) return;
    gf_store *s = jobs[0]->store;
    /* While a job is active nobody else writes below its key, so this needs no lock. */
    if (drop_unpublished(jobs, n, NULL) != GF_OK) gf_leave_untidy(s);
    pthread_mutex_lock(&s->write_lock);
    for (size_t i = 0; i < n; i++)
        if (jobs[i]->begun) gf_end_activity(s, &jobs[i]->activity);
    pthread_mutex_unlock(&s->write_lock);
}
