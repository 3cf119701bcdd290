/*
 * export with documents: every document as put reads it, one row each, streamed.
 *
 * A row is the document's record: id, text, time, lang, and its other fields beside them. Where a
 * record was put under other names (--text body), an ordinary field may be called id, text, time
 * or lang; put would take it for the document's own, so it is given as "field:<name>", and counted.
 */
#include "api/clusters/internal.h"

#include "base/clock.h"
#include "base/json/json.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_LANGUAGE = 64 }; /* bytes that put takes for a language's code or name */

typedef struct exporting {
    gf_row_writer row;
    gf_json_parser *parser;
    uint64_t renamed;
} exporting;

/* Whether put takes the value for a time, or passes over it. */
static bool reads_as_time(gf_json_value v)
{
    int64_t ms;
    switch (gf_json_kind_of(v)) {
    case GF_JSON_NULL:
        return true;
    case GF_JSON_STRING:
        return gf_reader_takes_time(gf_json_get_string(v));
    default:
        return gf_json_is_number(v) && gf_clock_from_number(gf_json_number(v), &ms);
    }
}

static bool reads_as_language(gf_json_value v)
{
    gf_json_kind kind = gf_json_kind_of(v);
    if (kind == GF_JSON_STRING) return gf_json_get_string(v).len <= MOST_LANGUAGE;
    return kind == GF_JSON_NULL;
}

/* Whether an ordinary field would be taken for the document's own. */
static gf_status is_mistakable(exporting *e, const gf_document *d, const gf_field *f, bool *yes,
                               gf_error *err)
{
    bool time = gf_slice_equal(f->name, GF_SLICE("time"));
    bool lang = gf_slice_equal(f->name, GF_SLICE("lang"));
    gf_json_value v;
    *yes = gf_slice_equal(f->name, GF_SLICE("id")) || gf_slice_equal(f->name, GF_SLICE("text")) ||
           (time && d->time.len) || (lang && d->language.len);
    if (*yes || (!time && !lang)) return GF_OK;
    gf_status st = gf_json_parse_copy(e->parser, f->json, &v, err);
    if (st == GF_OK) *yes = time ? reads_as_time(v) : reads_as_language(v);
    return st;
}

static gf_status put_field(exporting *e, const gf_document *d, const gf_field *f, gf_error *err)
{
    gf_json_writer *w = &e->row.json;
    bool rename;
    gf_status st = is_mistakable(e, d, f, &rename, err);
    if (st != GF_OK) return st;
    if (rename) {
        char name[sizeof "field:text"];
        snprintf(name, sizeof name, "field:%.*s", GF_SLICE_ARG(f->name));
        gf_json_key(w, name);
        e->renamed++;
    } else {
        gf_json_key_slice(w, f->name);
    }
    gf_json_raw(w, f->json);
    return GF_OK;
}

static gf_status emit_record(void *context, const gf_document *d, gf_error *err)
{
    exporting *e = context;
    gf_status st = gf_cancel_check(e->row.call->cancel, err);
    gf_json_writer *w = gf_row_writer_begin(&e->row);
    gf_row_put_id(&e->row, d->id);
    gf_json_put_string(w, "text", d->text);
    if (d->time.len) {
        gf_json_key(w, "time");
        gf_json_raw(w, d->time);
    }
    if (d->language.len) gf_json_put_string(w, "lang", d->language);
    for (size_t i = 0; i < d->n_fields && st == GF_OK; i++)
        st = put_field(e, d, &d->fields[i], err);
    return st == GF_OK ? gf_row_writer_emit(&e->row, err) : st;
}

static void tell_renamed(const exporting *e)
{
    gf_call *call = e->row.call;
    char message[200];
    if (!e->renamed) return;
    snprintf(message, sizeof message,
             "%" PRIu64 " field%s called id, text, time or lang beside the documents' own: given "
             "as \"field:NAME\"",
             e->renamed, e->renamed == 1 ? "" : "s");
    gf_notice n = {"renamed", gf_call_text(call, "collection"), 0, message, false};
    gf_call_notify(call, &n);
}

gf_status gf_export_documents(gf_call *call, gf_error *err)
{
    exporting e = {.row = {.call = call}};
    gf_store *store;
    if (gf_call_has(call, "config") || gf_call_has(call, "build") ||
        gf_call_flag(call, "with-text"))
        return gf_fail(err, GF_EINVAL,
                       "documents: they are the collection's, whatever build there is; leave out "
                       "config, build and with-text");
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_json_parser_create(&e.parser, err);
    if (st == GF_OK) st = gf_documents_visit(store, gf_call_place(call), emit_record, &e, err);
    if (st == GF_OK) tell_renamed(&e);
    gf_json_parser_free(e.parser);
    gf_row_writer_release(&e.row);
    return st;
}
