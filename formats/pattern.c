#include "formats/pattern.h"

#include "base/json/json.h"
#include "base/memory.h"

/* A literal piece, or the name of a field. */
typedef struct piece {
    gf_slice text; /* in the pattern's copy */
    bool is_field;
} piece;

struct gf_pattern {
    char *copy;
    piece *pieces; /* n */
    size_t n;
    gf_json_parser *parser; /* decodes strings with escapes */
};

/* ---- reading a pattern ----------------------------------------------------------------------- */

static gf_status refuse_pattern(gf_slice text, size_t at, const char *why, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "pattern '%.*s', character %zu: %s", GF_SLICE_ARG(text), at + 1,
                   why);
}

/* The piece that starts at *at, which is moved behind it. */
static gf_status take_piece(gf_slice text, size_t *at, piece *p, gf_error *err)
{
    size_t from = *at, i = from;
    char c = text.ptr[i];
    if (c == '{' || c == '}') {
        bool is_double = i + 1 < text.len && text.ptr[i + 1] == c;
        if (is_double) {
            *p = (piece){gf_slice_of(text.ptr + i, 1), false};
            *at = i + 2;
            return GF_OK;
        }
        if (c == '}') return refuse_pattern(text, i, "} without {; write }} for a brace", err);
        while (++i < text.len && text.ptr[i] != '{' && text.ptr[i] != '}')
            ;
        if (i == text.len || text.ptr[i] == '{')
            return refuse_pattern(text, from, "{ without }; write {{ for a brace", err);
        if (i == from + 1) return refuse_pattern(text, from, "no name between the braces", err);
        *p = (piece){gf_slice_of(text.ptr + from + 1, i - from - 1), true};
        *at = i + 1;
        return GF_OK;
    }
    while (i < text.len && text.ptr[i] != '{' && text.ptr[i] != '}')
        i++;
    *p = (piece){gf_slice_of(text.ptr + from, i - from), false};
    *at = i;
    return GF_OK;
}

static gf_status read_pieces(gf_pattern *p, gf_slice text, gf_error *err)
{
    size_t at = 0;
    gf_slice copy = gf_slice_of(p->copy, text.len);
    while (at < copy.len) {
        gf_status st = take_piece(copy, &at, &p->pieces[p->n], err);
        if (st != GF_OK) return st;
        p->n++;
    }
    return GF_OK;
}

gf_status gf_pattern_create(gf_slice text, gf_pattern **pattern, gf_error *err)
{
    if (text.len == 0) return gf_fail(err, GF_EINVAL, "an empty pattern");
    gf_pattern *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a pattern");
    p->copy = gf_copy_string(text.ptr, text.len);
    p->pieces = gf_array(text.len, sizeof *p->pieces);
    gf_status st = p->copy && p->pieces ? gf_json_parser_create(&p->parser, err)
                                        : gf_fail_memory(err, "a pattern");
    if (st == GF_OK) st = read_pieces(p, text, err);
    if (st != GF_OK) {
        gf_pattern_free(p);
        return st;
    }
    *pattern = p;
    return GF_OK;
}

void gf_pattern_free(gf_pattern *p)
{
    if (!p) return;
    if (p->parser) gf_json_parser_free(p->parser);
    gf_free(p->pieces);
    gf_free(p->copy);
    gf_free(p);
}

bool gf_pattern_has_fields(const gf_pattern *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->pieces[i].is_field) return true;
    return false;
}

/* ---- expanding ------------------------------------------------------------------------------- */

static gf_status missing_field(gf_slice name, gf_error *err)
{
    return gf_fail(err, GF_ENOTFOUND, "no field \"%.*s\"", GF_SLICE_ARG(name));
}

static gf_status add_json(gf_pattern *p, gf_slice name, gf_slice json, gf_buffer *out,
                          gf_error *err)
{
    if (json.len == 0 || gf_slice_equal(json, GF_SLICE("null"))) return missing_field(name, err);
    if (json.ptr[0] == '{' || json.ptr[0] == '[')
        return gf_fail(err, GF_EINVAL, "field \"%.*s\" is an %s and cannot be part of a name",
                       GF_SLICE_ARG(name), json.ptr[0] == '{' ? "object" : "array");
    if (json.ptr[0] != '"') {
        gf_buffer_slice(out, json);
        return GF_OK;
    }
    if (!memchr(json.ptr, '\\', json.len)) {
        gf_buffer_append(out, json.ptr + 1, json.len - 2);
        return GF_OK;
    }
    gf_json_value value;
    gf_status st = gf_json_parse_copy(p->parser, json, &value, err);
    if (st == GF_OK) gf_buffer_slice(out, gf_json_get_string(value));
    return st;
}

static gf_status add_field(gf_pattern *p, gf_slice name, const gf_document *d, gf_buffer *out,
                           gf_error *err)
{
    if (gf_slice_equal(name, GF_SLICE("id"))) {
        gf_buffer_slice(out, d->id);
        return GF_OK;
    }
    if (gf_slice_equal(name, GF_SLICE("lang")) && d->language.len) {
        gf_buffer_slice(out, d->language);
        return GF_OK;
    }
    if (gf_slice_equal(name, GF_SLICE("time")) && d->time.len)
        return add_json(p, name, d->time, out, err);
    for (size_t i = 0; i < d->n_fields; i++)
        if (gf_slice_equal(name, d->fields[i].name))
            return add_json(p, name, d->fields[i].json, out, err);
    return missing_field(name, err);
}

gf_status gf_pattern_expand(gf_pattern *p, const gf_document *document, gf_buffer *out,
                            gf_error *err)
{
    size_t before = out->len;
    gf_status st = GF_OK;
    for (size_t i = 0; st == GF_OK && i < p->n; i++) {
        if (p->pieces[i].is_field)
            st = add_field(p, p->pieces[i].text, document, out, err);
        else
            gf_buffer_slice(out, p->pieces[i].text);
    }
    if (st == GF_OK) st = gf_buffer_check(out, err);
    if (st != GF_OK) out->len = before;
    return st;
}
