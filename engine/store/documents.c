/* Reading documents, whatever build they are in. */
#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "engine/rows/document_row.h"
#include "engine/rows/filter.h"
#include "engine/rows/scan.h"
#include "engine/store/collections.h"
#include "grouperfish/state.h"

/* The walk's state: what is reused from document to document. */
typedef struct document_walk {
    gf_table *table;
    gf_field *fields;
    size_t capacity;
    gf_buffer id;
    gf_visit_document *visit;
    void *context;
} document_walk;

static gf_status visit_row(void *context, const gf_row *row, gf_error *err)
{
    document_walk *w = context;
    gf_document document;
    uint64_t seq;
    gf_buffer_reset(&w->id);
    gf_status st = gf_tables_key_last_string(w->table, row->key, &w->id, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&w->fields, &w->capacity, row->n_cells, sizeof *w->fields))
        return gf_fail_memory(err, "a document");
    gf_document_row_read(row, gf_buffer_view(&w->id), w->fields, &document, &seq);
    return w->visit(w->context, &document, err);
}

/* Each row of a collection's documents, in one snapshot. */
static gf_status walk_rows(gf_store *s, gf_place where, gf_each_row *each, void *context,
                           gf_error *err)
{
    gf_collection_row collection = {0};
    gf_buffer prefix = {0};
    gf_snapshot *snapshot = NULL;
    gf_tables_collection_key(&prefix, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&prefix, err);
    if (st == GF_OK) st = gf_snapshot_create(s->db, &snapshot, err);
    if (st == GF_OK) st = gf_collection_row_read(s, snapshot, where, &collection, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = snapshot, .family = GF_DOCUMENTS_MAIN,
                                        .prefix = gf_buffer_view(&prefix));
    if (st == GF_OK) st = gf_scan_each(s->tables.documents, &o, each, context, err);
    gf_snapshot_free(snapshot);
    gf_buffer_release(&prefix);
    gf_collection_row_release(&collection);
    return st;
}

gf_status gf_documents_visit(gf_store *s, gf_place where, gf_visit_document *visit, void *context,
                             gf_error *err)
{
    document_walk w = {.table = s->tables.documents, .visit = visit, .context = context};
    gf_status st = walk_rows(s, where, visit_row, &w, err);
    gf_free(w.fields);
    gf_buffer_release(&w.id);
    return st;
}

/* ---- choosing -------------------------------------------------------------------------------- */

typedef struct choosing {
    gf_table *table;
    gf_filter filter;
    gf_buffer id;
    gf_visit_id *visit;
    void *context;
} choosing;

static gf_status choose_row(void *context, const gf_row *row, gf_error *err)
{
    choosing *c = context;
    bool meant = false;
    gf_status st = gf_filter_test(&c->filter, row, &meant, err);
    if (st != GF_OK || !meant) return st;
    gf_buffer_reset(&c->id);
    st = gf_tables_key_last_string(c->table, row->key, &c->id, err);
    return st == GF_OK ? c->visit(c->context, gf_buffer_view(&c->id), err) : st;
}

static gf_status open_choice(choosing *c, const gf_document_choice *choice, gf_error *err)
{
    gf_status st = GF_OK;
    gf_filter_init(&c->filter);
    if (choice->before.len &&
        !gf_filter_read_moment(choice->before, gf_clock_ms(), &c->filter.until))
        st =
            gf_fail(err, GF_EINVAL, "before: \"%.*s\" is not a time", GF_SLICE_ARG(choice->before));
    for (size_t i = 0; i < choice->n_where && st == GF_OK; i++)
        st = gf_filter_add(&c->filter, choice->where[i], err);
    return st;
}

gf_status gf_documents_choose(gf_store *s, gf_place where, const gf_document_choice *choice,
                              gf_visit_id *visit, void *context, gf_error *err)
{
    choosing c = {.table = s->tables.documents, .visit = visit, .context = context};
    gf_status st = open_choice(&c, choice, err);
    if (st == GF_OK) st = walk_rows(s, where, choose_row, &c, err);
    gf_filter_release(&c.filter);
    gf_buffer_release(&c.id);
    return st;
}
