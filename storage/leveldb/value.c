#include "storage/leveldb/value.h"

#include "storage/backend.h"

#include <assert.h>
#include <snappy-c.h>

enum { HAS_TIMESTAMP = 1, COMPRESSED = 2, CUT = 4, KNOWN_FLAGS = 15 };
enum {
    WORTH_COMPRESSING = 64,
    MOST_EXPANSION = 64 /* Snappy's copies give 64 bytes for 2 or 3: what claims more is damaged */
};

gf_status gf_value_compress(gf_slice value, gf_buffer *memory, gf_compressed *compressed,
                            gf_error *err)
{
    gf_compressed c = {value, false};
    if (value.len > GF_MAX_VALUE)
        return gf_fail(err, GF_ELIMIT, "a value of more than %d bytes", GF_MAX_VALUE);
    if (value.len >= WORTH_COMPRESSING) {
        size_t n = snappy_max_compressed_length(value.len);
        gf_buffer_reset(memory);
        char *to = gf_buffer_reserve(memory, n);
        if (!to) return gf_fail_memory(err, "compression");
        c.smaller = snappy_compress(value.ptr, value.len, to, &n) == SNAPPY_OK && n < value.len;
        if (c.smaller) c.bytes = gf_slice_of(to, n);
    }
    *compressed = c;
    return GF_OK;
}

gf_stored_value gf_value_of_compressed(const gf_compressed *value, int64_t timestamp)
{
    gf_stored_value v = {value->bytes, timestamp ? HAS_TIMESTAMP : 0, timestamp};
    if (value->smaller) v.flags |= COMPRESSED;
    if (v.bytes.len > GF_BLOCK_BYTES) v.flags |= CUT;
    return v;
}

gf_status gf_value_prepare(gf_slice value, gf_compression compression, int64_t timestamp,
                           gf_buffer *scratch, gf_stored_value *out, gf_error *err)
{
    gf_compressed c = {value, false};
    gf_status st =
        compression == GF_COMPRESSION_SNAPPY ? gf_value_compress(value, scratch, &c, err) : GF_OK;
    if (st == GF_OK) *out = gf_value_of_compressed(&c, timestamp);
    return st;
}

static uint32_t blocks_of(uint64_t length)
{
    return length <= GF_BLOCK_BYTES ? 1 : (uint32_t)((length - 1) / GF_BLOCK_BYTES + 1);
}

uint32_t gf_value_blocks(const gf_stored_value *v)
{
    return blocks_of(v->bytes.len);
}

gf_slice gf_value_block(const gf_stored_value *v, uint32_t i)
{
    assert(i < gf_value_blocks(v));
    gf_slice rest = gf_slice_skip(v->bytes, (size_t)i * GF_BLOCK_BYTES);
    if (rest.len > GF_BLOCK_BYTES) rest.len = GF_BLOCK_BYTES;
    return rest;
}

void gf_value_write_head(const gf_stored_value *v, gf_buffer *out)
{
    assert(!(v->flags & CUT) == (gf_value_blocks(v) == 1));
    gf_buffer_byte(out, (char)v->flags);
    if (v->flags & HAS_TIMESTAMP) gf_buffer_u64be(out, (uint64_t)v->timestamp);
    if (v->flags & CUT) gf_buffer_varint(out, v->bytes.len);
    gf_buffer_slice(out, gf_value_block(v, 0));
}

gf_status gf_value_read_head(gf_slice entry, gf_value_head *head, gf_error *err)
{
    gf_value_head h = {0};
    uint64_t timestamp = 0;
    if (entry.len == 0 || (entry.ptr[0] & ~KNOWN_FLAGS)) goto damaged;
    h.flags = (uint8_t)entry.ptr[0];
    h.first = gf_slice_skip(entry, 1);
    if ((h.flags & HAS_TIMESTAMP) && !gf_slice_take_u64be(&h.first, &timestamp)) goto damaged;
    h.timestamp = (int64_t)timestamp;
    h.length = h.first.len;
    if (h.flags & CUT) {
        if (!gf_slice_take_varint(&h.first, &h.length) || h.first.len != GF_BLOCK_BYTES ||
            h.length <= GF_BLOCK_BYTES || h.length > (uint64_t)GF_BLOCK_BYTES * UINT32_MAX)
            goto damaged;
    }
    *head = h;
    return GF_OK;
damaged:
    return gf_fail(err, GF_ECORRUPT, "a stored value's head is damaged");
}

uint32_t gf_value_head_blocks(const gf_value_head *head)
{
    return blocks_of(head->length);
}

gf_status gf_value_unpack(uint8_t flags, gf_slice stored, gf_buffer *scratch, gf_slice *value,
                          gf_error *err)
{
    if (!(flags & COMPRESSED)) {
        *value = stored;
        return GF_OK;
    }
    size_t n = 0;
    if (snappy_uncompressed_length(stored.ptr, stored.len, &n) != SNAPPY_OK ||
        n / MOST_EXPANSION > stored.len)
        return gf_fail(err, GF_ECORRUPT, "a compressed value is damaged");
    gf_buffer_reset(scratch);
    char *to = gf_buffer_reserve(scratch, n ? n : 1);
    if (!to) return gf_fail_memory(err, "a compressed value");
    if (snappy_uncompress(stored.ptr, stored.len, to, &n) != SNAPPY_OK)
        return gf_fail(err, GF_ECORRUPT, "a compressed value is damaged");
    *value = gf_slice_of(to, n);
    return GF_OK;
}

gf_status gf_value_expand(const gf_compressed *value, gf_buffer *memory, gf_slice *expanded,
                          gf_error *err)
{
    return gf_value_unpack(value->smaller ? COMPRESSED : 0, value->bytes, memory, expanded, err);
}
