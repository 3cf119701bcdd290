/*
 * Repairing: a new store of what can be read of a damaged one.
 *
 *     rescue      every entry that lies outside the damage (storage/folder/rescue.c)
 *     rows        those that cannot be read are deleted: a value that lost a block, say
 *     builds      those that do not agree with themselves are dropped, with what belongs to none
 *     collections size and seq as the documents have them; pointers to builds that are there
 *     members     documents that are lost, and that builds have, count as deleted
 *
 * A deletion that lay in the damage is undone where the deleted row lay outside: nothing shows it.
 */
#include "engine/config/pins.h"
#include "engine/rows/document_row.h"
#include "engine/rows/scan.h"
#include "engine/store/builds.h"
#include "engine/store/collections.h"
#include "engine/store/delete.h"
#include "engine/store/lock.h"
#include "engine/upkeep/verify.h"
#include "engine/user_tables/user_tables_internal.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct repairing {
    const char *from;
    gf_store *store;
    gf_batch *batch;
    gf_visit_fault *visit;
    void *context;
    const gf_cancel *cancel;
    gf_error visit_error; /* of a visitor that failed meanwhile */
    gf_repaired found;
} repairing;

enum { CHANGES_PER_BATCH = 4000 };

static gf_status report(repairing *r, const char *where, const char *what, gf_error *err)
{
    return r->visit(r->context, where, what, err);
}

static gf_status flush_batch(repairing *r, size_t most, gf_error *err)
{
    if (gf_batch_changes(r->batch) <= most) return GF_OK;
    gf_status st = gf_batch_write(r->batch, GF_SYNC_ON, err);
    return st == GF_OK ? gf_cancel_check(r->cancel, err) : st;
}

/* ---- rescue ---------------------------------------------------------------------------------- */

static void note_damage(void *context, const char *file, const char *what)
{
    repairing *r = context;
    r->found.damages++;
    if (r->visit_error.status == GF_OK)
        r->visit_error.status = report(r, file, what, &r->visit_error);
}

static gf_status fill_store(void *context, gf_database *db, gf_error *err)
{
    repairing *r = context;
    gf_tables tables;
    bool catalogue = false;
    gf_status st = gf_folder_rescue(r->from, db, note_damage, r, r->cancel, &catalogue, err);
    if (st == GF_OK && r->visit_error.status != GF_OK) {
        if (err) *err = r->visit_error;
        st = r->visit_error.status;
    }
    /* They get the numbers that they had. */
    return st == GF_OK && !catalogue ? gf_tables_open(db, &tables, err) : st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct row_walk {
    repairing *r;
    gf_table *table;
    unsigned family;
    bool wide;
    gf_row row;
} row_walk;

static gf_status try_row(void *context, const gf_row *found, gf_error *err)
{
    row_walk *w = context;
    gf_error why = {GF_OK, ""};
    uint32_t family = UINT32_C(1) << w->family;
    gf_slice qualifier = w->wide ? found->cells[0].qualifier : (gf_slice){0};
    gf_status st = w->wide ? gf_table_get_cell(w->table, NULL, found->key, w->family, qualifier, 1,
                                               &w->row, &why)
                           : gf_table_get(w->table, NULL, found->key, family, &w->row, &why);
    if (st == GF_OK || st == GF_ENOTFOUND) return gf_cancel_check(w->r->cancel, err);
    if (st != GF_ECORRUPT) {
        if (err) *err = why;
        return st;
    }
    w->r->found.rows++;
    if (w->wide)
        gf_batch_delete_cell(w->r->batch, w->table, found->key, w->family, qualifier);
    else
        gf_batch_delete_row(w->r->batch, w->table, found->key, family);
    st = report(w->r, gf_table_schema(w->table)->name, why.message, err);
    return st == GF_OK ? flush_batch(w->r, CHANGES_PER_BATCH, err) : st;
}

static gf_status try_table(repairing *r, gf_table *table, gf_error *err)
{
    const gf_schema *schema = gf_table_schema(table);
    gf_status st = GF_OK;
    for (unsigned f = 0; f < schema->n_families && st == GF_OK; f++) {
        row_walk w = {.r = r, .table = table, .family = f};
        w.wide = schema->families[f].layout == GF_LAYOUT_WIDE;
        gf_scan_options o = GF_SCAN_OPTIONS(.family = f, .keys_only = true);
        st = gf_scan_each(table, &o, try_row, &w, err);
        gf_row_release(&w.row);
    }
    return st == GF_OK ? flush_batch(r, 0, err) : st;
}

/* A table whose schema is lost cannot be read; what can be is told of by verify, too. */
static gf_status try_user_table(void *context, const char *name, gf_user_table *table,
                                const gf_error *why, gf_error *err)
{
    repairing *r = context;
    if (table) return try_table(r, gf_user_table_rows(table), err);
    r->found.rows++;
    return report(r, name, why->message, err);
}

static gf_status try_tables(repairing *r, gf_error *err)
{
    const gf_tables *t = &r->store->tables;
    gf_table *const all[] = {t->documents, t->collections, t->changes, t->builds,
                             t->clusters,  t->memberships, t->tables};
    gf_status st = GF_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && st == GF_OK; i++)
        st = try_table(r, all[i], err);
    return st == GF_OK ? gf_user_tables_each(r->store, try_user_table, r, err) : st;
}

/* ---- collections ----------------------------------------------------------------------------- */

/* The documents of one collection, counted; the walk goes by key, and so by collection. */
typedef struct counting {
    repairing *r;
    gf_buffer key; /* of the collection at hand; empty: none yet */
    uint64_t size, seq;
    gf_row row;
} counting;

static gf_status put_number(repairing *r, gf_slice key, const char *column, uint64_t v)
{
    gf_number_digits digits;
    gf_batch_put(r->batch, r->store->tables.collections, key, GF_COLLECTIONS_MAIN,
                 gf_slice_str(column), gf_number_write(&digits, v), 0);
    return GF_OK;
}

/* Keep what the row says as far as it can be; its seq is never less than a document's. */
static gf_status correct_collection(repairing *r, gf_slice key, uint64_t size, uint64_t seq,
                                    gf_row *row, gf_error *err)
{
    uint64_t said = 0, before = 0, modified = 0;
    gf_status st =
        gf_table_get(r->store->tables.collections, NULL, key, 1u << GF_COLLECTIONS_MAIN, row, err);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    bool right =
        st == GF_OK && gf_rows_cell_number(gf_row_find(row, GF_COLLECTIONS_MAIN, "size"), &said);
    right &=
        st == GF_OK && gf_rows_cell_number(gf_row_find(row, GF_COLLECTIONS_MAIN, "seq"), &before);
    right &= st == GF_OK &&
             gf_rows_cell_number(gf_row_find(row, GF_COLLECTIONS_MAIN, "modified"), &modified);
    if (right && said == size && before >= seq) return GF_OK;
    r->found.collections++;
    put_number(r, key, "size", size);
    /* Something has changed since any build: so it counts as modified. */
    put_number(r, key, "seq", (before > seq ? before : seq) + 1);
    put_number(r, key, "modified", modified);
    return flush_batch(r, CHANGES_PER_BATCH, err);
}

static gf_status end_collection(counting *c, gf_error *err)
{
    if (c->key.len == 0) return GF_OK;
    return correct_collection(c->r, gf_buffer_view(&c->key), c->size, c->seq, &c->row, err);
}

static gf_status count_document(void *context, const gf_row *row, gf_error *err)
{
    counting *c = context;
    uint64_t seq = 0;
    size_t first = gf_key_string_length(row->key);
    size_t n = first + gf_key_string_length(gf_slice_skip(row->key, first));
    gf_slice key = gf_slice_of(row->key.ptr, n);
    gf_rows_cell_number(gf_row_find(row, GF_DOCUMENTS_MAIN, "seq"), &seq);
    if (!gf_slice_equal(key, gf_buffer_view(&c->key))) {
        gf_status st = end_collection(c, err);
        if (st != GF_OK) return st;
        gf_buffer_reset(&c->key);
        gf_buffer_slice(&c->key, key);
        c->size = c->seq = 0;
    }
    c->size++;
    if (seq > c->seq) c->seq = seq;
    c->r->found.documents++;
    return gf_buffer_check(&c->key, err);
}

/* Collections of which no document is left do not come up in the walk over documents. */
static gf_status check_empty(void *context, const gf_row *found, gf_error *err)
{
    counting *c = context;
    bool any;
    gf_status st = gf_scan_finds(c->r->store->tables.documents, NULL, GF_DOCUMENTS_MAIN, found->key,
                                 &any, err);
    return st == GF_OK && !any ? correct_collection(c->r, found->key, 0, 0, &c->row, err) : st;
}

static gf_status right_collections(repairing *r, gf_error *err)
{
    counting c = {.r = r};
    gf_scan_options documents = GF_SCAN_OPTIONS(.family = GF_DOCUMENTS_MAIN);
    gf_scan_options collections = GF_SCAN_OPTIONS(.family = GF_COLLECTIONS_MAIN, .keys_only = true);
    gf_status st = gf_scan_each(r->store->tables.documents, &documents, count_document, &c, err);
    if (st == GF_OK) st = end_collection(&c, err);
    if (st == GF_OK)
        st = gf_scan_each(r->store->tables.collections, &collections, check_empty, &c, err);
    if (st == GF_OK) st = flush_batch(r, 0, err);
    gf_buffer_release(&c.key);
    gf_row_release(&c.row);
    return st;
}

/* ---- builds ---------------------------------------------------------------------------------- */

/* The keys of all builds of which any row is there. */
typedef struct build_keys {
    repairing *r;
    gf_buffer keys; /* varint lengths and bytes */
    gf_buffer last;
} build_keys;

static gf_status note_build(void *context, const gf_row *row, gf_error *err)
{
    build_keys *k = context;
    size_t n = 0;
    for (int part = 0; part < 3; part++)
        n += gf_key_string_length(gf_slice_skip(row->key, n));
    gf_slice key = gf_slice_of(row->key.ptr, n + 8);
    if (gf_slice_equal(key, gf_buffer_view(&k->last))) return GF_OK;
    gf_buffer_reset(&k->last);
    gf_buffer_slice(&k->last, key);
    gf_buffer_string(&k->keys, key);
    gf_status st = gf_buffer_check(&k->last, err);
    return st == GF_OK ? gf_buffer_check(&k->keys, err) : st;
}

static gf_status list_builds(build_keys *k, gf_error *err)
{
    const gf_tables *t = &k->r->store->tables;
    gf_table *const all[] = {t->builds, t->clusters, t->memberships};
    gf_status st = GF_OK;
    for (size_t i = 0; i < 3; i++)
        for (unsigned f = 0; f < gf_table_schema(all[i])->n_families && st == GF_OK; f++) {
            gf_scan_options o = GF_SCAN_OPTIONS(.family = f, .keys_only = true);
            st = gf_scan_each(all[i], &o, note_build, k, err);
        }
    return st;
}

/* Dropped builds may still be pointed to: those pointers go. */
static gf_status drop_pointer(repairing *r, gf_place where, gf_slice configuration, uint64_t build,
                              gf_error *err)
{
    static const char *const what[] = {"rebuilt", "processed"};
    gf_collection_row row = {0};
    gf_buffer key = {0}, column = {0};
    gf_status st = gf_collection_row_read(r->store, NULL, where, &row, err);
    bool served = st == GF_OK && gf_collection_row_served(&row, configuration) == (int64_t)build;
    gf_tables_collection_key(&key, where.name_space, where.collection);
    if (st == GF_OK || st == GF_ENOTFOUND) st = gf_buffer_check(&key, err);
    for (size_t i = 0; i < 2 && st == GF_OK && served; i++) {
        gf_buffer_reset(&column);
        gf_collection_row_column(&column, configuration, what[i]);
        st = gf_buffer_check(&column, err);
        if (st == GF_OK)
            gf_batch_delete_cell(r->batch, r->store->tables.collections, gf_buffer_view(&key),
                                 GF_COLLECTIONS_MAIN, gf_buffer_view(&column));
    }
    gf_collection_row_release(&row);
    gf_buffer_release(&key);
    gf_buffer_release(&column);
    return st;
}

static gf_status drop_build(repairing *r, gf_place where, gf_slice configuration, uint64_t build,
                            gf_slice key, gf_error *err)
{
    char name[256];
    snprintf(name, sizeof name, "collection \"%.*s\", build %" PRIu64,
             GF_SLICE_ARG(where.collection), build);
    r->found.builds++;
    gf_status st = report(r, name, "it is not whole, and is dropped", err);
    if (st == GF_OK) st = drop_pointer(r, where, configuration, build, err);
    if (st == GF_OK) st = gf_delete_build(r->store, key, r->batch, err);
    return st == GF_OK ? flush_batch(r, 0, err) : st;
}

/* ---- members whose documents are lost -------------------------------------------------------- */

typedef struct member_walk {
    repairing *r;
    gf_place where;
    uint64_t seq, lost; /* of the collection */
    gf_buffer id, key;
} member_walk;

static gf_status check_member(void *context, const gf_row *row, gf_error *err)
{
    member_walk *w = context;
    bool there;
    gf_buffer_reset(&w->id);
    gf_buffer_reset(&w->key);
    gf_status st =
        gf_tables_key_last_string(w->r->store->tables.memberships, row->key, &w->id, err);
    gf_tables_document_key(&w->key, w->where.name_space, w->where.collection,
                           gf_buffer_view(&w->id));
    if (st == GF_OK) st = gf_buffer_check(&w->key, err);
    if (st == GF_OK)
        st = gf_scan_finds(w->r->store->tables.documents, NULL, GF_DOCUMENTS_MAIN,
                           gf_buffer_view(&w->key), &there, err);
    if (st != GF_OK || there) return st;
    gf_buffer_reset(&w->key);
    gf_tables_change_key(&w->key, w->where.name_space, w->where.collection, w->seq + ++w->lost);
    st = gf_buffer_check(&w->key, err);
    gf_column columns[] = {{GF_SLICE("id"), gf_buffer_view(&w->id)},
                           {GF_SLICE("operation"), GF_SLICE("delete")}};
    if (st == GF_OK)
        gf_batch_replace(w->r->batch, w->r->store->tables.changes, gf_buffer_view(&w->key),
                         GF_CHANGES_MAIN, columns, 2, 0);
    return st == GF_OK ? flush_batch(w->r, CHANGES_PER_BATCH, err) : st;
}

static gf_status check_members(repairing *r, gf_place where, gf_slice build_key, gf_error *err)
{
    gf_collection_row row = {0};
    gf_buffer key = {0};
    member_walk w = {.r = r, .where = where};
    gf_scan_options o =
        GF_SCAN_OPTIONS(.family = GF_MEMBERSHIPS_MAIN, .prefix = build_key, .keys_only = true);
    gf_status st = gf_collection_row_read(r->store, NULL, where, &row, err);
    w.seq = row.seq;
    if (st == GF_OK) st = gf_scan_each(r->store->tables.memberships, &o, check_member, &w, err);
    gf_tables_collection_key(&key, where.name_space, where.collection);
    if (st == GF_OK) st = gf_buffer_check(&key, err);
    if (st == GF_OK && w.lost) put_number(r, gf_buffer_view(&key), "seq", w.seq + w.lost);
    if (st == GF_OK) st = flush_batch(r, 0, err);
    gf_collection_row_release(&row);
    gf_buffer_release(&key);
    gf_buffer_release(&w.id);
    gf_buffer_release(&w.key);
    return st;
}

static gf_status right_build(repairing *r, gf_slice key, gf_buffer parts[3], gf_error *err)
{
    gf_slice rest = key;
    uint64_t build = 0;
    bool whole = false;
    gf_status st = GF_OK;
    for (int i = 0; i < 3 && st == GF_OK; i++) {
        gf_buffer_reset(&parts[i]);
        gf_key_take_string(&rest, &parts[i]);
        st = gf_buffer_check(&parts[i], err);
    }
    if (st == GF_OK && (!gf_key_take_u64(&rest, &build) || rest.len))
        st = gf_fail(err, GF_ECORRUPT, "table builds: a key is damaged");
    gf_place where = {gf_buffer_view(&parts[0]), gf_buffer_view(&parts[1])};
    gf_slice configuration = gf_buffer_view(&parts[2]);
    if (st == GF_OK)
        st =
            gf_verify_build(r->store, where, configuration, (int64_t)build, r->cancel, &whole, err);
    if (st != GF_OK) return st;
    return whole ? check_members(r, where, key, err)
                 : drop_build(r, where, configuration, build, key, err);
}

static gf_status right_builds(repairing *r, gf_error *err)
{
    build_keys k = {.r = r};
    gf_buffer parts[3] = {{0}};
    gf_slice key;
    gf_status st = list_builds(&k, err);
    for (gf_slice rest = gf_buffer_view(&k.keys); st == GF_OK && gf_slice_take_string(&rest, &key);)
        st = right_build(r, key, parts, err);
    for (int i = 0; i < 3; i++)
        gf_buffer_release(&parts[i]);
    gf_buffer_release(&k.keys);
    gf_buffer_release(&k.last);
    return st;
}

/* ---- all ------------------------------------------------------------------------------------- */

static gf_status set_store_right(void *context, const char *to, gf_error *err)
{
    repairing *r = context;
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "repair", .cancel = r->cancel);
    gf_status st = gf_store_open(to, &o, &r->store, err);
    if (st == GF_OK) st = gf_batch_create(r->store->db, &r->batch, err);
    if (st == GF_OK) st = try_tables(r, err);
    if (st == GF_OK) st = right_collections(r, err);
    if (st == GF_OK) {
        st = gf_store_lock(r->store, err); /* what was cut short goes first */
        gf_store_unlock(r->store);
    }
    if (st == GF_OK) st = right_builds(r, err);
    gf_batch_free(r->batch);
    gf_store_close(r->store);
    return st;
}

/* Nobody may use the store meanwhile. A damaged marker is one more damage. */
static gf_status hold(repairing *r, const gf_store_options *options, gf_folder **folder,
                      gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_hold_options o = {
        .wait_seconds = options->wait_seconds, .purpose = "repair", .cancel = options->cancel};
    gf_status st = gf_folder_hold(r->from, &o, folder, &why);
    if (st == GF_ECORRUPT) {
        note_damage(r, "grouperfish.store", why.message);
        return GF_OK;
    }
    if (st != GF_OK && err) *err = why;
    return st;
}

gf_status gf_repair(const char *path, const char *to, const gf_store_options *options,
                    gf_visit_fault *visit, void *context, gf_repaired *repaired, gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_STORE_OPTIONS_VERSION, "gf_store_options", err);
    if (known != GF_OK) return known;
    gf_folder *folder = NULL;
    repairing r = {.from = path,
                   .visit = visit,
                   .context = context,
                   .cancel = options->cancel,
                   .visit_error = {GF_OK, ""}};
    gf_status st = hold(&r, options, &folder, err);
    if (st == GF_OK) st = gf_folder_make(to, fill_store, set_store_right, &r, err);
    gf_folder_release(folder);
    if (st == GF_OK) *repaired = r.found;
    return st;
}
