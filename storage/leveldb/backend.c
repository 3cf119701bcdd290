/* Opening and closing the backend; views of its states. */
#include "storage/leveldb/backend.h"

#include "base/memory.h"
#include "storage/leveldb/catalogue.h"

#include <limits.h>

/* Measured on LevelDB 1.23; docs/storage.md gives the figures. */
enum {
    WRITE_BUFFER = GF_LEVELDB_BYTES / 3, /* two of them: one is filled, one is written */
    CACHE = GF_LEVELDB_BYTES / 3,
    SMALL_BUFFER = GF_LEVELDB_SMALL_BYTES / 3,
    MANY_TABLES = 8, /* that lie over each other, and are each looked into by each reading */
    TOO_MANY_TABLES = 24,
    SHORT_WAIT = 100 /* milliseconds */
};

/* ---- views ----------------------------------------------------------------------------------- */

gf_leveldb_view gf_leveldb_view_open(gf_leveldb *b)
{
    unsigned side = gf_leveldb_readers_begin(&b->readers);
    return (gf_leveldb_view){gf_leveldb_snapshot_create(b->db), side};
}

void gf_leveldb_view_close(gf_leveldb *b, const gf_leveldb_view *view)
{
    gf_leveldb_snapshot_free(b->db, view->snapshot);
    gf_leveldb_readers_end(&b->readers, view->side);
}

static gf_status snapshot_create(gf_backend *backend, const void **snapshot, gf_error *err)
{
    gf_leveldb_view *view = gf_malloc(sizeof *view);
    if (!view) return gf_fail_memory(err, "a snapshot");
    *view = gf_leveldb_view_open((gf_leveldb *)backend);
    *snapshot = view;
    return GF_OK;
}

static void snapshot_free(gf_backend *backend, const void *snapshot)
{
    gf_leveldb_view_close((gf_leveldb *)backend, snapshot);
    gf_free((void *)(uintptr_t)snapshot); /* made above; const for the layers between */
}

/* ---- the backend ----------------------------------------------------------------------------- */

/*
 * Make a table of the log, so that the next opening finds an empty one; a small log stays, since
 * reading it again takes less. A compaction that is under way is broken off; it begins again with
 * whoever asks for upkeep, or writes much. Processes that write little each would never come to
 * one and leave more and more tables: where these are many, a close waits a moment for their
 * merging, which suffices where they are small, and where they are too many it waits for the end.
 */
static void leave_in_order(gf_leveldb *b)
{
    if (b->written == 0 || b->failed || b->read_only || b->in_memory) return;
    if (b->written >= GF_LEVELDB_MUCH) gf_leveldb_database_empty_log(b->db);
    unsigned tables = gf_leveldb_database_overlapping(b->db);
    if (tables < MANY_TABLES) return;
    gf_leveldb_database_settle(b->db, tables < TOO_MANY_TABLES ? SHORT_WAIT : UINT_MAX);
}

static void flush(gf_backend *backend)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    pthread_mutex_lock(&b->commit_lock);
    bool much = b->written >= GF_LEVELDB_MUCH && !b->failed;
    pthread_mutex_unlock(&b->commit_lock);
    if (much && !b->read_only) gf_leveldb_database_empty_log(b->db);
}

static void begin_upkeep(gf_backend *backend)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    if (!b->read_only) gf_leveldb_database_begin(b->db);
}

static void close_backend(gf_backend *backend)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    gf_leveldb_reclaim_stop(&b->reclaiming);
    if (b->db) leave_in_order(b);
    if (b->db) gf_leveldb_database_break_off(b->db);
    gf_leveldb_reclaim_release(&b->reclaiming);
    gf_leveldb_database_close(b->db);
    gf_leveldb_batch_free(b->spare_batch);
    gf_arena_release(&b->catalogue_memory);
    gf_free(b->folder);
    gf_leveldb_readers_release(&b->readers);
    pthread_mutex_destroy(&b->compact_lock);
    pthread_mutex_destroy(&b->hold_lock);
    pthread_mutex_destroy(&b->catalogue_lock);
    pthread_mutex_destroy(&b->rows_lock);
    pthread_mutex_destroy(&b->commit_lock);
    gf_free(b);
}

gf_status gf_leveldb_check_writable(const gf_leveldb *b, gf_error *err)
{
    if (!b->read_only) return GF_OK;
    return gf_fail(err, GF_EINVAL, "the store is open to be read only: %s is not changed",
                   b->folder);
}

static const gf_backend_operations operations = {
    .capabilities = GF_BACKEND_BATCH | GF_BACKEND_SNAPSHOT | GF_BACKEND_COMPRESSED,
    .open_table = gf_leveldb_catalogue_open_table,
    .schema_of = gf_leveldb_catalogue_schema_of,
    .get = gf_leveldb_get,
    .scan_open = gf_leveldb_scan_open,
    .scan_next = gf_leveldb_scan_next,
    .scan_close = gf_leveldb_scan_close,
    .scan_cut = gf_leveldb_scan_cut,
    .write = gf_leveldb_write,
    .hold = gf_leveldb_hold,
    .let_go = gf_leveldb_let_go,
    .increment = gf_leveldb_increment,
    .snapshot_create = snapshot_create,
    .snapshot_free = snapshot_free,
    .drop_table = gf_leveldb_drop_table,
    .alter_family = gf_leveldb_alter_family,
    .flush = flush,
    .begin_upkeep = begin_upkeep,
    .reclaim = gf_leveldb_reclaim,
    .compact = gf_leveldb_compact,
    .has_failed = gf_leveldb_has_failed,
    .close = close_backend,
};

gf_status gf_leveldb_open(const char *folder, gf_leveldb_mode mode, gf_backend **backend,
                          gf_error *err)
{
    gf_leveldb *b = gf_calloc(1, sizeof *b);
    if (!b) return gf_fail_memory(err, "a database");
    b->base.operations = &operations;
    gf_leveldb_readers_init(&b->readers);
    gf_leveldb_reclaim_init(&b->reclaiming);
    pthread_mutex_init(&b->compact_lock, NULL);
    pthread_mutex_init(&b->hold_lock, NULL);
    pthread_mutex_init(&b->catalogue_lock, NULL);
    pthread_mutex_init(&b->rows_lock, NULL);
    pthread_mutex_init(&b->commit_lock, NULL);
    bool is_small = mode & GF_LEVELDB_SMALL;
    mode &= ~(unsigned)GF_LEVELDB_SMALL;
    bool in_memory = mode == GF_LEVELDB_MEMORY;
    gf_leveldb_settings settings = {.create = mode == GF_LEVELDB_CREATE || in_memory,
                                    .clean = mode == GF_LEVELDB_CLEAN,
                                    .read_only = mode == GF_LEVELDB_READ_ONLY,
                                    .in_memory = in_memory,
                                    .patient = mode != GF_LEVELDB_CREATE && !in_memory,
                                    .write_buffer = is_small ? SMALL_BUFFER : WRITE_BUFFER,
                                    .cache = is_small ? SMALL_BUFFER : CACHE};
    b->read_only = settings.read_only;
    b->in_memory = in_memory;
    b->folder = gf_copy_string(folder, strlen(folder));
    gf_status st = b->folder ? gf_leveldb_database_open(folder, &settings, &b->db, err)
                             : gf_fail_memory(err, "a database");
    if (st == GF_OK && settings.create) st = gf_leveldb_catalogue_create(b, err);
    if (st == GF_OK) st = gf_leveldb_catalogue_load(b, err);
    if (st != GF_OK) {
        close_backend(&b->base);
        return st;
    }
    *backend = &b->base;
    return GF_OK;
}

gf_status gf_leveldb_reload(gf_backend *backend, gf_error *err)
{
    return gf_leveldb_catalogue_load((gf_leveldb *)backend, err);
}
