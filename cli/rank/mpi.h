/**
 * Ranks (base/ranks.h) that are processes of MPI.
 *
 * Whoever waits for another rank sleeps in between: MPI's own waiting would keep a processor busy,
 * which is another rank's where there are more ranks than processors. Every second a rank lets rank
 * 0 know that it is there, and rank 0 all others, by a thread of its own, whatever it computes: a link
 * that is cut and a process that was stopped are found out by silence. A rank that has not heard rank
 * 0 for two minutes ends itself.
 *
 * MPI's own failures end the whole job, as is its way. Calls of MPI-3 alone; MPI_THREAD_SERIALIZED.
 */
#ifndef GF_CLI_RANK_MPI_H
#define GF_CLI_RANK_MPI_H

#include "base/ranks.h"

typedef struct gf_rank_mpi gf_rank_mpi;

/** Join the job that mpirun started, or be the only one. GF_EIO, GF_ENOMEM. */
gf_status gf_rank_mpi_open(gf_rank_mpi **mpi, gf_error *err);

/** Leave it: every rank does so at the end. */
void gf_rank_mpi_close(gf_rank_mpi *mpi);

/** Borrowed until then. */
gf_ranks *gf_rank_mpi_ranks(gf_rank_mpi *mpi);

/** Ranks on this machine, with this one. */
unsigned gf_rank_mpi_beside(const gf_rank_mpi *mpi);

/** At rank 0: the seconds since the rank that has been silent longest was heard; at others since rank 0 was. Any thread. */
double gf_rank_mpi_silence(gf_rank_mpi *mpi);

/** End all ranks of the job, this one too. */
_Noreturn void gf_rank_mpi_abort(void);

#endif
