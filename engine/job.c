/* Jobs: their names, their settings, their beginning and end. */
#include "engine/rebuild_internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <unistd.h>

gf_status gf_job_init(gf_job *job, gf_store *store, gf_place where, gf_slice configuration,
                      const gf_rebuild_options *options, gf_error *err)
{
    gf_job j = {.store = store, .options = options};
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

void gf_job_release(gf_job *j)
{
    gf_settings_map_release(&j->map);
    gf_buffer_release(&j->settings_json);
    gf_buffer_release(&j->key);
    gf_free(j->documents.id_start);
    gf_buffer_release(&j->documents.ids);
    gf_vectors_release(&j->documents.vectors);
    gf_kmeans_release(&j->clusters);
    gf_free(j->row_of);
    gf_free(j->members);
    gf_free(j->start);
    gf_arena_release(&j->memory);
    *j = (gf_job){0};
}

void gf_job_tell(const gf_job *j, const char *phase, uint64_t done, uint64_t total)
{
    if (j->options->progress)
        j->options->progress(j->options->context, j->where, phase, done, total);
}

/* ---- has anything changed? --------------------------------------------------------------------
 */

static gf_status read_settings(gf_job *j, gf_slice column, gf_error *err)
{
    gf_status st = gf_settings_map_read(column, j->configuration, &j->map, err);
    if (st == GF_OK) st = gf_settings_resolve(&j->map, j->configuration, &j->settings, err);
    gf_settings_map_write(&j->map, &j->settings_json);
    return st == GF_OK ? gf_buffer_check(&j->settings_json, err) : st;
}

static gf_status compare_served(gf_job *j, const gf_snapshot *snapshot, bool *modified,
                                gf_error *err)
{
    gf_row row = {0};
    gf_build_info info;
    gf_buffer key = {0};
    gf_build_key(&key, j->where.name_space, j->where.collection, j->configuration,
                 j->served_before);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(j->store->tables.builds, snapshot, gf_buffer_view(&key),
                          1u << GF_BUILDS_MAIN, &row, err);
    if (st == GF_OK) st = gf_build_decode(j->store, &row, &info, err);
    if (st == GF_OK) {
        *modified =
            info.seq != j->seq || !gf_slice_equal(info.settings, gf_buffer_view(&j->settings_json));
        j->info = info;
        j->info.served = true;
        j->info.settings = j->info.versions = (gf_slice){0};
    }
    gf_row_release(&row);
    gf_buffer_release(&key);
    return st;
}

gf_status gf_job_look(gf_job *j, const gf_snapshot *snapshot, bool *modified, gf_error *err)
{
    gf_collection_row row = {0};
    gf_status st = gf_collection_row_read(j->store, snapshot, j->where, &row, err);
    if (st == GF_OK) st = read_settings(j, row.settings, err);
    if (st == GF_OK) {
        j->seq = row.seq;
        j->info.documents = row.size;
        j->served_before = gf_collection_row_served(&row, j->configuration);
        *modified = true;
        if (j->served_before) st = compare_served(j, snapshot, modified, err);
    }
    gf_collection_row_release(&row);
    return st;
}

/* ---- beginning --------------------------------------------------------------------------------
 */

/* The newest build of a configuration, finished or not, and the first cluster id that is free. */
static gf_status newest_build(gf_job *j, gf_slice configuration_key, int64_t *newest, gf_error *err)
{
    gf_row row = {0};
    gf_status st = GF_OK;
    const unsigned families[] = {GF_BUILDS_MAIN, GF_BUILDS_PROGRESS};
    *newest = 0;
    j->next_id = 1;
    for (size_t i = 0; i < 2 && st == GF_OK; i++) {
        gf_scan *scan;
        gf_scan_options o = {
            .family = families[i], .prefix = configuration_key, .reverse = true, .limit = 1};
        uint64_t build = 0, next_id;
        st = gf_scan_open(j->store->tables.builds, &o, &scan, err);
        if (st != GF_OK) break;
        st = gf_scan_next(scan, &row, err);
        if (st == GF_OK) st = gf_key_last_number(j->store->tables.builds, row.key, &build, err);
        if (st == GF_OK && gf_cell_number(gf_row_find(&row, GF_BUILDS_MAIN, "next_id"), &next_id))
            j->next_id = (uint32_t)next_id;
        if ((int64_t)build > *newest) *newest = (int64_t)build;
        gf_scan_close(scan);
        if (st == GF_ENOTFOUND) st = GF_OK;
    }
    gf_row_release(&row);
    return st;
}

static gf_status begin(gf_job *j, gf_batch *batch, const char *owner, gf_error *err)
{
    int64_t newest;
    gf_buffer configuration = {0};
    gf_configuration_key(&configuration, j->where.name_space, j->where.collection,
                         j->configuration);
    gf_status st = gf_buffer_check(&configuration, err);
    if (st == GF_OK && gf_is_active(j->store, gf_buffer_view(&configuration)))
        st = gf_fail(err, GF_EBUSY, "configuration \"%.*s\" of \"%.*s\" is being rebuilt",
                     GF_SLICE_ARG(j->configuration), GF_SLICE_ARG(j->where.collection));
    if (st == GF_OK) st = newest_build(j, gf_buffer_view(&configuration), &newest, err);
    gf_buffer_release(&configuration);
    if (st != GF_OK) return st;
    j->build = gf_clock_ms();
    if (j->build <= newest) j->build = newest + 1;
    if (j->build <= j->served_before) j->build = j->served_before + 1;
    gf_buffer_reset(&j->key);
    gf_build_key(&j->key, j->where.name_space, j->where.collection, j->configuration, j->build);
    st = gf_buffer_check(&j->key, err);
    if (st != GF_OK) return st;
    gf_column columns[] = {{GF_SLICE("state"), GF_SLICE("building")},
                           {GF_SLICE("owner"), gf_slice_str(owner)}};
    gf_batch_replace(batch, j->store->tables.builds, gf_buffer_view(&j->key), GF_BUILDS_PROGRESS,
                     columns, 2, 0);
    return GF_OK;
}

static void list(gf_job *j)
{
    j->entry = (gf_rebuilding){j->store->active, gf_buffer_view(&j->key)};
    j->store->active = &j->entry;
    j->listed = true;
    j->started = gf_clock_seconds();
}

static void unlist(gf_job *j)
{
    for (gf_rebuilding **p = &j->store->active; *p; p = &(*p)->next)
        if (*p == &j->entry) {
            *p = j->entry.next;
            break;
        }
    j->listed = false;
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
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        bool modified;
        jobs[i]->snapshot = *snapshot;
        /* Settings and seq as they are in the snapshot, which may be newer than the first look. */
        gf_settings_map_release(&jobs[i]->map);
        gf_buffer_reset(&jobs[i]->settings_json);
        st = gf_job_look(jobs[i], *snapshot, &modified, err);
        if (st == GF_OK) list(jobs[i]);
    }
    gf_batch_free(batch);
    return st;
}

gf_status gf_jobs_begin(gf_job *const *jobs, size_t n, gf_snapshot **snapshot, gf_error *err)
{
    *snapshot = NULL;
    gf_status st = gf_lock(jobs[0]->store, err);
    if (st == GF_OK) st = begin_locked(jobs, n, snapshot, err);
    gf_unlock(jobs[0]->store);
    if (st != GF_OK) {
        gf_snapshot_free(*snapshot);
        *snapshot = NULL;
    }
    return st;
}

void gf_jobs_end(gf_job *const *jobs, size_t n)
{
    if (n == 0) return;
    gf_store *s = jobs[0]->store;
    pthread_mutex_lock(&s->write_lock);
    for (size_t i = 0; i < n; i++) {
        gf_job *j = jobs[i];
        if (!j->listed) continue;
        unlist(j);
        /* What cannot be dropped now keeps its progress row, and is dropped at the next opening. */
        if (!j->published) gf_drop_build(s, gf_buffer_view(&j->key), NULL);
    }
    pthread_mutex_unlock(&s->write_lock);
}
