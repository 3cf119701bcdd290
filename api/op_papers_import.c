/* papers import-cdx, papers import-tei. */
#include "api/papers_internal.h"
#include "sources/papers_files.h"

/* ---- CDX --------------------------------------------------------------------------------------
 */

static gf_status import_line(gf_paper_job *job, const gf_cdx *cdx, const gf_record *record,
                             gf_error *err)
{
    gf_paper_outcome outcome;
    gf_status st = gf_paper_job_next(job, record->source, err);
    if (st != GF_OK) return st;
    if (record->kind == GF_RECORD_REFUSED)
        return gf_paper_job_refuse(job, record, record->reason, record->message, err);
    if (record->kind == GF_RECORD_SKIPPED) {
        gf_paper_job_skip(job, record->reason);
        return GF_OK;
    }
    st = gf_paper_job_begin(job, gf_call_flag(job->call, "replace"), err);
    if (st == GF_OK) st = gf_paper_import_cdx(job->import, cdx, &outcome, err);
    if (st == GF_OK) gf_paper_job_outcome(job, outcome);
    return st;
}

gf_status gf_run_papers_import_cdx(gf_call *call, gf_error *err)
{
    gf_paper_job job = {.call = call};
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
    st = gf_paper_job_end(&job, st, &why, err);
    gf_cdx_reader_close(reader);
    return st;
}

/* ---- TEI --------------------------------------------------------------------------------------
 */

static gf_status digest_of(const gf_call *call, const gf_paper_file *file, gf_sha1 *sha1,
                           bool *found, gf_error *err)
{
    *found = gf_sha1_of_name(file->path, sha1);
    if (*found || !gf_call_flag(call, "hash") || file->too_long) return GF_OK;
    *found = true;
    return gf_sha1_of(file->bytes, sha1, err);
}

static gf_status import_tei(gf_paper_job *job, const gf_sha1 *sha1, const gf_paper_file *file,
                            gf_tei *tei, gf_error *err)
{
    gf_paper_outcome outcome = GF_PAPER_EXISTING;
    gf_record record = {.source = file->source, .raw = file->bytes};
    bool replace = gf_call_flag(job->call, "force"), has;
    gf_status st = gf_paper_job_begin(job, replace, err);
    if (st == GF_OK) st = gf_paper_import_has_extraction(job->import, sha1, &has, err);
    if (st == GF_OK && (!has || replace)) st = gf_tei_read(file->bytes, tei, err);
    if (st != GF_OK) return st;
    if (has && !replace) {
        gf_paper_job_outcome(job, outcome);
        return GF_OK;
    }
    if (tei->result == GF_TEI_UNSAFE)
        return gf_paper_job_refuse(job, &record, "unsafe_xml", tei->reason, err);
    st = gf_paper_import_tei(job->import, sha1, 200, file->bytes, tei, &outcome, err);
    if (st != GF_OK) return st;
    gf_paper_job_outcome(job, outcome);
    if (tei->result != GF_TEI_SUCCESS) gf_reasons_count(&job->reasons, gf_tei_result_name(tei->result));
    return GF_OK;
}

static gf_status import_file(gf_paper_job *job, const gf_paper_file *file, gf_tei *tei,
                             gf_error *err)
{
    gf_sha1 sha1;
    bool found = false;
    gf_record record = {.source = file->source, .raw = file->bytes};
    gf_status st = gf_paper_job_next(job, file->source, err);
    if (st == GF_OK) st = digest_of(job->call, file, &sha1, &found, err);
    if (st != GF_OK) return st;
    if (!found)
        return gf_paper_job_refuse(job, &record, "no_digest",
                                   "its name begins with no SHA-1 (--hash takes that of its bytes)",
                                   err);
    return import_tei(job, &sha1, file, tei, err);
}

gf_status gf_run_papers_import_tei(gf_call *call, gf_error *err)
{
    gf_paper_job job = {.call = call};
    gf_paper_files *files;
    gf_paper_file file;
    gf_tei tei = {.result = GF_TEI_SUCCESS};
    gf_error why = {GF_OK, ""};
    if (!call->input.next) return gf_fail(err, GF_EINVAL, "papers import-tei needs an input");
    gf_status st = gf_paper_files_open(&call->input, GF_TEI_MOST, &files, err);
    if (st != GF_OK) return st;
    while ((st = gf_paper_files_next(files, &file, &why)) == GF_OK &&
           (st = import_file(&job, &file, &tei, &why)) == GF_OK) {
    }
    st = gf_paper_job_end(&job, st, &why, err);
    gf_paper_files_close(files);
    gf_tei_release(&tei);
    return st;
}
