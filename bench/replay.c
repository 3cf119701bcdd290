/*
 * Batches that a program gave to LevelDB (batches.c) given to it again by plain calls, with as many
 * syncs and the settings of storage/leveldb/backend.c, into a new database:
 *
 *     bench_replay [--plain] BATCHES FOLDER
 *
 * Prints a line of JSON: the changes, their bytes, the batches, and the seconds from opening the
 * database to its being closed. The batches lie in memory before. --plain gives LevelDB the values
 * that the storage had compressed as they were before; LevelDB then compresses them itself, when it
 * makes tables.
 */
#include "base/clock.h"
#include "bench/batches.h"
#include "grouperfish/buffer.h"
#include "storage/leveldb/value.h"

#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool good, const char *message)
{
    if (good) return;
    fprintf(stderr, "bench_replay: %s\n", message);
    exit(1);
}

static gf_slice read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    must(f && fseek(f, 0, SEEK_END) == 0, path);
    long size = ftell(f);
    char *bytes = size > 0 ? malloc((size_t)size) : NULL;
    rewind(f);
    must(bytes && fread(bytes, 1, (size_t)size, f) == (size_t)size, path);
    fclose(f);
    return gf_slice_of(bytes, (size_t)size);
}

static leveldb_t *open_database(const char *path)
{
    char *message = NULL;
    leveldb_options_t *o = leveldb_options_create();
    leveldb_options_set_create_if_missing(o, 1);
    leveldb_options_set_error_if_exists(o, 1);
    leveldb_options_set_paranoid_checks(o, 1);
    leveldb_options_set_write_buffer_size(o, 64 << 20);
    leveldb_options_set_max_file_size(o, 16 << 20);
    leveldb_options_set_cache(o, leveldb_cache_create_lru(64 << 20));
    leveldb_options_set_filter_policy(o, leveldb_filterpolicy_create_bloom(10));
    leveldb_t *db = leveldb_open(o, path, &message);
    must(!message, message);
    return db;
}

/* The value, as it was before the storage compressed it. */
static gf_slice unpack(gf_slice value, gf_buffer *scratch)
{
    gf_error err;
    gf_value_head head;
    gf_slice unpacked;
    gf_buffer_reset(scratch);
    bool good = gf_value_read_head(value, &head, &err) == GF_OK &&
                gf_value_head_blocks(&head) == 1 &&
                gf_value_unpack(head.flags, head.first, scratch, &unpacked, &err) == GF_OK;
    return good ? unpacked : value;
}

/* All batches, with values unpacked. */
static void write_plain(gf_slice all, gf_buffer *out)
{
    gf_buffer scratch = {0};
    batches_change c;
    while (all.len) {
        memcpy(&c, all.ptr, sizeof c);
        all = gf_slice_skip(all, sizeof c);
        gf_slice key = gf_slice_of(all.ptr, c.key), value = gf_slice_of(all.ptr + c.key, c.value);
        if (c.kind == BATCHES_END) {
            gf_buffer_append(out, &c, sizeof c);
            continue;
        }
        all = gf_slice_skip(all, key.len + value.len);
        value = unpack(value, &scratch);
        c.value = (uint32_t)value.len;
        gf_buffer_append(out, &c, sizeof c);
        gf_buffer_slice(out, key);
        gf_buffer_slice(out, value);
    }
    gf_buffer_release(&scratch);
}

typedef struct counts {
    size_t changes, bytes, batches;
} counts;

static counts replay(leveldb_t *db, gf_slice all)
{
    counts n = {0};
    char *message = NULL;
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    leveldb_writeoptions_t *w = leveldb_writeoptions_create();
    while (all.len) {
        batches_change c;
        memcpy(&c, all.ptr, sizeof c);
        all = gf_slice_skip(all, sizeof c);
        if (c.kind == BATCHES_END) {
            leveldb_writeoptions_set_sync(w, c.value != 0);
            leveldb_write(db, w, batch, &message);
            must(!message, message);
            leveldb_writebatch_clear(batch);
            n.batches++;
            continue;
        }
        if (c.kind == BATCHES_PUT)
            leveldb_writebatch_put(batch, all.ptr, c.key, all.ptr + c.key, c.value);
        else
            leveldb_writebatch_delete(batch, all.ptr, c.key);
        all = gf_slice_skip(all, (size_t)c.key + c.value);
        n.bytes += (size_t)c.key + c.value;
        n.changes++;
    }
    leveldb_writebatch_destroy(batch);
    leveldb_writeoptions_destroy(w);
    return n;
}

int main(int argc, char **argv)
{
    bool plain = argc > 1 && strcmp(argv[1], "--plain") == 0;
    must(argc == 3 + plain, "usage: bench_replay [--plain] BATCHES FOLDER");
    gf_slice all = read_file(argv[1 + plain]);
    gf_buffer unpacked = {0};
    gf_error err;
    if (plain) {
        write_plain(all, &unpacked);
        must(gf_buffer_check(&unpacked, &err) == GF_OK, "there is no memory for the batches");
        all = gf_buffer_view(&unpacked);
    }
    double start = gf_clock_seconds();
    leveldb_t *db = open_database(argv[2 + plain]);
    counts n = replay(db, all);
    leveldb_close(db);
    printf("{\"changes\":%zu,\"bytes\":%zu,\"batches\":%zu,\"seconds\":%.4f}\n", n.changes, n.bytes,
           n.batches, gf_clock_seconds() - start);
    return 0;
}
