#include "cluster/mixture/refinement.h"

#include "base/grid.h"
#include "base/memory.h"

#include <math.h>

enum {
    TASK = 1024, /* rows */
    SWEEPS = 10,
    FEWER_SWEEPS = 5,
    FEW_BLOCKS = 10,     /* up to so many blocks there are 10 sweeps */
    DOCUMENTS_A_WORD = 3 /* a cluster's documents for each different word of one */
};

/* ---- rows weighed anew ---------------------------------------------------------------------------- */

typedef struct weighing {
    const gf_csr *x;
    const float *factor;
    float *val;
} weighing;

static gf_status weigh_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const weighing *s = context;
    const gf_csr *x = s->x;
    uint32_t i = (uint32_t)index * TASK, end = x->n_rows - i < TASK ? x->n_rows : i + TASK;
    for (; i < end; i++) {
        double squares = 0;
        for (uint64_t e = x->start[i]; e < x->start[i + 1]; e++) {
            double v = (double)x->val[e] * (double)s->factor[x->col[e]];
            squares += v * v;
        }
        double scale = squares > 0 ? 1 / sqrt(squares) : 0;
        for (uint64_t e = x->start[i]; e < x->start[i + 1]; e++)
            s->val[e] = gf_grid_round((double)x->val[e] * (double)s->factor[x->col[e]] * scale);
    }
    return GF_OK;
}

gf_status gf_refinement_weigh(gf_pool *pool, const gf_csr *x, const float *factor,
                              const gf_cancel *cancel, gf_csr *out, gf_error *err)
{
    weighing s = {x, factor, gf_array_large(gf_csr_nnz(x), sizeof *s.val)};
    if (!s.val) return gf_fail_memory(err, "rows");
    gf_status st =
        gf_pool_run(pool, ((size_t)x->n_rows + TASK - 1) / TASK, weigh_task, &s, cancel, err);
    if (st == GF_OK)
        *out = (gf_csr){x->n_rows, x->n_cols, x->start, x->col, s.val};
    else
        gf_free(s.val);
    return st;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

bool gf_refinement_pays(uint64_t n, uint64_t entries, uint32_t k)
{
    return (double)n * (double)n >= (double)DOCUMENTS_A_WORD * (double)k * (double)entries;
}

gf_mixture_options gf_refinement_options(const gf_refinement *r, uint32_t n, uint32_t k,
                                         const gf_cancel *cancel)
{
    bool prior = k <= GF_MIXTURE_PRIOR_CLUSTERS, few = n <= FEW_BLOCKS * GF_MIXTURE_BLOCK;
    return (gf_mixture_options){.k = k,
                                .alpha = prior ? 0.1 : 0,
                                .beta = prior ? 0.1 : 0.05,
                                .settled = few ? 20 : 10,
                                .sweeps = r->sweeps ? r->sweeps
                                          : few     ? SWEEPS
                                                    : FEWER_SWEEPS,
                                .cancel = cancel};
}

/* The counts of all points, for they are looked at again and again. */
typedef struct counting {
    const gf_refinement *refinement;
    const gf_points *points;
    const uint32_t *row; /* points: the first row of each */
    uint8_t *count;      /* entries of the points */
} counting;

static gf_status count_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const counting *c = context;
    const gf_refinement *r = c->refinement;
    const gf_csr *x = c->points->x;
    uint32_t i = (uint32_t)index * TASK, end = x->n_rows - i < TASK ? x->n_rows : i + TASK;
    for (; i < end; i++)
        r->count(r->context, c->row[i], gf_csr_row(x, i), c->count + x->start[i]);
    return GF_OK;
}

static gf_status read_points(void *context, uint32_t first, uint32_t n, gf_mixture_block *block,
                             gf_error *err)
{
    (void)n, (void)err;
    const counting *c = context;
    const gf_points *p = c->points;
    *block = (gf_mixture_block){p->x->start + first, p->x->col, c->count,
                                p->weight ? p->weight + first : NULL};
    return GF_OK;
}

gf_status gf_refinement_sweep(gf_pool *pool, const gf_refinement *refinement,
                              const gf_points *points, const gf_fold *fold, uint32_t n_rows,
                              uint32_t k, const gf_cancel *cancel, uint32_t *label, gf_error *err)
{
    uint32_t n = gf_points_n(points);
    uint32_t *row = gf_array(n, sizeof *row);
    counting c = {refinement, points, row, gf_array(gf_csr_nnz(points->x), sizeof *c.count)};
    gf_status st = row && c.count ? GF_OK : gf_fail_memory(err, "word counts");
    for (uint32_t i = n_rows; st == GF_OK && i > 0; i--)
        if (fold->point_of[i - 1] != GF_NO_POINT) row[fold->point_of[i - 1]] = i - 1;
    if (st == GF_OK)
        st = gf_pool_run(pool, ((size_t)n + TASK - 1) / TASK, count_task, &c, cancel, err);
    gf_mixture_documents documents = {n, points->x->n_cols, read_points, &c};
    gf_mixture_options options = gf_refinement_options(refinement, n, k, cancel);
    if (st == GF_OK) st = gf_mixture_run(pool, &documents, &options, label, err);
    gf_free(row);
    gf_free(c.count);
    return st;
}

/* ---- rows in a file -------------------------------------------------------------------------- */

typedef struct file_counting {
    gf_pool *pool;
    const gf_refinement *refinement;
    const gf_row_file *rows;
    const gf_cancel *cancel;
    uint32_t first; /* row of the file that is the block's first */
    gf_csr x;       /* the block */
    uint8_t *count; /* its entries */
} file_counting;

static gf_status count_file_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const file_counting *c = context;
    const gf_refinement *r = c->refinement;
    uint32_t i = (uint32_t)index * TASK, n = c->x.n_rows, end = n - i < TASK ? n : i + TASK;
    for (; i < end; i++)
        r->count(r->context, c->first + i, gf_csr_row(&c->x, i), c->count + c->x.start[i]);
    return GF_OK;
}

static gf_status read_file(void *context, uint32_t first, uint32_t n, gf_mixture_block *block,
                           gf_error *err)
{
    file_counting *c = context;
    gf_csr_release(&c->x);
    gf_free(c->count);
    c->count = NULL;
    c->first = first;
    gf_status st = gf_row_file_read(c->rows, first, n, &c->x, err);
    if (st != GF_OK) return st;
    c->count = gf_array(gf_csr_nnz(&c->x), sizeof *c->count);
    if (!c->count) return gf_fail_memory(err, "word counts");
    st = gf_pool_run(c->pool, ((size_t)n + TASK - 1) / TASK, count_file_task, c, c->cancel, err);
    *block = (gf_mixture_block){c->x.start, c->x.col, c->count, NULL};
    return st;
}

gf_status gf_refinement_sweep_file(gf_pool *pool, const gf_refinement *refinement,
                                   const gf_row_file *rows, uint32_t k, const gf_cancel *cancel,
                                   uint32_t *label, gf_error *err)
{
    file_counting c = {.pool = pool, .refinement = refinement, .rows = rows, .cancel = cancel};
    gf_mixture_documents documents = {rows->n_rows, rows->n_cols, read_file, &c};
    gf_mixture_options options = gf_refinement_options(refinement, rows->n_rows, k, cancel);
    gf_status st = gf_mixture_run(pool, &documents, &options, label, err);
    gf_csr_release(&c.x);
    gf_free(c.count);
    return st;
}
