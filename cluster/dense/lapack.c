#include "cluster/dense/lapack.h"

#include "base/library.h"
#include "base/memory.h"
#include "cluster/dense/blas.h"

#include <lapacke.h>

/* OpenBLAS has it itself where it was built so; else a library beside it. */
#define FUNCTIONS(F) F(LAPACKE_dsyevd_work)
GF_LIBRARY_DECLARE(gf_lapack, FUNCTIONS)
GF_LIBRARY_DEFINE(gf_lapack, GF_OPENBLAS, FUNCTIONS)
GF_LIBRARY_DECLARE(gf_lapack_beside, FUNCTIONS)
GF_LIBRARY_DEFINE(gf_lapack_beside, GF_LAPACKE, FUNCTIONS)

gf_status gf_lapack_load(gf_error *err)
{
    gf_status st = gf_blas_load(err);
    if (st != GF_OK || gf_library_load(&gf_lapack, NULL) == GF_OK) return st;
    return gf_library_load(&gf_lapack_beside, err);
}

static __typeof__(LAPACKE_dsyevd_work) *dsyevd(void)
{
    return atomic_load(&gf_lapack.loaded) ? gf_lapack_functions.LAPACKE_dsyevd_work
                                          : gf_lapack_beside_functions.LAPACKE_dsyevd_work;
}

gf_status gf_lapack_eigen(double *a, uint32_t d, double *value, gf_error *err)
{
    /* what dsyevd asks for where it is to find vectors too */
    size_t n_work = 1 + 6 * (size_t)d + 2 * (size_t)d * d, n_iwork = 3 + 5 * (size_t)d;
    double *work = gf_array(n_work, sizeof *work);
    lapack_int *iwork = gf_array(n_iwork, sizeof *iwork);
    gf_status st = work && iwork ? GF_OK : gf_fail_memory(err, "eigenvectors");
    if (st == GF_OK) {
        /* columns up to the row, row by row, are rows down to the column, column by column */
        lapack_int n = (lapack_int)d;
        lapack_int info = dsyevd()(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, value, work,
                                   (lapack_int)n_work, iwork, (lapack_int)n_iwork);
        if (info)
            st = gf_fail(err, GF_EINVAL, "eigenvectors are not found (dsyevd: %d)", (int)info);
    }
    gf_free(work);
    gf_free(iwork);
    return st;
}
