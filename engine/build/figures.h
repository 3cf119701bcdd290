/**
 * Last step of a rebuild before writing: what the clusters' documents, terms and labels tell of
 * them without known classes. It is a walk over the rows that are still there, so that reads of a
 * build need none.
 */
#ifndef GF_ENGINE_BUILD_FIGURES_H
#define GF_ENGINE_BUILD_FIGURES_H

#include "engine/build/name.h"
#include "grouperfish/views.h"

/** {0} to begin with; it stays so where there are no clusters. */
typedef struct gf_build_figures {
    gf_cluster_figures *at; /* one per cluster */
} gf_build_figures;

void gf_build_figures_release(gf_build_figures *figures);

/** Entries of a centre, the heaviest first (of equal ones the lower term): `most` at most. */
uint32_t gf_build_heaviest_terms(const gf_centre *centre, uint32_t most, uint32_t *entries);

/** A cluster's column "terms", appended: [["surface", weight], ...], the 20 heaviest of its centre. */
void gf_build_write_terms(const gf_centre *centre, const gf_vocabulary *vocabulary, gf_buffer *out);

/**
 * @param pool  NULL: this thread alone
 * @param[out] out  to be released, also after a failure
 * @return GF_OK; GF_ENOMEM, GF_EIO, GF_ECANCELLED. The same for any number of threads.
 * Cost: a walk over all rows, and k small products. Memory 4 bytes a term and at most 400 bytes a
 *       cluster and thread, 64 MB at most beyond the first thread's (where memory is bounded one
 *       thread counts).
 */
gf_status gf_build_figure(const gf_build_plan *plan, gf_pool *pool,
                          const gf_build_gathered *documents, const gf_build_clustered *clustered,
                          const gf_build_matched *matched, const gf_build_named *named,
                          gf_build_figures *out, gf_error *err);

#endif
