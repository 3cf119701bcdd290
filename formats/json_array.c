/*
 * JSON that is not one object per line: an array of objects, or objects one after another in any
 * layout. Values are cut out of the stream by their brackets and parsed one by one, so that the
 * array is never held as a whole:
 *
 *     [  {...} ,  {...} ,  {...}  ]           {...}  {...}
 *      ^       ^        ^                     commas stand only inside an array
 *
 * A value that the parser refuses is one refused record, and reading goes on behind it; a missing
 * quote or bracket swallows the bytes behind it, up to where brackets match again.
 */
#include "formats/format_internal.h"
#include "formats/json_record.h"

#include "base/memory.h"

/* The position of the scanner in a value. */
typedef struct value_scan {
    size_t depth;
    uint64_t lines; /* line feeds passed */
    bool begun, is_scalar, in_string, escaped;
} value_scan;

typedef enum expectation {
    AT_TOP,      /* a value or an array, or the end */
    FIRST_VALUE, /* behind '[': a value or ']' */
    A_VALUE,     /* behind ',' */
    A_SEPARATOR  /* behind a value in an array: ',' or ']' */
} expectation;

typedef struct json_array {
    gf_parse_context in;
    uint64_t line;
    expectation expects;
} json_array;

static gf_status open_json_array(const gf_parse_context *context, void **parser, gf_error *err)
{
    json_array *p = gf_malloc(sizeof *p);
    if (!p) return gf_fail_memory(err, "a reader");
    *p = (json_array){*context, 1, AT_TOP};
    *parser = p;
    return GF_OK;
}

/* Bytes of a string up to and with its closing quote, or all n. */
static size_t scan_string(value_scan *s, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s->escaped) {
            s->escaped = false;
        } else if (p[i] == '\\') {
            s->escaped = true;
        } else if (p[i] == '"') {
            s->in_string = false;
            return i + 1;
        } else if (p[i] == '\n') {
            s->lines++;
        }
    }
    return n;
}

static bool ends_scalar(char c)
{
    return c && strchr(",:[]{}\" \t\r\n", c);
}

/* A number, true, false, null; or one byte that can start no value. */
static size_t scan_scalar(const char *p, size_t n, bool is_first, bool *done)
{
    size_t i = 0;
    while (i < n && !ends_scalar(p[i]))
        i++;
    *done = i < n;
    return is_first && i == 0 ? 1 : i;
}

static size_t scan_value(void *state, const char *p, size_t n, bool *done)
{
    value_scan *s = state;
    size_t i = 0;
    bool is_first = !s->begun;
    s->begun = true;
    if (is_first) s->is_scalar = p[0] != '{' && p[0] != '[' && p[0] != '"';
    if (s->is_scalar) return scan_scalar(p, n, is_first, done);
    while (i < n) {
        char c = p[i];
        if (s->in_string) {
            i += scan_string(s, p + i, n - i);
            if (s->in_string || s->depth) continue;
            *done = true;
            return i;
        }
        i++;
        if (c == '"') s->in_string = true;
        if (c == '\n') s->lines++;
        if (c == '{' || c == '[') s->depth++;
        if ((c == '}' || c == ']') && --s->depth == 0) {
            *done = true;
            return i;
        }
    }
    return n;
}

static gf_status read_value(json_array *p, gf_parsed_record *parsed, gf_error *err)
{
    value_scan scan = {0};
    gf_record_span span;
    gf_status st = gf_read_buffer_record(p->in.buffer, scan_value, &scan, p->in.bounds, &span, err);
    if (st != GF_OK) return st;
    bool comma_missing = p->expects == A_SEPARATOR;
    p->expects = p->expects == AT_TOP ? AT_TOP : A_SEPARATOR;
    parsed->line = p->line;
    parsed->raw = span.raw;
    p->line += scan.lines;
    if (span.too_long) {
        gf_parsed_record_refuse_long(parsed, p->in.max_document);
    } else if (comma_missing) {
        gf_parsed_record_refuse(parsed, "broken_json", "broken JSON: no comma before this value");
    } else {
        return gf_json_record_parse(p->in.json, span.raw, parsed, err);
    }
    return GF_OK;
}

/* The end of the stream is the end, unless an array is still open. */
static gf_status at_end(json_array *p, gf_parsed_record *parsed)
{
    if (p->expects == AT_TOP) return GF_ENOTFOUND;
    p->expects = AT_TOP;
    parsed->line = p->line;
    gf_parsed_record_refuse(parsed, "broken_json",
                            "broken JSON: the array is not closed; the file may be cut");
    return GF_OK;
}

/* Take a bracket or comma between values; false where the next byte starts a value. */
static bool take_separator(json_array *p, char c, bool *is_wrong)
{
    *is_wrong = false;
    if (c == '[' && p->expects == AT_TOP) {
        p->expects = FIRST_VALUE;
    } else if (c == ']' && p->expects != AT_TOP) {
        *is_wrong = p->expects == A_VALUE;
        p->expects = AT_TOP;
    } else if (c == ',' && p->expects != AT_TOP) {
        *is_wrong = p->expects != A_SEPARATOR;
        p->expects = A_VALUE;
    } else {
        return false;
    }
    return true;
}

static gf_status next_value(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    json_array *p = parser;
    for (;;) {
        gf_status st = gf_read_buffer_skip(p->in.buffer, " \t\r\n", &p->line, err);
        if (st != GF_OK) return st;
        gf_slice unread = gf_read_buffer_unread(p->in.buffer);
        if (unread.len == 0) return at_end(p, parsed);
        bool is_wrong;
        if (!take_separator(p, unread.ptr[0], &is_wrong)) return read_value(p, parsed, err);
        gf_read_buffer_consume(p->in.buffer, 1);
        if (!is_wrong) continue;
        parsed->line = p->line;
        parsed->raw = gf_slice_of(unread.ptr, 1);
        gf_parsed_record_refuse(parsed, "broken_json", "broken JSON: no value before %c",
                                unread.ptr[0]);
        return GF_OK;
    }
}

const gf_parser_kind gf_json_array_parser = {open_json_array, next_value, gf_free};
