/* Exact passes over dense rows. */
#include "cluster/dense/internal.h"

#include "base/memory.h"
#include "cluster/passes/centres.h"

#include <math.h>
#include <string.h>

enum {
    MOST_SCORES = 1 << 18, /* of a block: a megabyte, which a core's L2 holds */
    MOST_BLOCK = 1024,
    LEAST_BLOCK = 16
};

gf_status gf_dense_partition_init(gf_dense_partition *p, const gf_dense_rows *rows, uint32_t k,
                                  gf_error *err)
{
    gf_dense_partition q = {.k = k};
    q.centre = gf_array(k, (size_t)rows->d * sizeof *q.centre);
    q.length = gf_calloc(k, sizeof *q.length);
    q.label = gf_calloc(rows->n, sizeof *q.label);
    q.runner_up = gf_calloc(rows->n, sizeof *q.runner_up);
    q.own = gf_calloc(rows->n, sizeof *q.own);
    q.other = gf_calloc(rows->n, sizeof *q.other);
    if (q.centre && q.length && q.label && q.runner_up && q.own && q.other) {
        *p = q;
        return GF_OK;
    }
    gf_dense_partition_release(&q);
    return gf_fail_memory(err, "clusters");
}

void gf_dense_partition_release(gf_dense_partition *p)
{
    gf_free(p->centre);
    gf_free(p->length);
    gf_free(p->label);
    gf_free(p->runner_up);
    gf_free(p->own);
    gf_free(p->other);
    *p = (gf_dense_partition){0};
}

double gf_dense_objective(const gf_dense_partition *p)
{
    double sum = 0;
    for (uint32_t c = 0; c < p->k; c++)
        sum += p->length[c];
    return sum;
}

/* ---- scratch memory -------------------------------------------------------------------------- */

static uint32_t n_blocks(const gf_dense_work *w)
{
    return (uint32_t)(((uint64_t)w->rows.n + w->block - 1) / w->block);
}

gf_status gf_dense_work_init(gf_dense_work *w, gf_pool *pool, const gf_dense_rows *rows, uint32_t k,
                             const gf_cancel *cancel, gf_error *err)
{
    gf_dense_work v = {.pool = pool, .cancel = cancel, .rows = *rows, .k = k};
    size_t workers = gf_pool_size(pool);
    uint32_t block = MOST_SCORES / k;
    v.block = block > MOST_BLOCK ? MOST_BLOCK : block < LEAST_BLOCK ? LEAST_BLOCK : block;
    v.scores = gf_array(workers * v.block, (size_t)k * sizeof *v.scores);
    v.sums = gf_array(workers, (size_t)rows->d * sizeof *v.sums);
    v.start = gf_array((size_t)k + 1, sizeof *v.start);
    v.members = gf_array(rows->n, sizeof *v.members);
    v.moved = gf_calloc(n_blocks(&v), sizeof *v.moved);
    if (v.scores && v.sums && v.start && v.members && v.moved) {
        *w = v;
        return GF_OK;
    }
    gf_dense_work_release(&v);
    return gf_fail_memory(err, "clusters");
}

void gf_dense_work_release(gf_dense_work *w)
{
    gf_free(w->scores);
    gf_free(w->sums);
    gf_free(w->start);
    gf_free(w->members);
    gf_free(w->moved);
    *w = (gf_dense_work){0};
}

/* ---- assignment ------------------------------------------------------------------------------ */

void gf_dense_score(const gf_dense_rows *rows, uint32_t first, uint32_t n, const float *centre,
                    uint32_t k, float *scores)
{
    rows->products(gf_dense_row(rows, first), n, centre, k, rows->d, scores);
}

static void find_best_two(const float *scores, uint32_t k, uint32_t *first, uint32_t *second)
{
    uint32_t a = 0, b = k > 1 ? 1 : 0;
    if (scores[b] > scores[a]) a = 1, b = 0;
    for (uint32_t c = 2; c < k; c++) {
        if (scores[c] > scores[a]) {
            b = a;
            a = c;
        } else if (scores[c] > scores[b]) {
            b = c;
        }
    }
    *first = a;
    *second = b;
}

typedef struct assigning {
    gf_dense_work *work;
    gf_dense_partition *p;
} assigning;

static gf_status assign_block(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)err;
    assigning *a = context;
    gf_dense_work *w = a->work;
    gf_dense_partition *p = a->p;
    uint32_t from = (uint32_t)index * w->block, left = w->rows.n - from, moved = 0;
    uint32_t n = left < w->block ? left : w->block;
    float *scores = w->scores + (size_t)worker * w->block * w->k;
    gf_dense_score(&w->rows, from, n, p->centre, p->k, scores);
    for (uint32_t i = 0; i < n; i++) {
        const float *s = scores + (size_t)i * p->k;
        uint32_t best, second;
        find_best_two(s, p->k, &best, &second);
        moved += p->label[from + i] != best;
        p->label[from + i] = best;
        p->runner_up[from + i] = second;
        p->own[from + i] = s[best];
        p->other[from + i] = s[second];
    }
    w->moved[index] = moved;
    return GF_OK;
}

gf_status gf_dense_assign(gf_dense_work *w, gf_dense_partition *p, uint64_t *moved, gf_error *err)
{
    assigning a = {w, p};
    uint64_t sum = 0;
    gf_status st = gf_pool_run(w->pool, n_blocks(w), assign_block, &a, w->cancel, err);
    for (uint32_t b = 0; st == GF_OK && b < n_blocks(w); b++)
        sum += w->moved[b];
    if (st == GF_OK) *moved = sum;
    return st;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* The row that fits its cluster worst, of clusters that have more than one; n where there is none.
 */
static uint32_t find_worst(const gf_dense_work *w, const gf_dense_partition *p)
{
    uint32_t worst = w->rows.n;
    for (uint32_t i = 0; i < w->rows.n; i++) {
        uint32_t c = p->label[i];
        if (w->start[c + 1] - w->start[c] < 2) continue;
        if (worst == w->rows.n || p->own[i] < p->own[worst]) worst = i;
    }
    return worst;
}

/* Each cluster without rows takes the one that fits worst; the members are then sorted again. */
static void fill_empty(gf_dense_work *w, gf_dense_partition *p)
{
    for (uint32_t c = 0; c < p->k; c++) {
        if (w->start[c + 1] > w->start[c]) continue;
        uint32_t i = find_worst(w, p);
        if (i == w->rows.n) return;
        p->label[i] = c;
        p->own[i] = 1; /* it is the whole of its cluster, so it is not taken again */
        gf_centres_sort_rows(p->label, w->rows.n, p->k, w->start, w->members);
    }
}

static gf_status sum_cluster(void *context, size_t c, unsigned worker, gf_error *err)
{
    (void)err;
    assigning *a = context;
    gf_dense_work *w = a->work;
    uint32_t d = w->rows.d;
    double *sum = w->sums + (size_t)worker * d, squares = 0;
    if (w->start[c + 1] == w->start[c]) { /* fewer rows than clusters: its centre stays */
        a->p->length[c] = 0;
        return GF_OK;
    }
    memset(sum, 0, d * sizeof *sum);
    for (uint32_t r = w->start[c]; r < w->start[c + 1]; r++) {
        const float *x = gf_dense_row(&w->rows, w->members[r]);
        for (uint32_t t = 0; t < d; t++)
            sum[t] += (double)x[t];
    }
    for (uint32_t t = 0; t < d; t++)
        squares += sum[t] * sum[t];
    double length = sqrt(squares);
    float *centre = a->p->centre + c * d;
    a->p->length[c] = length;
    if (length > 1e-9)
        for (uint32_t t = 0; t < d; t++)
            centre[t] = (float)(sum[t] / length);
    else /* rows that cancel out have no direction in common: any of theirs is as good */
        memcpy(centre, gf_dense_row(&w->rows, w->members[w->start[c]]), d * sizeof *centre);
    return GF_OK;
}

gf_status gf_dense_update(gf_dense_work *w, gf_dense_partition *p, gf_error *err)
{
    assigning a = {w, p};
    gf_centres_sort_rows(p->label, w->rows.n, p->k, w->start, w->members);
    fill_empty(w, p);
    return gf_pool_run(w->pool, p->k, sum_cluster, &a, w->cancel, err);
}

gf_status gf_dense_passes(gf_dense_work *w, gf_dense_partition *p, double tolerance,
                          unsigned max_passes, unsigned *passes, bool *converged, gf_error *err)
{
    gf_status st = GF_OK;
    uint64_t moved = 0;
    *converged = false;
    for (*passes = 0; st == GF_OK && *passes < max_passes && !*converged; ++*passes) {
        st = gf_dense_assign(w, p, &moved, err);
        if (st == GF_OK) st = gf_dense_update(w, p, err);
        /* All labels are new in the first pass, whatever they were before. */
        *converged = *passes > 0 && (double)moved <= tolerance * (double)w->rows.n;
    }
    return st;
}
