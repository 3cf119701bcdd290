#include "cluster/choose.h"

#include "base/memory.h"
#include "cluster/grow.h"

#include <math.h>

enum {
    GROWTHS = 4,
    SMALLEST_SAMPLE = 3000, /* rows */
    SAMPLE_ENTRIES = 120000,
    ONE_BY_ONE = 8, /* up to here each number of clusters is tried, then a fourth more */
    SEARCH_TO = 30, /* the number of clusters is searched at least up to here, and beyond while */
    PATIENCE = 5,   /* the worth rose within so many steps and has not fallen far; */
    BEHIND = 6,     /* but behind a valley to so many times the peak before it, and */
    LEAST_SEARCH = 16
};

/* Below this separation rows are no nearer to their own cluster than to others: one cluster. */
#define LEAST_SEPARATION 0.02

/* worth(k) = separation * k^-PENALTY: twice the clusters must be separated 1.4 % better. */
#define PENALTY 0.02

#define VALLEY  0.95 /* of a peak's worth: below lies a valley, */
#define PLATEAU 0.98 /* above all are as good */
#define FALLEN  0.97 /* of the last rise: below the search may end */

/* Where the walk along the curve stands. */
typedef struct walk {
    uint32_t peak;  /* step */
    uint32_t risen; /* step: of the highest worth since the last valley began */
    double valley;  /* least worth behind the peak, once that is below VALLEY of it */
    bool in_valley;
} walk;

typedef struct choosing {
    const gf_points *points;
    const gf_cancel *cancel;
    uint64_t seed;
    uint32_t sample;
    gf_growth *growth[GROWTHS];
    double separation[GROWTHS];
    uint32_t k; /* to grow to in this step */
    gf_choice_step *steps;
    double *worth; /* of each step */
    uint32_t n_steps, capacity;
    walk walk;
} choosing;

static uint32_t sample_size(const gf_points *points)
{
    uint32_t n = gf_points_n(points);
    uint64_t entries = gf_csr_nnz(points->x);
    uint64_t wanted = entries ? (uint64_t)n * SAMPLE_ENTRIES / entries : n;
    if (wanted > n / 2) wanted = n / 2;
    if (wanted < SMALLEST_SAMPLE) wanted = SMALLEST_SAMPLE;
    return wanted < n ? (uint32_t)wanted : n;
}

/* One partition takes a step; the first step makes it. */
static gf_status step_task(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    choosing *c = context;
    gf_status st = GF_OK;
    if (!c->growth[i])
        st = gf_growth_create(NULL, c->points, c->sample, c->seed + ((uint64_t)(i + 1) << 40),
                              c->cancel, &c->growth[i], err);
    if (st == GF_OK) st = gf_growth_step(c->growth[i], c->k, err);
    if (st == GF_OK) st = gf_growth_separation(c->growth[i], &c->separation[i], err);
    return st;
}

/* ---- the curve --------------------------------------------------------------------------------
 */

static gf_status reserve(choosing *c, gf_error *err)
{
    if (c->n_steps < c->capacity) return GF_OK;
    uint32_t capacity = c->capacity ? c->capacity * 2 : 32;
    gf_choice_step *steps = gf_realloc(c->steps, capacity, sizeof *steps);
    if (steps) c->steps = steps;
    double *worth = steps ? gf_realloc(c->worth, capacity, sizeof *worth) : NULL;
    if (!worth) return gf_fail_memory(err, "choosing the number of clusters");
    c->worth = worth;
    c->capacity = capacity;
    return GF_OK;
}

/*
 * What a step behind a valley needs to be the new peak: to rise above the old one by more than the
 * valley lies below it, else finer structure of no better clusters would hide the coarse one. Two
 * clusters are no proven peak, for nothing smaller can be compared: coming near them is enough.
 */
static double needed(const walk *w, const choosing *c)
{
    double peak = c->worth[w->peak];
    return c->steps[w->peak].k == 2 ? VALLEY * peak : 2 * peak - w->valley;
}

/* A higher step is the new peak. */
static void walk_on(choosing *c, uint32_t i)
{
    walk *w = &c->walk;
    const double *worth = c->worth;
    double peak = worth[w->peak];
    if (!w->in_valley) {
        if (worth[i] > peak) w->peak = w->risen = i;
        w->in_valley = w->peak > 0 && worth[i] < VALLEY * peak;
        if (!w->in_valley) return;
        w->valley = worth[i];
        w->risen = i;
    }
    if (worth[i] < w->valley) w->valley = worth[i];
    if (worth[i] > worth[w->risen]) w->risen = i;
    if (worth[i] > needed(w, c)) *w = (walk){.peak = i, .risen = i};
}

static gf_status add_step(choosing *c, uint32_t k, double separation, gf_error *err)
{
    gf_status st = reserve(c, err);
    if (st != GF_OK) return st;
    c->steps[c->n_steps] = (gf_choice_step){k, separation};
    c->worth[c->n_steps] = separation * pow(k, -PENALTY);
    if (c->n_steps) walk_on(c, c->n_steps);
    c->n_steps++;
    return GF_OK;
}

static bool goes_on(const choosing *c)
{
    uint32_t last = c->n_steps - 1, k = c->steps[last].k;
    const walk *w = &c->walk;
    if (w->in_valley && k >= LEAST_SEARCH && k >= BEHIND * c->steps[w->peak].k) return false;
    if (k < SEARCH_TO) return true;
    return last - w->risen < PATIENCE && c->worth[last] >= FALLEN * c->worth[w->risen];
}

/* What the partitions agree on: their mean separation less its standard deviation. */
static double agreed(const double *separation)
{
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < GROWTHS; i++)
        sum += separation[i];
    double mean = sum / GROWTHS;
    for (unsigned i = 0; i < GROWTHS; i++)
        squares += (separation[i] - mean) * (separation[i] - mean);
    double least = mean - sqrt(squares / GROWTHS);
    return least > -1 ? least : -1;
}

static uint32_t next_k(uint32_t k)
{
    return k < ONE_BY_ONE ? k + 1 : k + k / 4;
}

static gf_status search(choosing *c, gf_pool *pool, uint32_t max_k, gf_error *err)
{
    gf_status st = add_step(c, 1, LEAST_SEPARATION, err);
    uint32_t reached = 1;
    while (st == GF_OK && reached < max_k && goes_on(c)) {
        uint32_t next = next_k(reached);
        c->k = next < max_k ? next : max_k;
        st = gf_pool_run(pool, GROWTHS, step_task, c, c->cancel, err);
        if (st != GF_OK) break;
        bool full = true;
        for (unsigned i = 0; i < GROWTHS; i++)
            full = full && gf_growth_partition(c->growth[i])->k == c->k;
        if (!full) break;
        reached = c->k;
        st = add_step(c, reached, agreed(c->separation), err);
    }
    return st;
}

/* ---- the choice -------------------------------------------------------------------------------
 */

/* The last step of the peak's plateau, going by +1 or -1; no valley lies between. */
static uint32_t plateau_end(const choosing *c, int direction)
{
    uint32_t peak = c->walk.peak, end = peak;
    double highest = c->worth[peak];
    for (uint32_t i = peak; i > 0 && i < c->n_steps && c->worth[i] >= VALLEY * highest;
         i += (uint32_t)direction)
        if (c->worth[i] >= PLATEAU * highest) end = i;
    return end;
}

/* How far a step lies from the middle of the plateau, in ln k. */
static double off_middle(const choosing *c, uint32_t from, uint32_t to, uint32_t i)
{
    return fabs(log((double)c->steps[i].k) -
                (log((double)c->steps[from].k) + log((double)c->steps[to].k)) / 2);
}

/* The step in the middle of the plateau; of two as near the worthier. */
static uint32_t decide(const choosing *c)
{
    uint32_t from = plateau_end(c, -1), to = plateau_end(c, 1), best = from;
    for (uint32_t i = from + 1; i <= to; i++) {
        double nearer = off_middle(c, from, to, best) - off_middle(c, from, to, i);
        bool even = fabs(nearer) < 1e-9;
        if (even ? c->worth[i] > c->worth[best] : nearer > 0) best = i;
    }
    return c->steps[best].k;
}

gf_status gf_choose_k(gf_pool *pool, const gf_points *points, uint32_t max_k, uint64_t seed,
                      const gf_cancel *cancel, gf_choice *out, gf_error *err)
{
    if (gf_points_n(points) == 0 || max_k == 0)
        return gf_fail(err, GF_EINVAL, "no rows to choose a number of clusters for");
    choosing c = {.points = points, .cancel = cancel, .seed = seed};
    c.sample = sample_size(points);
    if (max_k > c.sample) max_k = c.sample;
    gf_status st = search(&c, pool, max_k, err);
    for (unsigned i = 0; i < GROWTHS; i++)
        gf_growth_free(c.growth[i]);
    if (st == GF_OK)
        *out = (gf_choice){decide(&c), c.steps, c.n_steps};
    else
        gf_free(c.steps);
    gf_free(c.worth);
    return st;
}
