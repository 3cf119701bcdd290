#include "cluster/moves/seed.h"

#include "base/memory.h"
#include "cluster/moves/constants.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    SAMPLE_PER_CLUSTER = 25,
    SMALLEST_SAMPLE = 12000,
    GREEDY_CLUSTERS = 2000,
    MOST_CANDIDATES = 12, /* 2 + ln of so many clusters is less */
    PARALLEL_ROWS = 4096  /* of fewer a candidate is compared before a thread is awake */
};

/* The sample, and what is known of it while seeds are chosen. */
typedef struct seeding {
    gf_points sample;
    gf_csr by_term; /* the sample transposed */
    float *nearest; /* per row: largest similarity to a seed */
    float *similar; /* of each candidate, per row: similarity to it */
    bool *taken;    /* per row: is a seed */
    gf_pool *pool;
    gf_random *random;
    uint32_t n, candidates;
    uint32_t candidate[MOST_CANDIDATES];
    double left[MOST_CANDIDATES]; /* how far rows would be with that candidate as a seed */
} seeding;

/* similar[i] = <row i, row c>, for all i, by the columns of c's terms. */
static void compare_all(const seeding *s, uint32_t c, float *similar)
{
    gf_row_view row = gf_csr_row(s->sample.x, c);
    memset(similar, 0, s->n * sizeof *similar);
    for (uint32_t p = 0; p < row.n; p++) {
        gf_row_view column = gf_csr_row(&s->by_term, row.col[p]);
        for (uint32_t q = 0; q < column.n; q++)
            similar[column.col[q]] += row.val[p] * column.val[q];
    }
}

/* How far rows are from their nearest seed; `similar` (may be NULL) stands for one seed more. */
static double potential(const seeding *s, const float *similar)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        float near = similar && similar[i] > s->nearest[i] ? similar[i] : s->nearest[i];
        sum += (double)gf_points_weight(&s->sample, i) * (GF_SEED_ALPHA - (double)near);
    }
    return sum;
}

static bool is_candidate(const seeding *s, uint32_t i)
{
    return !s->taken[i] && s->nearest[i] < (float)GF_SEED_TOO_NEAR;
}

/* A candidate by weight * (alpha - nearest), where there are any; `total` is their sum of that. */
static uint32_t draw(const seeding *s, double total)
{
    double at = gf_random_unit(s->random) * total;
    uint32_t last = 0;
    while (s->taken[last])
        last++;
    for (uint32_t i = 0; i < s->n; i++) {
        if (!is_candidate(s, i)) continue;
        last = i;
        at -= (double)gf_points_weight(&s->sample, i) * (GF_SEED_ALPHA - (double)s->nearest[i]);
        if (at < 0) break;
    }
    return last;
}

static gf_status compare_task(void *context, size_t c, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    seeding *s = context;
    float *similar = s->similar + c * s->n;
    compare_all(s, s->candidate[c], similar);
    s->left[c] = s->candidates > 1 ? potential(s, similar) : 0;
    return GF_OK;
}

/* Compare all rows with the candidates for the next seed; *best becomes the best candidate's
 * number.
 */
static gf_status choose(seeding *s, uint32_t *best, gf_error *err)
{
    double total = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (is_candidate(s, i))
            total +=
                (double)gf_points_weight(&s->sample, i) * (GF_SEED_ALPHA - (double)s->nearest[i]);
    for (uint32_t c = 0; c < s->candidates; c++)
        s->candidate[c] = draw(s, total);
    gf_status st = gf_pool_run(s->pool, s->candidates, compare_task, s, NULL, err);
    *best = 0;
    for (uint32_t c = 1; c < s->candidates; c++)
        if (s->left[c] < s->left[*best]) *best = c;
    return st;
}

static gf_status choose_all(seeding *s, gf_centres *centres, const gf_cancel *cancel, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t j = 0; j < centres->k && st == GF_OK; j++) {
        uint32_t best;
        st = choose(s, &best, err);
        if (st != GF_OK) break;
        const float *similar = s->similar + (size_t)best * s->n;
        for (uint32_t i = 0; i < s->n; i++)
            if (similar[i] > s->nearest[i]) s->nearest[i] = similar[i];
        uint32_t row = s->candidate[best];
        s->taken[row] = true;
        st = gf_centres_set_row(centres, j, gf_csr_row(s->sample.x, row), err);
        if (st == GF_OK) st = gf_cancel_check(cancel, err);
    }
    return st;
}

static uint32_t sample_size(uint32_t n, uint32_t k)
{
    uint64_t wanted = (uint64_t)SAMPLE_PER_CLUSTER * k;
    if (wanted < SMALLEST_SAMPLE) wanted = SMALLEST_SAMPLE;
    return wanted < n ? (uint32_t)wanted : n;
}

static uint32_t candidates_for(uint32_t n, uint32_t k)
{
    if (n / k >= GF_SEED_GREEDY_BELOW || k > GREEDY_CLUSTERS) return 1;
    return 2 + (uint32_t)log(k);
}

gf_status gf_seed_centres(gf_pool *pool, const gf_points *points, gf_random *random,
                          gf_centres *centres, const gf_cancel *cancel, gf_error *err)
{
    uint32_t n = gf_points_n(points), k = centres->k, m = sample_size(n, k);
    if (k == 0 || n < k)
        return gf_fail(err, GF_EINVAL, "%" PRIu32 " clusters of %" PRIu32 " rows", k, n);
    seeding s = {.pool = m < PARALLEL_ROWS ? NULL : pool,
                 .random = random,
                 .n = m,
                 .candidates = candidates_for(n, k)};
    gf_csr sample = {0};
    float *weight = NULL;
    uint32_t *rows = gf_array(m, sizeof *rows);
    s.nearest = gf_calloc(m, sizeof *s.nearest);
    s.taken = gf_calloc(m, sizeof *s.taken);
    s.similar = gf_array((size_t)m * s.candidates, sizeof *s.similar);
    bool ok = rows && s.nearest && s.similar && s.taken;
    gf_status st = ok ? GF_OK : gf_fail_memory(err, "seeds");
    if (st == GF_OK) {
        gf_points_sample(n, m, random, rows);
        st = gf_points_gather(pool, points, rows, m, &sample, &weight, err);
    }
    s.sample = (gf_points){&sample, weight};
    if (st == GF_OK) st = gf_csr_transpose(&sample, &s.by_term, err);
    if (st == GF_OK) st = choose_all(&s, centres, cancel, err);
    gf_csr_release(&sample);
    gf_csr_release(&s.by_term);
    gf_free(weight);
    gf_free(rows);
    gf_free(s.nearest);
    gf_free(s.similar);
    gf_free(s.taken);
    return st;
}
