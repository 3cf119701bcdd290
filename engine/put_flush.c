/*
 * What waits in a put, or in several, is compared with what is there, and becomes one batch:
 *
 *     documents    the row of each document that is new or has changed
 *     changes      a row for each of them, where the collection has builds that must know
 *     collections  size, seq and time of each collection in which something changed
 *
 * Documents are taken by collection and id, so that the batch is sorted, and those of one id in the
 * order in which they came.
 */
#include "engine/put_internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct flush {
    gf_put *const *puts;
    gf_put_counts *counts; /* of each, if this flush gets through */
    gf_store *store;
    gf_batch *batch;
    uint64_t now;
    gf_place where; /* the collection at hand */
    bool has_builds, exists;
    uint64_t size, seq, seq_before, modified;
    gf_collection_row collection;
    gf_row document_row;
    gf_document_cells cells, other_cells;
    gf_buffer key, collection_key;
} flush;

static int by_place(const void *a, const void *b)
{
    const gf_waiting *x = a, *y = b;
    int order = gf_slice_compare(x->collection, y->collection);
    if (order == 0) order = gf_slice_compare(x->document.id, y->document.id);
    if (order == 0) order = x->order < y->order ? -1 : 1;
    return order;
}

/* ---- one collection ---------------------------------------------------------------------------
 */

/*
 * Whether any build of the collection is there or under way: only then changes must be kept. With
 * the write lock held.
 */
static gf_status look_for_builds(flush *f, gf_error *err)
{
    gf_table *builds = f->store->tables.builds;
    gf_slice key = gf_buffer_view(&f->collection_key);
    gf_status st = gf_scan_finds(builds, NULL, GF_BUILDS_MAIN, key, &f->has_builds, err);
    f->has_builds |= gf_is_active(f->store, key);
    return st;
}

/* A collection that is not there is made, unless there is nothing but deletions for it. */
static gf_status begin_new(flush *f, const gf_waiting *first, gf_error *err)
{
    gf_slice name = f->where.collection;
    if (f->collection.going) return gf_fail_going(name, err);
    if (!first)
        return gf_fail(err, GF_ENOTFOUND, "there is no collection \"%.*s\"", GF_SLICE_ARG(name));
    f->exists = f->has_builds = false;
    f->size = f->seq = f->seq_before = f->modified = 0;
    const gf_put *p = f->puts[first->owner];
    if (p->counts.collections + ++f->counts[first->owner].collections <= p->max_collections)
        return GF_OK;
    return gf_fail(err, GF_ELIMIT,
                   "more than %" PRIu32 " collections would be made; the next is \"%.*s\" "
                   "(--max-collections raises the limit)",
                   p->max_collections, GF_SLICE_ARG(name));
}

static gf_status begin_collection(flush *f, gf_slice name, const gf_waiting *first, gf_error *err)
{
    f->where = (gf_place){f->puts[0]->name_space, name};
    gf_buffer_reset(&f->collection_key);
    gf_collection_key(&f->collection_key, f->where.name_space, name);
    gf_status st = gf_buffer_check(&f->collection_key, err);
    if (st == GF_OK) st = gf_collection_row_read(f->store, NULL, f->where, &f->collection, err);
    if (st == GF_ENOTFOUND) return begin_new(f, first, err);
    if (st != GF_OK) return st;
    f->exists = true;
    f->size = f->collection.size;
    f->seq = f->seq_before = f->collection.seq;
    f->modified = (uint64_t)f->collection.modified;
    return look_for_builds(f, err);
}

/* A new collection's row is written also where no document stays in it. */
static void write_collection(flush *f)
{
    if (f->exists && f->seq == f->seq_before) return;
    uint64_t modified = f->modified;
    if (f->seq != f->seq_before && f->now > modified) modified = f->now;
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"size", f->size}, {"seq", f->seq}, {"modified", modified}};
    for (size_t i = 0; i < 3; i++) {
        gf_digits digits;
        gf_batch_put(f->batch, f->store->tables.collections, gf_buffer_view(&f->collection_key),
                     GF_COLLECTIONS_MAIN, gf_slice_str(numbers[i].name),
                     gf_write_number(&digits, numbers[i].value), 0);
    }
}

/* ---- one document -----------------------------------------------------------------------------
 */

static gf_status document_key(flush *f, gf_slice id, gf_error *err)
{
    gf_buffer_reset(&f->key);
    gf_document_key(&f->key, f->where.name_space, f->where.collection, id);
    return gf_buffer_check(&f->key, err);
}

static gf_status write_change(flush *f, gf_slice id, bool deletes, gf_error *err)
{
    if (!f->has_builds) return GF_OK;
    gf_buffer_reset(&f->key);
    gf_change_key(&f->key, f->where.name_space, f->where.collection, f->seq);
    gf_status st = gf_buffer_check(&f->key, err);
    if (st != GF_OK) return st;
    gf_column columns[] = {{GF_SLICE("id"), id},
                           {GF_SLICE("operation"), deletes ? GF_SLICE("delete") : GF_SLICE("put")}};
    gf_batch_replace(f->batch, f->store->tables.changes, gf_buffer_view(&f->key), GF_CHANGES_MAIN,
                     columns, 2, 0);
    return GF_OK;
}

static gf_status write_document(flush *f, const gf_waiting *w, gf_error *err)
{
    gf_digits digits;
    gf_status st = document_key(f, w->document.id, err);
    if (st == GF_OK) st = gf_document_to_cells(&w->document, &f->cells, err);
    if (st != GF_OK) return st;
    f->seq++;
    f->cells.columns[f->cells.n] = (gf_column){GF_SLICE("seq"), gf_write_number(&digits, f->seq)};
    gf_batch_replace(f->batch, f->store->tables.documents, gf_buffer_view(&f->key),
                     GF_DOCUMENTS_MAIN, f->cells.columns, f->cells.n + 1, 0);
    return write_change(f, w->document.id, false, err);
}

static gf_status write_deletion(flush *f, gf_slice id, gf_error *err)
{
    gf_status st = document_key(f, id, err);
    if (st != GF_OK) return st;
    f->seq++;
    gf_batch_delete_row(f->batch, f->store->tables.documents, gf_buffer_view(&f->key),
                        GF_ALL_FAMILIES);
    return write_change(f, id, true, err);
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
static gf_status equals(flush *f, const gf_waiting *w, const gf_waiting *last, bool *equal,
                        gf_error *err)
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

/* Count what one document does, given whether and what is there before it. */
static gf_status count_one(flush *f, const gf_waiting *w, const gf_waiting *last, bool *there,
                           gf_error *err)
{
    gf_put_counts *counts = &f->counts[w->owner];
    if (w->deletes) {
        *(*there ? &counts->deleted : &counts->absent) += 1;
        *there = false;
        return GF_OK;
    }
    bool equal = false;
    gf_status st = *there ? equals(f, w, last, &equal, err) : GF_OK;
    if (st != GF_OK) return st;
    *(!*there ? &counts->created : equal ? &counts->unchanged : &counts->changed) += 1;
    *there = true;
    return GF_OK;
}

static gf_status read_stored(flush *f, gf_slice id, bool *there, gf_error *err)
{
    gf_status st = document_key(f, id, err);
    if (st != GF_OK) return st;
    st = gf_table_get(f->store->tables.documents, NULL, gf_buffer_view(&f->key),
                      1u << GF_DOCUMENTS_MAIN, &f->document_row, err);
    *there = st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* All that waits for one id: each is counted as if it came alone, the last decides what is written.
 */
static gf_status put_id(flush *f, const gf_waiting *w, size_t n, gf_error *err)
{
    const gf_waiting *last = &w[n - 1];
    bool was_there = false, equal = false;
    gf_status st = read_stored(f, w->document.id, &was_there, err);
    bool there = was_there;
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = count_one(f, &w[i], i ? &w[i - 1] : NULL, &there, err);
    if (st != GF_OK) return st;
    f->size = f->size + there - was_there;
    if (last->deletes) return was_there ? write_deletion(f, last->document.id, err) : GF_OK;
    if (was_there) st = equals(f, last, NULL, &equal, err);
    return st == GF_OK && !equal ? write_document(f, last, err) : st;
}

/* ---- all --------------------------------------------------------------------------------------
 */

/* The first that is no deletion: whose put makes the collection. NULL: all are. */
static const gf_waiting *first_document(const gf_waiting *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!w[i].deletes) return &w[i];
    return NULL;
}

static gf_status put_collection(flush *f, const gf_waiting *w, size_t n, gf_error *err)
{
    gf_status st = begin_collection(f, w->collection, first_document(w, n), err);
    for (size_t i = 0; i < n && st == GF_OK;) {
        size_t end = i + 1;
        while (end < n && gf_slice_equal(w[end].document.id, w[i].document.id))
            end++;
        st = put_id(f, w + i, end - i, err);
        i = end;
    }
    if (st == GF_OK) write_collection(f);
    return st;
}

static gf_status put_all(flush *f, gf_waiting *waiting, size_t n, gf_error *err)
{
    gf_status st = gf_batch_create(f->store->db, &f->batch, err);
    qsort(waiting, n, sizeof *waiting, by_place);
    for (size_t i = 0; i < n && st == GF_OK;) {
        size_t end = i + 1;
        while (end < n && gf_slice_equal(waiting[end].collection, waiting[i].collection))
            end++;
        st = put_collection(f, waiting + i, end - i, err);
        i = end;
    }
    return st == GF_OK ? gf_batch_write(f->batch, GF_SYNC, err) : st;
}

/* What waits in all of them, one behind the other. */
static gf_waiting *gather(gf_put *const *puts, size_t n, size_t *n_waiting)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += puts[i]->n;
    gf_waiting *all = gf_array(total, sizeof *all);
    *n_waiting = total;
    for (size_t i = 0, at = 0; all && i < n; i++)
        for (size_t k = 0; k < puts[i]->n; k++, at++) {
            all[at] = puts[i]->waiting[k];
            all[at].order = (uint32_t)at;
            all[at].owner = (uint32_t)i;
        }
    return all;
}

gf_status gf_puts_write(gf_put *const *puts, size_t n, gf_put_counts *counts, gf_error *err)
{
    flush f = {
        .puts = puts, .counts = counts, .store = puts[0]->store, .now = (uint64_t)gf_clock_ms()};
    size_t n_waiting = puts[0]->n;
    memset(counts, 0, n * sizeof *counts);
    gf_waiting *all = n == 1 ? puts[0]->waiting : gather(puts, n, &n_waiting);
    if (!all) return gf_fail_memory(err, "documents");
    gf_status st = put_all(&f, all, n_waiting, err);
    if (n > 1) gf_free(all);
    gf_batch_free(f.batch);
    gf_collection_row_release(&f.collection);
    gf_row_release(&f.document_row);
    gf_document_cells_release(&f.cells);
    gf_document_cells_release(&f.other_cells);
    gf_buffer_release(&f.key);
    gf_buffer_release(&f.collection_key);
    return st;
}
