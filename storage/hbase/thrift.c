#include "storage/hbase/thrift.h"

#include <assert.h>

enum {
    LENGTH = 4 /* bytes of a frame's */,
    DEEPEST = 32 /* of structs, lists and maps in each other */
};

static const uint32_t version_1 = 0x80010000;

/* ---- writing --------------------------------------------------------------------------------- */

static void put_u16(gf_buffer *b, uint16_t v)
{
    gf_buffer_byte(b, (char)(v >> 8));
    gf_buffer_byte(b, (char)(v & 0xFF));
}

void gf_thrift_begin(gf_buffer *b, gf_thrift_kind kind, const char *name, uint32_t number)
{
    gf_buffer_reset(b);
    gf_buffer_u32be(b, 0); /* the frame's length, when it is known */
    gf_buffer_u32be(b, version_1 | (uint32_t)kind);
    gf_thrift_string(b, gf_slice_str(name));
    gf_buffer_u32be(b, number);
}

gf_status gf_thrift_end(gf_buffer *b, gf_error *err)
{
    gf_thrift_stop(b);
    gf_status st = gf_buffer_check(b, err);
    if (st != GF_OK) return st;
    size_t n = b->len - LENGTH;
    if (n > INT32_MAX) return gf_fail(err, GF_ELIMIT, "a message of more than 2 GiB");
    for (int i = 0; i < LENGTH; i++)
        b->ptr[i] = (char)(n >> (8 * (LENGTH - 1 - i)) & 0xFF);
    return GF_OK;
}

void gf_thrift_field(gf_buffer *b, gf_thrift_type type, uint16_t id)
{
    gf_buffer_byte(b, (char)type);
    put_u16(b, id);
}

void gf_thrift_stop(gf_buffer *b)
{
    gf_buffer_byte(b, GF_THRIFT_STOP);
}

void gf_thrift_list(gf_buffer *b, gf_thrift_type type, size_t n)
{
    assert(n <= INT32_MAX);
    gf_buffer_byte(b, (char)type);
    gf_buffer_u32be(b, (uint32_t)n);
}

void gf_thrift_string(gf_buffer *b, gf_slice s)
{
    gf_buffer_u32be(b, (uint32_t)s.len); /* a frame of more than 2 GiB is refused */
    gf_buffer_slice(b, s);
}

void gf_thrift_string_field(gf_buffer *b, uint16_t id, gf_slice s)
{
    gf_thrift_field(b, GF_THRIFT_STRING, id);
    gf_thrift_string(b, s);
}

void gf_thrift_i32_field(gf_buffer *b, uint16_t id, int32_t v)
{
    gf_thrift_field(b, GF_THRIFT_I32, id);
    gf_buffer_u32be(b, (uint32_t)v);
}

void gf_thrift_i64_field(gf_buffer *b, uint16_t id, int64_t v)
{
    gf_thrift_field(b, GF_THRIFT_I64, id);
    gf_buffer_u64be(b, (uint64_t)v);
}

void gf_thrift_bool_field(gf_buffer *b, uint16_t id, bool v)
{
    gf_thrift_field(b, GF_THRIFT_BOOL, id);
    gf_buffer_byte(b, v);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void turn_bad(gf_thrift_reader *r)
{
    r->bad = true;
    r->rest = (gf_slice){0};
}

static gf_slice take_bytes(gf_thrift_reader *r, size_t n)
{
    gf_slice taken = {0};
    if (!r->bad && !gf_slice_take_bytes(&r->rest, n, &taken)) turn_bad(r);
    return taken;
}

static uint8_t take_byte(gf_thrift_reader *r)
{
    gf_slice s = take_bytes(r, 1);
    return s.len ? (uint8_t)s.ptr[0] : 0;
}

static uint16_t take_u16(gf_thrift_reader *r)
{
    unsigned high = take_byte(r), low = take_byte(r);
    return (uint16_t)(high << 8 | low);
}

static uint32_t take_u32(gf_thrift_reader *r)
{
    gf_slice s = take_bytes(r, 4);
    return s.len ? gf_read_u32be(s.ptr) : 0;
}

static uint64_t take_u64(gf_thrift_reader *r)
{
    gf_slice s = take_bytes(r, 8);
    return s.len ? gf_read_u64be(s.ptr) : 0;
}

int32_t gf_thrift_take_i32(gf_thrift_reader *r)
{
    return (int32_t)take_u32(r);
}

int64_t gf_thrift_take_i64(gf_thrift_reader *r)
{
    return (int64_t)take_u64(r);
}

bool gf_thrift_take_bool(gf_thrift_reader *r)
{
    return take_byte(r) != 0;
}

gf_slice gf_thrift_take_string(gf_thrift_reader *r)
{
    uint32_t n = take_u32(r);
    return take_bytes(r, n);
}

bool gf_thrift_take_message(gf_thrift_reader *r, gf_thrift_message *message)
{
    uint32_t head = take_u32(r);
    *message = (gf_thrift_message){.kind = (gf_thrift_kind)(head & 0xFF)};
    message->name = gf_thrift_take_string(r);
    message->number = take_u32(r);
    if ((head & 0xFFFF0000) != version_1 || message->kind < GF_THRIFT_CALL ||
        message->kind > GF_THRIFT_EXCEPTION)
        turn_bad(r);
    return !r->bad;
}

bool gf_thrift_take_field(gf_thrift_reader *r, gf_thrift_type *type, uint16_t *id)
{
    *type = (gf_thrift_type)take_byte(r);
    if (r->bad || *type == GF_THRIFT_STOP) return false;
    *id = take_u16(r);
    return !r->bad;
}

/* The fewest bytes of a value; 0: there is no such type. */
static size_t least_size(gf_thrift_type type)
{
    switch (type) {
    case GF_THRIFT_BOOL:
    case GF_THRIFT_BYTE:
    case GF_THRIFT_STRUCT:
        return 1;
    case GF_THRIFT_I16:
        return 2;
    case GF_THRIFT_I32:
    case GF_THRIFT_STRING:
        return 4;
    case GF_THRIFT_I64:
    case GF_THRIFT_DOUBLE:
        return 8;
    case GF_THRIFT_SET:
    case GF_THRIFT_LIST:
        return 5;
    case GF_THRIFT_MAP:
        return 6;
    default:
        return 0;
    }
}

/* n values of `least` bytes at least; bad where there is no room for them. */
static uint32_t check_number(gf_thrift_reader *r, uint32_t n, size_t least)
{
    if (n && (least == 0 || n > r->rest.len / least)) turn_bad(r);
    return r->bad ? 0 : n;
}

uint32_t gf_thrift_take_list(gf_thrift_reader *r, gf_thrift_type type)
{
    gf_thrift_type is = (gf_thrift_type)take_byte(r);
    uint32_t n = take_u32(r);
    if (n && is != type) turn_bad(r);
    return check_number(r, n, least_size(type));
}

uint32_t gf_thrift_take_map(gf_thrift_reader *r, gf_thrift_type key, gf_thrift_type value)
{
    gf_thrift_type is_key = (gf_thrift_type)take_byte(r);
    gf_thrift_type is_value = (gf_thrift_type)take_byte(r);
    uint32_t n = take_u32(r);
    if (n && (is_key != key || is_value != value)) turn_bad(r);
    return check_number(r, n, least_size(key) + least_size(value));
}

static void skip_value(gf_thrift_reader *r, gf_thrift_type type, int depth);

static void skip_list(gf_thrift_reader *r, int depth)
{
    gf_thrift_type type = (gf_thrift_type)take_byte(r);
    uint32_t n = check_number(r, take_u32(r), least_size(type));
    for (uint32_t i = 0; i < n && !r->bad; i++)
        skip_value(r, type, depth);
}

static void skip_map(gf_thrift_reader *r, int depth)
{
    gf_thrift_type key = (gf_thrift_type)take_byte(r), value = (gf_thrift_type)take_byte(r);
    uint32_t n = take_u32(r);
    if (n && (!least_size(key) || !least_size(value))) turn_bad(r);
    n = check_number(r, n, least_size(key) + least_size(value));
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        skip_value(r, key, depth);
        skip_value(r, value, depth);
    }
}

static void skip_struct(gf_thrift_reader *r, int depth)
{
    gf_thrift_type type;
    uint16_t id;
    while (gf_thrift_take_field(r, &type, &id))
        skip_value(r, type, depth);
}

static void skip_value(gf_thrift_reader *r, gf_thrift_type type, int depth)
{
    if (depth == DEEPEST) turn_bad(r);
    if (r->bad) return;
    switch (type) {
    case GF_THRIFT_STRING:
        gf_thrift_take_string(r);
        break;
    case GF_THRIFT_STRUCT:
        skip_struct(r, depth + 1);
        break;
    case GF_THRIFT_MAP:
        skip_map(r, depth + 1);
        break;
    case GF_THRIFT_SET:
    case GF_THRIFT_LIST:
        skip_list(r, depth + 1);
        break;
    default:
        if (least_size(type))
            take_bytes(r, least_size(type));
        else
            turn_bad(r);
    }
}

void gf_thrift_skip(gf_thrift_reader *r, gf_thrift_type type)
{
    skip_value(r, type, 0);
}

gf_slice gf_thrift_take_raw(gf_thrift_reader *r, gf_thrift_type type)
{
    gf_slice before = r->rest;
    gf_thrift_skip(r, type);
    return r->bad ? (gf_slice){0} : gf_slice_of(before.ptr, before.len - r->rest.len);
}
