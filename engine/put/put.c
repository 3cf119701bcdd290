/* Documents in: checked and collected, until there are enough to be written together. */
#include "engine/put/internal.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "engine/rows/names.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    BATCH_DOCUMENTS = 4000,
    BATCH_BYTES = 4 << 20,
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
    gf_status st = gf_check_name("namespace", o->name_space, err);
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
    for (int i = 0; i < 2; i++) {
        gf_arena_release(&p->collected[i].arena);
        gf_free(p->collected[i].waiting);
    }
    gf_known_release(&p->known);
    gf_put_hold_release(&p->hold);
    gf_free(p->names);
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

/* What is given out as JSON later must be JSON now. */
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

static int by_bytes(const void *a, const void *b)
{
    return gf_slice_compare(*(const gf_slice *)a, *(const gf_slice *)b);
}

static gf_status check_names(gf_put *p, const gf_document *d, gf_error *err)
{
    if (d->n_fields > p->n_names) {
        gf_slice *grown = gf_realloc(p->names, d->n_fields, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "a document");
        p->names = grown;
        p->n_names = d->n_fields;
    }
    for (size_t i = 0; i < d->n_fields; i++) {
        gf_slice name = p->names[i] = d->fields[i].name;
        if (name.len > GF_MAX_FIELD_NAME)
            return gf_fail(err, GF_ELIMIT, "a field's name has %zu bytes, more than %d", name.len,
                           GF_MAX_FIELD_NAME);
        gf_status st = check_text("a field's name", name, err);
        if (st != GF_OK) return st;
    }
    if (d->n_fields > 1) qsort(p->names, d->n_fields, sizeof *p->names, by_bytes);
    for (size_t i = 1; i < d->n_fields; i++)
        if (gf_slice_equal(p->names[i - 1], p->names[i]))
            return gf_fail(err, GF_EINVAL, "field \"%.*s\" is there twice",
                           GF_SLICE_ARG(p->names[i]));
    return GF_OK;
}

static gf_status check_size(const gf_put *p, const gf_document *d, gf_error *err)
{
    if (d->n_fields > GF_MAX_FIELDS)
        return gf_fail(err, GF_ELIMIT, "%zu fields, more than %d", d->n_fields, GF_MAX_FIELDS);
    uint64_t bytes = (uint64_t)d->text.len + d->time.len + d->language.len;
    for (size_t i = 0; i < d->n_fields; i++)
        bytes += (uint64_t)d->fields[i].name.len + d->fields[i].json.len;
    if (bytes <= p->max_document) return GF_OK;
    return gf_fail(err, GF_ELIMIT, "the document has %" PRIu64 " bytes, more than %" PRIu64, bytes,
                   p->max_document);
}

static gf_status check_document(gf_put *p, gf_slice collection, const gf_document *d, gf_error *err)
{
    gf_status st = gf_check_name("collection", collection, err);
    if (st == GF_OK) st = gf_check_id(d->id, err);
    if (st == GF_OK) st = check_size(p, d, err);
    if (st == GF_OK) st = check_text("the text", d->text, err);
    if (st == GF_OK) st = check_text("the language", d->language, err);
    if (st == GF_OK && d->time.len) st = check_json(p, GF_SLICE("time"), d->time, err);
    if (st == GF_OK) st = check_names(p, d, err);
    for (size_t i = 0; i < d->n_fields && st == GF_OK; i++)
        st = check_json(p, d->fields[i].name, d->fields[i].json, err);
    return st;
}

/* ---- collecting ------------------------------------------------------------------------------ */

static bool keep(gf_collected *c, gf_slice *s)
{
    gf_slice copy = gf_arena_copy(&c->arena, *s);
    c->bytes += s->len;
    *s = copy;
    return copy.ptr != NULL;
}

static bool keep_fields(gf_collected *c, gf_document *d)
{
    gf_field *fields = gf_arena_alloc(&c->arena, d->n_fields * sizeof *fields);
    if (!fields) return false;
    for (size_t i = 0; i < d->n_fields; i++) {
        fields[i] = d->fields[i];
        if (!keep(c, &fields[i].name) || !keep(c, &fields[i].json)) return false;
    }
    d->fields = fields;
    return true;
}

gf_status gf_collect(gf_collected *c, gf_slice collection, const gf_document *d, bool deletes,
                     gf_error *err)
{
    if (c->n == c->capacity) {
        size_t capacity = c->capacity ? c->capacity * 2 : 64;
        gf_waiting *grown = gf_realloc(c->waiting, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "documents");
        c->waiting = grown;
        c->capacity = capacity;
    }
    gf_waiting w = {collection, *d, (uint32_t)c->n, 0, deletes};
    bool kept = keep(c, &w.collection) && keep(c, &w.document.id) && keep(c, &w.document.text) &&
                keep(c, &w.document.time) && keep(c, &w.document.language) &&
                keep_fields(c, &w.document);
    if (!kept) return gf_fail_memory(err, "documents");
    c->waiting[c->n++] = w;
    return GF_OK;
}

bool gf_collected_is_full(const gf_collected *c)
{
    return c->n >= BATCH_DOCUMENTS || c->bytes >= BATCH_BYTES;
}

static gf_status fail_again(const gf_put *p, gf_error *err)
{
    return gf_fail(err, p->failed, "this put has failed before");
}

/* ---- putting --------------------------------------------------------------------------------- */

/* A document that was checked; `checked` says how that ended. */
static gf_status add(gf_put *p, gf_status checked, gf_slice collection, const gf_document *d,
                     bool deletes, gf_error *err)
{
    if (checked == GF_EINVAL || checked == GF_ELIMIT) return checked; /* this document's affair */
    gf_collected *c = &p->collected[p->front];
    p->failed = checked == GF_OK ? gf_collect(c, collection, d, deletes, err) : checked;
    if (p->failed == GF_OK && gf_collected_is_full(c)) p->failed = gf_put_hand_over(p, err);
    return p->failed;
}

gf_status gf_put_document(gf_put *p, gf_slice collection, const gf_document *d, gf_error *err)
{
    if (p->failed != GF_OK) return fail_again(p, err);
    return add(p, check_document(p, collection, d, err), collection, d, false, err);
}

gf_status gf_put_delete(gf_put *p, gf_slice collection, gf_slice id, gf_error *err)
{
    if (p->failed != GF_OK) return fail_again(p, err);
    gf_document d = {.id = id};
    gf_status st = gf_check_name("collection", collection, err);
    if (st == GF_OK) st = gf_check_id(id, err);
    return add(p, st, collection, &d, true, err);
}

/* ---- flushing -------------------------------------------------------------------------------- */

gf_status gf_put_flush(gf_put *p, gf_error *err)
{
    if (p->failed != GF_OK) return fail_again(p, err);
    p->failed = gf_put_wait(p, err);
    if (p->failed == GF_OK) p->failed = gf_put_write_here(p, err);
    return p->failed;
}
