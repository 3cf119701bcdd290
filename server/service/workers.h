/**
 * Threads for what takes long: a job gets one that is idle, else a new one. Idle threads stay.
 *
 * A job that may be put off steps back (nice 5) once it has run for a twentieth of a second, so
 * that short ones need not wait for processors behind long ones. A thread that has stepped back may
 * not come forward again: it ends with its job.
 */
#ifndef GF_SERVER_SERVICE_WORKERS_H
#define GF_SERVER_SERVICE_WORKERS_H

#include "grouperfish/status.h"

#include <stdbool.h>

typedef struct gf_workers gf_workers;

/** @param most  threads at a time; a job beyond them is refused */
gf_status gf_workers_create(unsigned most, gf_workers **workers, gf_error *err);

/**
 * Run job(context) on a thread; GF_EBUSY where all are taken, GF_ENOMEM.
 *
 * @param steps_back  whether it does once it is long; not a job that others wait for: a write
 */
gf_status gf_workers_run(gf_workers *workers, void (*job)(void *context), void *context,
                         bool steps_back, gf_error *err);

/** Wait until all jobs have ended, and end the threads; NULL is allowed. */
void gf_workers_free(gf_workers *workers);

#endif
