/* What imports of papers have in common: counting, refusing, the summary. */
#include "apps/papers/arguments_internal.h"

gf_status gf_papers_of_call(const gf_call *call, bool create, gf_papers **papers, gf_error *err)
{
    gf_store *store;
    gf_status st = gf_call_open_store(call, create, &store, err);
    if (st != GF_OK) return st;
    return gf_papers_open(store, call->name_space, gf_call_text_or(call, "table", GF_PAPERS_TABLE),
                          papers, err);
}

gf_status gf_papers_sha1_of_call(const gf_call *call, gf_sha1 *sha1, gf_error *err)
{
    gf_slice text = gf_call_text(call, "sha1");
    if (gf_sha1_parse(text, sha1)) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "\"%.*s\" is not a SHA-1: 40 hexadecimal digits or 32 of base32, sha1: before "
                   "them or not",
                   (int)(text.len > 80 ? 80 : text.len), text.ptr);
}

gf_status gf_papers_job_begin(gf_papers_job *job, bool replace, gf_error *err)
{
    if (job->import) return GF_OK;
    gf_status st = job->papers ? GF_OK : gf_papers_of_call(job->call, true, &job->papers, err);
    return st == GF_OK ? gf_papers_import_open(job->papers, replace, &job->import, err) : st;
}

gf_status gf_papers_job_next(gf_papers_job *job, gf_slice source, gf_error *err)
{
    gf_status st = gf_cancel_check(job->call->cancel, err);
    if (st != GF_OK) return st;
    job->read++;
    if (job->read % 1000 == 0) gf_call_progress(job->call, source, "reading", job->read, 0);
    return GF_OK;
}

void gf_papers_job_outcome(gf_papers_job *job, gf_papers_outcome outcome)
{
    job->created += outcome == GF_PAPER_NEW;
    job->replaced += outcome == GF_PAPER_REPLACED;
    job->existing += outcome == GF_PAPER_EXISTING;
}

void gf_papers_job_skip(gf_papers_job *job, const char *reason)
{
    job->skipped++;
    gf_reasons_count(&job->reasons, reason);
}

gf_status gf_papers_job_refuse(gf_papers_job *job, const gf_record *record, const char *reason,
                               const char *message, gf_error *err)
{
    job->refused++;
    job->bad |= strcmp(reason, "comment") != 0 && strcmp(reason, "header") != 0;
    gf_reasons_count(&job->reasons, reason);
    return gf_call_refuse(job->call, record, reason, message, err);
}

static gf_status emit_summary(gf_papers_job *job, gf_error *err)
{
    gf_row_writer row = {.call = job->call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, "store", job->call->holder.path);
    gf_json_put_string(w, "table", gf_call_text_or(job->call, "table", GF_PAPERS_TABLE));
    gf_json_put_uint(w, "read", job->read);
    gf_json_put_uint(w, "new", job->created);
    gf_json_put_uint(w, "changed", job->replaced);
    gf_json_put_uint(w, "existing", job->existing);
    gf_json_put_uint(w, "stored", job->created + job->replaced);
    gf_json_put_uint(w, "skipped", job->skipped);
    gf_json_put_uint(w, "refused", job->refused);
    gf_reasons_put(&job->reasons, w);
    return gf_row_writer_emit_only(&row, err);
}

/* Whatever ended the reading, what was read before it is written and told of. */
gf_status gf_papers_job_end(gf_papers_job *job, gf_status st, const gf_error *why, gf_error *err)
{
    gf_error first = *why;
    if (st == GF_ENOTFOUND) st = GF_OK;
    if (job->import) {
        gf_status flushed = gf_papers_import_flush(job->import, st == GF_OK ? &first : NULL);
        if (st == GF_OK) st = flushed;
    }
    gf_call_tell_stop(st, &first);
    gf_status told = job->import || st == GF_OK ? emit_summary(job, err) : GF_OK;
    gf_papers_import_close(job->import);
    gf_papers_close(job->papers);
    if (st != GF_OK && err) *err = first;
    if (st == GF_OK && job->bad) job->call->outcome = GF_SOME_REFUSED;
    return st == GF_OK ? told : st;
}
