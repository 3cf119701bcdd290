/*
 * papers extract: PDFs of the input go to a running GROBID, several at once, what it gives into the
 * table. Files that came back are stored, in the order in which they were sent, and synced before
 * the next is sent, since they took seconds to make.
 */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/extraction/files.h"
#include "apps/papers/extraction/magic.h"
#include "apps/papers/extraction/retry.h"
#include "apps/papers/extraction/sending.h"
#include "apps/papers/operations/schema.h"
#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { RETRIES = 10, BACKOFF_MS = 5000, TIMEOUT = 600, DESCRIPTION = 500, MOST_JOBS = 256 };

typedef struct extracting {
    gf_papers_intake in;
    gf_papers_files *files;
    gf_papers_file file; /* at hand */
    gf_papers_sending *sending;
    gf_papers_retry retry;
    gf_buffer status;
    gf_error failed; /* of a request; GF_OK: none did */
    uint64_t failed_number;
} extracting;

/* A file that is no PDF is refused with what it is. */
static gf_status check_kind(extracting *x, const gf_record *record, bool *is_pdf, gf_error *err)
{
    gf_papers_magic magic;
    char message[sizeof magic.words + 16];
    gf_status st = gf_papers_magic_read(x->file.bytes, &magic, err);
    if (st != GF_OK) return st;
    *is_pdf = gf_papers_magic_is_pdf(x->file.bytes, &magic);
    if (*is_pdf) return GF_OK;
    snprintf(message, sizeof message, "no PDF: %s", magic.words);
    return gf_intake_refuse(&x->in.intake, record, "not_pdf", message, err);
}

/* The digest is that of the bytes; a name that is one must agree. */
static gf_status check_file(extracting *x, const gf_record *record, gf_sha1 *sha1, bool *good,
                            gf_error *err)
{
    gf_sha1 named;
    const gf_papers_file *file = &x->file;
    bool is_pdf = false;
    *good = false;
    if (file->too_long)
        return gf_intake_refuse(&x->in.intake, record, "too_long", "over --max-file", err);
    gf_status st = check_kind(x, record, &is_pdf, err);
    if (st != GF_OK || !is_pdf) return st;
    st = gf_sha1_of(file->bytes, sha1, err);
    if (st != GF_OK) return st;
    *good = !gf_sha1_of_name(file->path, &named) ||
            memcmp(named.bytes, sha1->bytes, GF_SHA1_BYTES) == 0;
    if (*good) return GF_OK;
    return gf_intake_refuse(&x->in.intake, record, "digest_differs",
                            "the SHA-1 of its bytes is not that of its name", err);
}

/* An answer that is no text: {"status": "error", "description": the start of it}. */
static gf_status store_error(extracting *x, const gf_papers_sent *sent, gf_papers_outcome *outcome,
                             gf_error *err)
{
    gf_slice words = sent->answer;
    if (words.len > DESCRIPTION) words.len = DESCRIPTION;
    gf_buffer_reset(&x->status);
    gf_json_writer json = gf_json_writer_to(&x->status);
    gf_json_begin(&json, '{');
    gf_json_put_str(&json, "status", "error");
    gf_json_put_string(&json, "description", words);
    gf_json_end(&json, '}');
    gf_status st = gf_buffer_check(&x->status, err);
    gf_papers_extraction e = {.status_code = sent->code, .status = gf_buffer_view(&x->status)};
    return st == GF_OK ? gf_papers_import_extraction(x->in.import, &sent->sha1, &e, outcome, err)
                       : st;
}

/* The answer for a file. A retry that fails leaves a text that is there. */
static gf_status store_answer(extracting *x, const gf_papers_sent *sent, gf_error *err)
{
    const gf_record record = {.source = sent->source, .raw = sent->pdf};
    gf_papers_outcome outcome = GF_PAPERS_EXISTING;
    const gf_papers_text *text = sent->text;
    gf_status st = GF_OK;
    if (text && text->result == GF_TEI_UNSAFE)
        return gf_intake_refuse(&x->in.intake, &record, "unsafe_xml", text->reason, err);
    bool failed = !text || text->result != GF_TEI_SUCCESS;
    if (failed)
        gf_intake_count_reason(&x->in.intake, text ? gf_tei_result_name(text->result) : "error");
    if (failed && sent->keeps) {
        gf_papers_intake_count(&x->in, GF_PAPERS_EXISTING);
        return GF_OK;
    }
    gf_papers_import_time(x->in.import, gf_clock_ms());
    st = text ? gf_papers_import_text(x->in.import, &sent->sha1, sent->code, text, &outcome, err)
              : store_error(x, sent, &outcome, err);
    if (st == GF_OK)
        st = gf_papers_import_file(x->in.import, &sent->sha1, "application/pdf", sent->pdf, err);
    if (st == GF_OK) gf_papers_intake_count(&x->in, outcome);
    return st;
}

/* A failure that is kept is that of the file that was sent first. */
static gf_status take_back(extracting *x, const gf_papers_sent *sent, gf_error *err)
{
    if (sent->status == GF_OK) return store_answer(x, sent, err);
    if (x->failed.status == GF_OK || sent->number < x->failed_number) {
        x->failed = *sent->error;
        x->failed.status = sent->status;
        x->failed_number = sent->number;
    }
    return GF_OK;
}

/* Store all that came back; where `wait`, wait for a file first. Then it is synced. */
static gf_status take_some(extracting *x, bool wait, bool *any, gf_error *err)
{
    gf_papers_sent sent;
    gf_status st = GF_OK;
    *any = false;
    while (st == GF_OK && gf_papers_sending_take(x->sending, wait && !*any, &sent)) {
        *any = true;
        st = take_back(x, &sent, err);
        gf_papers_sending_done(x->sending);
    }
    return st == GF_OK && *any && x->in.import ? gf_papers_import_flush(x->in.import, err) : st;
}

/* Wait for all that is under way, and store it. @return the failure of the first that failed */
static gf_status take_all(extracting *x, gf_error *err)
{
    gf_status st = GF_OK;
    bool any = true;
    while (st == GF_OK && any)
        st = take_some(x, true, &any, err);
    if (st != GF_OK || x->failed.status == GF_OK) return st;
    if (err) *err = x->failed;
    return x->failed.status;
}

static gf_status next_file(void *context, gf_record *record, gf_error *err)
{
    extracting *x = context;
    gf_status st = gf_papers_files_next(x->files, &x->file, err);
    if (st == GF_ENOTFOUND) {
        gf_status taken = take_all(x, err);
        return taken == GF_OK ? st : taken;
    }
    *record = (gf_record){.source = x->file.source, .raw = x->file.bytes};
    return st;
}

/* Wait until the file can be sent: others make room, and its own copy came back. */
static gf_status make_room(extracting *x, const gf_sha1 *sha1, gf_error *err)
{
    bool any;
    gf_status st = take_some(x, false, &any, err);
    while (st == GF_OK && x->failed.status == GF_OK &&
           !gf_papers_sending_has_room(x->sending, x->file.bytes.len, sha1))
        st = take_some(x, true, &any, err);
    return st == GF_OK && x->failed.status != GF_OK ? take_all(x, err) : st;
}

static gf_status extract_file(void *context, const gf_record *record, gf_error *err)
{
    extracting *x = context;
    gf_sha1 sha1;
    bool good, wanted, keeps = false;
    gf_status st = check_file(x, record, &sha1, &good, err);
    if (st != GF_OK || !good) return st;
    st = gf_papers_intake_open(&x->in, err);
    if (st == GF_OK) st = make_room(x, &sha1, err);
    if (st == GF_OK)
        st = gf_papers_retry_wants(&x->retry, x->in.papers, &sha1, &wanted, &keeps, err);
    if (st != GF_OK) return st;
    if (!wanted && !gf_call_flag(x->in.intake.call, "force")) {
        gf_papers_intake_count(&x->in, GF_PAPERS_EXISTING);
        return GF_OK;
    }
    keeps = keeps && !gf_call_flag(x->in.intake.call, "force");
    return gf_papers_sending_send(x->sending, &sha1, record->source, x->file.bytes, keeps, err);
}

/* Reasons stand in an order that does not depend on which answer came first. */
static void sort_reasons(gf_reasons *r)
{
    for (size_t i = 1; i < r->n; i++)
        for (size_t k = i; k > 0 && strcmp(r->by[k - 1].reason, r->by[k].reason) > 0; k--) {
            const char *reason = r->by[k].reason;
            uint64_t n = r->by[k].n;
            r->by[k] = r->by[k - 1];
            r->by[k - 1].reason = reason;
            r->by[k - 1].n = n;
        }
}

/* However the reading ended, what comes back is stored: an answer took seconds to make. */
static gf_status flush_files(void *context, gf_status ended, gf_error *err)
{
    extracting *x = context;
    gf_error failed = {GF_OK, ""};
    gf_status st = take_all(x, &failed);
    sort_reasons(&x->in.intake.reasons);
    if (x->failed.status != GF_OK) st = GF_OK; /* which ended the reading, or was stopped */
    if (st != GF_OK && err) *err = failed;
    return st == GF_OK ? gf_papers_intake_flush(&x->in, ended, err) : st;
}

static gf_status open_sending(gf_call *call, extracting *x, gf_grobid_gate **gate, gf_error *err)
{
    size_t most = (size_t)gf_call_number(call, "max-file", UINT64_C(256) << 20);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned usual = processors < 1 ? 1 : processors > MOST_JOBS ? MOST_JOBS : (unsigned)processors;
    unsigned jobs = (unsigned)gf_call_number(call, "jobs", usual);
    gf_status st = gf_grobid_gate_create(jobs, gf_call_number(call, "rate", 0),
                                         gf_call_number(call, "backoff-ms", BACKOFF_MS), gate, err);
    if (st != GF_OK) return st;
    gf_grobid_options o = {.url = gf_call_text(call, "grobid"),
                           .retries = (unsigned)gf_call_number(call, "retries", RETRIES),
                           .seconds = (unsigned)gf_call_number(call, "timeout", TIMEOUT),
                           .gate = *gate,
                           .cancel = call->cancel};
    st = gf_papers_sending_open(jobs, most, &o, &x->sending, err);
    return st == GF_OK ? gf_papers_files_open(&call->input, most, &x->files, err) : st;
}

static gf_status run_papers_extract(gf_call *call, gf_error *err)
{
    extracting x = {
        .in = {
            .intake = {.call = call, .next = next_file, .take = extract_file, .flush = flush_files},
            .replace = gf_call_flag(call, "force") || gf_call_has(call, "retry")}};
    gf_grobid_gate *gate = NULL;
    gf_status st = gf_papers_role_check(call, "group", GF_PAPERS_GROBID, err);
    if (st == GF_OK) st = gf_papers_retry_open(call, &x.retry, err);
    if (st == GF_OK) st = open_sending(call, &x, &gate, err);
    if (st == GF_OK) st = gf_papers_intake_run(&x.in, err);
    gf_papers_files_close(x.files);
    gf_papers_sending_close(x.sending);
    gf_grobid_gate_free(gate);
    gf_papers_retry_release(&x.retry);
    gf_buffer_release(&x.status);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter papers_extract_parameters[] = {
    P_REQUIRED("grobid", "URL", "the GROBID, such as http://localhost:8070"),
    P_FLAG("force", "also where the paper has an extraction already"),
    P_LIST("retry", "WHICH,...",
           "also what has: failed, error, fail, oversize, code:500, version:V, older-than:V"),
    P_NUMBER("jobs", 1, MOST_JOBS, "files sent at once (one per processor)"),
    P_NUMBER("rate", 1, 1000000, "files sent in a second at most (any number)"),
    P_NUMBER("retries", 0, 1000, "ask a busy GROBID again so many times (10)"),
    P_NUMBER("backoff-ms", 0, 3600000, "milliseconds before the first of these (5000)"),
    P_NUMBER("timeout", 1, 86400, "seconds that the GROBID has for a file (600)"),
    {"max-file", GF_PARAMETER_BYTES, false, "SIZE", "refuse larger files (256M)", 1,
     GF_LARGEST_MAX_DOCUMENT},
    P_UNPACKED,
    P_INTO,
    P_PAPERS};

const gf_operation gf_papers_extract_operation = {
    .name = "papers extract",
    .method = "POST",
    .path = "/papers/extractions",
    .meaning = "Send PDFs to a GROBID and import what it extracts",
    GF_PARAMETERS(papers_extract_parameters),
    .members = gf_schema_papers_extract,
    .run = run_papers_extract,
    .input = GF_INPUT_REQUIRED,
    .local = true,
    .makes = true,
    .network = true,
};
