/* export: every document of a build with its cluster, one row each, streamed. */
#include "api/call_internal.h"

typedef struct exporting {
    gf_call *call;
    gf_view *view;
    gf_row_writer row;
    const gf_membership *member;
    bool with_text;
} exporting;

static gf_status emit_document(void *context, const gf_document *d, gf_error *err)
{
    exporting *e = context;
    gf_json_writer *w = &e->row.json;
    gf_json_begin(w, '{');
    gf_document head = *d;
    head.n_fields = 0; /* they come last */
    head.time = head.language = (gf_slice){0};
    gf_json_put_document(w, &head, false);
    gf_json_put_membership(w, e->member);
    if (d->time.len) {
        gf_json_key(w, "time");
        gf_json_raw(w, d->time);
    }
    if (d->language.len) gf_json_put_string(w, "lang", d->language);
    if (e->with_text) gf_json_put_string(w, "text", d->text);
    for (size_t i = 0; i < d->n_fields; i++) {
        if (i == 0) {
            gf_json_key(w, "fields");
            gf_json_begin(w, '{');
        }
        gf_json_key_slice(w, d->fields[i].name);
        gf_json_raw(w, d->fields[i].json);
        if (i + 1 == d->n_fields) gf_json_end(w, '}');
    }
    gf_json_end(w, '}');
    return gf_row_emit(&e->row, e->call, err);
}

static gf_status export_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    exporting *e = context;
    gf_status st = gf_cancel_check(e->call->cancel, err);
    if (st != GF_OK) return st;
    e->member = m;
    return gf_view_document(e->view, id, emit_document, e, err);
}

gf_status gf_run_export(gf_call *call, gf_error *err)
{
    exporting e = {.call = call, .with_text = gf_call_flag(call, "with-text")};
    gf_status st = gf_call_view(call, &e.view, err);
    if (st != GF_OK) return st;
    gf_row_open(&e.row);
    st = gf_view_memberships(e.view, export_member, &e, err);
    gf_row_release_writer(&e.row);
    gf_view_close(e.view);
    return st;
}
