/**
 * Fifth step of a rebuild: what is shown of each cluster before its members. Which of these are
 * copies of better ones (cluster/label/copies.h), and the sentence of its documents that is most
 * central: the one which, were it a document, would be most similar to the cluster's centre.
 *
 *     members by rank -> copies -> the first different ones -> their sentences -> the best of them
 */
#ifndef GF_ENGINE_BUILD_BEST_H
#define GF_ENGINE_BUILD_BEST_H

#include "engine/build/cluster.h"

/** A cluster's. {0}: neither a copy nor a sentence. */
typedef struct gf_build_best_of {
    gf_buffer copies;   /* as gf_copy_list_write has them */
    gf_buffer sentence; /* empty: no document has one that can be shown */
    uint32_t document;  /* it is of */
} gf_build_best_of;

/** {0} to begin with; it stays so where there are no clusters. */
typedef struct gf_build_best {
    gf_build_best_of *of; /* k */
    uint32_t k;
} gf_build_best;

void gf_build_best_release(gf_build_best *best);

/**
 * Find the copies among the members of each cluster, read the start of some that are none again,
 * and choose a sentence of them. The result is the same for any number of threads; where rows lie
 * in a file, the best GF_BEST_COMPARED members of each cluster alone are compared.
 *
 * @param pool  NULL: this thread alone
 * @param[out] out  to be released, also after a failure
 * @return GF_OK; GF_ENOMEM, GF_EIO, GF_ECORRUPT, GF_ECANCELLED
 * Source: the similarity to the centre, as D. R. Radev, H. Jing, M. Styś, D. Tam, "Centroid-based
 * summarization of multiple documents", Information Processing and Management 40 (2004) 919-938.
 */
gf_status gf_build_best_choose(const gf_build_plan *plan, gf_pool *pool,
                               const gf_build_gathered *documents,
                               const gf_build_clustered *clustered, gf_build_best *out,
                               gf_error *err);

enum { GF_BEST_COMPARED = 1000 };

#endif
