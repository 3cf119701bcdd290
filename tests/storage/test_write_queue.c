/* Batches that several threads fill are all written, in the order of their numbers, and a failure is told. */
#include "base/pool.h"
#include "storage/write_queue.h"
#include "tests/storage/given.h"

#include <stdatomic.h>

typedef struct filling {
    given *g;
    gf_write_queue *queue;
    uint64_t bad;        /* number of a batch that cannot be written */
    uint64_t unfilled;   /* number of one that is not filled */
    atomic_uint at_work; /* batches that are held */
    atomic_uint most;
} filling;

static void note_most(filling *f)
{
    unsigned now = atomic_fetch_add(&f->at_work, 1) + 1, most = atomic_load(&f->most);
    while (most < now && !atomic_compare_exchange_weak(&f->most, &most, now))
        ;
}

/* Set one cell that all set, and one of its own. */
static gf_status fill(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    filling *f = context;
    gf_batch *batch;
    char number[16], name[24];
    gf_error why;
    gf_status st = gf_write_queue_take(f->queue, i, &batch, err);
    if (st != GF_OK) return st;
    note_most(f);
    snprintf(number, sizeof number, "%zu", i);
    snprintf(name, sizeof name, "c%03zu", i);
    assert_int_equal(gf_batch_changes(batch), 0);
    gf_batch_put(batch, f->g->t, KEY("s1"), INFO, S("age"), gf_slice_str(number), 0);
    gf_batch_put(batch, f->g->t, i == f->bad ? S("no key") : KEY("s1"), COURSE, gf_slice_str(name),
                 S("1"), 0);
    atomic_fetch_sub(&f->at_work, 1);
    if (i != f->unfilled) {
        gf_write_queue_give(f->queue, i);
        return GF_OK;
    }
    st = gf_fail(&why, GF_ELIMIT, "batch %zu cannot be filled", i);
    gf_write_queue_stop(f->queue, i, &why);
    if (err) *err = why;
    return st;
}

/* The cells that the first n batches set. */
static void batches_are(given *g, size_t n)
{
    gf_buffer row = {0};
    if (n) gf_buffer_format(&row, "0.age=%zu", n - 1);
    for (size_t i = 0; i < n; i++)
        gf_buffer_format(&row, " 2.c%03zu=1", i);
    gf_buffer_byte(&row, '\0');
    given_row_is(g, NULL, "s1", GF_ALL_FAMILIES, gf_buffer_view(&row).ptr);
    gf_buffer_release(&row);
}

static void all_is_written_in_order(void **state)
{
    enum { BATCHES = 150 };
    for (unsigned threads = 1; threads <= 4; threads++)
        for (unsigned places = 1; places <= 9; places += 4) {
            given g = given_begin(state, &given_students);
            gf_error err;
            gf_pool *pool;
            filling f = {.g = &g, .bad = UINT64_MAX, .unfilled = UINT64_MAX};
            assert_ok(gf_pool_create(threads, &pool, &err));
            assert_ok(gf_write_queue_open(g.db, places, &f.queue, &err));
            assert_ok(gf_pool_run(pool, BATCHES, fill, &f, NULL, &err));
            assert_ok(gf_write_queue_close(f.queue, &err));
            assert_true(atomic_load(&f.most) <= places);
            batches_are(&g, BATCHES);
            gf_pool_free(pool);
            given_end(&g);
        }
}

/* What comes before a failure is there, nothing of what comes behind it, and nobody waits for ever. */
static void a_failure_ends_the_writing(void **state, uint64_t bad, uint64_t unfilled,
                                       gf_status expected, const char *message)
{
    enum { BATCHES = 60 };
    for (unsigned threads = 1; threads <= 4; threads++) {
        given g = given_begin(state, &given_students);
        gf_error err;
        gf_pool *pool;
        filling f = {.g = &g, .bad = bad, .unfilled = unfilled};
        assert_ok(gf_pool_create(threads, &pool, &err));
        assert_ok(gf_write_queue_open(g.db, 3, &f.queue, &err));
        assert_status(expected, gf_pool_run(pool, BATCHES, fill, &f, NULL, &err));
        assert_string_equal(err.message, message);
        assert_status(expected, gf_write_queue_close(f.queue, &err));
        assert_string_equal(err.message, message);
        batches_are(&g, bad < unfilled ? bad : unfilled);
        gf_pool_free(pool);
        given_end(&g);
    }
}

static void a_batch_that_cannot_be_written(void **state)
{
    a_failure_ends_the_writing(state, 7, UINT64_MAX, GF_EINVAL, "not a row key of table students");
}

static void a_batch_that_cannot_be_filled(void **state)
{
    a_failure_ends_the_writing(state, UINT64_MAX, 11, GF_ELIMIT, "batch 11 cannot be filled");
}

/* The failure of the last batch is told by closing. */
static void the_last_batch_fails(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    gf_batch *batch;
    gf_write_queue *queue;
    assert_ok(gf_write_queue_open(g.db, 2, &queue, &err));
    assert_ok(gf_write_queue_take(queue, 0, &batch, &err));
    gf_batch_put(batch, g.t, S("no key"), INFO, S("age"), S("1"), 0);
    gf_write_queue_give(queue, 0);
    assert_status(GF_EINVAL, gf_write_queue_close(queue, &err));
    assert_string_equal(err.message, "not a row key of table students");
    given_end(&g);
}

/* A cancelled caller takes no more, and what it gave is written. */
static void closed_before_all_is_taken(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    gf_batch *batch;
    filling f = {.g = &g, .bad = UINT64_MAX, .unfilled = UINT64_MAX};
    assert_ok(gf_write_queue_open(g.db, 4, &f.queue, &err));
    assert_ok(fill(&f, 0, 0, &err));
    assert_ok(fill(&f, 1, 0, &err));
    assert_ok(gf_write_queue_take(f.queue, 2, &batch, &err));
    assert_ok(gf_write_queue_close(f.queue, &err));
    batches_are(&g, 2);
    assert_ok(gf_write_queue_close(NULL, &err));
    given_end(&g);
}

static gf_status write_four(void *context, gf_error *err)
{
    given *g = context;
    gf_error later;
    filling f = {.g = g, .bad = UINT64_MAX, .unfilled = UINT64_MAX};
    gf_status st = gf_write_queue_open(g->db, 2, &f.queue, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < 4 && st == GF_OK; i++)
        st = fill(&f, i, 0, err);
    gf_status written = gf_write_queue_close(f.queue, st == GF_OK ? err : &later);
    return st == GF_OK ? written : st;
}

static void memory_may_end(void **state)
{
    given g = given_begin(state, &given_students);
    gf_test_sweep(write_four, NULL, &g);
    batches_are(&g, 4);
    given_end(&g);
}

static int run(const char *name, make_database *make)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(all_is_written_in_order),       ON_BOTH(a_batch_that_cannot_be_written),
        ON_BOTH(a_batch_that_cannot_be_filled), ON_BOTH(the_last_batch_fails),
        ON_BOTH(closed_before_all_is_taken),
    };
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

/* The model ends where it gets no memory. */
static int run_sweep(make_database *make)
{
    const struct CMUnitTest tests[] = {ON_BOTH(memory_may_end)};
    return cmocka_run_group_tests_name("write_queue without memory", tests, NULL, NULL);
}

int main(void)
{
    return run("write_queue over the model", gf_test_model) +
           run("write_queue over LevelDB", gf_test_leveldb) + run_sweep(gf_test_leveldb);
}
