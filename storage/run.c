#include "storage/run.h"

#include "base/grow.h"
#include "base/memory.h"
#include "storage/schema.h"

#include <assert.h>

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct gf_run_end {
    size_t key, value;
} gf_run_end;

void gf_run_block_begin(gf_run_block *b, gf_table *table, unsigned family)
{
    assert(gf_table_schema(table)->families[family].run);
    b->table = table;
    b->family = family;
    gf_buffer_reset(&b->keys);
    gf_buffer_reset(&b->values);
    b->n = b->granule = b->size = 0;
    b->stored = (gf_compressed){0};
}

void gf_run_block_release(gf_run_block *b)
{
    gf_buffer_release(&b->keys);
    gf_buffer_release(&b->values);
    gf_buffer_release(&b->bytes);
    gf_buffer_release(&b->memory);
    gf_arena_release(&b->arena);
    gf_free(b->ends);
    *b = (gf_run_block){0};
}

static gf_slice entry_key(const gf_run_block *b, size_t i)
{
    size_t from = i ? b->ends[i - 1].key : 0;
    return gf_slice_of(b->keys.ptr + from, b->ends[i].key - from);
}

static gf_slice entry_value(const gf_run_block *b, size_t i)
{
    size_t from = i ? b->ends[i - 1].value : 0;
    return gf_slice_of(b->values.ptr + from, b->ends[i].value - from);
}

static size_t count_shared(gf_slice a, gf_slice b)
{
    size_t n = 0, most = a.len < b.len ? a.len : b.len;
    while (n < most && a.ptr[n] == b.ptr[n])
        n++;
    return n;
}

/* Bytes of a row key that all keys of its granule begin with. */
static size_t granule_length(const gf_schema *s, unsigned family, gf_slice key)
{
    if (s->families[family].layout == GF_LAYOUT_WIDE) return key.len;
    gf_schema less = *s;
    less.n_parts--;
    return less.n_parts ? gf_schema_row_length(&less, key) : 0;
}

/* The entry whose key and value were appended is the block's last, unless it may not be. */
static gf_status end_entry(gf_run_block *b, size_t granule, gf_error *err)
{
    enum { NUMBERS = 3 }; /* bytes of an entry's lengths, as nearly all are */
    const char *table = gf_table_schema(b->table)->name;
    gf_status st = gf_buffer_check(&b->keys, err);
    if (st == GF_OK) st = gf_buffer_check(&b->values, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&b->ends, &b->capacity, b->n + 1, sizeof *b->ends))
        return gf_fail_memory(err, "a block");
    b->ends[b->n] = (gf_run_end){b->keys.len, b->values.len};
    gf_slice key = entry_key(b, b->n), value = entry_value(b, b->n);
    size_t shared = 0;
    if (b->n) {
        gf_slice before = entry_key(b, b->n - 1);
        shared = count_shared(before, key);
        if (gf_slice_compare(before, key) >= 0)
            return gf_fail(err, GF_EINVAL, "table %s: a block's keys must rise", table);
        if (granule != b->granule || shared < granule)
            return gf_fail(err, GF_EINVAL, "table %s: a block must keep to its granule", table);
    }
    b->granule = granule;
    b->size += NUMBERS + key.len - shared + value.len;
    if (b->size > GF_MAX_VALUE)
        return gf_fail(err, GF_ELIMIT, "table %s: a block of more than %d bytes", table,
                       GF_MAX_VALUE);
    b->n++;
    return GF_OK;
}

/* After a failed addition the block is as it was before it. */
static gf_status end_addition(gf_run_block *b, gf_status st)
{
    if (st == GF_OK) return st;
    b->keys.len = b->n ? b->ends[b->n - 1].key : 0;
    b->values.len = b->n ? b->ends[b->n - 1].value : 0;
    return st;
}

gf_status gf_run_block_add_cell(gf_run_block *b, gf_slice key, gf_slice qualifier, gf_slice value,
                                gf_error *err)
{
    int number = -1;
    const gf_schema *s = gf_table_schema(b->table);
    assert(s->families[b->family].layout == GF_LAYOUT_WIDE);
    gf_status st = gf_table_check_key(b->table, key, err);
    if (st == GF_OK) st = gf_table_check_column(b->table, b->family, qualifier, &number, err);
    if (st != GF_OK) return st;
    gf_buffer_slice(&b->keys, key);
    gf_key_string(&b->keys, qualifier);
    gf_buffer_slice(&b->values, value);
    return end_addition(b, end_entry(b, granule_length(s, b->family, key), err));
}

static gf_status pack_columns(gf_run_block *b, const gf_column *columns, size_t n, gf_error *err)
{
    int number = -1;
    gf_status st = n ? GF_OK : gf_fail(err, GF_EINVAL, "a row without columns");
    b->columns.family = &gf_table_schema(b->table)->families[b->family];
    b->columns.arena = &b->arena;
    gf_packed_clear(&b->columns);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        st = gf_table_check_column(b->table, b->family, columns[i].name, &number, err);
        if (st == GF_OK) st = gf_packed_set(&b->columns, columns[i].name, columns[i].value, err);
    }
    if (st == GF_OK) gf_packed_write(&b->columns, &b->values);
    return st;
}

gf_status gf_run_block_add_row(gf_run_block *b, gf_slice key, const gf_column *columns,
                               size_t n_columns, gf_error *err)
{
    const gf_schema *s = gf_table_schema(b->table);
    assert(s->families[b->family].layout == GF_LAYOUT_PACKED);
    gf_status st = gf_table_check_key(b->table, key, err);
    if (st == GF_OK) st = pack_columns(b, columns, n_columns, err);
    if (st == GF_OK) {
        gf_buffer_slice(&b->keys, key);
        st = end_entry(b, granule_length(s, b->family, key), err);
    }
    return end_addition(b, st);
}

bool gf_run_block_is_full(const gf_run_block *b)
{
    return b->size >= GF_RUN_BYTES || b->n >= GF_RUN_ENTRIES;
}

/* Append entries i to behind - 1 as a group; all keys share their first bytes. */
static void write_group(gf_run_block *b, size_t i, size_t behind, size_t shared)
{
    gf_slice before = {0};
    for (; i < behind; i++) {
        gf_slice key = gf_slice_skip(entry_key(b, i), shared), value = entry_value(b, i);
        size_t same = count_shared(before, key);
        gf_buffer_varint(&b->bytes, same);
        gf_buffer_varint(&b->bytes, key.len - same);
        gf_buffer_varint(&b->bytes, value.len);
        gf_buffer_slice(&b->bytes, gf_slice_skip(key, same));
        gf_buffer_slice(&b->bytes, value);
        before = key;
    }
}

/* The groups go to b->bytes, their lengths to `lengths`. */
static void write_groups(gf_run_block *b, size_t shared, gf_buffer *lengths)
{
    for (size_t i = 0; i < b->n; i += GF_RUN_GROUP) {
        size_t from = b->bytes.len, behind = i + GF_RUN_GROUP;
        write_group(b, i, behind < b->n ? behind : b->n, shared);
        gf_buffer_varint(lengths, b->bytes.len - from);
    }
}

gf_status gf_run_block_finish(gf_run_block *b, gf_error *err)
{
    assert(b->n);
    gf_buffer groups = {0}, lengths = {0};
    size_t shared = count_shared(entry_key(b, 0), entry_key(b, b->n - 1));
    gf_buffer_reset(&b->bytes);
    write_groups(b, shared, &lengths);
    groups = b->bytes;
    b->bytes = (gf_buffer){0};
    gf_buffer_varint(&b->bytes, shared);
    gf_buffer_varint(&b->bytes, (b->n + GF_RUN_GROUP - 1) / GF_RUN_GROUP);
    gf_buffer_slice(&b->bytes, gf_buffer_view(&lengths));
    gf_buffer_slice(&b->bytes, gf_buffer_view(&groups));
    gf_status st = gf_buffer_check(&groups, err);
    if (st == GF_OK) st = gf_buffer_check(&lengths, err);
    if (st == GF_OK) st = gf_buffer_check(&b->bytes, err);
    if (st == GF_OK) st = gf_value_compress(gf_buffer_view(&b->bytes), &b->memory, &b->stored, err);
    gf_buffer_release(&groups);
    gf_buffer_release(&lengths);
    return st;
}

size_t gf_run_block_bytes(const gf_run_block *b)
{
    return entry_key(b, 0).len + b->stored.bytes.len;
}

gf_slice gf_run_block_key(const gf_run_block *b)
{
    return entry_key(b, 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status fail_damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "a block of a run is damaged");
}

static gf_slice group_bytes(const gf_run_reader *r, size_t g)
{
    size_t from = g ? r->end[g - 1] : 0;
    return gf_slice_of(r->groups.ptr + from, r->end[g] - from);
}

/* The numbers, the further bytes of the key and the value of the next entry. */
static bool take_entry(gf_slice *bytes, size_t *same, gf_slice *further, gf_slice *value)
{
    uint64_t numbers[3];
    for (int i = 0; i < 3; i++)
        if (!gf_slice_take_varint(bytes, &numbers[i])) return false;
    *same = numbers[0];
    return gf_slice_take_bytes(bytes, numbers[1], further) &&
           gf_slice_take_bytes(bytes, numbers[2], value);
}

/* True where the first entry has that key. */
static bool begins_with(const gf_run_reader *r, gf_slice key)
{
    gf_slice bytes = group_bytes(r, 0), further, value;
    size_t same;
    return take_entry(&bytes, &same, &further, &value) && same == 0 &&
           gf_slice_equal(further, gf_slice_skip(key, r->shared));
}

gf_status gf_run_reader_open(gf_run_reader *r, gf_slice first, size_t outer, gf_slice bytes,
                             gf_error *err)
{
    uint64_t shared, n, length;
    size_t end = 0;
    r->n = r->n_of = 0;
    if (!gf_slice_take_varint(&bytes, &shared) || !gf_slice_take_varint(&bytes, &n) ||
        outer > first.len || shared > first.len - outer || n == 0 || n > bytes.len)
        return fail_damaged(err);
    if (!gf_grow(&r->end, &r->capacity, n, sizeof *r->end)) return gf_fail_memory(err, "a block");
    for (; r->n < n; r->n++) {
        if (!gf_slice_take_varint(&bytes, &length) || length == 0 || length > SIZE_MAX / 2 - end)
            return fail_damaged(err);
        end += length;
        r->end[r->n] = end;
    }
    if (end != bytes.len) return fail_damaged(err);
    r->groups = bytes;
    r->shared = outer + shared;
    if (!begins_with(r, first)) return fail_damaged(err);
    gf_buffer_reset(&r->keys);
    gf_buffer_append(&r->keys, first.ptr, r->shared);
    gf_buffer_reset(&r->before);
    return gf_buffer_check(&r->keys, err);
}

void gf_run_reader_release(gf_run_reader *r)
{
    gf_free(r->end);
    gf_buffer_release(&r->keys);
    gf_buffer_release(&r->key);
    gf_buffer_release(&r->before);
    *r = (gf_run_reader){0};
}

/* The further bytes of entry i of the group that was read. */
static gf_slice key_of(const gf_run_reader *r, size_t i)
{
    return gf_slice_of(r->keys.ptr + r->of[i].key, r->of[i].length);
}

/* Append the key of the next entry, which shares bytes with the one before; its keys must rise. */
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
    return GF_OK;
}

static gf_status read_group(gf_run_reader *r, size_t g, gf_error *err)
{
    gf_slice bytes = group_bytes(r, g), further, value;
    size_t same;
    gf_status st = GF_OK;
    r->keys.len = r->shared;
    r->group = g;
    r->n_of = 0;
    while (bytes.len && st == GF_OK) {
        if (r->n_of == GF_RUN_GROUP || !take_entry(&bytes, &same, &further, &value))
            return fail_damaged(err);
        st = add_key(r, same, further, err);
        r->of[r->n_of].value = value;
        if (st == GF_OK) r->n_of++;
    }
    return st;
}

/* Stand at entry i of the group. */
static gf_status stand_at(gf_run_reader *r, size_t i, gf_error *err)
{
    r->at = i;
    gf_buffer_reset(&r->key);
    gf_buffer_append(&r->key, r->keys.ptr, r->shared);
    gf_buffer_slice(&r->key, key_of(r, i));
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

/* *below: the first key of group g is below the one whose further bytes these are. */
static gf_status group_begins_below(const gf_run_reader *r, size_t g, gf_slice further, bool *below,
                                    gf_error *err)
{
    gf_slice bytes = group_bytes(r, g), first, value;
    size_t same;
    if (!take_entry(&bytes, &same, &first, &value) || same) return fail_damaged(err);
    *below = gf_slice_compare(first, further) < 0;
    return GF_OK;
}

gf_status gf_run_reader_seek(gf_run_reader *r, gf_slice key, gf_error *err)
{
    gf_slice shared = gf_slice_of(r->keys.ptr, r->shared);
    gf_slice start = gf_slice_of(key.ptr, key.len < r->shared ? key.len : r->shared);
    int order = gf_slice_compare(start, shared);
    if (order > 0) return GF_ENOTFOUND;
    if (order < 0) return gf_run_reader_first(r, err);
    gf_slice further = gf_slice_skip(key, r->shared);
    size_t low = 0, high = r->n; /* groups before `low` begin below the key; from `high` on none */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool below;
        gf_status st = group_begins_below(r, middle, further, &below, err);
        if (st != GF_OK) return st;
        if (below)
            low = middle + 1;
        else
            high = middle;
    }
    gf_status st = read_group(r, low ? low - 1 : 0, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < r->n_of; i++)
        if (gf_slice_compare(key_of(r, i), further) >= 0) return stand_at(r, i, err);
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

gf_slice gf_run_reader_value(const gf_run_reader *r)
{
    return r->of[r->at].value;
}
