/* Documents in: checked and collected, until there are enough to be written together. */
#include "engine/put_internal.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    BATCH_DOCUMENTS = 1000,
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
    gf_json_parser_free(p->parser);
    gf_arena_release(&p->arena);
    gf_put_hold_release(&p->hold);
    gf_free(p->names);
    gf_free(p->waiting);
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

/* ---- checking ---------------------------------------------------------------------------------
 */

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

/* ---- collecting -------------------------------------------------------------------------------
 */

static bool keep(gf_put *p, gf_slice *s)
{
    gf_slice copy = gf_arena_copy(&p->arena, *s);
    p->bytes += s->len;
    *s = copy;
    return copy.ptr != NULL;
}

static bool keep_fields(gf_put *p, gf_document *d)
{
    gf_field *fields = gf_arena_alloc(&p->arena, d->n_fields * sizeof *fields);
    if (!fields) return false;
    for (size_t i = 0; i < d->n_fields; i++) {
        fields[i] = d->fields[i];
        if (!keep(p, &fields[i].name) || !keep(p, &fields[i].json)) return false;
    }
    d->fields = fields;
    return true;
}

static gf_status collect(gf_put *p, gf_slice collection, const gf_document *d, bool deletes,
                         gf_error *err)
{
    if (p->n == p->capacity) {
        size_t capacity = p->capacity ? p->capacity * 2 : 64;
        gf_waiting *grown = gf_realloc(p->waiting, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "documents");
        p->waiting = grown;
        p->capacity = capacity;
    }
    gf_waiting w = {collection, *d, (uint32_t)p->n, deletes};
    bool kept = keep(p, &w.collection) && keep(p, &w.document.id) && keep(p, &w.document.text) &&
                keep(p, &w.document.time) && keep(p, &w.document.language) &&
                keep_fields(p, &w.document);
    if (!kept) return gf_fail_memory(err, "documents");
    p->waiting[p->n++] = w;
    return GF_OK;
}

static bool is_full(const gf_put *p)
{
    return p->n >= BATCH_DOCUMENTS || p->bytes >= BATCH_BYTES;
}

static gf_status fail_again(const gf_put *p, gf_error *err)
{
    return gf_fail(err, p->failed, "this put has failed before");
}

/* ---- flushing ---------------------------------------------------------------------------------
 */

static void add_counts(gf_put_counts *to, const gf_put_counts *from)
{
    to->created += from->created;
    to->changed += from->changed;
    to->unchanged += from->unchanged;
    to->deleted += from->deleted;
    to->absent += from->absent;
    to->collections += from->collections;
}

/* Write what waits; where `last`, also what was held back of the same ids. */
static gf_status write_waiting(gf_put *p, bool last, gf_error *err)
{
    gf_put_counts counts = {0};
    if (p->n == 0) return GF_OK;
    gf_status st = gf_lock(p->store, err);
    if (st == GF_OK) st = gf_put_write(p, last, &counts, err);
    gf_unlock(p->store);
    if (st == GF_OK) add_counts(&p->counts, &counts);
    gf_arena_reset(&p->arena);
    p->n = p->bytes = 0;
    return st;
}

/* What is held back comes to wait again, batch by batch, and now it is the last of its id. */
static gf_status write_held(gf_put *p, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < p->hold.keys.n && st == GF_OK; i++) {
        gf_put_held *held = &p->hold.entries[i];
        if (held->block)
            st = collect(p, held->waiting.collection, &held->waiting.document, false, err);
        gf_put_hold_drop(&p->hold, held);
        if (st == GF_OK && is_full(p)) st = write_waiting(p, true, err);
    }
    if (st == GF_OK) st = write_waiting(p, true, err);
    gf_put_hold_release(&p->hold);
    return st;
}

static gf_status flush_batch(gf_put *p, gf_error *err)
{
    p->failed = write_waiting(p, false, err);
    if (p->failed == GF_OK && gf_put_hold_is_full(&p->hold)) p->failed = write_held(p, err);
    return p->failed;
}

gf_status gf_put_flush(gf_put *p, gf_error *err)
{
    if (p->failed != GF_OK) return fail_again(p, err);
    p->failed = write_waiting(p, true, err);
    if (p->failed == GF_OK) p->failed = write_held(p, err);
    return p->failed;
}

/* ---- putting ----------------------------------------------------------------------------------
 */

/* A document that was checked; `checked` says how that ended. */
static gf_status add(gf_put *p, gf_status checked, gf_slice collection, const gf_document *d,
                     bool deletes, gf_error *err)
{
    if (checked == GF_EINVAL || checked == GF_ELIMIT) return checked; /* this document's affair */
    p->failed = checked == GF_OK ? collect(p, collection, d, deletes, err) : checked;
    if (p->failed == GF_OK && is_full(p)) return flush_batch(p, err);
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
