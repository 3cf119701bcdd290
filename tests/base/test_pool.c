#include "support/test.h"

#include "base/pool.h"
#include "base/random.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Checks of cmocka belong to the test's own thread: tasks only record what they see. */

enum { MOST_TASKS = 2000, MOST_WORKERS = 16 };

typedef struct record {
    atomic_uint runs[MOST_TASKS];     /* times that task i ran */
    atomic_uint in_use[MOST_WORKERS]; /* tasks that run with that worker now */
    atomic_uint started, violations;  /* tasks in all; workers that were shared or out of range */
    double sum[MOST_TASKS];           /* of the task's own numbers */
    unsigned pool_size;
    const unsigned char *fails; /* fails[i]: task i returns GF_EINVAL; NULL where none does */
    gf_cancel *cancel;          /* requested by task cancel_at */
    size_t cancel_at;
    unsigned pause_us;
} record;

static void pause_us(unsigned us)
{
    struct timespec t = {0, (long)us * 1000};
    if (us) nanosleep(&t, NULL);
}

static gf_status task(void *context, size_t index, unsigned worker, gf_error *err)
{
    record *r = context;
    atomic_fetch_add(&r->started, 1);
    if (worker >= r->pool_size || atomic_fetch_add(&r->in_use[worker], 1))
        atomic_fetch_add(&r->violations, 1);
    atomic_fetch_add(&r->runs[index], 1);
    gf_random random = gf_random_seed(index, 0);
    for (int i = 0; i < 100; i++)
        r->sum[index] += gf_random_unit(&random);
    pause_us(r->pause_us);
    if (r->cancel && index == r->cancel_at) gf_cancel_request(r->cancel);
    if (worker < r->pool_size) atomic_fetch_sub(&r->in_use[worker], 1);
    if (r->fails && r->fails[index]) return gf_fail(err, GF_EINVAL, "task %zu", index);
    return GF_OK;
}

static void clear(record *r, const gf_pool *pool)
{
    memset(r, 0, sizeof *r);
    r->pool_size = gf_pool_size(pool);
}

static gf_pool *pool_of(unsigned n)
{
    gf_error err;
    gf_pool *pool = NULL;
    assert_ok(gf_pool_create(n, &pool, &err));
    assert_int_equal(gf_pool_size(pool), n);
    return pool;
}

static void sizes_are_told(void **state)
{
    (void)state;
    gf_error err;
    gf_pool *pool = NULL;
    assert_int_equal(gf_pool_size(NULL), 1);
    gf_pool_free(NULL);
    assert_ok(gf_pool_create(0, &pool, &err));
    assert_int_equal(gf_pool_size(pool), sysconf(_SC_NPROCESSORS_ONLN));
    gf_pool_free(pool);
}

static void every_task_runs_once_with_a_worker_of_its_own(void **state)
{
    (void)state;
    gf_error err;
    static record r;
    for (unsigned threads = 0; threads <= 8; threads += threads ? threads : 1) {
        gf_pool *pool = threads ? pool_of(threads) : NULL;
        for (size_t n = 0; n <= MOST_TASKS; n += n < 4 ? 1 : 499) {
            clear(&r, pool);
            assert_ok(gf_pool_run(pool, n, task, &r, NULL, &err));
            assert_int_equal(r.started, n);
            assert_int_equal(r.violations, 0);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(r.runs[i], 1);
        }
        gf_pool_free(pool);
    }
}

static void results_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    gf_error err;
    static record alone, r;
    clear(&alone, NULL);
    assert_ok(gf_pool_run(NULL, MOST_TASKS, task, &alone, NULL, &err));
    for (unsigned threads = 1; threads <= MOST_WORKERS; threads++) {
        gf_pool *pool = pool_of(threads);
        clear(&r, pool);
        assert_ok(gf_pool_run(pool, MOST_TASKS, task, &r, NULL, &err));
        assert_memory_equal(r.sum, alone.sum, sizeof r.sum);
        gf_pool_free(pool);
    }
}

/* Tasks start in order, so the lowest failing index has started before any other can fail. */
static void the_lowest_failing_index_is_reported(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_error err;
    static record r;
    static unsigned char fails[MOST_TASKS];
    for (unsigned threads = 0; threads <= 8; threads += 2) {
        gf_pool *pool = threads ? pool_of(threads) : NULL;
        for (int round = 0; round < 200; round++) {
            size_t n = 1 + gf_random_below(&random, 200), lowest = n;
            uint64_t one_in = 1 + gf_random_below(&random, 100);
            for (size_t i = n; i-- > 0;) {
                fails[i] = gf_random_below(&random, one_in) == 0;
                if (fails[i]) lowest = i;
            }
            clear(&r, pool);
            r.fails = fails;
            r.pause_us = round % 20 == 0;
            gf_status st = gf_pool_run(pool, n, task, &r, NULL, &err);
            assert_int_equal(st, lowest < n ? GF_EINVAL : GF_OK);
            if (lowest == n) continue;
            char message[32];
            snprintf(message, sizeof message, "task %zu", lowest);
            assert_string_equal(err.message, message);
            assert_int_equal(err.status, GF_EINVAL);
            assert_status(GF_EINVAL, gf_pool_run(pool, n, task, &r, NULL, NULL));
        }
        gf_pool_free(pool);
    }
}

/* The others take 20 ms each, so that only those already under way are done after the failure. */
static void nothing_starts_after_a_failure(void **state)
{
    (void)state;
    static record r;
    static unsigned char fails[MOST_TASKS] = {1};
    for (unsigned threads = 1; threads <= 4; threads++) {
        gf_pool *pool = pool_of(threads);
        clear(&r, pool);
        r.fails = fails;
        r.pause_us = 20000;
        assert_status(GF_EINVAL, gf_pool_run(pool, MOST_TASKS, task, &r, NULL, NULL));
        assert_true(r.started >= 1 && r.started < 20 * threads);
        unsigned after = r.started;
        pause_us(30000);
        assert_int_equal(r.started, after);
        gf_pool_free(pool);
    }
}

static void a_cancel_stops_the_run(void **state)
{
    (void)state;
    static record r;
    gf_error err;
    for (unsigned threads = 0; threads <= 4; threads += 2) {
        gf_pool *pool = threads ? pool_of(threads) : NULL;
        gf_cancel cancel = {0};
        clear(&r, pool);
        r.cancel = &cancel;
        r.cancel_at = 100;
        assert_status(GF_ECANCELLED, gf_pool_run(pool, MOST_TASKS, task, &r, &cancel, &err));
        assert_string_equal(err.message, "stopped on request");
        /* A task that was handed out just before may have seen the request. */
        assert_true(r.started + r.pool_size > 101 && r.started < MOST_TASKS);
        clear(&r, pool);
        assert_status(GF_ECANCELLED, gf_pool_run(pool, MOST_TASKS, task, &r, &cancel, NULL));
        assert_int_equal(r.started, 0);
        assert_ok(gf_pool_run(pool, MOST_TASKS, task, &r, NULL, &err));
        gf_pool_free(pool);
    }
}

/* Many short generations in a row: a thread that slept through one must not disturb the next. */
static void a_pool_serves_many_runs(void **state)
{
    (void)state;
    gf_error err;
    static record r;
    gf_pool *pool = pool_of(4);
    clear(&r, pool);
    uint64_t expected = 0;
    for (size_t run = 0; run < 5000; run++) {
        assert_ok(gf_pool_run(pool, run % 7, task, &r, NULL, &err));
        expected += run % 7;
    }
    assert_int_equal(r.started, expected);
    assert_int_equal(r.violations, 0);
    gf_pool_free(pool);
}

/* No thread has room for a stack of 2^60 bytes. */
static void a_thread_that_cannot_start_is_told(void **state)
{
    (void)state;
    gf_error err;
    gf_pool *pool = NULL;
    pthread_attr_t before, huge;
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_getattr_default_np(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 60), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    gf_status st = gf_pool_create(4, &pool, &err);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    pthread_attr_destroy(&before);
    pthread_attr_destroy(&huge);
    assert_int_equal(st, GF_ENOMEM);
    assert_string_equal(err.message, "cannot start thread 2 of 4");
    assert_null(pool);
    gf_pool_free(pool_of(4));
}

static gf_status make_and_use(void *context, gf_error *err)
{
    gf_pool *pool = NULL;
    gf_status st = gf_pool_create(4, &pool, err);
    if (st != GF_OK) {
        assert_null(pool);
        return st;
    }
    clear(context, pool);
    st = gf_pool_run(pool, 100, task, context, NULL, err);
    gf_pool_free(pool);
    return st;
}

static void a_failed_allocation_leaves_no_thread(void **state)
{
    (void)state;
    static record r;
    gf_test_sweep(make_and_use, NULL, &r);
    assert_int_equal(r.started, 100);
}

/* Keep a processor busy for so long. */
static void work(double seconds)
{
    struct timespec t;
    double begin = -1, now;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
        if (begin < 0) begin = now;
    } while (now - begin < seconds);
}

static gf_status work_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    work(((const double *)context)[index]);
    return GF_OK;
}

static bool is_near(double seconds, double wanted)
{
    return seconds >= wanted - 1e-4 && seconds < wanted + 0.01; /* a page fault, a signal */
}

/* Tasks of 8, 4, 4 and 4 ms: 20 ms by one thread, 12 by two, 8 by four and more. */
static void the_account_tells_what_more_threads_would_save(void **state)
{
    (void)state;
    gf_error err;
    double seconds[] = {.008, .004, .004, .004};
    for (unsigned threads = 1; threads <= 2; threads++) {
        gf_pool *pool = pool_of(threads);
        gf_pool_keep_account(true);
        work(.003);
        assert_ok(gf_pool_run(pool, 4, work_task, seconds, NULL, &err));
        gf_pool_account first = gf_pool_read_account();
        work(.005);
        assert_ok(gf_pool_run(pool, 1, work_task, seconds, NULL, &err));
        assert_ok(gf_pool_run(NULL, 4, work_task, seconds, NULL, &err)); /* the caller's own */
        gf_pool_account all = gf_pool_read_account();
        gf_pool_keep_account(false);
        gf_pool_account second = gf_pool_account_between(&first, &all);
        assert_int_equal(first.runs, 1);
        assert_int_equal(first.tasks, 4);
        assert_true(is_near(first.serial, .003));
        assert_true(is_near(first.parallel, .020));
        assert_true(is_near(first.longest, .008));
        assert_true(is_near(first.with[0], .020));
        assert_true(first.with[1] >= .010 - 1e-4 && first.with[1] < first.parallel);
        for (unsigned c = 2; c < GF_POOL_COUNTS; c++)
            assert_true(is_near(first.with[c], .008));
        gf_pool_account sum = gf_pool_account_sum(&first, &second);
        assert_int_equal(sum.runs, all.runs);
        assert_int_equal(sum.tasks, all.tasks);
        assert_true(fabs(sum.with[1] - all.with[1]) < 1e-9);
        assert_int_equal(second.runs, 1);
        assert_int_equal(second.tasks, 1);
        assert_true(is_near(second.serial, .025));
        assert_true(is_near(second.with[GF_POOL_COUNTS - 1], .008));
        gf_pool_free(pool);
    }
}

static void an_account_that_is_not_kept_stays_empty(void **state)
{
    (void)state;
    gf_error err;
    double seconds[] = {.001, .001};
    gf_pool *pool = pool_of(2);
    gf_pool_keep_account(false);
    assert_ok(gf_pool_run(pool, 2, work_task, seconds, NULL, &err));
    gf_pool_account none = gf_pool_read_account();
    assert_int_equal(none.runs, 0);
    assert_true(none.serial == 0 && none.parallel == 0);
    gf_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_told),
        cmocka_unit_test(every_task_runs_once_with_a_worker_of_its_own),
        cmocka_unit_test(results_do_not_depend_on_the_threads),
        cmocka_unit_test(the_lowest_failing_index_is_reported),
        cmocka_unit_test(nothing_starts_after_a_failure),
        cmocka_unit_test(a_cancel_stops_the_run),
        cmocka_unit_test(a_pool_serves_many_runs),
        cmocka_unit_test(a_thread_that_cannot_start_is_told),
        cmocka_unit_test(a_failed_allocation_leaves_no_thread),
        cmocka_unit_test(the_account_tells_what_more_threads_would_save),
        cmocka_unit_test(an_account_that_is_not_kept_stays_empty),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
