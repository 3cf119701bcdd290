/*
 * What waits in a put, or in several, is compared with what is there, and becomes one batch:
 *
 *     documents    the row of each document that is new or has changed
 *     changes      a row for each of them, where the collection has builds that must know
 *     collections  size, seq and time of each collection in which something changed
 *
 * Documents are taken by collection and id, so that the batch is sorted, and those of one id in the
 * order in which they came. Changes are held back (hold.c) until no more will come.
 */
#include "engine/put/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/document_row.h"
#include "engine/rows/scan.h"
#include "engine/store/collections.h"
#include "engine/store/lock.h"

#include <inttypes.h>

enum { AHEAD = 8 }; /* documents from a look at the known ids until its cache line is there */

typedef struct flush {
    const gf_put_part *parts;
    gf_put_counts *counts; /* of each, if this flush gets through */
    gf_known *known;       /* of the one put; NULL: there are several */
    gf_put_hold *hold;     /* of the one put; empty where there are several */
    gf_store *store;
    gf_batch *batch;
    uint64_t now;
    bool last;      /* no more will come of these ids */
    gf_place where; /* the collection at hand */
    bool has_builds, exists;
    uint64_t size, seq, seq_before, modified;
    gf_collection_row collection;
    gf_row document_row;
    gf_document_cells cells, other_cells;
    gf_buffer key, collection_key;
} flush;

/* ---- one collection -------------------------------------------------------------------------- */

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
    if (f->collection.deleting) return gf_collection_fail_deleting(name, err);
    if (!first)
        return gf_fail(err, GF_ENOTFOUND, "there is no collection \"%.*s\"", GF_SLICE_ARG(name));
    f->exists = f->has_builds = false;
    f->size = f->seq = f->seq_before = f->modified = 0;
    const gf_put *p = f->parts[first->owner].put;
    if (p->collections + ++f->counts[first->owner].collections <= p->max_collections) return GF_OK;
    return gf_fail(err, GF_ELIMIT,
                   "more than %" PRIu32 " collections would be made; the next is \"%.*s\" "
                   "(--max-collections raises the limit)",
                   p->max_collections, GF_SLICE_ARG(name));
}

static gf_status begin_collection(flush *f, gf_slice name, const gf_waiting *first, gf_error *err)
{
    f->where = (gf_place){f->parts[0].put->name_space, name};
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
    if (f->known) gf_known_end(f->known, f->seq, modified);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"size", f->size}, {"seq", f->seq}, {"modified", modified}};
    for (size_t i = 0; i < 3; i++) {
        gf_number_digits digits;
        gf_batch_put(f->batch, f->store->tables.collections, gf_buffer_view(&f->collection_key),
                     GF_COLLECTIONS_MAIN, gf_slice_str(numbers[i].name),
                     gf_number_write(&digits, numbers[i].value), 0);
    }
}

/* ---- one document ---------------------------------------------------------------------------- */

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
    gf_number_digits digits;
    gf_status st = document_key(f, w->document.id, err);
    if (st == GF_OK) st = gf_document_to_cells(&w->document, &f->cells, err);
    if (st != GF_OK) return st;
    f->seq++;
    gf_slice seq = gf_batch_keep(f->batch, gf_number_write(&digits, f->seq));
    f->cells.columns[f->cells.n] = (gf_column){GF_SLICE("seq"), seq};
    gf_batch_replace_borrowed(f->batch, f->store->tables.documents, gf_buffer_view(&f->key),
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

/* Whether document w equals another: `other`, or where that is NULL the stored one. */
static gf_status equals(flush *f, const gf_waiting *w, const gf_waiting *other, bool *equal,
                        gf_error *err)
{
    gf_status st = gf_document_to_cells(&w->document, &f->cells, err);
    if (st != GF_OK) return st;
    if (!other) {
        *equal = gf_document_same(&f->document_row, &f->cells);
        return GF_OK;
    }
    st = gf_document_to_cells(&other->document, &f->other_cells, err);
    if (st == GF_OK) *equal = same_cells(&f->cells, &f->other_cells);
    return st;
}

static gf_status read_stored(flush *f, gf_slice id, bool *there, gf_error *err)
{
    bool is_new = false;
    *there = false;
    gf_status st = f->known ? gf_known_add(f->known, id, &is_new, err) : GF_OK;
    if (st != GF_OK || is_new) return st;
    st = document_key(f, id, err);
    if (st != GF_OK) return st;
    st = gf_table_get(f->store->tables.documents, NULL, gf_buffer_view(&f->key),
                      1u << GF_DOCUMENTS_MAIN, &f->document_row, err);
    *there = st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* What becomes of one id: what is there before, and one that may yet replace it. */
typedef struct progress_of_id {
    bool was_there, there;
    const gf_waiting *base; /* what is there, if it came in this batch; NULL: the stored one */
    const gf_waiting *next; /* the change that is not counted yet; may be NULL */
} progress_of_id;

/*
 * Another one has taken its place before it was written: it changes nothing. If that one is
 * another put's, they count as if one had been written after the other.
 */
static void supersede(flush *f, progress_of_id *p, uint32_t owner)
{
    if (!p->next) return;
    bool same = p->next->owner == owner;
    gf_put_counts *counts = &f->counts[p->next->owner];
    *(same ? &counts->unchanged : &counts->changed) += 1;
    if (!same) p->base = p->next;
    p->next = NULL;
}

static gf_status take_one(flush *f, progress_of_id *p, const gf_waiting *w, gf_error *err)
{
    bool equal;
    gf_put_counts *counts = &f->counts[w->owner];
    if (!p->there) {
        *(w->deletes ? &counts->absent : &counts->created) += 1;
        p->there = !w->deletes;
        p->base = w;
        return GF_OK;
    }
    supersede(f, p, w->owner);
    if (w->deletes) {
        counts->deleted++;
        p->there = false;
        return GF_OK;
    }
    gf_status st = equals(f, w, p->base, &equal, err);
    if (st == GF_OK && equal) counts->unchanged++;
    if (st == GF_OK && !equal) p->next = w;
    return st;
}

/* Write what is there now, if that is not what is stored. */
static gf_status write_id(flush *f, const progress_of_id *p, gf_slice id, gf_error *err)
{
    bool equal = false;
    f->size = f->size + p->there - p->was_there;
    if (!p->there) return p->was_there ? write_deletion(f, id, err) : GF_OK;
    if (!p->base) return GF_OK;
    gf_status st = p->was_there ? equals(f, p->base, NULL, &equal, err) : GF_OK;
    return st == GF_OK && !equal ? write_document(f, p->base, err) : st;
}

/*
 * All that waits for one id, in order. Each is counted as what it does, but of several changes only
 * the last is one, wherever batches end: so the same documents again change nothing.
 */
static gf_status put_id(flush *f, const gf_waiting *w, size_t n, gf_error *err)
{
    gf_put_hold *hold = f->hold;
    progress_of_id p = {0};
    gf_put_held *held;
    gf_status st = read_stored(f, w->document.id, &p.was_there, err);
    if (st == GF_OK) st = gf_put_hold_find(hold, w->collection, w->document.id, &held, err);
    if (st != GF_OK) return st;
    p.there = p.was_there;
    if (held) st = take_one(f, &p, &held->waiting, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = take_one(f, &p, &w[i], err);
    if (st == GF_OK && p.next && f->last) {
        f->counts[p.next->owner].changed++;
        p.base = p.next;
        p.next = NULL;
    }
    if (st == GF_OK) st = write_id(f, &p, w->document.id, err);
    if (st == GF_OK && p.next && (!held || p.next != &held->waiting))
        return gf_put_hold_keep(hold, p.next, err);
    if (st == GF_OK && held && !p.next) gf_put_hold_drop(hold, held);
    return st;
}

/* ---- all ------------------------------------------------------------------------------------- */

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
    if (st == GF_OK && f->known)
        st = gf_known_begin(f->known, w->collection, f->size, f->seq, f->modified, err);
    for (size_t i = 0; i < n && st == GF_OK;) {
        size_t end = i + 1;
        while (end < n && gf_slice_equal(w[end].document.id, w[i].document.id))
            end++;
        if (f->known && i + AHEAD < n) gf_known_expect(f->known, w[i + AHEAD].document.id);
        st = put_id(f, w + i, end - i, err);
        i = end;
    }
    if (st == GF_OK) write_collection(f);
    return st;
}

static gf_status put_all(flush *f, gf_waiting *waiting, size_t n, gf_error *err)
{
    gf_status st = gf_batch_create(f->store->db, &f->batch, err);
    if (st == GF_OK) st = gf_put_sort(waiting, n, err);
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
static gf_waiting *gather(const gf_put_part *parts, size_t n, size_t *n_waiting)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += parts[i].collected->n;
    gf_waiting *all = gf_array(total, sizeof *all);
    *n_waiting = total;
    for (size_t i = 0, at = 0; all && i < n; i++)
        for (size_t k = 0; k < parts[i].collected->n; k++, at++) {
            all[at] = parts[i].collected->waiting[k];
            all[at].order = (uint32_t)at;
            all[at].owner = (uint32_t)i;
        }
    return all;
}

gf_status gf_put_write(const gf_put_part *parts, size_t n, gf_put_counts *counts, gf_error *err)
{
    gf_put *first = parts[0].put;
    gf_collected *c = parts[0].collected;
    flush f = {.parts = parts,
               .counts = counts,
               .store = first->store,
               .now = (uint64_t)gf_clock_ms(),
               .last = parts[0].last,
               .known = n == 1 ? &first->known : NULL,
               .hold = &first->hold};
    size_t n_waiting = c->n;
    memset(counts, 0, n * sizeof *counts);
    gf_waiting *all = n == 1 ? c->waiting : gather(parts, n, &n_waiting);
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
