/*
 * The tree of a view's build. Inner nodes that are not shown are left out: their children become
 * children of the nearest ancestor that is, or of the root. Shown are those with labels, or where
 * the tree is cut into levels the groups of these.
 */
#include "engine/view/tree.h"

#include "base/memory.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "cluster/label/labels.h"
#include "engine/build/group_ids.h"

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

/* Builds of earlier versions have none. */
static gf_status read_group_ids(const gf_view *v, gf_kept_tree *kept, gf_error *err)
{
    gf_row row = {0};
    gf_status st = gf_table_get_cell(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                                     GF_BUILDS_MODEL, GF_SLICE("groups"), 1, &row, err);
    if (st == GF_OK)
        st = gf_group_ids_read(row.cells[0].value, kept->groups, gf_tree_inner(&kept->tree), err);
    else if (st == GF_ENOTFOUND)
        st = GF_OK;
    gf_row_release(&row);
    return st;
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
    if (st == GF_OK) st = read_group_ids(v, &t, err);
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

    /* The levels. */
    const uint32_t *groups; /* n_levels; NULL: the tree is not cut */
    size_t n_levels;
    uint32_t *first_level, *last_level; /* n_nodes; 0: the node is of none */
    uint32_t *main;                     /* n_nodes: the leaf below it that says best what it is */
    gf_arena memory;                    /* labels that are made of parts */
    gf_strings taken;                   /* labels that no other may be, folded */
    gf_buffer letters;                  /* of the one at hand */
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
    w->first_level = gf_calloc(n, sizeof *w->first_level);
    w->last_level = gf_calloc(n, sizeof *w->last_level);
    w->main = gf_calloc(n, sizeof *w->main);
    bool ok = w->size && w->ancestor && w->below && w->begin && w->order && w->depth && w->number &&
              w->first_level && w->last_level && w->main;
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
    gf_free(w->first_level);
    gf_free(w->last_level);
    gf_free(w->main);
    gf_arena_release(&w->memory);
    gf_strings_release(&w->taken);
    gf_buffer_release(&w->letters);
    gf_tree_kept_release(&w->kept);
}

static const gf_listed_cluster *cluster_of(const tree_walk *w, uint32_t leaf)
{
    return gf_view_find_cluster(w->view, w->kept.ids[leaf]);
}

static gf_status fold_label(tree_walk *w, gf_slice label, gf_error *err)
{
    gf_buffer_reset(&w->letters);
    gf_utf8_fold(label, &w->letters);
    return gf_buffer_check(&w->letters, err);
}

/* *is_new: no other had it, in whatever case. */
static gf_status take_label(tree_walk *w, gf_slice label, bool *is_new, gf_error *err)
{
    uint32_t id;
    gf_status st = fold_label(w, label, err);
    return st == GF_OK ? gf_strings_add(&w->taken, gf_buffer_view(&w->letters), &id, is_new, err)
                       : st;
}

/* A cluster may have got the label of an inner node since the build, in whatever case. */
static gf_status drop_taken_labels(tree_walk *w, gf_error *err)
{
    const gf_tree *t = &w->kept.tree;
    bool is_new;
    gf_status st = GF_OK;
    for (size_t c = 0; c < w->view->n_clusters && st == GF_OK; c++)
        st = take_label(w, w->view->clusters[c].label, &is_new, err);
    for (uint32_t v = t->k; v < t->n_nodes && st == GF_OK; v++) {
        st = fold_label(w, w->kept.labels[v], err);
        if (st == GF_OK &&
            gf_strings_find(&w->taken, gf_buffer_view(&w->letters)) != GF_STRING_NONE)
            w->kept.labels[v] = (gf_slice){0};
    }
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

static bool is_shown(const tree_walk *w, uint32_t v)
{
    if (w->groups) return w->first_level[v] > 0;
    return v < w->kept.tree.k || w->kept.labels[v].len > 0;
}

/* Hang the shown nodes below each other, larger ones first. */
static void attach_nodes(tree_walk *w)
{
    const gf_tree *t = &w->kept.tree;
    uint32_t root = t->n_nodes - 1, n = 0;
    for (uint32_t v = root; v-- > 0;) {
        uint32_t p = t->parent[v];
        w->ancestor[v] = p == root || is_shown(w, p) ? p : w->ancestor[p];
        if (is_shown(w, v)) w->below[n++] = v;
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

/* ---- levels ---------------------------------------------------------------------------------- */

static gf_status check_levels(const uint32_t *groups, size_t n, gf_error *err)
{
    if (n == 0) return gf_fail(err, GF_EINVAL, "levels: how many groups has each?");
    for (size_t i = 0; i < n; i++)
        if (groups[i] == 0 || (i && groups[i] <= groups[i - 1]))
            return gf_fail(err, GF_EINVAL, "levels: numbers of groups rise, as in 5,20,100");
    return GF_OK;
}

/*
 * Inner nodes come in the order of their joins. With the last n - 1 joins undone there are n
 * groups: the nodes before these joins whose parents are among them.
 */
static void cut_levels(tree_walk *w)
{
    const gf_tree *t = &w->kept.tree;
    for (uint32_t l = 0; l < w->n_levels; l++) {
        uint32_t n = w->groups[l] < t->k ? w->groups[l] : t->k, cut = t->n_nodes - (n - 1);
        for (uint32_t v = 0; v < cut; v++) {
            if (v != t->n_nodes - 1 && t->parent[v] < cut) continue;
            if (!w->first_level[v]) w->first_level[v] = l + 1;
            w->last_level[v] = l + 1;
        }
    }
}

/* A cluster with a subject before one without, then the larger, then the first. */
static bool says_more(const tree_walk *w, uint32_t a, uint32_t b)
{
    bool mixed = gf_label_is_mixed(cluster_of(w, a)->label);
    if (mixed != gf_label_is_mixed(cluster_of(w, b)->label)) return !mixed;
    return w->size[a] != w->size[b] ? w->size[a] > w->size[b] : a < b;
}

static void choose_main_leaves(tree_walk *w)
{
    const gf_tree *t = &w->kept.tree;
    for (uint32_t v = 0; v < t->n_nodes; v++) {
        uint32_t a = v < t->k ? v : w->main[t->child[2 * (size_t)v]];
        uint32_t b = v < t->k ? v : w->main[t->child[2 * (size_t)v + 1]];
        w->main[v] = says_more(w, b, a) ? b : a;
    }
}

enum { PARTS = 3 };

/* Put a leaf among those that say most; *n of PARTS. */
static void offer_part(const tree_walk *w, uint32_t leaf, uint32_t parts[PARTS + 1], size_t *n)
{
    size_t at = (*n)++;
    for (; at > 0 && says_more(w, leaf, parts[at - 1]); at--)
        parts[at] = parts[at - 1];
    parts[at] = leaf;
    if (*n > PARTS) *n = PARTS;
}

/*
 * The main leaf of each of a group's parts, which are the groups below it or, on the last level,
 * its clusters. So no two groups have the same: of two parts of one group no other but those above
 * has both, and these have one of them at most. Those without a subject only help to make two.
 * Labels that have commas themselves may still make two alike, which name_group tells apart.
 */
static size_t find_parts(const tree_walk *w, uint32_t v, uint32_t parts[PARTS + 1])
{
    const gf_tree *t = &w->kept.tree;
    size_t n = 0;
    if (v < t->k) return 0;
    for (uint32_t i = w->begin[v]; i < w->begin[v + 1]; i++)
        offer_part(w, w->main[w->below[i]], parts, &n);
    for (uint32_t i = 0; w->begin[v] == w->begin[v + 1] && i < t->count[v]; i++)
        offer_part(w, t->order[t->first[v] + i], parts, &n);
    while (n > 2 && gf_label_is_mixed(cluster_of(w, parts[n - 1])->label))
        n--;
    return n;
}

/* "mixed: a, b" says beside others what it has. */
static gf_slice label_of_part(const tree_walk *w, uint32_t leaf)
{
    gf_slice label = cluster_of(w, leaf)->label, prefix = GF_SLICE("mixed: ");
    return gf_label_is_mixed(label) ? gf_slice_skip(label, prefix.len) : label;
}

static gf_status name_group(tree_walk *w, uint32_t v, gf_error *err)
{
    uint32_t parts[PARTS + 1];
    size_t n = find_parts(w, v, parts);
    gf_buffer b = {0};
    if (n && gf_label_is_mixed(cluster_of(w, parts[0])->label)) gf_buffer_str(&b, "mixed: ");
    for (size_t i = 0; i < n; i++) {
        if (i) gf_buffer_str(&b, ", ");
        gf_buffer_slice(&b, label_of_part(w, parts[i]));
    }
    gf_status st = gf_buffer_check(&b, err);
    bool is_new = false;
    size_t length = b.len;
    for (unsigned i = 1; st == GF_OK && !is_new; i++) {
        b.len = length;
        if (i > 1) gf_buffer_format(&b, " (%u)", i);
        st = gf_buffer_check(&b, err);
        if (st == GF_OK) st = take_label(w, gf_buffer_view(&b), &is_new, err);
    }
    if (st == GF_OK) w->kept.labels[v] = gf_arena_copy(&w->memory, gf_buffer_view(&b));
    if (st == GF_OK && !w->kept.labels[v].ptr) st = gf_fail_memory(err, "the tree");
    gf_buffer_release(&b);
    return st;
}

static gf_status name_groups(tree_walk *w, gf_error *err)
{
    gf_status st = GF_OK;
    bool is_new;
    choose_main_leaves(w);
    for (uint32_t v = w->kept.tree.k; v + 1 < w->kept.tree.n_nodes && st == GF_OK; v++)
        if (w->first_level[v] && w->kept.labels[v].len)
            st = take_label(w, w->kept.labels[v], &is_new, err);
    for (uint32_t v = w->kept.tree.k; v + 1 < w->kept.tree.n_nodes && st == GF_OK; v++)
        if (w->first_level[v] && w->kept.labels[v].len == 0) st = name_group(w, v, err);
    return st;
}

/* ---- visiting -------------------------------------------------------------------------------- */

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
                         .n_children = n,
                         .first_level = w->first_level[v],
                         .last_level = w->last_level[v],
                         .group = leaf ? 0 : w->kept.groups[v - t->k]};
    uint32_t parts[PARTS + 1];
    if (w->groups) node.n_parts = find_parts(w, v, parts);
    for (size_t i = 0; i < node.n_parts; i++)
        node.parts[i] = cluster_of(w, parts[i])->label;
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
    if (w->groups) cut_levels(w);
    attach_nodes(w);
    number_nodes(w);
    return w->groups ? name_groups(w, err) : GF_OK;
}

static gf_status visit_tree(tree_walk *w, uint32_t most_depth, gf_visit_tree_node *visit,
                            void *context, gf_error *err)
{
    gf_view *v = w->view;
    gf_status st = gf_view_load_clusters(v, err);
    if (st != GF_OK || v->n_clusters == 0) return st;
    st = arrange_nodes(w, err);
    /* Labels are borrowed from view->row, which the visitor may use: they move out first. */
    gf_row row = v->row;
    v->row = (gf_row){0};
    for (uint32_t i = 0; i < w->n_shown && st == GF_OK; i++)
        if (w->depth[w->order[i]] <= most_depth)
            st = visit_node(w, w->order[i], visit, context, err);
    gf_row_release(&row);
    release_walk(w);
    return st;
}

gf_status gf_view_tree(gf_view *v, uint32_t most_depth, gf_visit_tree_node *visit, void *context,
                       gf_error *err)
{
    return visit_tree(&(tree_walk){.view = v}, most_depth, visit, context, err);
}

gf_status gf_view_levels(gf_view *v, const uint32_t *groups, size_t n_levels,
                         gf_visit_tree_node *visit, void *context, gf_error *err)
{
    gf_status st = check_levels(groups, n_levels, err);
    if (st != GF_OK) return st;
    return visit_tree(&(tree_walk){.view = v, .groups = groups, .n_levels = n_levels}, UINT32_MAX,
                      visit, context, err);
}
