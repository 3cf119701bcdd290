/**
 * A pool of threads that works through numbered tasks.
 *
 * Results never depend on the number of threads as long as a task's outcome depends on its index
 * alone: so callers cut work into chunks of fixed size, and combine partial sums by index.
 */
#ifndef GF_BASE_POOL_H
#define GF_BASE_POOL_H

#include "grouperfish/cancel.h"
#include "grouperfish/status.h"

#include <stddef.h>

typedef struct gf_pool gf_pool;

/**
 * A task. `worker` is in 0..gf_pool_size()-1 and no two tasks run with the same worker at the
 * same time, so scratch memory can be kept per worker.
 */
typedef gf_status gf_pool_task(void *context, size_t index, unsigned worker, gf_error *err);

/** A pool of n threads in all, the caller's own included; n 0 takes one per processor. */
gf_status gf_pool_create(unsigned n, gf_pool **pool, gf_error *err);
void gf_pool_free(gf_pool *pool);

/** Number of threads; 1 for a NULL pool. */
unsigned gf_pool_size(const gf_pool *pool);

/**
 * Run tasks 0..n-1 and wait for all. After a failure no further task starts, and the failure of the
 * lowest index seen is returned; so too after a cancel (which may be NULL). A NULL pool runs them
 * here. One call at a time per pool.
 */
gf_status gf_pool_run(gf_pool *pool, size_t n, gf_pool_task *task, void *context,
                      const gf_cancel *cancel, gf_error *err);

/** Tasks 0..n-1, to be run by whoever gets them. */
typedef struct gf_pool_tasks {
    size_t n;
    gf_pool_task *task;
    void *context;
} gf_pool_tasks;

/** The same for two lists at once, those of the first before those of the second. */
gf_status gf_pool_run_both(gf_pool *pool, const gf_pool_tasks *first, const gf_pool_tasks *second,
                           const gf_cancel *cancel, gf_error *err);

#endif
