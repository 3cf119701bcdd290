#include "engine/watch/rising.h"

#include "base/memory.h"
#include "engine/rows/document_row.h"
#include "engine/rows/hours.h"
#include "grouperfish/calendar.h"

#include <stdlib.h>

enum { TERMS = 10, MS_PER_HOUR = 3600000 };

typedef struct counting {
    gf_view *view;
    const gf_trends *trends;
    const gf_cancel *cancel;
    gf_field *fields;
    size_t room;
    uint32_t n_terms;
    uint32_t *all, *recent; /* n_terms: documents with the term */
    uint64_t documents, recent_documents;
} counting;

static gf_status read_document(counting *c, const gf_row *row, gf_slice id, gf_document *d,
                               gf_error *err)
{
    uint64_t seq;
    if (row->n_cells > c->room) {
        gf_free(c->fields);
        c->room = row->n_cells + 16;
        c->fields = gf_array(c->room, sizeof *c->fields);
        if (!c->fields) {
            c->room = 0;
            return gf_fail_memory(err, "a document");
        }
    }
    gf_document_row_read(row, id, c->fields, d, &seq);
    return GF_OK;
}

static gf_status count_document(void *context, gf_slice id, const gf_membership_cells *cells,
                                const gf_row *document, gf_error *err)
{
    counting *c = context;
    const gf_trends *t = c->trends;
    int32_t hour = gf_hours_of_row(document);
    gf_document d;
    gf_row_view row;
    (void)cells;
    gf_status st = gf_cancel_check(c->cancel, err);
    if (st != GF_OK || hour == GF_NO_HOUR) return st;
    int64_t at = gf_calendar_period(t->kind, (int64_t)hour * MS_PER_HOUR) - t->first;
    if (at < 0) return GF_OK;
    bool is_recent = (uint64_t)at >= t->n_periods - t->n_recent;
    st = read_document(c, document, id, &d, err);
    if (st == GF_OK) st = gf_view_row_of(c->view, &d, &row, err);
    if (st != GF_OK) return st;
    c->documents++;
    c->recent_documents += is_recent;
    for (uint32_t e = 0; e < row.n; e++) {
        if (row.col[e] >= c->n_terms) continue;
        c->all[row.col[e]]++;
        c->recent[row.col[e]] += is_recent;
    }
    return GF_OK;
}

/* The heaviest terms of a centre come to the front. */
static uint32_t choose_terms(uint32_t *term, float *value, uint32_t n)
{
    uint32_t chosen = n < TERMS ? n : TERMS;
    for (uint32_t i = 0; i < chosen; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            if (value[j] <= value[i]) continue;
            uint32_t other = term[i];
            float weight = value[i];
            term[i] = term[j];
            value[i] = value[j];
            term[j] = other;
            value[j] = weight;
        }
    return chosen;
}

static gf_status judge_rise(const counting *c, gf_watch_rise *rise, gf_error *err)
{
    uint32_t *term = NULL, n = 0;
    float *value = NULL;
    double share = c->documents ? (double)c->recent_documents / (double)c->documents : 1;
    rise->p = 1;
    gf_status st = gf_view_read_centre(c->view, rise->cluster, &term, &value, &n, err);
    if (st == GF_OK) n = choose_terms(term, value, n);
    for (uint32_t i = 0; st == GF_OK && i < n; i++) {
        uint32_t t = term[i];
        if (t >= c->n_terms || (double)c->recent[t] <= share * (double)c->all[t]) continue;
        double p = gf_view_chance(c->all[t], c->recent[t], share) * c->n_terms;
        if (p < rise->p) rise->p = p;
    }
    gf_free(term);
    gf_free(value);
    return st;
}

gf_status gf_watch_judge_rises(gf_view *v, const gf_trends *trends, const gf_cancel *cancel,
                               gf_watch_rise *rises, size_t n, gf_error *err)
{
    counting c = {.view = v, .trends = trends, .cancel = cancel};
    if (n == 0) return GF_OK;
    if (v->info.rows != GF_ROWS_OF_TEXTS)
        return gf_fail(err, GF_ECONFLICT, "the rows of this build are no texts'");
    gf_status st = gf_view_load_model(v, err);
    if (st != GF_OK) return st;
    c.n_terms = v->model.vocabulary.n_regular;
    c.all = gf_calloc((size_t)c.n_terms + 1, sizeof *c.all);
    c.recent = gf_calloc((size_t)c.n_terms + 1, sizeof *c.recent);
    if (!c.all || !c.recent) st = gf_fail_memory(err, "terms");
    if (st == GF_OK) st = gf_view_each_member(v, count_document, &c, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = judge_rise(&c, &rises[i], err);
    gf_free(c.all);
    gf_free(c.recent);
    gf_free(c.fields);
    return st;
}
