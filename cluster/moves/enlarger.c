#include "cluster/moves/enlarger.h"

#include "base/memory.h"
#include "cluster/moves/splitter.h"
#include "cluster/passes/sort_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gf_enlarger {
    gf_pool *pool;
    gf_splitter **splitters; /* per worker */
    uint64_t seed;
    uint32_t generation; /* steps so far: numbers the streams of random numbers */
};

/* A cluster, or half of a piece. */
typedef struct piece {
    uint32_t from, n; /* its rows: rows[from] .. rows[from + n - 1], rising */
    uint32_t cluster; /* of a half once the whole is cut */
    uint32_t halves;  /* the first of two pieces, or 0 */
    double length;    /* of its sum */
    double gain;      /* of its split, at most that of the piece that it is half of */
    gf_split split;   /* n 0 where it cannot be split */
} piece;

/* A step. */
typedef struct enlarging {
    gf_enlarger *e;
    const gf_points *points;
    const gf_cancel *cancel;
    gf_partition *p;
    bool *changed;
    uint32_t *rows;             /* of all pieces */
    piece *pieces;              /* n: the clusters, then halves */
    uint32_t *order;            /* n_order of n: pieces that can be split, by falling gain */
    uint32_t n, n_order, first; /* first: the piece that a run of the pool begins with */
} enlarging;

gf_status gf_enlarger_create(gf_pool *pool, uint32_t n_terms, uint64_t seed, gf_enlarger **enlarger,
                             gf_error *err)
{
    gf_enlarger *e = gf_calloc(1, sizeof *e);
    if (!e) return gf_fail_memory(err, "growing clusters");
    unsigned workers = gf_pool_size(pool);
    *e = (gf_enlarger){.pool = pool, .seed = seed};
    e->splitters = gf_calloc(workers, sizeof *e->splitters);
    gf_status st = e->splitters ? GF_OK : gf_fail_memory(err, "growing clusters");
    for (unsigned w = 0; st == GF_OK && w < workers; w++)
        st = gf_splitter_create(n_terms, &e->splitters[w], err);
    if (st != GF_OK) {
        gf_enlarger_free(e);
        return st;
    }
    *enlarger = e;
    return GF_OK;
}

void gf_enlarger_free(gf_enlarger *e)
{
    if (!e) return;
    for (unsigned w = 0; e->splitters && w < gf_pool_size(e->pool); w++)
        gf_splitter_free(e->splitters[w]);
    gf_free(e->splitters);
    gf_free(e);
}

/* ---- what cuts would gain -------------------------------------------------------------------- */

static gf_status split_task(void *context, size_t i, unsigned worker, gf_error *err)
{
    enlarging *g = context;
    uint32_t number = g->first + (uint32_t)i;
    piece *q = &g->pieces[number];
    if (q->n < 2) return GF_OK;
    gf_random random = gf_random_seed(g->e->seed, (uint64_t)g->e->generation << 32 | number);
    return gf_split_rows(g->e->splitters[worker], g->points, g->rows + q->from, q->n, q->length,
                         &random, g->cancel, &q->split, err);
}

static int by_gain(const void *a, const void *b, void *context)
{
    const piece *pieces = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (pieces[x].gain > pieces[y].gain) return -1;
    if (pieces[x].gain < pieces[y].gain) return 1;
    return x < y ? -1 : x > y;
}

/* Split the pieces from `first` on, and put them in order with those before. */
static gf_status split_pieces(enlarging *g, uint32_t first, gf_error *err)
{
    g->first = first;
    gf_status st = gf_pool_run(g->e->pool, g->n - first, split_task, g, g->cancel, err);
    if (st != GF_OK) return st;
    for (uint32_t i = first; i < g->n; i++) {
        piece *q = &g->pieces[i];
        if (q->split.n == 0) continue;
        if (q->split.gain < q->gain) q->gain = q->split.gain;
        g->order[g->n_order++] = i;
    }
    qsort_r(g->order, g->n_order, sizeof *g->order, by_gain, g->pieces);
    return GF_OK;
}

/* The rows of the first half first, each in their order. */
static gf_status sort_halves(enlarging *g, const piece *q, uint32_t *n_first, gf_error *err)
{
    uint32_t *second = gf_array(q->n, sizeof *second), *rows = g->rows + q->from, first = 0, n = 0;
    if (!second) return gf_fail_memory(err, "growing clusters");
    for (uint32_t i = 0; i < q->n; i++) {
        if (q->split.second[i])
            second[n++] = rows[i];
        else
            rows[first++] = rows[i];
    }
    memcpy(rows + first, second, n * sizeof *rows);
    gf_free(second);
    *n_first = first;
    return GF_OK;
}

/* Two pieces more: the halves of piece i. */
static gf_status add_halves(enlarging *g, uint32_t i, gf_error *err)
{
    piece *q = &g->pieces[i];
    uint32_t first = 0;
    gf_status st = sort_halves(g, q, &first, err);
    if (st != GF_OK) return st;
    q->halves = g->n;
    g->pieces[g->n++] =
        (piece){.from = q->from, .n = first, .length = q->split.length[0], .gain = q->gain};
    g->pieces[g->n++] = (piece){
        .from = q->from + first, .n = q->n - first, .length = q->split.length[1], .gain = q->gain};
    return GF_OK;
}

/* Split every cluster, and the halves of those that gain most where only some are to be cut. */
static gf_status split_all(enlarging *g, uint32_t cuts, gf_error *err)
{
    gf_status st = split_pieces(g, 0, err);
    if (cuts < 2 || cuts >= g->n_order) return st;
    for (uint32_t i = 0; st == GF_OK && i < cuts; i++)
        st = add_halves(g, g->order[i], err);
    return st == GF_OK ? split_pieces(g, g->p->k, err) : st;
}

/* ---- cutting --------------------------------------------------------------------------------- */

/* p has room for more clusters. */
static gf_status widen(gf_partition *p, uint32_t k, gf_error *err)
{
    gf_partition q;
    gf_status st = gf_partition_init(&q, p->n, k, p->centres.n_terms, err);
    if (st != GF_OK) return st;
    memcpy(q.label, p->label, p->n * sizeof *q.label);
    memcpy(q.own, p->own, p->n * sizeof *q.own);
    for (uint32_t j = 0; j < p->k; j++) {
        gf_centre held = q.centres.at[j];
        q.centres.at[j] = p->centres.at[j];
        p->centres.at[j] = held;
    }
    gf_partition_release(p);
    *p = q;
    return GF_OK;
}

/* Cut piece i, a cluster, in two: the second half becomes cluster `to`. */
static gf_status cut(enlarging *g, uint32_t i, uint32_t to, gf_error *err)
{
    uint32_t from = g->pieces[i].cluster;
    gf_centre *at = g->p->centres.at;
    gf_status st = g->pieces[i].halves ? GF_OK : add_halves(g, i, err);
    if (st == GF_OK) st = gf_centres_set_row(&g->p->centres, to, gf_centre_row(&at[from]), err);
    if (st != GF_OK) return st;
    piece *half = &g->pieces[g->pieces[i].halves];
    half[0].cluster = from;
    half[1].cluster = to;
    g->changed[from] = g->changed[to] = true;
    for (uint32_t r = 0; r < half[1].n; r++)
        g->p->label[g->rows[half[1].from + r]] = to;
    return GF_OK;
}

/* No piece comes before the one that it is half of: it gains no more, and its number is higher. */
static gf_status cut_first(enlarging *g, uint32_t cuts, gf_error *err)
{
    uint32_t k = g->p->k;
    gf_status st = widen(g->p, k + cuts, err);
    for (uint32_t i = 0; st == GF_OK && i < cuts; i++)
        st = cut(g, g->order[i], k + i, err);
    return st;
}

/* The clusters of p as pieces, and room for the halves of twice as many as are to be cut. */
static gf_status init(enlarging *g, uint32_t cuts, gf_error *err)
{
    const gf_partition *p = g->p;
    size_t most = p->k + 4 * (size_t)cuts;
    uint32_t *start = gf_array((size_t)p->k + 1, sizeof *start);
    g->rows = gf_array(p->n, sizeof *g->rows);
    g->pieces = gf_array(most, sizeof *g->pieces);
    g->order = gf_array(most, sizeof *g->order);
    if (!start || !g->rows || !g->pieces || !g->order) {
        gf_free(start);
        return gf_fail_memory(err, "growing clusters");
    }
    gf_status st = gf_sort_rows(g->e->pool, p->label, p->n, p->k, start, g->rows, err);
    for (uint32_t j = 0; st == GF_OK && j < p->k; j++)
        g->pieces[g->n++] = (piece){.from = start[j],
                                    .n = start[j + 1] - start[j],
                                    .cluster = j,
                                    .length = p->centres.at[j].length,
                                    .gain = INFINITY};
    gf_free(start);
    return st;
}

static void release(enlarging *g)
{
    for (uint32_t i = 0; i < g->n; i++)
        gf_split_release(&g->pieces[i].split);
    gf_free(g->pieces);
    gf_free(g->order);
    gf_free(g->rows);
}

gf_status gf_enlarge(gf_enlarger *e, const gf_points *points, gf_partition *p, uint32_t k,
                     bool *changed, const gf_cancel *cancel, gf_error *err)
{
    enlarging g = {.e = e, .points = points, .cancel = cancel, .p = p, .changed = changed};
    uint32_t cuts = k - p->k;
    gf_status st = init(&g, cuts, err);
    if (st == GF_OK) st = split_all(&g, cuts, err);
    if (st == GF_OK) st = cut_first(&g, cuts < g.n_order ? cuts : g.n_order, err);
    release(&g);
    e->generation++;
    return st;
}
