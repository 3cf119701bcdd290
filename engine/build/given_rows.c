#include "engine/build/given_rows.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"
#include "engine/build/plan.h"
#include "engine/rows/document_row.h"
#include "engine/rows/kept_rows.h"
#include "engine/rows/scan.h"
#include "engine/rows/vector.h"

struct gf_given_rows {
    gf_matrix matrix; /* borrows from what follows */
    gf_csr sparse;
    float *dense;
    gf_slice *id;
    uint32_t n;
    uint64_t entries;
    size_t rows, starts, cols, vals; /* capacities */
    gf_arena ids;
};

void gf_given_rows_free(gf_given_rows *g)
{
    if (!g) return;
    gf_csr_release(&g->sparse);
    gf_free(g->dense);
    gf_free(g->id);
    gf_arena_release(&g->ids);
    gf_free(g);
}

/* ---- what has changed since the served build ------------------------------------------------- */

typedef struct given_walk {
    const gf_build_plan *plan;
    gf_kept_rows kept;
    gf_strings changed; /* documents put or deleted since */
    gf_vector vector;
    gf_row row;
    gf_field *fields;
    gf_given_rows *out;
} given_walk;

static void release_walk(given_walk *w)
{
    gf_kept_rows_release(&w->kept);
    gf_strings_release(&w->changed);
    gf_vector_release(&w->vector);
    gf_row_release(&w->row);
    gf_free(w->fields);
}

static gf_status open_kept(given_walk *w, gf_buffer *key, gf_error *err)
{
    const gf_build_plan *p = w->plan;
    gf_tables_build_key(key, p->where.name_space, p->where.collection, p->configuration,
                        p->served.build);
    gf_status st = gf_buffer_check(key, err);
    if (st != GF_OK) return st;
    return gf_kept_rows_open(&w->kept, p->store->tables.builds, p->snapshot, gf_buffer_view(key),
                             err);
}

static gf_status note_change(void *context, const gf_row *row, gf_error *err)
{
    given_walk *w = context;
    const gf_cell *id = gf_row_find(row, GF_CHANGES_MAIN, "id");
    uint32_t number;
    if (!id) return gf_fail(err, GF_ECORRUPT, "table changes: a row is damaged");
    return gf_strings_add(&w->changed, id->value, &number, NULL, err);
}

static gf_status list_changes(given_walk *w, gf_error *err)
{
    const gf_build_plan *p = w->plan;
    gf_buffer start = {0}, prefix = {0};
    gf_tables_collection_key(&prefix, p->where.name_space, p->where.collection);
    gf_tables_change_key(&start, p->where.name_space, p->where.collection, p->served.seq + 1);
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_buffer_check(&prefix, err);
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = p->snapshot, .family = GF_CHANGES_MAIN,
                        .prefix = gf_buffer_view(&prefix), .start = gf_buffer_view(&start));
    if (st == GF_OK) st = gf_scan_each(p->store->tables.changes, &o, note_change, w, err);
    gf_buffer_release(&start);
    gf_buffer_release(&prefix);
    return st;
}

/* The row that a document brought along, into w->vector; none where the document has gone. */
static gf_status read_brought(given_walk *w, gf_slice id, gf_error *err)
{
    const gf_build_plan *p = w->plan;
    gf_buffer key = {0};
    gf_document d;
    uint64_t seq;
    w->vector.n = 0;
    gf_tables_document_key(&key, p->where.name_space, p->where.collection, id);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_build_plan_document(p, gf_buffer_view(&key), &w->row, err);
    gf_buffer_release(&key);
    if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
    gf_free(w->fields);
    w->fields = gf_array(w->row.n_cells, sizeof *w->fields);
    if (!w->fields) return gf_fail_memory(err, "a document");
    gf_document_row_read(&w->row, id, w->fields, &d, &seq);
    return gf_vector_read(&w->vector, &d, w->kept.n_cols, err);
}

gf_status gf_given_rows_due(const gf_build_plan *p, bool modified, bool *due, gf_error *err)
{
    const gf_rebuild_options *o = p->options;
    given_walk w = {.plan = p};
    gf_buffer key = {0};
    *due = false;
    if (!p->served.build || !gf_rows_are_given(p->served.rows) || o->matrix) return GF_OK;
    if (!o->same_rows && (o->force || !modified)) return GF_OK;
    gf_status st = open_kept(&w, &key, err);
    bool keeps = st == GF_OK;
    if (st == GF_ENOTFOUND) st = GF_OK;
    if (keeps && !o->same_rows) st = list_changes(&w, err);
    *due = keeps && o->same_rows;
    for (uint32_t i = 0; keeps && i < w.changed.n && st == GF_OK && !*due; i++) {
        st = read_brought(&w, gf_strings_at(&w.changed, i), err);
        *due = st == GF_OK && w.vector.n > 0;
    }
    release_walk(&w);
    gf_buffer_release(&key);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status add_sparse(gf_given_rows *g, gf_row_view row, gf_error *err)
{
    gf_csr *x = &g->sparse;
    if (!gf_grow(&x->start, &g->starts, (size_t)g->n + 2, sizeof *x->start) ||
        !gf_grow(&x->col, &g->cols, (size_t)g->entries + row.n, sizeof *x->col) ||
        !gf_grow(&x->val, &g->vals, (size_t)g->entries + row.n, sizeof *x->val))
        return gf_fail_memory(err, "rows");
    x->start[0] = 0;
    if (row.n) memcpy(x->col + g->entries, row.col, row.n * sizeof *row.col);
    if (row.n) memcpy(x->val + g->entries, row.val, row.n * sizeof *row.val);
    g->entries += row.n;
    x->start[g->n + 1] = g->entries;
    return GF_OK;
}

static gf_status add_dense(gf_given_rows *g, uint32_t n_cols, gf_row_view row, gf_error *err)
{
    if (!gf_grow(&g->dense, &g->vals, ((size_t)g->n + 1) * n_cols, sizeof *g->dense))
        return gf_fail_memory(err, "rows");
    float *to = g->dense + (size_t)g->n * n_cols;
    memset(to, 0, n_cols * sizeof *to);
    for (uint32_t i = 0; i < row.n; i++)
        to[row.col[i]] = row.val[i];
    return GF_OK;
}

static gf_status add_row(given_walk *w, gf_slice id, gf_row_view row, gf_error *err)
{
    gf_given_rows *g = w->out;
    if (!gf_grow(&g->id, &g->rows, (size_t)g->n + 1, sizeof *g->id))
        return gf_fail_memory(err, "rows");
    g->id[g->n] = gf_arena_copy(&g->ids, id);
    if (!g->id[g->n].ptr) return gf_fail_memory(err, "rows");
    gf_status st =
        w->kept.sparse ? add_sparse(g, row, err) : add_dense(g, w->kept.n_cols, row, err);
    g->n += st == GF_OK;
    return st;
}

static gf_status add_kept(void *context, gf_slice id, gf_row_view row, gf_error *err)
{
    given_walk *w = context;
    gf_status st = gf_cancel_check(w->plan->options->cancel, err);
    if (st != GF_OK || gf_strings_find(&w->changed, id) != GF_STRING_NONE) return st;
    return add_row(w, id, row, err);
}

static gf_status read_rows(given_walk *w, gf_error *err)
{
    gf_buffer key = {0};
    gf_status st = open_kept(w, &key, err);
    if (st == GF_ENOTFOUND) st = gf_fail(err, GF_ECORRUPT, "a build has lost its rows");
    if (st == GF_OK) st = list_changes(w, err);
    if (st == GF_OK) st = gf_kept_rows_each(&w->kept, add_kept, w, err);
    for (uint32_t i = 0; i < w->changed.n && st == GF_OK; i++) {
        gf_slice id = gf_strings_at(&w->changed, i);
        st = read_brought(w, id, err);
        if (st == GF_OK && w->vector.n) st = add_row(w, id, gf_vector_row(&w->vector), err);
    }
    gf_buffer_release(&key);
    return st;
}

gf_status gf_given_rows_read(gf_build_plan *plan, gf_error *err)
{
    gf_given_rows *g = gf_calloc(1, sizeof *g);
    if (!g) return gf_fail_memory(err, "rows");
    given_walk w = {.plan = plan, .out = g};
    gf_status st = read_rows(&w, err);
    g->sparse.n_rows = g->n;
    g->sparse.n_cols = w.kept.n_cols;
    g->matrix = (gf_matrix){.n_rows = g->n,
                            .n_cols = w.kept.n_cols,
                            .id = g->id,
                            .sparse = w.kept.sparse ? &g->sparse : NULL,
                            .dense = g->dense};
    release_walk(&w);
    if (st != GF_OK) {
        gf_given_rows_free(g);
        return st;
    }
    gf_given_rows_free(plan->given);
    plan->given = g;
    plan->matrix = g->n ? &g->matrix : NULL;
    return GF_OK;
}
