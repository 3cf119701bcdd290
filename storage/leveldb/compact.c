/*
 * Compaction: every table file is written anew, without what was deleted.
 *
 * LevelDB's own merges each level into the next and leaves files that nothing above overlaps as
 * they are, with whatever was deleted in them. So the lowest key of every file is written once
 * more: its value as it is, or its deletion where it is not there. That entry lies above the file
 * and within its range, so it goes all the way down, and the file is merged with it. Which files
 * there are and where they begin is what the MANIFEST says; and it is read again until none of them
 * is left.
 *
 * A reader keeps what it began with: entries that its snapshot has, and files that its iterator
 * has. So readers are waited for twice, those of the beginning before anything is
 * written, and those of the end, which had the old files; LevelDB removes these when it next writes
 * a table. Where a reader does not end in time all else is done, and GF_EBUSY is returned.
 */
#include "storage/leveldb/internal.h"

#include "base/arena.h"
#include "base/condition.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/memory.h"
#include "storage/check/files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    ROUNDS = 5,
    BATCH_BYTES = 4 << 20,
    RANGE_FILES = 16 /* that are merged between looks for a cancel */
};

typedef struct compaction {
    gf_leveldb *b;
    const gf_cancel *cancel;
    uint64_t *files; /* n of capacity: numbers of the tables when it began */
    size_t n, capacity;
    size_t left; /* of them, in the last look */
    gf_leveldb_batch *batch;
    gf_buffer value;
} compaction;

/* ---- the MANIFEST ---------------------------------------------------------------------------- */

static gf_status read_manifest(const gf_leveldb *b, gf_buffer *content, gf_error *err)
{
    gf_buffer path = {0}, name = {0};
    gf_buffer_format(&path, "%s/CURRENT", b->folder);
    gf_status st = gf_buffer_check(&path, err);
    if (st == GF_OK) st = gf_file_read(gf_buffer_cstr(&path), &name, err);
    while (name.len && name.ptr[name.len - 1] == '\n')
        name.len--;
    gf_buffer_reset(&path);
    gf_buffer_format(&path, "%s/%.*s", b->folder, GF_SLICE_ARG(gf_buffer_view(&name)));
    if (st == GF_OK) st = gf_buffer_check(&path, err);
    if (st == GF_OK) st = gf_file_read(gf_buffer_cstr(&path), content, err);
    gf_buffer_release(&path);
    gf_buffer_release(&name);
    return st;
}

static gf_status each_table(const gf_leveldb *b, gf_check_manifest_table *each, void *context,
                            gf_error *err)
{
    gf_buffer content = {0};
    gf_status st = read_manifest(b, &content, err);
    if (st == GF_OK) st = gf_check_list_tables(gf_buffer_view(&content), each, context, err);
    gf_buffer_release(&content);
    return st;
}

static gf_status note_file(void *context, uint64_t number, gf_slice lowest, gf_error *err)
{
    compaction *c = context;
    (void)lowest;
    if (!gf_grow(&c->files, &c->capacity, c->n + 1, sizeof *c->files))
        return gf_fail_memory(err, "a compaction");
    c->files[c->n++] = number;
    return GF_OK;
}

static bool is_old(const compaction *c, uint64_t number)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->files[i] == number) return true;
    return false;
}

/* ---- one round ------------------------------------------------------------------------------- */

static gf_status commit_batch(compaction *c, gf_error *err)
{
    if (!gf_leveldb_batch_bytes(c->batch)) return GF_OK;
    gf_status st = gf_leveldb_commit(c->b, c->batch, GF_SYNC_ON, err);
    gf_leveldb_batch_clear(c->batch);
    return st;
}

/* With all rows held and the catalogue locked: nobody changes the key meanwhile. */
static gf_status write_again(void *context, uint64_t number, gf_slice lowest, gf_error *err)
{
    compaction *c = context;
    if (!is_old(c, number)) return GF_OK;
    c->left++;
    gf_status st = gf_leveldb_database_get(c->b->db, NULL, lowest, &c->value, err);
    if (st == GF_OK)
        gf_leveldb_batch_put(c->batch, lowest, gf_buffer_view(&c->value));
    else if (st == GF_ENOTFOUND)
        gf_leveldb_batch_delete(c->batch, lowest);
    else
        return st;
    return gf_leveldb_batch_bytes(c->batch) < BATCH_BYTES ? GF_OK : commit_batch(c, err);
}

static gf_status write_keys(compaction *c, gf_error *err)
{
    c->left = 0;
    gf_leveldb_lock_all_rows(c->b);
    pthread_mutex_lock(&c->b->catalogue_lock);
    gf_status st = each_table(c->b, write_again, c, err);
    if (st == GF_OK) st = commit_batch(c, err);
    pthread_mutex_unlock(&c->b->catalogue_lock);
    gf_leveldb_unlock_all_rows(c->b);
    return st;
}

/* LevelDB reports a failed compaction with the next write. */
static gf_status write_nothing(gf_leveldb *b, gf_error *err)
{
    gf_leveldb_batch *batch = gf_leveldb_batch_create();
    gf_leveldb_batch_delete(batch, GF_SLICE("")); /* a key that is never there */
    gf_status st = gf_leveldb_commit(b, batch, GF_SYNC_OFF, err);
    gf_leveldb_batch_free(batch);
    return st;
}

/* Lowest keys of the tables. */
typedef struct bounds {
    gf_slice *keys; /* n of capacity */
    size_t n, capacity;
    gf_arena memory;
} bounds;

static gf_status note_bound(void *context, uint64_t number, gf_slice lowest, gf_error *err)
{
    bounds *l = context;
    (void)number;
    gf_slice copy = gf_arena_copy(&l->memory, lowest);
    if (!copy.ptr || !gf_grow(&l->keys, &l->capacity, l->n + 1, sizeof *l->keys))
        return gf_fail_memory(err, "a compaction");
    l->keys[l->n++] = copy;
    return GF_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return gf_slice_compare(*(const gf_slice *)a, *(const gf_slice *)b);
}

/* LevelDB merges a range to its end: ranges of some files each, so that whoever wants to stop need not wait for all. */
static gf_status merge_ranges(compaction *c, gf_error *err)
{
    bounds l = {.n = 0};
    gf_slice from = {0};
    gf_status st = each_table(c->b, note_bound, &l, err);
    if (st == GF_OK && l.n) qsort(l.keys, l.n, sizeof *l.keys, by_bytes);
    for (size_t i = RANGE_FILES; st == GF_OK && i < l.n; i += RANGE_FILES) {
        gf_leveldb_database_compact(c->b->db, from, l.keys[i]);
        from = l.keys[i];
        st = gf_cancel_check(c->cancel, err);
    }
    if (st == GF_OK) {
        gf_leveldb_database_compact(c->b->db, from, (gf_slice){0});
        st = write_nothing(c->b, err);
    }
    if (st == GF_OK) st = gf_cancel_check(c->cancel, err);
    gf_free(l.keys);
    gf_arena_release(&l.memory);
    return st;
}

static gf_status rewrite_files(compaction *c, gf_error *err)
{
    gf_status st = merge_ranges(c, err); /* the log becomes a table */
    if (st == GF_OK) st = each_table(c->b, note_file, c, err);
    for (int i = 0; i < ROUNDS && st == GF_OK; i++) {
        st = write_keys(c, err);
        if (st != GF_OK || c->left == 0) return st;
        st = merge_ranges(c, err);
    }
    if (st != GF_OK) return st;
    return gf_fail(err, GF_EBUSY, "%zu table files could not be written anew; try again", c->left);
}

/* ---- readers --------------------------------------------------------------------------------- */

static gf_status any_file_left(const compaction *c, bool *any, gf_error *err)
{
    static const char *const endings[] = {"ldb", "sst"};
    gf_buffer path = {0};
    gf_status st = GF_OK;
    *any = false;
    for (size_t i = 0; i < 2 * c->n && !*any && st == GF_OK; i++) {
        gf_buffer_reset(&path);
        gf_buffer_format(&path, "%s/%06" PRIu64 ".%s", c->b->folder, c->files[i / 2],
                         endings[i % 2]);
        st = gf_buffer_check(&path, err);
        if (st == GF_OK) *any = gf_file_exists(gf_buffer_cstr(&path));
    }
    gf_buffer_release(&path);
    return st;
}

/* A range without a key compacts nothing, but has what was written become a table. */
static gf_status remove_files(compaction *c, bool *any, gf_error *err)
{
    gf_status st = any_file_left(c, any, err);
    if (st != GF_OK || !*any) return st;
    gf_leveldb_database_compact(c->b->db, GF_SLICE("\xFF\xFF"), GF_SLICE("\xFF\xFF"));
    return any_file_left(c, any, err);
}

static gf_status compact_files(compaction *c, unsigned milliseconds, gf_error *err)
{
    bool any = false;
    struct timespec until = gf_condition_deadline(milliseconds);
    bool passed = !milliseconds || gf_leveldb_readers_pass(&c->b->readers, &until);
    gf_status st = c->b->in_memory ? GF_OK : rewrite_files(c, err);
    if (st != GF_OK || !milliseconds || c->b->in_memory) return st;
    until = gf_condition_deadline(passed ? milliseconds : 0);
    passed = gf_leveldb_readers_pass(&c->b->readers, &until) && passed;
    st = remove_files(c, &any, err);
    if (st != GF_OK || (passed && !any)) return st;
    return gf_fail(
        err, GF_EBUSY,
        "somebody still reads what was there before, so some of what was deleted is left "
        "in the files: purge again");
}

gf_status gf_leveldb_compact(gf_backend *backend, unsigned milliseconds, const gf_cancel *cancel,
                             gf_error *err)
{
    gf_status st = gf_leveldb_check_writable((gf_leveldb *)backend, err);
    if (st != GF_OK) return st;
    compaction c = {
        .b = (gf_leveldb *)backend, .cancel = cancel, .batch = gf_leveldb_batch_create()};
    gf_leveldb_database_begin(c.b->db);
    pthread_mutex_lock(&c.b->compact_lock);
    st = compact_files(&c, milliseconds, err);
    pthread_mutex_unlock(&c.b->compact_lock);
    gf_leveldb_batch_free(c.batch);
    gf_free(c.files);
    gf_buffer_release(&c.value);
    return st;
}
