#include "cluster/measure/k_curve.h"

#include "base/memory.h"

#include <math.h>

enum {
    SEARCH_TO = 30, /* the number of clusters is searched at least up to here, and beyond while */
    PATIENCE = 5,   /* the worth rose within so many steps and has not fallen far; */
    FEW = 3,        /* clusters: see needed; */
    FINE = 5,       /* the least that takes their place where they gave way */
    BEHIND = 6,     /* but behind a valley to so many times the peak before it, and */
    LEAST_SEARCH = 16
};

/* worth(k) = separation * k^-PENALTY: twice the clusters must be separated 1.4 % better. */
#define PENALTY 0.02

#define VALLEY  0.95 /* of a peak's worth: below lies a valley, */
#define PLATEAU 0.99 /* above all are as good, */
#define NEAR    0.98 /* above the search goes on, and a number that is served is kept */
#define FALLEN  0.97 /* of the last rise: below the search may end */
#define FLOOR   0.8  /* of the worth of few clusters: finer ones that hold it take their place */

#define UPWARDS (2.0 / 3) /* of the plateau, by ln k: the number that is taken */

double gf_k_curve_worth(uint32_t k, double separation)
{
    return separation * pow(k, -PENALTY);
}

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
    c->worth[c->n] = gf_k_curve_worth(k, separation);
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

/* The peak, or if that is few clusters, the highest of the finer steps that hold the floor. */
static uint32_t proven_peak(const gf_k_curve *c)
{
    uint32_t best = c->peak;
    if (!c->many || c->peak == 0 || c->steps[c->peak].k > FEW) return best;
    double least = FLOOR * c->worth[c->peak];
    for (uint32_t i = c->peak + 1; i < c->n; i++) {
        if (c->steps[i].k < FINE || c->worth[i] < least) continue;
        if (best == c->peak || c->worth[i] > c->worth[best]) best = i;
    }
    return best;
}

bool gf_k_curve_goes_on(const gf_k_curve *c)
{
    uint32_t last = c->n - 1, k = c->steps[last].k;
    uint32_t peak = c->steps[c->peak].k;
    if (c->in_valley && peak > FEW && k >= LEAST_SEARCH && k >= BEHIND * peak) return false;
    if (k < SEARCH_TO) return true;
    if (c->peak > 0 && c->worth[last] >= NEAR * c->worth[proven_peak(c)]) return true;
    return last - c->risen < PATIENCE && c->worth[last] >= FALLEN * c->worth[c->risen];
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* The last step of a peak's plateau, going by +1 or -1 to k >= least; no valley lies between. */
static uint32_t plateau_end(const gf_k_curve *c, uint32_t peak, int direction, uint32_t least)
{
    uint32_t end = peak;
    double highest = c->worth[peak];
    for (uint32_t i = peak; i > 0 && i < c->n && c->steps[i].k >= least; i += (uint32_t)direction) {
        if (c->worth[i] < VALLEY * highest) break;
        if (c->worth[i] >= PLATEAU * highest) end = i;
    }
    return end;
}

/* How far a step lies, in ln k, from the number to take of the plateau. */
static double off_aim(const gf_k_curve *c, uint32_t from, uint32_t to, uint32_t i)
{
    double low = log((double)c->steps[from].k), high = log((double)c->steps[to].k);
    return fabs(log((double)c->steps[i].k) - (low + UPWARDS * (high - low)));
}

/* The step nearest to the aim; the worthier of two that are as near. */
gf_k_reason gf_k_curve_choose(const gf_k_curve *c)
{
    uint32_t peak = proven_peak(c), least = peak == c->peak ? 0 : FINE;
    uint32_t from = plateau_end(c, peak, -1, least), to = plateau_end(c, peak, 1, least);
    uint32_t taken = from;
    for (uint32_t i = from + 1; i <= to; i++) {
        double nearer = off_aim(c, from, to, taken) - off_aim(c, from, to, i);
        bool even = fabs(nearer) < 1e-9;
        if (even ? c->worth[i] > c->worth[taken] : nearer > 0) taken = i;
    }
    return (gf_k_reason){.k = c->steps[taken].k,
                         .best = c->steps[peak].k,
                         .from = c->steps[from].k,
                         .to = c->steps[to].k,
                         .few = peak == c->peak ? 0 : c->steps[c->peak].k,
                         .worth = c->worth[peak]};
}

bool gf_k_curve_keeps(const gf_choice_step *steps, uint32_t n, const gf_k_reason *choice,
                      uint32_t k)
{
    uint32_t i = 0;
    while (i < n && steps[i].k < k)
        i++;
    if (i == n || k < 1 || (choice->few && k < FINE)) return false;
    double worth = gf_k_curve_worth(steps[i].k, steps[i].separation);
    if (steps[i].k > k) { /* steps begin with 1, so there is one before */
        double before = gf_k_curve_worth(steps[i - 1].k, steps[i - 1].separation);
        double low = log((double)steps[i - 1].k), high = log((double)steps[i].k);
        worth = before + (worth - before) * (log((double)k) - low) / (high - low);
    }
    return worth >= NEAR * choice->worth;
}
