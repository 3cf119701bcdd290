#include "cluster/dense/blas.h"

#include "base/library.h"

#include <cblas.h>
#include <pthread.h>

#define FUNCTIONS(F) F(cblas_sgemm) F(openblas_set_num_threads)
GF_LIBRARY_DECLARE(gf_openblas, FUNCTIONS)
GF_LIBRARY_DEFINE(gf_openblas, GF_OPENBLAS, FUNCTIONS)

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* One thread a call, for the whole process and for good: threads of ours call it side by side. */
static void use_one_thread(void)
{
    gf_openblas_functions.openblas_set_num_threads(1);
}

gf_status gf_blas_load(gf_error *err)
{
    gf_status st = gf_library_load(&gf_openblas, err);
    if (st == GF_OK) pthread_once(&once, use_one_thread);
    return st;
}

void gf_blas_products(const float *x, uint32_t n, const float *y, uint32_t k, uint32_t d,
                      float *scores)
{
    gf_openblas_functions.cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)n,
                                      (blasint)k, (blasint)d, 1.0f, x, (blasint)d, y, (blasint)d,
                                      0.0f, scores, (blasint)k);
}
