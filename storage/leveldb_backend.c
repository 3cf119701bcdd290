/* Opening and closing LevelDB, and its settings. */
#include "storage/leveldb_backend.h"

#include "base/memory.h"
#include "storage/leveldb_internal.h"

#include <stdlib.h>

/* Measured on LevelDB 1.23; docs/storage.md gives the figures. */
enum {
    WRITE_BUFFER = 64 << 20,
    TABLE_FILE = 16 << 20,
    CACHE = 64 << 20,
    BLOOM_BITS = 10,
    OPEN_FILES = 500
};

/* The C interface has no codes: a status is told by how its message starts. */
gf_status gf_leveldb_failure(char *message, gf_error *err)
{
    static const struct {
        const char *start;
        gf_status status;
    } known[] = {
        {"Corruption: ", GF_ECORRUPT},
        {"IO error: lock ", GF_EBUSY},
        {"IO error: ", GF_EIO},
        {"NotFound: ", GF_ENOTFOUND},
        {"Invalid argument: ", GF_EINVAL},
        {"Not implemented: ", GF_EINVAL},
    };
    if (!message) return GF_OK;
    gf_status st = GF_EIO;
    const char *words = message;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strncmp(message, known[i].start, strlen(known[i].start)) != 0) continue;
        st = known[i].status;
        words = strchr(message, ' ') + 1;
        break;
    }
    if (strstr(message, "LOCK: Resource temporarily unavailable")) st = GF_EBUSY;
    gf_fail(err, st, "%s%s", st == GF_ECORRUPT ? "damaged data: " : "", words);
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

leveldb_readoptions_t *gf_leveldb_read_options(const void *snapshot, bool fill_cache)
{
    leveldb_readoptions_t *o = leveldb_readoptions_create();
    if (!o) return NULL;
    leveldb_readoptions_set_verify_checksums(o, 1);
    leveldb_readoptions_set_fill_cache(o, fill_cache);
    if (snapshot) leveldb_readoptions_set_snapshot(o, snapshot);
    return o;
}

static gf_status snapshot_create(gf_backend *backend, const void **snapshot, gf_error *err)
{
    *snapshot = leveldb_create_snapshot(((gf_leveldb *)backend)->db);
    return *snapshot ? GF_OK : gf_fail_memory(err, "a snapshot");
}

static void snapshot_free(gf_backend *backend, const void *snapshot)
{
    leveldb_release_snapshot(((gf_leveldb *)backend)->db, snapshot);
}

static void close_backend(gf_backend *backend)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    if (b->db) leveldb_close(b->db);
    if (b->options) leveldb_options_destroy(b->options);
    if (b->cache) leveldb_cache_destroy(b->cache);
    if (b->filter) leveldb_filterpolicy_destroy(b->filter);
    if (b->read) leveldb_readoptions_destroy(b->read);
    gf_arena_release(&b->catalogue_memory);
    pthread_mutex_destroy(&b->catalogue_lock);
    pthread_mutex_destroy(&b->rows_lock);
    pthread_cond_destroy(&b->rows_free);
    gf_free(b);
}

static const gf_backend_operations operations = {
    .capabilities = GF_BACKEND_BATCH | GF_BACKEND_SNAPSHOT,
    .open_table = gf_catalogue_open_table,
    .get = gf_leveldb_get,
    .scan_open = gf_leveldb_scan_open,
    .scan_next = gf_leveldb_scan_next,
    .scan_close = gf_leveldb_scan_close,
    .write = gf_leveldb_write,
    .increment = gf_leveldb_increment,
    .snapshot_create = snapshot_create,
    .snapshot_free = snapshot_free,
    .close = close_backend,
};

static leveldb_options_t *make_options(gf_leveldb *b, gf_leveldb_mode mode)
{
    leveldb_options_t *o = leveldb_options_create();
    b->cache = leveldb_cache_create_lru(CACHE);
    b->filter = leveldb_filterpolicy_create_bloom(BLOOM_BITS);
    leveldb_options_set_create_if_missing(o, mode == GF_LEVELDB_CREATE);
    leveldb_options_set_error_if_exists(o, mode == GF_LEVELDB_CREATE);
    leveldb_options_set_paranoid_checks(o, 1);
    leveldb_options_set_write_buffer_size(o, WRITE_BUFFER);
    leveldb_options_set_max_file_size(o, TABLE_FILE);
    leveldb_options_set_max_open_files(o, OPEN_FILES);
    leveldb_options_set_cache(o, b->cache);
    leveldb_options_set_filter_policy(o, b->filter);
    leveldb_options_set_compression(o, leveldb_snappy_compression);
    return o;
}

gf_status gf_leveldb_open(const char *folder, gf_leveldb_mode mode, gf_backend **backend,
                          gf_error *err)
{
    gf_leveldb *b = gf_calloc(1, sizeof *b);
    if (!b) return gf_fail_memory(err, "a database");
    b->base.operations = &operations;
    pthread_mutex_init(&b->catalogue_lock, NULL);
    pthread_mutex_init(&b->rows_lock, NULL);
    pthread_cond_init(&b->rows_free, NULL);
    b->options = make_options(b, mode);
    b->read = gf_leveldb_read_options(NULL, true);
    char *message = NULL;
    b->db = leveldb_open(b->options, folder, &message);
    gf_status st = gf_leveldb_failure(message, err);
    if (st == GF_OK) st = gf_catalogue_load(b, err);
    if (st != GF_OK) {
        close_backend(&b->base);
        return st;
    }
    *backend = &b->base;
    return GF_OK;
}

void gf_leveldb_compact(gf_backend *backend)
{
    leveldb_compact_range(((gf_leveldb *)backend)->db, NULL, 0, NULL, 0);
}
