/* clusters by a field of their documents. */
#include "api/clusters/internal.h"
#include "base/memory.h"

typedef struct by_field_rows {
    gf_row_writer row;
    gf_slice field;
    const gf_view *view;
    uint64_t hidden; /* clusters of a table that are left out: of each the same */
} by_field_rows;

static void begin_map(gf_json_writer *w, const char *name)
{
    gf_json_key(w, name);
    gf_json_begin(w, '{');
}

static void put_named(gf_json_writer *w, const char *name, const gf_by_field *t,
                      const gf_field_row *r, gf_difference difference)
{
    gf_json_key(w, name);
    gf_json_begin(w, '[');
    for (size_t v = 0; v < t->n_values; v++)
        if (r->cells[v].difference == difference) gf_json_string(w, t->values[v]);
    gf_json_end(w, ']');
}

static void put_values(gf_json_writer *w, const gf_by_field *t, const gf_field_row *r, bool all)
{
    begin_map(w, "counts");
    for (size_t v = 0; v < t->n_values; v++) {
        gf_json_key_slice(w, t->values[v]);
        gf_json_uint(w, r->cells[v].documents);
    }
    gf_json_end(w, '}');
    gf_json_put_uint(w, "other", r->other);
    begin_map(w, "shares");
    for (size_t v = 0; v < t->n_values; v++) {
        gf_json_key_slice(w, t->values[v]);
        gf_json_double(w, r->cells[v].share);
    }
    gf_json_end(w, '}');
    if (all) return;
    begin_map(w, "z_of");
    for (size_t v = 0; v < t->n_values; v++) {
        gf_json_key_slice(w, t->values[v]);
        gf_json_double(w, r->cells[v].z);
    }
    gf_json_end(w, '}');
    put_named(w, "more", t, r, GF_MORE);
    put_named(w, "less", t, r, GF_LESS);
}

static void put_numbers(gf_json_writer *w, const gf_field_numbers *n, bool all)
{
    begin_map(w, "numbers");
    gf_json_put_double(w, "mean", n->mean);
    gf_json_put_double(w, "least", n->least);
    gf_json_put_double(w, "lower", n->lower);
    gf_json_put_double(w, "median", n->median);
    gf_json_put_double(w, "upper", n->upper);
    gf_json_put_double(w, "most", n->most);
    if (!all) {
        gf_json_put_double(w, "above", n->above);
        gf_json_put_double(w, "z", n->z);
        gf_json_put_str(w, "difference",
                        n->difference == GF_MORE   ? "higher"
                        : n->difference == GF_LESS ? "lower"
                                                   : "same");
    }
    gf_json_end(w, '}');
}

static void put_period(gf_json_writer *w, const gf_by_field *t)
{
    gf_buffer text = {0};
    gf_calendar_write(t->kind, t->period, &text);
    gf_json_put_string(w, "period", gf_buffer_view(&text));
    if (text.state != GF_OK) w->out->state = text.state;
    gf_buffer_release(&text);
}

static gf_status emit_row(by_field_rows *b, const gf_by_field *t, size_t i, gf_error *err)
{
    const gf_field_row *r = &t->rows[i];
    gf_json_writer *w = gf_row_writer_begin(&b->row);
    if (i && r->cluster)
        gf_json_put_uint(w, "cluster", r->cluster);
    else
        gf_json_key(w, "cluster"), gf_json_null(w);
    gf_json_put_string(w, "label", i ? r->label : GF_SLICE("all documents"));
    if (i == 0) gf_json_put_bool(w, "total", true);
    gf_json_put_uint(w, "size", r->size);
    gf_json_put_string(w, "field", b->field);
    if (t->in_period) put_period(w, t);
    if (i == 0 && t->in_period) gf_json_put_uint(w, "before", t->before);
    if (i == 0 && t->in_period) gf_json_put_uint(w, "undated", t->undated);
    gf_json_put_uint(w, "missing", r->missing);
    if (t->numbers)
        put_numbers(w, &r->numbers, i == 0);
    else
        put_values(w, t, r, i == 0);
    if (i == 0 && !t->numbers) gf_json_put_uint(w, "distinct", t->distinct);
    gf_json_put_double(w, "clear", t->clear);
    return gf_row_writer_emit(&b->row, err);
}

static gf_status emit_table(void *context, const gf_by_field *t, gf_error *err)
{
    by_field_rows *b = context;
    bool with_hidden = gf_call_flag(b->row.call, "hidden");
    gf_status st = GF_OK;
    b->hidden = 0;
    for (size_t i = 0; i < t->n_rows && st == GF_OK; i++) {
        st = gf_cancel_check(b->row.call->cancel, err);
        if (!with_hidden && t->rows[i].cluster && gf_view_hides(b->view, t->rows[i].cluster))
            b->hidden++;
        else if (st == GF_OK)
            st = emit_row(b, t, i, err);
    }
    return st;
}

gf_status gf_clusters_run_by_field(gf_call *call, gf_view *view, gf_error *err)
{
    by_field_rows b = {
        .row = {.call = call}, .field = gf_call_text(call, "by-field"), .view = view};
    size_t n = gf_call_count(call, "where");
    gf_slice *where = gf_array(n, sizeof *where);
    if (!where) return gf_fail_memory(err, "arguments");
    for (size_t i = 0; i < n; i++)
        where[i] = gf_call_nth(call, "where", i);
    gf_by_field_options o =
        GF_BY_FIELD_OPTIONS(.field = b.field, .where = where, .n_where = n, .cancel = call->cancel,
                            .most_values = (size_t)gf_call_number(call, "values", 0));
    if (gf_call_has(call, "by")) {
        o.by_time = true;
        o.kind = gf_clusters_unit(call);
        o.most_periods = (size_t)gf_clusters_periods(call);
    }
    gf_status st = gf_view_by_field(view, &o, emit_table, &b, err);
    if (st == GF_OK) gf_clusters_tell_hidden(call, b.hidden);
    gf_row_writer_release(&b.row);
    gf_free(where);
    return st;
}
