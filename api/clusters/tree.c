/* clusters as a tree, and cut into levels. */
#include "api/clusters/internal.h"

#include "base/memory.h"
#include "base/number.h"

typedef struct tree_rows {
    gf_row_writer row;
    bool cut;
    uint64_t documents; /* of the build that are still there: what shares of groups are of */
} tree_rows;

static void put_levels(gf_json_writer *w, const tree_rows *t, const gf_tree_node *n)
{
    gf_row_put_share(w, n->size, t->documents);
    gf_json_key(w, "levels");
    gf_json_begin(w, '[');
    for (uint32_t l = n->first_level; l && l <= n->last_level; l++)
        gf_json_uint(w, l);
    gf_json_end(w, ']');
    gf_json_key(w, "parts");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < n->n_parts; i++)
        gf_json_string(w, n->parts[i]);
    gf_json_end(w, ']');
}

static gf_status emit_node(void *context, const gf_tree_node *n, gf_error *err)
{
    tree_rows *t = context;
    gf_status st = gf_cancel_check(t->row.call->cancel, err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&t->row);
    gf_json_put_uint(w, "node", n->node);
    if (n->parent) gf_json_put_uint(w, "parent", n->parent);
    gf_json_put_uint(w, "depth", n->depth);
    if (n->cluster) gf_json_put_uint(w, "cluster", n->cluster);
    if (n->group) gf_group_put(w, "group", n->group);
    if (n->label.len) gf_json_put_string(w, "label", n->label);
    gf_json_put_uint(w, "size", n->size);
    gf_json_put_uint(w, "clusters", n->clusters);
    gf_json_put_float(w, "height", (float)n->height);
    gf_json_key(w, "children");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < n->n_children; i++)
        gf_json_uint(w, n->children[i]);
    gf_json_end(w, ']');
    if (t->cut) put_levels(w, t, n);
    return gf_row_writer_emit(&t->row, err);
}

gf_status gf_clusters_run_tree(gf_call *call, gf_view *view, gf_error *err)
{
    tree_rows t = {.row = {.call = call}};
    uint32_t depth = (uint32_t)gf_call_number(call, "depth", UINT32_MAX);
    gf_status st = gf_view_tree(view, depth, emit_node, &t, err);
    gf_row_writer_release(&t.row);
    return st;
}

static gf_status read_levels(const gf_slice *texts, size_t n, uint32_t *groups, gf_error *err)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t number;
        if (!gf_number_read(texts[i], &number) || number == 0 || number > UINT32_MAX)
            return gf_fail(err, GF_EINVAL, "levels: \"%.*s\" is not a number of groups",
                           GF_SLICE_ARG(texts[i]));
        groups[i] = (uint32_t)number;
    }
    return GF_OK;
}

gf_status gf_clusters_run_levels(gf_call *call, gf_view *view, gf_error *err)
{
    tree_rows t = {.row = {.call = call}, .cut = true};
    gf_slice *texts;
    size_t n;
    gf_status st = gf_call_list(call, "levels", &texts, &n, err);
    if (st != GF_OK) return st;
    uint32_t *groups = gf_array(n, sizeof *groups);
    if (!groups) st = gf_fail_memory(err, "arguments");
    if (st == GF_OK) st = read_levels(texts, n, groups, err);
    if (st == GF_OK) st = gf_view_documents_left(view, &t.documents, err);
    if (st == GF_OK) st = gf_view_levels(view, groups, n, emit_node, &t, err);
    gf_row_writer_release(&t.row);
    gf_free(groups);
    gf_free(texts);
    return st;
}
