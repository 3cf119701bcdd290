#include "apps/logs/import.h"

#include "apps/logs/read.h"
#include "apps/logs/rollups.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "engine/rows/scan.h"

enum { BATCH_CHANGES = 8000, BATCH_BYTES = 4 << 20, BATCH_SECONDS = 1 };

struct gf_logs_import {
    gf_logs *log;
    gf_batch *batch;
    gf_logs_read *before; /* lines that were read before */
    gf_logs_sums *sums;   /* roll-ups */
    gf_buffer next_key;
    uint64_t next; /* number of the next line */
    uint64_t lines, known;
    uint64_t written;  /* of the lines */
    double written_at; /* seconds */
    bool is_torn;      /* of the line at hand not all may be in the batch */
};

static gf_status read_next_number(gf_logs_import *i, gf_error *err)
{
    gf_row row = {0};
    gf_logs *l = i->log;
    gf_status st = gf_logs_entry_key(l, GF_SLICE("next"), GF_SLICE(""), 0, 0, &i->next_key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(gf_user_table_rows(l->by), NULL, gf_buffer_view(&i->next_key),
                               l->entry, GF_SLICE("line"), 1, &row, err);
    if (st == GF_OK && !gf_rows_cell_number(&row.cells[0], &i->next))
        st = gf_fail(err, GF_ECORRUPT, "the number of an access log's next line is damaged");
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Write the batch, with the number of the next line and the lines that were read. */
static gf_status write_batch(gf_logs_import *i, gf_error *err)
{
    gf_logs *l = i->log;
    bool changed;
    gf_status st = gf_logs_read_flush(i->before, &changed, err);
    if (st == GF_OK) st = gf_logs_sums_put(i->sums, i->batch, err);
    if (st != GF_OK || !changed) return st;
    gf_buffer_reset(&l->text);
    gf_buffer_format(&l->text, "%llu", (unsigned long long)i->next);
    st = gf_buffer_check(&l->text, err);
    if (st != GF_OK) return st;
    gf_batch_put(i->batch, gf_user_table_rows(l->by), gf_buffer_view(&i->next_key), l->entry,
                 GF_SLICE("line"), gf_buffer_view(&l->text), 0);
    st = gf_logs_write(l, i->batch, GF_SYNC_ON, err);
    if (st == GF_OK) i->written = i->lines;
    i->written_at = gf_clock_seconds();
    return st;
}

/* ---- a line ---------------------------------------------------------------------------------- */

static void add_column(gf_column *columns, size_t *n, const char *name, gf_slice value)
{
    if (value.len) columns[(*n)++] = (gf_column){gf_slice_str(name), value};
}

static void put_line(gf_logs_import *i, const gf_accesslog_line *a)
{
    gf_logs *l = i->log;
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
    add_column(http, &n_http, "referer", a->referer);
    add_column(user, &n_user, "browser_cookie", a->cookie);
    add_column(user, &n_user, "login_id", a->login);
    add_column(user, &n_user, "agent", a->agent);
    gf_slice key = gf_buffer_view(&l->key);
    gf_batch_replace(i->batch, gf_user_table_rows(l->lines), key, l->http, http, n_http, 0);
    if (n_user)
        gf_batch_replace(i->batch, gf_user_table_rows(l->lines), key, l->user, user, n_user, 0);
}

/* Put the entries of a line, or delete them. */
static gf_status change_entries(gf_logs_import *i, const gf_accesslog_line *a, uint64_t number,
                                bool put, gf_error *err)
{
    gf_logs *l = i->log;
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

static gf_status add_line(gf_logs_import *i, gf_accesslog_line *a, gf_error *err)
{
    gf_logs *l = i->log;
    if (a->domain.len == 0) a->domain = gf_call_text(l->call, "domain");
    gf_status st = gf_logs_line_key(l, a->time, i->next, &l->key, err);
    if (st != GF_OK) return st;
    put_line(i, a);
    st = change_entries(i, a, i->next, true, err);
    if (st == GF_OK) st = gf_logs_sums_add(i->sums, a, false, err);
    i->next++;
    i->lines++;
    return st;
}

/* Take a line out again, as it was added: its domain may be one that was said then. */
static gf_status remove_line(gf_logs_import *i, int64_t time, uint64_t number, gf_error *err)
{
    gf_logs *l = i->log;
    gf_accesslog_line a;
    gf_row row = {0};
    gf_status st = gf_logs_line_key(l, time, number, &l->key, err);
    if (st == GF_OK)
        st = gf_table_get(gf_user_table_rows(l->lines), NULL, gf_buffer_view(&l->key),
                          UINT32_C(1) << l->http | UINT32_C(1) << l->user, &row, err);
    if (st == GF_OK) {
        gf_logs_line_of_row(l, &row, &a);
        a.time = time;
        gf_batch_delete_row(i->batch, gf_user_table_rows(l->lines), gf_buffer_view(&l->key),
                            GF_ALL_FAMILIES);
        st = change_entries(i, &a, number, false, err);
        if (st == GF_OK) st = gf_logs_sums_add(i->sums, &a, true, err);
    }
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st; /* deleted since */
}

/* Apply this line's effect on earlier ones: held lines prove new, or a partial line is replaced. */
static gf_status mend_earlier(gf_logs_import *i, gf_error *err)
{
    gf_slice text;
    uint64_t number;
    gf_accesslog_line a;
    gf_status st = GF_OK;
    while (st == GF_OK && gf_logs_read_take_held(i->before, &text)) {
        i->known--;
        st = gf_accesslog_parse(text, &a, err);
        if (st == GF_OK) st = add_line(i, &a, err);
    }
    if (st != GF_OK || !gf_logs_read_take_replaced(i->before, &text, &number)) return st;
    st = gf_accesslog_parse(text, &a, err);
    return st == GF_OK ? remove_line(i, a.time, number, err) : st;
}

gf_status gf_logs_import_parse(const gf_text_line *line, gf_accesslog_line *a, gf_error *err)
{
    if (line->too_long) return gf_fail(err, GF_EINVAL, "it has more than %d bytes", GF_LOGS_LINE);
    if (gf_utf8_valid_length(line->text) != line->text.len)
        return gf_fail(err, GF_EINVAL, "it is not UTF-8");
    gf_accesslog_line parsed;
    gf_status st = gf_accesslog_parse(line->text, &parsed, err);
    if (st == GF_OK && parsed.bytes > GF_LOGS_BYTES)
        return gf_fail(err, GF_EINVAL, "its size is more than %llu bytes",
                       (unsigned long long)GF_LOGS_BYTES);
    if (st == GF_OK) *a = parsed;
    return st;
}

static gf_status begin_source(gf_logs_import *i, gf_error *err)
{
    gf_status st = write_batch(i, err);
    gf_logs_read_begin(i->before);
    return st;
}

static gf_status take_line(gf_logs_import *i, const gf_text_line *line, gf_error *why,
                           gf_error *err)
{
    gf_accesslog_line a;
    gf_logs_verdict verdict;
    uint64_t number = UINT64_MAX;
    bool good = gf_logs_import_parse(line, &a, why) == GF_OK;
    gf_status st = line->first ? begin_source(i, err) : GF_OK;
    if (st == GF_OK) st = gf_logs_read_judge(i->before, line, good, &verdict, err);
    if (st == GF_OK) st = mend_earlier(i, err);
    if (st == GF_OK && good && verdict == GF_LOGS_KNOWN) i->known++;
    if (st == GF_OK && good && verdict != GF_LOGS_KNOWN) {
        number = i->next;
        st = add_line(i, &a, err);
    }
    return st == GF_OK ? gf_logs_read_pass(i->before, line, number, err) : st;
}

gf_status gf_logs_import_add(gf_logs_import *i, const gf_text_line *line, gf_error *why,
                             gf_error *err)
{
    *why = (gf_error){GF_OK, ""};
    i->is_torn = true;
    gf_status st = take_line(i, line, why, err);
    i->is_torn = st != GF_OK;
    return st;
}

/* The lines of a log that grows are seen soon. */
gf_status gf_logs_import_write_if_due(gf_logs_import *i, gf_error *err)
{
    if (gf_batch_changes(i->batch) < BATCH_CHANGES && gf_batch_bytes(i->batch) < BATCH_BYTES &&
        gf_clock_seconds() - i->written_at < BATCH_SECONDS)
        return GF_OK;
    return write_batch(i, err);
}

gf_status gf_logs_import_flush(gf_logs_import *i, gf_error *err)
{
    return i->is_torn ? GF_OK : write_batch(i, err);
}

gf_logs_counts gf_logs_import_counted(const gf_logs_import *i)
{
    return (gf_logs_counts){.written = i->written, .known = i->known};
}

/* ---- life ------------------------------------------------------------------------------------ */

static gf_status open_import(gf_logs_import *i, bool again, gf_error *err)
{
    gf_logs *l = i->log;
    gf_status st = gf_logs_open(l, true, err);
    if (st == GF_OK) st = gf_logs_claim(l, err);
    if (st == GF_OK) st = gf_batch_create(gf_store_database(l->store), &i->batch, err);
    if (st == GF_OK) st = gf_logs_read_create(l, i->batch, again, &i->before, err);
    if (st == GF_OK && !l->lines) {
        st = gf_logs_read_forget(i->before, err);
        if (st == GF_OK) st = gf_logs_forget_rollups(l, err);
        if (st == GF_OK) st = gf_logs_make(l, err);
    }
    if (st == GF_OK) st = gf_logs_roll_up(l, false, NULL, err); /* lines of an earlier version */
    if (st == GF_OK) st = gf_logs_sums_create(l, &i->sums, err);
    return st == GF_OK ? read_next_number(i, err) : st;
}

gf_status gf_logs_import_open(gf_logs *log, bool again, gf_logs_import **import, gf_error *err)
{
    gf_logs_import *i = gf_calloc(1, sizeof *i);
    if (!i) return gf_fail_memory(err, "an import");
    i->log = log;
    i->written_at = gf_clock_seconds();
    gf_status st = open_import(i, again, err);
    if (st == GF_OK)
        *import = i;
    else
        gf_logs_import_close(i);
    return st;
}

void gf_logs_import_close(gf_logs_import *i)
{
    if (!i) return;
    gf_logs_read_free(i->before);
    gf_logs_sums_free(i->sums);
    gf_batch_free(i->batch);
    gf_buffer_release(&i->next_key);
    gf_free(i);
}
