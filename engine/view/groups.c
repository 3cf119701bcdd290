/* A group of the tree of a view's build, by the id that lasts. */
#include "engine/view/tree.h"

#include "base/memory.h"
#include "cluster/label/labels.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PARTS = 3 /* clusters that a group without a phrase is called by */ };

/* Clusters with a subject first, then the larger, then the lesser id. */
static int by_subject_and_size(const void *a, const void *b)
{
    const gf_listed_cluster *x = *(const gf_listed_cluster *const *)a;
    const gf_listed_cluster *y = *(const gf_listed_cluster *const *)b;
    bool mixed = gf_label_is_mixed(x->label);
    if (mixed != gf_label_is_mixed(y->label)) return mixed ? 1 : -1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static uint32_t find_node(const gf_kept_tree *kept, uint32_t group, bool *any)
{
    const gf_tree *t = &kept->tree;
    uint32_t found = GF_TREE_NONE;
    for (uint32_t v = t->k; v < t->n_nodes; v++) {
        *any = *any || kept->groups[v - t->k];
        if (kept->groups[v - t->k] == group) found = v;
    }
    return found;
}

/* The nearest group above that has an id. */
static uint32_t group_above(const gf_kept_tree *kept, uint32_t node)
{
    const gf_tree *t = &kept->tree;
    uint32_t v = t->parent[node];
    while (v != GF_TREE_NONE && !kept->groups[v - t->k])
        v = t->parent[v];
    return v == GF_TREE_NONE ? 0 : kept->groups[v - t->k];
}

static gf_status name_group(const gf_view *v, gf_slice phrase, const gf_listed_cluster *const *of,
                            uint32_t n, gf_buffer *label, gf_error *err)
{
    bool taken = phrase.len == 0; /* or by a cluster since */
    for (size_t c = 0; c < v->n_clusters && !taken; c++)
        taken = gf_slice_equal(v->clusters[c].label, phrase);
    if (!taken) gf_buffer_slice(label, phrase);
    for (uint32_t i = 0; taken && i < n && i < PARTS; i++) {
        if (i) gf_buffer_str(label, ", ");
        gf_buffer_slice(label, of[i]->label);
    }
    return gf_buffer_check(label, err);
}

static gf_status visit_node(gf_view *v, const gf_kept_tree *kept, uint32_t node,
                            gf_visit_group *visit, void *context, gf_error *err)
{
    const gf_tree *t = &kept->tree;
    uint32_t n = t->count[node];
    gf_buffer label = {0};
    gf_group_info info = {.id = kept->groups[node - t->k],
                          .above = group_above(kept, node),
                          .height = t->height[node],
                          .n_clusters = n};
    uint32_t *ids = gf_array(n, sizeof *ids);
    const gf_listed_cluster **of = gf_array(n, sizeof *of);
    gf_status st = ids && of ? GF_OK : gf_fail_memory(err, "the tree");
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        of[i] = gf_view_find_cluster(v, kept->ids[t->order[t->first[node] + i]]);
        info.size += of[i]->size;
    }
    if (st == GF_OK) {
        qsort(of, n, sizeof *of, by_subject_and_size);
        for (uint32_t i = 0; i < n; i++)
            ids[i] = of[i]->id;
        st = name_group(v, kept->labels[node], of, n, &label, err);
    }
    info.label = gf_buffer_view(&label);
    info.clusters = ids;
    if (st == GF_OK) st = visit(context, &info, err);
    gf_buffer_release(&label);
    gf_free(ids);
    gf_free(of);
    return st;
}

gf_status gf_view_group(gf_view *v, uint32_t group, gf_visit_group *visit, void *context,
                        gf_error *err)
{
    gf_kept_tree kept = {.ids = NULL};
    bool any = false;
    gf_status st = gf_view_load_clusters(v, err);
    if (st == GF_OK && v->n_clusters) st = gf_view_load_tree(v, &kept, err);
    if (st != GF_OK) return st;
    uint32_t node = group ? find_node(&kept, group, &any) : GF_TREE_NONE;
    gf_row row = v->row; /* labels borrow from it, and the visitor may use the view's */
    v->row = (gf_row){0};
    if (node == GF_TREE_NONE && !any && kept.tree.k > 1)
        st =
            gf_fail(err, GF_ENOTFOUND,
                    "the groups of this build have no ids: grouperfish rebuild --force gives them");
    else if (node == GF_TREE_NONE)
        st = gf_fail(err, GF_ENOTFOUND,
                     "there is no group g%" PRIu32 ": clusters with levels lists groups", group);
    else
        st = visit_node(v, &kept, node, visit, context, err);
    gf_row_release(&row);
    gf_tree_kept_release(&kept);
    return st;
}
