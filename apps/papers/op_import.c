/* papers import-cdx, papers import-tei. */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/files.h"
#include "apps/papers/texts.h"

/* ---- CDX ------------------------------------------------------------------------------------- */

static gf_status import_line(gf_papers_job *job, const gf_cdx *cdx, const gf_record *record,
                             gf_error *err)
{
    gf_papers_outcome outcome;
    gf_status st = gf_papers_job_next(job, record->source, err);
    if (st != GF_OK) return st;
    if (record->kind == GF_RECORD_REFUSED)
        return gf_papers_job_refuse(job, record, record->reason, record->message, err);
    if (record->kind == GF_RECORD_SKIPPED) {
        gf_papers_job_skip(job, record->reason);
        return GF_OK;
    }
    st = gf_papers_job_begin(job, gf_call_flag(job->call, "replace"), err);
    if (st == GF_OK) st = gf_papers_import_cdx(job->import, cdx, &outcome, err);
    if (st == GF_OK) gf_papers_job_outcome(job, outcome);
    return st;
}

gf_status gf_run_papers_import_cdx(gf_call *call, gf_error *err)
{
    gf_papers_job job = {.call = call};
    gf_cdx_reader *reader;
    gf_cdx cdx;
    gf_record record;
    gf_error why = {GF_OK, ""};
    if (!call->input.next) return gf_fail(err, GF_EINVAL, "papers import-cdx needs an input");
    gf_status st = gf_cdx_reader_open(&call->input, &reader, err);
    if (st != GF_OK) return st;
    while ((st = gf_cdx_reader_next(reader, &cdx, &record, &why)) == GF_OK &&
           (st = import_line(&job, &cdx, &record, &why)) == GF_OK) {
    }
    st = gf_papers_job_end(&job, st, &why, err);
    gf_cdx_reader_close(reader);
    return st;
}

/* ---- TEI ------------------------------------------------------------------------------------- */

typedef struct importing {
    gf_papers_job job;
    gf_papers_texts *texts;
} importing;

/* One that has been read: in the order in which they came. */
static gf_status take(void *context, const gf_papers_arrival *a, const gf_papers_text *text,
                      gf_error *err)
{
    gf_papers_job *job = &((importing *)context)->job;
    gf_papers_outcome outcome = GF_PAPER_EXISTING;
    gf_record record = {.source = a->source, .raw = a->xml};
    bool replace = gf_call_flag(job->call, "force"), has = a->kind == GF_PAPER_KNOWN;
    gf_status st = gf_papers_job_next(job, a->source, err);
    if (st != GF_OK) return st;
    if (a->kind == GF_PAPER_WITHOUT_NAME)
        return gf_papers_job_refuse(
            job, &record, "no_digest",
            "its name begins with no SHA-1 (--hash takes that of its bytes)", err);
    bool is_unsafe = a->kind == GF_PAPER_ARRIVAL && text->result == GF_TEI_UNSAFE;
    if (is_unsafe && !replace)
        st = gf_papers_import_has_extraction(job->import, &a->sha1, &has, err);
    if (st == GF_OK && is_unsafe && !has)
        return gf_papers_job_refuse(job, &record, "unsafe_xml", text->reason, err);
    if (st == GF_OK && !has)
        st = gf_papers_import_text(job->import, &a->sha1, 200, text, &outcome, err);
    if (st != GF_OK) return st;
    gf_papers_job_outcome(job, outcome);
    if (outcome != GF_PAPER_EXISTING && text->result != GF_TEI_SUCCESS)
        gf_reasons_count(&job->reasons, gf_tei_result_name(text->result));
    return GF_OK;
}

static gf_status find_digest(const gf_call *call, const gf_papers_file *file, gf_papers_arrival *a,
                             gf_error *err)
{
    if (gf_sha1_of_name(file->path, &a->sha1)) return GF_OK;
    if (gf_call_flag(call, "hash") && !file->too_long)
        return gf_sha1_of(file->bytes, &a->sha1, err);
    a->kind = GF_PAPER_WITHOUT_NAME;
    return GF_OK;
}

/* One whose extraction is there is not read: so an import that was broken off goes on quickly. */
static gf_status add_file(importing *m, const gf_papers_file *file, gf_error *err)
{
    gf_papers_job *job = &m->job;
    bool replace = gf_call_flag(job->call, "force"), has = false;
    gf_papers_arrival a = {.source = file->source, .xml = file->bytes};
    gf_status st = gf_cancel_check(job->call->cancel, err);
    if (st == GF_OK) st = find_digest(job->call, file, &a, err);
    if (st == GF_OK && a.kind == GF_PAPER_ARRIVAL) st = gf_papers_job_begin(job, replace, err);
    if (st == GF_OK && a.kind == GF_PAPER_ARRIVAL && !replace)
        st = gf_papers_import_has_extraction(job->import, &a.sha1, &has, err);
    if (st != GF_OK) return st;
    if (has) a.kind = GF_PAPER_KNOWN;
    return gf_papers_texts_add(m->texts, &a, err);
}

/*
 * What was added before a file that cannot be read, or has no place in the store, is taken; not so
 * behind one that could not be taken, or a cancel: `st` is theirs then.
 */
static gf_status import_files(importing *m, gf_papers_files *files, gf_error *err)
{
    gf_papers_file file;
    gf_status st;
    while ((st = gf_papers_files_next(files, &file, err)) == GF_OK &&
           (st = add_file(m, &file, err)) == GF_OK) {
    }
    gf_error why = {GF_OK, ""};
    gf_status taken = gf_papers_texts_finish(m->texts, &why);
    if (taken == GF_OK) return st;
    if (err) *err = why;
    return taken;
}

gf_status gf_run_papers_import_tei(gf_call *call, gf_error *err)
{
    importing m = {.job = {.call = call}};
    gf_papers_files *files;
    gf_error why = {GF_OK, ""};
    if (!call->input.next) return gf_fail(err, GF_EINVAL, "papers import-tei needs an input");
    gf_status st = gf_papers_files_open(&call->input, GF_TEI_MOST, &files, err);
    if (st != GF_OK) return st;
    st = gf_papers_texts_open(0, take, &m, &m.texts, err);
    if (st == GF_OK) {
        st = import_files(&m, files, &why);
        st = gf_papers_job_end(&m.job, st, &why, err);
    }
    gf_papers_texts_close(m.texts);
    gf_papers_files_close(files);
    return st;
}
