#include "cluster/blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static __typeof__(cblas_sgemm) *sgemm;
static __typeof__(cblas_dsyrk) *dsyrk;

static void load(void)
{
    void *library = dlopen(GF_OPENBLAS, RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    __typeof__(openblas_set_num_threads) *set_threads = NULL;
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    *(void **)&sgemm = dlsym(library, "cblas_sgemm");
    *(void **)&dsyrk = dlsym(library, "cblas_dsyrk");
    if (set_threads) set_threads(1); /* for good: threads of ours call it side by side */
}

gf_status gf_blas_load(gf_error *err)
{
    pthread_once(&once, load);
    return sgemm && dsyrk ? GF_OK : gf_fail(err, GF_EIO, "cannot load " GF_OPENBLAS " (OpenBLAS)");
}

void gf_blas_products(const float *x, uint32_t n, const float *y, uint32_t k, uint32_t d,
                      float *scores)
{
    sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)n, (blasint)k, (blasint)d, 1.0f, x,
          (blasint)d, y, (blasint)d, 0.0f, scores, (blasint)k);
}

void gf_blas_add_gram(const double *x, uint32_t n, uint32_t d, double *gram)
{
    dsyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)d, (blasint)n, 1.0, x, (blasint)d, 1.0,
          gram, (blasint)d);
}
