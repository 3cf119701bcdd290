/*
 * Rows of one put, or of several, are compared with the store, and become one batch:
 *
 *     documents    the row of each document that is new or has changed
 *     changes      a row for each of them, if the collection has builds, which need them
 *     collections  size, seq and time of each collection in which something changed
 *
 * Rows are written by collection and id, so that the batch is sorted; those of one id are compared
 * in order of arrival. Changes are held back (held_changes.c) until no more will come.
 */
#include "engine/put/put_internal.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/scan.h"
#include "engine/store/collections.h"
#include "engine/store/hold.h"
#include "engine/store/lease.h"

#include <assert.h>
#include <inttypes.h>

enum { AHEAD = 8 }; /* rows between the prefetch of an id's slot and its use */

typedef struct flush {
    const gf_put_part *parts;
    gf_put_counts *counts; /* of each part, if this flush gets through */
    gf_seen_ids *seen;     /* of the only put; NULL: there are several */
    gf_held_changes *held; /* of the only put; empty where there are several */
    bool last;             /* no more of these ids will come */
    gf_store *store;
    gf_batch *batch;
    uint64_t now;
    /* The collection at hand. */
    gf_place where;
    bool exists, has_builds;
    uint64_t size, seq, seq_before, modified;
    gf_collection_row collection;
    gf_buffer collection_key;
    /* The document at hand. */
    gf_row stored;
    gf_buffer key;
} flush;

/* ---- the collection -------------------------------------------------------------------------- */

/* A missing collection is made, unless all its rows are deletions. */
static gf_status begin_new(flush *f, const gf_put_row *rows, size_t n, gf_error *err)
{
    gf_slice name = f->where.collection;
    const gf_put_row *first = rows; /* that is no deletion: its put makes the collection */
    if (f->collection.deleting) return gf_collection_fail_deleting(name, err);
    while (first < rows + n && !first->columns)
        first++;
    if (first == rows + n)
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

/* Read the numbers of the rows' collection, and whether changes must be kept for any build. */
static gf_status begin_collection(flush *f, const gf_put_row *rows, size_t n, gf_error *err)
{
    f->where = (gf_place){f->parts[0].put->name_space, rows->collection};
    gf_buffer_reset(&f->collection_key);
    gf_tables_collection_key(&f->collection_key, f->where.name_space, f->where.collection);
    gf_slice key = gf_buffer_view(&f->collection_key);
    gf_lease_owner owner = {false, ""};
    gf_status st = gf_buffer_check(&f->collection_key, err);
    if (st == GF_OK) st = gf_collection_row_read(f->store, NULL, f->where, &f->collection, err);
    if (st == GF_ENOTFOUND) return begin_new(f, rows, n, err);
    if (st != GF_OK) return st;
    f->exists = true;
    f->size = f->collection.size;
    f->seq = f->seq_before = f->collection.seq;
    f->modified = (uint64_t)f->collection.modified;
    st = gf_scan_finds(f->store->tables.builds, NULL, GF_BUILDS_MAIN, key, &f->has_builds, err);
    if (st == GF_OK && !f->has_builds) {
        st = gf_lease_find(f->store, key, &owner, err); /* of a build under way */
        f->has_builds = owner.living;
    }
    return st;
}

/* A new collection's row is written also if no document stays in it. */
static void write_collection(flush *f)
{
    assert(f->seq >= f->seq_before);
    if (f->exists && f->seq == f->seq_before) return;
    uint64_t modified = f->modified;
    if (f->seq != f->seq_before && f->now > modified) modified = f->now;
    if (f->seen) gf_seen_ids_end(f->seen, f->seq, modified);
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

/* Read the stored row, unless the id is surely new. */
static gf_status read_stored(flush *f, gf_slice id, bool *there, gf_error *err)
{
    bool is_new = false;
    *there = false;
    gf_buffer_reset(&f->key);
    gf_tables_document_key(&f->key, f->where.name_space, f->where.collection, id);
    gf_status st = gf_buffer_check(&f->key, err);
    if (st == GF_OK && f->seen) st = gf_seen_ids_add(f->seen, id, &is_new, err);
    if (st != GF_OK || is_new) return st;
    st = gf_table_get(f->store->tables.documents, NULL, gf_buffer_view(&f->key),
                      1u << GF_DOCUMENTS_MAIN, &f->stored, err);
    *there = st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Do two rows hold the same document, whatever their seq? */
static bool same_document(const gf_put_row *a, const gf_put_row *b)
{
    bool same = a->n == b->n && a->seq_at == b->seq_at;
    for (uint32_t i = 0; same && i < a->n; i++)
        same = i == a->seq_at || (gf_slice_equal(a->columns[i].name, b->columns[i].name) &&
                                  gf_slice_equal(a->columns[i].value, b->columns[i].value));
    return same;
}

static bool is_stored(const flush *f, const gf_put_row *row)
{
    return gf_document_row_equals(&f->stored, row->columns, row->n);
}

/* Write the document at hand (columns NULL: delete it), and the change for builds. */
static gf_status write_row(flush *f, const gf_put_row *row, gf_error *err)
{
    gf_number_digits digits;
    gf_slice key = gf_buffer_view(&f->key), seq = gf_number_write(&digits, ++f->seq);
    gf_table *documents = f->store->tables.documents;
    if (row->columns) {
        row->columns[row->seq_at].value = gf_batch_keep(f->batch, seq);
        gf_batch_replace_borrowed(f->batch, documents, key, GF_DOCUMENTS_MAIN, row->columns, row->n,
                                  0);
    } else {
        gf_batch_delete_row(f->batch, documents, key, GF_ALL_FAMILIES);
    }
    if (!f->has_builds) return GF_OK;
    gf_buffer_reset(&f->key);
    gf_tables_change_key(&f->key, f->where.name_space, f->where.collection, f->seq);
    gf_status st = gf_buffer_check(&f->key, err);
    if (st != GF_OK) return st;
    gf_column change[] = {
        {GF_SLICE("id"), row->id},
        {GF_SLICE("operation"), row->columns ? GF_SLICE("put") : GF_SLICE("delete")}};
    gf_batch_replace(f->batch, f->store->tables.changes, gf_buffer_view(&f->key), GF_CHANGES_MAIN,
                     change, 2, 0);
    return GF_OK;
}

/*
 * All rows of one id, in order. Each is counted by its effect, but of several changes only the last
 * is one, wherever batches end: so the same documents again change nothing.
 */
static gf_status put_id(flush *f, const gf_put_row *rows, size_t n, gf_error *err)
{
    const gf_put_row *base = NULL; /* the document's newest row here; NULL: the stored one */
    const gf_put_row *next = NULL; /* a change of it that is not counted yet */
    gf_put_row *held;
    bool was_there;
    gf_status st = read_stored(f, rows->id, &was_there, err);
    if (st == GF_OK) st = gf_held_changes_find(f->held, rows->collection, rows->id, &held, err);
    if (st != GF_OK) return st;

    /* ---- compare and count, the held change first --- */
    bool there = was_there;
    for (size_t i = held ? 0 : 1; i <= n; i++) {
        const gf_put_row *row = i ? &rows[i - 1] : held;
        gf_put_counts *counts = &f->counts[row->owner];
        if (!there) {
            ++*(row->columns ? &counts->created : &counts->absent);
            there = row->columns != NULL;
            base = row;
            continue;
        }
        /* A change that is replaced before it is written changes nothing. If another put replaces
         * it, both count as if written one after the other. */
        if (next && next->owner == row->owner) {
            counts->unchanged++;
        } else if (next) {
            f->counts[next->owner].changed++;
            base = next;
        }
        next = NULL;
        if (!row->columns) {
            counts->deleted++;
            there = false;
        } else if (base ? same_document(base, row) : is_stored(f, row)) {
            counts->unchanged++;
        } else {
            next = row;
        }
    }
    if (next && f->last) {
        f->counts[next->owner].changed++;
        base = next;
        next = NULL;
    }

    /* ---- write the difference to the store --- */
    f->size = f->size + there - was_there;
    if (!there) {
        gf_put_row deletion = {.id = rows->id};
        if (was_there) st = write_row(f, &deletion, err);
    } else if (base && !(was_there && is_stored(f, base))) {
        st = write_row(f, base, err);
    }

    /* ---- hold back a change that may not be the last --- */
    if (st == GF_OK && next && next != held) return gf_held_changes_keep(f->held, next, err);
    if (st == GF_OK && held && !next) gf_held_changes_drop(f->held, held);
    return st;
}

/* ---- holding --------------------------------------------------------------------------------- */

/* Rows of one collection mostly follow one another. */
static bool add_collections(const gf_put_row *rows, size_t n, gf_slice **names, size_t *n_names,
                            size_t *capacity)
{
    for (size_t i = 0; i < n; i++) {
        if (*n_names && gf_slice_equal((*names)[*n_names - 1], rows[i].collection)) continue;
        if (!gf_grow(names, capacity, *n_names + 1, sizeof **names)) return false;
        (*names)[(*n_names)++] = rows[i].collection;
    }
    return true;
}

gf_status gf_put_hold(const gf_put_part *parts, size_t n, gf_hold *hold, gf_error *err)
{
    gf_slice *names = NULL;
    size_t n_names = 0, capacity = 0;
    bool good = true;
    *hold = (gf_hold){0};
    for (size_t i = 0; i < n && good; i++)
        good = add_collections(parts[i].rows->at, parts[i].rows->n, &names, &n_names, &capacity);
    gf_status st = good ? gf_hold_collections(parts[0].put->store, parts[0].put->name_space, names,
                                              n_names, hold, err)
                        : gf_fail_memory(err, "documents");
    gf_free(names);
    return st;
}

/* ---- all ------------------------------------------------------------------------------------- */

static gf_status put_collection(flush *f, const gf_put_row *rows, size_t n, gf_error *err)
{
    gf_status st = begin_collection(f, rows, n, err);
    if (st == GF_OK && f->seen)
        st = gf_seen_ids_begin(f->seen, rows->collection, f->size, f->seq, f->modified, err);
    for (size_t i = 0; i < n && st == GF_OK;) {
        size_t end = i + 1;
        while (end < n && gf_slice_equal(rows[end].id, rows[i].id))
            end++;
        if (f->seen && i + AHEAD < n) gf_seen_ids_prefetch(f->seen, rows[i + AHEAD].id);
        st = put_id(f, rows + i, end - i, err);
        i = end;
    }
    if (st == GF_OK) write_collection(f);
    return st;
}

/* The rows of all parts, in their order. */
static gf_put_row *join_parts(const gf_put_part *parts, size_t n_parts, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < n_parts; i++)
        *n += parts[i].rows->n;
    gf_put_row *all = gf_array(*n, sizeof *all);
    for (size_t i = 0, at = 0; all && i < n_parts; i++)
        for (size_t k = 0; k < parts[i].rows->n; k++, at++) {
            all[at] = parts[i].rows->at[k];
            all[at].order = (uint32_t)at;
            all[at].owner = (uint32_t)i;
        }
    return all;
}

gf_status gf_put_write(const gf_put_part *parts, size_t n_parts, gf_put_counts *counts,
                       gf_error *err)
{
    gf_put *first = parts[0].put;
    flush f = {.parts = parts,
               .counts = counts,
               .store = first->store,
               .now = (uint64_t)gf_clock_ms(),
               .last = parts[0].last,
               .seen = n_parts == 1 ? &first->seen : NULL,
               .held = &first->held};
    assert(n_parts == 1 || (f.last && f.held->n == 0));
    memset(counts, 0, n_parts * sizeof *counts);
    size_t n = parts[0].rows->n;
    gf_put_row *rows = n_parts == 1 ? parts[0].rows->at : join_parts(parts, n_parts, &n);
    if (!rows) return gf_fail_memory(err, "documents");
    gf_status st = gf_batch_create(f.store->db, &f.batch, err);
    if (st == GF_OK) st = gf_put_sort(rows, n, err);
    for (size_t i = 0; i < n && st == GF_OK;) {
        size_t end = i + 1;
        while (end < n && gf_slice_equal(rows[end].collection, rows[i].collection))
            end++;
        st = put_collection(&f, rows + i, end - i, err);
        i = end;
    }
    if (st == GF_OK) st = gf_batch_write(f.batch, GF_SYNC_ON, err);
    if (n_parts > 1) gf_free(rows);
    gf_batch_free(f.batch);
    gf_collection_row_release(&f.collection);
    gf_row_release(&f.stored);
    gf_buffer_release(&f.key);
    gf_buffer_release(&f.collection_key);
    return st;
}
