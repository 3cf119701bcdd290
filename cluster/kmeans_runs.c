#include "cluster/kmeans_internal.h"

#include "base/memory.h"
#include "cluster/moves/exchange.h"
#include "cluster/moves/growth.h"
#include "cluster/moves/polish.h"
#include "cluster/moves/seed.h"
#include "cluster/passes/start_centres.h"

#include <string.h>

enum {
    MOST_RESTARTS = 8,
    SMALL_RESTARTS = 16, /* of a small collection, whose run takes some microseconds */
    DEFAULT_PASSES = 100,
    DEFAULT_ROUNDS = 20,
    QUICK_PASSES = 2,
    QUICK_ROUNDS = 2,
    EXCHANGED = 32, /* from so many clusters on they are exchanged: of fewer, runs find as much */
    MOST_EXCHANGES = 8,
    WARM_ROWS = 100000, /* from this many rows on, the first passes look at a part of them */
    WARM_PART = 8,
    WARM_ROUNDS = 6,
    WARM_PER_CLUSTER = 20 /* fewer rows than that say too little about a cluster */
};

#define DEFAULT_TOLERANCE 0.001

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

typedef gf_kmeans_job job;
typedef gf_kmeans_run_made run;

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
        st = gf_points_gather(&j->points, rows, m, &x, &weight, err);
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
    gf_kmeans_tell(j, "clustering", restart, j->restarts);
    gf_status st = gf_grow_partition(j->pool, &j->points, j->k, seed_of(j, restart),
                                     j->options->quick, j->options->cancel, &r.p, err);
    gf_kmeans_clock(j, &j->stages.seeding);
    if (st == GF_OK)
        st = gf_passes_create(j->pool, &j->points, r.p.k, j->options->cancel, &passes, err);
    if (st == GF_OK && j->max_rounds == GF_NO_POLISH) {
        st = gf_passes_run(passes, &r.p, j->tolerance, j->max_passes, &r.made, err);
        gf_kmeans_clock(j, &j->stages.passing);
    } else if (st == GF_OK) {
        unsigned most = rounds_for(j, r.p.k);
        st = gf_polish(passes, &r.p, j->tolerance, most, &r.rounds, err);
        gf_kmeans_clock(j, &j->stages.polishing);
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
                                o->cancel, centres, err);
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
    gf_kmeans_tell(j, "clustering", restart, j->restarts);
    gf_status st = gf_small_cluster(j->small, j->k, seed_of(j, restart), &limits, &made, err);
    if (st == GF_OK)
        st = gf_partition_init(&r.p, gf_points_n(&j->points), j->k, j->points.x->n_cols, err);
    if (st != GF_OK) return st;
    memcpy(r.p.label, made.label, r.p.n * sizeof *made.label);
    r.made = made.made;
    r.rounds = made.rounds;
    r.objective = made.objective;
    *out = r;
    gf_kmeans_clock(j, &j->stages.passing);
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

static gf_status make_run(job *j, unsigned restart, run *out, gf_error *err)
{
    bool starts = j->options->start && j->options->start_k;
    if (j->small) return small_run(j, restart, out, err);
    if (!starts && j->k > GF_MANY_CLUSTERS) return grow_run(j, restart, out, err);
    gf_centres centres = {0};
    gf_passes *passes = NULL;
    run r = {0};
    gf_kmeans_tell(j, "clustering", restart, j->restarts);
    gf_status st = first_centres(j, restart, &centres, err);
    gf_kmeans_clock(j, &j->stages.seeding);
    if (st == GF_OK && !starts && wants_warm_up(j))
        st = warm_up(j, j->options->seed + restart, &centres, err);
    gf_kmeans_clock(j, &j->stages.warming);
    if (st == GF_OK) st = begin(j, &j->points, &centres, &r.p, &passes, err);
    bool polish = j->max_rounds != GF_NO_POLISH;
    double enough = polish ? LEFT_TO_POLISH * j->tolerance : j->tolerance;
    if (st == GF_OK) st = gf_passes_run(passes, &r.p, enough, j->max_passes, &r.made, err);
    gf_kmeans_clock(j, &j->stages.passing);
    if (st == GF_OK && polish)
        st = gf_polish(passes, &r.p, j->tolerance, j->max_rounds, &r.rounds, err);
    gf_kmeans_clock(j, &j->stages.polishing);
    if (st == GF_OK) st = exchange(j, passes, restart, &r.p, err);
    gf_kmeans_clock(j, &j->stages.exchanging);
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

gf_status gf_kmeans_runs_best(gf_kmeans_job *j, gf_kmeans_run_made *best, gf_error *err)
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
