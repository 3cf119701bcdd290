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
 * What a reader began with stays as long as it reads: entries that its snapshot has, and files that
 * its iterator has. So readers are waited for twice, those of the beginning before anything is
 * written, and those of the end, which had the old files; LevelDB removes these when it next writes
 * a table. Where a reader does not end in time all else is done, and that is told.
 */
#include "storage/leveldb/internal.h"

#include "base/condition.h"
#include "base/file.h"
#include "base/memory.h"
#include "storage/check/files.h"
#include "storage/leveldb/env.h"

#include <inttypes.h>
#include <unistd.h>

enum { ROUNDS = 5, BATCH_BYTES = 4 << 20 };

typedef struct compaction {
    gf_leveldb *b;
    uint64_t *files; /* n of capacity: numbers of the tables when it began */
    size_t n, capacity;
    size_t left; /* of them, in the last look */
    leveldb_writebatch_t *batch;
    size_t bytes;
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

static gf_status each_table(const gf_leveldb *b, gf_manifest_table *each, void *context,
                            gf_error *err)
{
    gf_buffer content = {0};
    gf_status st = read_manifest(b, &content, err);
    if (st == GF_OK) st = gf_leveldb_list_tables(gf_buffer_view(&content), each, context, err);
    gf_buffer_release(&content);
    return st;
}

static gf_status note_file(void *context, uint64_t number, gf_slice lowest, gf_error *err)
{
    compaction *c = context;
    (void)lowest;
    if (c->n == c->capacity) {
        size_t capacity = c->capacity ? c->capacity * 2 : 64;
        uint64_t *grown = gf_realloc(c->files, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "a compaction");
        c->files = grown;
        c->capacity = capacity;
    }
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

static gf_status commit(compaction *c, gf_error *err)
{
    gf_status st = c->bytes ? gf_leveldb_commit(c->b, c->batch, c->bytes, GF_SYNC, err) : GF_OK;
    leveldb_writebatch_clear(c->batch);
    c->bytes = 0;
    return st;
}

/* With all rows held and the catalogue locked: nobody changes the key meanwhile. */
static gf_status write_again(void *context, uint64_t number, gf_slice lowest, gf_error *err)
{
    compaction *c = context;
    if (!is_old(c, number)) return GF_OK;
    c->left++;
    gf_status st = gf_leveldb_read(c->b, &c->b->newest, lowest, &c->value, err);
    if (st == GF_OK)
        leveldb_writebatch_put(c->batch, lowest.ptr, lowest.len, c->value.ptr ? c->value.ptr : "",
                               c->value.len);
    else if (st == GF_ENOTFOUND)
        leveldb_writebatch_delete(c->batch, lowest.ptr, lowest.len);
    else
        return st;
    c->bytes += lowest.len + c->value.len + 1;
    return c->bytes < BATCH_BYTES ? GF_OK : commit(c, err);
}

static gf_status write_keys(compaction *c, gf_error *err)
{
    c->left = 0;
    gf_leveldb_hold_all_rows(c->b);
    pthread_mutex_lock(&c->b->catalogue_lock);
    gf_status st = each_table(c->b, write_again, c, err);
    if (st == GF_OK) st = commit(c, err);
    pthread_mutex_unlock(&c->b->catalogue_lock);
    gf_leveldb_let_all_rows(c->b);
    return st;
}

/* LevelDB tells of a failed compaction with the next write. */
static gf_status ask(gf_leveldb *b, gf_error *err)
{
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    leveldb_writebatch_delete(batch, "", 0); /* a key that is never there */
    gf_status st = gf_leveldb_commit(b, batch, 1, GF_NO_SYNC, err);
    leveldb_writebatch_destroy(batch);
    return st;
}

static gf_status rounds(compaction *c, gf_error *err)
{
    gf_leveldb *b = c->b;
    gf_status st = GF_OK;
    leveldb_compact_range(b->db, NULL, 0, NULL, 0); /* the log becomes a table */
    st = ask(b, err);
    if (st == GF_OK) st = each_table(b, note_file, c, err);
    for (int i = 0; i < ROUNDS && st == GF_OK; i++) {
        st = write_keys(c, err);
        if (st != GF_OK || c->left == 0) return st;
        leveldb_compact_range(b->db, NULL, 0, NULL, 0);
        st = ask(b, err);
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
        if (st == GF_OK) *any = access(gf_buffer_cstr(&path), F_OK) == 0;
    }
    gf_buffer_release(&path);
    return st;
}

/* A range without a key compacts nothing, but has what was written become a table. */
static gf_status remove_files(compaction *c, bool *any, gf_error *err)
{
    gf_status st = any_file_left(c, any, err);
    if (st != GF_OK || !*any) return st;
    leveldb_compact_range(c->b->db, "\xFF\xFF", 2, "\xFF\xFF", 2);
    return any_file_left(c, any, err);
}

static gf_status compact(compaction *c, unsigned milliseconds, gf_error *err)
{
    bool any = false;
    struct timespec until = gf_condition_deadline(milliseconds);
    bool passed = !milliseconds || gf_leveldb_readers_pass(&c->b->readers, &until);
    gf_status st = rounds(c, err);
    if (st != GF_OK || !milliseconds) return st;
    until = gf_condition_deadline(passed ? milliseconds : 0);
    passed = gf_leveldb_readers_pass(&c->b->readers, &until) && passed;
    st = remove_files(c, &any, err);
    if (st != GF_OK || (passed && !any)) return st;
    return gf_fail(
        err, GF_EBUSY,
        "somebody still reads what was there before, so some of what was deleted is left "
        "in the files: purge again");
}

gf_status gf_leveldb_compact(gf_backend *backend, unsigned milliseconds, gf_error *err)
{
    compaction c = {.b = (gf_leveldb *)backend, .batch = leveldb_writebatch_create()};
    gf_leveldb_env_begin(c.b->env, false);
    pthread_mutex_lock(&c.b->compact_lock);
    gf_status st = compact(&c, milliseconds, err);
    pthread_mutex_unlock(&c.b->compact_lock);
    leveldb_writebatch_destroy(c.batch);
    gf_free(c.files);
    gf_buffer_release(&c.value);
    return st;
}
