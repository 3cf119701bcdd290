/*
 * A record is parsed as it lies in the buffer. Only where the parser objects to its UTF-8, or to an
 * escape, a repaired copy is made and parsed again; so clean records pay nothing for it.
 */
#include "formats/json_record.h"

#include "base/grow.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/utf8.h"

gf_status gf_json_record_parser_init(gf_json_record_parser *r, gf_error *err)
{
    *r = (gf_json_record_parser){0};
    return gf_json_parser_create(&r->parser, err);
}

void gf_json_record_parser_release(gf_json_record_parser *r)
{
    if (r->parser) gf_json_parser_free(r->parser);
    gf_buffer_release(&r->utf8);
    gf_buffer_release(&r->escapes);
    gf_free(r->members);
    *r = (gf_json_record_parser){0};
}

/* ---- repair ---------------------------------------------------------------------------------- */

/* The value of "\uXXXX" at p, n bytes there; -1 where it is none. */
static int unicode_escape(const char *p, size_t n)
{
    if (n < 6 || p[0] != '\\' || p[1] != 'u') return -1;
    int value = 0;
    for (int i = 2; i < 6; i++) {
        int digit = gf_hex_digit(p[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool is_high_surrogate(int code)
{
    return code >= 0xD800 && code < 0xDC00;
}

static bool is_low_surrogate(int code)
{
    return code >= 0xDC00 && code < 0xE000;
}

/* Append text to out, each escape of a surrogate that is not part of a pair replaced. */
static uint64_t replace_lone_surrogates(gf_slice text, gf_buffer *out)
{
    uint64_t replaced = 0;
    while (text.len) {
        const char *escape = memchr(text.ptr, '\\', text.len);
        size_t plain = escape ? (size_t)(escape - text.ptr) : text.len;
        gf_buffer_append(out, text.ptr, plain);
        text = gf_slice_skip(text, plain);
        if (text.len == 0) break;
        int code = unicode_escape(text.ptr, text.len);
        size_t n = code >= 0 ? 6 : text.len < 2 ? 1 : 2;
        if (is_high_surrogate(code) && is_low_surrogate(unicode_escape(text.ptr + 6, text.len - 6)))
            n = 12;
        if (n == 6 && (is_high_surrogate(code) || is_low_surrogate(code))) {
            gf_buffer_str(out, "\\ufffd");
            replaced++;
        } else {
            gf_buffer_append(out, text.ptr, n);
        }
        text = gf_slice_skip(text, n);
    }
    return replaced;
}

static gf_status parse_again(gf_json_record_parser *r, gf_buffer *repaired, gf_json_value *root,
                             gf_error *err)
{
    gf_buffer_reserve(repaired, GF_JSON_PADDING);
    gf_status st = gf_buffer_check(repaired, err);
    if (st != GF_OK) return st;
    return gf_json_parse(r->parser, gf_buffer_view(repaired), root, err);
}

static gf_status parse_repaired(gf_json_record_parser *r, gf_slice text, gf_parsed_record *parsed,
                                gf_json_value *root, gf_error *err)
{
    gf_status st = gf_json_parse(r->parser, text, root, err);
    if (st == GF_EINVAL && gf_json_parser_problem(r->parser) == GF_JSON_BAD_UTF8) {
        gf_buffer_reset(&r->utf8);
        parsed->replaced += gf_utf8_repair(text, &r->utf8);
        st = parse_again(r, &r->utf8, root, err);
        text = gf_buffer_view(&r->utf8);
    }
    if (st == GF_EINVAL && gf_json_parser_problem(r->parser) == GF_JSON_BAD_STRING) {
        gf_buffer_reset(&r->escapes);
        parsed->replaced += replace_lone_surrogates(text, &r->escapes);
        st = parse_again(r, &r->escapes, root, err);
    }
    return st;
}

/* ---- members --------------------------------------------------------------------------------- */

static gf_status add_member(gf_json_record_parser *r, size_t n, gf_slice name, gf_json_value value,
                            gf_error *err)
{
    if (!gf_grow(&r->members, &r->capacity, n + 1, sizeof *r->members))
        return gf_fail_memory(err, "a record");
    r->members[n] = (gf_member){.name = name, .kind = GF_MEMBER_JSON, .json = value};
    return GF_OK;
}

static gf_status list_members(gf_json_record_parser *r, gf_json_value root,
                              gf_parsed_record *parsed, gf_error *err)
{
    gf_json_iterator it = gf_json_items(root);
    gf_slice name;
    gf_json_value value;
    size_t n = 0;
    while (gf_json_next(&it, &name, &value)) {
        if (n == GF_MOST_MEMBERS) {
            gf_parsed_record_refuse(parsed, "too_many_fields", "more than %d fields",
                                    (int)GF_MOST_MEMBERS);
            return GF_OK;
        }
        gf_status st = add_member(r, n++, name, value, err);
        if (st != GF_OK) return st;
    }
    parsed->members = r->members;
    parsed->n_members = n;
    return GF_OK;
}

static const char *name_of(gf_json_kind kind)
{
    switch (kind) {
    case GF_JSON_NULL:
        return "null";
    case GF_JSON_BOOL:
        return "true or false";
    case GF_JSON_STRING:
        return "a string";
    case GF_JSON_ARRAY:
        return "an array";
    case GF_JSON_INT:
    case GF_JSON_UINT:
    case GF_JSON_DOUBLE:
        return "a number";
    case GF_JSON_OBJECT:
        break;
    }
    return "an object";
}

gf_status gf_json_record_parse(gf_json_record_parser *r, gf_slice text, gf_parsed_record *parsed,
                               gf_error *err)
{
    gf_json_value root;
    gf_status st = parse_repaired(r, text, parsed, &root, &parsed->why);
    if (st == GF_ENOMEM) {
        if (err) *err = parsed->why;
        return st;
    }
    if (st != GF_OK) {
        parsed->kind = GF_RECORD_REFUSED;
        parsed->reason = "broken_json";
        return GF_OK;
    }
    if (gf_json_kind_of(root) != GF_JSON_OBJECT) {
        gf_parsed_record_refuse(parsed, "bad_type", "not a JSON object but %s",
                                name_of(gf_json_kind_of(root)));
        return GF_OK;
    }
    return list_members(r, root, parsed, err);
}
