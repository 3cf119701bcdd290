/* doc: a document, its place under each configuration, and why it is there. */
#include "api/call_internal.h"

typedef struct showing {
    gf_call *call;
    gf_store *store;
    gf_row_writer row;
    gf_view *view; /* of the configuration at hand */
} showing;

static gf_slice id_of(const showing *s)
{
    return gf_call_text(s->call, "id");
}

static gf_status write_document(void *context, const gf_document *d, gf_error *err)
{
    showing *s = context;
    (void)err;
    gf_json_put_document(&s->row.json, d, true);
    return GF_OK;
}

static gf_status write_reasons(void *context, const gf_explanation *e, gf_error *err)
{
    showing *s = context;
    gf_json_writer *w = &s->row.json;
    (void)err;
    gf_json_key(w, "why");
    gf_json_begin(w, '{');
    gf_json_key(w, "terms");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < e->n; i++) {
        gf_json_begin(w, '{');
        gf_json_put_string(w, "term", e->reasons[i].surface);
        gf_json_put_float(w, "in_document", e->reasons[i].in_document);
        gf_json_put_float(w, "in_cluster", e->reasons[i].in_centre);
        gf_json_put_double(w, "part", e->reasons[i].part);
        gf_json_end(w, '}');
    }
    gf_json_end(w, ']');
    gf_json_put_double(w, "rest", e->rest);
    gf_json_put_double(w, "sum", e->score);
    gf_json_end(w, '}');
    return GF_OK;
}

static gf_status write_place(showing *s, gf_slice configuration, gf_error *err)
{
    gf_json_writer *w = &s->row.json;
    gf_membership m;
    gf_error why = {GF_OK, ""};
    gf_json_begin(w, '{');
    gf_json_put_string(w, "configuration", configuration);
    gf_json_put_uint(w, "build", (uint64_t)gf_view_build(s->view)->build);
    gf_status st = gf_view_membership(s->view, id_of(s), &m, &why);
    if (st == GF_OK) gf_json_put_membership(w, &m);
    if (st == GF_OK && gf_call_flag(s->call, "why") && m.cluster) {
        st = gf_view_explain(s->view, id_of(s), gf_call_number(s->call, "terms", 10), write_reasons,
                             s, &why);
        if (st == GF_ECONFLICT) {
            gf_json_put_str(w, "note", why.message);
            st = GF_OK;
        }
    }
    if (st == GF_ENOTFOUND) { /* the document is there, but came after the build */
        gf_json_put_str(w, "note", why.message);
        st = GF_OK;
    }
    gf_json_end(w, '}');
    if (st != GF_OK && err) *err = why;
    return st;
}

static gf_status visit_configuration(void *context, gf_slice name, gf_error *err)
{
    showing *s = context;
    gf_error why = {GF_OK, ""};
    gf_slice only = gf_call_text(s->call, "config");
    if (only.len && !gf_slice_equal(only, name)) return GF_OK;
    gf_status st = gf_view_open(s->store, gf_call_place(s->call), name,
                                (int64_t)gf_call_number(s->call, "build", 0), &s->view, &why);
    if (st == GF_ENOTFOUND && !only.len && !gf_call_has(s->call, "build")) return GF_OK;
    if (st != GF_OK) {
        if (err) *err = why;
        return st;
    }
    st = write_place(s, name, err);
    gf_view_close(s->view);
    return st;
}

static gf_status show(showing *s, gf_error *err)
{
    gf_place where = gf_call_place(s->call);
    gf_json_begin(&s->row.json, '{');
    gf_json_put_string(&s->row.json, "collection", where.collection);
    gf_status st = gf_document_read(s->store, where, id_of(s), write_document, s, err);
    if (st != GF_OK) return st;
    gf_json_key(&s->row.json, "memberships");
    gf_json_begin(&s->row.json, '[');
    st = gf_configurations_visit(s->store, where, visit_configuration, s, err);
    gf_json_end(&s->row.json, ']');
    gf_json_end(&s->row.json, '}');
    return st == GF_OK ? gf_row_emit(&s->row, s->call, err) : st;
}

static gf_status emit_column(void *context, const char *family, gf_slice qualifier, gf_slice value,
                             gf_error *err)
{
    showing *s = context;
    gf_json_begin(&s->row.json, '{');
    gf_json_put_str(&s->row.json, "family", family);
    gf_json_put_string(&s->row.json, "column", qualifier);
    gf_json_put_string(&s->row.json, "value", value);
    gf_json_end(&s->row.json, '}');
    return gf_row_emit(&s->row, s->call, err);
}

gf_status gf_run_doc(gf_call *call, gf_error *err)
{
    showing s = {.call = call};
    gf_status st = gf_call_store(call, &s.store, err);
    if (st != GF_OK) return st;
    gf_row_open(&s.row);
    st = gf_call_flag(call, "columns")
             ? gf_document_columns(s.store, gf_call_place(call), id_of(&s), emit_column, &s, err)
             : show(&s, err);
    gf_row_release_writer(&s.row);
    return st;
}
