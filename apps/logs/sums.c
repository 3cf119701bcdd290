/*
 * Counts that lines change, until they are in a batch.
 *
 * A count is read when it is met first, unless its day has none at all, and then kept: a day that
 * is imported for the first time costs no reads. What is kept is forgotten where it is much.
 */
#include "apps/logs/rollups.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"

enum {
    PARTS = GF_DISTINCT_REGISTERS / 256,
    MOST_KEPT = 200000,         /* counts that are kept from one batch to the next, */
    MOST_KEPT_BYTES = 32 << 20, /* bytes of their names, */
    MOST_KEPT_DAYS = 64         /* and days */
};

typedef struct count {
    uint64_t requests, bytes;
    bool changed;
} count;

typedef struct day {
    int64_t start;
    bool is_new;         /* the table has nothing of it */
    gf_distinct *sketch; /* NULL: not read yet */
    uint64_t changed;    /* a bit for each part of the sketch */
} day;

struct gf_logs_sums {
    gf_logs *log;
    gf_strings names; /* unit, by, time as 8 bytes, value */
    size_t name_bytes;
    count *counts; /* names.n */
    size_t room;
    uint32_t *changed; /* n_changed: their ids */
    size_t n_changed, changed_room;
    day *days;                   /* n_days */
    size_t n_days, day_room, at; /* at: that of the line before */
    gf_buffer name, key;
    gf_row row;
};

gf_status gf_logs_sums_create(gf_logs *l, gf_logs_sums **sums, gf_error *err)
{
    gf_logs_sums *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "roll-ups");
    s->log = l;
    *sums = s;
    return GF_OK;
}

static void forget(gf_logs_sums *s)
{
    gf_strings_release(&s->names);
    gf_strings_init(&s->names);
    for (size_t i = 0; i < s->n_days; i++)
        gf_free(s->days[i].sketch);
    s->n_days = s->at = s->name_bytes = 0;
}

void gf_logs_sums_free(gf_logs_sums *s)
{
    if (!s) return;
    forget(s);
    gf_strings_release(&s->names);
    gf_free(s->counts);
    gf_free(s->changed);
    gf_free(s->days);
    gf_buffer_release(&s->name);
    gf_buffer_release(&s->key);
    gf_row_release(&s->row);
    gf_free(s);
}

/* ---- days ------------------------------------------------------------------------------------ */

static gf_status add_day(gf_logs_sums *s, int64_t start, gf_error *err)
{
    gf_logs *l = s->log;
    if (!gf_grow(&s->days, &s->day_room, s->n_days + 1, sizeof *s->days))
        return gf_fail_memory(err, "roll-ups");
    gf_logs_count_key(&s->key, GF_LOGS_DAY, GF_LOGS_TOTAL, start, GF_SLICE("-"));
    gf_status st = gf_buffer_check(&s->key, err);
    if (st == GF_OK)
        st = gf_table_get(gf_user_table_rows(l->counts), NULL, gf_buffer_view(&s->key),
                          UINT32_C(1) << l->count, &s->row, err);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    s->at = s->n_days++;
    s->days[s->at] = (day){.start = start, .is_new = st == GF_ENOTFOUND};
    return GF_OK;
}

/* Go to the day of a time: s->days[s->at]. */
static gf_status find_day(gf_logs_sums *s, int64_t time, gf_error *err)
{
    int64_t start = gf_logs_unit_start(GF_LOGS_DAY, time);
    if (s->at < s->n_days && s->days[s->at].start == start) return GF_OK;
    for (s->at = s->n_days; s->at > 0; s->at--)
        if (s->days[s->at - 1].start == start) {
            s->at--;
            return GF_OK;
        }
    return add_day(s, start, err);
}

static gf_status take_part(void *context, int64_t start, unsigned part,
                           const uint8_t registers[256], gf_error *err)
{
    day *d = context;
    (void)start, (void)err;
    for (unsigned i = 0; i < 256; i++)
        d->sketch->rank[256 * part + i] = registers[i];
    return GF_OK;
}

static gf_status add_visitor(gf_logs_sums *s, day *d, uint64_t hash, gf_error *err)
{
    gf_status st = GF_OK;
    if (!d->sketch) {
        d->sketch = gf_calloc(1, sizeof *d->sketch);
        if (!d->sketch) return gf_fail_memory(err, "roll-ups");
        if (!d->is_new)
            st = gf_logs_visit_sketches(s->log, NULL, d->start, d->start + GF_LOGS_DAY_SECONDS,
                                        take_part, d, err);
    }
    int changed = st == GF_OK ? gf_distinct_add(d->sketch, hash) : -1;
    if (changed >= 0) d->changed |= UINT64_C(1) << changed / 256;
    return st;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static gf_status read_count(gf_logs_sums *s, gf_logs_unit unit, gf_logs_by by, int64_t time,
                            gf_slice value, count *c, gf_error *err)
{
    gf_logs *l = s->log;
    gf_logs_count_key(&s->key, unit, by, time, value);
    gf_status st = gf_buffer_check(&s->key, err);
    if (st == GF_OK)
        st = gf_table_get(gf_user_table_rows(l->counts), NULL, gf_buffer_view(&s->key),
                          UINT32_C(1) << l->count, &s->row, err);
    if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
    const gf_cell *requests = gf_row_find(&s->row, l->count, "requests");
    const gf_cell *bytes = gf_row_find(&s->row, l->count, "bytes");
    if (!requests || requests->value.len != 8 || !bytes || bytes->value.len != 8)
        return gf_fail(err, GF_ECORRUPT, "a count of an access log is damaged");
    c->requests = gf_read_u64be(requests->value.ptr);
    c->bytes = gf_read_u64be(bytes->value.ptr);
    return GF_OK;
}

static void add_request(count *c, uint64_t bytes)
{
    c->requests++;
    c->bytes = gf_logs_sum(c->bytes, bytes);
}

/* Bytes that were too many to be counted stay so: how many are left is not known. */
static void take_request_back(count *c, uint64_t bytes)
{
    if (c->requests) c->requests--;
    if (c->bytes != UINT64_MAX) c->bytes -= bytes < c->bytes ? bytes : c->bytes;
    if (!c->requests) c->bytes = 0;
}

static gf_status change_count(gf_logs_sums *s, gf_logs_unit unit, gf_logs_by by, int64_t time,
                              gf_slice value, uint64_t bytes, bool take_back, gf_error *err)
{
    uint32_t id;
    bool added;
    gf_buffer_reset(&s->name);
    gf_buffer_byte(&s->name, (char)unit);
    gf_buffer_byte(&s->name, (char)by);
    gf_buffer_u64be(&s->name, (uint64_t)time);
    gf_buffer_slice(&s->name, value);
    gf_status st = gf_buffer_check(&s->name, err);
    if (st == GF_OK &&
        (!gf_grow(&s->counts, &s->room, (size_t)s->names.n + 1, sizeof *s->counts) ||
         !gf_grow(&s->changed, &s->changed_room, s->n_changed + 1, sizeof *s->changed)))
        st = gf_fail_memory(err, "roll-ups");
    if (st == GF_OK) st = gf_strings_add(&s->names, gf_buffer_view(&s->name), &id, &added, err);
    if (st != GF_OK) return st;
    count *c = &s->counts[id];
    if (added) {
        *c = (count){0};
        s->name_bytes += s->name.len;
        if (!s->days[s->at].is_new) st = read_count(s, unit, by, time, value, c, err);
    }
    if (take_back)
        take_request_back(c, bytes);
    else
        add_request(c, bytes);
    if (!c->changed) s->changed[s->n_changed++] = id;
    c->changed = true;
    return st;
}

gf_status gf_logs_sums_add(gf_logs_sums *s, const gf_accesslog_line *line, bool take_back,
                           gf_error *err)
{
    char digits[4];
    gf_status st = find_day(s, line->time, err);
    for (unsigned b = 0; b < GF_LOGS_BYS && st == GF_OK; b++) {
        gf_slice value = gf_logs_value(line, (gf_logs_by)b, digits);
        for (unsigned u = 0; u < GF_LOGS_UNITS && st == GF_OK; u++)
            if (gf_logs_rolled_up((gf_logs_unit)u, (gf_logs_by)b))
                st = change_count(s, (gf_logs_unit)u, (gf_logs_by)b,
                                  gf_logs_unit_start((gf_logs_unit)u, line->time), value,
                                  line->bytes, take_back, err);
    }
    /* A sketch cannot lose a visitor. */
    if (st == GF_OK && !take_back) st = add_visitor(s, &s->days[s->at], gf_logs_visitor(line), err);
    return st;
}

/* ---- into a batch ---------------------------------------------------------------------------- */

static gf_status put_count(gf_logs_sums *s, gf_batch *batch, gf_slice name, count *c, gf_error *err)
{
    gf_logs *l = s->log;
    gf_table *rows = gf_user_table_rows(l->counts);
    char numbers[16];
    for (int b = 0; b < 8; b++) {
        numbers[b] = (char)(c->requests >> (56 - 8 * b) & 0xff);
        numbers[8 + b] = (char)(c->bytes >> (56 - 8 * b) & 0xff);
    }
    const gf_column columns[] = {{GF_SLICE("requests"), gf_slice_of(numbers, 8)},
                                 {GF_SLICE("bytes"), gf_slice_of(numbers + 8, 8)}};
    gf_logs_count_key(&s->key, (gf_logs_unit)name.ptr[0], (gf_logs_by)name.ptr[1],
                      (int64_t)gf_read_u64be(name.ptr + 2), gf_slice_skip(name, 10));
    gf_status st = gf_buffer_check(&s->key, err);
    if (st != GF_OK) return st;
    if (c->requests)
        gf_batch_replace(batch, rows, gf_buffer_view(&s->key), l->count, columns, 2, 0);
    else
        gf_batch_delete_row(batch, rows, gf_buffer_view(&s->key), UINT32_C(1) << l->count);
    c->changed = false;
    return GF_OK;
}

static gf_status put_sketch(gf_logs_sums *s, gf_batch *batch, day *d, gf_error *err)
{
    static const char digits[] = "0123456789abcdef";
    gf_logs_sketch_key(&s->key, d->start);
    gf_status st = gf_buffer_check(&s->key, err);
    if (st != GF_OK) return st;
    for (unsigned part = 0; part < PARTS; part++) {
        const char name[] = {digits[part >> 4], digits[part & 15]};
        if (d->changed >> part & 1)
            gf_batch_put(batch, gf_user_table_rows(s->log->counts), gf_buffer_view(&s->key),
                         s->log->visitors, gf_slice_of(name, 2),
                         gf_slice_of((const char *)d->sketch->rank + 256 * part, 256), 0);
    }
    d->changed = 0;
    return GF_OK;
}

gf_status gf_logs_sums_put(gf_logs_sums *s, gf_batch *batch, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < s->n_changed && st == GF_OK; i++)
        st = put_count(s, batch, gf_strings_at(&s->names, s->changed[i]), &s->counts[s->changed[i]],
                       err);
    for (size_t i = 0; i < s->n_days && st == GF_OK; i++)
        if (s->days[i].changed) st = put_sketch(s, batch, &s->days[i], err);
    if (st != GF_OK) return st;
    s->n_changed = 0;
    if (s->names.n > MOST_KEPT || s->name_bytes > MOST_KEPT_BYTES || s->n_days > MOST_KEPT_DAYS)
        forget(s);
    return GF_OK;
}
