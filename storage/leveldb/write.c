/* Writing: locks of rows, conditions, increments. */
#include "storage/leveldb/catalogue.h"
#include "storage/leveldb/writing.h"

#include "base/clock.h"
#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

enum { LARGEST_SPARE = 8 << 20 }; /* bytes of a batch whose memory is kept */

/* ---- locks of rows ----------------------------------------------------------------------------
 *
 * A write holds all its rows from its first read until it is committed. Those that wait are served
 * in the order of their coming, so that one with many rows is not kept out for ever by a stream of
 * small ones.
 */

typedef struct gf_leveldb_row_waiter {
    const gf_leveldb_row_set *rows;
    bool granted;
    pthread_cond_t turn;
    struct gf_leveldb_row_waiter *next;
} gf_leveldb_row_waiter;

enum { WORDS = sizeof(gf_leveldb_row_set) / sizeof(uint64_t) };

static void add_row(gf_leveldb_row_set *set, unsigned table, gf_slice key)
{
    uint64_t hash = XXH3_64bits_withSeed(key.ptr, key.len, table);
    set->bits[(hash >> 6) % WORDS] |= UINT64_C(1) << (hash & 63);
}

static bool rows_overlap(const gf_leveldb_row_set *a, const gf_leveldb_row_set *b)
{
    uint64_t both = 0;
    for (int i = 0; i < WORDS; i++)
        both |= a->bits[i] & b->bits[i];
    return both != 0;
}

static void add_rows(gf_leveldb_row_set *set, const gf_leveldb_row_set *more)
{
    for (int i = 0; i < WORDS; i++)
        set->bits[i] |= more->bits[i];
}

static void remove_rows(gf_leveldb_row_set *set, const gf_leveldb_row_set *less)
{
    for (int i = 0; i < WORDS; i++)
        set->bits[i] &= ~less->bits[i];
}

static gf_leveldb_row_set rows_of(const gf_change *changes, size_t n,
                                  const gf_expectation *condition)
{
    gf_leveldb_row_set rows = {{0}};
    if (condition) add_row(&rows, condition->table, condition->key);
    for (size_t i = 0; i < n; i++)
        add_row(&rows, changes[i].table, changes[i].key);
    return rows;
}

static void grant_rows(gf_leveldb *b)
{
    gf_leveldb_row_set taken = b->rows_held; /* or wanted by somebody who came earlier */
    gf_leveldb_row_waiter *before = NULL;
    for (gf_leveldb_row_waiter *w = b->first_waiter, *next; w; w = next) {
        next = w->next;
        bool waits = rows_overlap(w->rows, &taken);
        add_rows(&taken, w->rows);
        if (waits) {
            before = w;
            continue;
        }
        if (before)
            before->next = next;
        else
            b->first_waiter = next;
        if (!next) b->last_waiter = before;
        assert(!rows_overlap(w->rows, &b->rows_held));
        add_rows(&b->rows_held, w->rows);
        w->granted = true;
        pthread_cond_signal(&w->turn);
    }
}

static void lock_rows(gf_leveldb *b, const gf_leveldb_row_set *rows)
{
    gf_leveldb_row_waiter w = {.rows = rows};
    pthread_cond_init(&w.turn, NULL);
    pthread_mutex_lock(&b->rows_lock);
    if (b->last_waiter)
        b->last_waiter->next = &w;
    else
        b->first_waiter = &w;
    b->last_waiter = &w;
    grant_rows(b);
    while (!w.granted)
        pthread_cond_wait(&w.turn, &b->rows_lock);
    pthread_mutex_unlock(&b->rows_lock);
    pthread_cond_destroy(&w.turn);
}

static void unlock_rows(gf_leveldb *b, const gf_leveldb_row_set *rows)
{
    pthread_mutex_lock(&b->rows_lock);
    remove_rows(&b->rows_held, rows);
    grant_rows(b);
    pthread_mutex_unlock(&b->rows_lock);
}

static gf_leveldb_row_set all_rows(void)
{
    gf_leveldb_row_set rows;
    memset(&rows, 0xFF, sizeof rows);
    return rows;
}

void gf_leveldb_lock_all_rows(gf_leveldb *b)
{
    gf_leveldb_row_set rows = all_rows();
    lock_rows(b, &rows);
}

void gf_leveldb_unlock_all_rows(gf_leveldb *b)
{
    gf_leveldb_row_set rows = all_rows();
    unlock_rows(b, &rows);
}

/* ---- writes ---------------------------------------------------------------------------------- */

/* The value of one cell; GF_ENOTFOUND without a message. *row keeps it. */
static gf_status read_cell(gf_leveldb *b, unsigned table, unsigned family, gf_slice key,
                           gf_slice qualifier, gf_row *row, gf_error *err)
{
    gf_selection what = {UINT32_C(1) << family, true, qualifier, 1};
    gf_status st = gf_row_begin(row, err);
    if (st == GF_OK) st = gf_leveldb_get(&b->base, NULL, table, key, &what, row, err);
    if (st != GF_OK) gf_error_prefix(err, "table %s", gf_leveldb_schema(b, table)->name);
    return st == GF_OK && row->n_cells == 0 ? GF_ENOTFOUND : st;
}

static gf_status check_condition(gf_leveldb *b, const gf_expectation *c, gf_error *err)
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

/* The memory of one batch is kept for the next: growing to megabytes costs more than filling. */
static gf_leveldb_batch *take_batch(gf_leveldb *b)
{
    gf_leveldb_batch *spare = atomic_exchange(&b->spare_batch, NULL);
    return spare ? spare : gf_leveldb_batch_create();
}

static void give_back_batch(gf_leveldb_writing *w)
{
    if (gf_leveldb_batch_bytes(w->batch) <= LARGEST_SPARE) {
        gf_leveldb_batch_clear(w->batch);
        w->batch = atomic_exchange(&w->b->spare_batch, w->batch);
    }
    gf_leveldb_batch_free(w->batch);
}

static void release_writing(gf_leveldb_writing *w)
{
    give_back_batch(w);
    gf_arena_release(&w->arena);
    gf_arena_release(&w->run_arena);
    gf_arena_release(&w->columns_arena);
    gf_row_release(&w->row);
    gf_buffer_release(&w->key);
    gf_buffer_release(&w->block_key);
    gf_buffer_release(&w->entry);
    gf_buffer_release(&w->value);
    gf_buffer_release(&w->packed);
    gf_buffer_release(&w->compressed);
}

/* With the rows locked. */
static gf_status write_locked(gf_leveldb *b, const gf_change *changes, size_t n,
                              const gf_expectation *condition, gf_sync sync, gf_error *err)
{
    gf_status st = condition ? check_condition(b, condition, err) : GF_OK;
    if (st != GF_OK) return st;
    gf_leveldb_writing w = {.b = b, .now = gf_clock_ms()};
    w.columns.arena = &w.columns_arena;
    w.batch = take_batch(b);
    st = gf_leveldb_apply(&w, changes, n, err);
    if (st == GF_OK) st = gf_leveldb_commit(b, w.batch, sync, err);
    for (const gf_leveldb_cut_mark *m = w.marks; m && st == GF_OK; m = m->next)
        gf_leveldb_catalogue_set_cut(b, m->table, m->family);
    release_writing(&w);
    return st;
}

gf_status gf_leveldb_write(gf_backend *backend, const gf_change *changes, size_t n,
                           const gf_expectation *condition, gf_backend_hold *hold, gf_sync sync,
                           gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    (void)hold; /* is never lost */
    gf_status st = gf_leveldb_check_writable(b, err);
    if (st != GF_OK) return st;
    gf_leveldb_row_set rows = rows_of(changes, n, condition);
    lock_rows(b, &rows);
    st = write_locked(b, changes, n, condition, sync, err);
    unlock_rows(b, &rows);
    return st;
}

/* ---- increments ------------------------------------------------------------------------------ */

static gf_status add_delta(gf_leveldb *b, const gf_change *put, int64_t delta, int64_t *sum,
                           gf_error *err)
{
    gf_row row = {0};
    int64_t old = 0;
    gf_status st = read_cell(b, put->table, put->family, put->key, put->qualifier, &row, err);
    if (st == GF_OK && !gf_number_read_signed(row.cells[0].value, &old))
        st = gf_fail(err, GF_EINVAL, "table %s: cell %.*s holds no base-10 integer of 64 bits",
                     gf_leveldb_schema(b, put->table)->name, GF_SLICE_ARG(put->qualifier));
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
    int64_t sum = 0;
    gf_status st = gf_leveldb_check_writable(b, err);
    if (st != GF_OK) return st;
    gf_leveldb_row_set rows = rows_of(put, 1, NULL);
    lock_rows(b, &rows);
    st = add_delta(b, put, delta, &sum, err);
    if (st == GF_OK) {
        int n = snprintf(digits, sizeof digits, "%" PRId64, sum);
        change.value = gf_slice_of(digits, (size_t)n);
        st = write_locked(b, &change, 1, NULL, sync, err);
    }
    unlock_rows(b, &rows);
    if (st == GF_OK) *result = sum;
    return st;
}
