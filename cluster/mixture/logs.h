/**
 * Logarithms of counts, which the sweeps of a mixture add up: from tables, for counts are whole
 * numbers.
 *
 *     value(n, t) = sum over j < t of ln((n + j + beta) / (j + beta))
 *
 * is what a word that a document has t times adds to the likelihood of a cluster that has it n
 * times, beyond what it adds to that of a cluster without it.
 *
 * Constant once made, so any threads may read it.
 */
#ifndef GF_CLUSTER_MIXTURE_LOGS_H
#define GF_CLUSTER_MIXTURE_LOGS_H

#include "grouperfish/status.h"

#include <stdint.h>

enum {
    GF_MIXTURE_REPEATS = 50, /* a word counts at most so often in a document */
    GF_LOGS_ONCE = 1 << 16,  /* counts with an entry in the table of t = 1 */
    GF_LOGS_AGAIN = 1 << 11  /* and in each of those of t > 1 */
};

typedef struct gf_mixture_logs {
    double beta;
    float *once;  /* GF_LOGS_ONCE: value(n, 1) */
    float *again; /* (GF_MIXTURE_REPEATS + 1) * GF_LOGS_AGAIN: value(n, t), by t */
    float less[GF_MIXTURE_REPEATS + 1]; /* sum over j < t of ln((j + beta) / beta) */
} gf_mixture_logs;

/** beta > 0. GF_OK; GF_ENOMEM. Memory: 672 KB. */
gf_status gf_mixture_logs_init(gf_mixture_logs *logs, double beta, gf_error *err);
void gf_mixture_logs_release(gf_mixture_logs *logs);

/** The same for counts beyond the tables; t > 1 by its middle, off by at most 0.002. */
float gf_mixture_logs_beyond(const gf_mixture_logs *logs, uint32_t n, uint32_t t);

/** value(n, t) for 1 <= t <= GF_MIXTURE_REPEATS; 0 where n is 0. */
static inline float gf_mixture_logs_value(const gf_mixture_logs *logs, uint32_t n, uint32_t t)
{
    if (t == 1 && n < GF_LOGS_ONCE) return logs->once[n];
    if (n < GF_LOGS_AGAIN) return logs->again[t * GF_LOGS_AGAIN + n];
    return gf_mixture_logs_beyond(logs, n, t);
}

#endif
