#include "apps/logs/read.h"

#include "base/grow.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

enum { BLOCK = 1024, HASH = 4, NUMBER = 8 };

/* The chain that names the block of sources that are one line without a line end. */
enum { NO_LINES = 0 };

/* A block as the store has it. */
typedef struct variant {
    int64_t number;
    gf_slice hashes, tail;
    bool alive; /* agrees with all lines of the block so far */
} variant;

struct gf_logs_read {
    gf_logs *log;
    gf_batch *batch;
    bool again;
    bool any;              /* a line of the source was seen */
    bool first;            /* the block is the source's first */
    uint64_t start, chain; /* the chain that names the block, and that of the last line */
    uint64_t next;         /* and of the line at hand */
    bool ends;             /* that has a line end */
    gf_arena memory;       /* of the block: variants and what they point to */
    variant *variants;
    size_t n_variants, capacity;
    int64_t mine; /* the variant that is written; -1 while lines are known */
    size_t n;     /* lines of the block that were seen */
    gf_buffer hashes;
    gf_buffer held; /* good lines of the first block that were taken for known */
    gf_slice give;  /* those of held that are still to be given */
    gf_slice replaced;
    gf_buffer tail; /* the value of entry:tail; empty: there is none */
    bool had_tail;  /* the store's variant has one */
    bool changed;   /* since the last flush */
    char name[17];
    gf_buffer key;
};

gf_status gf_logs_read_create(gf_logs *log, gf_batch *batch, bool again, gf_logs_read **read,
                              gf_error *err)
{
    gf_logs_read *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "what was read of a log");
    r->log = log;
    r->batch = batch;
    r->again = again;
    r->mine = -1;
    *read = r;
    return GF_OK;
}

void gf_logs_read_free(gf_logs_read *r)
{
    if (!r) return;
    gf_arena_release(&r->memory);
    gf_free(r->variants);
    gf_buffer_release(&r->hashes);
    gf_buffer_release(&r->held);
    gf_buffer_release(&r->tail);
    gf_buffer_release(&r->key);
    gf_free(r);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void begin_block(gf_logs_read *r)
{
    gf_arena_reset(&r->memory);
    gf_buffer_reset(&r->hashes);
    gf_buffer_reset(&r->held);
    gf_buffer_reset(&r->tail);
    r->give = r->replaced = (gf_slice){"", 0};
    r->n_variants = 0;
    r->mine = -1;
    r->n = 0;
    r->had_tail = false;
}

void gf_logs_read_begin(gf_logs_read *r)
{
    begin_block(r);
    r->any = false;
    r->chain = 0;
}

static gf_slice block_name(gf_logs_read *r)
{
    snprintf(r->name, sizeof r->name, "%016" PRIx64, r->start);
    return gf_slice_str(r->name);
}

static gf_status add_variant(gf_logs_read *r, int64_t number, gf_error *err)
{
    if (!gf_grow(&r->variants, &r->capacity, r->n_variants + 1, sizeof *r->variants))
        return gf_fail_memory(err, "what was read of a log");
    r->variants[r->n_variants++] = (variant){.number = number, .alive = !r->again};
    return GF_OK;
}

static gf_status load_cell(gf_logs_read *r, const gf_row *row, gf_error *err)
{
    int64_t number;
    uint64_t zero;
    gf_status st = GF_OK;
    gf_slice key = gf_slice_skip(row->key, r->key.len), name = row->cells[0].qualifier;
    if (gf_logs_take(&key, &number, &zero, err) != GF_OK) return GF_ECORRUPT;
    if (r->n_variants == 0 || r->variants[r->n_variants - 1].number != number)
        st = add_variant(r, number, err);
    if (st != GF_OK) return st;
    variant *v = &r->variants[r->n_variants - 1];
    gf_slice value = gf_arena_copy(&r->memory, row->cells[0].value);
    if (!value.ptr) return gf_fail_memory(err, "what was read of a log");
    if (gf_slice_equal(name, GF_SLICE("lines"))) {
        if (value.len % HASH || value.len > BLOCK * HASH)
            return gf_fail(err, GF_ECORRUPT, "what was read of a log is damaged");
        v->hashes = value;
    } else if (gf_slice_equal(name, GF_SLICE("tail")) && value.len > NUMBER) {
        v->tail = value;
    }
    return GF_OK;
}

/* Visit the rows whose first n parts those are, which r->key is. */
static gf_status visit_variant(gf_logs_read *r, const gf_slice *parts, unsigned n,
                               gf_status (*each)(gf_logs_read *r, const gf_row *row, gf_error *err),
                               gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    gf_buffer_reset(&r->key);
    gf_status st = gf_user_table_key_write(r->log->by, parts, n, &r->key, err);
    if (st == GF_OK) st = gf_buffer_check(&r->key, err);
    if (st != GF_OK) return st;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = r->log->entry, .prefix = gf_buffer_view(&r->key));
    st = gf_scan_open(gf_user_table_rows(r->log->by), &o, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row, err)) == GF_OK && (st = each(r, &row, err)) == GF_OK) {
    }
    gf_row_release(&row);
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status load_block(gf_logs_read *r, gf_error *err)
{
    const gf_slice parts[] = {GF_SLICE("read"), block_name(r)};
    return visit_variant(r, parts, 2, load_cell, err);
}

/*
 * A source begins: with the block that its first line names, or where there is none with that of
 * sources of which only the start of a line was there.
 */
static gf_status load_first(gf_logs_read *r, gf_error *err)
{
    r->any = r->first = true;
    r->start = r->next;
    gf_status st = load_block(r, err);
    if (st != GF_OK || r->n_variants) return st;
    r->start = NO_LINES;
    return load_block(r, err);
}

static gf_status forget_cell(gf_logs_read *r, const gf_row *row, gf_error *err)
{
    enum { MOST = 4 << 20 };
    gf_batch_delete_row(r->batch, gf_user_table_rows(r->log->by), row->key, GF_ALL_FAMILIES);
    return gf_batch_bytes(r->batch) < MOST ? GF_OK
                                           : gf_logs_write(r->log, r->batch, GF_SYNC_OFF, err);
}

gf_status gf_logs_read_forget(gf_logs_read *r, gf_error *err)
{
    const gf_slice kind = GF_SLICE("read");
    gf_status st = visit_variant(r, &kind, 1, forget_cell, err);
    return st == GF_OK ? gf_logs_write(r->log, r->batch, GF_SYNC_OFF, err) : st;
}

static gf_status put_block(gf_logs_read *r, gf_error *err)
{
    gf_logs *l = r->log;
    gf_table *rows = gf_user_table_rows(l->by);
    gf_status st = gf_logs_entry_key(l, GF_SLICE("read"), block_name(r), r->mine, 0, &r->key, err);
    if (st == GF_OK) st = gf_buffer_check(&r->tail, err);
    if (st != GF_OK) return st;
    gf_slice key = gf_buffer_view(&r->key);
    gf_batch_put(r->batch, rows, key, l->entry, GF_SLICE("lines"), gf_buffer_view(&r->hashes), 0);
    if (r->tail.len)
        gf_batch_put(r->batch, rows, key, l->entry, GF_SLICE("tail"), gf_buffer_view(&r->tail), 0);
    else if (r->had_tail)
        gf_batch_delete_cell(r->batch, rows, key, l->entry, GF_SLICE("tail"));
    return GF_OK;
}

gf_status gf_logs_read_flush(gf_logs_read *r, bool *changed, gf_error *err)
{
    *changed = r->changed;
    r->changed = false;
    return *changed && r->mine >= 0 ? put_block(r, err) : GF_OK;
}

/* ---- what a line is -------------------------------------------------------------------------- */

static bool has_next(const gf_logs_read *r, const variant *v)
{
    size_t at = r->n * HASH;
    return v->hashes.len > at && gf_read_u32be(v->hashes.ptr + at) == (uint32_t)(r->next >> 32);
}

static bool is_at_end(const gf_logs_read *r, const variant *v)
{
    return v->hashes.len == r->n * HASH;
}

static gf_slice tail_of(const variant *v)
{
    return v->tail.len ? gf_slice_skip(v->tail, NUMBER) : (gf_slice){"", 0};
}

/* Do some variants have the line? The others have then parted from the source. */
static bool some_have(gf_logs_read *r)
{
    bool found = false;
    for (size_t i = 0; i < r->n_variants; i++)
        found |= r->variants[i].alive && has_next(r, &r->variants[i]);
    for (size_t i = 0; i < r->n_variants && found; i++)
        r->variants[i].alive &= has_next(r, &r->variants[i]);
    return found;
}

/*
 * Do some have a line without a line end: as a line, as their tail, or perhaps, where it is no
 * good one, as the start of a line: then the source is a copy that was cut off.
 */
static bool some_have_tail(const gf_logs_read *r, gf_slice text, bool good)
{
    for (size_t i = 0; i < r->n_variants; i++) {
        const variant *v = &r->variants[i];
        if (!v->alive) continue;
        if (has_next(r, v)) return true;
        if (is_at_end(r, v) ? v->tail.len && gf_slice_equal(tail_of(v), text) : !good) return true;
    }
    return false;
}

/* A variant that ends here, and has no tail or one that the line begins with. */
static const variant *find_end(const gf_logs_read *r, gf_slice text)
{
    for (size_t i = 0; i < r->n_variants; i++) {
        const variant *v = &r->variants[i];
        if (v->alive && is_at_end(r, v) && gf_slice_starts(text, tail_of(v))) return v;
    }
    return NULL;
}

/* From here on lines are new: of a variant that goes on, or of one that begins. */
static void go_on(gf_logs_read *r, const variant *v)
{
    r->mine = v ? v->number : 0;
    for (size_t i = 0; i < r->n_variants && !v; i++)
        if (r->mine <= r->variants[i].number) r->mine = r->variants[i].number + 1;
    r->had_tail = v && v->tail.len;
    r->changed = true;
}

static gf_logs_verdict judge_line(gf_logs_read *r, gf_slice text, bool good)
{
    if (r->mine >= 0) return GF_LOGS_NEW;
    if (r->ends ? some_have(r) : some_have_tail(r, text, good)) return GF_LOGS_KNOWN;
    const variant *v = find_end(r, text);
    go_on(r, v);
    if (!v) r->give = gf_buffer_view(&r->held);
    if (!v || !v->tail.len) return r->give.len ? GF_LOGS_PARTED : GF_LOGS_NEW;
    if (tail_of(v).len == text.len) return GF_LOGS_KNOWN;
    r->replaced = v->tail;
    return GF_LOGS_NEW;
}

/*
 * The source's first line has its end, whether or not the start of it was there before: from now on
 * it names the block.
 */
static gf_status name_block(gf_logs_read *r, gf_error *err)
{
    gf_logs *l = r->log;
    gf_status st = GF_OK;
    if (r->had_tail)
        st = gf_logs_entry_key(l, GF_SLICE("read"), block_name(r), r->mine, 0, &r->key, err);
    if (st == GF_OK && r->had_tail)
        gf_batch_delete_row(r->batch, gf_user_table_rows(l->by), gf_buffer_view(&r->key),
                            GF_ALL_FAMILIES);
    r->start = r->next;
    r->mine = 0;
    r->n_variants = 0;
    r->had_tail = false;
    return st;
}

/* ---- lines ----------------------------------------------------------------------------------- */

gf_status gf_logs_read_judge(gf_logs_read *r, const gf_text_line *line, bool good,
                             gf_logs_verdict *verdict, gf_error *err)
{
    gf_status st = GF_OK;
    r->next = XXH3_64bits_withSeed(line->text.ptr, line->text.len, r->chain);
    r->ends = line->has_end || line->too_long;
    r->replaced = (gf_slice){"", 0};
    if (!r->any) st = load_first(r, err);
    if (st != GF_OK) return st;
    *verdict = judge_line(r, line->text, good);
    if (r->start == NO_LINES && r->ends) st = name_block(r, err);
    if (st != GF_OK) return st;
    if (*verdict == GF_LOGS_KNOWN && r->first && good && r->mine < 0)
        gf_buffer_string(&r->held, line->text);
    return gf_buffer_check(&r->held, err);
}

bool gf_logs_read_take_held(gf_logs_read *r, gf_slice *text)
{
    return gf_slice_take_string(&r->give, text);
}

bool gf_logs_read_take_replaced(gf_logs_read *r, gf_slice *text, uint64_t *number)
{
    gf_slice tail = r->replaced;
    r->replaced = (gf_slice){"", 0};
    if (!tail.len || gf_read_u64be(tail.ptr) == UINT64_MAX) return false;
    *number = gf_read_u64be(tail.ptr);
    *text = gf_slice_skip(tail, NUMBER);
    return true;
}

gf_status gf_logs_read_pass(gf_logs_read *r, const gf_text_line *line, uint64_t number,
                            gf_error *err)
{
    if (r->mine >= 0) r->changed = true;
    if (!r->ends) {
        if (r->mine < 0) return GF_OK;
        gf_buffer_reset(&r->tail);
        gf_buffer_u64be(&r->tail, number);
        gf_buffer_slice(&r->tail, line->text);
        return gf_buffer_check(&r->tail, err);
    }
    r->chain = r->next;
    gf_buffer_u32be(&r->hashes, (uint32_t)(r->chain >> 32));
    r->n++;
    gf_status st = gf_buffer_check(&r->hashes, err);
    if (st != GF_OK || r->n < BLOCK) return st;
    st = r->mine >= 0 ? put_block(r, err) : GF_OK;
    begin_block(r);
    r->start = r->chain;
    r->first = false;
    return st == GF_OK ? load_block(r, err) : st;
}
