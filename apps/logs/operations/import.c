/*
 * log import: the lines of an access log.
 *
 * The log is made for the first good line: damaged lines before it wait, and an input that has only
 * such lines is no log.
 */
#include "apps/logs/import.h"
#include "api/intake.h"
#include "apps/logs/operations/schema.h"
#include "apps/logs/retention.h"

enum { MOST_WAITING = 100 };

typedef struct importing {
    gf_intake intake;
    gf_logs log;
    gf_lines *lines;
    gf_text_line line; /* at hand */
    gf_logs_import *import;
    gf_text_line waiting[MOST_WAITING]; /* n_waiting: damaged lines before the first good one */
    size_t n_waiting;
    gf_arena memory;  /* of these */
    int64_t before;   /* lines of days before that go at the end; 0: none */
    uint64_t deleted; /* of them */
} importing;

static gf_status refuse_line(importing *i, const gf_text_line *line, const char *message,
                             gf_error *err)
{
    gf_record record = {.source = line->source, .line = line->number, .raw = line->text};
    return gf_intake_refuse(&i->intake, &record, "bad_line", message, err);
}

static gf_status add_line(importing *i, const gf_text_line *line, gf_error *err)
{
    gf_error why;
    gf_status st = gf_logs_import_add(i->import, line, &why, err);
    if (st == GF_OK && why.status != GF_OK) st = refuse_line(i, line, why.message, err);
    return st == GF_OK ? gf_logs_import_write_if_due(i->import, err) : st;
}

/* ---- before the first good line -------------------------------------------------------------- */

static gf_status copy_waiting(importing *i, gf_error *err)
{
    if (i->n_waiting == MOST_WAITING)
        return gf_fail(err, GF_EINVAL, "%.*s is no access log: none of the first %d lines is one",
                       GF_SLICE_ARG(i->waiting[0].source), MOST_WAITING);
    gf_text_line *copy = &i->waiting[i->n_waiting];
    *copy = i->line;
    copy->source = gf_arena_copy(&i->memory, i->line.source);
    copy->text = gf_arena_copy(&i->memory, i->line.text);
    if (!copy->source.ptr || !copy->text.ptr) return gf_fail_memory(err, "lines");
    i->n_waiting++;
    return GF_OK;
}

static gf_status open_import(importing *i, gf_error *err)
{
    gf_status st =
        gf_logs_import_open(&i->log, gf_call_flag(i->log.call, "again"), &i->import, err);
    for (size_t w = 0; w < i->n_waiting && st == GF_OK; w++)
        st = add_line(i, &i->waiting[w], err);
    i->n_waiting = 0;
    return st;
}

/* All lines were damaged: they are refused, and no log is made. */
static gf_status refuse_waiting(importing *i, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t w = 0; w < i->n_waiting && st == GF_OK; w++) {
        gf_accesslog_line parsed;
        gf_error why = {GF_OK, ""};
        gf_logs_import_parse(&i->waiting[w], &parsed, &why);
        st = refuse_line(i, &i->waiting[w], why.message, err);
    }
    return st;
}

/* ---- the intake ------------------------------------------------------------------------------ */

static gf_status next_line(void *context, gf_record *record, gf_error *err)
{
    importing *i = context;
    gf_status st = gf_lines_next(i->lines, &i->line, err);
    *record = (gf_record){.source = i->line.source};
    if (st != GF_ENOTFOUND) return st;
    st = refuse_waiting(i, err);
    return st == GF_OK ? GF_ENOTFOUND : st;
}

static gf_status take_line(void *context, const gf_record *record, gf_error *err)
{
    importing *i = context;
    gf_accesslog_line parsed;
    gf_status st = GF_OK;
    (void)record;
    if (!i->import) {
        if (gf_logs_import_parse(&i->line, &parsed, NULL) != GF_OK) return copy_waiting(i, err);
        st = open_import(i, err);
    }
    return st == GF_OK ? add_line(i, &i->line, err) : st;
}

static gf_status flush_import(void *context, gf_status ended, gf_error *err)
{
    importing *i = context;
    uint64_t counts;
    gf_logs_deletion old = {.before = i->before};
    gf_status st = i->import ? gf_logs_import_flush(i->import, err) : GF_OK;
    if (st != GF_OK || ended != GF_OK || !i->import || !i->before) return st;
    return gf_logs_delete_before(&i->log, &old, &i->deleted, &counts, err);
}

static gf_status emit_counts(void *context, gf_status ended, gf_error *err)
{
    importing *i = context;
    gf_logs_counts c = {0};
    if (i->import)
        c = gf_logs_import_counted(i->import);
    else if (ended != GF_OK)
        return GF_OK;
    gf_json_writer *w = gf_row_writer_begin(&i->log.writer);
    gf_json_put_string(w, "log", gf_call_text(i->log.call, "log"));
    gf_json_put_uint(w, "read", i->intake.read);
    gf_json_put_uint(w, "lines", c.written);
    gf_json_put_uint(w, "known", c.known);
    gf_json_put_uint(w, "refused", i->intake.refused);
    if (i->before) gf_json_put_uint(w, "deleted", i->deleted);
    return gf_row_writer_emit(&i->log.writer, err);
}

static gf_status run_log_import(gf_call *call, gf_error *err)
{
    importing i = {.log = {.call = call, .writer = {.call = call}}};
    i.intake = (gf_intake){.call = call,
                           .context = &i,
                           .next = next_line,
                           .take = take_line,
                           .flush = flush_import,
                           .summary = emit_counts,
                           .what = gf_call_text(call, "log"),
                           .phase = "import"};
    gf_decoding_options decoding = gf_records_decoding(call);
    decoding.as_it_is =
        true; /* a line that is not UTF-8 is refused by itself: attackers send them */
    gf_status st = gf_call_has(call, "keep") ? gf_logs_read_before(call, &i.before, err) : GF_OK;
    if (st == GF_OK) st = gf_lines_open(&call->input, GF_LOGS_LINE, &decoding, &i.lines, err);
    if (st == GF_OK) st = gf_intake_run(&i.intake, err);
    gf_lines_close(i.lines);
    gf_logs_import_close(i.import);
    gf_arena_release(&i.memory);
    gf_logs_close(&i.log);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter log_import_parameters[] = {
    P_LOG,
    P_TEXT("domain", "DOMAIN", "of lines that do not name one"),
    P_TEXT("encoding", "NAME", "of logs that are not UTF-8, such as windows-1252"),
    P_FLAG("again", "add also lines that were imported before"),
    P_TEXT("keep", "AGE", "then delete lines older than this, as log delete does, such as 365d"),
    P_UNPACKED};

const gf_operation gf_log_import_operation = {
    .name = "log import",
    .method = "POST",
    .path = "/logs/{log}",
    .meaning = "Add lines of a web server's access log",
    GF_PARAMETERS(log_import_parameters),
    .members = gf_schema_log_import,
    .run = run_log_import,
    .input = GF_INPUT_REQUIRED,
    .makes = true,
    .resumes = true,
};
