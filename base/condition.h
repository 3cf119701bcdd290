/**
 * Conditions whose waiting ends by a clock that never goes back.
 */
#ifndef GF_BASE_CONDITION_H
#define GF_BASE_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

void gf_condition_init(pthread_cond_t *condition);

/** The moment that many milliseconds from now. */
struct timespec gf_condition_deadline(unsigned milliseconds);

/**
 * Wait, with the lock held, for a signal or until the moment; false once it has passed. As with any
 * condition the waiting may end for no reason.
 */
bool gf_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                       const struct timespec *until);

/** The same, for so many milliseconds. */
bool gf_condition_wait_ms(pthread_cond_t *condition, pthread_mutex_t *lock, unsigned milliseconds);

#endif
