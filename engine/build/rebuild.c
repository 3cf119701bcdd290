/* Rebuilding one configuration of one collection. */
#include "engine/build/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "grouperfish.h"

static void summarise(gf_job *j)
{
    const gf_kmeans *c = &j->clusters;
    const gf_vectors *v = &j->documents.vectors;
    const gf_matrix *m = j->options->matrix;
    j->info = (gf_build_info){.build = j->build,
                              .served = true,
                              .documents = j->documents.n,
                              .without_terms = m ? j->documents.n - c->n : v->n_empty,
                              .distinct = c->distinct,
                              .terms = m ? m->n_cols : v->x.n_cols,
                              .k = c->k,
                              .objective = c->n ? c->objective / c->n : 0,
                              .seq = j->seq,
                              .settings = gf_buffer_view(&j->settings_json),
                              .versions = gf_slice_str(gf_library_versions())};
    if (m) j->info.rows = m->sparse ? GF_ROWS_SPARSE : GF_ROWS_DENSE;
}

/* Where memory is short, what is free goes back to the system before the next step. */
static void give_back(const gf_job *j)
{
    if (j->options->memory) gf_memory_trim();
}

gf_status gf_job_compute(gf_job *j, gf_error *err)
{
    double begun = gf_clock_seconds();
    gf_status st = gf_job_plan_memory(j, err);
    give_back(j);
    j->keeps_words = gf_job_indexes_words(j);
    if (st == GF_OK) st = gf_job_gather(j, err);
    give_back(j);
    if (st == GF_OK) st = gf_job_read_served(j, err);
    if (st == GF_OK) st = gf_job_cluster(j, err);
    give_back(j);
    if (st == GF_OK) st = gf_job_number_clusters(j, err);
    if (st == GF_OK) st = gf_job_name_clusters(j, err);
    give_back(j);
    if (st == GF_OK) summarise(j);
    j->seconds = gf_clock_seconds() - begun;
    return st;
}

static gf_status write_and_publish(gf_job *j, gf_error *err)
{
    gf_batch *batch;
    gf_status st = gf_batch_create(j->store->db, &batch, err);
    if (st != GF_OK) return st;
    st = gf_job_write(j, batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC, err);
    gf_batch_free(batch);
    if (st == GF_OK) st = gf_cancel_check(j->options->cancel, err);
    return st == GF_OK ? gf_jobs_publish(&(gf_job *){j}, 1, err) : st;
}

static gf_status create_pool(gf_job *j, gf_error *err)
{
    gf_status st = gf_pool_create(j->options->threads, &j->pool, err);
    if (st != GF_OK || !j->options->memory || gf_pool_size(j->pool) <= GF_BOUND_THREADS) return st;
    gf_pool_free(j->pool);
    j->pool = NULL;
    return gf_pool_create(GF_BOUND_THREADS, &j->pool, err);
}

static gf_status build(gf_job *j, gf_error *err)
{
    gf_snapshot *snapshot = NULL;
    gf_status st = create_pool(j, err);
    if (st == GF_OK) st = gf_jobs_begin(&j, 1, &snapshot, err);
    if (st == GF_OK) st = gf_job_compute(j, err);
    if (st == GF_OK) st = write_and_publish(j, err);
    gf_jobs_end(&j, 1);
    gf_snapshot_free(snapshot);
    gf_pool_free(j->pool);
    j->pool = NULL;
    return st;
}

static gf_status estimate(gf_job *j, gf_memory_estimate *e, gf_error *err)
{
    if (j->options->matrix) return GF_OK;
    gf_status st = gf_pool_create(j->options->threads, &j->pool, err);
    if (st == GF_OK) st = gf_job_estimate(j, e, err);
    gf_pool_free(j->pool);
    j->pool = NULL;
    return st;
}

gf_status gf_rebuild(gf_store *s, gf_place where, gf_slice configuration,
                     const gf_rebuild_options *options, gf_rebuild_result *result, gf_error *err)
{
    gf_job job;
    bool modified = true;
    gf_error why = {GF_OK, ""}; /* also where the caller wants none: the store keeps the reason */
    gf_status st = gf_job_init(&job, s, where, configuration, options, err);
    if (st != GF_OK) return st;
    gf_rebuild_result r = {.outcome = GF_UNMODIFIED};
    st = gf_job_look(&job, &modified, &why);
    if (st == GF_OK && (modified || options->force || options->matrix)) {
        r.outcome = options->dry_run ? GF_WOULD_REBUILD : GF_REBUILT;
        st = options->dry_run ? estimate(&job, &r.memory, &why) : build(&job, &why);
    }
    r.build = job.info;
    r.unknown = job.unknown;
    r.build.settings = r.build.versions = (gf_slice){0};
    gf_job_release(&job);
    if (!options->dry_run) gf_note_failure(s, where, configuration, st, why.message);
    if (st == GF_OK)
        *result = r;
    else if (err)
        *err = why;
    return st;
}
