/*
 * Dropping a table: its entries are deleted in chunks, each synced, then its name.
 *
 * They are deleted as raw entries, without the schema: versions, blocks of cut values,
 * cells that are past their time to live. The number may then be another table's.
 */
#include "storage/leveldb/catalogue.h"

enum { CHUNK_ENTRIES = 4000, CHUNK_BYTES = 4 << 20 };

typedef struct chunk {
    gf_leveldb_batch *batch;
    size_t entries;
} chunk;

static gf_status end_chunk(gf_leveldb *b, chunk *c, gf_error *err)
{
    if (c->entries == 0) return GF_OK;
    gf_leveldb_lock_all_rows(b); /* a compaction must not write again what it read before this */
    gf_status st = gf_leveldb_commit(b, c->batch, GF_SYNC_ON, err);
    gf_leveldb_unlock_all_rows(b);
    gf_leveldb_batch_clear(c->batch);
    c->entries = 0;
    return st;
}

/* The iterator sees the entries of its beginning, which are all: nobody writes meanwhile. */
static gf_status delete_entries(gf_leveldb *b, gf_slice prefix, chunk *c, const gf_cancel *cancel,
                                gf_error *err)
{
    gf_status st = GF_OK;
    gf_leveldb_iterator *it = gf_leveldb_iterator_create(b->db, NULL, false);
    gf_leveldb_iterator_seek(it, prefix);
    for (; st == GF_OK && gf_leveldb_iterator_valid(it); gf_leveldb_iterator_next(it)) {
        gf_slice key = gf_leveldb_iterator_key(it);
        if (!gf_slice_starts(key, prefix)) break;
        gf_leveldb_batch_delete(c->batch, key);
        if (++c->entries < CHUNK_ENTRIES && gf_leveldb_batch_bytes(c->batch) < CHUNK_BYTES)
            continue;
        st = end_chunk(b, c, err);
        if (st == GF_OK) st = gf_cancel_check(cancel, err);
    }
    if (st == GF_OK) st = gf_leveldb_iterator_status(it, err);
    gf_leveldb_iterator_free(it);
    return st == GF_OK ? end_chunk(b, c, err) : st;
}

gf_status gf_leveldb_drop_table(gf_backend *backend, unsigned table, const gf_cancel *cancel,
                                gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    const char prefix[] = {(char)(table >> 8), (char)table};
    gf_status st = gf_leveldb_check_writable(b, err);
    if (st != GF_OK) return st;
    chunk c = {.batch = gf_leveldb_batch_create()};
    st = delete_entries(b, gf_slice_of(prefix, sizeof prefix), &c, cancel, err);
    gf_leveldb_batch_free(c.batch);
    return st == GF_OK ? gf_leveldb_catalogue_remove(b, table, err) : st;
}
