/* Arguments of operations on papers, and intakes of papers. */
#include "apps/papers/arguments_internal.h"

#include "base/memory.h"

/* "grobid1,match1": each stands for the role of its stem. */
static gf_status choose_groups(const gf_call *call, const char *argument, bool create,
                               gf_papers *papers, gf_error *err)
{
    gf_slice *names = NULL;
    size_t n = 0;
    gf_status st = gf_call_list(call, argument, &names, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        unsigned role = gf_papers_role_named(names[i]);
        if (role != GF_PAPERS_MATCH) role = GF_PAPERS_GROBID; /* or it is no group at all */
        st = gf_papers_choose_group(papers, role, names[i], create, err);
    }
    gf_free(names);
    return st;
}

gf_status gf_papers_of_call(const gf_call *call, bool create, gf_papers **papers, gf_error *err)
{
    gf_store *store;
    gf_papers *p = NULL;
    gf_slice table = gf_call_text_or(call, "table", GF_PAPERS_TABLE);
    gf_status st = gf_call_open_store(call, create, &store, err);
    if (st == GF_OK)
        st = create || !gf_call_has(call, "table")
                 ? gf_papers_open(store, call->name_space, table, &p, err)
                 : gf_papers_find(store, call->name_space, table, &p, err);
    if (st == GF_OK) st = choose_groups(call, "group", create, p, err);
    if (st == GF_OK) st = choose_groups(call, "from-group", false, p, err);
    if (st != GF_OK) {
        gf_papers_close(p);
        return st;
    }
    *papers = p;
    return GF_OK;
}

gf_status gf_papers_make_group(const gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_papers *papers;
    gf_slice table = gf_call_text_or(call, "table", GF_PAPERS_TABLE);
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_papers_find(store, call->name_space, table, &papers, err);
    if (st != GF_OK) return st;
    st = choose_groups(call, "from-group", false, papers, err);
    if (st == GF_OK) st = choose_groups(call, "group", true, papers, err);
    gf_papers_close(papers);
    return st;
}

gf_status gf_papers_role_check(const gf_call *call, const char *argument, unsigned role,
                               gf_error *err)
{
    gf_slice name = gf_call_text(call, argument);
    if (!gf_call_has(call, argument) || gf_papers_role_named(name) == role) return GF_OK;
    return gf_fail(err, GF_EINVAL, "--%s: \"%.*s\" is no group such as %s1", argument,
                   (int)(name.len > 80 ? 80 : name.len), name.ptr,
                   role == GF_PAPERS_MATCH ? "match" : "grobid");
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
    in->existing += outcome == GF_PAPERS_EXISTING || outcome == GF_PAPERS_FURTHER;
    if (outcome == GF_PAPERS_FURTHER) gf_intake_count_reason(&in->intake, "further_capture");
}

static bool is_harmless(const char *reason)
{
    return strcmp(reason, "comment") == 0 || strcmp(reason, "header") == 0;
}

/* The context of the operation begins with the intake. */
gf_status gf_papers_intake_flush(void *context, gf_status ended, gf_error *err)
{
    gf_papers_intake *in = context;
    (void)ended;
    return in->import ? gf_papers_import_flush(in->import, err) : GF_OK;
}

static gf_status emit_summary(void *context, gf_status ended, gf_error *err)
{
    gf_papers_intake *in = context;
    gf_call *call = in->intake.call;
    if (ended != GF_OK && !in->import && !(in->papers && in->intake.read)) return GF_OK;
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
    if (!in->intake.flush) in->intake.flush = gf_papers_intake_flush;
    in->intake.summary = emit_summary;
    in->intake.is_harmless = is_harmless;
    gf_status st = gf_intake_run(&in->intake, err);
    gf_papers_import_close(in->import);
    gf_papers_close(in->papers);
    return st;
}
