/* Why a document is in its cluster. */
#include "engine/view/view.h"

#include "base/memory.h"

#include <stdlib.h>

static int by_part(const void *a, const void *b)
{
    const gf_reason *x = a, *y = b;
    if (x->part > y->part) return -1;
    if (x->part < y->part) return 1;
    return gf_slice_compare(x->surface, y->surface);
}

/* Terms that the document shares with the centre, by falling part. */
static size_t shared_terms(const gf_vocabulary *vocabulary, gf_row_view row, gf_row_view centre,
                           gf_reason *reasons)
{
    size_t n = 0;
    for (uint32_t i = 0, j = 0; i < row.n && j < centre.n;) {
        if (row.col[i] < centre.col[j])
            i++;
        else if (row.col[i] > centre.col[j])
            j++;
        else {
            double part = (double)row.val[i] * (double)centre.val[j];
            reasons[n++] = (gf_reason){gf_vocabulary_surface(vocabulary, row.col[i]), row.val[i],
                                       centre.val[j], part};
            i++;
            j++;
        }
    }
    if (n) qsort(reasons, n, sizeof *reasons, by_part);
    return n;
}

static gf_status explain(gf_view *v, gf_row_view row, gf_row_view centre, size_t limit,
                         gf_visit_explanation *visit, void *context, gf_error *err)
{
    gf_reason *reasons = gf_array(row.n, sizeof *reasons);
    if (!reasons) return gf_fail_memory(err, "an explanation");
    size_t n = shared_terms(&v->model.vocabulary, row, centre, reasons);
    gf_explanation e = {.reasons = reasons, .n = n < limit ? n : limit};
    for (size_t i = 0; i < n; i++) {
        e.score += reasons[i].part;
        if (i >= e.n) e.rest += reasons[i].part;
    }
    gf_status st = visit(context, &e, err);
    gf_free(reasons);
    return st;
}

gf_status gf_view_explain(gf_view *v, gf_slice id, size_t limit, gf_visit_explanation *visit,
                          void *context, gf_error *err)
{
    gf_membership m;
    gf_document document;
    gf_field *fields = NULL;
    gf_row_view row, centre = {0};
    uint32_t *col = NULL;
    float *val = NULL;
    uint64_t seq;
    gf_status st = gf_view_current_membership(v, id, &m, err);
    if (st == GF_OK && v->info.rows != GF_ROWS_OF_TEXTS)
        st = gf_fail(err, GF_ECONFLICT,
                     "this build clusters vectors that were made elsewhere, not terms: they do not "
                     "tell why");
    if (st == GF_OK) st = gf_view_load_model(v, err);
    if (st == GF_OK)
        st = gf_state_document_row(v->state, id, &v->document_row, &document, &fields, &seq, err);
    if (st == GF_OK && m.cluster)
        st = gf_view_read_centre(v, m.cluster, &col, &val, &centre.n, err);
    if (st == GF_OK) st = gf_model_row(&v->model, document.language, document.text, &row, err);
    centre.col = col;
    centre.val = val;
    if (st == GF_OK) st = explain(v, row, centre, limit, visit, context, err);
    gf_free(fields);
    gf_free(col);
    gf_free(val);
    return st;
}
