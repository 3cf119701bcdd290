#include "formats/hbase/hbase_result.h"

/* ---- Protocol Buffers ------------------------------------------------------------------------ */

/* A field of a message: its number, and a number or bytes. */
typedef struct field {
    uint64_t number;
    bool is_bytes;
    uint64_t value;
    gf_slice bytes;
} field;

static bool take_varint(gf_slice *from, uint64_t *v)
{
    *v = 0;
    for (unsigned shift = 0; from->len && shift < 70; shift += 7) {
        unsigned char byte = (unsigned char)*from->ptr;
        *from = gf_slice_skip(*from, 1);
        if (shift < 64) *v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return true;
    }
    return false;
}

static bool take_bytes(gf_slice *from, uint64_t n, gf_slice *bytes)
{
    if (n > from->len) return false;
    *bytes = gf_slice_of(from->ptr, (size_t)n);
    *from = gf_slice_skip(*from, (size_t)n);
    return true;
}

/* Groups, which no message of these has, are damage. */
static bool take_field(gf_slice *from, field *f)
{
    enum { VARINT, FIXED_64, BYTES, FIXED_32 = 5 };
    uint64_t tag, n;
    gf_slice fixed;
    if (!take_varint(from, &tag)) return false;
    *f = (field){.number = tag >> 3};
    switch (tag & 7) {
    case VARINT:
        return take_varint(from, &f->value);
    case BYTES:
        f->is_bytes = true;
        return take_varint(from, &n) && take_bytes(from, n, &f->bytes);
    case FIXED_64:
        return take_bytes(from, 8, &fixed);
    case FIXED_32:
        return take_bytes(from, 4, &fixed);
    default:
        return false;
    }
}

static gf_status bad(const char *what, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "not a Result of HBase: %s", what);
}

static gf_status add_cell(gf_wide_row *row, gf_slice key, const gf_wide_cell *cell, uint64_t kind,
                          gf_error *err)
{
    gf_wide_cell added = *cell;
    if (!gf_slice_equal(key, row->key)) return bad("a cell of another row", err);
    if (kind != GF_WIDE_PUT && kind != GF_WIDE_DELETE_VERSION &&
        kind != GF_WIDE_DELETE_FAMILY_VERSION && kind != GF_WIDE_DELETE_CELL &&
        kind != GF_WIDE_DELETE_FAMILY)
        return bad("a cell of an unknown kind", err);
    added.kind = (gf_wide_kind)kind;
    return gf_wide_row_add(row, &added, err);
}

static gf_status read_cell(gf_slice message, gf_wide_row *row, gf_error *err)
{
    enum { ROW = 1, FAMILY, QUALIFIER, TIMESTAMP, KIND, VALUE };
    field f;
    gf_slice key = {"", 0};
    uint64_t kind = GF_WIDE_PUT;
    gf_wide_cell cell = {{"", 0}, {"", 0}, {"", 0}, INT64_MAX, GF_WIDE_PUT};
    while (message.len) {
        if (!take_field(&message, &f)) return bad("a cell is cut", err);
        if (f.is_bytes != (f.number != TIMESTAMP && f.number != KIND) && f.number <= VALUE)
            return bad("a field is of another type", err);
        if (f.number == ROW) key = f.bytes;
        if (f.number == FAMILY) cell.family = f.bytes;
        if (f.number == QUALIFIER) cell.qualifier = f.bytes;
        if (f.number == TIMESTAMP) cell.timestamp = (int64_t)f.value;
        if (f.number == KIND) kind = f.value;
        if (f.number == VALUE) cell.value = f.bytes;
    }
    return add_cell(row, key, &cell, kind, err);
}

static gf_status read_message(gf_slice message, gf_wide_row *row, gf_error *err)
{
    enum { CELL = 1 };
    field f;
    gf_status st = GF_OK;
    while (st == GF_OK && message.len) {
        if (!take_field(&message, &f)) return bad("it is cut", err);
        if (f.number == CELL && f.is_bytes) st = read_cell(f.bytes, row, err);
    }
    return st;
}

/* ---- KeyValues ------------------------------------------------------------------------------- */

static bool take_u32(gf_slice *from, uint32_t *v)
{
    if (from->len < 4) return false;
    *v = gf_read_u32be(from->ptr);
    *from = gf_slice_skip(*from, 4);
    return true;
}

static gf_status read_key_value(gf_slice bytes, gf_wide_row *row, gf_error *err)
{
    enum { TIME_AND_KIND = 9 };
    uint32_t key_length, value_length;
    gf_slice key, name, length;
    gf_wide_cell cell = {.kind = GF_WIDE_PUT};
    if (!take_u32(&bytes, &key_length) || !take_u32(&bytes, &value_length) ||
        !take_bytes(&bytes, key_length, &key) || !take_bytes(&bytes, value_length, &cell.value))
        return bad("a cell is cut", err);
    if (!take_bytes(&key, 2, &length) ||
        !take_bytes(&key,
                    (uint64_t)(unsigned char)length.ptr[0] << 8 | (unsigned char)length.ptr[1],
                    &name) ||
        !take_bytes(&key, 1, &length) ||
        !take_bytes(&key, (unsigned char)length.ptr[0], &cell.family) || key.len < TIME_AND_KIND)
        return bad("the key of a cell is cut", err);
    cell.qualifier = gf_slice_of(key.ptr, key.len - TIME_AND_KIND);
    cell.timestamp = (int64_t)gf_read_u64be(cell.qualifier.ptr + cell.qualifier.len);
    return add_cell(row, name, &cell, (unsigned char)key.ptr[key.len - 1], err);
}

static gf_status read_key_values(gf_slice bytes, gf_wide_row *row, gf_error *err)
{
    uint32_t n;
    gf_slice one;
    gf_status st = GF_OK;
    while (st == GF_OK && bytes.len) {
        if (!take_u32(&bytes, &n) || !take_bytes(&bytes, n, &one)) return bad("it is cut", err);
        st = read_key_value(one, row, err);
    }
    return st;
}

gf_status gf_hbase_result_read(gf_slice key, gf_slice value, gf_wide_row *row, gf_error *err)
{
    uint32_t n;
    uint64_t length;
    gf_slice old = value, message = value;
    row->n = 0;
    if (!take_u32(&key, &n) || n != key.len) return bad("the key's length is wrong", err);
    row->key = key;
    if (take_u32(&old, &n) && n == old.len) return read_key_values(old, row, err);
    if (!take_varint(&message, &length) || length != message.len)
        return bad("its length is wrong", err);
    return read_message(message, row, err);
}
