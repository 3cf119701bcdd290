/* Documents in: collected, compared with what is there, written and synced in batches. */
#include "engine/internal.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BATCH_DOCUMENTS = 1000, BATCH_BYTES = 4 << 20, DEFAULT_COLLECTIONS = 100000 };

/* A document that waits for the next flush; its slices lie in the put's arena. */
typedef struct waiting {
    gf_slice collection;
    gf_document document; /* of a deletion only the id */
    uint32_t order;
    bool deletes;
} waiting;

struct gf_put {
    gf_store *store;
    char *name_space;
    uint64_t max_document;
    uint32_t max_collections;
    gf_put_counts counts; /* synced */
    gf_arena arena;
    waiting *waiting; /* n of capacity */
    size_t n, capacity, bytes;
    gf_status failed;
};

gf_status gf_put_open(gf_store *store, const gf_put_options *o, gf_put **put, gf_error *err)
{
    gf_status st = gf_check_name("namespace", o->name_space, err);
    if (st != GF_OK) return st;
    gf_put *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a put");
    p->store = store;
    p->max_document = o->max_document ? o->max_document : GF_MAX_DOCUMENT;
    p->max_collections = o->max_collections ? o->max_collections : DEFAULT_COLLECTIONS;
    p->name_space = gf_copy_string(o->name_space.ptr, o->name_space.len);
    if (!p->name_space) {
        gf_put_close(p);
        return gf_fail_memory(err, "a put");
    }
    *put = p;
    return GF_OK;
}

void gf_put_close(gf_put *p)
{
    if (!p) return;
    gf_arena_release(&p->arena);
    gf_free(p->waiting);
    gf_free(p->name_space);
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

/* ---- collecting -------------------------------------------------------------------------------
 */

static gf_status check_text(const char *what, gf_slice s, gf_error *err)
{
    if (gf_utf8_valid_length(s) == s.len) return GF_OK;
    return gf_fail(err, GF_EINVAL, "%s is not valid UTF-8", what);
}

static gf_status check_document(const gf_put *p, gf_slice collection, const gf_document *d,
                                gf_error *err)
{
    gf_status st = gf_check_name("collection", collection, err);
    if (st == GF_OK) st = gf_check_id(d->id, err);
    if (st == GF_OK) st = check_text("the text", d->text, err);
    if (st == GF_OK) st = check_text("the language", d->language, err);
    if (st == GF_OK && d->n_fields > GF_MAX_FIELDS)
        st = gf_fail(err, GF_ELIMIT, "%zu fields, more than %d", d->n_fields, GF_MAX_FIELDS);
    uint64_t bytes = d->text.len + d->time.len + d->language.len;
    for (size_t i = 0; i < d->n_fields && st == GF_OK; i++) {
        bytes += d->fields[i].name.len + d->fields[i].json.len;
        st = check_text("a field's name", d->fields[i].name, err);
        if (st == GF_OK) st = check_text("a field", d->fields[i].json, err);
    }
    if (st == GF_OK && bytes > p->max_document)
        st = gf_fail(err, GF_ELIMIT, "the document has %" PRIu64 " bytes, more than %" PRIu64,
                     bytes, p->max_document);
    return st;
}

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
        waiting *grown = gf_realloc(p->waiting, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "documents");
        p->waiting = grown;
        p->capacity = capacity;
    }
    waiting w = {collection, *d, (uint32_t)p->n, deletes};
    bool kept = keep(p, &w.collection) && keep(p, &w.document.id) && keep(p, &w.document.text) &&
                keep(p, &w.document.time) && keep(p, &w.document.language) &&
                keep_fields(p, &w.document);
    if (!kept) return gf_fail_memory(err, "documents");
    p->waiting[p->n++] = w;
    return GF_OK;
}

static gf_status add(gf_put *p, gf_slice collection, const gf_document *d, bool deletes,
                     gf_error *err)
{
    if (p->failed != GF_OK) return gf_fail(err, p->failed, "this put has failed before");
    gf_status st = collect(p, collection, d, deletes, err);
    if (st == GF_OK && (p->n >= BATCH_DOCUMENTS || p->bytes >= BATCH_BYTES))
        return gf_put_flush(p, err);
    p->failed = st;
    return st;
}

gf_status gf_put_document(gf_put *p, gf_slice collection, const gf_document *d, gf_error *err)
{
    gf_status st = check_document(p, collection, d, err);
    return st == GF_OK ? add(p, collection, d, false, err) : st;
}

gf_status gf_put_delete(gf_put *p, gf_slice collection, gf_slice id, gf_error *err)
{
    gf_document d = {.id = id};
    gf_status st = gf_check_name("collection", collection, err);
    if (st == GF_OK) st = gf_check_id(id, err);
    return st == GF_OK ? add(p, collection, &d, true, err) : st;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

/* A flush under way. */
typedef struct flush {
    gf_put *put;
    gf_store *store;
    gf_batch *batch;
    gf_put_counts counts; /* if this flush gets through */
    int64_t now;
    gf_place where; /* the collection at hand */
    bool has_builds, exists;
    uint64_t size, seq, seq_before;
    gf_row collection_row, document_row;
    gf_document_cells cells, other_cells;
    gf_buffer key, collection_key, number;
} flush;

static int by_place(const void *a, const void *b)
{
    const waiting *x = a, *y = b;
    int order = gf_slice_compare(x->collection, y->collection);
    if (order == 0) order = gf_slice_compare(x->document.id, y->document.id);
    if (order == 0) order = x->order < y->order ? -1 : 1;
    return order;
}

/* Whether any build of the collection is there or under way: only then changes must be kept. */
static gf_status look_for_builds(flush *f, gf_error *err)
{
    gf_row row = {0};
    gf_status st = GF_ENOTFOUND;
    const unsigned families[] = {GF_BUILDS_MAIN, GF_BUILDS_PROGRESS};
    for (size_t i = 0; i < 2 && st == GF_ENOTFOUND; i++) {
        gf_scan *scan;
        gf_scan_options o = {.family = families[i],
                             .prefix = gf_buffer_view(&f->collection_key),
                             .limit = 1,
                             .keys_only = true};
        st = gf_scan_open(f->store->tables.builds, &o, &scan, err);
        if (st != GF_OK) break;
        st = gf_scan_next(scan, &row, err);
        gf_scan_close(scan);
    }
    gf_row_release(&row);
    f->has_builds = st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status begin_collection(flush *f, gf_slice collection, gf_error *err)
{
    f->where = (gf_place){gf_slice_str(f->put->name_space), collection};
    gf_buffer_reset(&f->collection_key);
    gf_collection_key(&f->collection_key, f->where.name_space, collection);
    gf_status st = gf_buffer_check(&f->collection_key, err);
    gf_collection_row row = {.row = f->collection_row};
    if (st == GF_OK) st = gf_collection_row_read(f->store, NULL, f->where, &row, err);
    f->collection_row = row.row;
    f->exists = st == GF_OK;
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    f->size = f->exists ? row.size : 0;
    f->seq = f->seq_before = f->exists ? row.seq : 0;
    f->has_builds = false;
    if (f->exists) return look_for_builds(f, err);
    if (f->put->counts.collections + ++f->counts.collections > f->put->max_collections)
        return gf_fail(err, GF_ELIMIT,
                       "more than %" PRIu32 " collections would be made; the next is \"%.*s\" "
                       "(--max-collections raises the limit)",
                       f->put->max_collections, GF_SLICE_ARG(collection));
    return GF_OK;
}

static void put_change(flush *f, gf_slice id, bool deletes)
{
    if (!f->has_builds) return;
    gf_buffer_reset(&f->key);
    gf_change_key(&f->key, f->where.name_space, f->where.collection, f->seq);
    gf_column columns[] = {{GF_SLICE("id"), id},
                           {GF_SLICE("operation"), deletes ? GF_SLICE("delete") : GF_SLICE("put")}};
    gf_batch_replace(f->batch, f->store->tables.changes, gf_buffer_view(&f->key), GF_CHANGES_MAIN,
                     columns, 2, 0);
}

static void document_key(flush *f, gf_slice id)
{
    gf_buffer_reset(&f->key);
    gf_document_key(&f->key, f->where.name_space, f->where.collection, id);
}

static gf_status write_document(flush *f, const waiting *w, gf_error *err)
{
    f->seq++;
    document_key(f, w->document.id);
    gf_status st = gf_document_to_cells(&w->document, &f->cells, err);
    if (st != GF_OK) return st;
    gf_buffer_reset(&f->number);
    gf_buffer_number(&f->number, f->seq);
    f->cells.columns[f->cells.n++] = (gf_column){GF_SLICE("seq"), gf_buffer_view(&f->number)};
    st = gf_buffer_check(&f->number, err);
    gf_batch_replace(f->batch, f->store->tables.documents, gf_buffer_view(&f->key),
                     GF_DOCUMENTS_MAIN, f->cells.columns, f->cells.n, 0);
    put_change(f, w->document.id, false);
    return st;
}

static void write_deletion(flush *f, gf_slice id)
{
    f->seq++;
    document_key(f, id);
    gf_batch_delete_row(f->batch, f->store->tables.documents, gf_buffer_view(&f->key),
                        GF_ALL_FAMILIES);
    put_change(f, id, true);
}

static bool same_cells(const gf_document_cells *a, const gf_document_cells *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = gf_slice_equal(a->columns[i].name, b->columns[i].name) &&
               gf_slice_equal(a->columns[i].value, b->columns[i].value);
    return same;
}

/* Whether document w equals the one before it: `last`, or where that is NULL the stored one. */
static gf_status equals(flush *f, const waiting *w, const waiting *last, bool *equal, gf_error *err)
{
    gf_status st = gf_document_to_cells(&w->document, &f->cells, err);
    if (st != GF_OK) return st;
    if (!last) {
        *equal = gf_document_same(&f->document_row, &f->cells);
        return GF_OK;
    }
    st = gf_document_to_cells(&last->document, &f->other_cells, err);
    if (st == GF_OK) *equal = same_cells(&f->cells, &f->other_cells);
    return st;
}

/* Count what one document does, given what is there before it. */
static gf_status count_one(flush *f, const waiting *w, const waiting *last, bool *there,
                           gf_error *err)
{
    if (w->deletes) {
        *(*there ? &f->counts.deleted : &f->counts.absent) += 1;
        *there = false;
        return GF_OK;
    }
    bool equal = false;
    gf_status st = *there ? equals(f, w, last, &equal, err) : GF_OK;
    if (st != GF_OK) return st;
    *(!*there ? &f->counts.created : equal ? &f->counts.unchanged : &f->counts.changed) += 1;
    *there = true;
    return GF_OK;
}

/* All that waits for one id: each is counted as if it came alone, the last decides what is written.
 */
static gf_status put_id(flush *f, const waiting *w, size_t n, gf_error *err)
{
    document_key(f, w->document.id);
    gf_status st = gf_buffer_check(&f->key, err);
    if (st == GF_OK)
        st = gf_table_get(f->store->tables.documents, NULL, gf_buffer_view(&f->key),
                          1u << GF_DOCUMENTS_MAIN, &f->document_row, err);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    bool was_there = st == GF_OK, there = was_there;
    st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        st = count_one(f, &w[i], i ? &w[i - 1] : NULL, &there, err);
    }
    if (st != GF_OK) return st;
    const waiting *last = &w[n - 1];
    f->size = f->size + there - was_there;
    if (last->deletes) {
        if (was_there) write_deletion(f, last->document.id);
        return GF_OK;
    }
    bool equal = false;
    if (was_there) st = equals(f, last, NULL, &equal, err);
    return st == GF_OK && !equal ? write_document(f, last, err) : st;
}

/* A new collection's row is written also where no document stays in it. */
static gf_status write_collection(flush *f, gf_error *err)
{
    if (f->exists && f->seq == f->seq_before) return GF_OK;
    gf_slice key = gf_buffer_view(&f->collection_key);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"size", f->size}, {"seq", f->seq}, {"modified", (uint64_t)f->now}};
    for (size_t i = 0; i < 3; i++) {
        gf_buffer_reset(&f->number);
        gf_buffer_number(&f->number, numbers[i].value);
        gf_batch_put(f->batch, f->store->tables.collections, key, GF_COLLECTIONS_MAIN,
                     gf_slice_str(numbers[i].name), gf_buffer_view(&f->number), 0);
    }
    return gf_buffer_check(&f->number, err);
}

static bool all_delete(const waiting *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!w[i].deletes) return false;
    return true;
}

static gf_status put_collection(flush *f, const waiting *w, size_t n, gf_error *err)
{
    gf_status st = begin_collection(f, w->collection, err);
    if (st == GF_OK && !f->exists && all_delete(w, n))
        return gf_fail(err, GF_ENOTFOUND, "there is no collection \"%.*s\"",
                       GF_SLICE_ARG(w->collection));
    for (size_t i = 0; i < n && st == GF_OK;) {
        size_t end = i + 1;
        while (end < n && gf_slice_equal(w[end].document.id, w[i].document.id))
            end++;
        st = put_id(f, w + i, end - i, err);
        i = end;
    }
    return st == GF_OK ? write_collection(f, err) : st;
}

static gf_status write_all(flush *f, gf_error *err)
{
    gf_put *p = f->put;
    gf_status st = GF_OK;
    qsort(p->waiting, p->n, sizeof *p->waiting, by_place);
    for (size_t i = 0; i < p->n && st == GF_OK;) {
        size_t end = i + 1;
        while (end < p->n && gf_slice_equal(p->waiting[end].collection, p->waiting[i].collection))
            end++;
        st = put_collection(f, p->waiting + i, end - i, err);
        i = end;
    }
    return st == GF_OK ? gf_batch_write(f->batch, GF_SYNC, err) : st;
}

static void add_counts(gf_put_counts *to, const gf_put_counts *from)
{
    to->created += from->created;
    to->changed += from->changed;
    to->unchanged += from->unchanged;
    to->deleted += from->deleted;
    to->absent += from->absent;
    to->collections += from->collections;
}

static void release_flush(flush *f)
{
    gf_batch_free(f->batch);
    gf_row_release(&f->collection_row);
    gf_row_release(&f->document_row);
    gf_document_cells_release(&f->cells);
    gf_document_cells_release(&f->other_cells);
    gf_buffer_release(&f->key);
    gf_buffer_release(&f->collection_key);
    gf_buffer_release(&f->number);
}

gf_status gf_put_flush(gf_put *p, gf_error *err)
{
    if (p->failed != GF_OK) return gf_fail(err, p->failed, "this put has failed before");
    if (p->n == 0) return GF_OK;
    flush f = {.put = p, .store = p->store, .now = gf_clock_ms()};
    gf_status st = gf_batch_create(p->store->db, &f.batch, err);
    if (st == GF_OK) {
        st = gf_lock(p->store, err);
        if (st == GF_OK) st = write_all(&f, err);
        gf_unlock(p->store);
    }
    if (st == GF_OK) add_counts(&p->counts, &f.counts);
    release_flush(&f);
    gf_arena_reset(&p->arena);
    p->n = p->bytes = 0;
    p->failed = st;
    return st;
}
