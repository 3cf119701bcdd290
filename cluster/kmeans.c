#include "cluster/kmeans_internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "cluster/passes/number_clusters.h"

#include <string.h>

enum {
    LONE_ROWS = 1000, /* up to here columns that one row has are joined first */
    MOST_CHOSEN = 1000
};

typedef gf_kmeans_job job;
typedef gf_kmeans_run_made run;

void gf_kmeans_tell(const gf_kmeans_job *j, const char *phase, uint64_t done, uint64_t total)
{
    if (j->options->progress)
        j->options->progress(j->options->progress_context, phase, done, total);
}

void gf_kmeans_clock(gf_kmeans_job *j, double *stage)
{
    double now = gf_clock_seconds();
    if (stage) *stage += now - j->mark;
    j->mark = now;
}

/* ---- the number of clusters ------------------------------------------------------------------ */

static gf_status choose_k(job *j, gf_error *err)
{
    uint32_t n = gf_points_n(&j->points), most = j->options->max_k;
    if (most == 0) most = n / 3 < MOST_CHOSEN ? n / 3 : MOST_CHOSEN;
    if (most == 0) most = 1;
    gf_kmeans_tell(j, "choosing k", 0, 0);
    gf_status st = gf_choose_k(j->pool, &j->points, most < n ? most : n, j->options->seed,
                               j->options->cancel, &j->choice, err);
    if (st == GF_OK) j->k = j->choice.k;
    return st;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Documents in each cluster. */
static void weigh(const job *j, const gf_partition *p, double *weight)
{
    memset(weight, 0, p->k * sizeof *weight);
    for (uint32_t i = 0; i < p->n; i++)
        weight[p->label[i]] += (double)gf_points_weight(&j->points, i);
}

/* Sum clusters once more over the rows that came in; changed: k flags, NULL for all. */
static gf_status sum_anew(job *j, gf_partition *p, const bool *changed, gf_error *err)
{
    gf_centre_summer *summer = NULL;
    gf_status st = gf_centre_summer_create(j->pool, p->n, j->whole.x->n_cols, p->k, &summer, err);
    if (st == GF_OK)
        st = gf_centre_summer_run(summer, &j->whole, p->label, changed, &p->centres, p->own,
                                  j->options->cancel, err);
    gf_centre_summer_free(summer);
    return st;
}

/* The centres that were updated by difference last become the sums of all their rows. */
static gf_status sum_differences(job *j, gf_partition *p, gf_error *err)
{
    uint32_t n = 0;
    bool *changed = gf_calloc(p->k, sizeof *changed);
    if (!changed) return gf_fail_memory(err, "clusters");
    for (uint32_t c = 0; c < p->k; c++) {
        changed[c] = p->centres.at[c].differences > 0;
        n += changed[c];
    }
    gf_status st = n ? sum_anew(j, p, changed, err) : GF_OK;
    gf_free(changed);
    return st;
}

/* The centres as they are kept: in the terms that came in, in place of joined columns. */
static gf_status sum_whole(job *j, gf_partition *p, gf_error *err)
{
    if (j->points.x == j->whole.x) return sum_differences(j, p, err);
    gf_centres centres;
    gf_status st = gf_centres_init(&centres, p->k, j->whole.x->n_cols, err);
    if (st != GF_OK) return st;
    gf_centres_release(&p->centres);
    p->centres = centres;
    j->points = j->whole;
    return sum_anew(j, p, NULL, err);
}

/*
 * The last assignment, over the centres as they are kept: again where a cluster lost all its
 * documents by it, so that it is nobody's runner-up either. weight and number: k.
 */
static gf_status assign_last(const job *j, gf_partition *p, uint32_t *runner_up, double *weight,
                             uint32_t *number, gf_error *err)
{
    gf_status st = GF_OK;
    for (bool dropped = true; st == GF_OK && dropped;) {
        gf_passes *passes = NULL;
        gf_pass_report report;
        st = gf_passes_create(j->pool, &j->points, p->k, j->options->cancel, &passes, err);
        if (st == GF_OK) st = gf_passes_assign_all(passes, p, runner_up, &report, err);
        gf_passes_free(passes);
        if (st != GF_OK) break;
        weigh(j, p, weight);
        dropped = gf_number_clusters_drop_empty(p, weight, number);
    }
    return st;
}

/* From distinct rows back to all. */
static void spread(const gf_partition *p, const uint32_t *runner_up, const uint32_t *number,
                   const gf_fold *fold, gf_kmeans *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t point = fold->point_of[i];
        bool empty = point == GF_NO_POINT, has_second = r->k > 1;
        r->label[i] = empty ? 0 : number[p->label[point]];
        r->score[i] = empty ? 0 : gf_at_most_1(p->own[point]);
        r->runner_up[i] = has_second ? 1 : GF_NO_CLUSTER;
        r->second[i] = 0;
        r->objective += (double)r->score[i];
        if (empty || !has_second) continue;
        r->runner_up[i] = number[runner_up[point]];
        r->second[i] = gf_at_most_1(p->other[point]);
    }
}

static gf_status finish(job *j, run *best, gf_kmeans *out, gf_error *err)
{
    gf_partition *p = &best->p;
    uint32_t n = j->n_rows;
    gf_kmeans r = {.n = n,
                   .distinct = j->fold->n,
                   .passes = best->made.passes,
                   .rounds = best->rounds,
                   .restarts = j->restarts,
                   .converged = best->made.converged};
    uint32_t *runner_up = gf_array(p->n, sizeof *runner_up);
    uint32_t *number = gf_array(p->k, sizeof *number);
    double *weight = gf_array(p->k, sizeof *weight);
    r.label = gf_array(n, sizeof *r.label);
    r.score = gf_array(n, sizeof *r.score);
    r.runner_up = gf_array(n, sizeof *r.runner_up);
    r.second = gf_array(n, sizeof *r.second);
    bool ok = runner_up && number && weight && r.label && r.score && r.runner_up && r.second;
    gf_status st = ok ? GF_OK : gf_fail_memory(err, "clusters");
    if (st == GF_OK) st = sum_whole(j, p, err);
    if (st == GF_OK) st = assign_last(j, p, runner_up, weight, number, err);
    if (st == GF_OK) st = gf_number_clusters_order(p, weight, number, &r.centres, err);
    if (st == GF_OK) {
        r.k = p->k;
        spread(p, runner_up, number, j->fold, &r);
        r.choice = j->choice;
        j->choice = (gf_choice){0};
        gf_kmeans_clock(j, &j->stages.finishing);
        r.stages = j->stages;
        *out = r;
    } else {
        gf_kmeans_release(&r);
    }
    gf_free(runner_up);
    gf_free(number);
    gf_free(weight);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static gf_status cluster(job *j, gf_kmeans *out, gf_error *err)
{
    const gf_kmeans_options *o = j->options;
    uint32_t distinct = gf_points_n(&j->points);
    run best = {0};
    j->k = o->k < distinct ? o->k : distinct;
    gf_kmeans_clock(j, NULL);
    gf_status st = j->k ? GF_OK : choose_k(j, err);
    if (st != GF_OK) return st;
    gf_kmeans_clock(j, &j->stages.choosing);
    if (distinct <= GF_SMALL_POINTS && !(o->start && o->start_k))
        st = gf_small_create(&j->points, &j->small, err);
    if (st == GF_OK) st = gf_kmeans_runs_best(j, &best, err);
    if (st == GF_OK) st = finish(j, &best, out, err);
    gf_partition_release(&best.p);
    gf_small_free(j->small);
    return st;
}

static gf_status fold_rows(const gf_csr *x, job *j, gf_fold *fold, gf_error *err)
{
    gf_status st = gf_points_check(x, err);
    if (st == GF_OK) st = gf_fold_rows(x, fold, err);
    if (st == GF_OK && fold->n == 0) st = gf_fail(err, GF_EINVAL, "no rows to cluster");
    if (st != GF_OK) return st;
    j->points = j->whole = gf_fold_points(fold, x);
    j->fold = fold;
    j->n_rows = x->n_rows;
    if (fold->n > LONE_ROWS) return GF_OK;
    st = gf_points_join_lone_columns(j->whole.x, &j->joined, err);
    if (st == GF_OK) j->points.x = &j->joined;
    return st;
}

gf_status gf_kmeans_run(gf_pool *pool, const gf_csr *x, const gf_kmeans_options *options,
                        gf_kmeans *out, gf_error *err)
{
    gf_fold fold = {0};
    job j = {.pool = pool, .options = options};
    gf_status st = fold_rows(x, &j, &fold, err);
    if (st == GF_OK) st = cluster(&j, out, err);
    gf_free(j.choice.steps);
    gf_csr_release(&j.joined);
    gf_fold_release(&fold);
    return st;
}

gf_status gf_kmeans_choose(gf_pool *pool, const gf_csr *x, const gf_kmeans_options *options,
                           gf_choice *out, gf_error *err)
{
    gf_fold fold = {0};
    job j = {.pool = pool, .options = options};
    gf_status st = fold_rows(x, &j, &fold, err);
    if (st == GF_OK) st = choose_k(&j, err);
    if (st == GF_OK) *out = j.choice;
    gf_csr_release(&j.joined);
    gf_fold_release(&fold);
    return st;
}

void gf_kmeans_release(gf_kmeans *r)
{
    gf_free(r->label);
    gf_free(r->score);
    gf_free(r->runner_up);
    gf_free(r->second);
    gf_free(r->choice.steps);
    gf_centres_release(&r->centres);
    *r = (gf_kmeans){0};
}
