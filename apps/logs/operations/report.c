/*
 * log report: requests, bytes and visitors by 5 minutes, hours, days, weeks, months or years.
 *
 * Counts come from the roll-ups (rollups.h) where these have them, and from the lines at the ends of
 * the range that are not whole units of them; all by time, so one bucket is counted at a time: memory
 * is that of the different values of one bucket. Without roll-ups, and for what they do not have
 * (values of many kinds by less than a day), it is a walk over the lines. Both give the same.
 *
 * Of days whose lines were deleted there are the roll-ups alone: whole units of them.
 */
#include "apps/logs/operations/schema.h"
#include "apps/logs/rollups.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/strings.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct tally {
    gf_slice value;
    uint64_t requests, bytes;
} tally;

typedef struct reporting {
    gf_logs log;
    gf_snapshot *snapshot;
    gf_logs_state state;
    gf_accesslog_bucket every;
    gf_logs_by by;
    gf_distinct *sketch; /* of the bucket; NULL: visitors are not asked for */
    uint64_t limit;      /* values of a bucket; 0: all */
    int64_t from, to;    /* what is counted */
    int64_t bucket;      /* that is being counted */
    gf_strings values;
    tally *tallies; /* values.n, room for `room` */
    size_t room;
} reporting;

static gf_status choose_columns(reporting *r, gf_error *err)
{
    static const char *const names[] = {"5m", "hour", "day", "week", "month", "year"};
    gf_slice every = gf_call_text_or(r->log.call, "every", "day"),
             by = gf_call_text(r->log.call, "by");
    for (int i = 0; i < 6; i++)
        if (gf_slice_equal(every, gf_slice_str(names[i]))) r->every = (gf_accesslog_bucket)i;
    for (int i = GF_LOGS_STATUS; i < GF_LOGS_BYS; i++)
        if (gf_slice_equal(by, gf_slice_str(gf_logs_by_name((gf_logs_by)i)))) r->by = (gf_logs_by)i;
    if (gf_slice_equal(by, GF_SLICE("referrer"))) r->by = GF_LOGS_REFERER;
    r->limit = gf_call_number(r->log.call, "limit", 0);
    gf_logs_times(r->log.call, &r->from, &r->to);
    if (!gf_call_flag(r->log.call, "visitors")) return GF_OK;
    if (r->by != GF_LOGS_TOTAL)
        return gf_fail(err, GF_EINVAL, "visitors are counted of all lines: without by");
    r->sketch = gf_calloc(1, sizeof *r->sketch);
    return r->sketch ? GF_OK : gf_fail_memory(err, "a report");
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
        if (r->by != GF_LOGS_TOTAL) gf_json_put_string(w, "value", r->tallies[i].value);
        gf_json_put_uint(w, "requests", r->tallies[i].requests);
        gf_json_put_uint(w, "bytes", r->tallies[i].bytes);
        if (r->sketch) gf_json_put_uint(w, "visitors", gf_distinct_estimate(r->sketch));
        st = gf_row_writer_emit(&r->log.writer, err);
    }
    gf_strings_release(&r->values);
    gf_strings_init(&r->values);
    if (r->sketch) *r->sketch = (gf_distinct){{0}};
    return st;
}

static gf_status count(void *context, int64_t time, gf_slice value, uint64_t requests,
                       uint64_t bytes, gf_error *err)
{
    reporting *r = context;
    uint32_t id;
    bool added;
    int64_t bucket = gf_accesslog_bucket_start(r->every, time);
    gf_status st = bucket != r->bucket ? emit_bucket(r, err) : GF_OK;
    r->bucket = bucket;
    if (st == GF_OK) st = gf_strings_add(&r->values, value, &id, &added, err);
    if (st != GF_OK) return st;
    if (id >= r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        tally *more = gf_realloc(r->tallies, room, sizeof *more);
        if (!more) return gf_fail_memory(err, "a report");
        r->tallies = more, r->room = room;
    }
    if (added) r->tallies[id] = (tally){0};
    r->tallies[id].requests += requests;
    r->tallies[id].bytes = gf_logs_sum(r->tallies[id].bytes, bytes);
    return GF_OK;
}

/* ---- from lines ------------------------------------------------------------------------------ */

static gf_status count_line(void *context, uint64_t number, const gf_accesslog_line *line,
                            gf_error *err)
{
    reporting *r = context;
    char digits[4];
    (void)number;
    gf_status st = count(r, line->time, gf_logs_value(line, r->by, digits), 1, line->bytes, err);
    if (st == GF_OK && r->sketch) gf_distinct_add(r->sketch, gf_logs_visitor(line));
    return st;
}

static gf_status walk_lines(reporting *r, int64_t from, int64_t to, gf_error *err)
{
    bool of_user = r->by == GF_LOGS_AGENT || r->by == GF_LOGS_LOGIN || r->sketch;
    if (from >= to) return GF_OK;
    return gf_logs_walk(&r->log, r->snapshot, from, to, of_user, count_line, r, err);
}

/* ---- from roll-ups --------------------------------------------------------------------------- */

/* Days that have been read before belong to one bucket, or the one at hand is emitted by `count`. */
static gf_status merge_part(void *context, int64_t day, unsigned part, const uint8_t registers[256],
                            gf_error *err)
{
    reporting *r = context;
    (void)day, (void)err;
    for (unsigned i = 0; i < 256; i++)
        if (r->sketch->rank[256 * part + i] < registers[i])
            r->sketch->rank[256 * part + i] = registers[i];
    return GF_OK;
}

static gf_status count_with_visitors(void *context, int64_t day, gf_slice value, uint64_t requests,
                                     uint64_t bytes, gf_error *err)
{
    reporting *r = context;
    gf_status st = count(r, day, value, requests, bytes, err);
    return st == GF_OK ? gf_logs_visit_sketches(&r->log, r->snapshot, day,
                                                day + GF_LOGS_DAY_SECONDS, merge_part, r, err)
                       : st;
}

static gf_status read_counts(reporting *r, gf_logs_unit unit, int64_t from, int64_t to,
                             gf_error *err)
{
    if (from >= to) return GF_OK;
    return gf_logs_visit_counts(&r->log, r->snapshot, unit, r->by, from, to,
                                r->sketch ? count_with_visitors : count, r, err);
}

/* ---- which of them --------------------------------------------------------------------------- */

static bool is_start(gf_logs_unit unit, int64_t time)
{
    return time == INT64_MIN || time == INT64_MAX || gf_logs_unit_start(unit, time) == time;
}

/* The start of the next unit, unless one starts here. */
static int64_t next_start(gf_logs_unit unit, int64_t time)
{
    return is_start(unit, time) ? time
                                : gf_logs_unit_start(unit, time) + gf_logs_unit_seconds(unit);
}

/*
 * The unit whose roll-ups have what is asked for: the largest one that both ends of the range are
 * starts of, else the smallest. False: none.
 */
static bool choose_unit(const reporting *r, gf_logs_unit *unit)
{
    bool found = false;
    for (int u = GF_LOGS_DAY; u >= GF_LOGS_5_MINUTES; u--) {
        bool fits = gf_logs_rolled_up((gf_logs_unit)u, r->by) &&
                    (u == GF_LOGS_5_MINUTES ? !r->sketch : r->every >= GF_ACCESSLOG_DAY);
        if (!fits) continue;
        *unit = (gf_logs_unit)u;
        found = true;
        if (is_start(*unit, r->from) && is_start(*unit, r->to)) break;
    }
    return found;
}

/* By the name of the counts that went with the lines, NULL: these stayed. */
static void tell_deleted(reporting *r, int64_t before, const char *counts, const char *rest)
{
    gf_buffer text = {0};
    gf_buffer_str(&text, "lines before ");
    gf_clock_write_iso(&text, before * 1000);
    gf_buffer_str(&text, " were deleted");
    if (counts) gf_buffer_format(&text, " with their counts%s", counts);
    gf_buffer_format(&text, ": %s", rest);
    if (gf_buffer_check(&text, NULL) == GF_OK) {
        gf_notice n = {
            .reason = "lines_deleted", .source = r->log.name, .message = gf_buffer_cstr(&text)};
        gf_call_notify(r->log.call, &n);
    }
    gf_buffer_release(&text);
}

/* Days that were deleted with the counts that the report is of. */
static void tell_left_out(reporting *r, int64_t start)
{
    char by[32] = "";
    if (r->by != GF_LOGS_TOTAL) snprintf(by, sizeof by, " by %s", gf_logs_by_name(r->by));
    tell_deleted(r, start, by, "they are left out");
}

/* Deleted lines left whole units since `start`: the range is to have no other there. */
static void widen(reporting *r, gf_logs_unit unit, int64_t start)
{
    int64_t *const ends[] = {&r->from, &r->to}, before = r->state.deleted_before;
    bool wider = false;
    for (int i = 0; i < 2; i++) {
        if (*ends[i] < start || *ends[i] >= before || is_start(unit, *ends[i])) continue;
        *ends[i] = i ? next_start(unit, *ends[i]) : gf_logs_unit_start(unit, *ends[i]);
        wider = true;
    }
    if (wider)
        tell_deleted(r, before, NULL,
                     unit == GF_LOGS_DAY ? "days that the range cuts are counted whole"
                                         : "5 minutes that the range cuts are counted whole");
}

static gf_status count_range(reporting *r, gf_error *err)
{
    gf_logs_unit unit;
    int64_t start = gf_logs_counts_start(&r->state, r->by), before = r->state.deleted_before;
    /* Deleted lines in the range: are there some whose counts went, or some whose counts stayed? */
    bool gone = start && r->from < start && r->from < r->to;
    bool kept = (r->from > start ? r->from : start) < (r->to < before ? r->to : before);
    if (gone) tell_left_out(r, start);
    if (!r->state.whole) {
        if (kept) tell_deleted(r, before, NULL, "they are left out until \"log rollup\" has ended");
        return walk_lines(r, r->from, r->to, err);
    }
    if (!choose_unit(r, &unit)) {
        if (kept)
            tell_deleted(r, before, NULL,
                         "they are counted by the day, week, month and year alone");
        return walk_lines(r, r->from, r->to, err);
    }
    if (kept) widen(r, unit, start);
    int64_t first = next_start(unit, r->from);
    int64_t last = is_start(unit, r->to) ? r->to : gf_logs_unit_start(unit, r->to);
    if (first >= last) return walk_lines(r, r->from, r->to, err);
    gf_status st = walk_lines(r, r->from, first, err);
    if (st == GF_OK) st = read_counts(r, unit, first, last, err);
    return st == GF_OK ? walk_lines(r, last, r->to, err) : st;
}

static gf_status run_log_report(gf_call *call, gf_error *err)
{
    reporting r = {.log = {.call = call}};
    gf_status st = gf_logs_open(&r.log, false, err);
    if (st == GF_OK) st = choose_columns(&r, err);
    if (st == GF_OK) st = gf_snapshot_create(gf_store_database(r.log.store), &r.snapshot, err);
    if (st == GF_OK) st = gf_logs_read_state(&r.log, r.snapshot, &r.state, err);
    if (st == GF_OK) st = count_range(&r, err);
    if (st == GF_OK) st = emit_bucket(&r, err);
    gf_snapshot_free(r.snapshot);
    gf_strings_release(&r.values);
    gf_free(r.tallies);
    gf_free(r.sketch);
    gf_logs_close(&r.log);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter log_report_parameters[] = {
    P_LOG,
    P_CHOICE("every", "5m|hour|day|week|month|year",
             "what a bucket is, in UTC; a week begins on Monday (day)"),
    P_CHOICE("by", "url|domain|status|referer|ip|agent|login|referrer",
             "count each value for itself; referrer is referer"),
    P_FLAG("visitors", "with the number of different visitors, an estimate"),
    P_SINCE,
    P_UNTIL,
    P_NUMBER("limit", 1, 0, "of each bucket the most frequent so many (all)")};

const gf_operation gf_log_report_operation = {
    .name = "log report",
    .method = "GET",
    .path = "/logs/{log}/report",
    .meaning = "Count requests by time",
    GF_PARAMETERS(log_report_parameters),
    .members = gf_schema_log_report,
    .run = run_log_report,
};
