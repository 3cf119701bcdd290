#include "cluster/mixture/likelihood.h"

#include "base/memory.h"

#include <math.h>

#define ALPHA 0.1
#define BETA  0.1

/* The words of a worker's cluster. */
typedef struct cluster_words {
    uint64_t *n;    /* V: occurrences, 0 between clusters */
    uint32_t *seen; /* those of them that are not 0, in the order of the rows */
    uint8_t *count; /* of a row */
} cluster_words;

typedef struct summing {
    const gf_refinement *refinement;
    const gf_csr *x;
    const uint32_t *start, *rows; /* by cluster, k + 1 and n */
    cluster_words *words;         /* by worker */
    double *sum;                  /* k */
} summing;

/* The logarithm of the gamma function, of a positive number: lgamma writes a global sign. */
static double log_gamma(double v)
{
    int sign;
    return lgamma_r(v, &sign);
}

static gf_status sum_task(void *context, size_t c, unsigned worker, gf_error *err)
{
    (void)err;
    const summing *s = context;
    const gf_refinement *r = s->refinement;
    cluster_words *w = &s->words[worker];
    uint64_t all = 0;
    uint32_t n_seen = 0, m = s->start[c + 1] - s->start[c];
    for (uint32_t at = s->start[c]; at < s->start[c + 1]; at++) {
        gf_row_view row = gf_csr_row(s->x, s->rows[at]);
        r->count(r->context, s->rows[at], row, w->count);
        for (uint32_t e = 0; e < row.n; e++) {
            uint32_t word = row.col[e];
            if (w->n[word] == 0) w->seen[n_seen++] = word;
            w->n[word] += w->count[e];
            all += w->count[e];
        }
    }
    double prior = BETA * s->x->n_cols, of_none = log_gamma(BETA);
    double sum = log_gamma(prior) - log_gamma((double)all + prior);
    for (uint32_t i = 0; i < n_seen; i++) {
        sum += log_gamma((double)w->n[w->seen[i]] + BETA) - of_none;
        w->n[w->seen[i]] = 0;
    }
    s->sum[c] = sum + log_gamma(m + ALPHA) - log_gamma(ALPHA);
    return GF_OK;
}

/* List the rows of each cluster, rising. start: k + 1 zeros. */
static void list_rows(const uint32_t *label, uint32_t n, uint32_t k, uint32_t *start,
                      uint32_t *rows)
{
    for (uint32_t i = 0; i < n; i++)
        start[label[i] + 1]++;
    for (uint32_t c = 0; c < k; c++)
        start[c + 1] += start[c];
    for (uint32_t i = 0; i < n; i++)
        rows[start[label[i]]++] = i;
    for (uint32_t c = k; c > 0; c--)
        start[c] = start[c - 1];
    start[0] = 0;
}

static gf_status make_words(cluster_words *words, unsigned workers, uint32_t n_words, gf_error *err)
{
    for (unsigned i = 0; i < workers; i++) {
        words[i] = (cluster_words){gf_calloc(n_words, sizeof *words->n),
                                   gf_array(n_words, sizeof *words->seen),
                                   gf_array(n_words, sizeof *words->count)};
        if (!words[i].n || !words[i].seen || !words[i].count)
            return gf_fail_memory(err, "word counts");
    }
    return GF_OK;
}

gf_status gf_mixture_likelihood(gf_pool *pool, const gf_refinement *refinement, const gf_csr *x,
                                const uint32_t *label, uint32_t k, const gf_cancel *cancel,
                                double *likelihood, gf_error *err)
{
    unsigned workers = gf_pool_size(pool);
    uint32_t *start = gf_calloc((size_t)k + 1, sizeof *start);
    uint32_t *rows = gf_array(x->n_rows, sizeof *rows);
    double *sum = gf_array(k, sizeof *sum);
    cluster_words *words = gf_calloc(workers, sizeof *words);
    summing s = {refinement, x, start, rows, words, sum};
    gf_status st = start && rows && sum && words ? GF_OK : gf_fail_memory(err, "word counts");
    if (st == GF_OK) st = make_words(words, workers, x->n_cols, err);
    if (st == GF_OK) {
        list_rows(label, x->n_rows, k, start, rows);
        st = gf_pool_run(pool, k, sum_task, &s, cancel, err);
    }
    if (st == GF_OK) {
        double all = log_gamma(ALPHA * k) - log_gamma(x->n_rows + ALPHA * k);
        for (uint32_t c = 0; c < k; c++)
            all += sum[c];
        *likelihood = all;
    }
    for (unsigned i = 0; words && i < workers; i++) {
        gf_free(words[i].n);
        gf_free(words[i].seen);
        gf_free(words[i].count);
    }
    gf_free(words);
    gf_free(start);
    gf_free(rows);
    gf_free(sum);
    return st;
}
