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

/*
 * The same where the row is a sum of words' vectors: a term's part is its weight times the product
 * of its vector with the centre, over the sum's length. Parts may be below 0.
 */
static gf_status explain_words(gf_view *v, gf_row_view row, gf_row_view centre, size_t limit,
                               gf_visit_explanation *visit, void *context, gf_error *err)
{
    const gf_term_vectors *w = &v->words;
    size_t n = 0;
    gf_reason *reasons = gf_array(row.n, sizeof *reasons);
    float *sum = gf_array(w->d, sizeof *sum);
    gf_status st = reasons && sum ? GF_OK : gf_fail_memory(err, "an explanation");
    double length = st == GF_OK ? gf_term_vectors_row(w, row, v->word_sum, sum) : 0;
    for (uint32_t p = 0; st == GF_OK && p < row.n && length > 0; p++) {
        uint32_t t = row.col[p];
        double product = 0;
        if (!(w->scale[t] > 0)) continue;
        for (uint32_t e = 0; e < centre.n; e++)
            product += (double)centre.val[e] * w->value[(size_t)t * w->d + centre.col[e]];
        product *= (double)w->scale[t] / length;
        reasons[n++] = (gf_reason){gf_vocabulary_surface(&v->model.vocabulary, t), row.val[p],
                                   (float)product, (double)row.val[p] * product};
    }
    if (st == GF_OK && n) qsort(reasons, n, sizeof *reasons, by_part);
    gf_explanation e = {.reasons = reasons, .n = n < limit ? n : limit};
    for (size_t i = 0; i < n; i++) {
        e.score += reasons[i].part;
        if (i >= e.n) e.rest += reasons[i].part;
    }
    if (st == GF_OK) st = visit(context, &e, err);
    gf_free(reasons);
    gf_free(sum);
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
    if (st == GF_OK && gf_rows_are_given(v->info.rows))
        st = gf_fail(err, GF_ECONFLICT,
                     "this build clusters vectors that were made elsewhere, not terms: they do not "
                     "tell why");
    if (st == GF_OK && m.is_new)
        st = gf_fail(err, GF_ECONFLICT,
                     "its cluster is of new documents, by words that the build does not have: the "
                     "terms of cluster %u tell why",
                     m.cluster);
    if (st == GF_OK) st = gf_view_load_analysis(v, err);
    if (st == GF_OK)
        st = gf_state_document_row(v->state, id, &v->document_row, &document, &fields, &seq, err);
    if (st == GF_OK && m.cluster)
        st = gf_view_read_centre(v, m.cluster, &col, &val, &centre.n, err);
    if (st == GF_OK) st = gf_model_row(&v->model, document.language, document.text, &row, err);
    centre.col = col;
    centre.val = val;
    if (st == GF_OK && v->info.rows == GF_ROWS_OF_WORDS)
        st = explain_words(v, row, centre, limit, visit, context, err);
    else if (st == GF_OK)
        st = explain(v, row, centre, limit, visit, context, err);
    gf_free(fields);
    gf_free(col);
    gf_free(val);
    return st;
}
