/* log import: lines of an access log, each with its entries by ip, cookie and login. */
#include "apps/logs/read.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "engine/rows/scan.h"
#include "formats/accesslog.h"

enum { MOST_WAITING = 100 };

typedef struct importing {
    gf_logs log;
    gf_batch *batch;
    gf_logs_read *before; /* what was read before */
    gf_buffer next_key;
    uint64_t next; /* number of the next line */
    uint64_t read, lines, known, refused;
    uint64_t written;                   /* of the lines */
    double written_at;                  /* seconds: when that was */
    bool torn;                          /* of the line at hand not all may be in the batch */
    gf_text_line waiting[MOST_WAITING]; /* n_waiting: damaged lines before the first good one */
    size_t n_waiting;
    gf_arena memory; /* of these */
} importing;

static gf_status read_next(importing *i, gf_error *err)
{
    gf_row row = {0};
    gf_logs *l = &i->log;
    gf_status st = gf_logs_entry_key(l, GF_SLICE("next"), GF_SLICE(""), 0, 0, &i->next_key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(gf_user_table_rows(l->by), NULL, gf_buffer_view(&i->next_key),
                               l->entry, GF_SLICE("line"), 1, &row, err);
    if (st == GF_OK && !gf_cell_number(&row.cells[0], &i->next))
        st = gf_fail(err, GF_ECORRUPT, "the number of an access log's next line is damaged");
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Everything that is in the batch, with the number of the next line and what was read. */
static gf_status write(importing *i, gf_error *err)
{
    gf_logs *l = &i->log;
    bool changed;
    if (!i->before) return GF_OK;
    gf_status st = gf_logs_read_flush(i->before, &changed, err);
    if (st != GF_OK || !changed) return st;
    gf_buffer_reset(&l->text);
    gf_buffer_format(&l->text, "%llu", (unsigned long long)i->next);
    st = gf_buffer_check(&l->text, err);
    if (st != GF_OK) return st;
    gf_batch_put(i->batch, gf_user_table_rows(l->by), gf_buffer_view(&i->next_key), l->entry,
                 GF_SLICE("line"), gf_buffer_view(&l->text), 0);
    st = gf_batch_write(i->batch, GF_SYNC, err);
    if (st == GF_OK) i->written = i->lines;
    i->written_at = gf_clock_seconds();
    return st;
}

/* ---- a line ---------------------------------------------------------------------------------- */

static void add_column(gf_column *columns, size_t *n, const char *name, gf_slice value)
{
    if (value.len) columns[(*n)++] = (gf_column){gf_slice_str(name), value};
}

static void put_line(importing *i, const gf_accesslog_line *a)
{
    gf_logs *l = &i->log;
    gf_column http[8], user[3];
    size_t n_http = 0, n_user = 0;
    char numbers[16];
    for (int b = 0; b < 8; b++) {
        numbers[b] = (char)((uint64_t)a->status >> (56 - 8 * b) & 0xff);
        numbers[8 + b] = (char)(a->bytes >> (56 - 8 * b) & 0xff);
    }
    add_column(http, &n_http, "ip", a->ip);
    add_column(http, &n_http, "domain", a->domain);
    add_column(http, &n_http, "method", a->method);
    add_column(http, &n_http, "url", a->url);
    add_column(http, &n_http, "protocol", a->protocol);
    add_column(http, &n_http, "status", gf_slice_of(numbers, 8));
    add_column(http, &n_http, "bytes", gf_slice_of(numbers + 8, 8));
    add_column(http, &n_http, "referrer", a->referrer);
    add_column(user, &n_user, "browser_cookie", a->cookie);
    add_column(user, &n_user, "login_id", a->login);
    add_column(user, &n_user, "agent", a->agent);
    gf_slice key = gf_buffer_view(&l->key);
    gf_batch_replace(i->batch, gf_user_table_rows(l->lines), key, l->http, http, n_http, 0);
    if (n_user)
        gf_batch_replace(i->batch, gf_user_table_rows(l->lines), key, l->user, user, n_user, 0);
}

/* Put the entries of a line, or delete them. */
static gf_status change_entries(importing *i, const gf_accesslog_line *a, uint64_t number, bool put,
                                gf_error *err)
{
    gf_logs *l = &i->log;
    gf_table *rows = gf_user_table_rows(l->by);
    const gf_slice kinds[] = {GF_SLICE("ip"), GF_SLICE("cookie"), GF_SLICE("login")};
    const gf_slice values[] = {a->ip, a->cookie, a->login};
    for (int k = 0; k < 3; k++) {
        if (values[k].len == 0) continue;
        gf_status st = gf_logs_entry_key(l, kinds[k], values[k], a->time, number, &l->key, err);
        if (st != GF_OK) return st;
        if (put)
            gf_batch_put(i->batch, rows, gf_buffer_view(&l->key), l->entry, GF_SLICE("line"),
                         GF_SLICE(""), 0);
        else
            gf_batch_delete_row(i->batch, rows, gf_buffer_view(&l->key), GF_ALL_FAMILIES);
    }
    return GF_OK;
}

static gf_status add(importing *i, gf_accesslog_line *a, gf_error *err)
{
    gf_logs *l = &i->log;
    if (a->domain.len == 0) a->domain = gf_call_text(l->call, "domain");
    gf_status st = gf_logs_line_key(l, a->time, i->next, &l->key, err);
    if (st != GF_OK) return st;
    put_line(i, a);
    st = change_entries(i, a, i->next, true, err);
    i->next++, i->lines++;
    return st;
}

static gf_status remove_line(importing *i, const gf_accesslog_line *a, uint64_t number,
                             gf_error *err)
{
    gf_logs *l = &i->log;
    gf_status st = gf_logs_line_key(l, a->time, number, &l->key, err);
    if (st != GF_OK) return st;
    gf_batch_delete_row(i->batch, gf_user_table_rows(l->lines), gf_buffer_view(&l->key),
                        GF_ALL_FAMILIES);
    return change_entries(i, a, number, false, err);
}

/* What the line has made of lines before it: they are new after all, or it has grown of one. */
static gf_status mend(importing *i, gf_error *err)
{
    gf_slice text;
    uint64_t number;
    gf_accesslog_line a;
    gf_status st = GF_OK;
    while (st == GF_OK && gf_logs_read_take_held(i->before, &text)) {
        i->known--;
        st = gf_accesslog_parse(text, &a, err);
        if (st == GF_OK) st = add(i, &a, err);
    }
    if (st != GF_OK || !gf_logs_read_take_replaced(i->before, &text, &number)) return st;
    st = gf_accesslog_parse(text, &a, err);
    return st == GF_OK ? remove_line(i, &a, number, err) : st;
}

static gf_status parse(const gf_text_line *line, gf_accesslog_line *a, gf_error *why)
{
    if (line->too_long) return gf_fail(why, GF_EINVAL, "it has more than %d bytes", GF_MAX_KEY / 2);
    if (gf_utf8_valid_length(line->text) != line->text.len)
        return gf_fail(why, GF_EINVAL, "it is not UTF-8");
    return gf_accesslog_parse(line->text, a, why);
}

static gf_status begin_source(importing *i, gf_error *err)
{
    gf_status st = write(i, err);
    gf_logs_read_begin(i->before);
    return st;
}

static gf_status take_line(importing *i, const gf_text_line *line, gf_error *why, gf_error *err)
{
    gf_accesslog_line a;
    gf_logs_verdict verdict;
    uint64_t number = UINT64_MAX;
    bool good = parse(line, &a, why) == GF_OK;
    gf_status st = line->first ? begin_source(i, err) : GF_OK;
    if (st == GF_OK) st = gf_logs_read_judge(i->before, line, good, &verdict, err);
    if (st == GF_OK) st = mend(i, err);
    if (st == GF_OK && good && verdict == GF_LOG_KNOWN) i->known++;
    if (st == GF_OK && good && verdict != GF_LOG_KNOWN) {
        number = i->next;
        st = add(i, &a, err);
    }
    return st == GF_OK ? gf_logs_read_pass(i->before, line, number, err) : st;
}

static gf_status refuse(importing *i, const gf_text_line *line, const char *message, gf_error *err)
{
    const gf_call *call = i->log.call;
    gf_notice n = {"bad_line", line->source, line->number, message, true};
    i->refused++;
    gf_call_notify(call, &n);
    return gf_call_reject(call, line->text, err);
}

/* Between two lines: the batch is one of whole lines. Of a log that grows they are seen soon. */
static gf_status pause(importing *i, gf_error *err)
{
    enum { BATCH_CHANGES = 8000, BATCH_BYTES = 4 << 20, SECONDS = 1, TOLD = 1000 };
    gf_call *call = i->log.call;
    if (i->read % TOLD == 0)
        gf_call_progress(call, gf_call_text(call, "log"), "import", i->read, 0);
    if (gf_batch_changes(i->batch) < BATCH_CHANGES && gf_batch_bytes(i->batch) < BATCH_BYTES &&
        gf_clock_seconds() - i->written_at < SECONDS)
        return GF_OK;
    return write(i, err);
}

/* Numbers of lines, and what was read before, are one import's at a time. */
static gf_status claim(const gf_logs *l, gf_error *err)
{
    gf_status st = gf_user_table_claim(l->by, NULL);
    return st == GF_OK ? st
                       : gf_fail(err, st,
                                 "lines are being added to log \"%.*s\" already; wait until that "
                                 "import has ended",
                                 GF_SLICE_ARG(gf_call_text(l->call, "log")));
}

static gf_status open_log(importing *i, gf_error *err)
{
    gf_call *call = i->log.call;
    gf_status st = gf_logs_open(&i->log, true, err);
    if (st == GF_OK) st = claim(&i->log, err);
    bool again = gf_call_flag(call, "again");
    if (st == GF_OK) st = gf_batch_create(gf_store_database(i->log.store), &i->batch, err);
    if (st == GF_OK) st = gf_logs_read_create(&i->log, i->batch, again, &i->before, err);
    if (st == GF_OK && !i->log.lines) {
        st = gf_logs_read_forget(i->before, err);
        if (st == GF_OK) st = gf_logs_make(&i->log, err);
    }
    return st == GF_OK ? read_next(i, err) : st;
}

static gf_status take_or_refuse(importing *i, const gf_text_line *line, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    i->torn = true;
    gf_status st = take_line(i, line, &why, err);
    i->torn = st != GF_OK;
    if (st == GF_OK && why.status != GF_OK) st = refuse(i, line, why.message, err);
    return st == GF_OK ? pause(i, err) : st;
}

/* ---- the first good line ----------------------------------------------------------------------
 *
 * Until there is one the log is neither made nor opened, and what begins otherwise is no log.
 */

static gf_status wait_with(importing *i, const gf_text_line *line, gf_error *err)
{
    if (i->n_waiting == MOST_WAITING)
        return gf_fail(err, GF_EINVAL, "%.*s is no access log: none of the first %d lines is one",
                       GF_SLICE_ARG(i->waiting[0].source), MOST_WAITING);
    gf_text_line *kept = &i->waiting[i->n_waiting];
    *kept = *line;
    kept->source = gf_arena_copy(&i->memory, line->source);
    kept->text = gf_arena_copy(&i->memory, line->text);
    if (!kept->source.ptr || !kept->text.ptr) return gf_fail_memory(err, "lines");
    i->n_waiting++;
    return GF_OK;
}

static gf_status begin_log(importing *i, gf_error *err)
{
    gf_status st = open_log(i, err);
    for (size_t w = 0; w < i->n_waiting && st == GF_OK; w++)
        st = take_or_refuse(i, &i->waiting[w], err);
    i->n_waiting = 0;
    return st;
}

/* All lines were damaged: they are told, and there is no log. */
static gf_status refuse_all(importing *i, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t w = 0; w < i->n_waiting && st == GF_OK; w++) {
        gf_accesslog_line a;
        gf_error why = {GF_OK, ""};
        parse(&i->waiting[w], &a, &why);
        st = refuse(i, &i->waiting[w], why.message, err);
    }
    return st;
}

static gf_status handle(importing *i, const gf_text_line *line, gf_error *err)
{
    gf_accesslog_line a;
    i->read++;
    if (i->before) return take_or_refuse(i, line, err);
    if (parse(line, &a, NULL) != GF_OK) return wait_with(i, line, err);
    gf_status st = begin_log(i, err);
    return st == GF_OK ? take_or_refuse(i, line, err) : st;
}

static gf_status read_lines(importing *i, gf_lines *lines, gf_error *err)
{
    gf_text_line line;
    gf_status st;
    while ((st = gf_cancel_check(i->log.call->cancel, err)) == GF_OK &&
           (st = gf_lines_next(lines, &line, err)) == GF_OK) {
        st = handle(i, &line, err);
        if (st != GF_OK) return st;
    }
    return st == GF_ENOTFOUND ? refuse_all(i, err) : st;
}

static gf_status emit_counts(importing *i, gf_error *err)
{
    gf_call *call = i->log.call;
    gf_json_writer *w = gf_row_writer_begin(&i->log.writer);
    gf_json_put_string(w, "log", gf_call_text(call, "log"));
    gf_json_put_uint(w, "read", i->read);
    gf_json_put_uint(w, "lines", i->written);
    gf_json_put_uint(w, "known", i->known);
    gf_json_put_uint(w, "refused", i->refused);
    if (i->refused) call->outcome = GF_SOME_REFUSED;
    return gf_row_writer_emit(&i->log.writer, err);
}

/* Whatever ends the reading, the lines before it are written and told of. */
static gf_status import(importing *i, gf_lines *lines, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_status st = read_lines(i, lines, &why), written = GF_OK;
    if (!i->torn) written = write(i, st == GF_OK ? &why : NULL);
    if (st == GF_OK) st = written;
    gf_call_tell_stop(st, &why);
    gf_status told = i->before || st == GF_OK ? emit_counts(i, err) : GF_OK;
    if (st != GF_OK && err) *err = why;
    return st == GF_OK ? told : st;
}

gf_status gf_run_log_import(gf_call *call, gf_error *err)
{
    importing i = {.log = {.call = call, .writer = {.call = call}},
                   .written_at = gf_clock_seconds()};
    gf_lines *lines = NULL;
    if (!call->input.next) return gf_fail(err, GF_EINVAL, "there is no input");
    gf_status st = gf_lines_open(&call->input, GF_MAX_KEY / 2, &lines, err);
    if (st == GF_OK) st = import(&i, lines, err);
    gf_lines_close(lines);
    gf_logs_read_free(i.before);
    gf_batch_free(i.batch);
    gf_buffer_release(&i.next_key);
    gf_arena_release(&i.memory);
    gf_logs_close(&i.log);
    return st;
}
