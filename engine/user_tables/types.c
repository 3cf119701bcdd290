/* Types of values and of key parts: from their text form to bytes and back. */
#include "engine/user_tables/user_tables_internal.h"

#include "base/hex.h"
#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/number.h"
#include "base/utf8.h"

static const char *const names[] = {
    [GF_TYPE_TEXT] = "text",     [GF_TYPE_BYTES] = "bytes",     [GF_TYPE_INT64] = "int64",
    [GF_TYPE_UINT64] = "uint64", [GF_TYPE_DECIMAL] = "decimal", [GF_TYPE_FLOAT] = "float",
    [GF_TYPE_JSON] = "json"};
enum { N_TYPES = sizeof names / sizeof names[0] };

const char *gf_type_name(gf_type type)
{
    return names[type];
}

bool gf_type_named(gf_slice name, gf_type *type)
{
    for (unsigned i = 0; i < N_TYPES; i++)
        if (gf_slice_equal(name, gf_slice_str(names[i]))) {
            *type = (gf_type)i;
            return true;
        }
    return false;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void print_uint64(uint64_t v, gf_buffer *text)
{
    gf_number_digits digits;
    gf_buffer_slice(text, gf_number_write(&digits, v));
}

static void print_int64(int64_t v, gf_buffer *text)
{
    if (v < 0) gf_buffer_byte(text, '-');
    print_uint64(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, text);
}

static void write_double(double v, gf_buffer *bytes)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    gf_buffer_u64be(bytes, bits);
}

static bool take_double(gf_slice bytes, double *v)
{
    if (bytes.len != 8) return false;
    uint64_t bits = gf_read_u64be(bytes.ptr);
    memcpy(v, &bits, sizeof bits);
    return *v - *v == 0; /* finite */
}

/* ---- values ---------------------------------------------------------------------------------- */

static gf_status none(gf_type type, gf_slice text, gf_error *err)
{
    static const char *const wanted[] = {[GF_TYPE_TEXT] = "valid UTF-8",
                                         [GF_TYPE_BYTES] = "hexadecimal",
                                         [GF_TYPE_INT64] = "a whole number of 64 bits",
                                         [GF_TYPE_UINT64] = "a whole number from 0 to 2^64 - 1",
                                         [GF_TYPE_DECIMAL] = "a whole number of 64 bits",
                                         [GF_TYPE_FLOAT] = "a number",
                                         [GF_TYPE_JSON] = "JSON"};
    size_t shown = gf_utf8_cut(text, gf_utf8_valid_length(text) < 60 ? text.len : 60).len;
    if (gf_utf8_valid_length(text) != text.len) shown = 0;
    return gf_fail(err, GF_EINVAL, "\"%.*s\" is not %s", (int)shown, shown ? text.ptr : "",
                   wanted[type]);
}

static gf_status write_json(gf_slice text, gf_buffer *bytes, gf_error *err)
{
    gf_json_parser *parser;
    gf_json_value v;
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    st = gf_json_parse_copy(parser, text, &v, err);
    if (st == GF_OK) st = gf_json_write(v, bytes, err);
    gf_json_parser_free(parser);
    return st;
}

gf_status gf_user_table_value_write(gf_type type, gf_slice text, gf_buffer *bytes, gf_error *err)
{
    int64_t i;
    uint64_t u;
    double d;
    bool good;
    switch (type) {
    case GF_TYPE_TEXT:
        good = gf_utf8_valid_length(text) == text.len;
        if (good) gf_buffer_slice(bytes, text);
        break;
    case GF_TYPE_BYTES:
        good = gf_hex_read(text, bytes);
        break;
    case GF_TYPE_INT64:
        good = gf_number_read_signed(text, &i);
        if (good) gf_buffer_u64be(bytes, (uint64_t)i);
        break;
    case GF_TYPE_UINT64:
        good = gf_number_read(text, &u);
        if (good) gf_buffer_u64be(bytes, u);
        break;
    case GF_TYPE_DECIMAL:
        good = gf_number_read_signed(text, &i);
        if (good) print_int64(i, bytes);
        break;
    case GF_TYPE_FLOAT:
        good = gf_number_read_decimal(text, &d);
        if (good) write_double(d, bytes);
        break;
    default:
        return write_json(text, bytes, err);
    }
    return good ? gf_buffer_check(bytes, err) : none(type, text, err);
}

/* A value that says JSON is printed as it is stored, without line feeds, if it is that. */
static bool print_json(gf_slice bytes, gf_buffer *text)
{
    gf_buffer compact = {0};
    gf_status st = write_json(bytes, &compact, NULL);
    if (st == GF_ENOMEM) text->state = GF_ENOMEM;
    if (st == GF_OK) gf_buffer_slice(text, gf_buffer_view(&compact));
    gf_buffer_release(&compact);
    return st == GF_OK || st == GF_ENOMEM;
}

bool gf_user_table_value_print(gf_type type, gf_slice bytes, gf_buffer *text)
{
    int64_t i;
    double d;
    switch (type) {
    case GF_TYPE_TEXT:
        if (gf_utf8_valid_length(bytes) != bytes.len) return false;
        gf_buffer_slice(text, bytes);
        return true;
    case GF_TYPE_BYTES:
        gf_hex_append(text, bytes);
        return true;
    case GF_TYPE_INT64:
        if (bytes.len != 8) return false;
        print_int64((int64_t)gf_read_u64be(bytes.ptr), text);
        return true;
    case GF_TYPE_UINT64:
        if (bytes.len != 8) return false;
        print_uint64(gf_read_u64be(bytes.ptr), text);
        return true;
    case GF_TYPE_DECIMAL:
        if (!gf_number_read_signed(bytes, &i)) return false;
        print_int64(i, text);
        return true;
    case GF_TYPE_FLOAT:
        if (!take_double(bytes, &d)) return false;
        gf_json_append_double(text, d);
        return true;
    default:
        return print_json(bytes, text);
    }
}

/* ---- key parts ------------------------------------------------------------------------------- */

/* Numbers with a sign are kept with that bit turned round, so that their bytes sort as they do. */
static const uint64_t sign_bit = UINT64_C(1) << 63;

gf_status gf_user_table_part_write(const gf_user_part *part, gf_slice text, gf_buffer *key,
                                   gf_error *err)
{
    gf_buffer bytes = {0};
    gf_status st = gf_user_table_value_write(part->type, text, &bytes, err);
    gf_slice value = gf_buffer_view(&bytes);
    if (st == GF_OK && part->width && value.len != part->width)
        st = gf_fail(err, GF_EINVAL, "%zu bytes, and not %u", value.len, part->width);
    if (st != GF_OK)
        gf_error_prefix(err, "key part %s", part->name);
    else if (part->width)
        gf_buffer_slice(key, value);
    else if (part->type == GF_TYPE_INT64)
        gf_key_u64(key, gf_read_u64be(value.ptr) ^ sign_bit);
    else if (part->type == GF_TYPE_UINT64)
        gf_key_u64(key, gf_read_u64be(value.ptr));
    else
        gf_key_string(key, value);
    gf_buffer_release(&bytes);
    return st == GF_OK ? gf_buffer_check(key, err) : st;
}

gf_status gf_user_table_part_take(const gf_user_part *part, gf_slice *key, gf_buffer *text,
                                  gf_error *err)
{
    uint64_t v;
    gf_slice raw;
    gf_buffer bytes = {0};
    bool good;
    if (part->width) {
        good = gf_slice_take_bytes(key, part->width, &raw);
        if (good) gf_hex_append(text, raw);
    } else if (part->type == GF_TYPE_INT64 || part->type == GF_TYPE_UINT64) {
        good = gf_key_take_u64(key, &v);
        if (good && part->type == GF_TYPE_INT64)
            print_int64((int64_t)(v ^ sign_bit), text);
        else if (good)
            print_uint64(v, text);
    } else {
        good = gf_key_take_string(key, &bytes) && bytes.state == GF_OK &&
               gf_user_table_value_print(part->type, gf_buffer_view(&bytes), text);
        if (bytes.state != GF_OK) text->state = bytes.state;
        good |= bytes.state != GF_OK;
    }
    gf_buffer_release(&bytes);
    if (!good) return gf_fail(err, GF_ECORRUPT, "key part %s is damaged", part->name);
    return gf_buffer_check(text, err);
}
