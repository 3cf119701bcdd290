/* papers import: rows as papers dump gives them, or a part of their columns. */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/operations/schema.h"
#include "apps/papers/table/rows.h"
#include "base/memory.h"
#include "formats/text/lines.h"

enum { MOST_LINE = 256 << 20 };

typedef struct importing_rows {
    gf_papers_intake in;
    gf_lines *lines;
    gf_papers_rows *rows;
    bool json;      /* the source at hand */
    bool described; /* its columns are known */
} importing_rows;

/* The columns of TSV without a header. */
static gf_status use_fields(importing_rows *m, gf_error *err)
{
    gf_slice *names = NULL;
    size_t n = 0;
    gf_status st = gf_call_list(m->in.intake.call, "fields", &names, &n, err);
    if (st == GF_OK) st = gf_papers_rows_columns(m->rows, names, n, err);
    gf_free(names);
    return st;
}

static gf_status open_rows(importing_rows *m, gf_error *err)
{
    if (m->rows) return GF_OK;
    const gf_call *call = m->in.intake.call;
    gf_status st = gf_papers_of_call(call, true, &m->in.papers, err);
    if (st == GF_OK) st = gf_papers_rows_open(m->in.papers, m->in.replace, &m->rows, err);
    if (st == GF_OK && gf_call_has(call, "fields")) st = use_fields(m, err);
    return st;
}

/* Whether a source is JSON Lines or TSV is told by its first byte, unless the call says. */
static gf_status begin_source(importing_rows *m, const gf_text_line *line, bool *is_header,
                              gf_error *err)
{
    const gf_call *call = m->in.intake.call;
    gf_slice from = gf_call_text_or(call, "from", "auto");
    bool fields = gf_call_has(call, "fields");
    m->json =
        gf_slice_equal(from, GF_SLICE("jsonl")) ||
        (gf_slice_equal(from, GF_SLICE("auto")) && line->text.len && line->text.ptr[0] == '{');
    *is_header = !m->json && gf_slice_starts(line->text, GF_SLICE("sha1\t"));
    if (m->json || (fields && !*is_header)) return GF_OK;
    gf_status st = *is_header ? gf_papers_rows_header(m->rows, line->text, err) : GF_OK;
    if (st == GF_EINVAL) gf_error_prefix(err, "%.*s:1", GF_SLICE_ARG(line->source));
    if (*is_header) return st;
    return gf_fail(err, GF_EINVAL,
                   "%.*s: neither JSON Lines nor TSV with a header that begins with sha1; --fields "
                   "names the columns behind the digest",
                   GF_SLICE_ARG(line->source));
}

static gf_status next_row(void *context, gf_record *record, gf_error *err)
{
    importing_rows *m = context;
    gf_text_line line;
    bool is_header = true;
    gf_status st = GF_OK;
    while (st == GF_OK && is_header) {
        is_header = false;
        st = gf_lines_next(m->lines, &line, err);
        if (st == GF_OK) st = open_rows(m, err);
        if (st == GF_OK && line.first) st = begin_source(m, &line, &is_header, err);
    }
    if (st != GF_OK) return st;
    *record = (gf_record){.source = line.source, .line = line.number, .raw = line.text};
    if (!line.too_long) return GF_OK;
    record->kind = GF_RECORD_REFUSED;
    record->reason = "too_long";
    record->message = "a line of more than 256 MiB";
    return GF_OK;
}

static gf_status store_row(void *context, const gf_record *record, gf_error *err)
{
    importing_rows *m = context;
    gf_error why = {GF_OK, ""};
    const char *reason = "";
    gf_papers_outcome outcome = GF_PAPERS_EXISTING;
    gf_status st = gf_papers_rows_read(m->rows, record->raw, m->json, &reason, &why);
    if (st == GF_OK) st = gf_papers_rows_put(m->rows, &outcome, &reason, &why);
    if (st == GF_EINVAL) return gf_intake_refuse(&m->in.intake, record, reason, why.message, err);
    if (st != GF_OK) {
        if (err) *err = why;
        return st;
    }
    gf_papers_intake_count(&m->in, outcome);
    return GF_OK;
}

static gf_status flush_rows(void *context, gf_status ended, gf_error *err)
{
    importing_rows *m = context;
    (void)ended;
    return m->rows ? gf_papers_rows_flush(m->rows, err) : GF_OK;
}

static gf_status run_papers_import(gf_call *call, gf_error *err)
{
    importing_rows m = {
        .in = {.intake = {.call = call, .next = next_row, .take = store_row, .flush = flush_rows},
               .replace = gf_call_flag(call, "replace")}};
    gf_status st = gf_lines_open(&call->input, MOST_LINE, NULL, &m.lines, err);
    if (st == GF_OK) st = gf_papers_intake_run(&m.in, err);
    gf_papers_rows_close(m.rows);
    gf_lines_close(m.lines);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter papers_import_parameters[] = {
    P_LIST("fields", "COLUMN,...", "columns of TSV without a header, behind the SHA-1"),
    P_CHOICE("from", "jsonl|tsv", "format, where the first byte does not tell it"),
    P_FLAG("replace", "write over what is there"),
    P_UNPACKED,
    P_LIST("group", "GROUP,...",
           "the groups that columns without a family are of, made where missing (grobid0,match0)"),
    P_PAPERS};

const gf_operation gf_papers_import_operation = {
    .name = "papers import",
    .method = "POST",
    .path = "/papers/rows",
    .meaning = "Put rows as papers dump gives them",
    GF_PARAMETERS(papers_import_parameters),
    .members = gf_schema_papers_import,
    .run = run_papers_import,
    .input = GF_INPUT_REQUIRED,
    .makes = true,
    .resumes = true,
};
