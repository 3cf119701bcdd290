/*
 * Repairing collections: their rows as the rows below them say.
 *
 *     size      documents that there are
 *     seq       no less than that of any document, change and build; one more where it was wrong,
 *               so that the collection counts as modified
 *     changes   of collections that are not there go: a namesake would take them for its own
 */
#include "engine/upkeep/repair_internal.h"

#include "base/number.h"
#include "engine/rows/collection_row.h"
#include "engine/rows/scan.h"

/* The documents of one collection, counted; the walk goes by key, and so by collection. */
typedef struct counting {
    gf_repairing *r;
    gf_buffer key; /* of the collection at hand; empty: none yet */
    uint64_t size, seq;
    gf_row row;
} counting;

void gf_repair_put_number(gf_repairing *r, gf_slice key, gf_slice column, uint64_t v)
{
    gf_number_digits digits;
    gf_batch_put(r->batch, r->store->tables.collections, key, GF_COLLECTIONS_MAIN, column,
                 gf_number_write(&digits, v), 0);
}

/* ---- the highest sequence number ------------------------------------------------------------- */

static gf_status raise_to_change(void *context, const gf_row *row, gf_error *err)
{
    counting *c = context;
    uint64_t seq = 0;
    gf_status st = gf_tables_key_last_number(c->r->store->tables.changes, row->key, &seq, err);
    if (seq > c->seq) c->seq = seq;
    return st;
}

static gf_status raise_to_build(void *context, const gf_row *row, gf_error *err)
{
    counting *c = context;
    uint64_t seq = 0;
    (void)err;
    gf_rows_cell_number(gf_row_find(row, GF_BUILDS_MAIN, "seq"), &seq);
    if (seq > c->seq) c->seq = seq;
    return GF_OK;
}

static gf_status raise_seq(counting *c, gf_slice key, gf_error *err)
{
    const gf_tables *t = &c->r->store->tables;
    gf_scan_options last = GF_SCAN_OPTIONS(.family = GF_CHANGES_MAIN, .prefix = key, .limit = 1,
                                           .reverse = true, .keys_only = true);
    gf_scan_options builds = GF_SCAN_OPTIONS(.family = GF_BUILDS_MAIN, .prefix = key);
    gf_status st = gf_scan_each(t->changes, &last, raise_to_change, c, err);
    return st == GF_OK ? gf_scan_each(t->builds, &builds, raise_to_build, c, err) : st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Keep what the row says as far as it can be; its seq is never less than any other. */
static gf_status correct_collection(counting *c, gf_slice key, gf_error *err)
{
    gf_repairing *r = c->r;
    uint64_t said = 0, before = 0, modified = 0;
    gf_status st = raise_seq(c, key, err);
    if (st != GF_OK) return st;
    st = gf_table_get(r->store->tables.collections, NULL, key, 1u << GF_COLLECTIONS_MAIN, &c->row,
                      err);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    const gf_row *row = &c->row;
    bool right =
        st == GF_OK && gf_rows_cell_number(gf_row_find(row, GF_COLLECTIONS_MAIN, "size"), &said);
    right &=
        st == GF_OK && gf_rows_cell_number(gf_row_find(row, GF_COLLECTIONS_MAIN, "seq"), &before);
    right &= st == GF_OK &&
             gf_rows_cell_number(gf_row_find(row, GF_COLLECTIONS_MAIN, "modified"), &modified);
    if (right && said == c->size && before >= c->seq) return GF_OK;
    r->found.collections++;
    gf_repair_put_number(r, key, GF_SLICE("size"), c->size);
    /* Something has changed since any build: so it counts as modified. */
    gf_repair_put_number(r, key, GF_SLICE("seq"), (before > c->seq ? before : c->seq) + 1);
    gf_repair_put_number(r, key, GF_SLICE("modified"), modified);
    return gf_repair_flush(r, GF_REPAIR_CHANGES, err);
}

static gf_status end_collection(counting *c, gf_error *err)
{
    return c->key.len ? correct_collection(c, gf_buffer_view(&c->key), err) : GF_OK;
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
    return gf_buffer_check(&c->key, err);
}

/* Collections of which no document is left do not come up in the walk over documents. */
static gf_status check_empty(void *context, const gf_row *found, gf_error *err)
{
    counting *c = context;
    bool any;
    gf_status st = gf_scan_finds(c->r->store->tables.documents, NULL, GF_DOCUMENTS_MAIN, found->key,
                                 &any, err);
    if (st != GF_OK || any) return st;
    c->size = c->seq = 0;
    return correct_collection(c, found->key, err);
}

/* ---- changes of no collection ---------------------------------------------------------------- */

static gf_status check_change(void *context, const gf_row *found, gf_error *err)
{
    counting *c = context;
    gf_repairing *r = c->r;
    size_t first = gf_key_string_length(found->key);
    size_t n = first + gf_key_string_length(gf_slice_skip(found->key, first));
    gf_slice key = gf_slice_of(found->key.ptr, n);
    if (!gf_slice_equal(key, gf_buffer_view(&c->key))) {
        gf_buffer_reset(&c->key);
        gf_buffer_slice(&c->key, key);
        gf_status st = gf_buffer_check(&c->key, err);
        if (st != GF_OK) return st;
        st = gf_table_get(r->store->tables.collections, NULL, gf_buffer_view(&c->key),
                          GF_ALL_FAMILIES, &c->row, err);
        if (st != GF_OK && st != GF_ENOTFOUND) return st;
        c->size = st == GF_OK;
    }
    if (c->size) return GF_OK;
    gf_batch_delete_row(r->batch, r->store->tables.changes, found->key, GF_ALL_FAMILIES);
    return gf_repair_flush(r, GF_REPAIR_CHANGES, err);
}

gf_status gf_repair_collections(gf_repairing *r, gf_error *err)
{
    counting c = {.r = r};
    gf_scan_options documents = GF_SCAN_OPTIONS(.family = GF_DOCUMENTS_MAIN);
    gf_scan_options collections = GF_SCAN_OPTIONS(.family = GF_COLLECTIONS_MAIN, .keys_only = true);
    gf_scan_options changes = GF_SCAN_OPTIONS(.family = GF_CHANGES_MAIN, .keys_only = true);
    gf_status st = gf_scan_each(r->store->tables.documents, &documents, count_document, &c, err);
    if (st == GF_OK) st = end_collection(&c, err);
    if (st == GF_OK)
        st = gf_scan_each(r->store->tables.collections, &collections, check_empty, &c, err);
    if (st == GF_OK) st = gf_repair_flush(r, 0, err);
    gf_buffer_reset(&c.key);
    if (st == GF_OK) st = gf_scan_each(r->store->tables.changes, &changes, check_change, &c, err);
    if (st == GF_OK) st = gf_repair_flush(r, 0, err);
    gf_buffer_release(&c.key);
    gf_row_release(&c.row);
    return st;
}
