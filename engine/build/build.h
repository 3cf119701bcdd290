/**
 * A rebuild from its plan to a build that is ready to be written:
 *
 *     plan -> gathered -> clustered -> matched -> named -> figures -> best   then written and published
 *
 * One build is one configuration of one collection. Several small ones are begun, written and
 * published together (rebuild_all.c).
 */
#ifndef GF_ENGINE_BUILD_BUILD_H
#define GF_ENGINE_BUILD_BUILD_H

#include "engine/build/best.h"
#include "engine/build/figures.h"
#include "engine/build/group_ids.h"
#include "engine/build/name.h"
#include "engine/build/obey.h"

/** The results of all steps, for their owner and for writing. {0} to begin with. */
typedef struct gf_build {
    gf_build_gathered documents;
    gf_build_previous previous;
    gf_build_clustered clustered;
    gf_build_matched matched;
    gf_build_obeying obeying;
    gf_build_named named;
    gf_build_figures figures;
    gf_build_best best;
    gf_build_info info; /* slices are borrowed from the plan; seconds are set by writing */
    char versions[320]; /* the info's, where there is more to say than of the libraries */
    double begun;       /* gf_clock_seconds() */
} gf_build;

void gf_build_release(gf_build *build);

/**
 * Take all steps between beginning and writing. The plan, which has been begun, gets its last part
 * here: how memory is divided.
 *
 * @param pool  NULL: this thread alone
 * @param[out] out  to be released, also after a failure
 */
gf_status gf_build_make(gf_build_plan *plan, gf_pool *pool, gf_build *out, gf_error *err);

/**
 * Add the build's rows to the batch, which is written (synced) whenever it is full (write.c).
 * build->documents.words move into the index and are freed.
 */
gf_status gf_build_write(const gf_build_plan *plan, gf_pool *pool, gf_build *build, gf_batch *batch,
                         gf_error *err);

#endif
