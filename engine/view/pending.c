/*
 * Documents that came, or were put anew, after a view's build: where they would be in it.
 *
 * Provisional memberships are worked out when they are read. Storing them would make each put into
 * some thousand collections load as many models, and publishing a build rewrite them all.
 */
#include "engine/view/view.h"

#include "base/memory.h"

static gf_status fail_left_out(gf_view *v, gf_error *err)
{
    gf_buffer_reset(&v->text);
    gf_status st = gf_filter_why_not(&v->filter, &v->document_row, &v->text, err);
    if (st != GF_OK) return st;
    return gf_fail(err, GF_ENOTFOUND, "left out by the settings: %.*s",
                   GF_SLICE_ARG(gf_buffer_view(&v->text)));
}

/* A document that is in a candidate. */
static void describe_candidate(const gf_view *v, gf_slice id, gf_membership *m)
{
    const gf_candidate_document *d = NULL;
    const gf_new_candidate *c = gf_view_new_of(v, id, &d);
    if (c) gf_view_describe_new(v, c, d, m);
}

static void tell_before(gf_membership *m, bool in_build, const gf_membership_cells *cells)
{
    m->replaced = in_build;
    m->before = in_build ? cells->cluster : 0;
}

gf_status gf_view_current_membership(gf_view *v, gf_slice id, gf_membership *m, gf_error *err)
{
    gf_document document;
    gf_membership_cells cells;
    gf_field *fields = NULL;
    uint64_t seq;
    bool about;
    gf_status st = gf_view_load_clusters(v, err);
    if (st == GF_OK)
        st = gf_state_document_row(v->state, id, &v->document_row, &document, &fields, &seq, err);
    if (st != GF_OK) return st;
    st = gf_view_read_cells(v, id, &cells, err);
    bool in_build = st == GF_OK;
    if (in_build && seq <= v->info.seq) {
        gf_view_describe(v, &cells, m);
    } else if (in_build || st == GF_ENOTFOUND) {
        st = gf_view_selects(v, &v->document_row, &about, err);
        if (st == GF_OK && !about) st = fail_left_out(v, err);
        if (st == GF_OK) st = gf_view_assign_document(v, &document, m, err);
        if (st == GF_OK) st = gf_view_load_new(v, err);
        if (st == GF_OK) describe_candidate(v, id, m);
        if (st == GF_OK) tell_before(m, in_build, &cells);
    }
    gf_free(fields);
    return st;
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct pending_walk {
    gf_view *view;
    bool candidates;
    gf_row row;
    gf_visit_pending *visit;
    void *context;
} pending_walk;

static gf_status visit_pending(pending_walk *w, const gf_document *document, gf_error *err)
{
    gf_view *v = w->view;
    gf_membership_cells cells;
    gf_membership m;
    bool about;
    gf_status st = gf_view_selects(v, &w->row, &about, err);
    if (st != GF_OK || !about) return st;
    st = gf_view_read_cells(v, document->id, &cells, err);
    bool in_build = st == GF_OK;
    if (st == GF_OK || st == GF_ENOTFOUND) st = gf_view_assign_document(v, document, &m, err);
    if (st != GF_OK) return st;
    if (w->candidates) describe_candidate(v, document->id, &m);
    tell_before(&m, in_build, &cells);
    return w->visit(w->context, document, &m, err);
}

/*
 * A document is visited at its last change: at earlier ones its seq is another, and after a deletion
 * it is not there.
 */
static gf_status look_at_change(void *context, const gf_row *row, gf_error *err)
{
    pending_walk *w = context;
    gf_document document;
    gf_field *fields = NULL;
    uint64_t changed, seq;
    const gf_cell *id = gf_row_find(row, GF_CHANGES_MAIN, "id");
    if (!id) return gf_fail(err, GF_ECORRUPT, "table changes: a row is damaged");
    gf_status st =
        gf_tables_key_last_number(w->view->store->tables.changes, row->key, &changed, err);
    if (st != GF_OK) return st;
    st = gf_state_document_row(w->view->state, id->value, &w->row, &document, &fields, &seq, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st == GF_OK && seq == changed) st = visit_pending(w, &document, err);
    gf_free(fields);
    return st;
}

static gf_status walk_pending(gf_view *v, bool candidates, gf_visit_pending *visit, void *context,
                              gf_error *err)
{
    pending_walk w = {.view = v, .candidates = candidates, .visit = visit, .context = context};
    gf_status st = candidates ? gf_view_load_new(v, err) : GF_OK;
    if (st == GF_OK) st = gf_view_each_change(v, look_at_change, &w, err);
    gf_row_release(&w.row);
    return st;
}

gf_status gf_view_each_pending(gf_view *v, gf_visit_pending *visit, void *context, gf_error *err)
{
    return walk_pending(v, false, visit, context, err);
}

gf_status gf_view_pending(gf_view *v, gf_visit_pending *visit, void *context, gf_error *err)
{
    return walk_pending(v, true, visit, context, err);
}
