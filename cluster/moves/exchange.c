#include "cluster/moves/exchange.h"

#include "base/memory.h"
#include "cluster/moves/polish.h"
#include "cluster/moves/splitter.h"
#include "cluster/passes/sort_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE = 12 /* of the clusters one in so many is exchanged at first */ };

/* Two clusters that may be joined, or one that may be cut (b is a). */
typedef struct offer {
    uint32_t a, b;
    double worth; /* the gain; below 0 a loss */
} offer;

/* One thread's scratch memory, made when it is first needed. */
typedef struct scratch {
    gf_splitter *splitter;
    float *centre; /* n_terms; zero between tasks */
} scratch;

typedef struct exchange {
    gf_passes *s;
    gf_partition *p;
    gf_partition before; /* the round */
    uint64_t seed;
    unsigned round;
    uint32_t *start, *rows; /* k + 1, n: rows by cluster */
    gf_split *splits;       /* k: of each cluster, in a round */
    offer *cuts, *joins;    /* k, by falling worth; each join is with a cluster behind the first */
    uint32_t *to;           /* k: where a cluster's rows, or those of its second half, go */
    bool *used;             /* k: takes part in an exchange */
    scratch *workers;
} exchange;

/* ---- what could be done ---------------------------------------------------------------------- */

static gf_status cut_task(void *context, size_t j, unsigned worker, gf_error *err)
{
    exchange *x = context;
    const gf_points *points = gf_passes_points(x->s);
    gf_splitter **splitter = &x->workers[worker].splitter;
    gf_random random = gf_random_seed(x->seed, (uint64_t)x->round << 32 | j);
    uint32_t n = x->start[j + 1] - x->start[j];
    x->cuts[j] = (offer){(uint32_t)j, (uint32_t)j, -INFINITY};
    if (n < 2) return GF_OK;
    gf_status st = *splitter ? GF_OK : gf_splitter_create(points->x->n_cols, splitter, err);
    if (st == GF_OK)
        st = gf_split_rows(*splitter, points, x->rows + x->start[j], n, x->p->centres.at[j].length,
                           &random, gf_passes_cancel(x->s), &x->splits[j], err);
    if (st == GF_OK) x->cuts[j].worth = x->splits[j].gain;
    return st;
}

/* Length of the sum of two sums whose centres have that cosine, less both lengths. */
static double worth_of_joining(const gf_centre *a, const gf_centre *b, double cosine)
{
    double m = a->length, n = b->length;
    return sqrt(m * m + n * n + 2 * m * n * cosine) - m - n;
}

static gf_status join_task(void *context, size_t j, unsigned worker, gf_error *err)
{
    exchange *x = context;
    const gf_centre *at = x->p->centres.at, *a = &at[j];
    float **dense = &x->workers[worker].centre;
    if (!*dense) *dense = gf_calloc(gf_passes_points(x->s)->x->n_cols, sizeof **dense);
    if (!*dense) return gf_fail_memory(err, "exchanging clusters");
    for (uint32_t i = 0; i < a->n; i++)
        (*dense)[a->term[i]] = a->value[i];
    offer best = {(uint32_t)j, (uint32_t)j, -INFINITY};
    for (uint32_t b = (uint32_t)j + 1; b < x->p->k; b++) {
        double cosine = 0;
        for (uint32_t i = 0; i < at[b].n; i++)
            cosine += (double)(*dense)[at[b].term[i]] * (double)at[b].value[i];
        double worth = worth_of_joining(a, &at[b], cosine);
        if (worth > best.worth) best = (offer){(uint32_t)j, b, worth};
    }
    for (uint32_t i = 0; i < a->n; i++)
        (*dense)[a->term[i]] = 0;
    x->joins[j] = best;
    return GF_OK;
}

static int by_falling_worth(const void *one, const void *other)
{
    const offer *a = one, *b = other;
    if (a->worth != b->worth) return a->worth > b->worth ? -1 : 1;
    return a->a < b->a ? -1 : a->a > b->a;
}

/* After a round without a change, reuse its list of joins. */
static gf_status look(exchange *x, bool changed, gf_error *err)
{
    const gf_partition *p = x->p;
    gf_pool *pool = gf_passes_pool(x->s);
    const gf_cancel *cancel = gf_passes_cancel(x->s);
    gf_status st = gf_sort_rows(pool, p->label, p->n, p->k, x->start, x->rows, err);
    if (st == GF_OK) st = gf_pool_run(pool, p->k, cut_task, x, cancel, err);
    if (st == GF_OK && changed) st = gf_pool_run(pool, p->k, join_task, x, cancel, err);
    if (st != GF_OK) return st;
    qsort(x->cuts, p->k, sizeof *x->cuts, by_falling_worth);
    if (changed) qsort(x->joins, p->k, sizeof *x->joins, by_falling_worth);
    return GF_OK;
}

/* Up to `most` exchanges, the best joins with the best cuts, of clusters that are all different. */
static uint32_t choose(exchange *x, uint32_t most)
{
    uint32_t k = x->p->k, n = 0, c = 0;
    memset(x->used, 0, k * sizeof *x->used);
    for (uint32_t j = 0; j < k; j++)
        x->to[j] = j;
    for (uint32_t i = 0; i < k && n < most; i++) {
        uint32_t a = x->joins[i].a, b = x->joins[i].b;
        if (a == b || x->used[a] || x->used[b]) continue;
        x->used[a] = x->used[b] = true;
        while (c < k && x->used[x->cuts[c].a])
            c++;
        if (c == k || x->cuts[c].worth <= 0) break;
        x->used[x->cuts[c].a] = true;
        x->to[b] = a;
        x->to[x->cuts[c].a] = b;
        n++;
    }
    return n;
}

/* ---- a round --------------------------------------------------------------------------------- */

/* The last drift goes into `other`: an update follows, and no assignment in between. */
static void fold_drift(gf_partition *p)
{
    double most = 0;
    for (uint32_t j = 0; j < p->k; j++)
        most = fmax(most, p->centres.at[j].drift);
    for (uint32_t i = 0; i < p->n; i++)
        p->other[i] += (float)most;
}

static gf_status save(exchange *x, gf_error *err)
{
    const gf_partition *p = x->p;
    gf_partition *b = &x->before;
    gf_centres_release(&b->centres);
    memcpy(b->label, p->label, p->n * sizeof *p->label);
    memcpy(b->own, p->own, p->n * sizeof *p->own);
    memcpy(b->other, p->other, p->n * sizeof *p->other);
    return gf_centres_copy(&p->centres, &b->centres, err);
}

static gf_status restore(exchange *x, gf_error *err)
{
    bool *changed = gf_passes_changed(x->s);
    gf_partition tried = *x->p;
    *x->p = x->before;
    x->before = tried;
    for (uint32_t i = 0; i < tried.n; i++)
        if (tried.label[i] != x->p->label[i])
            changed[tried.label[i]] = changed[x->p->label[i]] = true;
    return gf_passes_update(x->s, x->p, err);
}

/* A joined cluster's rows go all, a cut one's where they are of its second half. */
static void relabel(exchange *x)
{
    gf_partition *p = x->p;
    bool *changed = gf_passes_changed(x->s);
    for (uint32_t j = 0; j < p->k; j++) {
        if (x->to[j] == j) continue;
        bool cut = x->to[x->to[j]] != x->to[j]; /* into the place of one that is joined */
        const uint32_t *rows = x->rows + x->start[j];
        changed[j] = changed[x->to[j]] = true;
        for (uint32_t i = 0; i < x->start[j + 1] - x->start[j]; i++) {
            if (cut && !x->splits[j].second[i]) continue;
            if (p->own[rows[i]] > p->other[rows[i]]) p->other[rows[i]] = p->own[rows[i]];
            p->label[rows[i]] = x->to[j];
        }
    }
}

/*
 * *n: exchanges, up to as many; *better: they raised the objective, else nothing has changed, and
 * the same of the round before.
 */
static gf_status make_round(exchange *x, const gf_exchange_limits *limits, uint32_t *n,
                            bool *better, gf_error *err)
{
    unsigned rounds;
    double objective = gf_centres_objective(&x->p->centres);
    gf_status st = look(x, *better, err);
    *better = false;
    *n = st == GF_OK ? choose(x, *n) : 0;
    if (*n) {
        fold_drift(x->p);
        st = save(x, err);
        relabel(x);
        if (st == GF_OK) st = gf_passes_update(x->s, x->p, err);
        if (st == GF_OK)
            st = gf_polish(x->s, x->p, limits->tolerance, limits->polish_rounds, &rounds, err);
        *better = gf_centres_objective(&x->p->centres) > objective;
        if (st == GF_OK && !*better) st = restore(x, err);
    }
    for (uint32_t j = 0; j < x->p->k; j++)
        gf_split_release(&x->splits[j]);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static gf_status init(exchange *x, gf_error *err)
{
    uint32_t n = x->p->n, k = x->p->k;
    x->start = gf_array((size_t)k + 1, sizeof *x->start);
    x->rows = gf_array(n, sizeof *x->rows);
    x->splits = gf_calloc(k, sizeof *x->splits);
    x->cuts = gf_array(k, sizeof *x->cuts);
    x->joins = gf_array(k, sizeof *x->joins);
    x->to = gf_array(k, sizeof *x->to);
    x->used = gf_array(k, sizeof *x->used);
    x->workers = gf_calloc(gf_pool_size(gf_passes_pool(x->s)), sizeof *x->workers);
    if (!x->start || !x->rows || !x->splits || !x->cuts || !x->joins || !x->to || !x->used ||
        !x->workers)
        return gf_fail_memory(err, "exchanging clusters");
    return gf_partition_init(&x->before, n, k, gf_passes_points(x->s)->x->n_cols, err);
}

static void release(exchange *x)
{
    for (unsigned w = 0; x->workers && w < gf_pool_size(gf_passes_pool(x->s)); w++) {
        gf_splitter_free(x->workers[w].splitter);
        gf_free(x->workers[w].centre);
    }
    gf_partition_release(&x->before);
    gf_free(x->start);
    gf_free(x->rows);
    gf_free(x->splits);
    gf_free(x->cuts);
    gf_free(x->joins);
    gf_free(x->to);
    gf_free(x->used);
    gf_free(x->workers);
}

gf_status gf_exchange(gf_passes *s, gf_partition *p, const gf_exchange_limits *limits,
                      uint64_t seed, unsigned *made, gf_error *err)
{
    exchange x = {.s = s, .p = p, .seed = seed};
    uint32_t n = p->k < SHARE ? 1 : p->k / SHARE;
    bool better = true;
    *made = 0;
    gf_status st = init(&x, err);
    for (; st == GF_OK && n && x.round < limits->rounds; x.round++) {
        st = make_round(&x, limits, &n, &better, err);
        *made += better;
        if (!better) n /= 2;
    }
    release(&x);
    return st;
}
