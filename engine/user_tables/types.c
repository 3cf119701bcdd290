/* Types of values and of key parts: from their text form to bytes and back. */
#include "engine/user_tables/user_tables_internal.h"

#include "base/hex.h"
#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/number.h"
#include "base/utf8.h"
#include "storage/tables.h"

static const char *const names[] = {
    [GF_TYPE_TEXT] = "text",     [GF_TYPE_BYTES] = "bytes",     [GF_TYPE_INT64] = "int64",
    [GF_TYPE_UINT64] = "uint64", [GF_TYPE_DECIMAL] = "decimal", [GF_TYPE_FLOAT] = "float",
    [GF_TYPE_JSON] = "json",     [GF_TYPE_NUMBER] = "number",   [GF_TYPE_VARINT] = "varint",
    [GF_TYPE_SIGNED] = "signed", [GF_TYPE_FLOAT32] = "float32", [GF_TYPE_POINT] = "point",
    [GF_TYPE_RANK] = "rank",     [GF_TYPE_ESCAPED] = "escaped", [GF_TYPE_BINARY] = "binary"};

const char *gf_type_name(gf_type type)
{
    return names[type];
}

bool gf_type_named(gf_slice name, gf_type *type)
{
    for (unsigned i = 0; i <= GF_TYPE_JSON; i++)
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
                                         [GF_TYPE_JSON] = "JSON",
                                         [GF_TYPE_NUMBER] = "a number",
                                         [GF_TYPE_VARINT] = "a whole number",
                                         [GF_TYPE_SIGNED] = "a whole number",
                                         [GF_TYPE_FLOAT32] = "a number",
                                         [GF_TYPE_POINT] = "a value that can be given",
                                         [GF_TYPE_RANK] = "a score and an id",
                                         [GF_TYPE_ESCAPED] = "text with bytes as \\xHH",
                                         [GF_TYPE_BINARY] = "hexadecimal"};
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

/* ---- types of the program's own tables ------------------------------------------------------- */

/* strchr finds NUL in every string. */
static bool is_hex_digit(char c)
{
    return c && strchr("0123456789abcdefABCDEF", c);
}

static bool is_escaped(gf_slice text, size_t at)
{
    gf_slice digits = at + 4 <= text.len ? gf_slice_of(text.ptr + at + 2, 2) : (gf_slice){0};
    return text.ptr[at] == '\\' && digits.len && text.ptr[at + 1] == 'x' &&
           is_hex_digit(digits.ptr[0]) && is_hex_digit(digits.ptr[1]);
}

static bool write_escaped(gf_slice text, gf_buffer *bytes)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_escaped(text, i)) {
            gf_buffer_byte(bytes, text.ptr[i]);
            continue;
        }
        gf_hex_read(gf_slice_of(text.ptr + i + 2, 2), bytes);
        i += 3;
    }
    return true;
}

/* Printable ASCII as it is, but for what would be read as an escape. */
static void print_escaped(gf_slice bytes, gf_buffer *text)
{
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i] >= ' ' && bytes.ptr[i] <= '~' && !is_escaped(bytes, i)) {
            gf_buffer_byte(text, bytes.ptr[i]);
            continue;
        }
        gf_buffer_str(text, "\\x");
        gf_hex_append(text, gf_slice_of(bytes.ptr + i, 1));
    }
}

/* "0.75 doc3": the score, and the document's id. */
static bool write_rank(gf_slice text, gf_buffer *bytes)
{
    double score;
    const char *space = text.len ? memchr(text.ptr, ' ', text.len) : NULL;
    size_t n = space ? (size_t)(space - text.ptr) : 0;
    if (!space || !gf_number_read_decimal(gf_slice_of(text.ptr, n), &score)) return false;
    gf_tables_rank_write(bytes, (float)score, gf_slice_skip(text, n + 1));
    return true;
}

static bool print_rank(gf_slice bytes, gf_buffer *text)
{
    float score;
    gf_slice id;
    if (!gf_tables_rank_read(bytes, &score, &id) || gf_utf8_valid_length(id) != id.len ||
        score - score != 0)
        return false;
    gf_json_append_float(text, score);
    gf_buffer_byte(text, ' ');
    gf_buffer_slice(text, id);
    return true;
}

static bool take_float32(gf_slice bytes, float *v)
{
    if (bytes.len < 4) return false;
    uint32_t bits = gf_read_u32be(bytes.ptr);
    memcpy(v, &bits, sizeof bits);
    return *v - *v == 0; /* finite */
}

static bool print_float32(gf_slice bytes, gf_buffer *text)
{
    float v;
    if (bytes.len != 4 || !take_float32(bytes, &v)) return false;
    gf_json_append_float(text, v);
    return true;
}

static bool print_point(gf_slice bytes, gf_buffer *text)
{
    float latitude, longitude;
    if (bytes.len != 8 || !take_float32(bytes, &latitude) ||
        !take_float32(gf_slice_skip(bytes, 4), &longitude))
        return false;
    gf_buffer_byte(text, '[');
    gf_json_append_float(text, latitude);
    gf_buffer_byte(text, ',');
    gf_json_append_float(text, longitude);
    gf_buffer_byte(text, ']');
    return true;
}

static bool print_varint(gf_slice bytes, bool has_sign, gf_buffer *text)
{
    uint64_t v;
    if (!gf_slice_take_varint(&bytes, &v) || bytes.len) return false;
    if (has_sign)
        print_int64(v % 2 ? -(int64_t)(v / 2) - 1 : (int64_t)(v / 2), text);
    else
        print_uint64(v, text);
    return true;
}

static bool print_own(gf_type type, gf_slice bytes, gf_buffer *text)
{
    double number;
    switch (type) {
    case GF_TYPE_NUMBER:
        if (!gf_number_read_decimal(bytes, &number)) return false;
        gf_buffer_slice(text, bytes);
        return true;
    case GF_TYPE_VARINT:
    case GF_TYPE_SIGNED:
        return print_varint(bytes, type == GF_TYPE_SIGNED, text);
    case GF_TYPE_FLOAT32:
        return print_float32(bytes, text);
    case GF_TYPE_POINT:
        return print_point(bytes, text);
    case GF_TYPE_RANK:
        return print_rank(bytes, text);
    case GF_TYPE_ESCAPED:
        print_escaped(bytes, text);
        return true;
    default: /* binary: no text form */
        return false;
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

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
    case GF_TYPE_JSON:
        return write_json(text, bytes, err);
    case GF_TYPE_RANK:
        good = write_rank(text, bytes);
        break;
    case GF_TYPE_ESCAPED:
        good = write_escaped(text, bytes);
        break;
    default: /* of values alone, which only the program writes */
        good = false;
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
    case GF_TYPE_JSON:
        return print_json(bytes, text);
    default:
        return print_own(type, bytes, text);
    }
}

/* ---- key parts ------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    gf_type type;
    bool raw, descending;
} part_words[] = {
    {"text", GF_TYPE_TEXT, false, false},       {"bytes", GF_TYPE_BYTES, false, false},
    {"int64", GF_TYPE_INT64, false, false},     {"uint64", GF_TYPE_UINT64, false, false},
    {"int64-desc", GF_TYPE_INT64, false, true}, {"uint64-desc", GF_TYPE_UINT64, false, true},
    {"raw", GF_TYPE_BYTES, true, false},
};
enum { N_PART_WORDS = sizeof part_words / sizeof part_words[0] };

const char *gf_user_table_part_word(const gf_user_part *part)
{
    for (int i = 0; i < N_PART_WORDS; i++)
        if (part_words[i].type == part->type && part_words[i].raw == (part->width > 0) &&
            part_words[i].descending == part->descending)
            return part_words[i].word;
    return gf_type_name(part->type);
}

bool gf_user_table_part_named(gf_slice word, gf_user_part *part, bool *raw)
{
    for (int i = 0; i < N_PART_WORDS; i++) {
        if (!gf_slice_equal(word, gf_slice_str(part_words[i].word))) continue;
        part->type = part_words[i].type;
        part->descending = part_words[i].descending;
        *raw = part_words[i].raw;
        return true;
    }
    return false;
}

/*
 * Bytes that sort as the numbers do: numbers with a sign have that bit turned round, those that
 * fall are taken off the greatest of their type. Done twice, it is the number again.
 */
static uint64_t sortable(const gf_user_part *part, uint64_t v)
{
    if (part->type == GF_TYPE_UINT64) return part->descending ? ~v : v;
    return part->descending ? (uint64_t)INT64_MAX - v : v ^ UINT64_C(1) << 63;
}

/* A number of less than 8 bytes: all that are left out say its sign. */
static bool fits_width(const gf_user_part *part, gf_slice value)
{
    bool number = part->type == GF_TYPE_INT64 || part->type == GF_TYPE_UINT64;
    if (!number) return value.len == part->width;
    char rest = part->type == GF_TYPE_INT64 && (value.ptr[8 - part->width] & 0x80) ? '\xff' : 0;
    for (size_t i = 0; i + part->width < 8; i++)
        if (value.ptr[i] != rest) return false;
    return true;
}

static bool print_wide(const gf_user_part *part, gf_slice raw, gf_buffer *text)
{
    if (part->type != GF_TYPE_INT64 && part->type != GF_TYPE_UINT64)
        return gf_user_table_value_print(part->type, raw, text);
    bool negative = part->type == GF_TYPE_INT64 && (raw.ptr[0] & 0x80);
    uint64_t v = negative ? UINT64_MAX : 0;
    for (size_t i = 0; i < raw.len; i++)
        v = v << 8 | (unsigned char)raw.ptr[i];
    if (part->type == GF_TYPE_INT64)
        print_int64((int64_t)v, text);
    else
        print_uint64(v, text);
    return true;
}

gf_status gf_user_table_part_write(const gf_user_part *part, gf_slice text, gf_buffer *key,
                                   gf_error *err)
{
    gf_buffer bytes = {0};
    gf_status st = gf_user_table_value_write(part->type, text, &bytes, err);
    gf_slice value = gf_buffer_view(&bytes);
    if (st == GF_OK && part->width && !fits_width(part, value))
        st = gf_fail(err, GF_EINVAL, "%zu bytes, and not %u", value.len, part->width);
    if (st != GF_OK)
        gf_error_prefix(err, "key part %s", part->name);
    else if (part->width)
        gf_buffer_slice(key, gf_slice_skip(value, value.len - part->width));
    else if (part->type == GF_TYPE_INT64 || part->type == GF_TYPE_UINT64)
        gf_key_u64(key, sortable(part, gf_read_u64be(value.ptr)));
    else
        gf_key_string(key, value);
    gf_buffer_release(&bytes);
    return st == GF_OK ? gf_buffer_check(key, err) : st;
}

gf_status gf_user_table_part_put(const gf_user_part *part, gf_slice bytes, gf_buffer *key,
                                 gf_error *err)
{
    if (part->width) {
        gf_buffer_slice(key, bytes);
    } else if (part->type == GF_TYPE_INT64 || part->type == GF_TYPE_UINT64) {
        uint64_t v = gf_read_u64be(bytes.ptr);
        gf_key_u64(key, part->descending ? v : sortable(part, v));
    } else {
        if (part->type == GF_TYPE_TEXT && gf_utf8_valid_length(bytes) != bytes.len)
            return gf_fail(
                err, GF_EINVAL,
                "key part %s: the bytes are not UTF-8, which a part of type bytes need not be",
                part->name);
        gf_key_string(key, bytes);
    }
    return gf_buffer_check(key, err);
}

gf_status gf_user_table_part_take(const gf_user_part *part, gf_slice *key, gf_buffer *text,
                                  gf_error *err)
{
    uint64_t v;
    gf_slice raw;
    gf_buffer bytes = {0};
    bool good;
    if (part->width) {
        good = gf_slice_take_bytes(key, part->width, &raw) && print_wide(part, raw, text);
    } else if (part->type == GF_TYPE_INT64 || part->type == GF_TYPE_UINT64) {
        good = gf_key_take_u64(key, &v);
        if (good && part->type == GF_TYPE_INT64)
            print_int64((int64_t)sortable(part, v), text);
        else if (good)
            print_uint64(sortable(part, v), text);
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
