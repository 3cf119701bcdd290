/**
 * Ranks as processes: mpirun, which starts grouperfish-rank so many times, here or on the hosts of a
 * file, and a socket to the first of them.
 *
 *     this process --- socket in a folder of its own --- rank 0 --- MPI --- rank 1, 2 ...
 *          |                                               |
 *          +------------- starts, ends ---- mpirun --------+
 *
 * Rank 0 runs on this machine, since the socket is one of its file system. All ranks end when this
 * process ends, however it does: rank 0 finds the socket closed.
 *
 * Where this process is itself one of those that mpirun or srun started, they are the ranks
 * (engine/ranks/world.h).
 */
#ifndef GF_ENGINE_RANKS_PROCESS_H
#define GF_ENGINE_RANKS_PROCESS_H

#include "grouperfish/buffer.h"
#include "grouperfish/cancel.h"

#include <sys/types.h>

typedef struct gf_ranks_process {
    pid_t mpirun; /* 0: none; rank 0 where another started the ranks */
    int fd;       /* the socket; -1: none */
    int listener;
    int said; /* a file: what mpirun and the ranks write */
    gf_buffer folder, path;
} gf_ranks_process;

typedef struct gf_ranks_start {
    unsigned n;        /* ranks; 0 with hosts: one a host */
    const char *hosts; /* file of hosts, as mpirun reads it; NULL: all ranks here */
    unsigned threads;  /* of each; 0: the processors of its machine, dealt to the ranks there */
    const gf_cancel *cancel;
} gf_ranks_start;

/** Whether ranks can be started here; GF_EINVAL says what is missing, or what is wrong with the hosts. */
gf_status gf_ranks_process_check(const gf_ranks_start *start, gf_error *err);

/** The ranks that start: start->n, or the lines of the hosts. */
gf_status gf_ranks_process_count(const gf_ranks_start *start, unsigned *n, gf_error *err);

/**
 * The hosts that answer, of a file: on each of which `grouperfish-rank --version` is run, at the
 * same time on all.
 *
 * @param[out] answering  path of a file with their lines, to be removed by whoever asked; empty
 *                        where all answer
 * @return GF_OK; GF_EIO (none answers, or not the first: it is this machine), GF_ENOMEM, GF_ECANCELLED
 */
gf_status gf_ranks_process_probe(const gf_ranks_start *start, gf_buffer *answering, gf_error *err);

/**
 * Start them, and wait for rank 0.
 * @return GF_OK; GF_EIO (they do not start: what mpirun says), GF_EINVAL, GF_ENOMEM, GF_ECANCELLED
 */
gf_status gf_ranks_process_open(const gf_ranks_start *start, gf_ranks_process *process,
                                gf_error *err);

/** End them: at once where they are not to finish by themselves. */
void gf_ranks_process_close(gf_ranks_process *process, bool finish);

/** What a rank said before it ended, as of one line: "grouperfish-rank: ..."; false: nothing. */
bool gf_ranks_process_said(const gf_ranks_process *process, gf_buffer *out);

#endif
