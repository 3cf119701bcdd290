/* Conditions that are waited for until a moment: it passes, or a signal comes first. */
#include "support/test.h"

#include "base/clock.h"
#include "base/condition.h"

typedef struct given {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool set;
} given;

static void *set_it(void *context)
{
    given *g = context;
    pthread_mutex_lock(&g->lock);
    g->set = true;
    pthread_cond_signal(&g->changed);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static void the_moment_passes(void **state)
{
    (void)state;
    given g = {.lock = PTHREAD_MUTEX_INITIALIZER};
    gf_condition_init(&g.changed);
    pthread_mutex_lock(&g.lock);
    double begun = gf_clock_seconds();
    struct timespec until = gf_condition_deadline(1100); /* over the end of a second */
    while (gf_condition_wait(&g.changed, &g.lock, &until))
        ;
    assert_true(gf_clock_seconds() - begun >= 1.099);
    assert_true(gf_clock_seconds() - begun < 60);
    assert_false(gf_condition_wait(&g.changed, &g.lock, &until)); /* and has passed */
    pthread_mutex_unlock(&g.lock);
    pthread_cond_destroy(&g.changed);
}

static void a_signal_comes_first(void **state)
{
    (void)state;
    pthread_t thread;
    given g = {.lock = PTHREAD_MUTEX_INITIALIZER};
    gf_condition_init(&g.changed);
    pthread_mutex_lock(&g.lock);
    double begun = gf_clock_seconds();
    assert_int_equal(pthread_create(&thread, NULL, set_it, &g), 0);
    while (!g.set)
        assert_true(gf_condition_wait_ms(&g.changed, &g.lock, 600000));
    pthread_mutex_unlock(&g.lock);
    assert_true(gf_clock_seconds() - begun < 300);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&g.changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_moment_passes),
        cmocka_unit_test(a_signal_comes_first),
    };
    return cmocka_run_group_tests_name("condition", tests, NULL, NULL);
}
