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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* ---- an account of what runs take, for whoever measures -------------------------------------------- */

enum { GF_POOL_COUNTS = 6 }; /* of threads: 1, 2, 4, 8, 16, 32 */

/**
 * Processor time of all pools of the process, by where it went, since gf_pool_keep_account. What other
 * threads take (a writer's, LevelDB's) is in none of it: it is what getrusage tells beyond serial +
 * parallel. T threads take at least
 *
 *     serial + with[log2 T],   with: sum over the runs of their tasks' time, dealt to T threads
 *
 * which is at least serial + sum over the runs of max(tasks / T, longest task).
 */
typedef struct gf_pool_account {
    uint64_t runs, tasks;
    double serial;   /* processor seconds of threads that call gf_pool_run, outside of runs */
    double parallel; /* processor seconds within tasks */
    double longest;  /* seconds: sum over the runs of the longest task's */
    double with[GF_POOL_COUNTS]; /* seconds of all runs by 2^i threads, each task in the order of
                                    their ends to the thread that is free first */
} gf_pool_account;

/**
 * Keep the account from now on, or no more; the calling thread's serial time begins here, another's
 * with its first run. Costs a processor clock read and some 100 ns at both ends of a task. Begin
 * and end it while no pool runs.
 */
void gf_pool_keep_account(bool keep);

/**
 * The account so far: subtract two of them for what was between. Of a thread that calls
 * runs the serial part is up to now; of others up to their last run.
 */
gf_pool_account gf_pool_read_account(void);

/** a + b, each number. */
gf_pool_account gf_pool_account_sum(const gf_pool_account *a, const gf_pool_account *b);

/** later - earlier, likewise. */
gf_pool_account gf_pool_account_between(const gf_pool_account *earlier,
                                        const gf_pool_account *later);

#endif
