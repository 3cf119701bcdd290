#include "cluster/measure/k_curve.h"

#include "base/memory.h"

#include <math.h>

enum {
    SEARCH_TO = 30, /* the number of clusters is searched at least up to here, and beyond while */
    PATIENCE = 5,   /* the worth rose within so many steps and has not fallen far; */
    FEW = 3,        /* clusters: see needed */
    BEHIND = 6,     /* but behind a valley to so many times the peak before it, and */
    LEAST_SEARCH = 16
};

/* worth(k) = separation * k^-PENALTY: twice the clusters must be separated 1.4 % better. */
#define PENALTY 0.02

#define VALLEY  0.95 /* of a peak's worth: below lies a valley, */
#define PLATEAU 0.98 /* above all are as good */
#define FALLEN  0.97 /* of the last rise: below the search may end */

/* ---- the walk -------------------------------------------------------------------------------- */

static gf_status reserve(gf_k_curve *c, gf_error *err)
{
    if (c->n < c->capacity) return GF_OK;
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
 * A step behind a valley is the new peak if it rises above the old one by more than the
 * valley lies below it, else finer structure of no better clusters would hide the coarse one. Two
 * or three clusters are no proven peak, for little that is smaller can be compared, and a few
 * frequent terms cut a large collection so: coming near them is enough.
 */
static double needed(const gf_k_curve *c)
{
    double peak = c->worth[c->peak];
    return c->steps[c->peak].k <= FEW ? VALLEY * peak : 2 * peak - c->valley;
}

/* A higher step is the new peak. */
static void walk_on(gf_k_curve *c, uint32_t i)
{
    const double *worth = c->worth;
    double peak = worth[c->peak];
    if (!c->in_valley) {
        if (worth[i] > peak) c->peak = c->risen = i;
        c->in_valley = c->peak > 0 && worth[i] < VALLEY * peak;
        if (!c->in_valley) return;
        c->valley = worth[i];
        c->risen = i;
    }
    if (worth[i] < c->valley) c->valley = worth[i];
    if (worth[i] > worth[c->risen]) c->risen = i;
    if (worth[i] <= needed(c)) return;
    c->peak = c->risen = i;
    c->in_valley = false;
}

gf_status gf_k_curve_add(gf_k_curve *c, uint32_t k, double separation, gf_error *err)
{
    gf_status st = reserve(c, err);
    if (st != GF_OK) return st;
    c->steps[c->n] = (gf_choice_step){k, separation};
    c->worth[c->n] = separation * pow(k, -PENALTY);
    if (c->n) walk_on(c, c->n);
    c->n++;
    return GF_OK;
}

void gf_k_curve_release(gf_k_curve *c)
{
    gf_free(c->steps);
    gf_free(c->worth);
    *c = (gf_k_curve){0};
}

bool gf_k_curve_goes_on(const gf_k_curve *c)
{
    uint32_t last = c->n - 1, k = c->steps[last].k;
    uint32_t peak = c->steps[c->peak].k;
    if (c->in_valley && peak > FEW && k >= LEAST_SEARCH && k >= BEHIND * peak) return false;
    if (k < SEARCH_TO) return true;
    return last - c->risen < PATIENCE && c->worth[last] >= FALLEN * c->worth[c->risen];
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* The last step of the peak's plateau, going by +1 or -1; no valley lies between. */
static uint32_t plateau_end(const gf_k_curve *c, int direction)
{
    uint32_t peak = c->peak, end = peak;
    double highest = c->worth[peak];
    for (uint32_t i = peak; i > 0 && i < c->n && c->worth[i] >= VALLEY * highest;
         i += (uint32_t)direction)
        if (c->worth[i] >= PLATEAU * highest) end = i;
    return end;
}

/* How far a step lies from the middle of the plateau, in ln k. */
static double off_middle(const gf_k_curve *c, uint32_t from, uint32_t to, uint32_t i)
{
    return fabs(log((double)c->steps[i].k) -
                (log((double)c->steps[from].k) + log((double)c->steps[to].k)) / 2);
}

/* The step in the middle of the plateau; of two as near the worthier. */
uint32_t gf_k_curve_choose(const gf_k_curve *c)
{
    uint32_t from = plateau_end(c, -1), to = plateau_end(c, 1), best = from;
    for (uint32_t i = from + 1; i <= to; i++) {
        double nearer = off_middle(c, from, to, best) - off_middle(c, from, to, i);
        bool even = fabs(nearer) < 1e-9;
        if (even ? c->worth[i] > c->worth[best] : nearer > 0) best = i;
    }
    return c->steps[best].k;
}
