/*
 * Dropping a table: its entries are deleted in chunks, each synced, then its name.
 *
 * They are deleted as they lie, whatever the schema makes of them: versions, blocks of cut values,
 * cells that are past their time to live. The number may then be another table's.
 */
#include "storage/leveldb/internal.h"

enum { CHUNK_ENTRIES = 4000, CHUNK_BYTES = 4 << 20 };

typedef struct chunk {
    leveldb_writebatch_t *batch;
    size_t entries, bytes;
} chunk;

static gf_status end_chunk(gf_leveldb *b, chunk *c, gf_error *err)
{
    if (c->entries == 0) return GF_OK;
    gf_leveldb_hold_all_rows(b); /* a compaction must not write again what it read before this */
    gf_status st = gf_leveldb_commit(b, c->batch, c->bytes, GF_SYNC, err);
    gf_leveldb_let_all_rows(b);
    leveldb_writebatch_clear(c->batch);
    c->entries = c->bytes = 0;
    return st;
}

/* What is read was there when the iterator was made: nobody writes meanwhile. */
static gf_status delete_entries(gf_leveldb *b, gf_slice prefix, chunk *c, const gf_cancel *cancel,
                                gf_error *err)
{
    gf_status st = GF_OK;
    leveldb_iterator_t *it = leveldb_create_iterator(b->db, b->newest.scan);
    if (!it) return gf_fail_memory(err, "dropping a table");
    leveldb_iter_seek(it, prefix.ptr, prefix.len);
    for (; st == GF_OK && leveldb_iter_valid(it); leveldb_iter_next(it)) {
        gf_slice key = gf_leveldb_iterator_key(it);
        if (!gf_slice_starts(key, prefix)) break;
        leveldb_writebatch_delete(c->batch, key.ptr, key.len);
        atomic_fetch_add_explicit(&b->removed, 1, memory_order_relaxed);
        c->bytes += key.len;
        if (++c->entries < CHUNK_ENTRIES && c->bytes < CHUNK_BYTES) continue;
        st = end_chunk(b, c, err);
        if (st == GF_OK) st = gf_cancel_check(cancel, err);
    }
    if (st == GF_OK) st = gf_leveldb_iterator_status(it, err);
    leveldb_iter_destroy(it);
    return st == GF_OK ? end_chunk(b, c, err) : st;
}

gf_status gf_leveldb_drop_table(gf_backend *backend, unsigned table, const gf_cancel *cancel,
                                gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    const char prefix[] = {(char)(table >> 8), (char)table};
    chunk c = {.batch = leveldb_writebatch_create()};
    gf_status st = delete_entries(b, gf_slice_of(prefix, sizeof prefix), &c, cancel, err);
    leveldb_writebatch_destroy(c.batch);
    return st == GF_OK ? gf_catalogue_remove(b, table, err) : st;
}
