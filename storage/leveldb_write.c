/* Writing: locks of rows, conditions, the commit. */
#include "storage/leveldb_writing.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

/* ---- locks, the condition, the commit ---------------------------------------------------------
 */

static uint64_t row_bit(unsigned table, gf_slice key)
{
    return UINT64_C(1) << (XXH3_64bits_withSeed(key.ptr, key.len, table) & 63);
}

static uint64_t rows_of(const gf_change *changes, size_t n, const gf_condition *condition)
{
    uint64_t rows = condition ? row_bit(condition->table, condition->key) : 0;
    for (size_t i = 0; i < n && rows != UINT64_MAX; i++)
        rows |= row_bit(changes[i].table, changes[i].key);
    return rows;
}

static void lock_rows(gf_leveldb *b, uint64_t rows)
{
    pthread_mutex_lock(&b->rows_lock);
    while (b->rows_held & rows)
        pthread_cond_wait(&b->rows_free, &b->rows_lock);
    b->rows_held |= rows;
    pthread_mutex_unlock(&b->rows_lock);
}

static void unlock_rows(gf_leveldb *b, uint64_t rows)
{
    pthread_mutex_lock(&b->rows_lock);
    b->rows_held &= ~rows;
    pthread_cond_broadcast(&b->rows_free);
    pthread_mutex_unlock(&b->rows_lock);
}

static gf_status check_failed(gf_leveldb *b, gf_error *err)
{
    pthread_mutex_lock(&b->rows_lock);
    bool failed = b->failed;
    pthread_mutex_unlock(&b->rows_lock);
    if (!failed) return GF_OK;
    return gf_fail(err, GF_EIO, "an earlier write failed; open the store again to go on");
}

/* The value of one cell; GF_ENOTFOUND without a message. *row keeps it. */
static gf_status read_cell(gf_leveldb *b, unsigned table, unsigned family, gf_slice key,
                           gf_slice qualifier, gf_row *row, gf_error *err)
{
    gf_selection what = {UINT32_C(1) << family, true, qualifier, 1};
    gf_status st = gf_row_begin(row, err);
    if (st == GF_OK) st = gf_leveldb_get(&b->base, NULL, table, key, &what, row, err);
    return st == GF_OK && row->n_cells == 0 ? GF_ENOTFOUND : st;
}

static gf_status check_condition(gf_leveldb *b, const gf_condition *c, gf_error *err)
{
    gf_row row = {0};
    gf_status st = read_cell(b, c->table, c->family, c->key, c->qualifier, &row, err);
    bool holds = false;
    if (st == GF_ENOTFOUND)
        holds = c->expected == NULL;
    else if (st == GF_OK)
        holds = c->expected && gf_slice_equal(row.cells[0].value, *c->expected);
    gf_row_release(&row);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    if (holds) return GF_OK;
    return gf_fail(err, GF_ECONFLICT, "another writer was first");
}

static gf_status commit(gf_leveldb *b, leveldb_writebatch_t *batch, gf_sync sync, gf_error *err)
{
    leveldb_writeoptions_t *options = leveldb_writeoptions_create();
    char *message = NULL;
    leveldb_writeoptions_set_sync(options, sync == GF_SYNC);
    leveldb_write(b->db, options, batch, &message);
    leveldb_writeoptions_destroy(options);
    gf_status st = gf_leveldb_failure(message, err);
    if (st != GF_OK) {
        pthread_mutex_lock(&b->rows_lock);
        b->failed = true;
        pthread_mutex_unlock(&b->rows_lock);
    }
    return st;
}

static void release(gf_writing *w)
{
    if (w->batch) leveldb_writebatch_destroy(w->batch);
    gf_arena_release(&w->arena);
    gf_strings_release(&w->pending_keys);
    gf_free(w->pending);
    gf_free(w->cuts);
    gf_buffer_release(&w->key);
    gf_buffer_release(&w->block_key);
    gf_buffer_release(&w->value);
    gf_buffer_release(&w->entry);
    gf_buffer_release(&w->packed);
    gf_buffer_release(&w->unpacked);
}

/* With the rows locked. */
static gf_status write_locked(gf_leveldb *b, const gf_change *changes, size_t n,
                              const gf_condition *condition, gf_sync sync, gf_error *err)
{
    gf_status st = check_failed(b, err);
    if (st == GF_OK && condition) st = check_condition(b, condition, err);
    if (st != GF_OK) return st;
    gf_writing w = {.b = b, .changes = changes, .n = n, .now = gf_clock_ms()};
    w.batch = leveldb_writebatch_create();
    st = w.batch ? gf_writing_apply(&w, err) : gf_fail_memory(err, "a batch");
    if (st == GF_OK) st = commit(b, w.batch, sync, err);
    release(&w);
    return st;
}

gf_status gf_leveldb_write(gf_backend *backend, const gf_change *changes, size_t n,
                           const gf_condition *condition, gf_sync sync, gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    uint64_t rows = rows_of(changes, n, condition);
    lock_rows(b, rows);
    gf_status st = write_locked(b, changes, n, condition, sync, err);
    unlock_rows(b, rows);
    return st;
}

static gf_status parse_integer(gf_slice text, int64_t *v)
{
    char digits[32];
    if (text.len == 0 || text.len >= sizeof digits) return GF_EINVAL;
    memcpy(digits, text.ptr, text.len);
    digits[text.len] = '\0';
    char *end;
    errno = 0;
    *v = strtoll(digits, &end, 10);
    return errno || *end || end == digits ? GF_EINVAL : GF_OK;
}

static gf_status add_delta(gf_leveldb *b, const gf_change *put, int64_t delta, int64_t *sum,
                           gf_error *err)
{
    gf_row row = {0};
    int64_t old = 0;
    gf_status st = read_cell(b, put->table, put->family, put->key, put->qualifier, &row, err);
    if (st == GF_OK && parse_integer(row.cells[0].value, &old) != GF_OK)
        st = gf_fail(err, GF_EINVAL, "\"%.*s\" is not a base-10 integer",
                     GF_SLICE_ARG(row.cells[0].value));
    gf_row_release(&row);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    if (__builtin_add_overflow(old, delta, sum))
        return gf_fail(err, GF_ELIMIT, "%" PRId64 " + %" PRId64 " does not fit 64 bits", old,
                       delta);
    return GF_OK;
}

gf_status gf_leveldb_increment(gf_backend *backend, const gf_change *put, int64_t delta,
                               gf_sync sync, int64_t *result, gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    gf_change change = *put;
    char digits[32];
    int64_t sum;
    uint64_t rows = rows_of(put, 1, NULL);
    lock_rows(b, rows);
    gf_status st = add_delta(b, put, delta, &sum, err);
    if (st == GF_OK) {
        int n = snprintf(digits, sizeof digits, "%" PRId64, sum);
        change.value = gf_slice_of(digits, (size_t)n);
        st = write_locked(b, &change, 1, NULL, sync, err);
    }
    unlock_rows(b, rows);
    if (st == GF_OK) *result = sum;
    return st;
}
