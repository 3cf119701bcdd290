/* doc: a document, its place under each configuration, and why it is there. */
#include "api/documents/internal.h"
#include "api/documents/schema.h"

enum { TERMS_SHOWN = 10, MOST_TERMS = 1000 };

typedef struct showing {
    gf_row_writer row;
    gf_state *state;
    gf_slice id;
    gf_slice only; /* this configuration; empty: all that have a build */
    gf_view *view; /* of the configuration at hand */
} showing;

static gf_status write_document(void *context, const gf_document *d, gf_error *err)
{
    gf_json_writer *w = context;
    (void)err;
    gf_json_put_string(w, "text", d->text);
    gf_row_put_fields(w, d);
    return GF_OK;
}

static gf_status write_reasons(void *context, const gf_explanation *e, gf_error *err)
{
    gf_json_writer *w = context;
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

static gf_status write_language(void *context, const gf_document *d, gf_error *err)
{
    showing *s = context;
    const char *language;
    gf_status st = gf_view_language(s->view, d, &language, err);
    if (st == GF_OK && language) gf_json_put_str(&s->row.json, "language", language);
    return st;
}

/* A missing membership or explanation becomes a note, not an error. */
static gf_status write_place(showing *s, gf_error *err)
{
    const gf_call *call = s->row.call;
    gf_json_writer *w = &s->row.json;
    gf_membership m;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_view_current_membership(s->view, s->id, &m, &why);
    if (st == GF_OK) {
        gf_row_put_membership(w, &m);
        if (m.state) {
            gf_json_key(w, "state");
            gf_json_begin(w, '{');
            gf_row_put_state(w, m.state);
            gf_json_end(w, '}');
        }
        st = gf_view_document(s->view, s->id, write_language, s, &why);
        if (st == GF_OK && m.provisional)
            gf_json_put_str(w, "note",
                            m.replaced ? "put anew since the build" : "put after the build");
        if (st == GF_OK && gf_call_flag(call, "why") && m.cluster && !m.is_new)
            st = gf_view_explain(s->view, s->id, gf_call_number(call, "terms", TERMS_SHOWN),
                                 write_reasons, w, &why);
    }
    if (st == GF_OK) return GF_OK;
    if (st == GF_ENOTFOUND || st == GF_ECONFLICT) {
        gf_json_put_str(w, "note", why.message);
        return GF_OK;
    }
    if (err) *err = why;
    return st;
}

static gf_status show_membership(showing *s, gf_slice name, gf_error *err)
{
    gf_json_writer *w = &s->row.json;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_view_open_in(s->state, name, (int64_t)gf_call_number(s->row.call, "build", 0),
                                   &s->view, &why);
    if (st == GF_ENOTFOUND && !s->only.len) return GF_OK; /* not rebuilt yet */
    if (st != GF_OK) {
        if (err) *err = why;
        return st;
    }
    gf_json_begin(w, '{');
    gf_json_put_string(w, "configuration", name);
    gf_json_put_uint(w, "build", (uint64_t)gf_view_build(s->view)->build);
    st = write_place(s, err);
    gf_json_end(w, '}');
    gf_view_close(s->view);
    return st;
}

static gf_status visit_configuration(void *context, const gf_configuration_info *info,
                                     gf_error *err)
{
    return show_membership(context, info->name, err);
}

static gf_status show(showing *s, gf_error *err)
{
    gf_json_writer *w = gf_row_writer_begin(&s->row);
    gf_json_put_string(w, "collection", gf_call_place(s->row.call).collection);
    gf_row_put_id(&s->row, s->id);
    gf_status st = gf_state_document(s->state, s->id, write_document, w, err);
    gf_json_key(w, "memberships");
    gf_json_begin(w, '[');
    if (st == GF_OK)
        st = s->only.len ? show_membership(s, s->only, err)
                         : gf_state_configurations(s->state, visit_configuration, s, err);
    gf_json_end(w, ']');
    return st == GF_OK ? gf_row_writer_emit(&s->row, err) : st;
}

/* The document, its configurations and their builds are read from one state. */
static gf_status run_doc(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_place where = gf_call_place(call);
    showing s = {.row = {.call = call}, .id = gf_call_text(call, "id")};
    /* A build is one configuration's. */
    if (gf_call_has(call, "config") || gf_call_has(call, "build"))
        s.only = gf_call_configuration(call);
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    if (gf_call_flag(call, "columns")) {
        st = gf_columns_document(store, where, s.id, gf_row_writer_emit_column, &s.row, err);
    } else {
        st = gf_state_open(store, where, &s.state, err);
        if (st == GF_OK) st = show(&s, err);
        gf_state_close(s.state);
    }
    gf_row_writer_release(&s.row);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter doc_parameters[] = {
    P_COLLECTION,
    P_REQUIRED("id", "ID", "the document"),
    P_EACH_CONFIG,
    P_BUILD,
    P_FLAG("why", "the terms that put it where it is"),
    P_NUMBER("terms", 0, MOST_TERMS, "with why: terms to show (10)"),
    P_COLUMNS,
    P_ID_TYPE};

const gf_operation gf_doc_operation = {
    .name = "doc",
    .method = "GET",
    .path = "/collections/{collection}/documents/{id}",
    .meaning = "Show a document and the clusters it is in",
    GF_PARAMETERS(doc_parameters),
    .members = gf_schema_doc,
    .run = run_doc,
    .single = true,
    .cacheable = true,
};
