/* Filling a database entry by entry: keys and values as they lie, of all tables. */
#include "storage/leveldb/internal.h"

#include "base/memory.h"
#include "storage/leveldb/backend.h"

enum { BATCH_BYTES = 4 << 20 };

struct gf_backend_fill {
    gf_leveldb *to;
    gf_leveldb_batch *batch;
    const gf_cancel *cancel;
    gf_backend_filled filled;
};

gf_status gf_leveldb_fill_begin(gf_backend *to, const gf_cancel *cancel, gf_backend_fill **fill,
                                gf_error *err)
{
    gf_backend_fill *f = gf_malloc(sizeof *f);
    if (!f) return gf_fail_memory(err, "a copy");
    *f = (gf_backend_fill){
        .to = (gf_leveldb *)to, .batch = gf_leveldb_batch_create(), .cancel = cancel};
    *fill = f;
    return GF_OK;
}

/* Each batch is synced: LevelDB does not sync a log that it has left behind. */
static gf_status commit_batch(gf_backend_fill *f, gf_error *err)
{
    gf_status st = GF_OK;
    if (gf_leveldb_batch_bytes(f->batch)) st = gf_leveldb_commit(f->to, f->batch, GF_SYNC_ON, err);
    gf_leveldb_batch_clear(f->batch);
    return st == GF_OK ? gf_cancel_check(f->cancel, err) : st;
}

gf_status gf_leveldb_fill_put(gf_backend_fill *f, gf_slice key, gf_slice value, gf_error *err)
{
    gf_leveldb_batch_put(f->batch, key, value);
    f->filled.names |= gf_slice_starts(key, gf_slice_of("\0\0T", 3));
    const unsigned char *number = (const unsigned char *)key.ptr;
    unsigned table = key.len < 2 ? 0 : (unsigned)number[0] << 8 | number[1];
    if (table < GF_MAX_TABLES) f->filled.used[table / 8] |= (unsigned char)(1u << table % 8);
    return gf_leveldb_batch_bytes(f->batch) < BATCH_BYTES ? GF_OK : commit_batch(f, err);
}

gf_status gf_leveldb_fill_end(gf_backend_fill *f, gf_status st, gf_backend_filled *filled,
                              gf_error *err)
{
    if (!f) return st;
    if (st == GF_OK) st = commit_batch(f, err);
    if (st == GF_OK && filled) *filled = f->filled;
    gf_leveldb_batch_free(f->batch);
    gf_free(f);
    return st;
}

/* An iterator that fails has no entry: so it is asked behind the last, and at each. */
static gf_status copy_entries(gf_leveldb_iterator *it, gf_backend_fill *f, gf_error *err)
{
    gf_status st = GF_OK;
    gf_leveldb_iterator_first(it);
    for (; st == GF_OK && gf_leveldb_iterator_valid(it); gf_leveldb_iterator_next(it)) {
        st = gf_leveldb_iterator_status(it, err);
        if (st == GF_OK)
            st = gf_leveldb_fill_put(f, gf_leveldb_iterator_key(it), gf_leveldb_iterator_value(it),
                                     err);
    }
    return st == GF_OK ? gf_leveldb_iterator_status(it, err) : st;
}

gf_status gf_leveldb_copy(gf_backend *from, gf_backend *to, const gf_cancel *cancel, gf_error *err)
{
    gf_backend_fill *fill = NULL;
    gf_leveldb *b = (gf_leveldb *)from;
    gf_status st = gf_leveldb_fill_begin(to, cancel, &fill, err);
    if (st != GF_OK) return st;
    gf_leveldb_view view = gf_leveldb_view_open(b);
    gf_leveldb_iterator *it = gf_leveldb_iterator_create(b->db, view.snapshot, false);
    st = copy_entries(it, fill, err);
    gf_leveldb_iterator_free(it);
    gf_leveldb_view_close(b, &view);
    return gf_leveldb_fill_end(fill, st, NULL, err);
}
