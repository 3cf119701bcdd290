/*
 * One line of an index: its fields, then the checks that both forms share. The order of the checks
 * is that of the fields' use: a revisit record has - for its status, and is refused for that.
 */
#include "formats/logs/cdx.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/utf8.h"
#include "formats/bytes/sha1.h"

#include <stdio.h>
#include <strings.h>

enum { FIELDS = 11, DATE_DIGITS = 14 };
enum { SURT, DATE, URL, MIME, STATUS, DIGEST, SIZE, OFFSET, WARC, USED };
static const char *const names[USED] = {"surt",   "date", "URL",    "mime", "status",
                                        "digest", "size", "offset", "WARC"};

struct gf_cdx_parser {
    gf_json_parser *json;
    gf_buffer numbers; /* digits of numbers that CDXJ has as such */
    gf_error why;
};

gf_status gf_cdx_parser_create(gf_cdx_parser **parser, gf_error *err)
{
    gf_cdx_parser *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a reader");
    gf_status st = gf_json_parser_create(&p->json, err);
    if (st != GF_OK) {
        gf_free(p);
        return st;
    }
    *parser = p;
    return GF_OK;
}

void gf_cdx_parser_free(gf_cdx_parser *p)
{
    if (!p) return;
    gf_json_parser_free(p->json);
    gf_buffer_release(&p->numbers);
    gf_free(p);
}

/* ---- values ---------------------------------------------------------------------------------- */

const char *gf_cdx_normalise_mime(gf_slice mime)
{
    static const struct {
        const char *prefix, *type;
    } known[] = {{"application/pdf", "application/pdf"},
                 {"application/x-pdf", "application/pdf"},
                 {"application/postscript", "application/postscript"},
                 {"text/html", "text/html"},
                 {"text/xml", "text/xml"},
                 {"application/xml", "text/xml"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].prefix);
        if (mime.len >= n && strncasecmp(mime.ptr, known[i].prefix, n) == 0) return known[i].type;
    }
    return NULL;
}

/* Digits of a number of 63 bits, as offsets in files are. */
static bool is_number(gf_slice s)
{
    uint64_t v;
    return gf_number_read(s, &v) && v <= INT64_MAX;
}

enum { ISO_DATE = 20 }; /* YYYY-MM-DDThh:mm:ssZ */

/* `form` with its digits, in their places, taken from the date. */
static void write_iso(const char *digits, char to[ISO_DATE])
{
    static const char form[] = "0000-00-00T00:00:00Z";
    for (int i = 0; i < ISO_DATE; i++)
        to[i] = form[i] == '0' ? *digits++ : form[i];
}

void gf_cdx_write_date(gf_slice date, gf_buffer *out)
{
    char iso[ISO_DATE];
    write_iso(date.ptr, iso);
    gf_buffer_append(out, iso, ISO_DATE);
}

static bool is_date(gf_slice date)
{
    char iso[ISO_DATE];
    int64_t ms;
    uint64_t digits;
    if (date.len != DATE_DIGITS || !gf_number_read(date, &digits)) return false;
    write_iso(date.ptr, iso);
    return gf_clock_parse_iso(gf_slice_of(iso, ISO_DATE), &ms);
}

/* ---- one line -------------------------------------------------------------------------------- */

static gf_status end_as(gf_cdx_parser *p, gf_record *record, gf_record_kind kind,
                        const char *reason, const char *format, ...) GF_PRINTF(5, 6);
static gf_status end_as(gf_cdx_parser *p, gf_record *record, gf_record_kind kind,
                        const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->why.message, sizeof p->why.message, format, args);
    va_end(args);
    record->kind = kind;
    record->reason = reason;
    record->message = p->why.message;
    return GF_OK;
}
#define REFUSE(...) end_as(p, record, GF_RECORD_REFUSED, __VA_ARGS__)

static int shown_length(gf_slice s)
{
    return (int)gf_utf8_cut(s, 40).len;
}

/* Check the fields, each there, and make a capture of them. */
static gf_status take_fields(gf_cdx_parser *p, const gf_slice *f, gf_cdx *cdx, gf_record *record)
{
    for (int i = 0; i < USED; i++)
        if (f[i].len == 0 || gf_slice_equal(f[i], GF_SLICE("-")))
            return REFUSE("missing_field", "it has no %s", names[i]);
    if (!gf_slice_equal(f[STATUS], GF_SLICE("200")))
        return REFUSE("bad_status", "its status is %.*s, not 200", shown_length(f[STATUS]),
                      f[STATUS].ptr);
    if (!is_date(f[DATE]))
        return REFUSE("bad_date", "\"%.*s\" is not a date of 14 digits", shown_length(f[DATE]),
                      f[DATE].ptr);
    for (int i = SIZE; i <= OFFSET; i++)
        if (!is_number(f[i]))
            return REFUSE("bad_number", "its %s, \"%.*s\", is not a number", names[i],
                          shown_length(f[i]), f[i].ptr);
    gf_sha1 sha1;
    if (!gf_sha1_parse(f[DIGEST], &sha1))
        return REFUSE("bad_digest", "\"%.*s\" is not a SHA-1 in base32", shown_length(f[DIGEST]),
                      f[DIGEST].ptr);
    const char *mime = gf_cdx_normalise_mime(f[MIME]);
    if (!mime)
        return end_as(p, record, GF_RECORD_SKIPPED, "not_full_text", "\"%.*s\" is no full text",
                      shown_length(f[MIME]), f[MIME].ptr);
    *cdx = (gf_cdx){.surt = f[SURT],
                    .date = f[DATE],
                    .url = f[URL],
                    .warc = f[WARC],
                    .mime = mime,
                    .size = f[SIZE],
                    .offset = f[OFFSET]};
    memcpy(cdx->sha1, sha1.bytes, sizeof cdx->sha1);
    record->kind = GF_RECORD_DOCUMENT;
    record->reason = record->message = NULL;
    return GF_OK;
}

/* The next field of a line, which spaces and tabs end; empty at the line's end. */
static gf_slice take_field(gf_slice *rest)
{
    while (rest->len && (rest->ptr[0] == ' ' || rest->ptr[0] == '\t'))
        *rest = gf_slice_skip(*rest, 1);
    gf_slice field = *rest;
    const char *end = field.len ? memchr(field.ptr, ' ', field.len) : NULL;
    if (end) field.len = (size_t)(end - field.ptr);
    end = field.len ? memchr(field.ptr, '\t', field.len) : NULL;
    if (end) field.len = (size_t)(end - field.ptr);
    *rest = gf_slice_skip(*rest, field.len);
    return field;
}

static gf_status read_fields(gf_cdx_parser *p, gf_slice line, gf_cdx *cdx, gf_record *record)
{
    gf_slice all[FIELDS], used[USED], rest = line;
    int n = 0;
    while (n < FIELDS && (all[n] = take_field(&rest)).len)
        n++;
    if (n < FIELDS)
        return REFUSE("few_fields", "%d field%s, not %d", n, n == 1 ? "" : "s", (int)FIELDS);
    if (take_field(&rest).len)
        return REFUSE("many_fields", "more than %d fields: two lines in one?", (int)FIELDS);
    for (int i = 0; i < USED; i++) /* the two of robot and redirect are not used */
        used[i] = all[i < SIZE ? i : i + 2];
    return take_fields(p, used, cdx, record);
}

/* A member that is text, or a number; "-" where there is none. False where it is something else. */
static bool read_member(gf_cdx_parser *p, gf_json_value root, const char *name, gf_slice *value)
{
    gf_json_value v;
    *value = GF_SLICE("-");
    if (!gf_json_member(root, name, &v) || gf_json_kind_of(v) == GF_JSON_NULL) return true;
    if (gf_json_kind_of(v) == GF_JSON_STRING) {
        *value = gf_json_get_string(v);
        return true;
    }
    if (gf_json_kind_of(v) != GF_JSON_INT) return false;
    size_t from = p->numbers.len;
    gf_buffer_format(&p->numbers, "%lld", (long long)gf_json_get_int(v));
    *value = gf_slice_of(p->numbers.ptr + from, p->numbers.len - from);
    return true;
}

static gf_status read_json(gf_cdx_parser *p, gf_slice surt, gf_slice date, gf_slice json,
                           gf_cdx *cdx, gf_record *record, gf_error *err)
{
    static const char *const members[USED] = {NULL,     NULL,     "url",    "mime",    "status",
                                              "digest", "length", "offset", "filename"};
    gf_slice f[USED] = {surt, date};
    gf_json_value root;
    gf_error why;
    gf_status st = gf_json_parse_copy(p->json, json, &root, &why);
    if (st == GF_ENOMEM) return gf_fail_memory(err, "a record");
    if (st != GF_OK) return REFUSE("broken_json", "%.400s", why.message);
    gf_buffer_reset(&p->numbers);
    if (!gf_buffer_reserve(&p->numbers, (size_t)USED * 24)) /* so that slices of it stay */
        return gf_fail_memory(err, "a record");
    for (int i = URL; i < USED; i++)
        if (!read_member(p, root, members[i], &f[i]))
            return REFUSE("bad_type", "member \"%s\" is neither text nor a number", members[i]);
    return take_fields(p, f, cdx, record);
}

static bool is_header(gf_slice line)
{
    gf_slice rest = line;
    if (line.len && line.ptr[0] == '!') return true; /* of CDXJ: !OpenWayback-CDXJ 1.0 */
    return gf_slice_equal(take_field(&rest), GF_SLICE("CDX")) && take_field(&rest).len == 1;
}

gf_status gf_cdx_parse(gf_cdx_parser *p, gf_slice line, gf_cdx *cdx, gf_record *record,
                       gf_error *err)
{
    if (gf_utf8_valid_length(line) != line.len) return REFUSE("not_utf8", "it is not UTF-8");
    if (line.len && line.ptr[0] == '#') return REFUSE("comment", "a comment");
    if (is_header(line)) return REFUSE("header", "a header");
    gf_slice rest = line, surt = take_field(&rest), date = take_field(&rest);
    while (rest.len && (rest.ptr[0] == ' ' || rest.ptr[0] == '\t'))
        rest = gf_slice_skip(rest, 1);
    if (rest.len && rest.ptr[0] == '{') return read_json(p, surt, date, rest, cdx, record, err);
    return read_fields(p, line, cdx, record);
}
