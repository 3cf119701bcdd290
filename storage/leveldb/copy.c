/* Copying a database entry by entry: keys and values as they lie, of all tables. */
#include "storage/leveldb/internal.h"

#include "storage/leveldb/backend.h"

enum { BATCH_BYTES = 4 << 20 };

typedef struct copying {
    gf_leveldb *to;
    leveldb_writebatch_t *batch;
    size_t bytes;
    const gf_cancel *cancel;
    bool catalogue; /* the name of a table was among the keys */
} copying;

/* Each batch is synced: LevelDB does not sync a log that it has left behind. */
static gf_status commit(copying *c, gf_error *err)
{
    gf_status st = c->bytes ? gf_leveldb_commit(c->to, c->batch, c->bytes, GF_SYNC, err) : GF_OK;
    leveldb_writebatch_clear(c->batch);
    c->bytes = 0;
    return st == GF_OK ? gf_cancel_check(c->cancel, err) : st;
}

static gf_status add(copying *c, const leveldb_iterator_t *it, gf_error *err)
{
    gf_slice key = gf_leveldb_iterator_key(it), value = gf_leveldb_iterator_value(it);
    leveldb_writebatch_put(c->batch, key.ptr, key.len, value.ptr, value.len);
    c->bytes += key.len + value.len + 1;
    c->catalogue |= gf_slice_starts(key, gf_slice_of("\0\0T", 3));
    return c->bytes < BATCH_BYTES ? GF_OK : commit(c, err);
}

static gf_status copy_all(copying *c, leveldb_iterator_t *it, bool damaged, gf_error *err)
{
    gf_status st = GF_OK;
    leveldb_iter_seek_to_first(it);
    for (; st == GF_OK && leveldb_iter_valid(it); leveldb_iter_next(it)) {
        st = damaged ? GF_OK : gf_leveldb_iterator_status(it, err);
        if (st == GF_OK) st = add(c, it, err);
    }
    if (st == GF_OK && !damaged) st = gf_leveldb_iterator_status(it, err);
    return st == GF_OK ? commit(c, err) : st;
}

static gf_status copy(gf_leveldb *from, gf_leveldb *to, bool damaged, const gf_cancel *cancel,
                      bool *catalogue, gf_error *err)
{
    gf_leveldb_view view;
    copying c = {.to = to, .cancel = cancel};
    gf_status st = gf_leveldb_view_open(from, true, &view, err);
    if (st != GF_OK) return st;
    leveldb_iterator_t *it = leveldb_create_iterator(from->db, view.scan);
    c.batch = leveldb_writebatch_create();
    st = it && c.batch ? copy_all(&c, it, damaged, err) : gf_fail_memory(err, "a copy");
    if (it) leveldb_iter_destroy(it);
    if (c.batch) leveldb_writebatch_destroy(c.batch);
    gf_leveldb_view_close(from, &view);
    if (st == GF_OK) *catalogue = c.catalogue;
    return st;
}

gf_status gf_leveldb_copy(gf_backend *from, gf_backend *to, const gf_cancel *cancel, gf_error *err)
{
    bool catalogue;
    return copy((gf_leveldb *)from, (gf_leveldb *)to, false, cancel, &catalogue, err);
}

/* ---- from a damaged one ---------------------------------------------------------------------- */

/* Not paranoid: a log's sound records are taken, whatever lies between them. */
static gf_status open_damaged(const char *folder, bool repairs, leveldb_options_t *options,
                              leveldb_t **db, gf_error *err)
{
    char *message = NULL;
    if (!repairs) *db = leveldb_open(options, folder, &message);
    if (*db) return GF_OK;
    leveldb_free(message);
    message = NULL;
    leveldb_repair_db(options, folder, &message);
    gf_status st = gf_leveldb_failure(message, err);
    message = NULL;
    if (st == GF_OK) *db = leveldb_open(options, folder, &message);
    return st == GF_OK ? gf_leveldb_failure(message, err) : st;
}

gf_status gf_leveldb_rescue(const char *folder, bool repairs, gf_backend *to,
                            const gf_cancel *cancel, bool *catalogue, gf_error *err)
{
    gf_leveldb from = {0};
    leveldb_options_t *options = leveldb_options_create();
    gf_status st = open_damaged(folder, repairs, options, &from.db, err);
    if (st == GF_OK) st = copy(&from, (gf_leveldb *)to, true, cancel, catalogue, err);
    if (from.db) leveldb_close(from.db);
    leveldb_options_destroy(options);
    return st;
}
