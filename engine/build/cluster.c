/* Rows -> clusters, and the order of their members. */
#include "engine/build/internal.h"

#include "base/memory.h"
#include "cluster/dense/lsa.h"
#include "cluster/stream/minibatch.h"

#include <float.h>
#include <stdlib.h>

/* ---- the rows that have terms ---------------------------------------------------------------- */

/*
 * The matrix without its empty rows: those have no entries, so only the row starts change. What is
 * returned borrows columns and values.
 */
static gf_status drop_empty_rows(const gf_vectors *v, gf_csr *x, uint32_t **row_of, gf_error *err)
{
    uint32_t n = v->x.n_rows - v->n_empty, at = 0;
    uint64_t *start = gf_array((size_t)n + 1, sizeof *start);
    uint32_t *rows = gf_array(n, sizeof *rows);
    if (!start || !rows) {
        gf_free(start);
        gf_free(rows);
        return gf_fail_memory(err, "rows");
    }
    start[0] = 0;
    for (uint32_t i = 0; i < v->x.n_rows; i++) {
        if (v->kind[i] == GF_ROW_EMPTY) continue;
        rows[at++] = i;
        start[at] = v->x.start[i + 1];
    }
    *x = (gf_csr){n, v->x.n_cols, start, v->x.col, v->x.val};
    *row_of = rows;
    return GF_OK;
}

/* ---- members --------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b, void *context)
{
    const gf_kmeans *c = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (c->score[x] > c->score[y]) return -1;
    if (c->score[x] < c->score[y]) return 1;
    return x < y ? -1 : x > y;
}

static gf_status sort_task(void *context, size_t j, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    gf_job *job = context;
    qsort_r(job->members + job->start[j], job->start[j + 1] - job->start[j], sizeof *job->members,
            by_rank, &job->clusters);
    return GF_OK;
}

/* Rows by cluster, best first. */
static gf_status rank_members(gf_job *j, gf_error *err)
{
    const gf_kmeans *c = &j->clusters;
    j->members = gf_array(c->n, sizeof *j->members);
    j->start = gf_calloc((size_t)c->k + 1, sizeof *j->start);
    if (!j->members || !j->start) return gf_fail_memory(err, "cluster members");
    for (uint32_t i = 0; i < c->n; i++)
        j->start[c->label[i] + 1]++;
    for (uint32_t k = 0; k < c->k; k++)
        j->start[k + 1] += j->start[k];
    for (uint32_t i = 0; i < c->n; i++)
        j->members[j->start[c->label[i]]++] = i;
    for (uint32_t k = c->k; k > 0; k--)
        j->start[k] = j->start[k - 1];
    j->start[0] = 0;
    return gf_pool_run(j->pool, c->k, sort_task, j, j->options->cancel, err);
}

/* ---- clustering ------------------------------------------------------------------------------ */

static void tell(void *context, const char *phase, uint64_t done, uint64_t total)
{
    gf_job_tell(context, phase, done, total);
}

static gf_kmeans_options options_of(gf_job *j)
{
    const gf_resolved *s = &j->settings;
    return (gf_kmeans_options){.k = s->k,
                               .max_k = s->max_k,
                               .seed = s->seed,
                               .restarts = s->restarts,
                               .max_passes = s->max_passes,
                               .max_rounds = s->polish ? 0 : GF_NO_POLISH,
                               .tolerance = s->tolerance > 0 ? s->tolerance : DBL_MIN,
                               .quick = s->quick,
                               .cancel = j->options->cancel,
                               .progress = tell,
                               .progress_context = j};
}

/* k as it would be chosen over terms: the space has no say in it. */
static gf_status settle_k(gf_job *j, const gf_csr *x, gf_kmeans_options *o, gf_error *err)
{
    gf_choice choice = {0};
    if (o->k) return GF_OK;
    gf_status st = gf_kmeans_choose(j->pool, x, o, &choice, err);
    if (st == GF_OK) o->k = choice.k;
    gf_free(choice.steps);
    return st;
}

/* Begin from clusters of latent semantic analysis: a label for each row, to be freed. */
static gf_status begin_from_lsa(gf_job *j, const gf_csr *x, gf_kmeans_options *o, uint32_t **start,
                                gf_error *err)
{
    gf_status st = settle_k(j, x, o, err);
    if (st != GF_OK) return st;
    uint32_t *label = gf_array(x->n_rows, sizeof *label);
    if (!label) return gf_fail_memory(err, "clusters");
    st = gf_lsa_clusters(j->pool, x, j->settings.lsa, o, label, &o->start_k, err);
    if (st == GF_OK)
        *start = label;
    else
        gf_free(label);
    return st;
}

static gf_status cluster_spilled(gf_job *j, const gf_csr *x, const gf_kmeans_options *o,
                                 gf_error *err)
{
    const gf_row_file rows = {x->n_rows, x->n_cols, x->start, x->start[x->n_rows],
                              j->documents.vectors.entries};
    const gf_minibatch_options options = {*o, j->plan.sample};
    return gf_minibatch_run(j->pool, &rows, &options, &j->clusters, err);
}

static gf_status cluster_texts(gf_job *j, gf_kmeans_options *o, gf_error *err)
{
    gf_csr x = {0};
    uint32_t *start = NULL;
    gf_status st = drop_empty_rows(&j->documents.vectors, &x, &j->row_of, err);
    if (st == GF_OK) st = gf_job_choose_start(j, &start, &o->k, err);
    o->start_k = j->k_before;
    if (st == GF_OK && !start && j->settings.lsa && !j->spills)
        st = begin_from_lsa(j, &x, o, &start, err);
    o->start = start;
    if (st == GF_OK)
        st = j->spills ? cluster_spilled(j, &x, o, err)
                       : gf_kmeans_run(j->pool, &x, o, &j->clusters, err);
    gf_free(start);
    gf_free(x.start);
    return st;
}

gf_status gf_job_cluster(gf_job *j, gf_error *err)
{
    const gf_vectors *v = &j->documents.vectors;
    gf_kmeans_options o = options_of(j);
    gf_status st;
    if (j->options->matrix) {
        j->chosen_for = 0;
        st = gf_job_cluster_matrix(j, &o, err);
    } else if (v->x.n_rows == v->n_empty) {
        return GF_OK; /* nothing to cluster: a build without clusters */
    } else {
        st = cluster_texts(j, &o, err);
    }
    return st == GF_OK ? rank_members(j, err) : st;
}

gf_status gf_job_choose_k(gf_job *j, gf_choice *choice, gf_error *err)
{
    const gf_vectors *v = &j->documents.vectors;
    gf_csr x = {0};
    if (v->x.n_rows == v->n_empty) return GF_OK;
    gf_kmeans_options o = options_of(j);
    gf_status st = drop_empty_rows(v, &x, &j->row_of, err);
    if (st == GF_OK) st = gf_kmeans_choose(j->pool, &x, &o, choice, err);
    gf_free(x.start);
    return st;
}
