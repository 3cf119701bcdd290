#include "storage/leveldb/reclaim.h"

#include "storage/leveldb/internal.h"
#include "storage/leveldb/keys.h"

void gf_leveldb_reclaim_init(gf_leveldb_reclaiming *r)
{
    pthread_mutex_init(&r->lock, NULL);
    gf_background_init(&r->background);
}

void gf_leveldb_reclaim_stop(gf_leveldb_reclaiming *r)
{
    atomic_store(&r->stopping, true);
}

void gf_leveldb_reclaim_release(gf_leveldb_reclaiming *r)
{
    gf_background_release(&r->background);
    pthread_mutex_destroy(&r->lock);
    gf_buffer_release(&r->waiting);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static gf_status merge_files(gf_leveldb *b, gf_slice prefix, gf_error *err)
{
    gf_buffer end = {0};
    gf_key_after_prefix(prefix, &end);
    gf_status st = gf_buffer_check(&end, err);
    if (st == GF_OK) gf_leveldb_database_compact(b->db, prefix, gf_buffer_view(&end));
    gf_buffer_release(&end);
    return st;
}

/* The prefixes that wait now; empty, and the thread has ended its work, where nothing does. */
static gf_buffer take_waiting(gf_leveldb_reclaiming *r)
{
    pthread_mutex_lock(&r->lock);
    gf_buffer taken = r->waiting;
    r->waiting = (gf_buffer){0};
    if (taken.len == 0) r->working = false;
    pthread_mutex_unlock(&r->lock);
    return taken;
}

/* A failure leaves all as it is: the next one who asks tries again, and LevelDB reports a failed
 * compaction with the next write. */
static gf_status reclaim_task(void *context, gf_error *err)
{
    (void)err;
    gf_leveldb *b = context;
    gf_error ignored;
    for (;;) {
        gf_buffer taken = take_waiting(&b->reclaiming);
        gf_slice prefixes = gf_buffer_view(&taken), prefix;
        if (taken.len == 0) return GF_OK;
        while (!atomic_load(&b->reclaiming.stopping) && gf_slice_take_string(&prefixes, &prefix))
            if (merge_files(b, prefix, &ignored) != GF_OK) break;
        gf_buffer_release(&taken);
    }
}

/* ---- asking for it --------------------------------------------------------------------------- */

/* Bytes of a range in tables that are worth a merging, which has the log made a table, too. */
enum { LEAST_BYTES = 4 << 20 };

static gf_status is_much(const gf_leveldb *b, gf_slice prefix, bool *much, gf_error *err)
{
    gf_buffer end = {0};
    gf_key_after_prefix(prefix, &end);
    gf_status st = gf_buffer_check(&end, err);
    *much = st == GF_OK &&
            gf_leveldb_database_bytes(b->db, prefix, gf_buffer_view(&end)) >= LEAST_BYTES;
    gf_buffer_release(&end);
    return st;
}

static gf_status add_waiting(gf_leveldb *b, gf_slice prefix, gf_error *err)
{
    gf_leveldb_reclaiming *r = &b->reclaiming;
    pthread_mutex_lock(&r->lock);
    gf_buffer_string(&r->waiting, prefix);
    gf_status st = gf_buffer_check(&r->waiting, err);
    if (st != GF_OK) gf_buffer_release(&r->waiting);
    bool begin = st == GF_OK && !r->working;
    if (begin) r->working = true;
    pthread_mutex_unlock(&r->lock);
    if (begin) gf_background_start(&r->background, reclaim_task, b);
    return st;
}

gf_status gf_leveldb_reclaim(gf_backend *backend, unsigned table, gf_slice prefix, gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    gf_buffer key = {0};
    gf_status st = GF_OK;
    if (b->read_only) return GF_OK;
    gf_leveldb_database_begin(b->db);
    for (unsigned f = 0; f < gf_leveldb_schema(b, table)->n_families && st == GF_OK; f++) {
        bool much = false;
        gf_buffer_reset(&key);
        gf_leveldb_keys_family(&key, table, f);
        gf_buffer_slice(&key, prefix);
        st = gf_buffer_check(&key, err);
        if (st == GF_OK) st = is_much(b, gf_buffer_view(&key), &much, err);
        if (st == GF_OK && much) st = add_waiting(b, gf_buffer_view(&key), err);
    }
    gf_buffer_release(&key);
    return st;
}
