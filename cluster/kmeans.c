#include "cluster/kmeans.h"

#include "base/clock.h"
#include "base/memory.h"
#include "cluster/finish.h"
#include "cluster/fold.h"
#include "cluster/grow.h"
#include "cluster/polish.h"
#include "cluster/start.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW_ROWS = 1000, /* up to here columns that one row has are joined first */
    MOST_CHOSEN = 1000,
    MOST_RESTARTS = 8,
    DEFAULT_PASSES = 100,
    DEFAULT_ROUNDS = 20,
    WARM_ROWS = 100000, /* from this many rows on, the first passes look at a part of them */
    WARM_PART = 8,
    WARM_ROUNDS = 6,
    WARM_PER_CLUSTER = 20 /* fewer rows than that say too little about a cluster */
};

#define DEFAULT_TOLERANCE 0.001

/* Where polish follows, passes end at so many times the tolerance: it does the rest better. */
#define LEFT_TO_POLISH 50

/* Multiplications that restarts may cost in all, taking 12 passes a run, growth included. */
#define RESTART_WORK 2e9
#define PASSES_A_RUN 12

/* Multiplications that the polish of very many clusters may cost, if each round scored all. */
#define POLISH_WORK 1.4e10

typedef struct job {
    gf_pool *pool;
    gf_points points; /* distinct rows */
    gf_points whole;  /* the same, as they came */
    gf_csr joined;    /* of few rows: points without lone columns */
    const gf_fold *fold;
    const gf_kmeans_options *options;
    uint32_t k;
    uint32_t n_rows; /* before folding */
    unsigned restarts, max_passes, max_rounds;
    double tolerance;
    gf_choice choice;
    gf_kmeans_stages stages;
    double mark; /* seconds when the stage began */
} job;

/* One run's outcome. */
typedef struct run {
    gf_partition p;
    gf_passes_made made;
    unsigned rounds;
    double objective;
} run;

static void tell(const job *j, const char *phase, uint64_t done, uint64_t total)
{
    if (j->options->progress)
        j->options->progress(j->options->progress_context, phase, done, total);
}

/* Add the seconds since the last call to a stage. */
static void clock_stage(job *j, double *stage)
{
    double now = gf_clock_seconds();
    if (stage) *stage += now - j->mark;
    j->mark = now;
}

/* ---- the number of clusters -------------------------------------------------------------------
 */

static gf_status choose_k(job *j, gf_error *err)
{
    uint32_t n = gf_points_n(&j->points), most = j->options->max_k;
    if (most == 0) most = n / 3 < MOST_CHOSEN ? n / 3 : MOST_CHOSEN;
    if (most == 0) most = 1;
    tell(j, "choosing k", 0, 0);
    gf_status st = gf_choose_k(j->pool, &j->points, most < n ? most : n, j->options->seed,
                               j->options->cancel, &j->choice, err);
    if (st == GF_OK) j->k = j->choice.k;
    return st;
}

/* ---- a run ------------------------------------------------------------------------------------
 */

static gf_status begin(const job *j, const gf_points *points, gf_centres *centres, gf_partition *p,
                       gf_passes **passes, gf_error *err)
{
    uint32_t k = centres->k;
    gf_status st = gf_partition_init(p, gf_points_n(points), k, points->x->n_cols, err);
    if (st != GF_OK) return st;
    gf_centres_release(&p->centres);
    p->centres = *centres;
    *centres = (gf_centres){0};
    return gf_passes_create(j->pool, points, k, j->options->cancel, passes, err);
}

static uint64_t seed_of(const job *j, unsigned restart)
{
    return j->options->seed + ((uint64_t)restart << 32);
}

/* Some polish over a part of the rows, so that fewer passes are needed over all. */
static gf_status warm_up(const job *j, uint64_t seed, gf_centres *centres, gf_error *err)
{
    uint32_t n = gf_points_n(&j->points), m = n / WARM_PART;
    gf_random random = gf_random_seed(seed, 1);
    gf_csr x = {0};
    float *weight = NULL;
    gf_partition p = {0};
    gf_passes *passes = NULL;
    gf_passes_made made;
    unsigned rounds;
    uint32_t *rows = gf_array(m, sizeof *rows);
    gf_status st = rows ? GF_OK : gf_fail_memory(err, "a sample");
    if (st == GF_OK) {
        gf_sample_rows(n, m, &random, rows);
        st = gf_gather_rows(&j->points, rows, m, &x, &weight, err);
    }
    gf_points part = {&x, weight};
    if (st == GF_OK) st = begin(j, &part, centres, &p, &passes, err);
    if (st == GF_OK) st = gf_passes_run(passes, &p, 1, 1, &made, err);
    if (st == GF_OK) st = gf_polish(passes, &p, j->tolerance, WARM_ROUNDS, &rounds, err);
    if (st == GF_OK) {
        *centres = p.centres;
        p.centres = (gf_centres){0};
    }
    gf_passes_free(passes);
    gf_partition_release(&p);
    gf_csr_release(&x);
    gf_free(weight);
    gf_free(rows);
    return st;
}

static bool wants_warm_up(const job *j)
{
    uint32_t n = gf_points_n(&j->points);
    return n >= WARM_ROWS && n / WARM_PART / WARM_PER_CLUSTER >= j->k;
}

/* Rounds of polish over k clusters that were refined: what is asked for, or what is affordable. */
static unsigned rounds_for(const job *j, uint32_t k)
{
    if (j->options->max_rounds) return j->options->max_rounds;
    double affordable = POLISH_WORK / ((double)gf_csr_nnz(j->points.x) * k);
    return affordable < j->max_rounds ? (unsigned)affordable : j->max_rounds;
}

/* Many clusters: they grow until they are a partition of all rows, which the polish goes on with.
 */
static gf_status grow_run(job *j, unsigned restart, run *out, gf_error *err)
{
    gf_passes *passes = NULL;
    run r = {0};
    tell(j, "clustering", restart, j->restarts);
    gf_status st = gf_grow_partition(j->pool, &j->points, j->k, seed_of(j, restart),
                                     j->options->cancel, &r.p, err);
    clock_stage(j, &j->stages.seeding);
    if (st == GF_OK)
        st = gf_passes_create(j->pool, &j->points, r.p.k, j->options->cancel, &passes, err);
    if (st == GF_OK && j->max_rounds == GF_NO_POLISH) {
        st = gf_passes_run(passes, &r.p, j->tolerance, j->max_passes, &r.made, err);
        clock_stage(j, &j->stages.passing);
    } else if (st == GF_OK) {
        unsigned most = rounds_for(j, r.p.k);
        st = gf_polish(passes, &r.p, j->tolerance, most, &r.rounds, err);
        clock_stage(j, &j->stages.polishing);
        r.made.converged = r.rounds < most;
    }
    if (st == GF_OK) r.objective = gf_centres_objective(&r.p.centres);
    gf_passes_free(passes);
    if (st == GF_OK)
        *out = r;
    else
        gf_partition_release(&r.p);
    return st;
}

static gf_status make_run(job *j, unsigned restart, run *out, gf_error *err)
{
    bool starts_anew = !j->options->start || !j->options->start_k;
    if (starts_anew && j->k > GF_MANY_CLUSTERS) return grow_run(j, restart, out, err);
    gf_centres centres = {0};
    gf_passes *passes = NULL;
    run r = {0};
    tell(j, "clustering", restart, j->restarts);
    bool starts = j->options->start && j->options->start_k;
    gf_status st =
        starts ? gf_start_centres(j->pool, &j->points, j->fold, j->n_rows, j->options->start,
                                  j->options->start_k, j->k, j->options->cancel, &centres, err)
               : gf_grow_centres(j->pool, &j->points, j->k, seed_of(j, restart), j->options->cancel,
                                 &centres, err);
    clock_stage(j, &j->stages.seeding);
    if (st == GF_OK && !starts && wants_warm_up(j))
        st = warm_up(j, j->options->seed + restart, &centres, err);
    clock_stage(j, &j->stages.warming);
    if (st == GF_OK) st = begin(j, &j->points, &centres, &r.p, &passes, err);
    bool polish = j->max_rounds != GF_NO_POLISH;
    double enough = polish ? LEFT_TO_POLISH * j->tolerance : j->tolerance;
    if (st == GF_OK) st = gf_passes_run(passes, &r.p, enough, j->max_passes, &r.made, err);
    clock_stage(j, &j->stages.passing);
    if (st == GF_OK && polish)
        st = gf_polish(passes, &r.p, j->tolerance, j->max_rounds, &r.rounds, err);
    clock_stage(j, &j->stages.polishing);
    if (st == GF_OK) r.objective = gf_centres_objective(&r.p.centres);
    gf_passes_free(passes);
    gf_centres_release(&centres);
    if (st == GF_OK)
        *out = r;
    else
        gf_partition_release(&r.p);
    return st;
}

static gf_status best_run(job *j, run *best, gf_error *err)
{
    gf_status st = make_run(j, 0, best, err);
    for (unsigned i = 1; st == GF_OK && i < j->restarts; i++) {
        run other;
        st = make_run(j, i, &other, err);
        if (st != GF_OK) break;
        bool better = other.objective > best->objective;
        gf_partition_release(better ? &best->p : &other.p);
        if (better) *best = other;
    }
    return st;
}

/* ---- the result -------------------------------------------------------------------------------
 */

/* Documents in each cluster. */
static void weigh(const job *j, const gf_partition *p, double *weight)
{
    memset(weight, 0, p->k * sizeof *weight);
    for (uint32_t i = 0; i < p->n; i++)
        weight[p->label[i]] += (double)gf_points_weight(&j->points, i);
}

/* The centres in the terms that came in, in place of joined columns. */
static gf_status sum_whole(job *j, gf_partition *p, gf_error *err)
{
    if (j->points.x == j->whole.x) return GF_OK;
    gf_summer *summer = NULL;
    gf_centres centres;
    uint32_t n_terms = j->whole.x->n_cols;
    gf_status st = gf_centres_init(&centres, p->k, n_terms, err);
    if (st != GF_OK) return st;
    gf_centres_release(&p->centres);
    p->centres = centres;
    j->points = j->whole;
    st = gf_summer_create(j->pool, p->n, n_terms, p->k, &summer, err);
    if (st == GF_OK)
        st = gf_summer_run(summer, &j->points, p->label, NULL, &p->centres, p->own,
                           j->options->cancel, err);
    gf_summer_free(summer);
    return st;
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
        dropped = gf_drop_empty_clusters(p, weight, number);
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
    if (st == GF_OK) st = gf_order_clusters(p, weight, number, &r.centres, err);
    if (st == GF_OK) {
        r.k = p->k;
        spread(p, runner_up, number, j->fold, &r);
        r.choice = j->choice;
        j->choice = (gf_choice){0};
        clock_stage(j, &j->stages.finishing);
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

/* ---- the whole --------------------------------------------------------------------------------
 */

static unsigned restarts_for(const job *j)
{
    if (j->options->start && j->options->start_k) return 1;
    if (j->options->restarts) return j->options->restarts;
    if (j->k == 1) return 1;
    double columns = j->k < GF_COLUMN_BLOCK ? GF_COLUMN_BLOCK : j->k;
    double work = (double)gf_csr_nnz(j->points.x) * columns * PASSES_A_RUN;
    if (work * MOST_RESTARTS <= RESTART_WORK) return MOST_RESTARTS;
    return work >= RESTART_WORK ? 1 : (unsigned)(RESTART_WORK / work);
}

static gf_status cluster(job *j, gf_kmeans *out, gf_error *err)
{
    const gf_kmeans_options *o = j->options;
    uint32_t distinct = gf_points_n(&j->points);
    run best = {0};
    j->k = o->k < distinct ? o->k : distinct;
    j->max_passes = o->max_passes ? o->max_passes : DEFAULT_PASSES;
    j->max_rounds = o->max_rounds ? o->max_rounds : DEFAULT_ROUNDS;
    j->tolerance = o->tolerance > 0 ? o->tolerance : DEFAULT_TOLERANCE;
    clock_stage(j, NULL);
    gf_status st = j->k ? GF_OK : choose_k(j, err);
    if (st != GF_OK) return st;
    clock_stage(j, &j->stages.choosing);
    j->restarts = restarts_for(j);
    st = best_run(j, &best, err);
    if (st == GF_OK) st = finish(j, &best, out, err);
    gf_partition_release(&best.p);
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
    if (fold->n > FEW_ROWS) return GF_OK;
    st = gf_join_lone_columns(j->whole.x, &j->joined, err);
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
