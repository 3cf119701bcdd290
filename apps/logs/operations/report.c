/*
 * log report: requests and bytes by 5 minutes, hours, days, weeks or months.
 *
 * One walk over the lines. They come by time, so one bucket is counted at a time: memory is that of
 * the different values of one bucket. Nothing is stored: asked again, the answer is the same.
 */
#include "apps/logs/internal.h"

#include "base/memory.h"
#include "base/strings.h"
#include "formats/accesslog.h"

#include <stdlib.h>

typedef struct tally {
    gf_slice value;
    uint64_t requests, bytes;
} tally;

typedef struct reporting {
    gf_logs log;
    gf_accesslog_bucket every;
    const char *by; /* column; NULL: all lines together */
    uint64_t limit; /* values of a bucket; 0: all */
    int64_t bucket; /* that is being counted */
    gf_strings values;
    tally *tallies; /* values.n, room for `room` */
    size_t room;
} reporting;

static void choose_columns(reporting *r)
{
    static const char *const names[] = {"5m", "hour", "day", "week", "month"};
    static const char *const columns[] = {"url", "domain", "status", "referrer"};
    gf_slice every = gf_call_text_or(r->log.call, "every", "day"),
             by = gf_call_text(r->log.call, "by");
    for (int i = 0; i < 5; i++)
        if (gf_slice_equal(every, gf_slice_str(names[i]))) r->every = (gf_accesslog_bucket)i;
    for (int i = 0; i < 4; i++)
        if (gf_slice_equal(by, gf_slice_str(columns[i]))) r->by = columns[i];
    r->limit = gf_call_number(r->log.call, "limit", 0);
}

/* ---- a bucket -------------------------------------------------------------------------------- */

static int most_first(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    if (x->requests != y->requests) return x->requests < y->requests ? 1 : -1;
    return gf_slice_compare(x->value, y->value);
}

static gf_status emit_bucket(reporting *r, gf_error *err)
{
    size_t n = r->values.n;
    gf_status st = GF_OK;
    for (size_t i = 0; i < n; i++)
        r->tallies[i].value = gf_strings_at(&r->values, (uint32_t)i);
    if (n) qsort(r->tallies, n, sizeof *r->tallies, most_first);
    if (r->limit && n > r->limit) n = r->limit;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        gf_json_writer *w = gf_row_writer_begin(&r->log.writer);
        gf_json_put_uint(w, "bucket", (uint64_t)r->bucket);
        gf_row_put_time(w, "time", r->bucket * 1000);
        if (r->by) gf_json_put_string(w, "value", r->tallies[i].value);
        gf_json_put_uint(w, "requests", r->tallies[i].requests);
        gf_json_put_uint(w, "bytes", r->tallies[i].bytes);
        st = gf_row_writer_emit(&r->log.writer, err);
    }
    gf_strings_release(&r->values);
    gf_strings_init(&r->values);
    return st;
}

/* The value of the line in the column; "-" where it has none, as in logs. */
static gf_slice value_of(reporting *r, const gf_row *row)
{
    gf_logs *l = &r->log;
    const gf_cell *cell = r->by ? gf_row_find(row, l->http, r->by) : NULL;
    if (!r->by) return GF_SLICE("");
    gf_buffer_reset(&l->text);
    if (!cell ||
        !gf_user_table_value_print(gf_user_table_cell_type(l->lines, l->http, cell->qualifier),
                                   cell->value, &l->text))
        return GF_SLICE("-");
    return gf_buffer_view(&l->text);
}

static gf_status count_line(reporting *r, const gf_row *row, gf_error *err)
{
    uint32_t id;
    bool added;
    const gf_cell *bytes = gf_row_find(row, r->log.http, "bytes");
    gf_slice value = value_of(r, row);
    gf_status st = gf_buffer_check(&r->log.text, err);
    if (st == GF_OK) st = gf_strings_add(&r->values, value, &id, &added, err);
    if (st != GF_OK) return st;
    if (id >= r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        tally *more = gf_realloc(r->tallies, room, sizeof *more);
        if (!more) return gf_fail_memory(err, "a report");
        r->tallies = more, r->room = room;
    }
    if (added) r->tallies[id] = (tally){0};
    r->tallies[id].requests++;
    if (bytes && bytes->value.len == 8) r->tallies[id].bytes += gf_read_u64be(bytes->value.ptr);
    return GF_OK;
}

static gf_status walk_lines(reporting *r, gf_slice start, gf_slice end, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    gf_scan_options options = GF_SCAN_OPTIONS(.family = r->log.http, .start = start, .end = end);
    gf_status st = gf_scan_open(gf_user_table_rows(r->log.lines), &options, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row, err)) == GF_OK) {
        int64_t time = 0;
        uint64_t line = 0;
        gf_slice key = row.key;
        st = gf_cancel_check(r->log.call->cancel, err);
        if (st == GF_OK) st = gf_logs_take(&key, &time, &line, err);
        int64_t bucket = gf_accesslog_bucket_start(r->every, time);
        if (st == GF_OK && bucket != r->bucket) st = emit_bucket(r, err);
        r->bucket = bucket;
        if (st == GF_OK) st = count_line(r, &row, err);
        if (st != GF_OK) break;
    }
    if (st == GF_ENOTFOUND) st = emit_bucket(r, err);
    gf_row_release(&row);
    gf_scan_close(scan);
    return st;
}

static gf_status run_log_report(gf_call *call, gf_error *err)
{
    reporting r = {.log = {.call = call}};
    gf_buffer start = {0}, end = {0};
    gf_status st = gf_logs_open(&r.log, false, err);
    choose_columns(&r);
    if (st == GF_OK) st = gf_logs_range(&r.log, GF_SLICE(""), &start, &end, err);
    if (st == GF_OK) st = walk_lines(&r, gf_buffer_view(&start), gf_buffer_view(&end), err);
    gf_strings_release(&r.values);
    gf_free(r.tallies);
    gf_buffer_release(&start);
    gf_buffer_release(&end);
    gf_logs_close(&r.log);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter log_report_parameters[] = {
    P_LOG,
    P_CHOICE("every", "5m|hour|day|week|month",
             "what a bucket is, in UTC; a week begins on Monday (day)"),
    P_CHOICE("by", "url|domain|status|referrer", "count each value for itself"),
    P_SINCE,
    P_UNTIL,
    P_NUMBER("limit", 1, 0, "of each bucket the most frequent so many (all)")};

const gf_operation gf_log_report_operation = {
    .name = "log report",
    .method = "GET",
    .path = "/logs/{log}/report",
    .meaning = "Count requests by time",
    GF_PARAMETERS(log_report_parameters),
    .run = run_log_report,
};
