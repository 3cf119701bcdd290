/*
 * JSON that is not one object per line: an array of objects, or objects one after another in any
 * layout. Values are cut out of the stream by their brackets and parsed one by one, so that the
 * array is never held as a whole:
 *
 *     [  {...} ,  {...} ,  {...}  ]           {...}  {...}
 *      ^       ^        ^                     commas stand only inside an array
 *
 * Where the options say so, the items of an object that a catalogue's server wraps them in are the
 * records, and what stands around them is passed over:
 *
 *     {"items": [ {...}, {...} ]}      {"status": "ok", ..., "message": {..., "items": [ ... ], ...}}
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
    A_SEPARATOR, /* behind a value in an array: ',' or ']' */
    WRAPPER_END  /* behind the items: the rest of the objects around them */
} expectation;

typedef struct json_array {
    gf_parse_context in;
    uint64_t line;
    expectation expects;
    size_t wrapped; /* objects around the array; 0: none */
} json_array;

static gf_status open_json_array(const gf_parse_context *context, void **parser, gf_error *err)
{
    json_array *p = gf_malloc(sizeof *p);
    if (!p) return gf_fail_memory(err, "a reader");
    *p = (json_array){*context, 1, AT_TOP, 0};
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

/* ---- wrappers -------------------------------------------------------------------------------- */

enum { LONGEST_WRAPPER = 64 << 10 };

static bool is_among(gf_slice name, const char *const *names)
{
    while (*names && !gf_slice_equal(name, gf_slice_str(*names)))
        names++;
    return *names != NULL;
}

/* NUL is none, though strchr finds it in every string. */
static bool is_white(char c)
{
    return c && strchr(" \t\r\n", c);
}

static size_t skip_white(gf_slice s, size_t i)
{
    while (i < s.len && is_white(s.ptr[i]))
        i++;
    return i;
}

/* Take a key and its colon: s[*at] is where its value begins then. */
static bool take_key(gf_slice s, size_t *at, gf_slice *key)
{
    size_t i = skip_white(s, *at);
    if (i < s.len && s.ptr[i] == ',') i = skip_white(s, i + 1);
    if (i == s.len || s.ptr[i] != '"') return false;
    const char *end = memchr(s.ptr + i + 1, '"', s.len - i - 1);
    if (!end) return false;
    *key = gf_slice_of(s.ptr + i + 1, (size_t)(end - s.ptr) - i - 1);
    i = skip_white(s, i + key->len + 2);
    if (i == s.len || s.ptr[i] != ':') return false;
    *at = skip_white(s, i + 1);
    return *at < s.len;
}

/*
 * The length of what stands before the items with their bracket, where the object in front is a
 * wrapper of so many levels; else 0. Its own members are known by their names.
 */
static size_t wrapper_length(gf_slice s, size_t *levels)
{
    static const char *const own[] = {"status",         "message-type",  "message-version",
                                      "facets",         "total-results", "next-cursor",
                                      "items-per-page", "query",         NULL};
    gf_slice key;
    size_t at = skip_white(s, 0);
    if (at == s.len || s.ptr[at] != '{') return 0;
    *levels = 1;
    at++;
    while (take_key(s, &at, &key)) {
        if (gf_slice_equal(key, GF_SLICE("items"))) return s.ptr[at] == '[' ? at + 1 : 0;
        if (gf_slice_equal(key, GF_SLICE("message")) && s.ptr[at] == '{' && *levels == 1) {
            ++*levels;
            at++;
            continue;
        }
        value_scan scan = {0};
        bool done = false;
        if (!is_among(key, own)) return 0;
        at += scan_value(&scan, s.ptr + at, s.len - at, &done);
        if (!done) return 0;
    }
    return 0;
}

gf_status gf_format_is_wrapped(gf_read_buffer *buffer, bool *wrapped, gf_error *err)
{
    gf_slice start;
    size_t levels;
    gf_status st = gf_read_buffer_peek(buffer, LONGEST_WRAPPER, &start, err);
    *wrapped = st == GF_OK && wrapper_length(start, &levels) > 0;
    return st;
}

/* Go into the items of a wrapper that is in front. */
static gf_status enter_wrapper(json_array *p, gf_error *err)
{
    gf_slice start;
    gf_status st = gf_read_buffer_peek(p->in.buffer, LONGEST_WRAPPER, &start, err);
    size_t length = st == GF_OK ? wrapper_length(start, &p->wrapped) : 0;
    if (length == 0) {
        p->wrapped = 0;
        return st;
    }
    for (size_t i = 0; i < length; i++)
        p->line += start.ptr[i] == '\n';
    gf_read_buffer_consume(p->in.buffer, length);
    p->expects = FIRST_VALUE;
    return st;
}

/* The rest of the objects around the items: as the rest of a value that was begun. */
static gf_status leave_wrapper(json_array *p, gf_error *err)
{
    value_scan scan = {.depth = p->wrapped, .begun = true};
    gf_record_span span;
    gf_status st = gf_read_buffer_record(p->in.buffer, scan_value, &scan, p->in.bounds, &span, err);
    p->line += scan.lines;
    if (st != GF_OK || scan.depth) return st;
    p->expects = AT_TOP;
    p->wrapped = 0;
    return GF_OK;
}

/* The end of the stream is the end, unless an array is still open. */
static gf_status at_end(json_array *p, gf_parsed_record *parsed)
{
    if (p->expects == AT_TOP) return GF_ENOTFOUND;
    p->expects = AT_TOP;
    p->wrapped = 0;
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
        p->expects = p->wrapped ? WRAPPER_END : AT_TOP;
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
        if (p->expects == WRAPPER_END || (p->expects == AT_TOP && p->in.unwraps)) {
            st = p->expects == AT_TOP ? enter_wrapper(p, err) : leave_wrapper(p, err);
            if (st != GF_OK) return st;
            if (p->expects != AT_TOP) continue;
            unread = gf_read_buffer_unread(p->in.buffer);
            if (unread.len == 0 || is_white(unread.ptr[0])) continue;
        }
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
