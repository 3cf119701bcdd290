#include "cluster/mixture/logs.h"

#include "base/memory.h"

#include <math.h>

gf_status gf_mixture_logs_init(gf_mixture_logs *out, double beta, gf_error *err)
{
    gf_mixture_logs l = {.beta = beta};
    l.once = gf_array(GF_LOGS_ONCE, sizeof *l.once);
    l.again = gf_calloc((GF_MIXTURE_REPEATS + 1) * GF_LOGS_AGAIN, sizeof *l.again);
    if (!l.once || !l.again) {
        gf_mixture_logs_release(&l);
        return gf_fail_memory(err, "logarithms");
    }
    for (uint32_t n = 0; n < GF_LOGS_ONCE; n++)
        l.once[n] = (float)log((n + beta) / beta);
    for (uint32_t n = 0; n < GF_LOGS_AGAIN; n++) {
        double sum = 0;
        for (uint32_t t = 1; t <= GF_MIXTURE_REPEATS; t++) {
            double j = t - 1;
            sum += log((n + j + beta) / (j + beta));
            l.again[t * GF_LOGS_AGAIN + n] = (float)sum;
        }
    }
    double less = 0;
    for (uint32_t t = 0; t <= GF_MIXTURE_REPEATS; t++) {
        l.less[t] = (float)less;
        less += log((t + beta) / beta);
    }
    *out = l;
    return GF_OK;
}

void gf_mixture_logs_release(gf_mixture_logs *l)
{
    gf_free(l->once);
    gf_free(l->again);
    *l = (gf_mixture_logs){0};
}

float gf_mixture_logs_beyond(const gf_mixture_logs *l, uint32_t n, uint32_t t)
{
    double middle = n + 0.5 * (t - 1);
    return (float)(t * log((middle + l->beta) / l->beta)) - l->less[t];
}
