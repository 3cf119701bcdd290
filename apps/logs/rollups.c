/* Roll-ups as they are stored: rows of LOG-counts. */
#include "apps/logs/rollups.h"

#include "base/hex.h"
#include "base/number.h"
#include "engine/rows/scan.h"

#include <stdio.h>
#include <xxhash.h>

enum { BATCH_CHANGES = 8000, BATCH_BYTES = 4 << 20 };

static const char *const unit_names[GF_LOGS_UNITS] = {"5m", "day"};

const char *gf_logs_by_name(gf_logs_by by)
{
    static const char *const names[GF_LOGS_BYS] = {"total",   "status", "domain", "url",
                                                   "referer", "ip",     "agent",  "login"};
    return names[by];
}

bool gf_logs_rolled_up(gf_logs_unit unit, gf_logs_by by)
{
    return unit == GF_LOGS_DAY || by <= GF_LOGS_DOMAIN;
}

int64_t gf_logs_unit_seconds(gf_logs_unit unit)
{
    return unit == GF_LOGS_DAY ? GF_LOGS_DAY_SECONDS : GF_LOGS_5_MINUTES_SECONDS;
}

int64_t gf_logs_unit_start(gf_logs_unit unit, int64_t time)
{
    return gf_accesslog_bucket_start(
        unit == GF_LOGS_DAY ? GF_ACCESSLOG_DAY : GF_ACCESSLOG_5_MINUTES, time);
}

gf_slice gf_logs_value(const gf_accesslog_line *line, gf_logs_by by, char digits[4])
{
    gf_slice value = {"", 0};
    switch (by) {
    case GF_LOGS_TOTAL:
        break;
    case GF_LOGS_STATUS:
        if (line->status < 100 || line->status > 999) break;
        for (unsigned i = 0, rest = line->status; i < 3; i++, rest /= 10)
            digits[2 - i] = (char)('0' + rest % 10);
        return gf_slice_of(digits, 3);
    case GF_LOGS_DOMAIN:
        value = line->domain;
        break;
    case GF_LOGS_URL:
        value = line->url;
        break;
    case GF_LOGS_REFERER:
        value = line->referer;
        break;
    case GF_LOGS_IP:
        value = line->ip;
        break;
    case GF_LOGS_AGENT:
        value = line->agent;
        break;
    case GF_LOGS_LOGIN:
        value = line->login;
        break;
    case GF_LOGS_BYS:
        break;
    }
    return value.len ? value : GF_SLICE("-");
}

uint64_t gf_logs_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t gf_logs_visitor(const gf_accesslog_line *line)
{
    if (line->cookie.len) return XXH3_64bits_withSeed(line->cookie.ptr, line->cookie.len, 1);
    if (line->login.len) return XXH3_64bits_withSeed(line->login.ptr, line->login.len, 2);
    uint64_t ip = XXH3_64bits_withSeed(line->ip.ptr, line->ip.len, 3);
    return XXH3_64bits_withSeed(line->agent.ptr, line->agent.len, ip);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void put_start(gf_buffer *key, const char *every, const char *by)
{
    gf_key_string(key, gf_slice_str(every));
    gf_key_string(key, gf_slice_str(by));
}

static void write_key(gf_buffer *key, const char *every, const char *by, int64_t time,
                      gf_slice value)
{
    gf_buffer_reset(key);
    put_start(key, every, by);
    gf_logs_put_time(key, time);
    gf_key_string(key, value);
}

void gf_logs_count_key(gf_buffer *key, gf_logs_unit unit, gf_logs_by by, int64_t time,
                       gf_slice value)
{
    write_key(key, unit_names[unit], gf_logs_by_name(by), time, value);
}

void gf_logs_sketch_key(gf_buffer *key, int64_t day)
{
    write_key(key, unit_names[GF_LOGS_DAY], "visitors", day, GF_SLICE("-"));
}

/* Open a scan over the rows of one kind within some time. */
static gf_status open_scan(gf_logs *l, const gf_snapshot *snapshot, unsigned family,
                           const char *every, const char *by, int64_t from, int64_t to,
                           bool keys_only, size_t *prefix, gf_scan **scan, gf_error *err)
{
    gf_buffer start = {0}, end = {0}, all = {0};
    put_start(&all, every, by);
    *prefix = all.len;
    if (from > INT64_MIN) {
        gf_buffer_slice(&start, gf_buffer_view(&all));
        gf_logs_put_time(&start, from);
    }
    if (to < INT64_MAX) {
        gf_buffer_slice(&end, gf_buffer_view(&all));
        gf_logs_put_time(&end, to);
    }
    gf_status st = gf_buffer_check(&all, err);
    if (st == GF_OK) st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_buffer_check(&end, err);
    if (st == GF_OK) {
        gf_scan_options o =
            GF_SCAN_OPTIONS(.snapshot = snapshot, .family = family, .prefix = gf_buffer_view(&all),
                            .start = gf_buffer_view(&start), .end = gf_buffer_view(&end),
                            .keys_only = keys_only);
        st = gf_scan_open(gf_user_table_rows(l->counts), &o, scan, err);
    }
    gf_buffer_release(&start);
    gf_buffer_release(&end);
    gf_buffer_release(&all);
    return st;
}

/* Take what is behind the kind: a time, and a value, which is appended. */
static gf_status take_rest(gf_slice key, size_t prefix, int64_t *time, gf_buffer *value,
                           gf_error *err)
{
    uint64_t turned;
    key = gf_slice_skip(key, prefix);
    if (!gf_key_take_u64(&key, &turned) || !gf_key_take_string(&key, value) || key.len)
        return gf_fail(err, GF_ECORRUPT, "a key of an access log's roll-ups has other parts");
    *time = (int64_t)(turned ^ UINT64_C(1) << 63);
    return gf_buffer_check(value, err);
}

/* ---- state ----------------------------------------------------------------------------------- */

static void state_key(gf_logs *l)
{
    write_key(&l->key, "state", "-", 0, GF_SLICE("-"));
}

int64_t gf_logs_counts_start(const gf_logs_state *state, gf_logs_by by)
{
    bool of_people = by == GF_LOGS_IP || by == GF_LOGS_LOGIN;
    return of_people && state->impersonal_before > state->counts_deleted_before
               ? state->impersonal_before
               : state->counts_deleted_before;
}

/* A time in digits; rows of earlier versions have none. */
static int64_t time_of(const gf_logs *l, const gf_row *row, const char *column)
{
    uint64_t time;
    const gf_cell *cell = gf_row_find(row, l->rollups, column);
    return cell && gf_number_read(cell->value, &time) ? (int64_t)(time & INT64_MAX) : 0;
}

gf_status gf_logs_read_state(gf_logs *l, const gf_snapshot *snapshot, gf_logs_state *state,
                             gf_error *err)
{
    gf_row row = {0};
    *state = (gf_logs_state){0};
    if (!l->counts) return GF_OK;
    state_key(l);
    gf_status st = gf_buffer_check(&l->key, err);
    if (st == GF_OK)
        st = gf_table_get(gf_user_table_rows(l->counts), snapshot, gf_buffer_view(&l->key),
                          UINT32_C(1) << l->rollups, &row, err);
    if (st == GF_OK) {
        const gf_cell *whole = gf_row_find(&row, l->rollups, "whole");
        const gf_cell *before = gf_row_find(&row, l->rollups, "deleted_before");
        state->whole = whole && gf_slice_equal(whole->value, GF_SLICE("yes"));
        if (before && before->value.len == 8)
            state->deleted_before = (int64_t)(gf_read_u64be(before->value.ptr) & INT64_MAX);
        state->impersonal_before = time_of(l, &row, "impersonal_before");
        state->counts_deleted_before = time_of(l, &row, "counts_deleted_before");
    }
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Into the batch, which may have more; written, and on disk. */
static gf_status write_state(gf_logs *l, gf_batch *batch, const gf_logs_state *state, gf_error *err)
{
    const char *const names[] = {"impersonal_before", "counts_deleted_before"};
    const int64_t times[] = {state->impersonal_before, state->counts_deleted_before};
    gf_column columns[4];
    size_t n = 0;
    char number[8], digits[2][24];
    for (int b = 0; b < 8; b++)
        number[b] = (char)((uint64_t)state->deleted_before >> (56 - 8 * b) & 0xff);
    if (state->whole) columns[n++] = (gf_column){GF_SLICE("whole"), GF_SLICE("yes")};
    if (state->deleted_before)
        columns[n++] = (gf_column){GF_SLICE("deleted_before"), gf_slice_of(number, 8)};
    for (int i = 0; i < 2; i++) {
        if (!times[i]) continue;
        snprintf(digits[i], sizeof digits[i], "%lld", (long long)times[i]);
        columns[n++] = (gf_column){gf_slice_str(names[i]), gf_slice_str(digits[i])};
    }
    state_key(l);
    gf_status st = gf_buffer_check(&l->key, err);
    if (st != GF_OK) return st;
    gf_slice key = gf_buffer_view(&l->key);
    gf_table *rows = gf_user_table_rows(l->counts);
    if (n)
        gf_batch_replace(batch, rows, key, l->rollups, columns, n, 0);
    else
        gf_batch_delete_row(batch, rows, key, UINT32_C(1) << l->rollups);
    return gf_logs_write(l, batch, GF_SYNC_ON, err);
}

static gf_status write_state_alone(gf_logs *l, const gf_logs_state *state, gf_error *err)
{
    gf_batch *batch;
    gf_status st = gf_batch_create(gf_store_database(l->store), &batch, err);
    if (st != GF_OK) return st;
    st = write_state(l, batch, state, err);
    gf_batch_free(batch);
    return st;
}

/* Whether there is a count of a day before that time: each day with any has one of all lines. */
static gf_status find_counts(gf_logs *l, int64_t before, bool *any, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    size_t prefix;
    *any = false;
    gf_status st =
        open_scan(l, NULL, l->count, unit_names[GF_LOGS_DAY], gf_logs_by_name(GF_LOGS_TOTAL),
                  INT64_MIN, before, true, &prefix, &scan, err);
    if (st != GF_OK) return st;
    st = gf_scan_next(scan, &row, err);
    *any = st == GF_OK;
    gf_row_release(&row);
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static bool raise_time(int64_t *time, int64_t to)
{
    bool raised = *time < to;
    if (raised) *time = to;
    return raised;
}

gf_status gf_logs_mark_deleted(gf_logs *l, int64_t before, unsigned by, gf_error *err)
{
    const unsigned all = (1u << GF_LOGS_BYS) - 1, people = 1u << GF_LOGS_IP | 1u << GF_LOGS_LOGIN;
    gf_logs_state state = {0};
    bool any, changed = false;
    gf_status st = find_counts(l, before, &any, err);
    if (st == GF_OK && any) st = gf_logs_read_state(l, NULL, &state, err);
    if (st != GF_OK || !any) return st;
    if (raise_time(&state.deleted_before, before)) changed = true;
    if (by & people && raise_time(&state.impersonal_before, before)) changed = true;
    if (by == all && raise_time(&state.counts_deleted_before, before)) changed = true;
    return changed ? write_state_alone(l, &state, err) : GF_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

gf_status gf_logs_visit_counts(gf_logs *l, const gf_snapshot *snapshot, gf_logs_unit unit,
                               gf_logs_by by, int64_t from, int64_t to, gf_logs_each_count *each,
                               void *context, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    size_t prefix;
    gf_status st = open_scan(l, snapshot, l->count, unit_names[unit], gf_logs_by_name(by), from, to,
                             false, &prefix, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row, err)) == GF_OK) {
        int64_t time = 0;
        const gf_cell *requests = gf_row_find(&row, l->count, "requests");
        const gf_cell *bytes = gf_row_find(&row, l->count, "bytes");
        gf_buffer_reset(&l->text);
        st = gf_cancel_check(l->cancel, err);
        if (st == GF_OK) st = take_rest(row.key, prefix, &time, &l->text, err);
        if (st == GF_OK &&
            (!requests || requests->value.len != 8 || !bytes || bytes->value.len != 8))
            st = gf_fail(err, GF_ECORRUPT, "a count of an access log is damaged");
        if (st == GF_OK)
            st = each(context, time, gf_buffer_view(&l->text), gf_read_u64be(requests->value.ptr),
                      gf_read_u64be(bytes->value.ptr), err);
        if (st != GF_OK) break;
    }
    gf_row_release(&row);
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static int sketch_part(gf_slice qualifier)
{
    if (qualifier.len != 2) return -1;
    int upper = gf_hex_digit(qualifier.ptr[0]), lower = gf_hex_digit(qualifier.ptr[1]);
    return upper < 0 || lower < 0 ? -1 : 16 * upper + lower;
}

gf_status gf_logs_visit_sketches(gf_logs *l, const gf_snapshot *snapshot, int64_t from, int64_t to,
                                 gf_logs_each_sketch *each, void *context, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    size_t prefix;
    gf_status st = open_scan(l, snapshot, l->visitors, unit_names[GF_LOGS_DAY], "visitors", from,
                             to, false, &prefix, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row, err)) == GF_OK) {
        int64_t day = 0;
        const gf_cell *cell = &row.cells[0];
        int part = sketch_part(cell->qualifier);
        gf_buffer_reset(&l->text);
        st = gf_cancel_check(l->cancel, err);
        if (st == GF_OK) st = take_rest(row.key, prefix, &day, &l->text, err);
        if (st == GF_OK &&
            (cell->value.len != 256 || part < 0 || part >= GF_DISTINCT_REGISTERS / 256))
            st = gf_fail(err, GF_ECORRUPT, "a day's visitors of an access log are damaged");
        if (st == GF_OK)
            st = each(context, day, (unsigned)part, (const uint8_t *)cell->value.ptr, err);
        if (st != GF_OK) break;
    }
    gf_row_release(&row);
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- deleting -------------------------------------------------------------------------------- */

typedef struct deletion {
    gf_logs *log;
    gf_batch *batch;
    uint64_t rows;
} deletion;

static gf_status delete_kind(deletion *d, unsigned family, const char *every, const char *by,
                             int64_t from, int64_t to, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    gf_buffer last = {0};
    size_t prefix;
    gf_table *rows = gf_user_table_rows(d->log->counts);
    gf_status st = open_scan(d->log, NULL, family, every, by, from, to, true, &prefix, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row, err)) == GF_OK) {
        if (gf_slice_equal(row.key, gf_buffer_view(&last))) continue; /* a further cell of it */
        gf_buffer_reset(&last);
        gf_buffer_slice(&last, row.key);
        gf_batch_delete_row(d->batch, rows, row.key, UINT32_C(1) << family);
        d->rows++;
        st = gf_buffer_check(&last, err);
        if (st == GF_OK) st = gf_cancel_check(d->log->cancel, err);
        if (st == GF_OK && gf_batch_changes(d->batch) >= BATCH_CHANGES)
            st = gf_logs_write(d->log, d->batch, GF_SYNC_OFF, err);
        if (st != GF_OK) break;
    }
    gf_row_release(&row);
    gf_buffer_release(&last);
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Kinds whose bits are set, and the sketches where all are; the batch may be left to write. */
static gf_status delete_kinds(deletion *d, int64_t from, int64_t to, unsigned by, gf_error *err)
{
    gf_status st = GF_OK;
    for (unsigned u = 0; u < GF_LOGS_UNITS; u++)
        for (unsigned b = 0; b < GF_LOGS_BYS && st == GF_OK; b++)
            if (by >> b & 1 && gf_logs_rolled_up((gf_logs_unit)u, (gf_logs_by)b))
                st = delete_kind(d, d->log->count, unit_names[u], gf_logs_by_name((gf_logs_by)b),
                                 from, to, err);
    if (st == GF_OK && by == (1u << GF_LOGS_BYS) - 1)
        st = delete_kind(d, d->log->visitors, unit_names[GF_LOGS_DAY], "visitors", from, to, err);
    return st;
}

gf_status gf_logs_delete_counts(gf_logs *l, int64_t before, unsigned by, uint64_t *rows,
                                gf_error *err)
{
    deletion d = {.log = l};
    gf_status st = gf_batch_create(gf_store_database(l->store), &d.batch, err);
    if (st != GF_OK) return st;
    st = delete_kinds(&d, INT64_MIN, before, by, err);
    if (st == GF_OK) st = gf_logs_write(l, d.batch, GF_SYNC_ON, err);
    gf_batch_free(d.batch);
    *rows = d.rows;
    return st;
}

gf_status gf_logs_forget_rollups(gf_logs *l, gf_error *err)
{
    uint64_t rows;
    if (!l->counts) return GF_OK;
    gf_status st = write_state_alone(l, &(gf_logs_state){0}, err);
    return st == GF_OK ? gf_logs_delete_counts(l, INT64_MAX, (1u << GF_LOGS_BYS) - 1, &rows, err)
                       : st;
}

/* ---- rolling up what is there ---------------------------------------------------------------- */

typedef struct rolling {
    gf_logs *log;
    gf_batch *batch;
    gf_logs_sums *sums;
    uint64_t lines;
} rolling;

static gf_status roll_line(void *context, uint64_t number, const gf_accesslog_line *line,
                           gf_error *err)
{
    rolling *r = context;
    enum { LINES_PER_BATCH = 20000 };
    (void)number;
    gf_status st = gf_logs_sums_add(r->sums, line, false, err);
    if (st != GF_OK || ++r->lines % LINES_PER_BATCH) return st;
    if (r->log->call) gf_call_progress(r->log->call, r->log->name, "roll-ups", r->lines, 0);
    st = gf_logs_sums_put(r->sums, r->batch, err);
    return st == GF_OK ? gf_logs_write(r->log, r->batch, GF_SYNC_OFF, err) : st;
}

static gf_status roll_all(rolling *r, gf_logs_state *state, gf_error *err)
{
    deletion old = {.log = r->log, .batch = r->batch};
    int64_t from = state->deleted_before ? state->deleted_before : INT64_MIN;
    gf_status st = delete_kinds(&old, from, INT64_MAX, (1u << GF_LOGS_BYS) - 1, err);
    if (st == GF_OK) st = gf_logs_write(r->log, r->batch, GF_SYNC_OFF, err);
    if (st == GF_OK) st = gf_logs_walk(r->log, NULL, from, INT64_MAX, true, roll_line, r, err);
    if (st == GF_OK) st = gf_logs_sums_put(r->sums, r->batch, err);
    state->whole = true;
    return st == GF_OK ? write_state(r->log, r->batch, state, err) : st;
}

gf_status gf_logs_roll_up(gf_logs *l, bool again, uint64_t *lines, gf_error *err)
{
    gf_logs_state state;
    rolling r = {.log = l};
    gf_status st = gf_logs_make_counts(l, err);
    if (st == GF_OK) st = gf_logs_read_state(l, NULL, &state, err);
    if (st != GF_OK || (state.whole && !again)) return st;
    if (state.whole) {
        state.whole = false;
        st = write_state_alone(l, &state, err);
    }
    if (st == GF_OK) st = gf_batch_create(gf_store_database(l->store), &r.batch, err);
    if (st == GF_OK) st = gf_logs_sums_create(l, &r.sums, err);
    if (st == GF_OK) st = roll_all(&r, &state, err);
    gf_logs_sums_free(r.sums);
    gf_batch_free(r.batch);
    if (lines) *lines = r.lines;
    return st;
}
