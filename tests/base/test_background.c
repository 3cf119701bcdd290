#include "tests/support/test.h"

#include "base/background.h"

#include <signal.h>
#include <unistd.h>

enum { ROUNDS = 2000 };

typedef struct work {
    pthread_t by;
    long done, fail_at;
    bool blocked;
} work;

static gf_status count(void *context, gf_error *err)
{
    work *w = context;
    sigset_t mask;
    w->by = pthread_self();
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    w->blocked = sigismember(&mask, SIGINT) == 1;
    if (++w->done == w->fail_at) return gf_fail(err, GF_EIO, "failed at %ld", w->done);
    return GF_OK;
}

static gf_status take_a_while(void *context, gf_error *err)
{
    usleep(20000);
    return count(context, err);
}

static void does_one_task_after_another(void **state)
{
    (void)state;
    gf_background b;
    gf_error err;
    work w = {0};
    gf_background_init(&b);
    assert_int_equal(gf_background_wait(&b, &err), GF_OK); /* nothing was started */
    for (long i = 1; i <= ROUNDS; i++) {
        gf_background_start(&b, i % 100 ? count : take_a_while, &w);
        assert_int_equal(gf_background_wait(&b, &err), GF_OK);
        assert_int_equal(w.done, i);
    }
    assert_false(pthread_equal(w.by, pthread_self()));
    assert_true(w.blocked); /* signals are the owner's */
    gf_background_release(&b);
}

static void tells_a_failure_once(void **state)
{
    (void)state;
    gf_background b;
    gf_error err;
    work w = {.fail_at = 2};
    gf_background_init(&b);
    gf_background_start(&b, count, &w);
    assert_int_equal(gf_background_wait(&b, &err), GF_OK);
    gf_background_start(&b, count, &w);
    assert_int_equal(gf_background_wait(&b, &err), GF_EIO);
    assert_string_equal(err.message, "failed at 2");
    assert_int_equal(gf_background_wait(&b, &err), GF_OK);
    gf_background_start(&b, count, &w);
    assert_int_equal(gf_background_wait(&b, NULL), GF_OK);
    gf_background_release(&b);
}

static void a_release_waits(void **state)
{
    (void)state;
    gf_background b;
    work w = {0};
    gf_background_init(&b);
    gf_background_start(&b, take_a_while, &w);
    gf_background_release(&b);
    assert_int_equal(w.done, 1);
    gf_background_init(&b);
    gf_background_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(does_one_task_after_another),
        cmocka_unit_test(tells_a_failure_once),
        cmocka_unit_test(a_release_waits),
    };
    return cmocka_run_group_tests_name("background", tests, NULL, NULL);
}
