/* All calls of ranks, between the processes that mpirun started. */
#include "cli/rank/mpi.h"
#include "support/ranks.h"

#include <stdio.h>

int main(void)
{
    gf_rank_mpi *mpi;
    gf_error err;
    if (gf_rank_mpi_open(&mpi, &err) == GF_OK) {
        if (gf_test_ranks_try(gf_rank_mpi_ranks(mpi), &err) == GF_OK) {
            double silence = gf_rank_mpi_silence(mpi);
            if (gf_ranks_me(gf_rank_mpi_ranks(mpi)) == 0)
                printf("%s\n", silence < 60 ? "all arrived" : "a rank is silent");
            gf_rank_mpi_close(mpi);
            return 0;
        }
        fprintf(stderr, "%s\n", err.message);
        gf_rank_mpi_abort();
    }
    fprintf(stderr, "%s\n", err.message);
    return 1;
}
