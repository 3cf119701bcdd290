/*
 * LevelDB with the smallest write buffer that it takes, so that a small store changes logs, writes
 * tables and merges them all the time. The program's own setting comes here instead of there.
 */
#include <dlfcn.h>
#include <leveldb/c.h>

void leveldb_options_set_write_buffer_size(leveldb_options_t *options, size_t size)
{
    typedef void set_size(leveldb_options_t *, size_t);
    set_size *real;
    (void)size;
    *(void **)&real = dlsym(RTLD_NEXT, "leveldb_options_set_write_buffer_size");
    real(options, 64 << 10);
}
