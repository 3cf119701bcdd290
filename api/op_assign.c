/* assign: the clusters of texts that are not stored, one row for each record, streamed. */
#include "api/call_internal.h"

typedef struct assigning {
    gf_row_writer row;
    gf_view *view;
    gf_reader *reader;
    bool with_text;
    uint64_t read, refused;
} assigning;

static gf_status assign(assigning *a, const gf_document *d, gf_error *err)
{
    gf_membership m;
    gf_status st = gf_view_assign(a->view, d->language, d->text, &m, err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&a->row);
    gf_json_put_string(w, "id", d->id);
    m.provisional = false; /* goes without saying: it is in no store */
    gf_json_put_membership(w, &m);
    if (a->with_text) gf_json_put_string(w, "text", d->text);
    return gf_row_writer_emit(&a->row, err);
}

static gf_status handle(assigning *a, const gf_record *record, gf_error *err)
{
    const gf_call *call = a->row.call;
    a->read++;
    if (a->read % 1000 == 0 && call->progress)
        call->progress(call->context, record->source, "reading", a->read, 0);
    if (record->kind == GF_RECORD_DOCUMENT) return assign(a, &record->document, err);
    if (record->kind == GF_RECORD_SKIPPED) return GF_OK;
    a->refused++;
    return gf_call_refuse(call, record, record->reason, record->message, err);
}

static gf_status read_all(assigning *a, gf_error *err)
{
    gf_record record;
    gf_status st;
    while ((st = gf_reader_next(a->reader, &record, err)) == GF_OK) {
        st = gf_cancel_check(a->row.call->cancel, err);
        if (st == GF_OK) st = handle(a, &record, err);
        if (st != GF_OK) return st;
    }
    return st == GF_ENOTFOUND ? gf_cancel_check(a->row.call->cancel, err) : st;
}

gf_status gf_run_assign(gf_call *call, gf_error *err)
{
    assigning a = {.row = {.call = call}, .with_text = gf_call_flag(call, "with-text")};
    if (!call->input.next) return gf_fail(err, GF_EINVAL, "assign needs an input");
    gf_status st = gf_call_view(call, &a.view, err);
    if (st == GF_OK) st = gf_call_reader(call, false, &a.reader, err);
    if (st == GF_OK) st = read_all(&a, err);
    if (st == GF_OK && a.refused) call->outcome = GF_SOME_REFUSED;
    gf_row_writer_release(&a.row);
    gf_reader_close(a.reader);
    gf_view_close(a.view);
    return st;
}
