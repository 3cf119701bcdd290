/**
 * Ranks that are threads, over a socket: the test is the holder of rows, or of texts.
 */
#ifndef GF_TESTS_ENGINE_FIXTURE_RANKS_H
#define GF_TESTS_ENGINE_FIXTURE_RANKS_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdbool.h>
#include <stdint.h>

/** Both ends of a socket. */
typedef struct ranks_pair {
    int here, there;
} ranks_pair;

ranks_pair ranks_pair_open(void);

/** Ranks at one end, the holder of rows at the other. Every second rank has one thread more. */
typedef struct ranks_job {
    unsigned n, threads;
    int fd;
    bool is_silent;      /* the first rank hears nothing of the others */
    bool is_holder_gone; /* the first rank has said so */
    gf_status status;    /* of the ranks, once they have ended */
    gf_error error;
} ranks_job;

/** A thread that is the ranks of a job, and closes its end of the socket. */
void *ranks_job_serve(void *job);

/** What the other end of a socket may say in place of ranks. */
typedef struct ranks_liar {
    int fd;
    uint32_t kind;
    gf_slice says;
    bool ready; /* says first that it is ready */
} ranks_liar;

/** A thread that says so, and then nothing. */
void *ranks_lie(void *liar);

#endif
