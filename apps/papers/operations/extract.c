/*
 * papers extract: PDFs of the input go to a running GROBID, what it gives into the table. Each is
 * synced before the next is sent, since it took seconds to make.
 */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/files.h"
#include "apps/papers/grobid.h"

enum { RETRIES = 10, BACKOFF_MS = 5000, TIMEOUT = 600, DESCRIPTION = 500 };

typedef struct extracting {
    gf_papers_intake in;
    gf_papers_files *files;
    gf_papers_file file; /* at hand */
    gf_grobid *grobid;
    gf_buffer answer, status;
    gf_tei tei;
} extracting;

/* The digest is that of the bytes; a name that is one must agree. */
static gf_status check_file(extracting *x, const gf_record *record, gf_sha1 *sha1, bool *good,
                            gf_error *err)
{
    gf_sha1 named;
    const gf_papers_file *file = &x->file;
    *good = false;
    if (file->too_long)
        return gf_intake_refuse(&x->in.intake, record, "too_long", "over --max-file", err);
    if (!gf_slice_starts(file->bytes, GF_SLICE("%PDF-")))
        return gf_intake_refuse(&x->in.intake, record, "not_pdf", "no PDF: it begins otherwise",
                                err);
    gf_status st = gf_sha1_of(file->bytes, sha1, err);
    if (st != GF_OK) return st;
    *good = !gf_sha1_of_name(file->path, &named) ||
            memcmp(named.bytes, sha1->bytes, GF_SHA1_BYTES) == 0;
    if (*good) return GF_OK;
    return gf_intake_refuse(&x->in.intake, record, "digest_differs",
                            "the SHA-1 of its bytes is not that of its name", err);
}

/* An answer that is no text: {"status": "error", "description": the start of it}. */
static gf_status store_error(extracting *x, const gf_sha1 *sha1, long code,
                             gf_papers_outcome *outcome, gf_error *err)
{
    gf_slice words = gf_buffer_view(&x->answer);
    if (words.len > DESCRIPTION) words.len = DESCRIPTION;
    gf_buffer_reset(&x->status);
    gf_json_writer json = gf_json_writer_to(&x->status);
    gf_json_begin(&json, '{');
    gf_json_put_str(&json, "status", "error");
    gf_json_put_string(&json, "description", words);
    gf_json_end(&json, '}');
    gf_status st = gf_buffer_check(&x->status, err);
    gf_papers_extraction e = {.status_code = code, .status = gf_buffer_view(&x->status)};
    if (st != GF_OK) return st;
    gf_intake_count_reason(&x->in.intake, "error");
    return gf_papers_import_extraction(x->in.import, sha1, &e, outcome, err);
}

static gf_status store_answer(extracting *x, const gf_record *record, const gf_sha1 *sha1,
                              long code, gf_error *err)
{
    gf_papers_outcome outcome = GF_PAPERS_EXISTING;
    gf_status st = GF_OK;
    if (code == 200) {
        st = gf_tei_read(gf_buffer_view(&x->answer), &x->tei, err);
        if (st == GF_OK && x->tei.result == GF_TEI_UNSAFE)
            return gf_intake_refuse(&x->in.intake, record, "unsafe_xml", x->tei.reason, err);
        if (st == GF_OK && x->tei.result != GF_TEI_SUCCESS)
            gf_intake_count_reason(&x->in.intake, gf_tei_result_name(x->tei.result));
        if (st == GF_OK)
            st = gf_papers_import_tei(x->in.import, sha1, code, gf_buffer_view(&x->answer), &x->tei,
                                      &outcome, err);
    } else {
        st = store_error(x, sha1, code, &outcome, err);
    }
    if (st == GF_OK)
        st = gf_papers_import_file(x->in.import, sha1, "application/pdf", x->file.bytes, err);
    if (st == GF_OK) st = gf_papers_import_flush(x->in.import, err);
    if (st == GF_OK) gf_papers_intake_count(&x->in, outcome);
    return st;
}

static gf_status next_file(void *context, gf_record *record, gf_error *err)
{
    extracting *x = context;
    gf_status st = gf_papers_files_next(x->files, &x->file, err);
    *record = (gf_record){.source = x->file.source, .raw = x->file.bytes};
    return st;
}

static gf_status extract_file(void *context, const gf_record *record, gf_error *err)
{
    extracting *x = context;
    gf_sha1 sha1;
    bool good, has = false;
    long code = 0;
    gf_status st = check_file(x, record, &sha1, &good, err);
    if (st != GF_OK || !good) return st;
    st = gf_papers_intake_open(&x->in, err);
    if (st == GF_OK && !x->in.replace)
        st = gf_papers_import_has_extraction(x->in.import, &sha1, &has, err);
    if (st != GF_OK) return st;
    if (has) {
        gf_papers_intake_count(&x->in, GF_PAPERS_EXISTING);
        return GF_OK;
    }
    st = gf_grobid_extract(x->grobid, x->file.bytes, &code, &x->answer, err);
    return st == GF_OK ? store_answer(x, record, &sha1, code, err) : st;
}

static gf_status run_papers_extract(gf_call *call, gf_error *err)
{
    extracting x = {.in = {.intake = {.call = call, .next = next_file, .take = extract_file},
                           .replace = gf_call_flag(call, "force")}};
    size_t most = (size_t)gf_call_number(call, "max-file", UINT64_C(256) << 20);
    gf_grobid_options o = {.url = gf_call_text(call, "grobid"),
                           .retries = (unsigned)gf_call_number(call, "retries", RETRIES),
                           .backoff_ms = gf_call_number(call, "backoff-ms", BACKOFF_MS),
                           .seconds = (unsigned)gf_call_number(call, "timeout", TIMEOUT),
                           .cancel = call->cancel};
    x.tei.cancel = call->cancel;
    gf_status st = gf_grobid_open(&o, &x.grobid, err);
    if (st == GF_OK) st = gf_papers_files_open(&call->input, most, &x.files, err);
    if (st == GF_OK) st = gf_papers_intake_run(&x.in, err);
    gf_papers_files_close(x.files);
    gf_grobid_close(x.grobid);
    gf_buffer_release(&x.answer);
    gf_buffer_release(&x.status);
    gf_tei_release(&x.tei);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter papers_extract_parameters[] = {
    P_REQUIRED("grobid", "URL", "the GROBID, such as http://localhost:8070"),
    P_FLAG("force", "also where the paper has an extraction already"),
    P_NUMBER("retries", 0, 1000, "ask a busy GROBID again so many times (10)"),
    P_NUMBER("backoff-ms", 0, 3600000, "milliseconds before the first of these (5000)"),
    P_NUMBER("timeout", 1, 86400, "seconds that the GROBID has for a file (600)"),
    {"max-file", GF_PARAMETER_BYTES, false, "SIZE", "refuse larger files (256M)", 1,
     GF_LARGEST_MAX_DOCUMENT},
    P_UNPACKED,
    P_PAPERS};

const gf_operation gf_papers_extract_operation = {
    .name = "papers extract",
    .method = "POST",
    .path = "/papers/extractions",
    .meaning = "Send PDFs to a GROBID and import what it extracts",
    GF_PARAMETERS(papers_extract_parameters),
    .run = run_papers_extract,
    .input = GF_INPUT_REQUIRED,
    .local = true,
    .makes = true,
};
