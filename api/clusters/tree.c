/* clusters as a tree. */
#include "api/clusters/internal.h"

static gf_status emit_node(void *context, const gf_tree_node *n, gf_error *err)
{
    gf_row_writer *row = context;
    gf_status st = gf_cancel_check(row->call->cancel, err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(row);
    gf_json_put_uint(w, "node", n->node);
    if (n->parent) gf_json_put_uint(w, "parent", n->parent);
    gf_json_put_uint(w, "depth", n->depth);
    if (n->cluster) gf_json_put_uint(w, "cluster", n->cluster);
    if (n->label.len) gf_json_put_string(w, "label", n->label);
    gf_json_put_uint(w, "size", n->size);
    gf_json_put_uint(w, "clusters", n->clusters);
    gf_json_put_float(w, "height", (float)n->height);
    gf_json_key(w, "children");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < n->n_children; i++)
        gf_json_uint(w, n->children[i]);
    gf_json_end(w, ']');
    return gf_row_writer_emit(row, err);
}

gf_status gf_clusters_run_tree(gf_call *call, gf_view *view, gf_error *err)
{
    gf_row_writer row = {.call = call};
    uint32_t depth = (uint32_t)gf_call_number(call, "depth", UINT32_MAX);
    gf_status st = gf_view_tree(view, depth, emit_node, &row, err);
    gf_row_writer_release(&row);
    return st;
}
