#include "bench/zipf.h"

#include "base/grid.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

enum {
    TOPICS_A_FIELD = 64,
    FIELD_TERMS = 4000, /* of a field's vocabulary */
    TOPIC_TERMS = 300,
    COUNTED = 200000, /* rows that weights are counted over */
    ROWS_PER_TASK = 4096
};

#define COMMON 0.45 /* shares of the draws */
#define FIELD  0.25

typedef struct drawn_row {
    uint32_t n;
    uint32_t term[GF_ZIPF_LONGEST * 2];  /* n, rising */
    uint32_t times[GF_ZIPF_LONGEST * 2]; /* n: how often it was drawn */
} drawn_row;

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Rank 0..n-1 with a weight of about 1 / (rank + 1). */
static uint32_t draw_rank(gf_random *random, uint32_t n)
{
    uint32_t rank = (uint32_t)(exp(gf_random_unit(random) * log((double)n + 1)) - 1);
    return rank < n ? rank : n - 1;
}

/* The term of a rank in a vocabulary of its own: those of fields and topics are drawn out of all. */
static uint32_t term_of(const gf_zipf *z, uint64_t vocabulary, uint32_t rank)
{
    return (uint32_t)(mix(z->seed ^ mix(vocabulary) ^ mix((uint64_t)rank << 32)) % z->n_terms);
}

static uint32_t draw_term(const gf_zipf *z, gf_random *random, uint32_t topic)
{
    double of = gf_random_unit(random);
    if (of < COMMON) return draw_rank(random, z->n_terms);
    if (of < COMMON + FIELD)
        return term_of(z, 2 * (uint64_t)(topic / TOPICS_A_FIELD) + 1,
                       draw_rank(random, FIELD_TERMS));
    return term_of(z, 2 * (uint64_t)topic + 2, draw_rank(random, TOPIC_TERMS));
}

static void draw_row(const gf_zipf *z, uint32_t i, drawn_row *row)
{
    gf_random random = gf_random_seed(z->seed, i);
    double u = gf_random_unit(&random);
    uint32_t topic = (uint32_t)(u * u * z->n_topics);
    uint32_t draws = z->length / 2 + (uint32_t)gf_random_below(&random, (uint64_t)z->length + 1);
    row->n = 0;
    for (uint32_t d = 0; d < (draws ? draws : 1); d++) {
        uint32_t t = draw_term(z, &random, topic), at = row->n;
        while (at && row->term[at - 1] > t)
            at--;
        if (at && row->term[at - 1] == t) {
            row->times[at - 1]++;
            continue;
        }
        memmove(row->term + at + 1, row->term + at, (row->n - at) * sizeof *row->term);
        memmove(row->times + at + 1, row->times + at, (row->n - at) * sizeof *row->times);
        row->term[at] = t;
        row->times[at] = 1;
        row->n++;
    }
}

/* ---- weights --------------------------------------------------------------------------------- */

static gf_status count_rows(gf_zipf *z, gf_error *err)
{
    uint32_t n = z->n_rows < COUNTED ? z->n_rows : COUNTED;
    drawn_row row;
    z->idf = gf_calloc(z->n_terms, sizeof *z->idf);
    if (!z->idf) return gf_fail_memory(err, "made rows");
    for (uint32_t i = 0; i < n; i++) {
        draw_row(z, (uint32_t)((uint64_t)i * z->n_rows / n), &row);
        for (uint32_t p = 0; p < row.n; p++)
            z->idf[row.term[p]]++;
    }
    for (uint32_t t = 0; t < z->n_terms; t++)
        z->idf[t] = (float)log(((double)n + 1) / ((double)z->idf[t] + 0.5));
    return GF_OK;
}

gf_status gf_zipf_init(gf_zipf *z, uint32_t n_rows, uint32_t n_terms, uint32_t n_topics,
                       uint32_t length, uint64_t seed, gf_error *err)
{
    if (n_rows == 0 || n_terms == 0 || n_topics == 0 || length == 0 || length > GF_ZIPF_LONGEST)
        return gf_fail(err, GF_EINVAL, "rows, terms and topics from 1, and up to %d terms a row",
                       GF_ZIPF_LONGEST);
    gf_zipf made = {n_rows, n_terms, n_topics, length, seed, NULL};
    gf_status st = count_rows(&made, err);
    if (st == GF_OK) *z = made;
    return st;
}

void gf_zipf_release(gf_zipf *z)
{
    gf_free(z->idf);
    *z = (gf_zipf){0};
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct making {
    const gf_zipf *z;
    uint32_t first, n;
    gf_csr *x;
    bool fills; /* else rows are counted: start[i + 1] becomes the entries of row i */
} making;

static void fill_row(const gf_zipf *z, const drawn_row *row, uint32_t *col, float *val)
{
    double squares = 0;
    for (uint32_t p = 0; p < row->n; p++) {
        double v = (1 + log(row->times[p])) * (double)z->idf[row->term[p]];
        if (!(v > 0.01)) v = 0.01;
        col[p] = row->term[p];
        val[p] = (float)v;
        squares += v * v;
    }
    for (uint32_t p = 0; p < row->n; p++)
        val[p] = gf_grid_round((double)val[p] / sqrt(squares));
}

static gf_status make_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const making *m = context;
    uint32_t from = (uint32_t)task * ROWS_PER_TASK;
    uint32_t to = m->n - from < ROWS_PER_TASK ? m->n : from + ROWS_PER_TASK;
    drawn_row row;
    for (uint32_t i = from; i < to; i++) {
        draw_row(m->z, m->first + i, &row);
        if (m->fills)
            fill_row(m->z, &row, m->x->col + m->x->start[i], m->x->val + m->x->start[i]);
        else
            m->x->start[i + 1] = row.n;
    }
    return GF_OK;
}

gf_status gf_zipf_rows(const gf_zipf *z, uint32_t first, uint32_t n, gf_pool *pool, gf_csr *x,
                       gf_error *err)
{
    size_t tasks = ((size_t)n + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    gf_csr y = {n, z->n_terms, gf_array((size_t)n + 1, sizeof *y.start), NULL, NULL};
    if (!y.start) return gf_fail_memory(err, "made rows");
    making m = {z, first, n, &y, false};
    y.start[0] = 0;
    gf_status st = gf_pool_run(pool, tasks, make_task, &m, NULL, err);
    for (uint32_t i = 0; st == GF_OK && i < n; i++)
        y.start[i + 1] += y.start[i];
    if (st == GF_OK) {
        y.col = gf_array(y.start[n], sizeof *y.col);
        y.val = gf_array(y.start[n], sizeof *y.val);
        if (!y.col || !y.val) st = gf_fail_memory(err, "made rows");
    }
    m.fills = true;
    if (st == GF_OK) st = gf_pool_run(pool, tasks, make_task, &m, NULL, err);
    if (st == GF_OK)
        *x = y;
    else
        gf_csr_release(&y);
    return st;
}
