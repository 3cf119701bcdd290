#include "engine/build/cluster.h"

#include "base/memory.h"
#include "cluster/dense/lsa.h"
#include "cluster/measure/match.h"
#include "cluster/stream/minibatch.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>

/* Growth or shrinkage of the documents, as a factor, beyond which k=auto is chosen again. */
enum { MOST_GROWTH = 2 };

_Static_assert(GF_UNMATCHED == GF_NO_CLUSTER, "previous clusters are labels to begin with");

/* ---- the result ------------------------------------------------------------------------------ */

void gf_build_clustered_release(gf_build_clustered *c)
{
    gf_kmeans_release(&c->kmeans);
    gf_centres_release(&c->term_centres);
    gf_free(c->row_of);
    gf_free(c->members);
    gf_free(c->start);
    *c = (gf_build_clustered){0};
}

const gf_centres *gf_build_clustered_terms(const gf_build_clustered *c)
{
    return c->term_centres.at ? &c->term_centres : &c->kmeans.centres;
}

/* ---- the rows that have terms ---------------------------------------------------------------- */

/*
 * The matrix without its empty rows: those have no entries, so only the row starts change. *x
 * borrows columns and values.
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

static gf_status rank_task(void *context, size_t cluster, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    gf_build_clustered *c = context;
    qsort_r(c->members + c->start[cluster], gf_build_clustered_size(c, (uint32_t)cluster),
            sizeof *c->members, by_rank, &c->kmeans);
    return GF_OK;
}

/* List the rows of each cluster, best first. */
static gf_status rank_members(gf_pool *pool, const gf_cancel *cancel, gf_build_clustered *out,
                              gf_error *err)
{
    const gf_kmeans *c = &out->kmeans;
    uint32_t *members = out->members = gf_array(c->n, sizeof *members);
    uint32_t *start = out->start = gf_calloc((size_t)c->k + 1, sizeof *start);
    if (!members || !start) return gf_fail_memory(err, "cluster members");
    for (uint32_t i = 0; i < c->n; i++)
        start[c->label[i] + 1]++;
    for (uint32_t k = 0; k < c->k; k++)
        start[k + 1] += start[k];
    for (uint32_t i = 0; i < c->n; i++)
        members[start[c->label[i]]++] = i;
    for (uint32_t k = c->k; k > 0; k--)
        start[k] = start[k - 1];
    start[0] = 0;
    assert(start[c->k] == c->n);
    return gf_pool_run(pool, c->k, rank_task, out, cancel, err);
}

/* ---- where to begin -------------------------------------------------------------------------- */

static bool starts_served(const gf_build_plan *plan, const gf_build_previous *previous)
{
    if (previous->k == 0) return false;
    return plan->options->start == GF_START_CONFIGURED ? plan->settings.start_served
                                                       : plan->options->start == GF_START_SERVED;
}

/*
 * Set k, and if the previous clusters are continued, a first label for each row (*start, to be
 * freed). k=auto keeps their number while the documents are about as many as when it was chosen.
 */
static gf_status start_from_previous(const gf_build_plan *plan, const gf_build_previous *previous,
                                     uint32_t n_rows, gf_build_clustered *out, gf_kmeans_options *o,
                                     uint32_t **start, gf_error *err)
{
    uint64_t then = plan->served_distinct;
    out->chosen_for = o->k ? 0 : n_rows;
    if (!starts_served(plan, previous)) return GF_OK;
    if (o->k == 0) {
        bool alike = n_rows <= then * MOST_GROWTH && then <= (uint64_t)n_rows * MOST_GROWTH;
        if (!alike) return GF_OK;
        o->k = o->max_k && o->max_k < previous->k ? o->max_k : previous->k;
        out->chosen_for = then;
    }
    uint32_t *label = gf_array(n_rows, sizeof *label);
    if (!label) return gf_fail_memory(err, "the served clusters");
    for (uint32_t p = 0; p < n_rows; p++)
        label[p] = previous->cluster[out->row_of[p]];
    o->start_k = previous->k;
    *start = label;
    return GF_OK;
}

/*
 * Begin from clusters of latent semantic analysis: a label for each row, to be freed. An open k is
 * chosen over the terms, as without the analysis.
 */
static gf_status start_from_lsa(gf_pool *pool, const gf_csr *x, uint32_t dimensions,
                                gf_kmeans_options *o, uint32_t **start, gf_error *err)
{
    if (o->k == 0) {
        gf_choice choice = {0};
        gf_status st = gf_kmeans_choose(pool, x, o, &choice, err);
        if (st == GF_OK) o->k = choice.k;
        gf_free(choice.steps);
        if (st != GF_OK) return st;
    }
    uint32_t *label = gf_array(x->n_rows, sizeof *label);
    if (!label) return gf_fail_memory(err, "clusters");
    gf_status st = gf_lsa_clusters(pool, x, dimensions, o, label, &o->start_k, err);
    if (st == GF_OK)
        *start = label;
    else
        gf_free(label);
    return st;
}

/* ---- clustering ------------------------------------------------------------------------------ */

static void report_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    gf_build_plan_progress(context, phase, done, total);
}

static gf_kmeans_options kmeans_options(const gf_build_plan *plan)
{
    const gf_resolved *s = &plan->settings;
    return (gf_kmeans_options){.k = s->k,
                               .max_k = s->max_k,
                               .seed = s->seed,
                               .restarts = s->restarts,
                               .max_passes = s->max_passes,
                               .max_rounds = s->polish ? 0 : GF_NO_POLISH,
                               .tolerance = s->tolerance > 0 ? s->tolerance : DBL_MIN,
                               .quick = s->quick,
                               .cancel = plan->options->cancel,
                               .progress = report_progress,
                               .progress_context = (void *)plan /* only read */};
}

static gf_status cluster_texts(const gf_build_plan *plan, gf_pool *pool,
                               const gf_build_gathered *documents,
                               const gf_build_previous *previous, gf_kmeans_options *o,
                               gf_build_clustered *out, gf_error *err)
{
    gf_csr x = {0};
    uint32_t *start = NULL;
    gf_status st = drop_empty_rows(&documents->vectors, &x, &out->row_of, err);
    if (st == GF_OK) st = start_from_previous(plan, previous, x.n_rows, out, o, &start, err);
    if (st == GF_OK && !start && plan->settings.lsa && !plan->spills)
        st = start_from_lsa(pool, &x, plan->settings.lsa, o, &start, err);
    o->start = start;
    if (st == GF_OK && plan->spills) {
        gf_row_file rows = {x.n_rows, x.n_cols, x.start, x.start[x.n_rows],
                            documents->vectors.entries};
        gf_minibatch_options options = {*o, plan->memory.sample};
        st = gf_minibatch_run(pool, &rows, &options, &out->kmeans, err);
    } else if (st == GF_OK) {
        st = gf_kmeans_run(pool, &x, o, &out->kmeans, err);
    }
    gf_free(start);
    gf_free(x.start);
    return st;
}

gf_status gf_build_cluster(const gf_build_plan *plan, gf_pool *pool,
                           const gf_build_gathered *documents, const gf_build_previous *previous,
                           gf_build_clustered *out, gf_error *err)
{
    const gf_vectors *v = &documents->vectors;
    gf_kmeans_options o = kmeans_options(plan);
    gf_status st;
    if (plan->options->matrix) {
        st = gf_build_cluster_matrix(plan, pool, documents, &o, out, err);
    } else if (v->x.n_rows == v->n_empty) {
        out->chosen_for = plan->served_distinct;
        return GF_OK; /* nothing to cluster: a build without clusters */
    } else {
        st = cluster_texts(plan, pool, documents, previous, &o, out, err);
    }
    return st == GF_OK ? rank_members(pool, plan->options->cancel, out, err) : st;
}

gf_status gf_build_choose_k(const gf_build_plan *plan, gf_pool *pool,
                            const gf_build_gathered *documents, gf_choice *choice, gf_error *err)
{
    const gf_vectors *v = &documents->vectors;
    gf_csr x = {0};
    uint32_t *row_of = NULL;
    if (v->x.n_rows == v->n_empty) return GF_OK;
    gf_kmeans_options o = kmeans_options(plan);
    gf_status st = drop_empty_rows(v, &x, &row_of, err);
    if (st == GF_OK) st = gf_kmeans_choose(pool, &x, &o, choice, err);
    gf_free(row_of);
    gf_free(x.start);
    return st;
}
