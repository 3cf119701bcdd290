/*
 * Lines and roll-ups are walked once each, and compared day by day by two sums that need no memory
 * of values: of a day with counts c (requests r, bytes b, named k)
 *
 *     sum over c of r(c) h(k(c)), and of b(c) g(k(c))   mod 2^64,   h and g hashes
 *
 * which each line adds to by the counts that it is in. The second one is not compared where the day
 * has, by its lines, more bytes than a count holds. Days before lines were deleted are
 * not looked at. Sketches may have more than the lines, and not less (rollups.h).
 */
#include "apps/logs/check.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"

#include <stdio.h>
#include <xxhash.h>

typedef struct sums {
    uint64_t requests, bytes; /* the two sums */
    uint64_t total;           /* bytes of the day */
} sums;

typedef struct day_sum {
    int64_t day;
    sums of_lines, of_counts;
} day_sum;

typedef struct log_check {
    gf_logs log;
    gf_app_check *out;
    gf_buffer name, where;
    gf_logs_state state;
    day_sum *days; /* n_days, by time */
    size_t n_days, room;
    gf_distinct *sketch; /* of the lines of the last of them */
    bool less;           /* the day at hand has a sketch that lacks visitors */
    gf_logs_unit unit;   /* of the counts at hand */
    gf_logs_by by;
    uint64_t faults; /* of this log */
} log_check;

/* ---- sums ------------------------------------------------------------------------------------ */

static gf_status weigh(log_check *c, gf_logs_unit unit, gf_logs_by by, int64_t time, gf_slice value,
                       uint64_t requests, uint64_t bytes, sums *sum, gf_error *err)
{
    gf_logs_count_key(&c->name, unit, by, time, value);
    gf_status st = gf_buffer_check(&c->name, err);
    if (st != GF_OK) return st;
    uint64_t h = XXH3_64bits_withSeed(c->name.ptr, c->name.len, 1);
    uint64_t g = XXH3_64bits_withSeed(c->name.ptr, c->name.len, 2);
    sum->requests += requests * h;
    sum->bytes += bytes * g;
    if (unit == GF_LOGS_DAY && by == GF_LOGS_TOTAL) sum->total = gf_logs_sum(sum->total, bytes);
    return GF_OK;
}

static bool equal(const sums *lines, const sums *counts)
{
    return lines->requests == counts->requests && lines->total == counts->total &&
           (lines->total == UINT64_MAX || lines->bytes == counts->bytes);
}

/* The entry of a day, which is added: days come by time, or are there. */
static gf_status find_day(log_check *c, int64_t time, day_sum **found, gf_error *err)
{
    int64_t day = gf_logs_unit_start(GF_LOGS_DAY, time);
    size_t low = 0, high = c->n_days;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->days[middle].day < day)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == c->n_days || c->days[low].day != day) {
        if (!gf_grow(&c->days, &c->room, c->n_days + 1, sizeof *c->days))
            return gf_fail_memory(err, "a check");
        memmove(c->days + low + 1, c->days + low, (c->n_days - low) * sizeof *c->days);
        c->days[low] = (day_sum){.day = day};
        c->n_days++;
    }
    *found = &c->days[low];
    return GF_OK;
}

static gf_status tell(log_check *c, int64_t day, const char *what, gf_error *err)
{
    char date[32];
    gf_buffer text = {0};
    c->faults++;
    gf_clock_write_date(&text, day * 1000);
    snprintf(date, sizeof date, "%s", gf_buffer_cstr(&text));
    gf_buffer_release(&text);
    return gf_app_fault(c->out, gf_buffer_cstr(&c->where), err,
                        "the %s of %s are not those of its lines; \"log rollup\" makes them anew",
                        what, date);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static gf_status compare_part(void *context, int64_t day, unsigned part,
                              const uint8_t registers[256], gf_error *err)
{
    log_check *c = context;
    (void)day, (void)err;
    for (unsigned i = 0; i < 256; i++) {
        uint8_t *rank = &c->sketch->rank[256 * part + i];
        if (*rank > registers[i]) c->less = true;
        *rank = 0;
    }
    return GF_OK;
}

/* The sketch of a day whose lines have been seen; a part that is not stored has no visitors. */
static gf_status end_day(log_check *c, int64_t day, gf_error *err)
{
    c->less = false;
    gf_status st =
        gf_logs_visit_sketches(&c->log, NULL, day, day + GF_LOGS_DAY_SECONDS, compare_part, c, err);
    for (int i = 0; i < GF_DISTINCT_REGISTERS; i++)
        c->less = c->less || c->sketch->rank[i];
    *c->sketch = (gf_distinct){{0}};
    return st == GF_OK && c->less ? tell(c, day, "visitors", err) : st;
}

static gf_status sum_line(void *context, uint64_t number, const gf_accesslog_line *line,
                          gf_error *err)
{
    log_check *c = context;
    char digits[4];
    day_sum *day;
    (void)number;
    gf_status st = GF_OK;
    if (c->n_days && c->days[c->n_days - 1].day + GF_LOGS_DAY_SECONDS <= line->time)
        st = end_day(c, c->days[c->n_days - 1].day, err);
    if (st == GF_OK) st = find_day(c, line->time, &day, err);
    for (unsigned b = 0; b < GF_LOGS_BYS && st == GF_OK; b++) {
        gf_slice value = gf_logs_value(line, (gf_logs_by)b, digits);
        for (unsigned u = 0; u < GF_LOGS_UNITS && st == GF_OK; u++)
            if (gf_logs_rolled_up((gf_logs_unit)u, (gf_logs_by)b))
                st = weigh(c, (gf_logs_unit)u, (gf_logs_by)b,
                           gf_logs_unit_start((gf_logs_unit)u, line->time), value, 1, line->bytes,
                           &day->of_lines, err);
    }
    gf_distinct_add(c->sketch, gf_logs_visitor(line));
    return st;
}

static gf_status sum_count(void *context, int64_t time, gf_slice value, uint64_t requests,
                           uint64_t bytes, gf_error *err)
{
    log_check *c = context;
    day_sum *day;
    gf_status st = find_day(c, time, &day, err);
    return st == GF_OK
               ? weigh(c, c->unit, c->by, time, value, requests, bytes, &day->of_counts, err)
               : st;
}

static gf_status compare(log_check *c, gf_error *err)
{
    int64_t from = c->state.deleted_before ? c->state.deleted_before : INT64_MIN;
    c->sketch = gf_calloc(1, sizeof *c->sketch);
    if (!c->sketch) return gf_fail_memory(err, "a check");
    gf_status st = gf_logs_walk(&c->log, NULL, from, INT64_MAX, true, sum_line, c, err);
    if (st == GF_OK && c->n_days) st = end_day(c, c->days[c->n_days - 1].day, err);
    for (unsigned b = 0; b < GF_LOGS_BYS; b++)
        for (unsigned u = 0; u < GF_LOGS_UNITS && st == GF_OK; u++) {
            c->unit = (gf_logs_unit)u, c->by = (gf_logs_by)b;
            if (gf_logs_rolled_up(c->unit, c->by))
                st = gf_logs_visit_counts(&c->log, NULL, c->unit, c->by, from, INT64_MAX, sum_count,
                                          c, err);
        }
    for (size_t i = 0; i < c->n_days && st == GF_OK; i++)
        if (!equal(&c->days[i].of_lines, &c->days[i].of_counts))
            st = tell(c, c->days[i].day, "roll-ups", err);
    return st;
}

/* ---- logs ------------------------------------------------------------------------------------ */

/* Open the log whose roll-ups a table is; *any false: it is another table. */
static gf_status open_log(log_check *c, gf_slice name_space, gf_slice table, bool *any,
                          gf_error *err)
{
    const gf_slice suffix = GF_SLICE("-counts");
    gf_logs *l = &c->log;
    gf_error why = {GF_OK, ""};
    *any = false;
    if (table.len <= suffix.len ||
        !gf_slice_equal(gf_slice_skip(table, table.len - suffix.len), suffix))
        return GF_OK;
    l->name_space = name_space;
    l->name = gf_slice_of(table.ptr, table.len - suffix.len);
    gf_buffer_format(&c->where, "log \"%.*s\"", GF_SLICE_ARG(l->name));
    gf_buffer_cstr(&c->where);
    gf_status st = gf_buffer_check(&c->where, err);
    if (st == GF_OK) st = gf_logs_open_tables(l, false, &why);
    /* Damage of tables is told by the check of these; another table's name may end likewise. */
    if (st == GF_ENOTFOUND || st == GF_EINVAL || st == GF_ECORRUPT) return GF_OK;
    if (st == GF_OK) st = gf_logs_read_state(l, NULL, &c->state, &why);
    if (st != GF_OK && why.status != GF_OK && err) *err = why;
    *any = st == GF_OK && c->state.whole;
    return st;
}

static void close_log(log_check *c)
{
    gf_logs_close(&c->log);
    gf_buffer_release(&c->name);
    gf_buffer_release(&c->where);
    gf_free(c->days);
    gf_free(c->sketch);
}

static gf_status check_log(void *context, gf_slice name_space, gf_slice table, gf_error *err)
{
    gf_app_check *out = context;
    log_check c = {.log = {.store = out->store, .cancel = out->cancel}, .out = out};
    bool any;
    gf_status st = open_log(&c, name_space, table, &any, err);
    if (st == GF_OK && any)
        st = gf_app_handle(out, compare(&c, err), gf_buffer_cstr(&c.where), err);
    close_log(&c);
    return st;
}

bool gf_logs_has_table(const char *table)
{
    return strcmp(table, "tables") == 0;
}

gf_status gf_logs_check(gf_app_check *check, const char *table, gf_error *err)
{
    (void)table;
    return check->visit ? gf_user_tables_visit_all(check->store, check_log, check, err) : GF_OK;
}

/* ---- repairs --------------------------------------------------------------------------------- */

static gf_status tell_nobody(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context, (void)where, (void)what, (void)err;
    return GF_OK;
}

static gf_status repair_log(void *context, gf_slice name_space, gf_slice table, gf_error *err)
{
    gf_app_repair *out = context;
    gf_app_check check = {.store = out->store, .cancel = out->cancel, .visit = tell_nobody};
    log_check c = {.log = {.store = out->store, .cancel = out->cancel}, .out = &check};
    bool any;
    gf_error damage = {GF_OK, ""};
    gf_status st = open_log(&c, name_space, table, &any, err);
    if (st == GF_OK && any) {
        gf_status compared = compare(&c, &damage);
        if (compared == GF_ECORRUPT || c.faults) {
            out->remade++;
            st = out->visit(out->context, gf_buffer_cstr(&c.where),
                            "its roll-ups do not agree with its lines, and are made anew", err);
            if (st == GF_OK) st = gf_logs_roll_up(&c.log, true, NULL, err);
        } else if (compared != GF_OK) {
            st = compared;
            if (err) *err = damage;
        }
    }
    close_log(&c);
    return st;
}

gf_status gf_logs_repair(gf_app_repair *repair, const char *table, gf_error *err)
{
    (void)table;
    return gf_user_tables_visit_all(repair->store, repair_log, repair, err);
}
