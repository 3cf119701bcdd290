#include "cluster/label/tree.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

typedef struct entry {
    uint32_t row;
    float value;
} entry;

typedef struct merge {
    uint32_t slots[2]; /* any leaf of either side; the lower becomes the slot of both */
    uint32_t number;   /* in the order in which it was found */
    float cost;
    double height;
} merge;

typedef struct building {
    const gf_row_view *rows;
    const double *given; /* weights */
    uint32_t k, n_cols;
    uint64_t *start; /* n_cols + 2: entries of each column; the last is for counting */
    entry *entries;  /* by column, then by row */
    double *length;  /* k */
    float *cost;    /* k * k: of joining two slots; only those of active ones are kept up to date */
    double *weight; /* k: of each slot */
    double *square; /* k: squared length of the mean of each slot */
    uint32_t *active, n_active; /* slots that are left, rising */
    uint32_t *chain, n_chain;
    merge *merges; /* n_merges of k - 1 */
    uint32_t n_merges;
} building;

/* ---- the tree's arrays ----------------------------------------------------------------------- */

gf_status gf_tree_alloc(uint32_t k, gf_tree *tree, gf_error *err)
{
    uint32_t n = k ? 2 * k - 1 : 0;
    gf_tree t = {.k = k, .n_nodes = n};
    t.parent = gf_array(n, sizeof *t.parent);
    t.child = gf_array(n, 2 * sizeof *t.child);
    t.height = gf_array(n, sizeof *t.height);
    t.order = gf_array(k, sizeof *t.order);
    t.first = gf_array(n, sizeof *t.first);
    t.count = gf_array(n, sizeof *t.count);
    if (!t.parent || !t.child || !t.height || !t.order || !t.first || !t.count) {
        gf_tree_release(&t);
        return gf_fail_memory(err, "the tree");
    }
    *tree = t;
    return GF_OK;
}

void gf_tree_release(gf_tree *t)
{
    gf_free(t->parent);
    gf_free(t->child);
    gf_free(t->height);
    gf_free(t->order);
    gf_free(t->first);
    gf_free(t->count);
    *t = (gf_tree){0};
}

/* Parents and numbers of leaves; false where some node is not the child of one behind it. */
static bool find_parents(gf_tree *t)
{
    for (uint32_t v = 0; v < t->n_nodes; v++) {
        t->parent[v] = GF_TREE_NONE;
        t->count[v] = v < t->k;
    }
    for (uint32_t v = 0; v < t->n_nodes; v++)
        for (int side = 0; side < 2; side++) {
            uint32_t c = t->child[2 * (size_t)v + (size_t)side];
            if (v < t->k && c != GF_TREE_NONE) return false;
            if (v < t->k) continue;
            if (c >= v || t->parent[c] != GF_TREE_NONE) return false;
            t->parent[c] = v;
            t->count[v] += t->count[c];
        }
    return t->n_nodes == 0 || t->count[t->n_nodes - 1] == t->k;
}

bool gf_tree_arrange(gf_tree *t)
{
    if (!find_parents(t)) return false;
    if (t->n_nodes) t->first[t->n_nodes - 1] = 0;
    for (uint32_t v = t->n_nodes; v-- > t->k;) {
        const uint32_t *child = &t->child[2 * (size_t)v];
        t->first[child[0]] = t->first[v];
        t->first[child[1]] = t->first[v] + t->count[child[0]];
    }
    for (uint32_t v = 0; v < t->k; v++)
        t->order[t->first[v]] = v;
    return true;
}

/* ---- costs of all pairs ---------------------------------------------------------------------- */

static gf_status index_rows(building *b, gf_error *err)
{
    uint64_t n = 0;
    b->start = gf_calloc((size_t)b->n_cols + 2, sizeof *b->start);
    b->length = gf_array(b->k, sizeof *b->length);
    if (!b->start || !b->length) return gf_fail_memory(err, "the tree");
    for (uint32_t i = 0; i < b->k; i++) {
        double squared = 0;
        for (uint32_t p = 0; p < b->rows[i].n; p++) {
            b->start[b->rows[i].col[p] + 2]++;
            squared += (double)b->rows[i].val[p] * (double)b->rows[i].val[p];
        }
        n += b->rows[i].n;
        b->length[i] = sqrt(squared);
    }
    b->entries = gf_array((size_t)n, sizeof *b->entries);
    if (!b->entries) return gf_fail_memory(err, "the tree");
    for (uint32_t c = 0; c < b->n_cols; c++)
        b->start[c + 2] += b->start[c + 1];
    for (uint32_t i = 0; i < b->k; i++)
        for (uint32_t p = 0; p < b->rows[i].n; p++)
            b->entries[b->start[b->rows[i].col[p] + 1]++] = (entry){i, b->rows[i].val[p]};
    return GF_OK;
}

/*
 * Costs of one row with all, from their cosines. Columns come in rising order, so that the sum for
 * (i, j) and that for (j, i) are the same to the bit.
 */
static gf_status compare_row(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    building *b = context;
    float *out = &b->cost[i * b->k];
    gf_row_view row = b->rows[i];
    for (uint32_t p = 0; p < row.n; p++)
        for (uint64_t e = b->start[row.col[p]]; e < b->start[row.col[p] + 1]; e++)
            out[b->entries[e].row] += row.val[p] * b->entries[e].value;
    for (uint32_t j = 0; j < b->k; j++) {
        double scale = b->length[i] * b->length[j], both = b->given[i] + b->given[j];
        double cosine = scale > 0 ? (double)out[j] / scale : 0;
        cosine = cosine < 0 ? 0 : cosine > 1 ? 1 : cosine;
        out[j] = (float)(b->given[i] * b->given[j] / both * (2 - 2 * cosine));
    }
    return GF_OK;
}

/* ---- joining --------------------------------------------------------------------------------- */

/* The slot that s joins at the least cost: of equal ones `preferred`, else the lowest. */
static uint32_t nearest(const building *b, uint32_t s, uint32_t preferred)
{
    const float *row = &b->cost[(size_t)s * b->k];
    uint32_t best = preferred;
    for (uint32_t i = 0; i < b->n_active; i++) {
        uint32_t j = b->active[i];
        if (j == s || best == j) continue;
        if (best == GF_TREE_NONE || row[j] < row[best]) best = j;
    }
    return best;
}

/*
 * The cost of joining a slot of weight u with two that were joined at the cost `own`. No less than
 * the lesser against rounding: the chains rely on that no joined group is nearer than its parts were.
 */
static float joined_cost(float x, double w, float y, double v, float own, double u)
{
    float f = (float)(((w + u) * (double)x + (v + u) * (double)y - u * (double)own) / (w + v + u));
    float low = x < y ? x : y;
    return f < low ? low : f;
}

/* The mean similarity of two slots, from the distance of their means; and the length of the joined
 * mean, whose square is at `into`. */
static double join_means(building *b, uint32_t into, uint32_t from, double cost)
{
    double w = b->weight[into], v = b->weight[from], all = w + v;
    double distance = cost * all / (w * v);
    double mean = (b->square[into] + b->square[from] - distance) / 2;
    b->square[into] =
        (w * b->square[into] + v * b->square[from]) / all - w * v / all / all * distance;
    return mean < 0 ? 0 : mean > 1 ? 1 : mean;
}

static void join(building *b, uint32_t s, uint32_t t)
{
    uint32_t into = s < t ? s : t, from = s < t ? t : s, n = 0;
    size_t k = b->k;
    float own = b->cost[into * k + from];
    b->merges[b->n_merges] =
        (merge){{into, from}, b->n_merges, own, 1 - join_means(b, into, from, (double)own)};
    b->n_merges++;
    for (uint32_t i = 0; i < b->n_active; i++) {
        uint32_t j = b->active[i];
        if (j == from) continue;
        b->active[n++] = j;
        if (j == into) continue;
        float f = joined_cost(b->cost[into * k + j], b->weight[into], b->cost[from * k + j],
                              b->weight[from], own, b->weight[j]);
        b->cost[into * k + j] = f;
        b->cost[j * k + into] = f;
    }
    b->n_active = n;
    b->weight[into] += b->weight[from];
}

/* Each slot of the chain is the nearest of the one before; two that are each other's are joined. */
static gf_status join_all(building *b, const gf_cancel *cancel, gf_error *err)
{
    while (b->n_active > 1) {
        gf_status st = gf_cancel_check(cancel, err);
        if (st != GF_OK) return st;
        if (b->n_chain == 0) b->chain[b->n_chain++] = b->active[0];
        uint32_t top = b->chain[b->n_chain - 1];
        uint32_t before = b->n_chain > 1 ? b->chain[b->n_chain - 2] : GF_TREE_NONE;
        uint32_t next = nearest(b, top, before);
        if (next == before) {
            b->n_chain -= 2;
            join(b, top, before);
        } else {
            b->chain[b->n_chain++] = next;
        }
    }
    return GF_OK;
}

/* ---- the result ------------------------------------------------------------------------------ */

static int by_rising_cost(const void *a, const void *b)
{
    const merge *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Merges by rising cost become nodes: a slot's latest merge is the node that it stands for. */
static void number_nodes(building *b, gf_tree *t)
{
    uint32_t *node = b->active; /* of each slot */
    for (uint32_t s = 0; s < b->k; s++) {
        node[s] = s;
        b->weight[s] = b->given[s];
        t->height[s] = 0;
        t->child[2 * (size_t)s] = t->child[2 * (size_t)s + 1] = GF_TREE_NONE;
    }
    if (b->n_merges) qsort(b->merges, b->n_merges, sizeof *b->merges, by_rising_cost);
    for (uint32_t m = 0; m < b->n_merges; m++) {
        uint32_t v = b->k + m, into = b->merges[m].slots[0], from = b->merges[m].slots[1];
        bool heavier = b->weight[from] > b->weight[into];
        t->height[v] = (float)b->merges[m].height;
        t->child[2 * (size_t)v] = node[heavier ? from : into];
        t->child[2 * (size_t)v + 1] = node[heavier ? into : from];
        node[into] = v;
        b->weight[into] += b->weight[from];
    }
}

static gf_status prepare(building *b, gf_error *err)
{
    size_t k = b->k;
    b->cost = gf_calloc(k * k, sizeof *b->cost);
    b->weight = gf_array(k, sizeof *b->weight);
    b->square = gf_array(k, sizeof *b->square);
    b->active = gf_array(k, sizeof *b->active);
    b->chain = gf_array(k + 1, sizeof *b->chain);
    b->merges = gf_array(k, sizeof *b->merges);
    if (!b->cost || !b->weight || !b->square || !b->active || !b->chain || !b->merges)
        return gf_fail_memory(err, "the tree");
    for (uint32_t s = 0; s < b->k; s++) {
        b->weight[s] = b->given[s];
        b->square[s] = 1;
        b->active[s] = s;
    }
    b->n_active = b->k;
    return index_rows(b, err);
}

static void release(building *b)
{
    gf_free(b->start);
    gf_free(b->entries);
    gf_free(b->length);
    gf_free(b->cost);
    gf_free(b->weight);
    gf_free(b->square);
    gf_free(b->active);
    gf_free(b->chain);
    gf_free(b->merges);
}

gf_status gf_tree_build(gf_pool *pool, const gf_row_view *rows, uint32_t k, uint32_t n_cols,
                        const double *weight, const gf_cancel *cancel, gf_tree *tree, gf_error *err)
{
    building b = {.rows = rows, .given = weight, .k = k, .n_cols = n_cols};
    gf_tree t = {0};
    if (k > GF_TREE_MOST)
        return gf_fail(err, GF_ELIMIT, "a tree has at most %d leaves", GF_TREE_MOST);
    gf_status st = prepare(&b, err);
    if (st == GF_OK) st = gf_pool_run(pool, k, compare_row, &b, cancel, err);
    if (st == GF_OK) st = join_all(&b, cancel, err);
    if (st == GF_OK) st = gf_tree_alloc(k, &t, err);
    if (st == GF_OK) {
        number_nodes(&b, &t);
        gf_tree_arrange(&t);
        *tree = t;
    }
    release(&b);
    return st;
}
