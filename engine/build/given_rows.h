/**
 * The rows of a build that were made elsewhere, to be clustered again: those that it keeps, of
 * documents that are as they were, and those that documents put since brought along.
 */
#ifndef GF_ENGINE_BUILD_GIVEN_ROWS_H
#define GF_ENGINE_BUILD_GIVEN_ROWS_H

#include "grouperfish/csr.h"

#include <stdbool.h>

struct gf_build_plan;

/** Rows in memory of their own. */
typedef struct gf_given_rows gf_given_rows;

/**
 * Whether the plan, whose served build has been read, is to cluster that build's rows again: where
 * they were made elsewhere and are kept, no others are given, and the options ask for it, or
 * without `force` a document put since brought a row that fits.
 * Cost: a look-up for each put since, up to the first.
 */
gf_status gf_given_rows_due(const struct gf_build_plan *plan, bool modified, bool *due,
                            gf_error *err);

/**
 * Read them in the plan's snapshot: plan->given, and plan->matrix of it. Documents deleted since
 * have none, and those put anew only what they brought along. Where none is left plan->matrix is
 * NULL: the texts are clustered.
 * @return GF_OK; GF_ECORRUPT, GF_ENOMEM, GF_EIO, GF_ECANCELLED
 */
gf_status gf_given_rows_read(struct gf_build_plan *plan, gf_error *err);
void gf_given_rows_free(gf_given_rows *rows);

#endif
