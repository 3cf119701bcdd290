/*
 * Row keys of ours and rows of HBase. Both are the same bytes, but for a string at the end of the
 * key: HBase has it as it is, we have each 00 in it as 00 FF, and 00 01 behind it.
 *
 *     ("news", "a\0b")    ours   n e w s 00 01  a 00 FF b 00 01
 *                         HBase  n e w s 00 01  a 00 b
 *
 * The order is the same, so a range of keys is a range of rows.
 */
#include "storage/hbase/internal.h"
#include "storage/schema.h"

enum { ESCAPED = 0xFF };

static size_t part_length(const gf_key_part *part, gf_slice rest)
{
    switch (part->kind) {
    case GF_PART_STRING:
        return gf_key_string_length(rest);
    case GF_PART_U64:
        return 8;
    default:
        return part->width;
    }
}

/* The beginning of the last part, if it is a string; SIZE_MAX: the bytes are the same. */
static size_t last_string(const gf_schema *s, gf_slice bytes)
{
    size_t at = 0;
    if (s->parts[s->n_parts - 1].kind != GF_PART_STRING) return SIZE_MAX;
    for (unsigned i = 0; i + 1 < s->n_parts; i++) {
        size_t n = part_length(&s->parts[i], gf_slice_skip(bytes, at));
        if (n == 0 || n > bytes.len - at) return SIZE_MAX;
        at += n;
    }
    return at;
}

/* The string as it is, of its escaped form or the start of that; what that ends with is returned:
   its terminator, or the half of a mark. */
static size_t append_plain(gf_slice escaped, gf_buffer *out)
{
    while (escaped.len) {
        const char *zero = memchr(escaped.ptr, 0, escaped.len);
        size_t n = zero ? (size_t)(zero - escaped.ptr) : escaped.len;
        gf_buffer_append(out, escaped.ptr, n);
        escaped = gf_slice_skip(escaped, n);
        if (!zero) break;
        if (escaped.len < 2 || (unsigned char)escaped.ptr[1] != ESCAPED) break;
        gf_buffer_byte(out, 0);
        escaped = gf_slice_skip(escaped, 2);
    }
    return escaped.len;
}

gf_status gf_hbase_row_of_key(const gf_schema *s, gf_slice key, gf_buffer *row, gf_error *err)
{
    size_t at = last_string(s, key), before = row->len;
    enum { LONGEST = INT16_MAX };
    if (at == SIZE_MAX) {
        gf_buffer_slice(row, key);
    } else {
        gf_buffer_append(row, key.ptr, at);
        append_plain(gf_slice_skip(key, at), row);
    }
    gf_status st = gf_buffer_check(row, err);
    if (st != GF_OK) return st;
    if (row->len == before) return gf_fail(err, GF_EINVAL, "HBase has no row whose key is empty");
    if (row->len - before > LONGEST)
        return gf_fail(err, GF_ELIMIT, "a row key of more than %d bytes, the most that HBase has",
                       LONGEST);
    return GF_OK;
}

gf_status gf_hbase_key_of_row(const gf_schema *s, gf_slice row, gf_buffer *key, gf_error *err)
{
    size_t at = last_string(s, row), before = key->len;
    if (at == SIZE_MAX) {
        gf_buffer_slice(key, row);
    } else {
        gf_buffer_append(key, row.ptr, at);
        gf_key_string(key, gf_slice_skip(row, at));
    }
    gf_status st = gf_buffer_check(key, err);
    if (st != GF_OK) return st;
    gf_slice made = gf_slice_skip(gf_buffer_view(key), before);
    if (gf_schema_row_length(s, made) == made.len) return GF_OK;
    return gf_fail(err, GF_ECORRUPT,
                   "HBase has a row of %zu bytes that is no key of the table's schema", row.len);
}

void gf_hbase_row_of_bound(const gf_schema *s, gf_slice bound, gf_buffer *row)
{
    size_t at = last_string(s, bound);
    if (at == SIZE_MAX) {
        gf_buffer_slice(row, bound);
        return;
    }
    gf_buffer_append(row, bound.ptr, at);
    append_plain(gf_slice_skip(bound, at), row);
}

void gf_hbase_rows_of_prefix(const gf_schema *s, gf_slice prefix, gf_buffer *start, gf_buffer *end)
{
    size_t at = last_string(s, prefix), rest = 0;
    if (at == SIZE_MAX) {
        gf_buffer_slice(start, prefix);
    } else {
        gf_buffer_append(start, prefix.ptr, at);
        rest = append_plain(gf_slice_skip(prefix, at), start);
    }
    if (rest) { /* of a whole key that row alone; half a mark may go on as 00, too */
        gf_buffer_slice(end, gf_buffer_view(start));
        gf_buffer_byte(end, rest == 1 ? 1 : 0);
    } else {
        gf_key_after_prefix(gf_buffer_view(start), end);
    }
}
