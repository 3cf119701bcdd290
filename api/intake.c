#include "api/intake.h"

#include "base/utf8.h"

#include <stdio.h>

enum { PROGRESS_EVERY = 1000, MOST_NAME = 80 };

/* ---- records --------------------------------------------------------------------------------- */

void gf_intake_count_reason(gf_intake *in, const char *reason)
{
    gf_reasons *r = &in->reasons;
    size_t i = 0;
    while (i < r->n && strcmp(r->by[i].reason, reason) < 0)
        i++;
    bool is_new = i == r->n || strcmp(r->by[i].reason, reason) != 0;
    if (is_new && r->n == sizeof r->by / sizeof *r->by) return;
    if (is_new) {
        memmove(&r->by[i + 1], &r->by[i], (r->n++ - i) * sizeof *r->by);
        r->by[i].reason = reason;
        r->by[i].n = 0;
    }
    r->by[i].n++;
}

gf_status gf_intake_refuse(gf_intake *in, const gf_record *record, const char *reason,
                           const char *message, gf_error *err)
{
    in->refused++;
    in->is_bad |= !in->is_harmless || !in->is_harmless(reason);
    gf_intake_count_reason(in, reason);
    gf_status st = in->note ? in->note(in->context, record, reason, message, err) : GF_OK;
    return st == GF_OK ? gf_records_refuse(in->call, record, reason, message, err) : st;
}

/* "text.2" of a second field "text" */
static void tell_renamed(const gf_intake *in, const gf_record *record)
{
    char message[300];
    gf_slice name = record->renamed;
    size_t length = name.len;
    while (length && name.ptr[length - 1] != '.')
        length--;
    gf_slice own = gf_utf8_cut(gf_slice_of(name.ptr, length - 1), MOST_NAME);
    snprintf(message, sizeof message,
             "several fields are called \"%.*s\": one more is kept as \"%.*s%.*s\"",
             GF_SLICE_ARG(own), GF_SLICE_ARG(own), (int)(name.len - length + 1),
             name.ptr + length - 1);
    gf_notice n = {"renamed_fields", record->source, record->line, message, false};
    gf_call_notify(in->call, &n);
}

gf_status gf_intake_record(gf_intake *in, const gf_record *record, gf_error *err)
{
    if (++in->read % PROGRESS_EVERY == 0)
        gf_call_progress(in->call, in->what.len ? in->what : record->source,
                         in->phase ? in->phase : "reading", in->read, 0);
    if (record->renamed.len) tell_renamed(in, record);
    if (record->kind == GF_RECORD_DOCUMENT) return in->take(in->context, record, err);
    if (record->kind == GF_RECORD_REFUSED)
        return gf_intake_refuse(in, record, record->reason, record->message, err);
    in->skipped++;
    gf_intake_count_reason(in, record->reason);
    return in->note ? in->note(in->context, record, record->reason, NULL, err) : GF_OK;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* A cancel is looked for before a record, which may be the start of one that the cancel cut. */
static gf_status read_records(gf_intake *in, gf_error *err)
{
    gf_record record;
    gf_status st;
    if (in->visit) return in->visit(in->context, err);
    while ((st = in->next(in->context, &record, err)) == GF_OK) {
        if (!in->cancels_itself) st = gf_cancel_check(in->call->cancel, err);
        if (st == GF_OK) st = gf_intake_record(in, &record, err);
        if (st != GF_OK) return st;
    }
    if (st != GF_ENOTFOUND) return st;
    return in->cancels_itself ? GF_OK : gf_cancel_check(in->call->cancel, err);
}

gf_status gf_intake_run(gf_intake *in, gf_error *err)
{
    gf_error why = {GF_OK, ""}, failed = {GF_OK, ""};
    gf_status st = read_records(in, &why);
    gf_status flushed = in->flush ? in->flush(in->context, st, &failed) : GF_OK;
    if (flushed != GF_OK && (st == GF_OK || st == GF_ECANCELLED)) {
        st = flushed;
        why = failed;
    }
    if (st == GF_ECANCELLED && in->summary)
        gf_fail(&why, st,
                "stopped on request; what was stored stays, and the same command goes on");
    gf_status told = in->summary ? in->summary(in->context, st, err) : GF_OK;
    if (st == GF_OK && in->is_bad) in->call->outcome = GF_OUTCOME_SOME_REFUSED;
    if (st != GF_OK && err) *err = why;
    return st == GF_OK ? told : st;
}

/* ---- the summary ----------------------------------------------------------------------------- */

void gf_intake_put_counts(const gf_intake *in, gf_json_writer *w, uint64_t created,
                          uint64_t changed, const char *same, uint64_t n_same)
{
    gf_json_put_uint(w, "read", in->read);
    gf_json_put_uint(w, "new", created);
    gf_json_put_uint(w, "changed", changed);
    gf_json_put_uint(w, same, n_same);
    gf_json_put_uint(w, "stored", created + changed);
    gf_json_put_uint(w, "skipped", in->skipped);
    gf_json_put_uint(w, "refused", in->refused);
    gf_json_key(w, "reasons");
    gf_json_begin(w, '{');
    for (size_t i = 0; i < in->reasons.n; i++)
        gf_json_put_uint(w, in->reasons.by[i].reason, in->reasons.by[i].n);
    gf_json_end(w, '}');
}
