/*
 * Seeds for dense rows: k-means++ by 1 - cosine, which is half the squared distance of unit rows.
 * Each seed is the best of several candidates ("greedy"), which are scored together.
 */
#include "cluster/dense/internal.h"

#include "base/memory.h"
#include "cluster/passes/points.h"

#include <math.h>
#include <string.h>

enum { LEAST_SAMPLE = 12000, SAMPLE_PER_SEED = 25, BLOCK = 512, MOST_CANDIDATES = 16 };

/* A row that near to a seed counts as equal to it: single precision tells no more. */
#define EQUAL 1e-6

typedef struct seeding {
    gf_dense_rows sample; /* a copy, or all rows */
    float *copy;          /* sample's, or NULL */
    double *far;          /* n: 1 - largest similarity to a seed */
    float *candidates;    /* t * d */
    float *scores;        /* n * t */
    uint32_t t;
} seeding;

static gf_status take_sample(const gf_dense_rows *rows, uint32_t k, gf_random *random, seeding *s,
                             gf_error *err)
{
    uint64_t wanted = (uint64_t)SAMPLE_PER_SEED * k;
    if (wanted < LEAST_SAMPLE) wanted = LEAST_SAMPLE;
    s->sample = *rows;
    if (wanted >= rows->n) return GF_OK;
    uint32_t m = (uint32_t)wanted, *list = gf_array(m, sizeof *list);
    s->copy = gf_array(m, (size_t)rows->d * sizeof *s->copy);
    if (!list || !s->copy) {
        gf_free(list);
        return gf_fail_memory(err, "a sample");
    }
    gf_points_sample(rows->n, m, random, list);
    for (uint32_t i = 0; i < m; i++)
        memcpy(s->copy + (size_t)i * rows->d, gf_dense_row(rows, list[i]),
               rows->d * sizeof *s->copy);
    gf_free(list);
    s->sample = (gf_dense_rows){s->copy, m, rows->d, rows->products};
    return GF_OK;
}

static gf_status score_block(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    seeding *s = context;
    uint32_t from = (uint32_t)index * BLOCK, left = s->sample.n - from;
    gf_dense_score(&s->sample, from, left < BLOCK ? left : BLOCK, s->candidates, s->t,
                   s->scores + (size_t)from * s->t);
    return GF_OK;
}

/* A row by its distance; total is their sum, above 0. */
static uint32_t draw(const seeding *s, double total, gf_random *random)
{
    double at = gf_random_unit(random) * total;
    uint32_t last = 0;
    for (uint32_t i = 0; i < s->sample.n; i++) {
        if (s->far[i] <= 0) continue;
        last = i;
        at -= s->far[i];
        if (at < 0) break;
    }
    return last;
}

static double distance(float similarity)
{
    double d = 1 - (double)similarity;
    return d > EQUAL ? d : 0;
}

/* The candidate that leaves the smallest sum of distances becomes a seed. */
static uint32_t choose(const seeding *s)
{
    double left[MOST_CANDIDATES] = {0};
    uint32_t best = 0;
    for (uint32_t i = 0; i < s->sample.n; i++)
        for (uint32_t c = 0; c < s->t; c++) {
            double d = distance(s->scores[(size_t)i * s->t + c]);
            left[c] += d < s->far[i] ? d : s->far[i];
        }
    for (uint32_t c = 1; c < s->t; c++)
        if (left[c] < left[best]) best = c;
    return best;
}

/* Draw candidates, score them, take the best; false in *more where all rows equal a seed. */
static gf_status add_seed(seeding *s, gf_pool *pool, gf_random *random, const gf_cancel *cancel,
                          float *centre, bool *more, gf_error *err)
{
    uint32_t d = s->sample.d;
    double total = 0;
    for (uint32_t i = 0; i < s->sample.n; i++)
        total += s->far[i];
    *more = total > 0;
    if (!*more) return GF_OK;
    for (uint32_t c = 0; c < s->t; c++)
        memcpy(s->candidates + (size_t)c * d, gf_dense_row(&s->sample, draw(s, total, random)),
               d * sizeof *s->candidates);
    size_t blocks = ((size_t)s->sample.n + BLOCK - 1) / BLOCK;
    gf_status st = gf_pool_run(pool, blocks, score_block, s, cancel, err);
    if (st != GF_OK) return st;
    uint32_t best = choose(s);
    memcpy(centre, s->candidates + (size_t)best * d, d * sizeof *centre);
    for (uint32_t i = 0; i < s->sample.n; i++) {
        double near = distance(s->scores[(size_t)i * s->t + best]);
        if (near < s->far[i]) s->far[i] = near;
    }
    return GF_OK;
}

static gf_status seed(seeding *s, gf_pool *pool, uint32_t k, gf_random *random,
                      const gf_cancel *cancel, float *centre, uint32_t *found, gf_error *err)
{
    uint32_t n = s->sample.n, d = s->sample.d, t = 2 + (uint32_t)log((double)k), at = 0;
    bool more = true;
    gf_status st = GF_OK;
    s->t = t < MOST_CANDIDATES ? t : MOST_CANDIDATES;
    s->far = gf_array(n, sizeof *s->far);
    s->candidates = gf_array((size_t)s->t * d, sizeof *s->candidates);
    s->scores = gf_array((size_t)n * s->t, sizeof *s->scores);
    if (!s->far || !s->candidates || !s->scores) return gf_fail_memory(err, "seeds");
    for (uint32_t i = 0; i < n; i++)
        s->far[i] = 2;
    while (st == GF_OK && at < k && more) {
        st = add_seed(s, pool, random, cancel, centre + (size_t)at * d, &more, err);
        if (st == GF_OK && more) at++;
    }
    if (st == GF_OK) *found = at;
    return st;
}

gf_status gf_dense_seed(gf_pool *pool, const gf_dense_rows *rows, uint32_t k, gf_random *random,
                        const gf_cancel *cancel, float *centre, uint32_t *found, gf_error *err)
{
    seeding s = {.copy = NULL};
    gf_status st = take_sample(rows, k, random, &s, err);
    if (st == GF_OK) st = seed(&s, pool, k, random, cancel, centre, found, err);
    gf_free(s.copy);
    gf_free(s.far);
    gf_free(s.candidates);
    gf_free(s.scores);
    return st;
}
