#include "apps/logs/retention.h"

#include "base/clock.h"
#include "engine/rows/filter.h"

enum { BATCH_CHANGES = 8000 };

gf_status gf_logs_read_before(const gf_call *call, int64_t *before, gf_error *err)
{
    gf_slice age = gf_call_text(call, "keep");
    int64_t ms = (int64_t)gf_call_number(call, "before", 0);
    if (gf_call_has(call, "keep") == gf_call_has(call, "before"))
        return gf_fail(err, GF_EINVAL, "either before or keep is needed");
    if (gf_call_has(call, "keep") && (!memchr("hdw", age.ptr[age.len - 1], 3) ||
                                      !gf_filter_read_moment(age, gf_clock_ms(), &ms)))
        return gf_fail(err, GF_EINVAL, "keep is an age such as 365d or 52w, not \"%.*s\"",
                       GF_SLICE_ARG(age));
    *before = gf_logs_unit_start(GF_LOGS_DAY, ms / 1000);
    return GF_OK;
}

typedef struct retention {
    gf_logs *log;
    gf_batch *batch; /* NULL: lines are counted */
    uint64_t lines;
} retention;

static gf_status delete_entry(retention *r, const char *kind, gf_slice value, int64_t time,
                              uint64_t number, gf_error *err)
{
    gf_logs *l = r->log;
    if (value.len == 0) return GF_OK;
    gf_status st = gf_logs_entry_key(l, gf_slice_str(kind), value, time, number, &l->key, err);
    if (st == GF_OK)
        gf_batch_delete_cell(r->batch, gf_user_table_rows(l->by), gf_buffer_view(&l->key), l->entry,
                             GF_SLICE("line"));
    return st;
}

static gf_status delete_line(void *context, uint64_t number, const gf_accesslog_line *line,
                             gf_error *err)
{
    retention *r = context;
    gf_logs *l = r->log;
    r->lines++;
    if (!r->batch) return GF_OK;
    gf_status st = gf_logs_line_key(l, line->time, number, &l->key, err);
    if (st == GF_OK) {
        gf_batch_delete_row(r->batch, gf_user_table_rows(l->lines), gf_buffer_view(&l->key),
                            GF_ALL_FAMILIES);
        st = delete_entry(r, "ip", line->ip, line->time, number, err);
    }
    if (st == GF_OK) st = delete_entry(r, "cookie", line->cookie, line->time, number, err);
    if (st == GF_OK) st = delete_entry(r, "login", line->login, line->time, number, err);
    if (st != GF_OK || gf_batch_changes(r->batch) < BATCH_CHANGES) return st;
    gf_call_progress(l->call, l->name, "deleting", r->lines, 0);
    return gf_logs_write(l, r->batch, GF_SYNC_OFF, err);
}

gf_status gf_logs_delete_before(gf_logs *l, const gf_logs_deletion *d, uint64_t *lines,
                                uint64_t *counts, gf_error *err)
{
    const unsigned all = (1u << GF_LOGS_BYS) - 1, people = 1u << GF_LOGS_IP | 1u << GF_LOGS_LOGIN;
    retention r = {.log = l};
    gf_status st = GF_OK;
    *lines = *counts = 0;
    if (!d->dry) {
        unsigned by = d->counts == GF_LOGS_DELETE            ? all
                      : d->counts == GF_LOGS_KEEP_IMPERSONAL ? people
                                                             : 0;
        st = gf_logs_roll_up(l, false, NULL, err);
        if (st == GF_OK) st = gf_logs_mark_deleted(l, d->before, by, err);
        if (st == GF_OK && by) st = gf_logs_delete_counts(l, d->before, by, counts, err);
        if (st == GF_OK) st = gf_batch_create(gf_store_database(l->store), &r.batch, err);
    }
    if (st == GF_OK) st = gf_logs_walk(l, NULL, INT64_MIN, d->before, true, delete_line, &r, err);
    if (st == GF_OK && r.batch) st = gf_logs_write(l, r.batch, GF_SYNC_ON, err);
    gf_batch_free(r.batch);
    if (st == GF_OK) *lines = r.lines;
    return st;
}
