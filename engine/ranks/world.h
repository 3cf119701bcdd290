/**
 * The command as one of several processes that mpirun or srun started: they are the ranks.
 *
 *     mpirun -n 4 grouperfish rebuild feedback
 *
 *         process 0      keeps the store, and starts rank 0 beside itself, in its own place of the job
 *         process 1 ..   become grouperfish-rank
 *
 * All ranks join MPI at once. Rank 0 reads from its standard input where the socket of the store's
 * process is, as soon as there are rows; where it ends before, there was nothing to cluster, and all
 * ranks end with it. A job is not started again here, since whoever started it ends it.
 *
 * What a process is says the environment: OMPI_COMM_WORLD_RANK and _SIZE (mpirun), else SLURM_PROCID and
 * SLURM_STEP_NUM_TASKS (srun), else PMI_RANK and PMI_SIZE. A process has one place in a job, so there
 * is one world: opened, taken and closed by one thread.
 */
#ifndef GF_ENGINE_RANKS_WORLD_H
#define GF_ENGINE_RANKS_WORLD_H

#include "grouperfish/status.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct gf_ranks_world {
    unsigned n, me; /* processes that were started together, and which of them this is */
} gf_ranks_world;

/** Whether mpirun started this process, alone or with others, or something else with others. */
bool gf_ranks_world_find(gf_ranks_world *world);

/**
 * This process becomes a rank, and does not return but where it fails.
 * @param threads  a number; "0": the processors of its machine, dealt to the ranks there
 */
gf_status gf_ranks_world_become(const gf_ranks_world *world, const char *threads, gf_error *err);

/** Start rank 0, which waits. GF_EINVAL (there is no such program), GF_EIO. */
gf_status gf_ranks_world_open(const gf_ranks_world *world, const char *threads, gf_error *err);

/** Processes of the world that is open; 0: none is. */
unsigned gf_ranks_world_n(void);

/**
 * Tell rank 0 where the socket is.
 *
 * @param[out] process  rank 0, which is the caller's now
 * @param[out] said     a file with what it says, likewise
 * @return GF_OK; GF_EIO (it was told before)
 */
gf_status gf_ranks_world_take(const char *path, pid_t *process, int *said, gf_error *err);

/** The end; ranks that nobody took are let go first. */
void gf_ranks_world_close(void);

#endif
