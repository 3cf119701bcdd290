#include "apps/papers/table/captures.h"

#include "base/grow.h"
#include "base/json/writer.h"
#include "base/memory.h"

#include <stdio.h>

/* ---- their values ---------------------------------------------------------------------------- */

/* JSON has no numbers that begin with 0. */
static gf_slice without_zeros(gf_slice digits)
{
    while (digits.len > 1 && digits.ptr[0] == '0')
        digits = gf_slice_skip(digits, 1);
    return digits;
}

/* "item/file.warc.gz": the file's name alone. */
static gf_slice without_item(gf_slice warc)
{
    for (size_t i = warc.len; i > 0; i--)
        if (warc.ptr[i - 1] == '/') return gf_slice_skip(warc, i);
    return warc;
}

void gf_papers_capture_history(const gf_cdx *cdx, uint64_t count, gf_buffer *date, gf_buffer *out)
{
    gf_json_writer w = gf_json_writer_to(out);
    gf_buffer_reset(date);
    gf_cdx_write_date(cdx->date, date);
    gf_json_begin(&w, '{');
    gf_json_put_string(&w, "u", cdx->url);
    gf_json_put_string(&w, "d", gf_buffer_view(date));
    gf_json_put_string(&w, "f", without_item(cdx->warc));
    gf_json_key(&w, "o");
    gf_json_raw(&w, without_zeros(cdx->offset));
    gf_json_put_uint(&w, "c", count);
    gf_json_end(&w, '}');
}

void gf_papers_capture_cdx(const gf_cdx *cdx, gf_buffer *out)
{
    gf_json_writer w = gf_json_writer_to(out);
    gf_json_begin(&w, '{');
    gf_json_put_string(&w, "surt", cdx->surt);
    gf_json_put_string(&w, "url", cdx->url);
    gf_json_put_string(&w, "dt", cdx->date);
    gf_json_put_string(&w, "warc", cdx->warc);
    gf_json_put_string(&w, "offset", cdx->offset);
    gf_json_put_string(&w, "c_size", cdx->size);
    gf_json_end(&w, '}');
}

gf_status gf_papers_capture_name(gf_slice date, gf_slice url, char name[GF_PAPERS_CAPTURE_NAME],
                                 gf_error *err)
{
    gf_sha1 sha1;
    gf_status st = gf_sha1_of(url, &sha1, err);
    if (st != GF_OK) return st;
    snprintf(name, GF_PAPERS_CAPTURE_NAME, "%c%.*s-%s", GF_PAPERS_CAPTURE_COUNTED,
             (int)(date.len < 14 ? date.len : 14), date.ptr, gf_sha1_base32(&sha1).text);
    return GF_OK;
}

/* ---- what is stored -------------------------------------------------------------------------- */

uint64_t gf_papers_captures_count(const gf_papers_captures *c)
{
    return c->count ? c->count : 1;
}

static gf_slice text_of(gf_json_value object, const char *name)
{
    gf_json_value v;
    bool has = gf_json_member(object, name, &v) && gf_json_kind_of(v) == GF_JSON_STRING;
    return has ? gf_json_get_string(v) : (gf_slice){"", 0};
}

static gf_status parse_object(gf_json_parser *parser, gf_slice json, gf_json_value *v,
                              gf_error *err)
{
    gf_status st = gf_json_parse_copy(parser, json, v, err);
    if (st == GF_EINVAL || (st == GF_OK && gf_json_kind_of(*v) != GF_JSON_OBJECT))
        return gf_fail(err, GF_ECORRUPT, "table of papers: a capture is no JSON object");
    return st;
}

gf_status gf_papers_captures_read(gf_json_parser *parser, gf_papers_captures *c,
                                  char name[GF_PAPERS_CAPTURE_NAME], gf_error *err)
{
    gf_json_value v, count;
    if (c->count == 0 && c->history.ptr) {
        gf_status st = gf_json_parse_copy(parser, c->history, &v, err);
        if (st == GF_ENOMEM) return st;
        if (st == GF_OK && gf_json_kind_of(v) == GF_JSON_OBJECT && gf_json_member(v, "c", &count) &&
            gf_json_kind_of(count) == GF_JSON_INT && gf_json_get_int(count) > 0)
            c->count = (uint64_t)gf_json_get_int(count);
    }
    gf_status st = parse_object(parser, c->cdx, &v, err);
    return st == GF_OK ? gf_papers_capture_name(text_of(v, "dt"), text_of(v, "url"), name, err)
                       : st;
}

gf_status gf_papers_capture_recount(gf_json_parser *parser, const gf_papers_captures *c,
                                    uint64_t count, gf_buffer *out, gf_error *err)
{
    gf_json_value v, member;
    gf_slice name;
    gf_json_writer w = gf_json_writer_to(out);
    gf_buffer text = {0};
    gf_status st = parse_object(parser, c->history.ptr ? c->history : GF_SLICE("{}"), &v, err);
    if (st != GF_OK) return st;
    gf_json_iterator it = gf_json_items(v);
    gf_json_begin(&w, '{');
    while (st == GF_OK && gf_json_next(&it, &name, &member)) {
        if (gf_slice_equal(name, GF_SLICE("c"))) continue;
        gf_buffer_reset(&text);
        st = gf_json_write(member, &text, err);
        gf_json_key_slice(&w, name);
        if (st == GF_OK) gf_json_raw(&w, gf_buffer_view(&text));
    }
    gf_json_put_uint(&w, "c", count);
    gf_json_end(&w, '}');
    gf_buffer_release(&text);
    return st == GF_OK ? gf_buffer_check(out, err) : st;
}

/* ---- captures of a batch --------------------------------------------------------------------- */

void gf_papers_staged_release(gf_papers_staged *s)
{
    gf_strings_release(&s->digests);
    gf_arena_release(&s->memory);
    gf_free(s->rows);
    *s = (gf_papers_staged){.rows = NULL};
}

const gf_papers_captures *gf_papers_staged_find(const gf_papers_staged *s, gf_slice digest)
{
    uint32_t id = gf_strings_find(&s->digests, digest);
    return id == GF_STRING_NONE ? NULL : &s->rows[id];
}

gf_status gf_papers_staged_set(gf_papers_staged *s, gf_slice digest, const gf_papers_captures *c,
                               gf_error *err)
{
    uint32_t id;
    gf_papers_captures kept = *c;
    if (c->history.ptr) kept.history = gf_arena_copy(&s->memory, c->history);
    if (c->cdx.ptr) kept.cdx = gf_arena_copy(&s->memory, c->cdx);
    if ((c->history.ptr && !kept.history.ptr) || (c->cdx.ptr && !kept.cdx.ptr) ||
        !gf_grow(&s->rows, &s->capacity, (size_t)s->digests.n + 1, sizeof *s->rows))
        return gf_fail_memory(err, "captures");
    kept.count = 0; /* f:c has it */
    gf_status st = gf_strings_add(&s->digests, digest, &id, NULL, err);
    if (st == GF_OK) s->rows[id] = kept;
    return st;
}
