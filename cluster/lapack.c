#include "cluster/lapack.h"

#include "base/memory.h"
#include "cluster/blas.h"

#include <dlfcn.h>
#include <lapacke.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static __typeof__(LAPACKE_dsyevd_work) *dsyevd;

static void load(void)
{
    static const char *const names[] = {GF_OPENBLAS, GF_LAPACKE};
    for (int i = 0; i < 2 && !dsyevd; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library) *(void **)&dsyevd = dlsym(library, "LAPACKE_dsyevd_work");
    }
}

gf_status gf_lapack_load(gf_error *err)
{
    gf_status st = gf_blas_load(err);
    if (st != GF_OK) return st;
    pthread_once(&once, load);
    return dsyevd ? GF_OK : gf_fail(err, GF_EIO, "cannot load " GF_LAPACKE " (LAPACKE)");
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
        lapack_int info = dsyevd(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, value, work,
                                 (lapack_int)n_work, iwork, (lapack_int)n_iwork);
        if (info)
            st = gf_fail(err, GF_EINVAL, "eigenvectors are not found (dsyevd: %d)", (int)info);
    }
    gf_free(work);
    gf_free(iwork);
    return st;
}
