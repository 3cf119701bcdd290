/* Opening and closing LevelDB, its settings, its messages, views of its states. */
#include "storage/leveldb/backend.h"

#include "base/memory.h"
#include "storage/leveldb/env.h"
#include "storage/leveldb/internal.h"

/* Measured on LevelDB 1.23; docs/storage.md gives the figures. */
enum {
    WRITE_BUFFER = GF_LEVELDB_BYTES / 3, /* two of them: one is filled, one is written */
    TABLE_FILE = 16 << 20,
    CACHE = GF_LEVELDB_BYTES / 3,
    SMALL_BUFFER = GF_LEVELDB_SMALL_BYTES / 3,
    BLOOM_BITS = 10,
    OPEN_FILES = 500,
    MERGED_TABLES = 4, /* that lie over each other: from so many on LevelDB merges them */
    MANY_TABLES = 8,   /* each is looked into by each reading */
    MUCH_REMOVED = 256
};

/* ---- messages, iterators --------------------------------------------------------------------- */

static bool is_locked(const char *message)
{
    gf_slice m = gf_slice_str(message);
    return gf_slice_starts(m, GF_SLICE("IO error: lock ")) &&
           (gf_slice_ends(m, GF_SLICE(": Resource temporarily unavailable")) ||
            gf_slice_ends(m, GF_SLICE(": already held by process")));
}

/* The C interface has no codes: a status is told by how its message starts. */
gf_status gf_leveldb_failure(char *message, gf_error *err)
{
    static const struct {
        const char *start, *instead;
        gf_status status;
    } known[] = {
        {"Corruption: ", "damaged data: ", GF_ECORRUPT},
        {"IO error: ", "", GF_EIO},
        {"NotFound: ", "a file is missing: ", GF_ECORRUPT}, /* a key that is absent is no error */
        {"Invalid argument: ", "", GF_EINVAL},
        {"Not implemented: ", "", GF_EINVAL},
    };
    if (!message) return GF_OK;
    gf_status st = GF_EIO;
    const char *words = message, *before = "";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!gf_slice_starts(gf_slice_str(message), gf_slice_str(known[i].start))) continue;
        st = known[i].status;
        before = known[i].instead;
        words += strlen(known[i].start);
        break;
    }
    if (is_locked(message)) st = GF_EBUSY;
    gf_fail(err, st, "%s%s", before, words);
    leveldb_free(message);
    return st;
}

gf_status gf_leveldb_iterator_status(const leveldb_iterator_t *it, gf_error *err)
{
    char *message = NULL;
    leveldb_iter_get_error(it, &message);
    return gf_leveldb_failure(message, err);
}

gf_slice gf_leveldb_iterator_key(const leveldb_iterator_t *it)
{
    size_t n;
    const char *p = leveldb_iter_key(it, &n);
    return gf_slice_of(p, n);
}

gf_slice gf_leveldb_iterator_value(const leveldb_iterator_t *it)
{
    size_t n;
    const char *p = leveldb_iter_value(it, &n);
    return gf_slice_of(p, n);
}

/* ---- views ----------------------------------------------------------------------------------- */

static leveldb_readoptions_t *read_options(const gf_leveldb_view *view, bool into_cache)
{
    leveldb_readoptions_t *o = leveldb_readoptions_create();
    if (!o) return NULL;
    leveldb_readoptions_set_verify_checksums(o, 1);
    leveldb_readoptions_set_fill_cache(o, into_cache);
    leveldb_readoptions_set_snapshot(o, view->snapshot);
    return o;
}

gf_status gf_leveldb_view_open(gf_leveldb *b, bool fixed, gf_leveldb_view *view, gf_error *err)
{
    gf_leveldb_view v = {.side = fixed ? gf_leveldb_reader_begin(&b->readers) : 0};
    if (fixed && !(v.snapshot = leveldb_create_snapshot(b->db)))
        gf_leveldb_reader_end(&b->readers, v.side);
    v.get = read_options(&v, true);
    v.scan = read_options(&v, false);
    if (!v.get || !v.scan || (fixed && !v.snapshot)) {
        gf_leveldb_view_close(b, &v);
        return gf_fail_memory(err, "a snapshot");
    }
    *view = v;
    return GF_OK;
}

void gf_leveldb_view_close(gf_leveldb *b, gf_leveldb_view *view)
{
    if (view->get) leveldb_readoptions_destroy(view->get);
    if (view->scan) leveldb_readoptions_destroy(view->scan);
    if (view->snapshot) {
        leveldb_release_snapshot(b->db, view->snapshot);
        gf_leveldb_reader_end(&b->readers, view->side);
    }
    *view = (gf_leveldb_view){0};
}

gf_status gf_leveldb_read(gf_leveldb *b, const gf_leveldb_view *view, gf_slice key,
                          gf_buffer *value, gf_error *err)
{
    char *message = NULL;
    size_t n = 0;
    char *bytes = leveldb_get(b->db, view->get, key.ptr, key.len, &n, &message);
    if (message) return gf_leveldb_failure(message, err);
    if (!bytes) return GF_ENOTFOUND;
    gf_buffer_reset(value);
    gf_buffer_append(value, bytes, n);
    leveldb_free(bytes);
    return gf_buffer_check(value, err);
}

static gf_status snapshot_create(gf_backend *backend, const void **snapshot, gf_error *err)
{
    gf_leveldb_view *view = gf_malloc(sizeof *view);
    if (!view) return gf_fail_memory(err, "a snapshot");
    gf_status st = gf_leveldb_view_open((gf_leveldb *)backend, true, view, err);
    if (st == GF_OK)
        *snapshot = view;
    else
        gf_free(view);
    return st;
}

static void snapshot_free(gf_backend *backend, const void *snapshot)
{
    gf_leveldb_view *view =
        (gf_leveldb_view *)snapshot; /* made above; const is for those in between */
    gf_leveldb_view_close((gf_leveldb *)backend, view);
    gf_free(view);
}

/* ---- the backend ----------------------------------------------------------------------------- */

/*
 * What was written becomes a table, so that whoever opens the database next finds an empty log. A
 * compaction that is under way is not waited for, unless tables are many, or not so many and much
 * was removed, whose place only a compaction gives back; it begins again with an opening that
 * lasts. Little is left in the log; reading it again takes less.
 */
static void empty_log(gf_leveldb *b)
{
    if (!b->db || !b->env || b->written == 0 || b->failed) return;
    if (b->written >= GF_LEVELDB_MUCH) gf_leveldb_env_empty_log(b->env, b->db);
    gf_leveldb_env_settle(b->env, b->db, b->removed >= MUCH_REMOVED ? MERGED_TABLES : MANY_TABLES);
}

static void close_backend(gf_backend *backend)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    gf_leveldb_view_close(b, &b->newest);
    empty_log(b);
    gf_leveldb_env_begin(b->env, true);
    if (b->db) leveldb_close(b->db);
    gf_leveldb_env_free(b->env);
    if (b->spare_batch) leveldb_writebatch_destroy(b->spare_batch);
    if (b->options) leveldb_options_destroy(b->options);
    if (b->cache) leveldb_cache_destroy(b->cache);
    if (b->filter) leveldb_filterpolicy_destroy(b->filter);
    for (int sync = 0; sync < 2; sync++)
        if (b->write[sync]) leveldb_writeoptions_destroy(b->write[sync]);
    gf_arena_release(&b->catalogue_memory);
    gf_free(b->folder);
    gf_leveldb_readers_release(&b->readers);
    pthread_mutex_destroy(&b->compact_lock);
    pthread_mutex_destroy(&b->catalogue_lock);
    pthread_mutex_destroy(&b->rows_lock);
    pthread_mutex_destroy(&b->commit_lock);
    gf_free(b);
}

static const gf_backend_operations operations = {
    .capabilities = GF_BACKEND_BATCH | GF_BACKEND_SNAPSHOT | GF_BACKEND_COMPRESSED,
    .open_table = gf_catalogue_open_table,
    .schema_of = gf_catalogue_schema_of,
    .get = gf_leveldb_get,
    .scan_open = gf_leveldb_scan_open,
    .scan_next = gf_leveldb_scan_next,
    .scan_close = gf_leveldb_scan_close,
    .scan_cut = gf_leveldb_scan_cut,
    .write = gf_leveldb_write,
    .increment = gf_leveldb_increment,
    .snapshot_create = snapshot_create,
    .snapshot_free = snapshot_free,
    .drop_table = gf_leveldb_drop_table,
    .compact = gf_leveldb_compact,
    .has_failed = gf_leveldb_has_failed,
    .close = close_backend,
};

static void set_options(gf_leveldb *b, gf_leveldb_mode mode)
{
    leveldb_options_t *o = b->options;
    size_t buffer = mode & GF_LEVELDB_SMALL ? SMALL_BUFFER : WRITE_BUFFER;
    mode &= ~(unsigned)GF_LEVELDB_SMALL;
    leveldb_options_set_create_if_missing(o, mode == GF_LEVELDB_CREATE);
    leveldb_options_set_error_if_exists(o, mode == GF_LEVELDB_CREATE);
    leveldb_options_set_paranoid_checks(o, 1);
    leveldb_options_set_write_buffer_size(o, buffer);
    leveldb_options_set_max_file_size(o, TABLE_FILE);
    leveldb_options_set_max_open_files(o, OPEN_FILES);
    leveldb_options_set_cache(o, b->cache);
    leveldb_options_set_filter_policy(o, b->filter);
    leveldb_options_set_compression(o, leveldb_snappy_compression);
    gf_leveldb_env_options wanted = {.buffer = buffer,
                                     .file = TABLE_FILE,
                                     .patient = mode != GF_LEVELDB_CREATE,
                                     .clean = mode == GF_LEVELDB_CLEAN};
    b->env = gf_leveldb_env_create(o, &wanted);
}

static gf_status open_leveldb(gf_leveldb *b, const char *folder, gf_leveldb_mode mode,
                              gf_error *err)
{
    b->options = leveldb_options_create();
    b->cache = leveldb_cache_create_lru(mode & GF_LEVELDB_SMALL ? SMALL_BUFFER : CACHE);
    b->filter = leveldb_filterpolicy_create_bloom(BLOOM_BITS);
    for (int sync = 0; sync < 2; sync++) {
        b->write[sync] = leveldb_writeoptions_create();
        leveldb_writeoptions_set_sync(b->write[sync], sync == GF_SYNC);
    }
    set_options(b, mode);
    char *message = NULL;
    b->db = leveldb_open(b->options, folder, &message);
    gf_status st = gf_leveldb_failure(message, err);
    if (st == GF_OK) st = gf_leveldb_view_open(b, false, &b->newest, err);
    return st;
}

gf_status gf_leveldb_open(const char *folder, gf_leveldb_mode mode, gf_backend **backend,
                          gf_error *err)
{
    gf_leveldb *b = gf_calloc(1, sizeof *b);
    if (!b) return gf_fail_memory(err, "a database");
    b->base.operations = &operations;
    gf_leveldb_readers_init(&b->readers);
    pthread_mutex_init(&b->compact_lock, NULL);
    pthread_mutex_init(&b->catalogue_lock, NULL);
    pthread_mutex_init(&b->rows_lock, NULL);
    pthread_mutex_init(&b->commit_lock, NULL);
    b->folder = gf_copy_string(folder, strlen(folder));
    gf_status st =
        b->folder ? open_leveldb(b, folder, mode, err) : gf_fail_memory(err, "a database");
    if (st == GF_OK && mode == GF_LEVELDB_CREATE) st = gf_catalogue_create(b, err);
    if (st == GF_OK) st = gf_catalogue_load(b, err);
    if (st != GF_OK) {
        close_backend(&b->base);
        return st;
    }
    *backend = &b->base;
    return GF_OK;
}
