/* Copying a database entry by entry: keys and values as they lie, of all tables. */
#include "storage/leveldb/internal.h"

#include "storage/leveldb/backend.h"

enum { BATCH_BYTES = 4 << 20 };

typedef struct copying {
    gf_leveldb *to;
    gf_leveldb_batch *batch;
    const gf_cancel *cancel;
    bool catalogue; /* the name of a table was among the keys */
} copying;

/* Each batch is synced: LevelDB does not sync a log that it has left behind. */
static gf_status commit_batch(copying *c, gf_error *err)
{
    gf_status st = GF_OK;
    if (gf_leveldb_batch_bytes(c->batch)) st = gf_leveldb_commit(c->to, c->batch, GF_SYNC_ON, err);
    gf_leveldb_batch_clear(c->batch);
    return st == GF_OK ? gf_cancel_check(c->cancel, err) : st;
}

static gf_status copy_entry(copying *c, const gf_leveldb_iterator *it, gf_error *err)
{
    gf_slice key = gf_leveldb_iterator_key(it);
    gf_leveldb_batch_put(c->batch, key, gf_leveldb_iterator_value(it));
    c->catalogue |= gf_slice_starts(key, gf_slice_of("\0\0T", 3));
    return gf_leveldb_batch_bytes(c->batch) < BATCH_BYTES ? GF_OK : commit_batch(c, err);
}

static gf_status copy_entries(copying *c, gf_leveldb_iterator *it, bool damaged, gf_error *err)
{
    gf_leveldb_iterator_first(it);
    for (; gf_leveldb_iterator_valid(it); gf_leveldb_iterator_next(it)) {
        gf_status st = damaged ? GF_OK : gf_leveldb_iterator_status(it, err);
        if (st == GF_OK) st = copy_entry(c, it, err);
        if (st != GF_OK) return st;
    }
    gf_status st = damaged ? GF_OK : gf_leveldb_iterator_status(it, err);
    return st == GF_OK ? commit_batch(c, err) : st;
}

/* The caller's snapshot, or NULL, is the state that is copied. */
static gf_status copy_database(gf_leveldb_database *from, const gf_leveldb_snapshot *snapshot,
                               bool damaged, gf_backend *to, const gf_cancel *cancel,
                               bool *catalogue, gf_error *err)
{
    copying c = {.to = (gf_leveldb *)to, .batch = gf_leveldb_batch_create(), .cancel = cancel};
    gf_leveldb_iterator *it = gf_leveldb_iterator_create(from, snapshot, false);
    gf_status st = copy_entries(&c, it, damaged, err);
    gf_leveldb_iterator_free(it);
    gf_leveldb_batch_free(c.batch);
    if (st == GF_OK) *catalogue = c.catalogue;
    return st;
}

gf_status gf_leveldb_copy(gf_backend *from, gf_backend *to, const gf_cancel *cancel, gf_error *err)
{
    bool catalogue;
    gf_leveldb *b = (gf_leveldb *)from;
    gf_leveldb_view view = gf_leveldb_view_open(b);
    gf_status st = copy_database(b->db, view.snapshot, false, to, cancel, &catalogue, err);
    gf_leveldb_view_close(b, &view);
    return st;
}

gf_status gf_leveldb_rescue(const char *folder, bool repairs, gf_backend *to,
                            const gf_cancel *cancel, bool *catalogue, gf_error *err)
{
    gf_leveldb_database *from = NULL;
    gf_status st = gf_leveldb_database_open_damaged(folder, repairs, &from, err);
    if (st == GF_OK) st = copy_database(from, NULL, true, to, cancel, catalogue, err);
    gf_leveldb_database_close(from);
    return st;
}
