#include "support/test.h"

#include "grouperfish/cancel.h"

#include <pthread.h>
#include <signal.h>

static gf_cancel stop;

static void nobody_asked(void **state)
{
    (void)state;
    gf_error err = {GF_OK, "as it was"};
    gf_cancel quiet = {0};
    assert_ok(gf_cancel_check(NULL, &err));
    assert_ok(gf_cancel_check(&quiet, &err));
    assert_ok(gf_cancel_check(&quiet, NULL));
}

static void tells_once_asked(void **state)
{
    (void)state;
    gf_error err;
    gf_cancel c = {0};
    gf_cancel_request(&c);
    gf_cancel_request(&c);
    for (int i = 0; i < 2; i++) {
        err = (gf_error){GF_OK, ""};
        assert_status(GF_ECANCELLED, gf_cancel_check(&c, &err));
        assert_int_equal(err.status, GF_ECANCELLED);
        assert_string_equal(err.message, "stopped on request");
    }
    assert_status(GF_ECANCELLED, gf_cancel_check(&c, NULL));
}

static void on_signal(int number)
{
    (void)number;
    gf_cancel_request(&stop);
}

static void a_signal_handler_may_ask(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = on_signal}, before;
    stop = (gf_cancel){0};
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &before, NULL);
    assert_status(GF_ECANCELLED, gf_cancel_check(&stop, NULL));
}

static void *wait_for_stop(void *argument)
{
    while (gf_cancel_check(argument, NULL) == GF_OK)
        ;
    return NULL;
}

/* The waiting thread ends, or ctest's time limit tells. */
static void another_thread_sees_it(void **state)
{
    (void)state;
    pthread_t thread;
    stop = (gf_cancel){0};
    assert_int_equal(pthread_create(&thread, NULL, wait_for_stop, &stop), 0);
    gf_cancel_request(&stop);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_asked),
        cmocka_unit_test(tells_once_asked),
        cmocka_unit_test(a_signal_handler_may_ask),
        cmocka_unit_test(another_thread_sees_it),
    };
    return cmocka_run_group_tests_name("cancel", tests, NULL, NULL);
}
