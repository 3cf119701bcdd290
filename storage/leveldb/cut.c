/*
 * Cutting a range, so that its parts can be scanned at the same time.
 *
 * LevelDB estimates how many bytes of its tables lie between any two keys. So the place is found by
 * halving: a key is a fraction to the base of 256, and between two lies their
 * mean.
 */
#include "storage/leveldb/cells.h"

/* Physical keys, the cut between them: up to `low` the range has at most the bytes asked for, up to
 * `high` more. */
typedef struct search {
    gf_leveldb *b;
    gf_slice begin; /* of the range */
    uint64_t bytes; /* asked for */
    gf_buffer low, high, middle;
} search;

static uint64_t bytes_before(const search *s, gf_slice key)
{
    return gf_leveldb_database_bytes(s->b->db, s->begin, key);
}

static size_t shared_length(gf_slice a, gf_slice b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n])
        n++;
    return n;
}

/* The mean of low and high, to 8 bytes behind those that they share; whether it is between them. */
static bool find_middle(search *s)
{
    gf_slice low = gf_buffer_view(&s->low), high = gf_buffer_view(&s->high);
    size_t shared = shared_length(low, high);
    uint64_t a = gf_leading_u64be(gf_slice_skip(low, shared));
    uint64_t b = gf_leading_u64be(gf_slice_skip(high, shared));
    gf_buffer_reset(&s->middle);
    gf_buffer_append(&s->middle, low.ptr, shared);
    gf_buffer_u64be(&s->middle, a + (b - a) / 2);
    return b > a && b - a > 1;
}

static void swap_buffers(gf_buffer *a, gf_buffer *b)
{
    gf_buffer other = *a;
    *a = *b;
    *b = other;
}

static gf_status check_keys(const search *s, gf_error *err)
{
    gf_status st = gf_buffer_check(&s->low, err);
    if (st == GF_OK) st = gf_buffer_check(&s->high, err);
    return st == GF_OK ? gf_buffer_check(&s->middle, err) : st;
}

/* The place: low if it has nearly all that was asked for; else, behind something large, high. */
static gf_status find_place(search *s, gf_slice *place, gf_error *err)
{
    gf_status st = check_keys(s, err);
    bool found = false;
    while (st == GF_OK && !found && find_middle(s)) {
        st = check_keys(s, err);
        if (st != GF_OK) break;
        uint64_t before = bytes_before(s, gf_buffer_view(&s->middle));
        found = before <= s->bytes && before >= s->bytes - s->bytes / 8;
        swap_buffers(before > s->bytes ? &s->high : &s->low, &s->middle);
    }
    *place = gf_buffer_view(found ? &s->low : &s->high);
    return st;
}

/* The start of the row of the first key at or behind the place; GF_ENOTFOUND at the range's end. */
static gf_status row_at(const gf_leveldb_cells *range, gf_slice place, gf_slice *row, gf_error *err)
{
    gf_leveldb_key key = {0};
    gf_leveldb_iterator_seek(range->it, place);
    gf_status st = gf_leveldb_iterator_status(range->it, err);
    if (st != GF_OK) return st;
    if (!gf_leveldb_iterator_valid(range->it)) return GF_ENOTFOUND;
    gf_slice found = gf_leveldb_iterator_key(range->it);
    if (gf_slice_compare(found, gf_buffer_view(&range->upper)) >= 0) return GF_ENOTFOUND;
    st = gf_leveldb_keys_parse(range->schema, found, &key, err);
    *row = gf_slice_of(found.ptr, GF_LEVELDB_FAMILY_PREFIX + key.row.len);
    return st;
}

/* The key of the first row that begins at or behind the place. */
static gf_status row_behind(const gf_leveldb_cells *range, gf_slice place, gf_buffer *key,
                            gf_error *err)
{
    gf_slice row;
    gf_status st = row_at(range, place, &row, err);
    if (st == GF_OK && gf_slice_compare(row, place) < 0) { /* the place is amid the row */
        gf_buffer behind = {0};
        gf_key_after_prefix(row, &behind);
        st = gf_buffer_check(&behind, err);
        if (st == GF_OK) st = row_at(range, gf_buffer_view(&behind), &row, err);
        gf_buffer_release(&behind);
    }
    if (st != GF_OK) return st;
    gf_buffer_reset(key);
    gf_buffer_slice(key, gf_slice_skip(row, GF_LEVELDB_FAMILY_PREFIX));
    return gf_buffer_check(key, err);
}

static gf_status cut_range(gf_leveldb *b, const gf_leveldb_cells *range, uint64_t bytes,
                           gf_buffer *key, gf_error *err)
{
    search s = {.b = b, .begin = gf_buffer_view(&range->lower), .bytes = bytes};
    gf_slice end = gf_buffer_view(&range->upper), place;
    if (bytes_before(&s, end) <= bytes + bytes / 2) return GF_ENOTFOUND;
    gf_buffer_slice(&s.low, s.begin);
    gf_buffer_slice(&s.high, end);
    gf_status st = find_place(&s, &place, err);
    if (st == GF_OK) st = row_behind(range, place, key, err);
    gf_buffer_release(&s.low);
    gf_buffer_release(&s.high);
    gf_buffer_release(&s.middle);
    return st;
}

gf_status gf_leveldb_scan_cut(gf_backend *backend, const void *snapshot, unsigned table,
                              const gf_scan_options *options, uint64_t bytes, gf_buffer *key,
                              gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    gf_leveldb_cells range = {0};
    gf_status st =
        gf_leveldb_scan_range(&range, b, gf_leveldb_view_snapshot(snapshot), table, options, err);
    if (st == GF_OK) st = cut_range(b, &range, bytes, key, err);
    gf_leveldb_cells_close(&range);
    return st;
}
