#include "cluster/moves/groups.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { STRONGEST = 24 /* terms of a centre */ };

struct gf_groups_memory {
    gf_csr strong;     /* k: the strongest terms of each centre */
    gf_csr by_term;    /* transposed */
    float *similarity; /* k: to the cluster at hand; zero between two */
    uint32_t *near;    /* k: clusters whose similarity is not zero */
    uint32_t *order;   /* k */
    bool *grouped;     /* k */
};

void gf_groups_release(gf_groups *g)
{
    gf_free(g->start);
    gf_free(g->member);
    if (g->memory) {
        gf_csr_release(&g->memory->strong);
        gf_csr_release(&g->memory->by_term);
        gf_free(g->memory->similarity);
        gf_free(g->memory->near);
        gf_free(g->memory->order);
        gf_free(g->memory->grouped);
        gf_free(g->memory);
    }
    *g = (gf_groups){0};
}

/* ---- heaps ----------------------------------------------------------------------------------- */

/* The items that have the highest values so far, the lowest of them on top. */
typedef struct top {
    uint32_t item[GF_GROUP];
    float value[GF_GROUP];
    uint32_t n, most;
} top;

static bool is_lower(const top *t, uint32_t a, uint32_t b)
{
    if (t->value[a] != t->value[b]) return t->value[a] < t->value[b];
    return t->item[a] > t->item[b];
}

static void swap_items(top *t, uint32_t a, uint32_t b)
{
    uint32_t item = t->item[a];
    float value = t->value[a];
    t->item[a] = t->item[b];
    t->value[a] = t->value[b];
    t->item[b] = item;
    t->value[b] = value;
}

static void rise(top *t, uint32_t at)
{
    for (; at && is_lower(t, at, (at - 1) / 2); at = (at - 1) / 2)
        swap_items(t, at, (at - 1) / 2);
}

static void sink(top *t)
{
    for (uint32_t at = 0, child = 1; child < t->n; at = child, child = 2 * at + 1) {
        if (child + 1 < t->n && is_lower(t, child + 1, child)) child++;
        if (!is_lower(t, child, at)) return;
        swap_items(t, at, child);
    }
}

static void offer(top *t, uint32_t item, float value)
{
    if (t->n < t->most) {
        t->item[t->n] = item;
        t->value[t->n] = value;
        rise(t, t->n++);
    } else if (value > t->value[0] || (value == t->value[0] && item < t->item[0])) {
        t->item[0] = item;
        t->value[0] = value;
        sink(t);
    }
}

/* ---- the strongest terms --------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Append the strongest entries of a centre as row j. */
static void take_strongest(gf_csr *strong, uint32_t j, const gf_centre *c)
{
    top t = {.most = STRONGEST};
    for (uint32_t p = 0; p < c->n; p++)
        offer(&t, p, c->value[p]);
    qsort(t.item, t.n, sizeof *t.item, by_number);
    uint64_t at = strong->start[j];
    for (uint32_t i = 0; i < t.n; i++) {
        strong->col[at + i] = c->term[t.item[i]];
        strong->val[at + i] = c->value[t.item[i]];
    }
    strong->start[j + 1] = at + t.n;
}

static gf_status allocate(gf_groups *g, gf_error *err)
{
    uint32_t k = g->k;
    g->start = gf_array((size_t)k + 1, sizeof *g->start);
    g->member = gf_array(k, sizeof *g->member);
    struct gf_groups_memory *m = g->memory = gf_calloc(1, sizeof *m);
    if (m) {
        m->similarity = gf_calloc(k, sizeof *m->similarity);
        m->near = gf_array(k, sizeof *m->near);
        m->order = gf_array(k, sizeof *m->order);
        m->grouped = gf_calloc(k, sizeof *m->grouped);
    }
    bool ok = g->start && g->member && m && m->similarity && m->near && m->order && m->grouped;
    return ok ? GF_OK : gf_fail_memory(err, "groups of clusters");
}

gf_status gf_groups_init(gf_groups *groups, const gf_centres *centres, gf_error *err)
{
    gf_groups g = {.k = centres->k};
    gf_status st = allocate(&g, err);
    if (st == GF_OK)
        st = gf_csr_init(&g.memory->strong, g.k, centres->n_terms, (uint64_t)g.k * STRONGEST, err);
    for (uint32_t j = 0; st == GF_OK && j < g.k; j++)
        take_strongest(&g.memory->strong, j, &centres->at[j]);
    if (st == GF_OK) st = gf_csr_transpose(&g.memory->strong, &g.memory->by_term, err);
    if (st == GF_OK)
        *groups = g;
    else
        gf_groups_release(&g);
    return st;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void shuffle(uint32_t *order, uint32_t k, gf_random *random)
{
    for (uint32_t j = 0; j < k; j++) {
        uint32_t i = (uint32_t)gf_random_below(random, (uint64_t)j + 1);
        order[j] = order[i];
        order[i] = j;
    }
}

/* The clusters most similar to j that are in no group. */
static void find_near(struct gf_groups_memory *m, uint32_t j, top *t)
{
    gf_row_view row = gf_csr_row(&m->strong, j);
    uint32_t n = 0;
    for (uint32_t p = 0; p < row.n; p++) {
        gf_row_view column = gf_csr_row(&m->by_term, row.col[p]);
        for (uint32_t q = 0; q < column.n; q++) {
            uint32_t other = column.col[q];
            if (m->grouped[other]) continue;
            if (m->similarity[other] == 0) m->near[n++] = other;
            m->similarity[other] += row.val[p] * column.val[q];
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (m->near[i] != j) offer(t, m->near[i], m->similarity[m->near[i]]);
        m->similarity[m->near[i]] = 0;
    }
}

/* The last group becomes part of the one before, where the two are no more than fit into one. */
static void merge_last(gf_groups *g, uint32_t taken)
{
    if (g->n > 1 && taken - g->start[g->n - 2] <= GF_GROUP) g->n--;
}

void gf_groups_draw(gf_groups *g, gf_random *random)
{
    struct gf_groups_memory *m = g->memory;
    uint32_t taken = 0;
    memset(m->grouped, 0, g->k * sizeof *m->grouped);
    shuffle(m->order, g->k, random);
    g->n = 0;
    for (uint32_t i = 0; i < g->k; i++) {
        uint32_t j = m->order[i];
        if (m->grouped[j]) continue;
        top t = {.most = GF_GROUP - 1};
        find_near(m, j, &t);
        g->start[g->n++] = taken;
        g->member[taken++] = j;
        m->grouped[j] = true;
        for (uint32_t r = 0; r < t.n; r++) {
            g->member[taken++] = t.item[r];
            m->grouped[t.item[r]] = true;
        }
        merge_last(g, taken);
    }
    g->start[g->n] = taken;
}
