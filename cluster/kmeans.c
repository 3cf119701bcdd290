#include "cluster/kmeans.h"

#include "base/clock.h"
#include "base/grid.h"
#include "base/memory.h"
#include "cluster/large/assign.h"
#include "cluster/large/branches.h"
#include "cluster/moves/exchange.h"
#include "cluster/moves/growth.h"
#include "cluster/moves/polish.h"
#include "cluster/moves/refine.h"
#include "cluster/moves/seed.h"
#include "cluster/passes/fold.h"
#include "cluster/passes/number_clusters.h"
#include "cluster/passes/start_centres.h"
#include "cluster/small/small_kmeans.h"

#include <string.h>

/* A clustering under way. */
typedef struct kmeans_job {
    gf_pool *pool;
    gf_points points; /* distinct rows */
    gf_points whole;  /* the same, as they came */
    gf_csr joined;    /* of few rows: points without lone columns */
    gf_small *small;  /* of few points that start anew: their products */
    const gf_fold *fold;
    const gf_kmeans_options *options;
    uint32_t k;
    uint32_t n_rows;    /* before folding */
    uint64_t n_entries; /* likewise */
    unsigned restarts, max_passes, max_rounds;
    double tolerance;
    gf_choice choice;
    gf_kmeans_stages stages;
    gf_kmeans_stage mark; /* the clock and the account when the stage began */
} kmeans_job;

/* One run's outcome. */
typedef struct made_run {
    gf_partition p;
    gf_passes_made made;
    unsigned rounds;
    double objective;
} made_run;

static void report_progress(const kmeans_job *j, const char *phase, uint64_t done, uint64_t total)
{
    if (j->options->progress)
        j->options->progress(j->options->progress_context, phase, done, total);
}

static void clock_stage(kmeans_job *j, gf_kmeans_stage *stage)
{
    gf_kmeans_stage now = {gf_clock_seconds(), gf_pool_read_account()};
    if (stage) {
        gf_pool_account more = gf_pool_account_between(&j->mark.account, &now.account);
        stage->seconds += now.seconds - j->mark.seconds;
        stage->account = gf_pool_account_sum(&stage->account, &more);
    }
    j->mark = now;
}

enum {
    MOST_RESTARTS = 8,
    SMALL_RESTARTS = 16, /* of a small collection, whose run takes some microseconds */
    DEFAULT_PASSES = 100,
    DEFAULT_ROUNDS = 20,
    QUICK_PASSES = 2,
    QUICK_ROUNDS = 2,
    RESUMED_ROUNDS = 4, /* of refinement, where very many clusters go on */
    EXCHANGED = 32, /* from so many clusters on they are exchanged: of fewer, runs find as much */
    MOST_EXCHANGES = 8,
    WARM_ROWS = 100000, /* from this many rows on, the first passes look at a part of them */
    WARM_PART = 8,
    WARM_ROUNDS = 6,
    WARM_PER_CLUSTER = 20 /* fewer rows than that say too little about a cluster */
};

#define DEFAULT_TOLERANCE 0.001

/* Share of its documents that the sweeps of few clusters have to leave to one. */
#define LEAST_LEFT 0.1

/* Passes before a polish end at so many times the tolerance: polish does the rest better. */
#define LEFT_TO_POLISH 50

/* Multiplications that restarts may cost in all, taking 12 passes a run, growth included. */
#define RESTART_WORK 2e9
#define PASSES_A_RUN 12

/* Multiplications that exchanging clusters may cost, each round taken for a pass. */
#define EXCHANGE_WORK 1e9
#define EXCHANGE_SEED UINT64_C(0x9e3779b97f4a7c15)

/* Multiplications that the polish of very many clusters may cost, if each round scored all. */
#define POLISH_WORK 1.4e10

typedef kmeans_job job;
typedef made_run run;

/* A partition around the centres, which become its own. */
static gf_status surround(const gf_points *points, gf_centres *centres, gf_partition *p,
                          gf_error *err)
{
    gf_status st = gf_partition_init(p, gf_points_n(points), centres->k, points->x->n_cols, err);
    if (st != GF_OK) return st;
    gf_centres_release(&p->centres);
    p->centres = *centres;
    *centres = (gf_centres){0};
    return GF_OK;
}

static gf_status begin(const job *j, const gf_points *points, gf_centres *centres, gf_partition *p,
                       gf_passes **passes, gf_error *err)
{
    gf_status st = surround(points, centres, p, err);
    if (st != GF_OK) return st;
    return gf_passes_create(j->pool, points, p->k, j->options->cancel, passes, err);
}

static uint64_t seed_of(const job *j, unsigned restart)
{
    return j->options->seed + ((uint64_t)restart << 32);
}

/* Seeds are drawn, where growing them would take most of the time. */
static bool draws_seeds(const job *j)
{
    return j->options->quick && j->k <= GF_MANY_CLUSTERS;
}

static bool exchanges(const job *j)
{
    return j->k >= EXCHANGED && !j->options->quick && j->max_rounds != GF_NO_POLISH &&
           !(j->options->start && j->options->start_k);
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
        gf_points_sample(n, m, &random, rows);
        st = gf_points_gather(j->pool, &j->points, rows, m, &x, &weight, err);
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
    if (j->options->max_rounds) return j->max_rounds;
    double affordable = POLISH_WORK / ((double)gf_csr_nnz(j->points.x) * k);
    return affordable < j->max_rounds ? (unsigned)affordable : j->max_rounds;
}

/* Many clusters: they grow until they are a partition of all rows, which the polish goes on with.
 */
static gf_status grow_run(job *j, unsigned restart, run *out, gf_error *err)
{
    gf_passes *passes = NULL;
    run r = {0};
    report_progress(j, "clustering", restart, j->restarts);
    gf_status st = gf_grow_partition(j->pool, &j->points, j->k, seed_of(j, restart),
                                     j->options->quick, j->options->cancel, &r.p, err);
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

static gf_status draw_seeds(const job *j, uint64_t seed, gf_centres *centres, gf_error *err)
{
    gf_centres c;
    gf_random random = gf_random_seed(seed, 0);
    gf_status st = gf_centres_init(&c, j->k, j->points.x->n_cols, err);
    if (st != GF_OK) return st;
    st = gf_seed_centres(j->pool, &j->points, &random, &c, j->options->cancel, err);
    if (st == GF_OK)
        *centres = c;
    else
        gf_centres_release(&c);
    return st;
}

/* The centres that a run begins with: of the clusters before, drawn, or grown. */
static gf_status first_centres(const job *j, unsigned restart, gf_centres *centres, gf_error *err)
{
    const gf_kmeans_options *o = j->options;
    if (o->start && o->start_k)
        return gf_start_centres(j->pool, &j->points, j->fold, j->n_rows, o->start, o->start_k, j->k,
                                o->cancel, NULL, centres, err);
    if (draws_seeds(j)) return draw_seeds(j, seed_of(j, restart), centres, err);
    return gf_grow_centres(j->pool, &j->points, j->k, seed_of(j, restart), o->cancel, centres, err);
}

/* Few points: the centres are summed at the end alone. */
static gf_status small_run(job *j, unsigned restart, run *out, gf_error *err)
{
    bool polish = j->max_rounds != GF_NO_POLISH;
    gf_small_limits limits = {.enough = polish ? LEFT_TO_POLISH * j->tolerance : j->tolerance,
                              .max_passes = j->max_passes,
                              .max_rounds = polish ? j->max_rounds : 0};
    gf_small_run made;
    run r = {0};
    report_progress(j, "clustering", restart, j->restarts);
    gf_status st = gf_small_cluster(j->small, j->k, seed_of(j, restart), &limits, &made, err);
    if (st == GF_OK)
        st = gf_partition_init(&r.p, gf_points_n(&j->points), j->k, j->points.x->n_cols, err);
    if (st != GF_OK) return st;
    memcpy(r.p.label, made.label, r.p.n * sizeof *made.label);
    r.made = made.made;
    r.rounds = made.rounds;
    r.objective = made.objective;
    *out = r;
    clock_stage(j, &j->stages.passing);
    return GF_OK;
}

/* As many rounds as the work allows, a round taken for a pass. */
static gf_status exchange(const job *j, gf_passes *passes, unsigned restart, gf_partition *p,
                          gf_error *err)
{
    double rounds = EXCHANGE_WORK / ((double)gf_csr_nnz(j->points.x) * j->k);
    gf_exchange_limits limits = {.rounds =
                                     rounds < MOST_EXCHANGES ? (unsigned)rounds : MOST_EXCHANGES,
                                 .tolerance = j->tolerance,
                                 .polish_rounds = j->max_rounds};
    unsigned made;
    if (!exchanges(j) || limits.rounds == 0) return GF_OK;
    return gf_exchange(passes, p, &limits, seed_of(j, restart) ^ EXCHANGE_SEED, &made, err);
}

static bool is_refined(const job *j)
{
    return j->options->refinement && j->options->refinement->count &&
           gf_refinement_pays(j->n_rows, j->n_entries, j->k);
}

/* Whether the clusters of the start are refined already: passes would undo that. */
static bool goes_on(const job *j)
{
    const gf_kmeans_options *o = j->options;
    return o->start && o->start_k == j->k && o->start_refined && is_refined(j);
}

/* The clusters of the start as they are; what is new goes to the nearest. */
static gf_status go_on(job *j, run *out, gf_error *err)
{
    const gf_kmeans_options *o = j->options;
    uint32_t n = gf_points_n(&j->points);
    gf_centres centres = {0};
    run r = {0};
    uint32_t *of_point = gf_array(n, sizeof *of_point);
    gf_status st = of_point ? GF_OK : gf_fail_memory(err, "a start");
    if (st == GF_OK)
        st = gf_start_centres(j->pool, &j->points, j->fold, j->n_rows, o->start, o->start_k, j->k,
                              o->cancel, of_point, &centres, err);
    if (st == GF_OK) st = surround(&j->points, &centres, &r.p, err);
    if (st == GF_OK) st = gf_assign_rows(j->pool, &j->points, &r.p, NULL, o->cancel, err);
    for (uint32_t i = 0; st == GF_OK && i < n; i++)
        if (of_point[i] < j->k) r.p.label[i] = of_point[i];
    clock_stage(j, &j->stages.seeding);
    gf_centres_release(&centres);
    gf_free(of_point);
    r.made.converged = true;
    if (st == GF_OK)
        *out = r;
    else
        gf_partition_release(&r.p);
    return st;
}

/*
 * Very many clusters go on: passes over all of them would take longer than growing them. What
 * lacks begins with the worst fitting rows, and all settle among similar ones.
 */
static gf_status resume_many(job *j, run *out, gf_error *err)
{
    const gf_cancel *cancel = j->options->cancel;
    gf_passes *passes = NULL;
    run r;
    report_progress(j, "clustering", 0, 1);
    gf_status st = go_on(j, &r, err);
    if (st != GF_OK) return st;
    st = gf_passes_create(j->pool, &j->points, r.p.k, cancel, &passes, err);
    for (uint32_t c = 0; st == GF_OK && c < r.p.k; c++)
        gf_passes_changed(passes)[c] = true;
    if (st == GF_OK) st = gf_passes_update(passes, &r.p, err);
    if (st == GF_OK && j->max_rounds != GF_NO_POLISH) {
        st = gf_refine(j->pool, &j->points, &r.p, RESUMED_ROUNDS, seed_of(j, 0),
                       gf_passes_changed(passes), cancel, err);
        if (st == GF_OK) st = gf_passes_update(passes, &r.p, err);
    }
    clock_stage(j, &j->stages.passing);
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
    bool starts = j->options->start && j->options->start_k;
    if (j->small) return small_run(j, restart, out, err);
    if (goes_on(j)) return go_on(j, out, err);
    if (starts && j->k > GF_BRANCHES_ABOVE) return resume_many(j, out, err);
    if (!starts && j->k > GF_MANY_CLUSTERS) return grow_run(j, restart, out, err);
    gf_centres centres = {0};
    gf_passes *passes = NULL;
    run r = {0};
    report_progress(j, "clustering", restart, j->restarts);
    gf_status st = first_centres(j, restart, &centres, err);
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
    if (st == GF_OK) st = exchange(j, passes, restart, &r.p, err);
    clock_stage(j, &j->stages.exchanging);
    if (st == GF_OK) r.objective = gf_centres_objective(&r.p.centres);
    gf_passes_free(passes);
    gf_centres_release(&centres);
    if (st == GF_OK)
        *out = r;
    else
        gf_partition_release(&r.p);
    return st;
}

static unsigned restarts_for(const job *j)
{
    if (j->options->start && j->options->start_k) return 1;
    if (j->options->restarts) return j->options->restarts;
    if (j->k == 1 || j->options->quick) return 1;
    if (gf_points_n(&j->points) <= GF_SMALL_POINTS) return SMALL_RESTARTS;
    if (exchanges(j)) return 1; /* finds more in less time */
    double columns = j->k < GF_COLUMN_BLOCK ? GF_COLUMN_BLOCK : j->k;
    double work = (double)gf_csr_nnz(j->points.x) * columns * PASSES_A_RUN;
    if (work * MOST_RESTARTS <= RESTART_WORK) return MOST_RESTARTS;
    return work >= RESTART_WORK ? 1 : (unsigned)(RESTART_WORK / work);
}

static void be_quick(job *j)
{
    if (j->max_passes > QUICK_PASSES) j->max_passes = QUICK_PASSES;
    if (j->max_rounds != GF_NO_POLISH && j->max_rounds > QUICK_ROUNDS) j->max_rounds = QUICK_ROUNDS;
}

static gf_status find_best_run(kmeans_job *j, made_run *best, gf_error *err)
{
    const gf_kmeans_options *o = j->options;
    j->max_passes = o->max_passes ? o->max_passes : DEFAULT_PASSES;
    j->max_rounds = o->max_rounds ? o->max_rounds : DEFAULT_ROUNDS;
    if (o->quick) be_quick(j);
    j->tolerance = o->tolerance > 0 ? o->tolerance : DEFAULT_TOLERANCE;
    j->restarts = restarts_for(j);
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

enum {
    LONE_ROWS = 1000, /* up to here columns that one row has are joined first */
    MOST_CHOSEN = 1000
};

typedef kmeans_job job;
typedef made_run run;

/* ---- the number of clusters ------------------------------------------------------------------ */

static gf_status choose_of(job *j, const gf_points *points, gf_error *err)
{
    uint32_t n = gf_points_n(&j->points), most = j->options->max_k;
    if (most == 0) most = n / 3 < MOST_CHOSEN ? n / 3 : MOST_CHOSEN;
    if (most == 0) most = 1;
    report_progress(j, "choosing k", 0, 0);
    gf_status st = gf_choose_k(j->pool, points, most < n ? most : n, j->options->reach,
                               j->options->seed, j->options->cancel, &j->choice, err);
    if (st == GF_OK) j->k = j->choice.k;
    return st;
}

/* Over rows weighed as the refinement says, where it does. */
static gf_status choose_k(job *j, gf_error *err)
{
    const gf_refinement *r = j->options->refinement;
    if (!r || !r->factor) return choose_of(j, &j->points, err);
    gf_csr weighed = {0}, joined = {0};
    gf_status st =
        gf_refinement_weigh(j->pool, j->whole.x, r->factor, j->options->cancel, &weighed, err);
    gf_points points = {&weighed, j->whole.weight};
    if (st == GF_OK && j->points.x != j->whole.x) {
        st = gf_points_join_lone_columns(&weighed, &joined, err);
        points.x = &joined;
    }
    if (st == GF_OK) st = choose_of(j, &points, err);
    gf_csr_release(&joined);
    gf_free(weighed.val);
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

/* Centres over the terms that came in, yet to be summed, in place of those over joined columns. */
static gf_status unjoin(job *j, gf_partition *p, gf_error *err)
{
    gf_centres centres;
    gf_status st = gf_centres_init(&centres, p->k, j->whole.x->n_cols, err);
    if (st != GF_OK) return st;
    gf_centres_release(&p->centres);
    p->centres = centres;
    j->points = j->whole;
    return GF_OK;
}

/* The centres as they are kept: in the terms that came in, in place of joined columns. */
static gf_status sum_whole(job *j, gf_partition *p, gf_error *err)
{
    if (j->points.x == j->whole.x) return GF_OK;
    gf_status st = unjoin(j, p, err);
    return st == GF_OK ? sum_anew(j, p, NULL, err) : st;
}

/*
 * The groups of the refinement's sweeps in place of those of k-means, and their centres. One that
 * lost nearly all its documents keeps the centre of those that it had.
 */
static gf_status regroup(job *j, gf_partition *p, double *weight, gf_error *err)
{
    const gf_kmeans_options *o = j->options;
    uint32_t *swept = p->label, *before = gf_array(p->n, sizeof *before), n_empty = 0;
    bool *full = gf_array(p->k, sizeof *full), *empty = gf_array(p->k, sizeof *empty);
    double *held = gf_array(p->k, sizeof *held);
    gf_status st = before && full && empty && held ? GF_OK : gf_fail_memory(err, "clusters");
    if (st != GF_OK) goto done;
    report_progress(j, "sweeping", 0, 0);
    memcpy(before, p->label, p->n * sizeof *before);
    if (!(o->settled && goes_on(j)))
        st = gf_refinement_sweep(j->pool, o->refinement, &j->whole, j->fold, j->n_rows, p->k,
                                 o->cancel, p->label, err);
    clock_stage(j, &j->stages.sweeping);
    if (st == GF_OK && j->points.x != j->whole.x) st = unjoin(j, p, err);
    if (st != GF_OK) goto done;
    p->label = before;
    weigh(j, p, held);
    p->label = swept;
    weigh(j, p, weight);
    const double least = p->k <= GF_MIXTURE_PRIOR_CLUSTERS ? LEAST_LEFT : 0;
    for (uint32_t c = 0; c < p->k; c++) {
        full[c] = weight[c] > 0 && weight[c] >= least * held[c];
        empty[c] = !full[c];
        n_empty += empty[c];
    }
    st = sum_anew(j, p, full, err);
    p->label = before;
    if (st == GF_OK && n_empty) st = sum_anew(j, p, empty, err);
    p->label = swept;
done:
    gf_free(held);
    gf_free(before);
    gf_free(full);
    gf_free(empty);
    return st;
}

/* Very many clusters: those that the assignment left without rows keep one. */
static gf_status keep_clusters(const job *j, gf_partition *p, const uint32_t *keeper,
                               double *weight, uint32_t *runner_up, gf_error *err)
{
    gf_csr x = {0};
    float *row_weight = NULL;
    gf_keeper *lost = gf_array(p->k, sizeof *lost);
    uint32_t *rows = gf_array(p->k, sizeof *rows);
    gf_status st = lost && rows ? GF_OK : gf_fail_memory(err, "clusters");
    uint32_t n = st == GF_OK ? gf_assign_list_lost(p, weight, keeper, lost) : 0;
    for (uint32_t l = 0; l < n; l++)
        rows[l] = lost[l].row;
    if (n) st = gf_points_gather(j->pool, &j->points, rows, n, &x, &row_weight, err);
    if (n && st == GF_OK) gf_assign_give_back(p, lost, n, &x, row_weight, weight, runner_up);
    gf_csr_release(&x);
    gf_free(row_weight);
    gf_free(lost);
    gf_free(rows);
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
        bool keeps = gf_branches_serve(&p->centres);
        if (keeps) gf_assign_find_keepers(p, number);
        st = gf_assign_rows(j->pool, &j->points, p, runner_up, j->options->cancel, err);
        if (st != GF_OK) break;
        weigh(j, p, weight);
        if (keeps) st = keep_clusters(j, p, number, weight, runner_up, err);
        if (st != GF_OK) break;
        dropped = gf_number_clusters_drop_empty(p, weight, number);
    }
    return st;
}

/* From distinct rows back to all. */
static void spread(const gf_partition *p, const uint32_t *runner_up, const uint32_t *number,
                   const gf_fold *fold, gf_kmeans *r)
{
    int64_t scores = 0; /* exact, whatever the order */
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t point = fold->point_of[i];
        bool empty = point == GF_NO_POINT, has_second = r->k > 1;
        r->label[i] = empty ? 0 : number[p->label[point]];
        r->score[i] = empty ? 0 : gf_at_most_1(p->own[point]);
        r->runner_up[i] = has_second ? 1 : GF_NO_CLUSTER;
        r->second[i] = 0;
        scores += gf_grid_score((double)r->score[i]);
        if (empty || !has_second) continue;
        r->runner_up[i] = number[runner_up[point]];
        r->second[i] = gf_at_most_1(p->other[point]);
    }
    r->objective = gf_grid_sum(scores);
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
    if (st == GF_OK) st = is_refined(j) ? regroup(j, p, weight, err) : sum_whole(j, p, err);
    if (st == GF_OK) st = assign_last(j, p, runner_up, weight, number, err);
    if (st == GF_OK) st = gf_number_clusters_order(p, weight, number, &r.centres, err);
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

/* ---- the whole ------------------------------------------------------------------------------- */

static gf_status cluster(job *j, gf_kmeans *out, gf_error *err)
{
    const gf_kmeans_options *o = j->options;
    uint32_t distinct = gf_points_n(&j->points);
    run best = {0};
    j->k = o->k < distinct ? o->k : distinct;
    clock_stage(j, &j->stages.folding);
    gf_status st = j->k ? GF_OK : choose_k(j, err);
    if (st != GF_OK) return st;
    clock_stage(j, &j->stages.choosing);
    if (distinct <= GF_SMALL_POINTS && !(o->start && o->start_k))
        st = gf_small_create(&j->points, &j->small, err);
    if (st == GF_OK) st = find_best_run(j, &best, err);
    if (st == GF_OK) st = finish(j, &best, out, err);
    gf_partition_release(&best.p);
    gf_small_free(j->small);
    return st;
}

static gf_status fold_rows(const gf_csr *x, job *j, gf_fold *fold, gf_error *err)
{
    gf_status st = gf_points_check(j->pool, x, err);
    if (st == GF_OK) st = gf_fold_rows(j->pool, x, fold, err);
    if (st == GF_OK && fold->n == 0) st = gf_fail(err, GF_EINVAL, "no rows to cluster");
    if (st != GF_OK) return st;
    j->points = j->whole = gf_fold_points(fold, x);
    j->fold = fold;
    j->n_rows = x->n_rows;
    j->n_entries = gf_csr_nnz(x);
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
    clock_stage(&j, NULL);
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
