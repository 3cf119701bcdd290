/* Documents are checked, and collected as rows until there are enough to be written together. */
#include "engine/put/put.h"

#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "engine/put/put_internal.h"
#include "engine/rows/names.h"

#include <assert.h>
#include <inttypes.h>

enum {
    DEFAULT_COLLECTIONS = 100000,
    ROW_OVERHEAD = 1 << 20 /* of a row of the largest document: the names' and columns' own bytes */
};

static gf_status make_room(gf_put *p, gf_slice name_space, gf_error *err)
{
    p->name_space_bytes = gf_copy_string(name_space.ptr, name_space.len);
    if (!p->name_space_bytes) return gf_fail_memory(err, "a put");
    p->name_space = gf_slice_of(p->name_space_bytes, name_space.len);
    return gf_json_parser_create(&p->parser, err);
}

gf_status gf_put_open(gf_store *store, const gf_put_options *o, gf_put **put, gf_error *err)
{
    gf_status known = gf_options_check(o->version, GF_PUT_OPTIONS_VERSION, "gf_put_options", err);
    if (known != GF_OK) return known;
    gf_status st = gf_name_check("namespace", o->name_space, err);
    if (st != GF_OK) return st;
    gf_put *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a put");
    gf_background_init(&p->writer);
    p->store = store;
    p->max_document = o->max_document ? o->max_document : GF_MAX_DOCUMENT;
    if (p->max_document > GF_MAX_VALUE - ROW_OVERHEAD)
        p->max_document = GF_MAX_VALUE - ROW_OVERHEAD;
    p->max_collections = o->max_collections ? o->max_collections : DEFAULT_COLLECTIONS;
    st = make_room(p, o->name_space, err);
    if (st == GF_OK)
        *put = p;
    else
        gf_put_close(p);
    return st;
}

void gf_put_close(gf_put *p)
{
    if (!p) return;
    gf_background_release(&p->writer);
    gf_json_parser_free(p->parser);
    gf_put_rows_release(&p->rows[0]);
    gf_put_rows_release(&p->rows[1]);
    gf_seen_ids_release(&p->seen);
    gf_held_changes_release(&p->held);
    gf_document_row_release_cells(&p->cells);
    gf_free(p->name_space_bytes);
    gf_free(p);
}

bool gf_put_is_good(const gf_put *p)
{
    return p->failed == GF_OK;
}

gf_put_counts gf_put_counted(const gf_put *p)
{
    return p->counts;
}

/* ---- checking -------------------------------------------------------------------------------- */

static gf_status check_text(const char *what, gf_slice s, gf_error *err)
{
    if (gf_utf8_valid_length(s) == s.len) return GF_OK;
    return gf_fail(err, GF_EINVAL, "%s is not valid UTF-8", what);
}

/* A string as most are, with nothing in it that JSON writes otherwise; the bytes are UTF-8. */
static bool is_plain_string(gf_slice json)
{
    if (json.len < 2 || json.ptr[0] != '"' || json.ptr[json.len - 1] != '"') return false;
    for (size_t i = 1; i + 1 < json.len; i++) {
        unsigned char c = (unsigned char)json.ptr[i];
        if (c < 0x20 || c == '"' || c == '\\') return false;
    }
    return true;
}

/* Fields are written into answers as they are, so they must be JSON. */
static gf_status check_json(gf_put *p, gf_slice name, gf_slice json, gf_error *err)
{
    gf_json_value value;
    gf_error why;
    gf_status st = check_text("a field", json, err);
    if (st != GF_OK || is_plain_string(json)) return st;
    st = gf_json_parse_copy(p->parser, json, &value, &why);
    if (st == GF_EINVAL)
        return gf_fail(err, st, "field \"%.*s\" is not JSON: %s", GF_SLICE_ARG(name), why.message);
    if (st != GF_OK && err) *err = why;
    return st;
}

/* The limits, which hold for every document; *bytes: of its names and values. */
static gf_status check_limits(const gf_put *p, gf_slice collection, const gf_document *d,
                              uint64_t *bytes, gf_error *err)
{
    gf_status st = gf_name_check("collection", collection, err);
    if (st == GF_OK) st = gf_name_check_id(d->id, err);
    if (st != GF_OK) return st;
    if (d->n_fields > GF_MAX_FIELDS)
        return gf_fail(err, GF_ELIMIT, "%zu fields, more than %d", d->n_fields, GF_MAX_FIELDS);
    *bytes = (uint64_t)d->text.len + d->time.len + d->language.len;
    for (size_t i = 0; i < d->n_fields; i++)
        *bytes += (uint64_t)d->fields[i].name.len + d->fields[i].json.len;
    if (*bytes > p->max_document)
        return gf_fail(err, GF_ELIMIT, "the document has %" PRIu64 " bytes, more than %" PRIu64,
                       *bytes, p->max_document);
    for (size_t i = 0; i < d->n_fields; i++)
        if (d->fields[i].name.len > GF_MAX_FIELD_NAME)
            return gf_fail(err, GF_ELIMIT, "a field's name has %zu bytes, more than %d",
                           d->fields[i].name.len, GF_MAX_FIELD_NAME);
    return GF_OK;
}

/* All strings and JSON, but not whether names are distinct. */
static gf_status check_values(gf_put *p, const gf_document *d, gf_error *err)
{
    gf_status st = check_text("the text", d->text, err);
    if (st == GF_OK) st = check_text("the language", d->language, err);
    if (st == GF_OK && d->time.len) st = check_json(p, GF_SLICE("time"), d->time, err);
    for (size_t i = 0; i < d->n_fields && st == GF_OK; i++) {
        st = check_text("a field's name", d->fields[i].name, err);
        if (st == GF_OK) st = check_json(p, d->fields[i].name, d->fields[i].json, err);
    }
    return st;
}

#ifndef NDEBUG
static bool is_valid_text(const gf_document *d)
{
    bool valid = check_text("", d->text, NULL) == GF_OK;
    for (size_t i = 0; i < d->n_fields && valid; i++)
        valid = check_text("", d->fields[i].name, NULL) == GF_OK &&
                check_text("", d->fields[i].json, NULL) == GF_OK;
    return valid;
}
#endif

/* ---- putting --------------------------------------------------------------------------------- */

static gf_status fail_again(const gf_put *p, gf_error *err)
{
    return gf_fail(err, p->failed, "this put has failed before");
}

static gf_status add_row(gf_put *p, const gf_put_row *row, gf_error *err)
{
    gf_put_rows *rows = &p->rows[p->front];
    p->failed = gf_put_rows_add(rows, row, err);
    if (p->failed == GF_OK && gf_put_rows_are_full(rows)) p->failed = gf_put_hand_over(p, err);
    return p->failed;
}

/* EINVAL and ELIMIT concern this document alone; any other failure ends the put. */
static gf_status put_document(gf_put *p, gf_slice collection, const gf_document *d, bool checked,
                              gf_error *err)
{
    uint64_t bytes = 0;
    gf_slice twice;
    if (p->failed != GF_OK) return fail_again(p, err);
    gf_status st = check_limits(p, collection, d, &bytes, err);
    if (st == GF_OK && !checked) st = check_values(p, d, err);
    assert(st != GF_OK || is_valid_text(d));
    if (st == GF_OK) st = gf_document_row_to_cells(d, &p->cells, err);
    if (st == GF_OK && !checked && gf_document_row_repeats(&p->cells, &twice))
        st = gf_fail(err, GF_EINVAL, "field \"%.*s\" is there twice", GF_SLICE_ARG(twice));
    if (st != GF_OK) {
        if (st != GF_EINVAL && st != GF_ELIMIT) p->failed = st;
        return st;
    }
    assert(!gf_document_row_repeats(&p->cells, &twice));
    gf_put_row row = {.collection = collection,
                      .id = d->id,
                      .columns = p->cells.columns,
                      .n = (uint32_t)p->cells.n,
                      .seq_at = (uint32_t)p->cells.seq_at,
                      .bytes = collection.len + d->id.len + bytes};
    return add_row(p, &row, err);
}

gf_status gf_put_document(gf_put *p, gf_slice collection, const gf_document *d, gf_error *err)
{
    return put_document(p, collection, d, false, err);
}

gf_status gf_put_checked_document(gf_put *p, gf_slice collection, const gf_document *d,
                                  gf_error *err)
{
    return put_document(p, collection, d, true, err);
}

gf_status gf_put_delete(gf_put *p, gf_slice collection, gf_slice id, gf_error *err)
{
    if (p->failed != GF_OK) return fail_again(p, err);
    gf_status st = gf_name_check("collection", collection, err);
    if (st == GF_OK) st = gf_name_check_id(id, err);
    if (st != GF_OK) return st;
    gf_put_row row = {.collection = collection, .id = id, .bytes = collection.len + id.len};
    return add_row(p, &row, err);
}

/* ---- flushing -------------------------------------------------------------------------------- */

gf_status gf_put_flush(gf_put *p, gf_error *err)
{
    if (p->failed != GF_OK) return fail_again(p, err);
    p->failed = gf_put_wait(p, err);
    if (p->failed == GF_OK) p->failed = gf_put_write_here(p, err);
    return p->failed;
}
