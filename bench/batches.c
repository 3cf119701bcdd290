/*
 * Every batch that a program gives to LevelDB, in their order, into the file that GF_BATCHES names:
 * a library to be run with as LD_PRELOAD. Format: batches.h.
 */
#include "bench/batches.h"

#include <dlfcn.h>
#include <leveldb/c.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static const leveldb_writeoptions_t *synced; /* the last options that were told to sync */

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("GF_BATCHES");
    file = path ? fopen(path, "wb") : NULL;
    if (path && !file) abort();
}

__attribute__((destructor)) static void end(void)
{
    if (file && fclose(file) != 0) abort();
}

static void write_change(uint32_t kind, const char *key, size_t n_key, const char *value,
                         size_t n_value)
{
    batches_change c = {kind, (uint32_t)n_key, (uint32_t)n_value};
    if (fwrite(&c, sizeof c, 1, file) != 1) abort();
    if (key && fwrite(key, 1, n_key, file) != n_key) abort();
    if (value && fwrite(value, 1, n_value, file) != n_value) abort();
}

static void put(void *context, const char *key, size_t n_key, const char *value, size_t n_value)
{
    (void)context;
    write_change(BATCHES_PUT, key, n_key, value, n_value);
}

static void delete (void *context, const char *key, size_t n_key)
{
    (void)context;
    write_change(BATCHES_DELETE, key, n_key, NULL, 0);
}

void leveldb_writeoptions_set_sync(leveldb_writeoptions_t *o, unsigned char sync)
{
    typedef void function(leveldb_writeoptions_t *, unsigned char);
    function *real;
    *(void **)&real = dlsym(RTLD_NEXT, "leveldb_writeoptions_set_sync");
    if (sync) synced = o;
    real(o, sync);
}

void leveldb_write(leveldb_t *db, const leveldb_writeoptions_t *o, leveldb_writebatch_t *batch,
                   char **message)
{
    typedef void function(leveldb_t *, const leveldb_writeoptions_t *, leveldb_writebatch_t *,
                          char **);
    function *real;
    *(void **)&real = dlsym(RTLD_NEXT, "leveldb_write");
    pthread_mutex_lock(&lock);
    if (file) {
        leveldb_writebatch_iterate(batch, NULL, put, delete);
        write_change(BATCHES_END, NULL, 0, NULL, o == synced);
    }
    pthread_mutex_unlock(&lock);
    real(db, o, batch, message);
}
