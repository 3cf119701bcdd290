#include "cluster/choose.h"

#include "base/memory.h"
#include "cluster/grow.h"

enum {
    GROWTHS = 4,
    SMALLEST_SAMPLE = 3000, /* rows */
    SAMPLE_ENTRIES = 250000,
    SEARCH_TO = 40, /* the number of clusters is searched at least up to here, and beyond while */
    PATIENCE = 5    /* the separation rose within so many steps, or has not fallen far */
};

/* Below this separation rows are no nearer to their own cluster than to others: one cluster. */
#define LEAST_SEPARATION 0.02

#define GOOD_ENOUGH 0.98 /* share of the highest separation that a smaller number must reach, */
#define PEAK_ENOUGH 0.96 /* and that it must reach where it is a peak of its own */
#define FALLEN      0.97 /* below this share the search may end */
#define CLIFF       0.93 /* below this share the separation falls behind a plain maximum */

typedef struct choosing {
    const gf_points *points;
    const gf_cancel *cancel;
    uint64_t seed;
    uint32_t sample;
    gf_growth *growth[GROWTHS];
    double separation[GROWTHS];
    uint32_t k; /* to grow to in this step */
    gf_choice_step *steps;
    uint32_t n_steps, capacity;
} choosing;

static uint32_t sample_size(const gf_points *points)
{
    uint32_t n = gf_points_n(points);
    uint64_t entries = gf_csr_nnz(points->x);
    uint64_t wanted = entries ? (uint64_t)n * SAMPLE_ENTRIES / entries : n;
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

static gf_status add_step(choosing *c, uint32_t k, double separation, gf_error *err)
{
    if (c->n_steps == c->capacity) {
        uint32_t capacity = c->capacity ? c->capacity * 2 : 32;
        gf_choice_step *steps = gf_realloc(c->steps, capacity, sizeof *steps);
        if (!steps) return gf_fail_memory(err, "choosing the number of clusters");
        c->steps = steps;
        c->capacity = capacity;
    }
    c->steps[c->n_steps++] = (gf_choice_step){k, separation};
    return GF_OK;
}

/* The first step with the highest separation. */
static uint32_t find_highest(const choosing *c)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < c->n_steps; i++)
        if (c->steps[i].separation > c->steps[best].separation) best = i;
    return best;
}

static bool goes_on(const choosing *c)
{
    const gf_choice_step *last = &c->steps[c->n_steps - 1];
    double best = c->steps[find_highest(c)].separation;
    if (last->k < SEARCH_TO || last->separation >= FALLEN * best) return true;
    for (uint32_t i = 0; i < PATIENCE && i < c->n_steps; i++)
        if (c->steps[c->n_steps - 1 - i].separation >= best) return true;
    return false;
}

static gf_status search(choosing *c, gf_pool *pool, uint32_t max_k, gf_error *err)
{
    gf_status st = add_step(c, 1, LEAST_SEPARATION, err);
    uint32_t reached = 1;
    while (st == GF_OK && reached < max_k && goes_on(c)) {
        uint32_t next = gf_growth_next(reached);
        c->k = next < max_k ? next : max_k;
        st = gf_pool_run(pool, GROWTHS, step_task, c, c->cancel, err);
        if (st != GF_OK) break;
        double sum = 0;
        bool full = true;
        for (unsigned i = 0; i < GROWTHS; i++) {
            sum += c->separation[i];
            full = full && gf_growth_partition(c->growth[i])->k == c->k;
        }
        if (!full) break;
        reached = c->k;
        st = add_step(c, reached, sum / GROWTHS, err);
    }
    return st;
}

/* Higher than the two steps before and the two behind. */
static bool is_peak(const choosing *c, uint32_t i)
{
    uint32_t from = i < 2 ? 0 : i - 2, to = i + 2 < c->n_steps ? i + 2 : c->n_steps - 1;
    for (uint32_t other = from; other <= to; other++)
        if (other != i && c->steps[other].separation >= c->steps[i].separation) return false;
    return i > 0;
}

/* Whether the separation falls steeply right behind a step: then its clusters are plain to see. */
static bool is_cliff(const choosing *c, uint32_t i)
{
    for (uint32_t next = i + 1; next <= i + 2 && next < c->n_steps; next++)
        if (c->steps[next].separation < CLIFF * c->steps[i].separation) return true;
    return false;
}

static uint32_t decide(const choosing *c)
{
    uint32_t i = 0, best = find_highest(c);
    double enough = GOOD_ENOUGH * c->steps[best].separation;
    double peak = PEAK_ENOUGH * c->steps[best].separation;
    if (best > 0 && is_cliff(c, best)) return c->steps[best].k;
    while (c->steps[i].separation < enough && !(is_peak(c, i) && c->steps[i].separation >= peak))
        i++;
    return c->steps[i].k;
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
    if (st != GF_OK) {
        gf_free(c.steps);
        return st;
    }
    *out = (gf_choice){decide(&c), c.steps, c.n_steps};
    return GF_OK;
}
