/*
 * First variation over dense rows: a row moves to another cluster where that raises the objective,
 * which the assignment to the nearest centre does not see (the centres move along).
 *
 *     gain of row x from cluster a to b:  |S_b + x| - |S_b|  -  (|S_a| - |S_a - x|)
 *     |S_b + x|^2 = |S_b|^2 + 2 |S_b| cos(x, S_b) + 1
 *
 * A round proposes for each row its best move against the sums as they are, in parallel; then
 * applies the moves in the order of the rows, each with its gain worked out anew.
 */
#include "cluster/dense/internal.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { STAYS = UINT32_MAX };

/* Gains below it are noise of single precision; exact ones must be above the second. */
#define LEAST_PROPOSED 1e-6
#define LEAST_GAIN     1e-9

typedef struct polishing {
    gf_dense_work *work;
    gf_dense_partition *p;
    double *sum;      /* k * d */
    double *squares;  /* k: squared lengths of the sums */
    uint32_t *size;   /* k */
    uint32_t *target; /* n: where a row would go, or STAYS */
} polishing;

static double length_of(double squares)
{
    return squares > 0 ? sqrt(squares) : 0;
}

static void begin_round(polishing *q)
{
    const gf_dense_partition *p = q->p;
    const gf_dense_rows *rows = &q->work->rows;
    uint32_t d = rows->d;
    memset(q->size, 0, p->k * sizeof *q->size);
    memset(q->sum, 0, (size_t)p->k * d * sizeof *q->sum);
    for (uint32_t i = 0; i < rows->n; i++) {
        const float *x = gf_dense_row(rows, i);
        double *sum = q->sum + (size_t)p->label[i] * d;
        q->size[p->label[i]]++;
        for (uint32_t t = 0; t < d; t++)
            sum[t] += (double)x[t];
    }
    for (uint32_t c = 0; c < p->k; c++)
        q->squares[c] = p->length[c] * p->length[c];
}

static uint32_t best_move(const polishing *q, uint32_t a, const float *scores)
{
    const gf_dense_partition *p = q->p;
    uint32_t best = STAYS;
    double la = p->length[a], left = length_of(q->squares[a] - 2 * la * (double)scores[a] + 1);
    double most = la - left + LEAST_PROPOSED;
    for (uint32_t b = 0; b < p->k; b++) {
        if (b == a) continue;
        double lb = p->length[b];
        double gain = length_of(q->squares[b] + 2 * lb * (double)scores[b] + 1) - lb;
        if (gain <= most) continue;
        most = gain;
        best = b;
    }
    return best;
}

static gf_status propose_block(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)err;
    polishing *q = context;
    gf_dense_work *w = q->work;
    uint32_t from = (uint32_t)index * w->block, left = w->rows.n - from;
    uint32_t n = left < w->block ? left : w->block;
    float *scores = w->scores + (size_t)worker * w->block * w->k;
    gf_dense_score(&w->rows, from, n, q->p->centre, q->p->k, scores);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = q->p->label[from + i];
        q->target[from + i] =
            q->size[a] > 1 ? best_move(q, a, scores + (size_t)i * q->p->k) : STAYS;
    }
    return GF_OK;
}

static double dot(const double *sum, const float *x, uint32_t d)
{
    double s = 0;
    for (uint32_t t = 0; t < d; t++)
        s += sum[t] * (double)x[t];
    return s;
}

/* Move row i to b if that still raises the objective. */
static bool apply(polishing *q, uint32_t i, uint32_t b)
{
    uint32_t a = q->p->label[i], d = q->work->rows.d;
    const float *x = gf_dense_row(&q->work->rows, i);
    double *from = q->sum + (size_t)a * d, *to = q->sum + (size_t)b * d;
    if (q->size[a] < 2) return false;
    double less = q->squares[a] - 2 * dot(from, x, d) + 1;
    double more = q->squares[b] + 2 * dot(to, x, d) + 1;
    double gain =
        length_of(more) - length_of(q->squares[b]) + length_of(less) - length_of(q->squares[a]);
    if (gain <= LEAST_GAIN) return false;
    for (uint32_t t = 0; t < d; t++) {
        from[t] -= (double)x[t];
        to[t] += (double)x[t];
    }
    q->squares[a] = less;
    q->squares[b] = more;
    q->size[a]--;
    q->size[b]++;
    q->p->label[i] = b;
    return true;
}

static gf_status make_round(polishing *q, uint64_t *moved, gf_error *err)
{
    gf_dense_work *w = q->work;
    size_t blocks = ((size_t)w->rows.n + w->block - 1) / w->block;
    begin_round(q);
    gf_status st = gf_pool_run(w->pool, blocks, propose_block, q, w->cancel, err);
    if (st != GF_OK) return st;
    *moved = 0;
    for (uint32_t i = 0; i < w->rows.n; i++)
        if (q->target[i] != STAYS) *moved += apply(q, i, q->target[i]);
    return gf_dense_update(w, q->p, err);
}

gf_status gf_dense_polish(gf_dense_work *w, gf_dense_partition *p, double tolerance,
                          unsigned max_rounds, unsigned *rounds, gf_error *err)
{
    polishing q = {.work = w, .p = p};
    uint64_t moved = UINT64_MAX;
    q.sum = gf_array((size_t)p->k * w->rows.d, sizeof *q.sum);
    q.squares = gf_array(p->k, sizeof *q.squares);
    q.size = gf_array(p->k, sizeof *q.size);
    q.target = gf_array(w->rows.n, sizeof *q.target);
    bool ok = q.sum && q.squares && q.size && q.target;
    gf_status st = ok ? GF_OK : gf_fail_memory(err, "polishing");
    *rounds = 0;
    while (st == GF_OK && *rounds < max_rounds && (double)moved > tolerance * (double)w->rows.n) {
        st = make_round(&q, &moved, err);
        ++*rounds;
    }
    gf_free(q.sum);
    gf_free(q.squares);
    gf_free(q.size);
    gf_free(q.target);
    return st;
}
