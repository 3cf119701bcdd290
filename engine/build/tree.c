#include "engine/build/tree.h"

#include "base/memory.h"
#include "engine/build/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- building -------------------------------------------------------------------------------- */

/*
 * Terms of a centroid that are compared, the heaviest: they hold nearly all of its length, and a
 * thousand centroids with all their terms would take minutes.
 */
enum { MOST_ENTRIES = 256 };

typedef struct shortened {
    const gf_build_clustered *clustered;
    gf_row_view *rows; /* k */
    uint32_t *cols;    /* k * MOST_ENTRIES */
    float *vals;       /* k * MOST_ENTRIES */
    double *weight;    /* k */
    float **values;    /* per worker, made when it is needed: `most`, to be sorted */
    uint32_t most;     /* terms of a centre */
} shortened;

static int by_falling_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x > y ? -1 : x < y;
}

/* The least value that is kept; `values` is room for those of the centre. */
static float least_kept(const gf_centre *c, float *values)
{
    if (c->n <= MOST_ENTRIES) return 0;
    memcpy(values, c->value, c->n * sizeof *values);
    qsort(values, c->n, sizeof *values, by_falling_value);
    return values[MOST_ENTRIES - 1];
}

static gf_row_view shorten_centre(const gf_centre *c, float *values, uint32_t *cols, float *vals)
{
    float least = least_kept(c, values);
    uint32_t n = 0;
    for (uint32_t p = 0; p < c->n && n < MOST_ENTRIES; p++) {
        if (c->value[p] < least) continue;
        cols[n] = c->term[p];
        vals[n++] = c->value[p];
    }
    return (gf_row_view){cols, vals, n};
}

static gf_status shorten_task(void *context, size_t cluster, unsigned worker, gf_error *err)
{
    shortened *s = context;
    float **values = &s->values[worker];
    size_t at = cluster * MOST_ENTRIES;
    if (!*values) *values = gf_array(s->most, sizeof **values);
    if (!*values) return gf_fail_memory(err, "the tree");
    s->rows[cluster] = shorten_centre(&s->clustered->kmeans.centres.at[cluster], *values,
                                      s->cols + at, s->vals + at);
    /* By its root: with all its weight a large cluster would join last, however near another is. */
    s->weight[cluster] = sqrt(gf_build_clustered_size(s->clustered, (uint32_t)cluster));
    return GF_OK;
}

static gf_status shorten_all(gf_pool *pool, const gf_cancel *cancel, shortened *s, gf_error *err)
{
    const gf_centres *centres = &s->clustered->kmeans.centres;
    size_t k = s->clustered->kmeans.k;
    unsigned workers = gf_pool_size(pool);
    for (uint32_t c = 0; c < k; c++)
        if (centres->at[c].n > s->most) s->most = centres->at[c].n;
    s->values = gf_calloc(workers, sizeof *s->values);
    s->rows = gf_array(k, sizeof *s->rows);
    s->cols = gf_array(k * MOST_ENTRIES, sizeof *s->cols);
    s->vals = gf_array(k * MOST_ENTRIES, sizeof *s->vals);
    s->weight = gf_array(k, sizeof *s->weight);
    bool ok = s->values && s->rows && s->cols && s->vals && s->weight;
    gf_status st =
        ok ? gf_pool_run(pool, k, shorten_task, s, cancel, err) : gf_fail_memory(err, "the tree");
    for (unsigned w = 0; s->values && w < workers; w++)
        gf_free(s->values[w]);
    gf_free(s->values);
    return st;
}

gf_status gf_build_tree(gf_pool *pool, const gf_build_clustered *clustered, const gf_cancel *cancel,
                        gf_tree *tree, gf_error *err)
{
    shortened s = {.clustered = clustered};
    uint32_t k = clustered->kmeans.k;
    if (k > GF_TREE_MOST) {
        *tree = (gf_tree){0};
        return GF_OK;
    }
    gf_status st = shorten_all(pool, cancel, &s, err);
    if (st == GF_OK)
        st = gf_tree_build(pool, s.rows, k, clustered->kmeans.centres.n_terms, s.weight, cancel,
                           tree, err);
    gf_free(s.rows);
    gf_free(s.cols);
    gf_free(s.vals);
    gf_free(s.weight);
    return st;
}

/* ---- as bytes -------------------------------------------------------------------------------- */

void gf_tree_write(const gf_tree *t, const uint32_t *ids, const gf_slice *labels, gf_buffer *out)
{
    gf_buffer_varint(out, t->k);
    for (uint32_t c = 0; c < t->k; c++)
        gf_buffer_varint(out, ids[c]);
    for (uint32_t v = t->k; v < t->n_nodes; v++) {
        uint32_t bits;
        memcpy(&bits, &t->height[v], sizeof bits);
        gf_buffer_varint(out, t->child[2 * (size_t)v]);
        gf_buffer_varint(out, t->child[2 * (size_t)v + 1]);
        gf_buffer_u32be(out, bits);
        gf_buffer_string(out, labels[v]);
    }
}

static bool take_leaves(gf_slice *bytes, gf_kept_tree *kept)
{
    for (uint32_t c = 0; c < kept->tree.k; c++) {
        kept->tree.child[2 * (size_t)c] = kept->tree.child[2 * (size_t)c + 1] = GF_TREE_NONE;
        kept->tree.height[c] = 0;
        kept->labels[c] = (gf_slice){0};
        if (!gf_slice_take_varint32(bytes, &kept->ids[c]) || kept->ids[c] == 0) return false;
    }
    return true;
}

static bool take_inner(gf_slice *bytes, gf_kept_tree *kept)
{
    gf_tree *t = &kept->tree;
    for (uint32_t v = t->k; v < t->n_nodes; v++) {
        uint32_t bits;
        uint32_t *child = &t->child[2 * (size_t)v];
        if (!gf_slice_take_varint32(bytes, &child[0]) ||
            !gf_slice_take_varint32(bytes, &child[1]) || !gf_slice_take_u32be(bytes, &bits) ||
            !gf_slice_take_string(bytes, &kept->labels[v]))
            return false;
        memcpy(&t->height[v], &bits, sizeof bits);
        if (!(t->height[v] >= 0 && t->height[v] <= 1)) return false;
    }
    return bytes->len == 0 && gf_tree_arrange(t);
}

gf_status gf_tree_read(gf_slice bytes, gf_kept_tree *kept, gf_error *err)
{
    gf_kept_tree t = {0};
    uint32_t k;
    if (!gf_slice_take_varint32(&bytes, &k) || k > bytes.len)
        return gf_fail(err, GF_ECORRUPT, "a build's tree is damaged");
    gf_status st = gf_tree_alloc(k, &t.tree, err);
    if (st != GF_OK) return st;
    t.ids = gf_array(k, sizeof *t.ids);
    t.labels = gf_array(t.tree.n_nodes, sizeof *t.labels);
    t.groups = gf_calloc((size_t)k + 1, sizeof *t.groups);
    if (!t.ids || !t.labels || !t.groups)
        st = gf_fail_memory(err, "the tree");
    else if (!take_leaves(&bytes, &t) || !take_inner(&bytes, &t))
        st = gf_fail(err, GF_ECORRUPT, "a build's tree is damaged");
    if (st == GF_OK)
        *kept = t;
    else
        gf_tree_kept_release(&t);
    return st;
}

void gf_tree_kept_release(gf_kept_tree *kept)
{
    gf_tree_release(&kept->tree);
    gf_free(kept->ids);
    gf_free(kept->labels);
    gf_free(kept->groups);
    *kept = (gf_kept_tree){0};
}
