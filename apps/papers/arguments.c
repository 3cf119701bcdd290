/* Arguments of operations on papers, and intakes of papers. */
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

/* ---- intakes --------------------------------------------------------------------------------- */

gf_status gf_papers_intake_open(gf_papers_intake *in, gf_error *err)
{
    if (in->import) return GF_OK;
    gf_status st = in->papers ? GF_OK : gf_papers_of_call(in->intake.call, true, &in->papers, err);
    return st == GF_OK ? gf_papers_import_open(in->papers, in->replace, &in->import, err) : st;
}

void gf_papers_intake_count(gf_papers_intake *in, gf_papers_outcome outcome)
{
    in->created += outcome == GF_PAPERS_NEW;
    in->replaced += outcome == GF_PAPERS_REPLACED;
    in->existing += outcome == GF_PAPERS_EXISTING;
}

static bool is_harmless(const char *reason)
{
    return strcmp(reason, "comment") == 0 || strcmp(reason, "header") == 0;
}

/* The context of the operation begins with the intake. */
static gf_status flush_import(void *context, gf_status ended, gf_error *err)
{
    gf_papers_intake *in = context;
    (void)ended;
    return in->import ? gf_papers_import_flush(in->import, err) : GF_OK;
}

static gf_status emit_summary(void *context, gf_status ended, gf_error *err)
{
    gf_papers_intake *in = context;
    gf_call *call = in->intake.call;
    if (ended != GF_OK && !in->import) return GF_OK;
    gf_row_writer row = {.call = call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, "store", call->holder.path);
    gf_json_put_string(w, "table", gf_call_text_or(call, "table", GF_PAPERS_TABLE));
    gf_intake_put_counts(&in->intake, w, in->created, in->replaced, "existing", in->existing);
    return gf_row_writer_emit_only(&row, err);
}

gf_status gf_papers_intake_run(gf_papers_intake *in, gf_error *err)
{
    in->intake.context = in;
    in->intake.flush = flush_import;
    in->intake.summary = emit_summary;
    in->intake.is_harmless = is_harmless;
    gf_status st = gf_intake_run(&in->intake, err);
    gf_papers_import_close(in->import);
    gf_papers_close(in->papers);
    return st;
}
