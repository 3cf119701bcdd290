/*
 * Adding b's clusters one by one, the matching stays the heaviest one among those added. A new
 * cluster u searches alternating paths
 *
 *     u - a1 = b1 - a2 = b2 - ...        - an edge that is not matched, = one that is
 *
 * whose gain is the sum of the edges gained less those given up; a path ends at a free cluster of
 * a, or with the last b left unmatched. Since the matching before was the heaviest, no cycle gains,
 * and the search ends. Weights are integers, so that rounding makes no gain out of nothing.
 */
#include "cluster/measure/match.h"

#include "base/grow.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

/* ---- overlaps -------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The documents in both, by their cluster of b: of each the cluster of a. start: k_b + 1. */
static void list_by_cluster(const uint32_t *a, const uint32_t *b, uint32_t n, gf_overlaps *o,
                            uint32_t *start, uint32_t *listed)
{
    for (uint32_t i = 0; i < n; i++) {
        if (a[i] == GF_UNMATCHED || b[i] == GF_UNMATCHED) continue;
        o->size_a[a[i]]++;
        o->size_b[b[i]]++;
    }
    start[0] = 0;
    for (uint32_t c = 0; c < o->k_b; c++)
        start[c + 1] = start[c] + o->size_b[c];
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != GF_UNMATCHED && b[i] != GF_UNMATCHED) listed[start[b[i]]++] = a[i];
    for (uint32_t c = o->k_b; c > 0; c--)
        start[c] = start[c - 1];
    start[0] = 0;
}

/* The overlaps of one cluster of b with those of a. shared: k_a zeros, and again so at the end. */
static gf_status count_shared(gf_overlaps *o, size_t *capacity, uint32_t b, uint32_t *listed,
                              uint32_t n, uint32_t *shared, gf_error *err)
{
    uint32_t met = 0;
    for (uint32_t i = 0; i < n; i++)
        if (shared[listed[i]]++ == 0) listed[met++] = listed[i];
    if (met) qsort(listed, met, sizeof *listed, by_number);
    if (!gf_grow(&o->at, capacity, o->n + met, sizeof *o->at))
        return gf_fail_memory(err, "overlaps");
    for (uint32_t i = 0; i < met; i++) {
        o->at[o->n++] = (gf_overlap){listed[i], b, shared[listed[i]]};
        shared[listed[i]] = 0;
    }
    return GF_OK;
}

gf_status gf_match_overlaps_count(const uint32_t *a, const uint32_t *b, uint32_t n, uint32_t k_a,
                                  uint32_t k_b, gf_overlaps *out, gf_error *err)
{
    gf_overlaps o = {.k_a = k_a, .k_b = k_b};
    size_t capacity = 0;
    o.size_a = gf_calloc(k_a, sizeof *o.size_a);
    o.size_b = gf_calloc(k_b, sizeof *o.size_b);
    uint32_t *shared = gf_calloc(k_a, sizeof *shared), *listed = gf_array(n, sizeof *listed);
    uint32_t *start = gf_array((size_t)k_b + 1, sizeof *start);
    bool ok = o.size_a && o.size_b && shared && listed && start;
    gf_status st = ok ? GF_OK : gf_fail_memory(err, "overlaps");
    if (st == GF_OK) list_by_cluster(a, b, n, &o, start, listed);
    for (uint32_t c = 0; c < k_b && st == GF_OK; c++)
        st =
            count_shared(&o, &capacity, c, listed + start[c], start[c + 1] - start[c], shared, err);
    gf_free(shared);
    gf_free(listed);
    gf_free(start);
    if (st == GF_OK)
        *out = o;
    else
        gf_match_overlaps_release(&o);
    return st;
}

void gf_match_overlaps_release(gf_overlaps *o)
{
    gf_free(o->size_a);
    gf_free(o->size_b);
    gf_free(o->at);
    *o = (gf_overlaps){0};
}

static uint64_t all_of(const gf_overlaps *o, const gf_overlap *p)
{
    return (uint64_t)o->size_a[p->a] + o->size_b[p->b] - p->shared;
}

double gf_match_jaccard(const gf_overlaps *o, const gf_overlap *pair)
{
    return (double)pair->shared / (double)all_of(o, pair);
}

/* ---- matching -------------------------------------------------------------------------------- */

enum { WEIGHT_BITS = 31 };

typedef struct way {
    uint32_t a;
    int64_t weight; /* Jaccard as a fixed-point number */
} way;

typedef struct matching {
    way *edges;
    size_t *start;     /* k_b + 1: edges of each b */
    size_t *matched;   /* k_b: its edge, or NONE */
    uint32_t *owner;   /* k_a: the b that has it, or GF_UNMATCHED */
    int64_t *gain;     /* k_b: of the best path that leaves it without a partner; LOST: none yet */
    uint32_t *before;  /* k_b: the b before it on that path */
    uint32_t *by;      /* k_b: the edge of that b by which it lost its partner */
    uint32_t *queue;   /* k_b + 1: ring of those to look at */
    bool *queued;      /* k_b */
    uint32_t *reached; /* k_b: those with a gain, n_reached */
    uint32_t n_reached;
} matching;

#define NONE SIZE_MAX
#define LOST INT64_MIN

static void release(matching *m)
{
    gf_free(m->edges);
    gf_free(m->start);
    gf_free(m->matched);
    gf_free(m->owner);
    gf_free(m->gain);
    gf_free(m->before);
    gf_free(m->by);
    gf_free(m->queue);
    gf_free(m->queued);
    gf_free(m->reached);
}

static bool allocate(matching *m, const gf_overlaps *o)
{
    size_t k = o->k_b ? o->k_b : 1;
    m->edges = gf_array(o->n ? o->n : 1, sizeof *m->edges);
    m->start = gf_calloc(k + 1, sizeof *m->start);
    m->matched = gf_array(k, sizeof *m->matched);
    m->owner = gf_array(o->k_a ? o->k_a : 1, sizeof *m->owner);
    m->gain = gf_array(k, sizeof *m->gain);
    m->before = gf_array(k, sizeof *m->before);
    m->by = gf_array(k, sizeof *m->by);
    m->queue = gf_array(k + 1, sizeof *m->queue);
    m->queued = gf_calloc(k, sizeof *m->queued);
    m->reached = gf_array(k, sizeof *m->reached);
    return m->edges && m->start && m->matched && m->owner && m->gain && m->before && m->by &&
           m->queue && m->queued && m->reached;
}

/* Overlaps come by b, so edges do. */
static void take_edges(matching *m, const gf_overlaps *o, double least)
{
    size_t n = 0;
    uint32_t b = 0;
    for (size_t i = 0; i < o->n; i++) {
        const gf_overlap *p = &o->at[i];
        while (b < p->b)
            m->start[++b] = n;
        if (gf_match_jaccard(o, p) < least) continue;
        m->edges[n++] = (way){p->a, (int64_t)(((uint64_t)p->shared << WEIGHT_BITS) / all_of(o, p))};
    }
    while (b < o->k_b)
        m->start[++b] = n;
    for (uint32_t i = 0; i < o->k_b; i++) {
        m->matched[i] = NONE;
        m->gain[i] = LOST;
    }
    for (uint32_t i = 0; i < o->k_a; i++)
        m->owner[i] = GF_UNMATCHED;
}

/* The end of the best path found so far: at b, by an edge to a free cluster, or by none. */
typedef struct ending {
    int64_t gain;
    uint32_t b;
    size_t edge;
} ending;

static void reach(matching *m, uint32_t b, int64_t gain, uint32_t before, size_t by, uint32_t *tail,
                  uint32_t k)
{
    if (m->gain[b] == LOST) m->reached[m->n_reached++] = b;
    m->gain[b] = gain;
    m->before[b] = before;
    m->by[b] = (uint32_t)(by == NONE ? 0 : by - m->start[before]);
    if (m->queued[b]) return;
    m->queued[b] = true;
    m->queue[*tail] = b;
    *tail = (*tail + 1) % (k + 1);
}

/* b has lost its partner: try all its other edges. */
static void look_from(matching *m, uint32_t b, uint32_t k, uint32_t *tail, ending *best)
{
    if (m->gain[b] > best->gain) *best = (ending){m->gain[b], b, NONE};
    for (size_t e = m->start[b]; e < m->start[b + 1]; e++) {
        if (e == m->matched[b]) continue;
        int64_t gain = m->gain[b] + m->edges[e].weight;
        uint32_t other = m->owner[m->edges[e].a];
        if (other == GF_UNMATCHED) {
            if (gain > best->gain) *best = (ending){gain, b, e};
            continue;
        }
        gain -= m->edges[m->matched[other]].weight;
        if (gain > m->gain[other]) reach(m, other, gain, b, e, tail, k);
    }
}

/* Give each b on the path the edge by which it goes on. */
static void apply(matching *m, uint32_t from, const ending *end)
{
    size_t edge = end->edge;
    for (uint32_t b = end->b;;) {
        size_t taken_by_before = b == from ? NONE : m->start[m->before[b]] + m->by[b];
        m->matched[b] = edge;
        if (edge != NONE) m->owner[m->edges[edge].a] = b;
        if (b == from) return;
        edge = taken_by_before;
        b = m->before[b];
    }
}

static void add(matching *m, uint32_t u, uint32_t k)
{
    uint32_t head = 0, tail = 0;
    ending best = {0, u, NONE};
    m->n_reached = 0;
    reach(m, u, 0, u, NONE, &tail, k);
    do {
        uint32_t b = m->queue[head];
        head = (head + 1) % (k + 1);
        m->queued[b] = false;
        look_from(m, b, k, &tail, &best);
    } while (head != tail);
    apply(m, u, &best);
    for (uint32_t i = 0; i < m->n_reached; i++)
        m->gain[m->reached[i]] = LOST;
}

gf_status gf_match_clusters(const gf_overlaps *o, double least, uint32_t *match, gf_error *err)
{
    matching m = {0};
    bool ok = allocate(&m, o);
    if (ok) {
        take_edges(&m, o, least);
        for (uint32_t b = 0; b < o->k_b; b++)
            add(&m, b, o->k_b);
        for (uint32_t b = 0; b < o->k_b; b++)
            match[b] = m.matched[b] == NONE ? GF_UNMATCHED : m.edges[m.matched[b]].a;
    }
    release(&m);
    return ok ? GF_OK : gf_fail_memory(err, "a matching");
}
