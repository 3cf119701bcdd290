#include "cluster/passes/points.h"

#include "base/grid.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TASK = 4096 }; /* rows */

/* ---- checks ---------------------------------------------------------------------------------- */

static gf_status check_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)worker;
    const gf_csr *x = context;
    uint32_t i = (uint32_t)task * TASK, end = x->n_rows - i < TASK ? x->n_rows : i + TASK;
    for (; i < end; i++) {
        gf_row_view row = gf_csr_row(x, i);
        double squares = 0;
        bool on_grid = true;
        for (uint32_t p = 0; p < row.n; p++) {
            squares += (double)row.val[p] * (double)row.val[p];
            on_grid &= gf_grid_has(row.val[p]);
        }
        if (!on_grid)
            return gf_fail(err, GF_EINVAL,
                           "row %" PRIu32 " has values that are no multiples of 2^-24", i);
        if (row.n && !(squares > 0.998 && squares < 1.002))
            return gf_fail(err, GF_EINVAL, "row %" PRIu32 " has the squared length %g, not 1", i,
                           squares);
    }
    return GF_OK;
}

static size_t count_tasks(uint32_t n)
{
    return ((size_t)n + TASK - 1) / TASK;
}

gf_status gf_points_check(gf_pool *pool, const gf_csr *x, gf_error *err)
{
    gf_status st = gf_csr_check(x, err);
    if (st != GF_OK) return st;
    return gf_pool_run(pool, count_tasks(x->n_rows), check_task, (void *)x /* only read */, NULL,
                       err);
}

/* ---- parts ----------------------------------------------------------------------------------- */

void gf_points_sample(uint32_t n, uint32_t m, gf_random *random, uint32_t *rows)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; taken < m; i++)
        if (gf_random_below(random, n - i) < m - taken) rows[taken++] = i;
}

typedef struct gathering {
    const gf_points *points;
    const uint32_t *rows;
    gf_csr *x;
    float *weight;
} gathering;

static gf_status gather_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const gathering *g = context;
    uint32_t r = (uint32_t)task * TASK, end = g->x->n_rows - r < TASK ? g->x->n_rows : r + TASK;
    for (; r < end; r++) {
        gf_row_view row = gf_csr_row(g->points->x, g->rows[r]);
        uint64_t at = g->x->start[r];
        if (row.n) memcpy(g->x->col + at, row.col, row.n * sizeof *row.col);
        if (row.n) memcpy(g->x->val + at, row.val, row.n * sizeof *row.val);
        if (g->weight) g->weight[r] = g->points->weight[g->rows[r]];
    }
    return GF_OK;
}

gf_status gf_points_gather(gf_pool *pool, const gf_points *points, const uint32_t *rows, uint32_t m,
                           gf_csr *x, float **weight, gf_error *err)
{
    const gf_csr *from = points->x;
    uint64_t nnz = 0;
    for (uint32_t r = 0; r < m; r++)
        nnz += gf_csr_row(from, rows[r]).n;
    float *w = points->weight ? gf_array(m, sizeof *w) : NULL;
    if (points->weight && !w) return gf_fail_memory(err, "a sample");
    gf_csr s;
    gf_status st = gf_csr_init(&s, m, from->n_cols, nnz, err);
    if (st != GF_OK) {
        gf_free(w);
        return st;
    }
    for (uint32_t r = 0; r < m; r++)
        s.start[r + 1] = s.start[r] + gf_csr_row(from, rows[r]).n;
    gathering g = {points, rows, &s, w};
    (void)gf_pool_run(pool, count_tasks(m), gather_task, &g, NULL, NULL); /* cannot fail */
    *x = s;
    *weight = w;
    return GF_OK;
}

/* ---- packing columns ------------------------------------------------------------------------- */

gf_status gf_points_pack_columns(gf_csr *x, uint32_t **term, gf_error *err)
{
    uint32_t *number = gf_calloc(x->n_cols, sizeof *number), n = 0;
    if (!number) return gf_fail_memory(err, "a sample");
    for (uint64_t p = 0; p < gf_csr_nnz(x); p++)
        number[x->col[p]] = 1;
    for (uint32_t t = 0; t < x->n_cols; t++)
        n += number[t];
    uint32_t *terms = gf_array(n, sizeof *terms);
    if (!terms) {
        gf_free(number);
        return gf_fail_memory(err, "a sample");
    }
    n = 0;
    for (uint32_t t = 0; t < x->n_cols; t++) {
        if (!number[t]) continue;
        terms[n] = t;
        number[t] = n++;
    }
    for (uint64_t p = 0; p < gf_csr_nnz(x); p++)
        x->col[p] = number[x->col[p]];
    x->n_cols = n;
    gf_free(number);
    *term = terms;
    return GF_OK;
}

/* ---- joining columns ------------------------------------------------------------------------- */

#define LONE UINT32_MAX

/* column[t] becomes the number of t among the columns of several rows, or LONE; returns those. */
static uint32_t number_shared(const gf_csr *x, uint32_t *column)
{
    uint32_t n = 0;
    for (uint64_t p = 0; p < gf_csr_nnz(x); p++)
        column[x->col[p]]++;
    for (uint32_t t = 0; t < x->n_cols; t++)
        column[t] = column[t] > 1 ? n++ : LONE;
    return n;
}

gf_status gf_points_join_lone_columns(const gf_csr *x, gf_csr *out, gf_error *err)
{
    gf_csr y;
    uint32_t *column = gf_calloc(x->n_cols, sizeof *column);
    if (!column) return gf_fail_memory(err, "rows to cluster");
    uint32_t n = number_shared(x, column);
    gf_status st = gf_csr_init(&y, x->n_rows, x->n_cols, gf_csr_nnz(x), err);
    for (uint32_t i = 0; st == GF_OK && i < x->n_rows; i++) {
        gf_row_view row = gf_csr_row(x, i);
        uint64_t at = y.start[i];
        double squares = 0;
        for (uint32_t p = 0; p < row.n; p++) {
            uint32_t c = column[row.col[p]];
            if (c == LONE) {
                squares += (double)row.val[p] * (double)row.val[p];
                continue;
            }
            y.col[at] = c;
            y.val[at++] = row.val[p];
        }
        if (squares > 0) {
            y.col[at] = n++;
            y.val[at++] = gf_grid_round(sqrt(squares));
        }
        y.start[i + 1] = at;
    }
    gf_free(column);
    if (st != GF_OK) return st;
    y.n_cols = n;
    *out = y;
    return GF_OK;
}
