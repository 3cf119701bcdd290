/**
 * A thread that does one thing while its owner does another.
 *
 *     owner    prepare 1 | start | prepare 2 | wait, start | prepare 3 | ...
 *     thread               use 1               use 2
 *
 * The thread is made with the first task, and takes no signals. One task at a time; owner's calls
 * only. What the task changes is the owner's again after the wait.
 */
#ifndef GF_BASE_BACKGROUND_H
#define GF_BASE_BACKGROUND_H

#include "grouperfish/status.h"

#include <pthread.h>
#include <stdbool.h>

typedef gf_status gf_background_task(void *context, gf_error *err);

typedef struct gf_background {
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    pthread_t thread;
    bool started, stopping;
    gf_background_task *task; /* to be done, or being done; NULL: none */
    void *context;
    gf_status status; /* of the last task, until it is waited for */
    gf_error error;
} gf_background;

void gf_background_init(gf_background *background);

/** Have task(context) done; none is under way. Where no thread is to be had it is done here. */
void gf_background_start(gf_background *background, gf_background_task *task, void *context);

/** Wait for the task that was started last: its status. GF_OK where there was none. */
gf_status gf_background_wait(gf_background *background, gf_error *err);

/** Waits for the task that is under way. */
void gf_background_release(gf_background *background);

#endif
