/*
 * The tree over a build's clusters after an edit: built anew of their centres. An inner node keeps the
 * label of the node before that had the same clusters below it, but for those that are new or have ended, and
 * the id of the one whose documents are most alike. A group that is new gets an id at the next rebuild: one
 * that is under way gives ids as well, and would not know of it.
 */
#include "engine/edit/internal.h"

#include "base/memory.h"
#include "engine/build/cluster.h"
#include "engine/build/group_ids.h"
#include "engine/view/tree.h"

#include <string.h>

static uint64_t mix_id(uint32_t id)
{
    uint64_t v = (uint64_t)id * UINT64_C(0x9E3779B97F4A7C15) + 1;
    v = (v ^ v >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return v ^ v >> 31;
}

/* Clusters below a node, of those that count. */
typedef struct below {
    uint64_t mixed;
    uint32_t n;
} below;

typedef bool counts(const void *context, uint32_t id);

/* of: n_nodes of the tree */
static void mix_nodes(const gf_tree *t, const uint32_t *ids, counts *c, const void *context,
                      below *of)
{
    for (uint32_t v = 0; v < t->n_nodes; v++) {
        of[v] = (below){0, 0};
        if (v < t->k) {
            if (c(context, ids[v])) of[v] = (below){mix_id(ids[v]), 1};
            continue;
        }
        const below *a = &of[t->child[2 * (size_t)v]], *b = &of[t->child[2 * (size_t)v + 1]];
        of[v] = (below){a->mixed + b->mixed, a->n + b->n};
    }
}

/* Clusters that are there before and after. */
typedef struct lasting {
    const gf_view *view;
    const uint32_t *after;
    uint32_t k;
} lasting;

static bool lasts(const void *context, uint32_t id)
{
    const lasting *l = context;
    bool is_after = false;
    for (uint32_t i = 0; i < l->k && !is_after; i++)
        is_after = l->after[i] == id;
    return is_after && gf_view_find_cluster(l->view, id);
}

static gf_status label_nodes(gf_editing *e, const gf_tree *t, const uint32_t *ids, gf_slice *labels,
                             gf_error *err)
{
    gf_kept_tree old;
    gf_status st = gf_view_load_tree(e->view, &old, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st != GF_OK) return st;
    lasting l = {e->view, ids, t->k};
    below *then = gf_array(old.tree.n_nodes, sizeof *then);
    below *now = gf_array(t->n_nodes, sizeof *now);
    if (!then || !now) st = gf_fail_memory(err, "the tree");
    if (st == GF_OK) mix_nodes(&old.tree, old.ids, lasts, &l, then);
    if (st == GF_OK) mix_nodes(t, ids, lasts, &l, now);
    for (uint32_t o = old.tree.k; o < old.tree.n_nodes && st == GF_OK; o++) {
        if (!old.labels[o].len || then[o].n < 2) continue;
        for (uint32_t v = t->k; v < t->n_nodes; v++) {
            if (labels[v].len || now[v].n != then[o].n || now[v].mixed != then[o].mixed) continue;
            labels[v] = gf_arena_copy(&e->memory, old.labels[o]);
            if (!labels[v].ptr) st = gf_fail_memory(err, "the tree");
            break;
        }
    }
    gf_free(then);
    gf_free(now);
    gf_tree_kept_release(&old);
    return st;
}

/* No group of clusters is called as one of them is now. */
static void drop_taken(const gf_tree *t, const gf_grouping *after, gf_slice *labels)
{
    for (uint32_t v = t->k; v < t->n_nodes; v++)
        for (size_t i = 0; i < after->n; i++)
            if (gf_slice_equal(labels[v], after->at[i].label)) labels[v] = (gf_slice){0};
}

/* ---- ids of groups --------------------------------------------------------------------------- */

static uint32_t find_id(const uint32_t *ids, uint32_t k, uint32_t id)
{
    uint32_t c = 0;
    while (c < k && ids[c] != id)
        c++;
    return c;
}

/* Documents that leaves before and after share: of a cluster that the edit is about those of its parts. */
static size_t list_shared(const gf_kept_tree *old, const gf_grouping *before,
                          const gf_grouping *after, const gf_tree *t, const uint32_t *ids,
                          const uint64_t *sizes, gf_overlap *shared)
{
    size_t n = 0;
    for (uint32_t c = 0; c < old->tree.k; c++) {
        bool concerned = false;
        for (size_t i = 0; i < before->n && !concerned; i++)
            concerned = before->at[i].id == old->ids[c];
        uint32_t now = concerned ? t->k : find_id(ids, t->k, old->ids[c]);
        if (now < t->k) shared[n++] = (gf_overlap){c, now, (uint32_t)sizes[now]};
    }
    for (size_t i = 0; i < before->n; i++)
        for (size_t j = 0; j < after->n; j++) {
            uint32_t then = find_id(old->ids, old->tree.k, before->at[i].id);
            uint32_t now = find_id(ids, t->k, after->at[j].id);
            size_t size = before->n == 1 ? after->at[j].n : before->at[i].n;
            if (then < old->tree.k && now < t->k && size)
                shared[n++] = (gf_overlap){then, now, (uint32_t)size};
        }
    return n;
}

static gf_status write_group_ids(gf_editing *e, const gf_grouping *before, gf_grouping *after,
                                 const gf_tree *t, const uint32_t *ids, const uint64_t *sizes,
                                 gf_error *err)
{
    gf_kept_tree old;
    gf_buffer bytes = {0};
    uint32_t inner = gf_tree_inner(t);
    after->group_ids = (gf_slice){0};
    if (!before->group_ids.ptr) return GF_OK;
    gf_status st = gf_view_load_tree(e->view, &old, err);
    if (st != GF_OK) return st;
    size_t most = old.tree.k + before->n * after->n;
    uint32_t *now = gf_array(inner, sizeof *now);
    gf_overlap *shared = gf_array(most, sizeof *shared);
    st = now && shared ? GF_OK : gf_fail_memory(err, "groups");
    if (st == GF_OK) {
        size_t n = list_shared(&old, before, after, t, ids, sizes, shared);
        st = gf_group_ids_match(&old.tree, old.groups, t, shared, n, now, err);
    }
    if (st == GF_OK) {
        gf_group_ids_write(now, inner, &bytes);
        st = gf_buffer_check(&bytes, err);
    }
    if (st == GF_OK) after->group_ids = gf_arena_copy(&e->memory, gf_buffer_view(&bytes));
    if (st == GF_OK && !after->group_ids.ptr) st = gf_fail_memory(err, "groups");
    gf_buffer_release(&bytes);
    gf_tree_kept_release(&old);
    gf_free(now);
    gf_free(shared);
    return st;
}

/* ---- both ------------------------------------------------------------------------------------ */

static gf_status write_tree(gf_editing *e, const gf_tree *t, const gf_grouping *after,
                            const uint32_t *ids, gf_slice *out, gf_error *err)
{
    gf_buffer bytes = {0};
    gf_slice *labels = gf_calloc(t->n_nodes, sizeof *labels);
    if (!labels) return gf_fail_memory(err, "the tree");
    gf_status st = label_nodes(e, t, ids, labels, err);
    if (st == GF_OK) drop_taken(t, after, labels);
    if (st == GF_OK) gf_tree_write(t, ids, labels, &bytes);
    if (st == GF_OK) st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) *out = gf_arena_copy(&e->memory, gf_buffer_view(&bytes));
    if (st == GF_OK && !out->ptr) st = gf_fail_memory(err, "the tree");
    gf_buffer_release(&bytes);
    gf_free(labels);
    return st;
}

gf_status gf_edit_tree(gf_editing *e, const gf_grouping *before, gf_grouping *after,
                       const gf_centres *centres, const uint32_t *ids, const uint64_t *sizes,
                       gf_error *err)
{
    uint32_t k = centres->k;
    gf_tree tree = {0};
    uint32_t *start = gf_array((size_t)k + 1, sizeof *start);
    if (!start) return gf_fail_memory(err, "the tree");
    start[0] = 0;
    for (uint32_t c = 0; c < k; c++) /* weights are above 0 */
        start[c + 1] = start[c] + (uint32_t)(sizes[c] ? sizes[c] : 1);
    gf_build_clustered clustered = {.kmeans = {.k = k, .centres = *centres}, .start = start};
    gf_status st = gf_build_tree(NULL, &clustered, NULL, &tree, err);
    if (st == GF_OK) after->tree = after->group_ids = (gf_slice){0};
    if (st == GF_OK && tree.k) st = write_tree(e, &tree, after, ids, &after->tree, err);
    if (st == GF_OK && tree.k) st = write_group_ids(e, before, after, &tree, ids, sizes, err);
    gf_tree_release(&tree);
    gf_free(start);
    return st;
}
