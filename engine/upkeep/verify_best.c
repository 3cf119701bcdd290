#include "engine/upkeep/verify_best.h"

#include "base/memory.h"
#include "engine/rows/copy_list.h"

#include <inttypes.h>

typedef struct best_check {
    gf_audit *audit;
    gf_view *view;
    const char *where;
    gf_row listed;
} best_check;

/* ---- sentences ------------------------------------------------------------------------------- */

static gf_status check_row(void *context, const gf_row *row, gf_error *err)
{
    best_check *b = context;
    gf_view *v = b->view;
    const gf_cell *text = gf_row_find(row, GF_CLUSTERS_MAIN, "sentence");
    const gf_cell *of = gf_row_find(row, GF_CLUSTERS_MAIN, "sentence_of");
    if (!text && !of) return GF_OK;
    gf_status st = GF_ENOTFOUND;
    if (text && of && text->value.len)
        st = gf_table_get_cell(v->store->tables.clusters, v->snapshot, row->key,
                               GF_CLUSTERS_DOCUMENTS, of->value, 1, &b->listed, err);
    if (st != GF_ENOTFOUND) return gf_audit_read(b->audit, st, b->where, err);
    return gf_audit_fault(b->audit, b->where, err,
                          "a cluster's sentence is of no document of it: \"%.*s\"",
                          GF_SLICE_ARG(of ? of->value : GF_SLICE("")));
}

/* ---- copies ---------------------------------------------------------------------------------- */

static gf_status check_copies(void *context, const gf_row *row, gf_error *err)
{
    best_check *b = context;
    const gf_cell *cell = &row->cells[0];
    uint32_t id = 0;
    const gf_listed_cluster *c =
        gf_copy_list_cluster(cell->qualifier, &id) ? gf_view_find_cluster(b->view, id) : NULL;
    if (c && c->size > b->view->info.documents) return GF_OK; /* told of already */
    if (!c)
        return gf_audit_fault(b->audit, b->where, err,
                              "a list of copies is of cluster %" PRIu32 ", which is not there", id);
    uint32_t *first = gf_array(c->size, sizeof *first);
    if (!first) return gf_fail_memory(err, "a check");
    gf_status st = gf_copy_list_read(cell->value, first, (uint32_t)c->size, err);
    gf_free(first);
    return gf_audit_read(b->audit, st, b->where, err);
}

gf_status gf_verify_best(gf_audit *audit, gf_view *v, const char *where, gf_error *err)
{
    best_check b = {.audit = audit, .view = v, .where = where};
    gf_scan_options rows = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_CLUSTERS_MAIN,
                                           .prefix = gf_buffer_view(&v->key));
    gf_scan_options cells = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_BUILDS_MODEL,
                                            .prefix = gf_buffer_view(&v->key),
                                            .qualifier_prefix = GF_SLICE(GF_COPY_LIST_PREFIX));
    gf_status st = gf_scan_each(v->store->tables.clusters, &rows, check_row, &b, err);
    if (st == GF_OK) st = gf_scan_each(v->store->tables.builds, &cells, check_copies, &b, err);
    gf_row_release(&b.listed);
    return gf_audit_read(audit, st, where, err);
}
