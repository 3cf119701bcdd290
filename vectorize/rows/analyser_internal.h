/**
 * The inside of an analyser that the counting of documents and the merging of workers need.
 */
#ifndef GF_VECTORIZE_ROWS_ANALYSER_INTERNAL_H
#define GF_VECTORIZE_ROWS_ANALYSER_INTERNAL_H

#include "vectorize/rows/analyser.h"
#include "vectorize/rows/surfaces_internal.h"

/** The id of a term that is made of others. */
gf_status gf_analyser_intern(gf_analyser *analyser, gf_slice term, uint32_t *id, gf_error *err);

/** The table of surfaces; a slot's use is a gf_word_use. Borrowed. */
const gf_surfaces *gf_analyser_surfaces(const gf_analyser *analyser);

/** Forget all surfaces and terms; ids start again at 0. */
void gf_analyser_reset(gf_analyser *analyser);

#endif
