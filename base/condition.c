/* Conditions whose waiting ends by the monotonic clock. */
#include "base/condition.h"

void gf_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

struct timespec gf_condition_deadline(unsigned milliseconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += milliseconds / 1000;
    t.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

bool gf_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                       const struct timespec *until)
{
    return pthread_cond_timedwait(condition, lock, until) == 0;
}

bool gf_condition_wait_ms(pthread_cond_t *condition, pthread_mutex_t *lock, unsigned milliseconds)
{
    struct timespec until = gf_condition_deadline(milliseconds);
    return gf_condition_wait(condition, lock, &until);
}
