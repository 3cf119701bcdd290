/*
 * The tree of a view's build. Inner nodes without a label are left out: their children become
 * children of the nearest labelled ancestor, or of the root.
 */
#include "engine/view/tree.h"

#include "base/memory.h"
#include "base/strings.h"
#include "base/utf8.h"

#include <stdlib.h>

/* ---- the kept tree --------------------------------------------------------------------------- */

/* Each of the build's clusters is one leaf. */
static gf_status check_leaves(const gf_view *v, const gf_kept_tree *kept, gf_error *err)
{
    bool *seen = gf_calloc(v->n_clusters, sizeof *seen);
    if (!seen) return gf_fail_memory(err, "the tree");
    bool right = kept->tree.k == v->n_clusters;
    for (uint32_t c = 0; right && c < kept->tree.k; c++) {
        const gf_listed_cluster *cluster = gf_view_find_cluster(v, kept->ids[c]);
        right = cluster && !seen[cluster - v->clusters];
        if (right) seen[cluster - v->clusters] = true;
    }
    gf_free(seen);
    return right ? GF_OK
                 : gf_fail(err, GF_ECORRUPT, "the leaves of a build's tree are not its clusters");
}

gf_status gf_view_load_tree(gf_view *v, gf_kept_tree *kept, gf_error *err)
{
    gf_kept_tree t;
    gf_status st = gf_table_get_cell(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                                     GF_BUILDS_MODEL, GF_SLICE("tree"), 1, &v->row, err);
    if (st == GF_ENOTFOUND && v->info.k > GF_TREE_MOST)
        return gf_fail(err, st, "a build of more than %d clusters has no tree", GF_TREE_MOST);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st, "the build has no tree: grouperfish rebuild --force makes one");
    if (st == GF_OK) st = gf_tree_read(v->row.cells[0].value, &t, err);
    if (st != GF_OK) return st;
    st = check_leaves(v, &t, err);
    if (st == GF_OK)
        *kept = t;
    else
        gf_tree_kept_release(&t);
    return st;
}

/* ---- the shown nodes ------------------------------------------------------------------------- */

typedef struct tree_walk {
    gf_view *view;
    gf_kept_tree kept;
    uint64_t *size;     /* n_nodes: documents that are still there */
    uint32_t *ancestor; /* n_nodes: the shown node that it is a child of */
    uint32_t *below;    /* n_shown - 1: shown nodes but the root, those of one parent together */
    uint32_t *begin;    /* n_nodes + 1: where a node's children begin in below */
    uint32_t *order;    /* n_shown: depth first */
    uint32_t *depth;    /* n_nodes */
    uint32_t *number;   /* n_nodes: place in order, plus 1 */
    uint32_t n_shown;
} tree_walk;

static gf_status allocate_walk(tree_walk *w, gf_error *err)
{
    size_t n = w->kept.tree.n_nodes;
    w->size = gf_calloc(n, sizeof *w->size);
    w->ancestor = gf_calloc(n, sizeof *w->ancestor);
    w->below = gf_calloc(n, sizeof *w->below);
    w->begin = gf_calloc(n + 1, sizeof *w->begin);
    w->order = gf_calloc(n, sizeof *w->order);
    w->depth = gf_calloc(n, sizeof *w->depth);
    w->number = gf_calloc(n, sizeof *w->number);
    bool ok = w->size && w->ancestor && w->below && w->begin && w->order && w->depth && w->number;
    return ok ? GF_OK : gf_fail_memory(err, "the tree");
}

static void release_walk(tree_walk *w)
{
    gf_free(w->size);
    gf_free(w->ancestor);
    gf_free(w->below);
    gf_free(w->begin);
    gf_free(w->order);
    gf_free(w->depth);
    gf_free(w->number);
    gf_tree_kept_release(&w->kept);
}

static const gf_listed_cluster *cluster_of(const tree_walk *w, uint32_t leaf)
{
    return gf_view_find_cluster(w->view, w->kept.ids[leaf]);
}

/* A cluster may have got the label of an inner node since the build, in whatever case. */
static gf_status drop_taken_labels(tree_walk *w, gf_error *err)
{
    const gf_tree *t = &w->kept.tree;
    gf_strings taken = {0};
    gf_buffer letters = {0};
    uint32_t id;
    gf_status st = GF_OK;
    for (size_t c = 0; c < w->view->n_clusters && st == GF_OK; c++) {
        gf_buffer_reset(&letters);
        gf_utf8_fold(w->view->clusters[c].label, &letters);
        st = gf_buffer_check(&letters, err);
        if (st == GF_OK) st = gf_strings_add(&taken, gf_buffer_view(&letters), &id, NULL, err);
    }
    for (uint32_t v = t->k; v < t->n_nodes && st == GF_OK; v++) {
        gf_buffer_reset(&letters);
        gf_utf8_fold(w->kept.labels[v], &letters);
        st = gf_buffer_check(&letters, err);
        if (st == GF_OK && gf_strings_find(&taken, gf_buffer_view(&letters)) != GF_STRING_NONE)
            w->kept.labels[v] = (gf_slice){0};
    }
    gf_buffer_release(&letters);
    gf_strings_release(&taken);
    return st;
}

static void add_sizes(tree_walk *w)
{
    const gf_tree *t = &w->kept.tree;
    for (uint32_t v = 0; v < t->n_nodes; v++) {
        const uint32_t *child = &t->child[2 * (size_t)v];
        w->size[v] = v < t->k ? cluster_of(w, v)->size : w->size[child[0]] + w->size[child[1]];
    }
}

static int by_parent(const void *a, const void *b, void *context)
{
    const tree_walk *w = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (w->ancestor[x] != w->ancestor[y]) return w->ancestor[x] < w->ancestor[y] ? -1 : 1;
    if (w->size[x] != w->size[y]) return w->size[x] > w->size[y] ? -1 : 1;
    return w->kept.tree.first[x] < w->kept.tree.first[y] ? -1 : 1;
}

/* Hang the shown nodes below each other, larger ones first. */
static void attach_nodes(tree_walk *w)
{
    const gf_tree *t = &w->kept.tree;
    uint32_t root = t->n_nodes - 1, n = 0;
    for (uint32_t v = root; v-- > 0;) {
        uint32_t p = t->parent[v];
        w->ancestor[v] = p == root || w->kept.labels[p].len ? p : w->ancestor[p];
        if (v < t->k || w->kept.labels[v].len) w->below[n++] = v;
    }
    if (n) qsort_r(w->below, n, sizeof *w->below, by_parent, w);
    for (uint32_t i = 0; i < n; i++)
        w->begin[w->ancestor[w->below[i]] + 1]++;
    for (uint32_t v = 0; v < t->n_nodes; v++)
        w->begin[v + 1] += w->begin[v];
    w->n_shown = n + 1;
}

/* Depth first; what waits is kept at the end of `order`, which has no more than n_shown. */
static void number_nodes(tree_walk *w)
{
    uint32_t n = 0, waiting = w->n_shown - 1;
    w->order[waiting] = w->kept.tree.n_nodes - 1;
    while (n < w->n_shown) {
        uint32_t v = w->order[waiting++];
        w->order[n++] = v;
        w->number[v] = n;
        for (uint32_t i = w->begin[v + 1]; i-- > w->begin[v];) {
            w->order[--waiting] = w->below[i];
            w->depth[w->below[i]] = w->depth[v] + 1;
        }
    }
}

static gf_status visit_node(const tree_walk *w, uint32_t v, gf_visit_tree_node *visit,
                            void *context, gf_error *err)
{
    const gf_tree *t = &w->kept.tree;
    bool leaf = v < t->k;
    uint32_t n = w->begin[v + 1] - w->begin[v];
    uint32_t *children = gf_array(n, sizeof *children);
    if (!children) return gf_fail_memory(err, "the tree");
    for (uint32_t i = 0; i < n; i++)
        children[i] = w->number[w->below[w->begin[v] + i]];
    gf_tree_node node = {.node = w->number[v],
                         .parent = v == t->n_nodes - 1 ? 0 : w->number[w->ancestor[v]],
                         .depth = w->depth[v],
                         .cluster = leaf ? w->kept.ids[v] : 0,
                         .label = leaf ? cluster_of(w, v)->label : w->kept.labels[v],
                         .size = w->size[v],
                         .clusters = t->count[v],
                         .height = t->height[v],
                         .children = children,
                         .n_children = n};
    gf_status st = visit(context, &node, err);
    gf_free(children);
    return st;
}

static gf_status arrange_nodes(tree_walk *w, gf_error *err)
{
    gf_status st = gf_view_load_tree(w->view, &w->kept, err);
    if (st == GF_OK) st = allocate_walk(w, err);
    if (st == GF_OK) st = drop_taken_labels(w, err);
    if (st != GF_OK) return st;
    add_sizes(w);
    attach_nodes(w);
    number_nodes(w);
    return GF_OK;
}

gf_status gf_view_tree(gf_view *v, uint32_t most_depth, gf_visit_tree_node *visit, void *context,
                       gf_error *err)
{
    tree_walk w = {.view = v};
    gf_status st = gf_view_load_clusters(v, err);
    if (st != GF_OK || v->n_clusters == 0) return st;
    st = arrange_nodes(&w, err);
    /* Labels are borrowed from view->row, which the visitor may use: they move out first. */
    gf_row row = v->row;
    v->row = (gf_row){0};
    for (uint32_t i = 0; i < w.n_shown && st == GF_OK; i++)
        if (w.depth[w.order[i]] <= most_depth) st = visit_node(&w, w.order[i], visit, context, err);
    gf_row_release(&row);
    release_walk(&w);
    return st;
}
