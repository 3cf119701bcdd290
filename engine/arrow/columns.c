#include "engine/arrow/columns.h"

#include "base/clock.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEPTH = 4, VIEW_BYTES = 16, VIEW_INLINE = 12 };

/* ---- types ----------------------------------------------------------------------------------- */

static bool is_integer_format(char c, unsigned *width, bool *is_signed)
{
    static const char letters[] = "cCsSiIlL";
    const char *at = c ? strchr(letters, c) : NULL;
    if (!at) return false;
    *width = 1u << ((at - letters) / 2);
    *is_signed = (at - letters) % 2 == 0;
    return true;
}

static bool read_unit(char c, int64_t *unit)
{
    static const char letters[] = "smun";
    static const int64_t units[] = {1, 1000, 1000000, 1000000000};
    const char *at = c ? strchr(letters, c) : NULL;
    if (at) *unit = units[at - letters];
    return at != NULL;
}

static gf_arrow_kind read_temporal(gf_arrow_column *c, const char *format)
{
    if (strcmp(format, "tdD") == 0) {
        c->width = 4;
        c->unit = 0;
        return GF_ARROW_DATE;
    }
    c->width = 8;
    if (strcmp(format, "tdm") == 0) {
        c->unit = 1000;
        return GF_ARROW_DATE;
    }
    bool known =
        format[0] == 't' && format[1] == 's' && read_unit(format[2], &c->unit) && format[3] == ':';
    return known ? GF_ARROW_TIMESTAMP : GF_ARROW_OTHER;
}

static gf_arrow_kind read_list(gf_arrow_column *c, const char *format)
{
    char *end;
    if (strcmp(format, "+l") == 0 || strcmp(format, "+L") == 0) {
        c->width = format[1] == 'l' ? 4 : 8;
        return GF_ARROW_LIST;
    }
    if (strncmp(format, "+w:", 3) != 0) return GF_ARROW_OTHER;
    long long items = strtoll(format + 3, &end, 10);
    if (end == format + 3 || *end || items < 0 || items > INT32_MAX) return GF_ARROW_OTHER;
    c->items = items;
    return GF_ARROW_FIXED_LIST;
}

static gf_arrow_kind read_format(gf_arrow_column *c, const char *format)
{
    if (strcmp(format, "vu") == 0) return GF_ARROW_TEXT_VIEW;
    if (format[0] == '+') return read_list(c, format);
    if (format[0] == 't') return read_temporal(c, format);
    if (format[0] == '\0' || format[1] != '\0') return GF_ARROW_OTHER;
    if (is_integer_format(format[0], &c->width, &c->is_signed)) return GF_ARROW_INTEGER;
    switch (format[0]) {
    case 'n':
        return GF_ARROW_NULL;
    case 'b':
        return GF_ARROW_BOOL;
    case 'f':
        c->width = 4;
        return GF_ARROW_FLOAT;
    case 'g':
        c->width = 8;
        return GF_ARROW_FLOAT;
    case 'u':
        c->width = 4;
        return GF_ARROW_TEXT;
    case 'U':
        c->width = 8;
        return GF_ARROW_TEXT;
    default:
        return GF_ARROW_OTHER;
    }
}

gf_status gf_arrow_column_init(gf_arrow_column *column, const struct ArrowSchema *schema,
                               unsigned depth, gf_error *err)
{
    gf_arrow_column c = {.schema = schema};
    if (!schema || !schema->release || !schema->format)
        return gf_fail(err, GF_EINVAL, "a column of the Arrow schema has no format");
    c.kind = read_format(&c, schema->format);
    const struct ArrowSchema *values = NULL;
    if (schema->dictionary) {
        if (c.kind != GF_ARROW_INTEGER)
            return gf_fail(err, GF_EINVAL,
                           "column \"%s\": the indexes of a dictionary are integers",
                           gf_arrow_column_name(&c));
        c.kind = GF_ARROW_DICTIONARY;
        values = schema->dictionary;
    } else if (c.kind == GF_ARROW_LIST || c.kind == GF_ARROW_FIXED_LIST) {
        if (schema->n_children != 1 || !schema->children)
            return gf_fail(err, GF_EINVAL, "column \"%s\": a list has one child",
                           gf_arrow_column_name(&c));
        values = schema->children[0];
    }
    if (values && depth >= MOST_DEPTH) {
        c.kind = GF_ARROW_OTHER;
        values = NULL;
    }
    if (values) {
        c.values = gf_calloc(1, sizeof *c.values);
        if (!c.values) return gf_fail_memory(err, "a column");
        gf_status st = gf_arrow_column_init(c.values, values, depth + 1, err);
        if (st != GF_OK) {
            gf_free(c.values);
            return st;
        }
        if (c.values->kind == GF_ARROW_OTHER) c.kind = GF_ARROW_OTHER;
    }
    *column = c;
    return GF_OK;
}

void gf_arrow_column_release(gf_arrow_column *c)
{
    if (c->values) gf_arrow_column_release(c->values);
    gf_free(c->values);
    *c = (gf_arrow_column){0};
}

const char *gf_arrow_column_name(const gf_arrow_column *c)
{
    return c->schema->name ? c->schema->name : "";
}

void gf_arrow_column_describe(const gf_arrow_column *c, gf_buffer *out)
{
    static const char *const names[] = {[GF_ARROW_NULL] = "null",
                                        [GF_ARROW_BOOL] = "bool",
                                        [GF_ARROW_TEXT] = "string",
                                        [GF_ARROW_TEXT_VIEW] = "string",
                                        [GF_ARROW_DATE] = "date",
                                        [GF_ARROW_TIMESTAMP] = "timestamp",
                                        [GF_ARROW_LIST] = "list",
                                        [GF_ARROW_FIXED_LIST] = "list of fixed size",
                                        [GF_ARROW_DICTIONARY] = "dictionary"};
    switch (c->kind) {
    case GF_ARROW_OTHER:
        gf_buffer_format(out, "Arrow's \"%.40s\"", c->schema->format);
        break;
    case GF_ARROW_INTEGER:
        gf_buffer_format(out, "%sint%u", c->is_signed ? "" : "u", c->width * 8);
        break;
    case GF_ARROW_FLOAT:
        gf_buffer_str(out, c->width == 4 ? "float" : "double");
        break;
    default:
        gf_buffer_str(out, names[c->kind]);
    }
    if (!c->values) return;
    gf_buffer_str(out, " of ");
    gf_arrow_column_describe(c->values, out);
}

bool gf_arrow_column_is_text(const gf_arrow_column *c)
{
    if (c->kind == GF_ARROW_DICTIONARY) c = c->values;
    return c->kind == GF_ARROW_TEXT || c->kind == GF_ARROW_TEXT_VIEW || c->kind == GF_ARROW_NULL;
}

bool gf_arrow_column_is_integer(const gf_arrow_column *c)
{
    if (c->kind == GF_ARROW_DICTIONARY) c = c->values;
    return c->kind == GF_ARROW_INTEGER;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static gf_status fail_unsound(const gf_arrow_column *c, const char *what, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "column \"%.200s\": the Arrow array is not sound: %s",
                   gf_arrow_column_name(c), what);
}

/* Values from the start of the buffers up to the last one that is used. */
static int64_t reach(const struct ArrowArray *a)
{
    return a->offset + a->length;
}

static int64_t offset_at(const gf_arrow_column *c, int64_t i)
{
    const void *offsets = c->array->buffers[1];
    return c->width == 4 ? ((const int32_t *)offsets)[i] : ((const int64_t *)offsets)[i];
}

/* Offsets never fall, and of a list end within its values. */
static gf_status check_offsets(const gf_arrow_column *c, int64_t *end, gf_error *err)
{
    const struct ArrowArray *a = c->array;
    *end = 0;
    if (a->length == 0) return GF_OK;
    if (!a->buffers[1]) return fail_unsound(c, "it has no offsets", err);
    int64_t before = 0;
    for (int64_t i = a->offset; i <= reach(a); i++) {
        int64_t at = offset_at(c, i);
        if (at < before) return fail_unsound(c, "its offsets fall", err);
        before = at;
    }
    *end = before;
    return GF_OK;
}

static gf_status bind_values(gf_arrow_column *c, const struct ArrowArray *values, int64_t least,
                             gf_error *err)
{
    if (!values || !values->release) return fail_unsound(c, "its values are missing", err);
    return gf_arrow_column_bind(c->values, values, least, err);
}

static gf_status bind_list(gf_arrow_column *c, gf_error *err)
{
    const struct ArrowArray *a = c->array;
    int64_t end;
    if (a->n_children != 1 || !a->children) return fail_unsound(c, "a list has one child", err);
    if (c->kind == GF_ARROW_LIST) {
        gf_status st = check_offsets(c, &end, err);
        if (st != GF_OK) return st;
    } else if (c->items && reach(a) > INT64_MAX / c->items) {
        return fail_unsound(c, "it is too long", err);
    } else {
        end = reach(a) * c->items;
    }
    return bind_values(c, a->children[0], end, err);
}

static gf_status bind_text(gf_arrow_column *c, gf_error *err)
{
    int64_t end;
    gf_status st = check_offsets(c, &end, err);
    if (st == GF_OK && end > 0 && !c->array->buffers[2])
        st = fail_unsound(c, "it has offsets and no bytes", err);
    return st;
}

static gf_status bind_plain(gf_arrow_column *c, gf_error *err)
{
    const struct ArrowArray *a = c->array;
    if (a->length && !a->buffers[1]) return fail_unsound(c, "it has no values", err);
    return c->kind == GF_ARROW_DICTIONARY ? bind_values(c, a->dictionary, 0, err) : GF_OK;
}

static int64_t buffers_of(gf_arrow_kind kind)
{
    switch (kind) {
    case GF_ARROW_NULL:
        return 0;
    case GF_ARROW_TEXT:
    case GF_ARROW_TEXT_VIEW:
        return 3;
    case GF_ARROW_FIXED_LIST:
        return 1;
    default:
        return 2;
    }
}

gf_status gf_arrow_column_bind(gf_arrow_column *c, const struct ArrowArray *a, int64_t rows,
                               gf_error *err)
{
    int64_t n = buffers_of(c->kind);
    c->array = a;
    if (c->kind == GF_ARROW_OTHER) return GF_OK;
    if (a->length < rows || a->offset < 0 || a->length < 0 || a->offset > INT64_MAX - a->length - 1)
        return fail_unsound(c, "its length or offset", err);
    if (c->kind == GF_ARROW_NULL) return GF_OK; /* some make a buffer for it, and it says nothing */
    bool counted = c->kind == GF_ARROW_TEXT_VIEW ? a->n_buffers >= n : a->n_buffers == n;
    if (!counted || (n && !a->buffers)) return fail_unsound(c, "its number of buffers", err);
    switch (c->kind) {
    case GF_ARROW_NULL:
        return GF_OK;
    case GF_ARROW_TEXT:
        return bind_text(c, err);
    case GF_ARROW_LIST:
    case GF_ARROW_FIXED_LIST:
        return bind_list(c, err);
    default:
        return bind_plain(c, err);
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool bit_at(const void *bits, int64_t i)
{
    return ((const unsigned char *)bits)[i / 8] >> (i % 8) & 1;
}

/* An integer as two: of a uint64 beyond INT64_MAX the sign is lost, which `is_signed` tells. */
static int64_t integer_at(const gf_arrow_column *c, int64_t i)
{
    const void *p = c->array->buffers[1];
    i += c->array->offset;
    switch (c->width) {
    case 1:
        return c->is_signed ? ((const int8_t *)p)[i] : ((const uint8_t *)p)[i];
    case 2:
        return c->is_signed ? ((const int16_t *)p)[i] : ((const uint16_t *)p)[i];
    case 4:
        return c->is_signed ? ((const int32_t *)p)[i] : (int64_t)((const uint32_t *)p)[i];
    default:
        return ((const int64_t *)p)[i];
    }
}

/* The place of a dictionary's value; -1 where there is none such. */
static int64_t place_at(const gf_arrow_column *c, int64_t i)
{
    int64_t place = integer_at(c, i);
    return place >= 0 && place < c->values->array->length ? place : -1;
}

bool gf_arrow_column_is_null(const gf_arrow_column *c, int64_t i)
{
    const struct ArrowArray *a = c->array;
    if (c->kind == GF_ARROW_NULL) return true;
    if (a->null_count != 0 && a->buffers[0] && !bit_at(a->buffers[0], a->offset + i)) return true;
    if (c->kind != GF_ARROW_DICTIONARY) return false;
    int64_t place = place_at(c, i);
    return place >= 0 && gf_arrow_column_is_null(c->values, place);
}

/* A view: its length, then the bytes, or four of them, the buffer's number and the place in it. */
static gf_status view_at(const gf_arrow_column *c, int64_t i, gf_slice *text, gf_error *err)
{
    const struct ArrowArray *a = c->array;
    const char *view = (const char *)a->buffers[1] + (a->offset + i) * VIEW_BYTES;
    int32_t head[4];
    memcpy(head, view, sizeof head);
    if (head[0] < 0) return fail_unsound(c, "a string of negative length", err);
    if (head[0] <= VIEW_INLINE) {
        *text = gf_slice_of(view + 4, (size_t)head[0]);
        return GF_OK;
    }
    int64_t n_data = a->n_buffers - 3; /* validity, views, ..., lengths of the data */
    const int64_t *lengths = a->buffers[a->n_buffers - 1];
    if (head[2] < 0 || head[2] >= n_data || head[3] < 0 || !lengths || !a->buffers[2 + head[2]] ||
        (int64_t)head[3] + head[0] > lengths[head[2]])
        return fail_unsound(c, "a string lies outside of its buffers", err);
    *text = gf_slice_of((const char *)a->buffers[2 + head[2]] + head[3], (size_t)head[0]);
    return GF_OK;
}

gf_status gf_arrow_column_text(const gf_arrow_column *c, int64_t i, gf_slice *text, gf_error *err)
{
    if (c->kind == GF_ARROW_DICTIONARY) {
        i = place_at(c, i);
        c = c->values;
        if (i < 0) return fail_unsound(c, "an index is beyond its dictionary", err);
    }
    if (c->kind == GF_ARROW_TEXT_VIEW) return view_at(c, i, text, err);
    i += c->array->offset;
    int64_t from = offset_at(c, i), to = offset_at(c, i + 1);
    const char *bytes = c->array->buffers[2];
    *text = gf_slice_of(bytes ? bytes + from : "", (size_t)(to - from));
    return GF_OK;
}

static gf_status append_text(const gf_arrow_column *c, int64_t i, gf_buffer *json, gf_error *err)
{
    gf_slice text;
    gf_status st = gf_arrow_column_text(c, i, &text, err);
    if (st != GF_OK) return st;
    if (!gf_utf8_is_valid(text))
        return gf_fail(err, GF_EINVAL, "column \"%.200s\" is not valid UTF-8",
                       gf_arrow_column_name(c));
    gf_json_append_string(json, text);
    return GF_OK;
}

static void append_integer(const gf_arrow_column *c, int64_t i, gf_buffer *json)
{
    int64_t v = integer_at(c, i);
    if (c->is_signed)
        gf_buffer_format(json, "%" PRId64, v);
    else
        gf_buffer_format(json, "%" PRIu64, (uint64_t)v);
}

static void append_float(const gf_arrow_column *c, int64_t i, gf_buffer *json)
{
    const void *p = c->array->buffers[1];
    i += c->array->offset;
    if (c->width == 4) {
        float v = ((const float *)p)[i];
        if (isfinite(v)) gf_json_append_float(json, v);
    } else {
        double v = ((const double *)p)[i];
        if (isfinite(v)) gf_json_append_double(json, v);
    }
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Dates by themselves, timestamps with milliseconds; those of a time zone are of UTC already. */
static gf_status append_time(const gf_arrow_column *c, int64_t i, gf_buffer *json, gf_error *err)
{
    static const int64_t day = 86400000;
    const void *p = c->array->buffers[1];
    i += c->array->offset;
    int64_t v = c->width == 4 ? ((const int32_t *)p)[i] : ((const int64_t *)p)[i];
    int64_t ms;
    bool fits = !__builtin_mul_overflow(v, c->unit == 0 ? day : 1000, &ms);
    if (c->unit >= 1000) {
        ms = floor_divide(v, c->unit / 1000);
        fits = true;
    }
    if (!fits || ms < GF_CLOCK_LEAST || ms > GF_CLOCK_MOST)
        return gf_fail(err, GF_EINVAL, "column \"%.200s\" is not of the years 1 to 9999",
                       gf_arrow_column_name(c));
    gf_buffer_byte(json, '"');
    if (c->kind == GF_ARROW_DATE)
        gf_clock_write_date(json, ms);
    else
        gf_clock_write_iso(json, ms);
    gf_buffer_byte(json, '"');
    return GF_OK;
}

static gf_status append_list(const gf_arrow_column *c, int64_t i, gf_buffer *json, gf_error *err)
{
    int64_t at = c->array->offset + i;
    int64_t from = c->kind == GF_ARROW_LIST ? offset_at(c, at) : at * c->items;
    int64_t to = c->kind == GF_ARROW_LIST ? offset_at(c, at + 1) : from + c->items;
    gf_status st = GF_OK;
    gf_buffer_byte(json, '[');
    for (int64_t k = from; k < to && st == GF_OK; k++) {
        if (k > from) gf_buffer_byte(json, ',');
        size_t before = json->len;
        st = gf_arrow_column_json(c->values, k, json, err);
        if (json->len == before) gf_buffer_str(json, "null");
    }
    gf_buffer_byte(json, ']');
    return st;
}

gf_status gf_arrow_column_json(const gf_arrow_column *c, int64_t i, gf_buffer *json, gf_error *err)
{
    if (gf_arrow_column_is_null(c, i)) return GF_OK;
    if (c->kind == GF_ARROW_DICTIONARY) {
        i = place_at(c, i);
        c = c->values;
        if (i < 0) return fail_unsound(c, "an index is beyond its dictionary", err);
    }
    switch (c->kind) {
    case GF_ARROW_BOOL:
        gf_buffer_str(json, bit_at(c->array->buffers[1], c->array->offset + i) ? "true" : "false");
        return GF_OK;
    case GF_ARROW_INTEGER:
        append_integer(c, i, json);
        return GF_OK;
    case GF_ARROW_FLOAT:
        append_float(c, i, json);
        return GF_OK;
    case GF_ARROW_TEXT:
    case GF_ARROW_TEXT_VIEW:
        return append_text(c, i, json, err);
    case GF_ARROW_DATE:
    case GF_ARROW_TIMESTAMP:
        return append_time(c, i, json, err);
    case GF_ARROW_LIST:
    case GF_ARROW_FIXED_LIST:
        return append_list(c, i, json, err);
    default:
        return GF_OK;
    }
}
