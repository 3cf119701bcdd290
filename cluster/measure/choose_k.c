#include "cluster/measure/choose_k.h"

#include "base/memory.h"
#include "cluster/moves/growth.h"
#include "cluster/small/small_kmeans.h"

enum {
    GROWTHS = 4,
    SMALLEST_SAMPLE = 3000, /* rows */
    SAMPLE_ENTRIES = 120000,
    SAMPLE_SHARE = 12,    /* one row of so many, */
    LARGE_SAMPLE = 25000, /* but no more rows than that for its sake */
    MANY_ROWS = 1000,     /* two or three clusters of them are not taken for granted */
    ONE_BY_ONE = 8        /* up to here each number of clusters is tried, then a fourth more */
};

/* Below this separation rows are no nearer to their own cluster than to others: one cluster. */
#define LEAST_SEPARATION 0.02

typedef struct choosing {
    const gf_points *points;
    const gf_cancel *cancel;
    uint64_t seed;
    uint32_t sample;
    gf_growth *growth[GROWTHS];
    gf_small *small; /* of up to GF_SMALL_POINTS points: they grow by their products */
    gf_small_growth *small_growth[GROWTHS];
    uint32_t grown[GROWTHS]; /* clusters */
    double separation[GROWTHS];
    uint32_t k; /* to grow to in this step */
    gf_k_curve curve;
} choosing;

static uint32_t sample_size(const gf_points *points)
{
    uint32_t n = gf_points_n(points);
    uint64_t entries = gf_csr_nnz(points->x);
    uint64_t wanted = entries ? (uint64_t)n * SAMPLE_ENTRIES / entries : n;
    uint32_t share = n / SAMPLE_SHARE < LARGE_SAMPLE ? n / SAMPLE_SHARE : LARGE_SAMPLE;
    if (wanted < share) wanted = share;
    if (wanted > n / 2) wanted = n / 2;
    if (wanted < SMALLEST_SAMPLE) wanted = SMALLEST_SAMPLE;
    return wanted < n ? (uint32_t)wanted : n;
}

static uint64_t seed_of(const choosing *c, size_t i)
{
    return c->seed + ((uint64_t)(i + 1) << 40);
}

static gf_status step_small(choosing *c, size_t i, gf_error *err)
{
    gf_small_growth **growth = &c->small_growth[i];
    gf_status st = *growth ? GF_OK : gf_small_growth_create(c->small, seed_of(c, i), growth, err);
    if (st != GF_OK) return st;
    c->grown[i] = gf_small_growth_step(*growth, c->k);
    c->separation[i] = gf_small_growth_separation(*growth);
    return GF_OK;
}

/* One partition takes a step; the first step makes it. */
static gf_status step_task(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    choosing *c = context;
    gf_status st = GF_OK;
    if (c->small) return step_small(c, i, err);
    if (!c->growth[i])
        st = gf_growth_create(NULL, c->points, c->sample, seed_of(c, i), c->cancel, &c->growth[i],
                              err);
    if (st == GF_OK) st = gf_growth_step(c->growth[i], c->k, err);
    if (st == GF_OK) st = gf_growth_separation(c->growth[i], &c->separation[i], err);
    if (st == GF_OK) c->grown[i] = gf_growth_partition(c->growth[i])->k;
    return st;
}

/* ---- the curve ------------------------------------------------------------------------------- */

/* Mean separation of the partitions: that of one is off by some 2 %, more than plateaus differ. */
static double mean_separation(const double *separation)
{
    double sum = 0;
    for (unsigned i = 0; i < GROWTHS; i++)
        sum += separation[i];
    return sum / GROWTHS;
}

static uint32_t next_k(uint32_t k)
{
    return k < ONE_BY_ONE ? k + 1 : k + k / 4;
}

/* One more step of the curve, to next clusters; *full is false where there cannot be so many. */
static gf_status walk_step(choosing *c, gf_pool *pool, uint32_t next, bool *full, gf_error *err)
{
    c->k = next;
    gf_status st = gf_pool_run(pool, GROWTHS, step_task, c, c->cancel, err);
    if (st != GF_OK) return st;
    *full = true;
    for (unsigned i = 0; i < GROWTHS; i++)
        *full = *full && c->grown[i] == c->k;
    return *full ? gf_k_curve_add(&c->curve, next, mean_separation(c->separation), err) : GF_OK;
}

/* The walk to its end, where the choice is made; then on to `reach`, so that this can be judged. */
static gf_status search(choosing *c, gf_pool *pool, uint32_t max_k, uint32_t reach,
                        gf_k_reason *reason, gf_error *err)
{
    gf_status st = gf_k_curve_add(&c->curve, 1, LEAST_SEPARATION, err);
    bool full = true, ended = false;
    for (uint32_t at = 1; st == GF_OK; at = c->k) {
        if (!ended && (!full || at >= max_k || !gf_k_curve_goes_on(&c->curve))) {
            *reason = gf_k_curve_choose(&c->curve);
            ended = true;
        }
        if (!full || at >= max_k || (ended && at >= reach)) break;
        uint32_t next = next_k(at);
        st = walk_step(c, pool, next < max_k ? next : max_k, &full, err);
    }
    return st;
}

gf_status gf_choose_k(gf_pool *pool, const gf_points *points, uint32_t max_k, uint32_t reach,
                      uint64_t seed, const gf_cancel *cancel, gf_choice *out, gf_error *err)
{
    if (gf_points_n(points) == 0 || max_k == 0)
        return gf_fail(err, GF_EINVAL, "no rows to choose a number of clusters for");
    choosing c = {.points = points, .cancel = cancel, .seed = seed};
    gf_k_reason reason;
    c.sample = sample_size(points);
    c.curve.many = gf_points_n(points) >= MANY_ROWS;
    if (max_k > c.sample) max_k = c.sample;
    bool small = gf_points_n(points) <= GF_SMALL_POINTS;
    gf_status st = small ? gf_small_create(points, &c.small, err) : GF_OK;
    /* Few are done before other threads are awake. */
    if (st == GF_OK) st = search(&c, small ? NULL : pool, max_k, reach, &reason, err);
    for (unsigned i = 0; i < GROWTHS; i++) {
        gf_growth_free(c.growth[i]);
        gf_small_growth_free(c.small_growth[i]);
    }
    gf_small_free(c.small);
    if (st == GF_OK) {
        *out = (gf_choice){reason.k, c.curve.steps, c.curve.n, reason};
        c.curve.steps = NULL;
    }
    gf_k_curve_release(&c.curve);
    return st;
}

bool gf_choice_keeps(const gf_choice *choice, uint32_t k)
{
    return gf_k_curve_keeps(choice->steps, choice->n_steps, &choice->reason, k);
}
