/* Reading blocks of runs (storage/run.h): whatever their bytes are, nothing else is read. */
#include "storage/run.h"

#include "base/grow.h"
#include "base/json/writer.h"
#include "base/memory.h"

#include <math.h>

enum { SOME_LACK = 128 };
enum { CELLS = 1, ROWS = 2, ENDED = 4 };
enum { BEYOND = 15, MOST_WIDTH = 32 };

/* A column of an open block; all bytes are the block's. */
typedef struct gf_run_stored {
    gf_slice tag; /* as a packed row has it in front of the value */
    gf_run_form form;
    uint32_t base;
    unsigned width;
    gf_slice there;   /* a bit for each entry; empty: none lacks it */
    gf_slice numbers; /* `width` bits for each entry */
    gf_slice bytes;
} gf_run_stored;

static gf_status fail_damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "a block of a run is damaged");
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool take_tag(gf_slice *bytes, gf_slice *tag)
{
    gf_slice from = *bytes, name;
    uint32_t number;
    if (!gf_slice_take_varint32(bytes, &number)) return false;
    if (number == 0 && !gf_slice_take_string(bytes, &name)) return false;
    *tag = gf_slice_of(from.ptr, from.len - bytes->len);
    return true;
}

/* A column's head; where its values lie is not yet known: bytes.len is how many. */
static bool take_column(gf_run_reader *r, gf_slice *bytes, gf_run_stored *c)
{
    gf_slice form, width;
    uint32_t base;
    *c = (gf_run_stored){.width = 0};
    if (r->has_rows && !take_tag(bytes, &c->tag)) return false;
    if (!gf_slice_take_bytes(bytes, 1, &form) || !gf_slice_take_varint32(bytes, &base) ||
        !gf_slice_take_bytes(bytes, 1, &width))
        return false;
    unsigned what = (unsigned char)form.ptr[0];
    c->form = (gf_run_form)(what % SOME_LACK);
    c->width = (unsigned char)width.ptr[0];
    if (c->form > GF_RUN_AS_DECIMAL || c->width > MOST_WIDTH) return false;
    if (what >= SOME_LACK && !r->has_rows) return false;
    if (what >= SOME_LACK) c->there.len = (r->entries + 7) / 8;
    c->numbers.len = (r->entries * c->width + 7) / 8;
    if (c->form == GF_RUN_AS_BYTES)
        c->bytes.len = base;
    else
        c->base = base;
    return true;
}

static gf_status take_columns(gf_run_reader *r, uint64_t n, gf_slice *bytes, gf_error *err)
{
    if (n == 0 || n > bytes->len || (!r->has_rows && n != 1)) return fail_damaged(err);
    if (!gf_grow(&r->columns, &r->column_capacity, n, sizeof *r->columns))
        return gf_fail_memory(err, "a block");
    for (r->n_columns = 0; r->n_columns < n; r->n_columns++)
        if (!take_column(r, bytes, &r->columns[r->n_columns])) return fail_damaged(err);
    return GF_OK;
}

/* The groups: where each ends, and they themselves. */
static gf_status take_groups(gf_run_reader *r, gf_slice *bytes, gf_error *err)
{
    size_t n = (r->entries + GF_RUN_GROUP - 1) / GF_RUN_GROUP, end = 0;
    uint64_t length;
    if (!gf_grow(&r->end, &r->capacity, n, sizeof *r->end)) return gf_fail_memory(err, "a block");
    for (r->n = 0; r->n < n; r->n++) {
        if (!gf_slice_take_varint(bytes, &length) || length == 0 || length > bytes->len)
            return fail_damaged(err);
        end += length;
        r->end[r->n] = end;
    }
    return gf_slice_take_bytes(bytes, end, &r->groups) ? GF_OK : fail_damaged(err);
}

static bool take_values(gf_run_reader *r, gf_slice bytes)
{
    for (size_t i = 0; i < r->n_columns; i++) {
        gf_run_stored *c = &r->columns[i];
        if (!gf_slice_take_bytes(&bytes, c->there.len, &c->there) ||
            !gf_slice_take_bytes(&bytes, c->numbers.len, &c->numbers) ||
            !gf_slice_take_bytes(&bytes, c->bytes.len, &c->bytes))
            return false;
    }
    return bytes.len == 0;
}

static gf_slice group_bytes(const gf_run_reader *r, size_t g)
{
    size_t from = g ? r->end[g - 1] : 0;
    return gf_slice_of(r->groups.ptr + from, r->end[g] - from);
}

static bool take_size(gf_slice *bytes, unsigned nibble, size_t *size)
{
    uint64_t beyond = 0;
    if (nibble == BEYOND && (!gf_slice_take_varint(bytes, &beyond) || beyond > GF_MAX_VALUE))
        return false;
    *size = nibble + (size_t)beyond;
    return true;
}

/* The next key of a group: bytes that it shares with the one before, and its further bytes. */
static bool take_key(gf_slice *bytes, size_t *same, gf_slice *further)
{
    gf_slice sizes;
    size_t n;
    if (!gf_slice_take_bytes(bytes, 1, &sizes)) return false;
    unsigned both = (unsigned char)sizes.ptr[0];
    return take_size(bytes, both >> 4, same) && take_size(bytes, both % 16, &n) &&
           gf_slice_take_bytes(bytes, n, further);
}

gf_status gf_run_reader_open(gf_run_reader *r, gf_slice last, size_t outer, gf_slice bytes,
                             gf_error *err)
{
    gf_slice kind;
    uint64_t shared, entries, n_columns;
    r->n = r->n_of = 0;
    if (!gf_slice_take_bytes(&bytes, 1, &kind) || !gf_slice_take_varint(&bytes, &shared) ||
        !gf_slice_take_varint(&bytes, &entries) || !gf_slice_take_varint(&bytes, &n_columns) ||
        outer > last.len || shared > last.len - outer || entries == 0 || entries > bytes.len)
        return fail_damaged(err);
    unsigned what = (unsigned char)kind.ptr[0];
    r->has_rows = what % ENDED == ROWS;
    r->ending = what >= ENDED ? gf_slice_of("\0\1", 2) : (gf_slice){"", 0};
    r->entries = entries;
    r->shared = outer + shared;
    if ((what % ENDED != CELLS && !r->has_rows) || what > (ROWS | ENDED)) return fail_damaged(err);
    gf_status st = take_columns(r, n_columns, &bytes, err);
    if (st == GF_OK) st = take_groups(r, &bytes, err);
    if (st != GF_OK) return st;
    if (!take_values(r, bytes)) return fail_damaged(err);
    gf_buffer_reset(&r->key);
    gf_buffer_append(&r->key, last.ptr, r->shared);
    gf_buffer_reset(&r->before);
    st = gf_run_reader_last(r, err);
    return st == GF_OK && !gf_slice_equal(gf_buffer_view(&r->key), last) ? fail_damaged(err) : st;
}

void gf_run_reader_release(gf_run_reader *r)
{
    gf_free(r->end);
    gf_free(r->columns);
    gf_buffer_release(&r->keys);
    gf_buffer_release(&r->key);
    gf_buffer_release(&r->before);
    gf_buffer_release(&r->value);
    *r = (gf_run_reader){0};
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The further bytes of entry i of the group that was read. */
static gf_slice key_of(const gf_run_reader *r, size_t i)
{
    return gf_slice_of(r->keys.ptr + r->of[i].key, r->of[i].length);
}

/* Append the next key, which shares bytes with the one before; keys must rise. */
static gf_status add_key(gf_run_reader *r, size_t same, gf_slice further, gf_error *err)
{
    size_t i = r->n_of;
    gf_slice before = i ? key_of(r, i - 1) : (gf_slice){0};
    if (same > before.len) return fail_damaged(err);
    bool rises = i == 0 || gf_slice_compare(gf_slice_skip(before, same), further) < 0;
    if (!rises) return fail_damaged(err);
    char *to = gf_buffer_reserve(&r->keys, same + further.len + 1);
    if (!to) return gf_buffer_check(&r->keys, err);
    if (same) memcpy(to, r->keys.ptr + r->of[i - 1].key, same);
    if (further.len) memcpy(to + same, further.ptr, further.len);
    r->of[i].key = r->keys.len;
    r->of[i].length = same + further.len;
    r->keys.len += r->of[i].length;
    r->n_of++;
    return GF_OK;
}

static gf_status read_group(gf_run_reader *r, size_t g, gf_error *err)
{
    gf_slice bytes = group_bytes(r, g), further;
    size_t same, n = r->entries - g * GF_RUN_GROUP;
    gf_status st = GF_OK;
    if (n > GF_RUN_GROUP) n = GF_RUN_GROUP;
    gf_buffer_reset(&r->keys);
    r->group = g;
    for (r->n_of = 0; r->n_of < n && st == GF_OK;)
        st = take_key(&bytes, &same, &further) ? add_key(r, same, further, err) : fail_damaged(err);
    return st == GF_OK && bytes.len ? fail_damaged(err) : st;
}

/* Stand at entry i of the group. */
static gf_status stand_at(gf_run_reader *r, size_t i, gf_error *err)
{
    r->at = i;
    r->key.len = r->shared;
    gf_buffer_slice(&r->key, key_of(r, i));
    gf_buffer_slice(&r->key, r->ending);
    return gf_buffer_check(&r->key, err);
}

gf_status gf_run_reader_first(gf_run_reader *r, gf_error *err)
{
    gf_status st = read_group(r, 0, err);
    return st == GF_OK ? stand_at(r, 0, err) : st;
}

gf_status gf_run_reader_last(gf_run_reader *r, gf_error *err)
{
    gf_status st = read_group(r, r->n - 1, err);
    return st == GF_OK ? stand_at(r, r->n_of - 1, err) : st;
}

/* Order of an entry, by the further bytes of its key, and of a key without the shared bytes. */
static int compare_entry(const gf_run_reader *r, gf_slice further, gf_slice key)
{
    size_t n = further.len < key.len ? further.len : key.len;
    int order = n ? memcmp(further.ptr, key.ptr, n) : 0;
    if (order) return order;
    if (further.len > key.len) return 1;
    return gf_slice_compare(r->ending, gf_slice_skip(key, n));
}

/* *below: the first key of group g is below that one. */
static gf_status group_begins_below(const gf_run_reader *r, size_t g, gf_slice key, bool *below,
                                    gf_error *err)
{
    gf_slice bytes = group_bytes(r, g), first;
    size_t same;
    if (!take_key(&bytes, &same, &first) || same) return fail_damaged(err);
    *below = compare_entry(r, first, key) < 0;
    return GF_OK;
}

gf_status gf_run_reader_seek(gf_run_reader *r, gf_slice key, gf_error *err)
{
    gf_slice shared = gf_slice_of(r->key.ptr, r->shared);
    gf_slice start = gf_slice_of(key.ptr, key.len < r->shared ? key.len : r->shared);
    int order = gf_slice_compare(start, shared);
    if (order > 0) return GF_ENOTFOUND;
    if (order < 0) return gf_run_reader_first(r, err);
    gf_slice rest = gf_slice_skip(key, r->shared);
    size_t low = 0, high = r->n; /* groups before `low` begin below the key; from `high` on none */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool below = false;
        gf_status st = group_begins_below(r, middle, rest, &below, err);
        if (st != GF_OK) return st;
        if (below)
            low = middle + 1;
        else
            high = middle;
    }
    gf_status st = read_group(r, low ? low - 1 : 0, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < r->n_of; i++)
        if (compare_entry(r, key_of(r, i), rest) >= 0) return stand_at(r, i, err);
    if (low == r->n) return GF_ENOTFOUND;
    st = read_group(r, low, err);
    return st == GF_OK ? stand_at(r, 0, err) : st;
}

/* Remember the key that the reader is at, and go into another group. */
static gf_status change_group(gf_run_reader *r, size_t g, gf_error *err)
{
    gf_buffer_reset(&r->before);
    gf_buffer_slice(&r->before, gf_buffer_view(&r->key));
    gf_status st = gf_buffer_check(&r->before, err);
    return st == GF_OK ? read_group(r, g, err) : st;
}

static int compare_with_before(const gf_run_reader *r)
{
    return gf_slice_compare(gf_buffer_view(&r->key), gf_buffer_view(&r->before));
}

gf_status gf_run_reader_next(gf_run_reader *r, gf_error *err)
{
    if (r->at + 1 < r->n_of) return stand_at(r, r->at + 1, err);
    if (r->group + 1 >= r->n) return GF_ENOTFOUND;
    gf_status st = change_group(r, r->group + 1, err);
    if (st == GF_OK) st = stand_at(r, 0, err);
    return st == GF_OK && compare_with_before(r) <= 0 ? fail_damaged(err) : st;
}

gf_status gf_run_reader_previous(gf_run_reader *r, gf_error *err)
{
    if (r->at > 0) return stand_at(r, r->at - 1, err);
    if (r->group == 0) return GF_ENOTFOUND;
    gf_status st = change_group(r, r->group - 1, err);
    if (st == GF_OK) st = stand_at(r, r->n_of - 1, err);
    return st == GF_OK && compare_with_before(r) >= 0 ? fail_damaged(err) : st;
}

gf_slice gf_run_reader_key(const gf_run_reader *r)
{
    return gf_buffer_view(&r->key);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool has_value(const gf_run_stored *c, size_t i)
{
    return c->there.len == 0 || (c->there.ptr[i / 8] >> i % 8 & 1);
}

/* Number i of a column, less the base. */
static uint32_t read_number(const gf_run_stored *c, size_t i)
{
    enum { MOST = 5 }; /* bytes that 32 bits lie in */
    size_t bit = i * c->width, from = bit / 8, left = c->numbers.len - from;
    const unsigned char *p = (const unsigned char *)c->numbers.ptr + from;
    uint64_t bits = 0;
    if (left >= MOST)
        bits = (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
               (uint64_t)p[4] << 32;
    else
        for (size_t at = 0; at < left; at++)
            bits |= (uint64_t)p[at] << 8 * at;
    return (uint32_t)(bits >> bit % 8 & ((UINT64_C(1) << c->width) - 1));
}

static bool read_bytes(const gf_run_stored *c, size_t i, gf_slice *value)
{
    size_t from = i ? read_number(c, i - 1) : 0, to = read_number(c, i);
    if (from > to || to > c->bytes.len) return false;
    *value = gf_slice_of(c->bytes.ptr + from, to - from);
    return true;
}

/* Append value i of a column that has numbers; at most 127 bytes. */
static bool append_number(const gf_run_stored *c, size_t i, gf_buffer *out)
{
    uint32_t number = c->base + read_number(c, i);
    float v;
    switch (c->form) {
    case GF_RUN_AS_VARINT:
        gf_buffer_varint(out, number);
        return true;
    case GF_RUN_AS_FLOAT:
        gf_buffer_u32be(out, number);
        return true;
    default:
        memcpy(&v, &number, sizeof v);
        if (isfinite(v)) gf_json_append_float(out, v);
        return isfinite(v);
    }
}

/* Append the column of a packed row. */
static bool append_column(const gf_run_stored *c, size_t i, gf_buffer *out)
{
    gf_slice bytes;
    gf_buffer_slice(out, c->tag);
    if (c->form == GF_RUN_AS_BYTES) {
        if (!read_bytes(c, i, &bytes)) return false;
        gf_buffer_string(out, bytes);
        return true;
    }
    size_t length = out->len;
    gf_buffer_byte(out, 0);
    if (!append_number(c, i, out)) return false;
    if (out->state == GF_OK) out->ptr[length] = (char)(out->len - length - 1);
    return true;
}

gf_status gf_run_reader_value(gf_run_reader *r, gf_slice *value, gf_error *err)
{
    size_t i = r->group * GF_RUN_GROUP + r->at;
    bool good = true;
    gf_buffer_reset(&r->value);
    if (!r->has_rows && r->columns[0].form == GF_RUN_AS_BYTES)
        return read_bytes(&r->columns[0], i, value) ? GF_OK : fail_damaged(err);
    if (!r->has_rows) good = append_number(&r->columns[0], i, &r->value);
    for (size_t c = 0; c < r->n_columns && r->has_rows && good; c++)
        if (has_value(&r->columns[c], i)) good = append_column(&r->columns[c], i, &r->value);
    if (!good) return fail_damaged(err);
    *value = gf_buffer_view(&r->value);
    return gf_buffer_check(&r->value, err);
}
