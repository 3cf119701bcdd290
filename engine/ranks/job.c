#include "engine/ranks/job.h"

#include "cluster/passes/centre_index.h"
#include "grouperfish.h"

#include <string.h>

void gf_ranks_job_identify(gf_buffer *out)
{
    gf_buffer_format(out, "%s, kernels %s", gf_version_libraries(),
                     gf_scoring_kernels_choose()->name);
}

void gf_ranks_job_take_options(const gf_ranks_begin *b, const float *factor,
                               gf_refinement *refinement, gf_ranked_options *o)
{
    *refinement = (gf_refinement){.factor = factor};
    *o = (gf_ranked_options){.kmeans = {.k = b->k,
                                        .max_k = b->max_k,
                                        .reach = b->reach,
                                        .settled = b->settled,
                                        .start_k = b->start_k,
                                        .start_refined = b->start_refined,
                                        .seed = b->seed,
                                        .restarts = b->restarts,
                                        .max_passes = b->max_passes,
                                        .max_rounds = b->max_rounds,
                                        .tolerance = b->tolerance,
                                        .quick = b->quick,
                                        .refinement = factor ? refinement : NULL},
                             .sample = b->sample,
                             .sweeps = b->sweeps};
}

gf_ranks_begin gf_ranks_job_put_options(const gf_ranked_options *o, uint32_t n_cols)
{
    const gf_kmeans_options *k = &o->kmeans;
    gf_ranks_begin b;
    memset(&b, 0, sizeof b); /* as bytes it goes to another process */
    b.seed = k->seed;
    b.tolerance = k->tolerance;
    b.n_cols = n_cols;
    b.sample = o->sample;
    b.k = k->k;
    b.max_k = k->max_k;
    b.reach = k->reach;
    b.start_k = k->start ? k->start_k : 0;
    b.restarts = k->restarts;
    b.max_passes = k->max_passes;
    b.max_rounds = k->max_rounds;
    b.settled = k->settled;
    b.start_refined = k->start_refined;
    b.quick = k->quick;
    b.sweeps = o->sweeps;
    b.has_factor = k->refinement && k->refinement->factor;
    return b;
}

bool gf_ranks_job_take(gf_slice *s, void *to, size_t n)
{
    if (s->len < n) return false;
    if (n) memcpy(to, s->ptr, n);
    *s = gf_slice_skip(*s, n);
    return true;
}
