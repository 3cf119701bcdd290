/* papers import-cdx, papers import-tei. */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/extraction/files.h"
#include "apps/papers/extraction/texts.h"
#include "apps/papers/operations/schema.h"

/* ---- CDX ------------------------------------------------------------------------------------- */

typedef struct importing_cdx {
    gf_papers_intake in;
    gf_cdx_reader *reader;
    gf_cdx cdx; /* at hand */
} importing_cdx;

static gf_status next_cdx(void *context, gf_record *record, gf_error *err)
{
    importing_cdx *m = context;
    return gf_cdx_reader_next(m->reader, &m->cdx, record, err);
}

static gf_status store_cdx(void *context, const gf_record *record, gf_error *err)
{
    importing_cdx *m = context;
    gf_papers_outcome outcome;
    (void)record;
    gf_status st = gf_papers_intake_open(&m->in, err);
    if (st == GF_OK)
        gf_papers_import_keep(
            m->in.import, gf_call_number(m->in.intake.call, "captures", GF_PAPERS_CAPTURES_KEPT));
    if (st == GF_OK) st = gf_papers_import_cdx(m->in.import, &m->cdx, &outcome, err);
    if (st == GF_OK) gf_papers_intake_count(&m->in, outcome);
    return st;
}

static gf_status run_papers_import_cdx(gf_call *call, gf_error *err)
{
    importing_cdx m = {.in = {.intake = {.call = call, .next = next_cdx, .take = store_cdx},
                              .replace = gf_call_flag(call, "replace")}};
    gf_status st = gf_cdx_reader_open(&call->input, &m.reader, err);
    if (st == GF_OK) st = gf_papers_intake_run(&m.in, err);
    gf_cdx_reader_close(m.reader);
    return st;
}

/* ---- TEI ------------------------------------------------------------------------------------- */

typedef struct importing_tei {
    gf_papers_intake in;
    gf_papers_files *files;
    gf_papers_texts *texts;
    const gf_papers_arrival *arrival; /* at hand */
    const gf_papers_text *text;
} importing_tei;

static gf_status find_digest(const gf_call *call, const gf_papers_file *file, gf_papers_arrival *a,
                             gf_error *err)
{
    if (gf_sha1_of_name(file->path, &a->sha1)) return GF_OK;
    if (gf_call_flag(call, "hash") && !file->too_long)
        return gf_sha1_of(file->bytes, &a->sha1, err);
    a->kind = GF_PAPERS_WITHOUT_NAME;
    return GF_OK;
}

/* A file whose extraction is there is not read: so an import that was broken off goes on quickly. */
static gf_status next_file(void *context, gf_papers_arrival *a, gf_error *err)
{
    importing_tei *m = context;
    gf_papers_file file;
    bool has = false;
    gf_status st = gf_cancel_check(m->in.intake.call->cancel, err);
    if (st == GF_OK) st = gf_papers_files_next(m->files, &file, err);
    if (st != GF_OK) return st;
    *a = (gf_papers_arrival){.source = file.source, .xml = file.bytes};
    st = find_digest(m->in.intake.call, &file, a, err);
    if (st != GF_OK || a->kind == GF_PAPERS_WITHOUT_NAME) return st;
    st = gf_papers_intake_open(&m->in, err);
    if (st == GF_OK && !m->in.replace)
        st = gf_papers_import_has_extraction(m->in.import, &a->sha1, &has, err);
    if (has) a->kind = GF_PAPERS_KNOWN;
    return st;
}

static gf_status next_text(void *context, gf_record *record, gf_error *err)
{
    importing_tei *m = context;
    gf_status st = gf_papers_texts_next(m->texts, &m->arrival, &m->text, err);
    if (st != GF_OK) return st;
    *record = (gf_record){.source = m->arrival->source, .raw = m->arrival->xml};
    if (m->arrival->kind == GF_PAPERS_WITHOUT_NAME) {
        record->kind = GF_RECORD_REFUSED;
        record->reason = "no_digest";
        record->message = "its name begins with no SHA-1 (--hash takes that of its bytes)";
    }
    return GF_OK;
}

static gf_status store_text(void *context, const gf_record *record, gf_error *err)
{
    importing_tei *m = context;
    gf_intake *intake = &m->in.intake;
    gf_papers_outcome outcome = GF_PAPERS_EXISTING;
    gf_status st = GF_OK;
    if (m->arrival->kind == GF_PAPERS_ARRIVAL)
        st = gf_papers_import_text(m->in.import, &m->arrival->sha1, 200, m->text, &outcome, err);
    if (st == GF_EINVAL && m->text->result == GF_TEI_UNSAFE)
        return gf_intake_refuse(intake, record, "unsafe_xml", m->text->reason, err);
    if (st != GF_OK) return st;
    gf_papers_intake_count(&m->in, outcome);
    if (outcome != GF_PAPERS_EXISTING && m->text->result != GF_TEI_SUCCESS)
        gf_intake_count_reason(intake, gf_tei_result_name(m->text->result));
    return GF_OK;
}

static gf_status run_papers_import_tei(gf_call *call, gf_error *err)
{
    importing_tei m = {.in = {.intake = {.call = call, .next = next_text, .take = store_text},
                              .replace = gf_call_flag(call, "force")}};
    gf_status st = gf_papers_role_check(call, "group", GF_PAPERS_GROBID, err);
    if (st == GF_OK) st = gf_papers_files_open(&call->input, GF_TEI_MOST, &m.files, err);
    if (st == GF_OK) st = gf_papers_texts_open(0, next_file, &m, call->cancel, &m.texts, err);
    if (st == GF_OK) st = gf_papers_intake_run(&m.in, err);
    gf_papers_texts_close(m.texts);
    gf_papers_files_close(m.files);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter papers_import_cdx_parameters[] = {
    P_FLAG("replace", "the line's capture becomes the first of a paper that has one already"),
    P_NUMBER("captures", 0, 1000000, "keep so many further captures of a file; count the rest (8)"),
    P_UNPACKED, P_PAPERS};

static const gf_parameter papers_import_tei_parameters[] = {
    P_FLAG("force", "also where the paper has an extraction already"),
    P_FLAG("hash", "a file whose name is no SHA-1 has that of its bytes"), P_UNPACKED, P_INTO,
    P_PAPERS};

const gf_operation gf_papers_import_cdx_operation = {
    .name = "papers import-cdx",
    .method = "POST",
    .path = "/papers/cdx",
    .meaning = "Import lines of a web archive's index",
    GF_PARAMETERS(papers_import_cdx_parameters),
    .members = gf_schema_papers_import_cdx,
    .run = run_papers_import_cdx,
    .input = GF_INPUT_REQUIRED,
    .makes = true,
    .resumes = true,
};

const gf_operation gf_papers_import_tei_operation = {
    .name = "papers import-tei",
    .method = "POST",
    .path = "/papers/tei",
    .meaning = "Import texts that GROBID has extracted",
    GF_PARAMETERS(papers_import_tei_parameters),
    .members = gf_schema_papers_import_tei,
    .run = run_papers_import_tei,
    .input = GF_INPUT_REQUIRED,
    .makes = true,
    .resumes = true,
};
